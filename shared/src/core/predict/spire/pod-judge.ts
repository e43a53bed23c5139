// Judges every registration of one pod: selection, class, node, rendering, fallback, masking and the server's checks, in
// SCM's order (docs/spire-facts.md §2-§4, §10, §11).
import { perhapsSameAs, resolveMasking, type MaskingCandidate } from './masking.ts'
import { mayBecome } from '../../base/go/template/mentions.ts'
import { podText } from '../../model/objects/pod-index.ts'
import type { Pod } from '../../model/objects/pod.ts'
import { getOrCreate } from '../../base/get-or-create.ts'
import { compareBytes } from '../../base/text/bytes.ts'
import { NO, open, YES, type Truth } from '../../model/truth/truth.ts'
import type { CandidateIndex, Selection } from './candidate-index.ts'
import { entryKey } from './entry-key.ts'
import type { NamespaceFilter } from './namespace-filter.ts'
import type { PodFactsReader, PodFactsResult } from './pod-facts.ts'
import {
  isAskedFor,
  sourceText,
  whyOpen,
  type EntryOutcome,
  type EntrySource,
  type EntryVerdict,
  type PredictionInput,
  type RenderedEntry,
} from './prediction.ts'
import type { UniformVerdict, PreparedId } from './prepared-id.ts'
import { renderEntry, type Acceptance, type RenderOutcome } from './render-entry.ts'
import { afterMasking, isStaticTaken, maskingCandidateOf, type StaticMasking } from './static-masking.ts'
import type { StaticCandidate, StaticIndex } from './static-index.ts'
import type { PreparedStatic } from './prepared-static.ts'

/** What is known of a ClusterSPIFFEID on a pod, on the way to its verdict. */
export interface CandidateState {
  readonly id: PreparedId
  /** Whether it selects the pod, and SCM certainly counts that. */
  readonly selected: boolean
  readonly entry: RenderedEntry | undefined
  readonly acceptance: Acceptance | undefined
  /** Whether SCM declares the entry, which is what displaces a fallback. */
  applied: Truth
  /** Whether SCM counts a render failure. */
  readonly countsAsRenderFailure: boolean
  /** Whether other objects ask for the same entry, and which of them gets it is not known. */
  contested: boolean
  verdict: EntryVerdict
}

/** What SCM and the server make of one pod. */
export interface PodJudgement {
  readonly candidates: readonly CandidateState[]
  readonly outcomes: readonly EntryOutcome[]
  /** Static entries that ask for the same entry as a ClusterSPIFFEID on this pod. */
  readonly statics: ReadonlyMap<PreparedStatic, EntryVerdict>
  /** Entries that SCM would send and that are no valid UTF-8. */
  readonly invalidUtf8: readonly InvalidUtf8Entry[]
}

/** An entry that SCM cannot send. `open`: why it is not known whether SCM makes it. */
export interface InvalidUtf8Entry {
  readonly source: EntrySource
  readonly why: string
  readonly open: string | undefined
}

/** What of the input was not read, or is in doubt. */
type UnreadInput = Pick<PredictionInput, 'whyIncomplete' | 'whyDoubted' | 'whyKept'>

const DECLARED: EntryVerdict = { state: 'declared' }
/** One for all pods: the verdict beside it says why. */
const PERHAPS = open({ kind: 'verdict', of: {}, why: 'whether SCM declares the entry is not known' })

/** Judges pods against the ClusterSPIFFEIDs and ClusterStaticEntries of one snapshot. */
export class PodJudge {
  readonly #index: CandidateIndex<PreparedId>
  readonly #namespaces: NamespaceFilter
  readonly #facts: PodFactsReader
  readonly #masking: StaticMasking
  readonly #statics: StaticIndex
  readonly #unread: UnreadInput

  constructor(
    index: CandidateIndex<PreparedId>,
    namespaces: NamespaceFilter,
    facts: PodFactsReader,
    statics: { readonly masking: StaticMasking; readonly index: StaticIndex },
    unread: UnreadInput,
  ) {
    this.#index = index
    this.#namespaces = namespaces
    this.#facts = facts
    this.#masking = statics.masking
    this.#statics = statics.index
    this.#unread = unread
  }

  /** Judges one pod. */
  judge(pod: Pod): PodJudgement {
    const podFacts = this.#facts.of(pod)
    const podVerdict = this.#namespaces.whyPodIgnored(pod)
    const states = this.#index
      .selecting(pod)
      .map((selection) => this.#stateOf(selection, podVerdict, podFacts, pod))
    states.sort((left, right) => compareBytes(left.id.source.name, right.id.source.name))
    displaceFallbacks(states, this.#unread.whyIncomplete?.(pod))
    const statics = this.#mask(states)
    for (const state of states) accept(state)
    const outcomes = states.map((state) => outcomeOf(state, pod))
    const candidates = this.#statics.matching(pod, podFacts)
    return {
      candidates: states,
      outcomes: [...outcomes, ...this.#staticOutcomes(candidates, statics, pod)],
      statics,
      invalidUtf8: states.flatMap((state, at) => invalidUtf8Of(state, outcomes[at], pod)),
    }
  }

  /** An object that may be other than it is here applies to a pod perhaps, whatever it says. */
  #stateOf(
    selection: Selection<PreparedId>,
    podVerdict: UniformVerdict | undefined,
    podFacts: PodFactsResult,
    pod: Pod,
  ): CandidateState {
    const state = candidateStateOf(selection, podVerdict, podFacts, pod)
    const { source } = state.id
    const kept = state.applied === YES ? this.#unread.whyKept?.(source) : undefined
    const why = this.#unread.whyDoubted?.(source) ?? kept
    return why === undefined ? state : { ...state, applied: PERHAPS, verdict: { state: 'depends', why } }
  }

  /** Decides which object gets each entry that several ask for. */
  #mask(states: readonly CandidateState[]): ReadonlyMap<PreparedStatic, EntryVerdict> {
    const decided = new Map<PreparedStatic, EntryVerdict>()
    for (const [spiffeId, group] of groupBy(states, appliedId)) {
      const rivals = this.#masking.rivals(spiffeId)
      if (group.length < 2 && rivals === undefined) continue
      for (const [key, same] of groupBy(group, keyOfEntry)) {
        const statics = rivals?.get(key) ?? []
        if (same.length + statics.length < 2) continue
        const results = resolveMasking([...same.map(candidateOf), ...statics.map(maskingCandidateOf)])
        const mayWin = (_one: unknown, at: number): boolean => results[at]?.kind !== 'masked'
        const isTaken =
          same.filter(mayWin).every(isTakenFrom) &&
          statics.filter((one, at) => mayWin(one, same.length + at)).every(isStaticTaken)
        for (const [at, state] of same.entries()) applyMasking(state, results[at], isTaken)
        for (const [at, object] of statics.entries()) {
          decided.set(object, afterMasking(object.verdict, results[same.length + at], isTaken))
        }
      }
      if (rivals !== undefined) maskPerhaps(group, rivals, decided)
    }
    return decided
  }

  #staticOutcomes(
    candidates: readonly StaticCandidate[],
    decided: ReadonlyMap<PreparedStatic, EntryVerdict>,
    pod: Pod,
  ): readonly EntryOutcome[] {
    return candidates
      .map(({ object, uncertainParent }): EntryOutcome => {
        const { source, hint, entry } = object
        const verdict = decided.get(object) ?? this.#masking.verdictOf(object)
        const doubt = this.#unread.whyDoubted?.(source)
        const mayNot = pod.perhaps?.why ?? uncertainParent ?? doubt
        const why = isAskedFor(verdict) ? mayNot : doubt
        return {
          source,
          pod,
          hint,
          fallback: false,
          entry,
          verdict: why === undefined ? verdict : { state: 'depends', why },
        }
      })
      .toSorted((left, right) => compareBytes(left.source.name, right.source.name))
  }
}

function candidateStateOf(
  { object: id, selects, uncertain }: Selection<PreparedId>,
  podVerdict: UniformVerdict | undefined,
  podFacts: PodFactsResult,
  pod: Pod,
): CandidateState {
  const { perhaps } = pod
  const own =
    id.templates !== undefined && podFacts.kind === 'facts'
      ? renderEntry(id, id.templates, podFacts.facts)
      : undefined
  const rendered = own?.kind === 'failed' && id.mayTakeEntry ? undefined : own
  const excluded = verdictBeforeRendering(id, podVerdict, podFacts)
  const uncertainty = uncertaintyBeforeRendering(id, podVerdict, uncertain)
  const selected = selects === YES && id.uniformVerdict === undefined && podVerdict === undefined
  const base = {
    id,
    selected,
    entry: rendered?.kind === 'entry' ? rendered.entry : undefined,
    acceptance: rendered?.kind === 'entry' ? rendered.acceptance : undefined,
    countsAsRenderFailure: selected && (podFacts.kind === 'no node' || rendered?.kind === 'failed'),
    contested: false,
  }
  if (excluded !== undefined) return { ...base, applied: NO, verdict: excluded }
  // What it renders for such a pod, and whether that fails, may differ from what is rendered here.
  if (perhaps !== undefined) {
    const verdict: EntryVerdict = { state: 'depends', why: perhaps.why }
    return {
      ...base,
      acceptance: undefined,
      countsAsRenderFailure: false,
      applied: PERHAPS,
      verdict,
    }
  }
  const { applied, verdict } = appliedBy(rendered, uncertainty)
  return { ...base, applied, verdict }
}

/** Why SCM certainly makes no entry, before it renders. */
function verdictBeforeRendering(
  id: PreparedId,
  podVerdict: UniformVerdict | undefined,
  podFacts: PodFactsResult,
): EntryVerdict | undefined {
  if (id.uniformVerdict !== undefined && id.uniformVerdict.state !== 'depends') return id.uniformVerdict
  if (podVerdict?.state === 'ignored') return podVerdict
  return podFacts.kind === 'no node' ? { state: 'ignored', why: podFacts.why } : undefined
}

/** Why it is not certain that SCM renders an entry at all. */
function uncertaintyBeforeRendering(
  id: PreparedId,
  podVerdict: UniformVerdict | undefined,
  uncertain: Selection<PreparedId>['uncertain'],
): string | undefined {
  if (id.uniformVerdict !== undefined) return id.uniformVerdict.why
  if (podVerdict !== undefined) return podVerdict.why
  if (uncertain === undefined) return undefined
  const { selector, labels } = uncertain
  return `.spec.${selector} of ${sourceText(id.source)} asks for more than is known of ${labels}`
}

function appliedBy(
  rendered: RenderOutcome | undefined,
  uncertainty: string | undefined,
): Pick<CandidateState, 'applied' | 'verdict'> {
  if (rendered === undefined) {
    // SCM may still hold an older content of an object that it cannot decode.
    return {
      applied: PERHAPS,
      verdict: { state: 'depends', why: uncertainty ?? 'it cannot be rendered' },
    }
  }
  if (rendered.kind === 'failed') {
    const { field, why } = rendered
    return { applied: NO, verdict: { state: 'failed', field, why, open: uncertainty } }
  }
  if (rendered.kind === 'unknown') {
    const { construct, why, spiffeId, selectors } = rendered
    return { applied: PERHAPS, verdict: { state: 'unknown', construct, why, spiffeId, selectors } }
  }
  const why = uncertainty ?? rendered.uncertain
  if (why !== undefined) return { applied: PERHAPS, verdict: { state: 'depends', why } }
  return { applied: YES, verdict: DECLARED }
}

/**
 * A fallback skips every pod to which SCM applied a ClusterSPIFFEID that is no fallback, whatever became of that entry.
 * `further` is one that there may be beside these.
 */
function displaceFallbacks(states: readonly CandidateState[], further: string | undefined): void {
  const others = states.filter(({ id }) => !id.spec.fallback)
  const certain = others.find(({ applied }) => applied === YES)
  const possible = certain === undefined ? others.find(({ applied }) => applied.value === 'open') : undefined
  if (certain === undefined && possible === undefined && further === undefined) return
  for (const state of states) {
    if (!state.id.spec.fallback || isExcludedBeforeFallback(state)) continue
    const isFallback = `${sourceText(state.id.source)} is a fallback`
    if (certain !== undefined) {
      state.applied = NO
      const why = `${isFallback} and ${sourceText(certain.id.source)} selects this pod`
      const givesNothing = state.verdict.state === 'failed' || !isTakenFrom(state)
      state.verdict = {
        state: 'displaced',
        by: certain.id.source,
        why,
        open: whyOpen(state.verdict),
        ...(givesNothing && { givesNothing }),
      }
      continue
    }
    const other = possible === undefined ? (further ?? '') : sourceText(possible.id.source)
    const why = `${isFallback}, and whether ${other} applies to this pod is not known`
    // It gives nothing in either case.
    if (state.verdict.state === 'failed')
      state.verdict = { ...state.verdict, open: state.verdict.open ?? why }
    else if (state.applied !== NO) {
      state.applied = PERHAPS
      if (state.verdict.state === 'declared') state.verdict = { state: 'depends', why }
    }
  }
}

/** Whether SCM drops the object before it looks whether a fallback is displaced. */
function isExcludedBeforeFallback({ verdict, id, applied }: CandidateState): boolean {
  return (
    applied === NO &&
    (verdict.state === 'ignored' || (verdict.state === 'failed' && id.uniformVerdict !== undefined))
  )
}

/** One without a key is in no group. */
function groupBy(
  states: readonly CandidateState[],
  keyOf: (state: CandidateState) => string | undefined,
): ReadonlyMap<string, readonly CandidateState[]> {
  const groups = new Map<string, CandidateState[]>()
  for (const state of states) {
    const key = keyOf(state)
    if (key !== undefined) getOrCreate(groups, key, () => []).push(state)
  }
  return groups
}

function appliedId({ applied, entry }: CandidateState): string | undefined {
  return applied === NO ? undefined : entry?.spiffeId
}

function keyOfEntry({ entry }: CandidateState): string | undefined {
  return entry && entryKey(entry)
}

function candidateOf({ id, applied }: CandidateState): MaskingCandidate {
  return { source: id.source, precedence: id.precedence, certain: applied === YES }
}

/** An entry in which a fact is not known, such as the UID of its node, may be that of a static entry: one of the two is masked then. */
function maskPerhaps(
  group: readonly CandidateState[],
  rivals: ReadonlyMap<string, readonly PreparedStatic[]>,
  decided: Map<PreparedStatic, EntryVerdict>,
): void {
  for (const [key, states] of groupBy(group, keyOfEntry))
    for (const [other, statics] of key.includes('<') ? rivals : []) {
      if (key === other || !mayBecome(key, other)) continue
      for (const state of states)
        for (const object of statics) {
          applyMasking(state, perhapsSameAs(object.source), false)
          const verdict = decided.get(object) ?? object.verdict
          decided.set(object, afterMasking(verdict, perhapsSameAs(state.id.source), false))
        }
    }
}

function applyMasking(
  state: CandidateState,
  result: ReturnType<typeof resolveMasking>[number] | undefined,
  isTaken: boolean,
): void {
  state.contested = result?.kind === 'uncertain'
  state.verdict = afterMasking(state.verdict, result, isTaken)
}

/** Whether the server takes the entry of an object, should SCM prefer it. */
function isTakenFrom({ acceptance }: CandidateState): boolean {
  return Object.values(acceptance ?? {}).every((why) => why === undefined)
}

/** Applies the server's checks to an entry that SCM sends; a refusal leaves fallbacks displaced and losers masked. */
function accept(state: CandidateState): void {
  const { acceptance, verdict, applied } = state
  if (acceptance === undefined || applied === NO || verdict.state === 'masked') return
  // What another object may get is not certain to be refused either.
  const whyNot = verdict.state === 'depends' ? verdict.why : undefined
  if (acceptance.brokenUtf8 !== undefined) {
    state.verdict = {
      state: 'refused',
      why: `${acceptance.brokenUtf8} gives text that is not UTF-8`,
      open: whyNot,
    }
  } else if (acceptance.refusal !== undefined) {
    state.verdict = { state: 'refused', why: acceptance.refusal, open: whyNot }
  } else if (acceptance.depends !== undefined && isAskedFor(verdict)) {
    const isSent = verdict.state === 'declared'
    state.verdict = { state: 'depends', why: acceptance.depends, ...(isSent && { isSent }) }
  }
}

function invalidUtf8Of(
  state: CandidateState,
  outcome: EntryOutcome | undefined,
  pod: Pod,
): PodJudgement['invalidUtf8'] {
  const field = state.acceptance?.brokenUtf8
  // SCM does not send an entry that is masked, displaced or ignored.
  if (field === undefined || outcome?.verdict.state !== 'refused') return []
  const why = `${field} gives text that is not UTF-8 on ${podText(pod)}, so SCM creates no entries at all`
  return [{ source: outcome.source, why, open: outcome.verdict.open }]
}

function outcomeOf({ id, entry, verdict }: CandidateState, pod: Pod): EntryOutcome {
  return { source: id.source, pod, hint: id.spec.hint, fallback: id.spec.fallback, entry, verdict }
}
