// Whether what stands outside of the namespaces that were read may change the answer about them. Nearly always it cannot:
// pools, objectives and collisions end at the namespace. What can is a registration of somebody else's that gives a
// binding's identity to pods elsewhere, or an identity from elsewhere to pods here.
import type { Analysis } from '../analysis.ts'
import { mayGive } from '../gotemplate/mentions.ts'

/** True where everything has to be read to be sure; false for a snapshot of everything. */
export function reachesBeyond({ snapshot, config, compiled, live }: Analysis): boolean {
  if (snapshot.namespacesRead === undefined) return false
  const here = compiled.flatMap(({ result }) =>
    result.kind === 'resolved' ? [result.identity.spiffeId] : [],
  )
  // Of a binding that was not read, its output tells the identity.
  const theirs = live.filter(({ ownership }) => ownership.kind === 'unknown')
  const elsewhere = theirs.map(({ object }) => object.spec.spiffeIDTemplate)
  const isTwice = new Set(elsewhere).size < elsewhere.length
  if (isTwice || elsewhere.some((template) => template.includes('{{'))) return true
  const ids = [...here, ...elsewhere]
  // Without the trust domain, no identity is known as a whole.
  if (here.length > 0 && config.trustDomain.kind !== 'set') return true
  const known = new Set(ids)
  if (snapshot.staticEntries.some(({ spec }) => known.has(spec.spiffeID))) return true
  const foreign = live.flatMap(({ ownership, object }) =>
    ownership.kind === 'ours' || ownership.kind === 'unknown' ? [] : [object.spec.spiffeIDTemplate],
  )
  return [...new Set(foreign)].some((template) => mayGive(template, ids))
}
