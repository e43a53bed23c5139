// What could be in the place of bindings that give proxies of meshes an identity which these cannot use. Nothing that is there is
// replaced by a suggestion: this is for a person to choose, and proven like one, beside all that is suggested.
import { namespacesByName } from '../../snapshot/index.ts'
import { type Analysis, type State, proxiesOfAccount, isMeshIdentity } from '../../analysis/index.ts'
import { stringAt } from '../../base/json.ts'
import type { NamespacedName } from '../../model/namespaced-name.ts'
import type { Pod } from '../../model/objects/pod.ts'
import { containerIdentities, whyOpen } from '../../predict/index.ts'
import { givenTo, takesPart } from '../../findings/index.ts'
import type { Steps } from '../../base/steps.ts'
import { counted } from '../../base/text/counted.ts'
import { boundaryText, candidateKey, manifestsBefore, type Candidate } from './candidate.ts'
import type { Instead, Need } from './plans.ts'
import { proving, resultText, type Proof, type ProofTools, type ProvenNeed } from './prove.ts'
import type { NotSuggested } from './not-suggested.ts'
import { idOfReady } from '../../decide/index.ts'

/** What there is to say of the bindings of each need that others could replace, in steps. All of them are proven at once. */
export function* provingInstead(
  { needs, world }: Pick<Proof, 'needs' | 'world'>,
  before: Analysis,
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
      if (one === undefined) return []
      const others = [...needs, ...proof.needs.filter((each) => each !== one)]
      const [first] = one.bindings
      const said =
        first === undefined
          ? refusedText(instead, one, areServed(need.pods, [before, world], instead.of))
          : provenText(instead, one.bindings, {
              states: [world.settled, proof.world.settled],
              beside: besideOf(need, others),
              isServed: areServed(need.pods, [proof.world]),
            })
      return [[need, { mode: 'PerObjective', reason: instead.harm.code, tried: one.bindings, ...said }]]
    }),
  )
}

type Said = Pick<NotSuggested, 'state' | 'what' | 'why' | 'fix'> & Partial<Pick<NotSuggested, 'tried'>>

/** The other bindings that it was proven with, on pods of its own. */
function besideOf({ pods }: Need, others: readonly ProvenNeed[]): readonly NamespacedName[] {
  const own = new Set(pods)
  return others.flatMap(({ need, bindings }) =>
    need.pods.some((pod) => own.has(pod))
      ? bindings.filter((one) => one.isThere !== true).map(candidateKey)
      : [],
  )
}

interface Proven {
  readonly states: readonly [before: State, after: State]
  /** The other bindings of pods of its own. */
  readonly beside: readonly NamespacedName[]
  /** Whether the proxies then hold what their mesh accepts, and nothing else. */
  readonly isServed: boolean
}

function provenText(
  { of, harm }: Instead,
  bindings: readonly Candidate[],
  { states, beside, isServed }: Proven,
): Said {
  const together = beside.length === 0 ? '' : `, proven together with ${beside.join(', ')}`
  const is = bindings.length === 1 ? 'this one' : 'these'
  const proxy = isServed
    ? 'the proxy has the ID that its mesh accepts'
    : 'the proxy may still get another ID that its mesh does not accept'
  return {
    state: 'open',
    what: `${bindings.map(({ boundary }) => boundaryText(boundary)).join(', ')} in the place of ${of.join(', ')}`,
    why: `${harmText({ of, harm })}; ${is} would be Ready, and ${proxy}${together}`,
    fix: orderText(bindings, of, ...states),
  }
}

function harmText({ of, harm }: Pick<Instead, 'of' | 'harm'>): string {
  return `${of.join(', ')}: ${resultText(harm)}`
}

function refusedText(
  { of, harm, objectives, open }: Instead,
  { failed }: ProvenNeed,
  isServed: boolean,
): Said {
  const place = `in the place of ${of.join(', ')}`
  const giveUp = isServed
    ? [`delete ${of.join(' and ')}: the proxy then holds the ID of its service account`]
    : []
  const last = failed.at(-1)
  if (last !== undefined) {
    const { state, what, why, fix, tried } = last
    const fixes = [...giveUp, ...(fix === undefined ? [] : [fix])]
    return {
      state,
      what: `${what} ${place}`,
      why: `${harmText({ of, harm })}; ${why}`,
      fix: fixes.length === 0 ? undefined : fixes.join(', or '),
      tried,
    }
  }
  const { state, why, fixes } = unplanned(objectives, open)
  return {
    state,
    what: `PerObjective ${place}`,
    why: `${harmText({ of, harm })}; ${why}`,
    fix: [...giveUp, ...fixes].join(', or '),
  }
}

function unplanned(
  objectives: number,
  open: Instead['open'],
): { readonly state: NotSuggested['state']; readonly why: string; readonly fixes: readonly string[] } {
  if (objectives === 0)
    return {
      state: 'impossible',
      why: 'no objective targets the pool, and a registration for the proxy adds an SVID and takes none away',
      fixes: ['add an InferenceObjective for the pool and ask again'],
    }
  if (open !== undefined) return { state: 'open', why: open.why, fixes: [open.fix ?? ''] }
  return {
    state: 'open',
    why: `${counted(objectives, 'objective')} lead to the pool, and nothing says which of them a container serves`,
    fixes: ['write a binding PerObjective and a registration for the proxy by hand'],
  }
}

/** Whether the proxies of these pods certainly hold the ID of their mesh, and no other, once some bindings are deleted. */
function areServed(
  pods: readonly Pod[],
  analyses: readonly Analysis[],
  without: readonly NamespacedName[] = [],
): boolean {
  return analyses.every(({ settled, snapshot }) => {
    const byOutput = settled.bindingsByOutput()
    const prediction = settled.prediction()
    const namespaces = namespacesByName(snapshot)
    return pods.every((pod) => {
      const outcomes = prediction.entriesOf(pod).filter(({ source: { kind, name } }) => {
        const binding = kind === 'ClusterSPIFFEID' ? byOutput.get(name) : undefined
        return binding === undefined || !without.includes(binding)
      })
      const isDisplaced = outcomes.some(
        (one) =>
          takesPart(one) ||
          (one.source.kind === 'ClusterSPIFFEID' && !one.fallback && whyOpen(one.verdict) !== undefined),
      )
      return proxiesOfAccount(pod, namespaces.get(pod.namespace)).every(({ container, consumer }) => {
        const identities = containerIdentities({ pod, outcomes }, container)
        const back = identities.registrations.filter(
          (one) => !isDisplaced && one.verdict === 'displaced' && whyOpen(one.outcome.verdict) === undefined,
        )
        const ids = [...givenTo(identities), ...back].flatMap(({ spiffeId }) => spiffeId ?? [])
        return ids.some(isMeshIdentity) && (consumer.asksById === true || ids.every(isMeshIdentity))
      })
    })
  })
}

/** The steps, in the order in which to take them. */
function orderText(
  bindings: readonly Candidate[],
  of: readonly NamespacedName[],
  before: State,
  after: State,
): string {
  const keys = bindings.map(candidateKey)
  const names = new Set(
    bindings.flatMap(manifestsBefore).map((one) => stringAt(one, 'metadata', 'name') ?? ''),
  )
  const companions = [...names].map((name) => `apply ClusterSPIFFEID/${name}`)
  const deleted = of.filter((one) => !keys.includes(one)).map((one) => `delete ${one}`)
  const edited = keys.map((key) => `edit ${key} to this boundary`)
  const steps = [...companions, ...deleted, ...edited].join(', then ')
  const [old, its] = [idsOf(before, of), idsOf(after, keys)]
  return `${steps} (manifests: -o json); policies that name ${old} have to name ${its} before`
}

function idsOf({ judgements }: State, keys: readonly NamespacedName[]): string {
  const ids = keys.flatMap((key) => idOfReady(judgements.get(key)) ?? [])
  return [...new Set(ids)].join(', ')
}
