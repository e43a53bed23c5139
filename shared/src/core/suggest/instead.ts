// What could be in the place of bindings that give proxies of meshes an identity which these cannot use. Nothing that is there is
// replaced by a suggestion: this is for a person to choose, and proven like one.
import { stringAt } from '../json.ts'
import type { NamespacedName } from '../namespaced-name.ts'
import type { Steps } from '../steps.ts'
import type { State } from '../analysis/state.ts'
import { boundaryText, candidateKey, companionsOf, type Candidate } from './candidate.ts'
import type { Instead, Need } from './plans.ts'
import { proving, type Proof, type ProofTools, type ProvenNeed } from './prove.ts'
import type { NotSuggested } from './not-suggested.ts'

/** What there is to say of the bindings of each need that others could replace, in steps. All of them are proven at once. */
export function* provingInstead(
  { needs, world }: Pick<Proof, 'needs' | 'world'>,
  tools: ProofTools,
): Steps<ReadonlyMap<Need, NotSuggested>> {
  const asked = needs.flatMap(({ need }) =>
    need.instead === undefined ? [] : [[need, need.instead] as const],
  )
  const tried = asked.map(([need, { plans }]): Need => ({ ...need, plans, open: undefined }))
  if (tried.length === 0) return new Map()
  const proof = yield* proving(tried, world, tools)
  const proven = new Map(proof.needs.map((one) => [one.need, one]))
  return new Map(
    asked.flatMap(([need, instead], at) => {
      const trial = tried[at]
      const one = trial && proven.get(trial)
      return one === undefined ? [] : [[need, saidOf(instead, one, world.settled, proof.world.settled)]]
    }),
  )
}

function saidOf(
  instead: Instead,
  { bindings, failed }: ProvenNeed,
  before: State,
  after: State,
): NotSuggested {
  const { of, harm, why, isOpen } = instead
  const place = `in the place of ${of.join(', ')}`
  const base = { mode: 'PerObjective' as const, reason: 'KLM440' }
  const [first] = bindings
  if (first !== undefined)
    return {
      ...base,
      state: 'open',
      what: `${boundaryText(first.boundary)} ${place}`,
      tried: bindings,
      why: `${harm}; this one would be Ready, and the proxy has the ID that its mesh accepts`,
      fix: orderText(first, of, before, after),
    }
  const last = failed.at(-1)
  return {
    ...base,
    state: last?.state ?? (isOpen ? 'open' : 'impossible'),
    what: `${last?.what ?? base.mode} ${place}`,
    tried: last?.bindings ?? [],
    why: `${harm}; ${last?.why ?? why?.why ?? ''}`,
    fix: last?.fix ?? why?.fix,
  }
}

/** The steps, in the order in which to take them. */
function orderText(candidate: Candidate, of: readonly NamespacedName[], before: State, after: State): string {
  const key = candidateKey(candidate)
  const companions = companionsOf(candidate).map(
    (one) => `apply ClusterSPIFFEID/${stringAt(one, 'metadata', 'name') ?? ''}`,
  )
  const deleted = of.filter((one) => one !== key).map((one) => `delete ${one}`)
  const steps = [...companions, ...deleted, `edit ${key} to this boundary`].join(', then ')
  const [old, its] = [idsOf(before, of), idsOf(after, [key])]
  return `${steps} (manifests: -o json); policies that name ${old} have to name ${its} before`
}

function idsOf({ judgements }: State, keys: readonly NamespacedName[]): string {
  const ids = keys.flatMap((key) => {
    const judgement = judgements.get(key)
    return judgement?.state === 'ready' ? judgement.resolved.identity.spiffeId : []
  })
  return [...new Set(ids)].join(', ')
}
