// Which bindings cannot be decided because of what could not be read of files: another binding of the namespace may collide
// with them, and a ClusterSPIFFEID may hold the name of their output.
import { BINDING, CLUSTER_SPIFFE_ID, qualifiedKind } from '../../model/kinds.ts'
import type { OpenOf } from '../../decide/index.ts'
import type { Doubt, Snapshot } from '../../snapshot/index.ts'

/** What the doubts of a snapshot leave open, by binding; undefined where there are none. */
export function openDecisions({ doubts, bindings }: Snapshot): OpenOf | undefined {
  const ofBindings = doubts.get(qualifiedKind(BINDING)) ?? []
  const ofOutputs = doubts.get(qualifiedKind(CLUSTER_SPIFFE_ID)) ?? []
  if (ofBindings.length === 0 && ofOutputs.length === 0) return undefined
  const read = new Set<string>(bindings.map(({ key }) => key))
  // One that was read stands twice: it alone is in doubt, since what it declares is known.
  const isOfOthers = (doubt: Doubt): boolean =>
    doubt.name === undefined || !read.has(`${doubt.namespace ?? ''}/${doubt.name}`)
  return ({ binding, result }) => {
    const { namespace, name } = binding.meta
    const peer = ofBindings.find(
      (doubt) =>
        (doubt.namespace === undefined || doubt.namespace === namespace) &&
        (doubt.name === name || isOfOthers(doubt)),
    )
    if (peer !== undefined) return { check: 'collision', why: peer.why }
    const output = result.kind === 'resolved' ? result.output.metadata.name : undefined
    const holder = ofOutputs.find(
      (doubt) => doubt.name === output || (doubt.name === undefined && doubt.mayBeOutput === true),
    )
    return output === undefined || holder === undefined ? undefined : { check: 'output', why: holder.why }
  }
}
