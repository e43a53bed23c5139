// What becomes of every registration of one pod: selection, class, node, rendering, fallback, masking and what the
// server says, in SCM's order (facts/spire.md §2-§4, §10, §11).
import { podText } from '../objects/pod-index.ts'
import type { Pod } from '../objects/pod.ts'
import { compareBytes } from '../text/bytes.ts'
import type { CandidateIndex, Selection } from './candidates.ts'
import { resolveMasking, entryKey, type Contender } from './entry-key.ts'
import type { NamespaceGate } from './namespace-gate.ts'
import type { PodFactsReader, PodFinding } from './pod-facts.ts'
import { sourceText, type EntryOutcome, type EntryVerdict, type RenderedEntry } from './prediction.ts'
import type { Gate, PreparedId } from './prepared-id.ts'
import { renderEntry, type Acceptance, type RenderOutcome } from './render-entry.ts'
import { afterMasking, staticContender, type StaticMasking } from './static-masking.ts'
import type { StaticCandidate, StaticIndex } from './static-index.ts'
import type { PreparedStatic } from './prepared-static.ts'

/** How a ClusterSPIFFEID fares on a pod, on the way to its verdict. */
export interface CandidateState {
  readonly id: PreparedId
  /** It selects the pod, and SCM certainly counts that. */
  readonly selected: boolean
  readonly entry: RenderedEntry | undefined
  readonly acceptance: Acceptance | undefined
  /** Whether SCM declares the entry, which is what displaces a fallback. */
  applied: 'yes' | 'no' | 'maybe'
  /** SCM counts a render failure. */
  readonly failsToRender: boolean
  /** Others want the same entry, and who gets it is not known. */
  contested: boolean
  verdict: EntryVerdict
}

/** What becomes of one pod. */
export interface PodJudgement {
  readonly candidates: readonly CandidateState[]
  readonly outcomes: readonly EntryOutcome[]
  /** Static entries that want the same entry as a ClusterSPIFFEID on this pod. */
  readonly statics: ReadonlyMap<PreparedStatic, EntryVerdict>
  /** Entries that SCM would send and that are not UTF-8. */
  readonly broken: readonly { readonly outcome: EntryOutcome; readonly why: string }[]
}

const DECLARED: EntryVerdict = { state: 'declared' }

export class PodJudge {
  readonly #index: CandidateIndex<PreparedId>
  readonly #gate: NamespaceGate
  readonly #facts: PodFactsReader
  readonly #contest: StaticMasking
  readonly #statics: StaticIndex

  constructor(
    index: CandidateIndex<PreparedId>,
    gate: NamespaceGate,
    facts: PodFactsReader,
    statics: { readonly contest: StaticMasking; readonly index: StaticIndex },
  ) {
    this.#index = index
    this.#gate = gate
    this.#facts = facts
    this.#contest = statics.contest
    this.#statics = statics.index
  }

  judge(pod: Pod): PodJudgement {
    const finding = this.#facts.of(pod)
    const podGate = this.#gate.ofPod(pod)
    const states = this.#index
      .selecting(pod)
      .map((selection) => candidateStateOf(selection, podGate, finding))
    states.sort((left, right) => compareBytes(left.id.source.name, right.id.source.name))
    displaceFallbacks(states)
    const statics = this.#mask(states)
    for (const state of states) accept(state)
    const outcomes = states.map((state) => outcomeOf(state, pod))
    const candidates = this.#statics.matching(pod, finding)
    return {
      candidates: states,
      outcomes: [...outcomes, ...this.#staticOutcomes(candidates, statics, pod)],
      statics,
      broken: states.flatMap((state, at) => brokenOf(state, outcomes[at], pod)),
    }
  }

  /** Decides who gets each entry that several want. */
  #mask(states: readonly CandidateState[]): ReadonlyMap<PreparedStatic, EntryVerdict> {
    const decided = new Map<PreparedStatic, EntryVerdict>()
    for (const [spiffeId, group] of groupBySpiffeId(states)) {
      const rivals = this.#contest.rivals(spiffeId)
      if (group.length < 2 && rivals === undefined) continue
      for (const [key, same] of groupByKey(group)) {
        const statics = rivals?.get(key) ?? []
        if (same.length + statics.length < 2) continue
        const results = resolveMasking([...same.map(contenderOf), ...statics.map(staticContender)])
        for (const [at, state] of same.entries()) settle(state, results[at])
        for (const [at, object] of statics.entries()) {
          decided.set(object, afterMasking(object.verdict, results[same.length + at]))
        }
      }
    }
    return decided
  }

  #staticOutcomes(
    candidates: readonly StaticCandidate[],
    decided: ReadonlyMap<PreparedStatic, EntryVerdict>,
    pod: Pod,
  ): readonly EntryOutcome[] {
    return candidates
      .map(({ object, unsureParent }): EntryOutcome => {
        const { source, hint, entry } = object
        const verdict = decided.get(object) ?? this.#contest.verdictOf(object)
        const unsure = verdict.state === 'declared' && unsureParent !== undefined
        return {
          source,
          pod,
          hint,
          fallback: false,
          entry,
          verdict: unsure ? { state: 'depends', why: unsureParent } : verdict,
        }
      })
      .toSorted((left, right) => compareBytes(left.source.name, right.source.name))
  }
}

function candidateStateOf(
  { object: id, match, unsure }: Selection<PreparedId>,
  podGate: Gate | undefined,
  finding: PodFinding,
): CandidateState {
  const rendered =
    id.templates !== undefined && finding.kind === 'facts'
      ? renderEntry(id, id.templates, finding.facts)
      : undefined
  const closed = closedBy(id, podGate, finding)
  const open = openBy(id, podGate, match === 'unknown' ? unsure : undefined)
  const selected = match === 'yes' && id.gate === undefined && podGate === undefined
  const base = {
    id,
    selected,
    entry: rendered?.kind === 'entry' ? rendered.entry : undefined,
    acceptance: rendered?.kind === 'entry' ? rendered.acceptance : undefined,
    failsToRender: selected && (finding.kind === 'no node' || rendered?.kind === 'failed'),
    contested: false,
  }
  if (closed !== undefined) return { ...base, applied: 'no', verdict: closed }
  return { ...base, ...appliedBy(rendered, open) }
}

/** Why SCM certainly makes no entry, before it renders. */
function closedBy(id: PreparedId, podGate: Gate | undefined, finding: PodFinding): EntryVerdict | undefined {
  if (id.gate !== undefined && id.gate.state !== 'depends') return id.gate
  if (podGate?.state === 'ignored') return podGate
  return finding.kind === 'no node' ? { state: 'ignored', why: finding.why } : undefined
}

/** Why it is not certain that SCM renders an entry at all. */
function openBy(
  id: PreparedId,
  podGate: Gate | undefined,
  unsure: 'namespace' | 'pod' | undefined,
): string | undefined {
  if (id.gate !== undefined) return id.gate.why
  if (podGate !== undefined) return podGate.why
  if (unsure === undefined) return undefined
  const what = unsure === 'namespace' ? "the namespace's labels" : "the pod's labels"
  return `.spec.${unsure}Selector of ${sourceText(id.source)} asks for more than is known of ${what}`
}

function appliedBy(
  rendered: RenderOutcome | undefined,
  open: string | undefined,
): Pick<CandidateState, 'applied' | 'verdict'> {
  if (rendered === undefined) {
    // An object that cannot be decoded may still be known to SCM by an older content.
    return { applied: 'maybe', verdict: { state: 'depends', why: open ?? 'it cannot be rendered' } }
  }
  if (rendered.kind === 'failed') {
    return { applied: 'no', verdict: { state: 'failed', field: rendered.field, why: rendered.why } }
  }
  if (rendered.kind === 'unknown') {
    const { construct, why } = rendered
    return { applied: 'maybe', verdict: { state: 'unknown', construct, why } }
  }
  const why = open ?? rendered.unsure
  if (why !== undefined) return { applied: 'maybe', verdict: { state: 'depends', why } }
  return { applied: 'yes', verdict: DECLARED }
}

/** A fallback skips every pod to which a ClusterSPIFFEID that is none was applied, whatever became of its entry. */
function displaceFallbacks(states: readonly CandidateState[]): void {
  const others = states.filter(({ id }) => !id.spec.fallback)
  const certain = others.find(({ applied }) => applied === 'yes')
  const possible = certain === undefined ? others.find(({ applied }) => applied === 'maybe') : undefined
  if (certain === undefined && possible === undefined) return
  for (const state of states) {
    if (!state.id.spec.fallback || isClosed(state)) continue
    const isFallback = `${sourceText(state.id.source)} is a fallback`
    if (certain !== undefined) {
      state.applied = 'no'
      const why = `${isFallback} and ${sourceText(certain.id.source)} selects this pod`
      state.verdict = { state: 'displaced', by: certain.id.source, why }
    } else if (possible !== undefined && state.applied !== 'no') {
      state.applied = 'maybe'
      const why = `${isFallback}, and whether ${sourceText(possible.id.source)} applies to this pod is not known`
      if (state.verdict.state === 'declared') state.verdict = { state: 'depends', why }
    }
  }
}

/** SCM never gets to the question whether a fallback is displaced. */
function isClosed({ verdict, id, applied }: CandidateState): boolean {
  return (
    applied === 'no' && (verdict.state === 'ignored' || (verdict.state === 'failed' && id.gate !== undefined))
  )
}

function groupBySpiffeId(states: readonly CandidateState[]): ReadonlyMap<string, readonly CandidateState[]> {
  const groups = new Map<string, CandidateState[]>()
  for (const state of states) {
    if (state.applied === 'no' || state.entry === undefined) continue
    const group = groups.get(state.entry.spiffeId)
    if (group === undefined) groups.set(state.entry.spiffeId, [state])
    else group.push(state)
  }
  return groups
}

function groupByKey(states: readonly CandidateState[]): ReadonlyMap<string, readonly CandidateState[]> {
  const groups = new Map<string, CandidateState[]>()
  for (const state of states) {
    if (state.entry === undefined) continue
    const key = entryKey(state.entry)
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [state])
    else group.push(state)
  }
  return groups
}

function contenderOf({ id, applied }: CandidateState): Contender {
  return { source: id.source, precedence: id.precedence, certain: applied === 'yes' }
}

function settle(state: CandidateState, result: ReturnType<typeof resolveMasking>[number] | undefined): void {
  state.contested = result?.kind === 'open'
  state.verdict = afterMasking(state.verdict, result)
}

/** What the server says to an entry that SCM wants; a refusal undoes nothing of what went before. */
function accept(state: CandidateState): void {
  const { acceptance, verdict, applied } = state
  if (acceptance === undefined || applied === 'no' || verdict.state === 'masked') return
  if (acceptance.brokenUtf8 !== undefined) {
    state.verdict = { state: 'refused', why: `${acceptance.brokenUtf8} gives text that is not UTF-8` }
  } else if (acceptance.refusal !== undefined) {
    state.verdict = { state: 'refused', why: acceptance.refusal }
  } else if (acceptance.depends !== undefined && verdict.state === 'declared') {
    state.verdict = { state: 'depends', why: acceptance.depends }
  }
}

function brokenOf(
  state: CandidateState,
  outcome: EntryOutcome | undefined,
  pod: Pod,
): PodJudgement['broken'] {
  const field = state.acceptance?.brokenUtf8
  // Nobody sends an entry that is masked, displaced or ignored.
  if (field === undefined || outcome?.verdict.state !== 'refused') return []
  const why = `${field} gives text that is not UTF-8 on ${podText(pod)}, so SCM creates no entry for anybody`
  return [{ outcome, why }]
}

function outcomeOf({ id, entry, verdict }: CandidateState, pod: Pod): EntryOutcome {
  return { source: id.source, pod, hint: id.spec.hint, fallback: id.spec.fallback, entry, verdict }
}
