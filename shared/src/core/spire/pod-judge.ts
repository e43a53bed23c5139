// What becomes of every registration of one pod: selection, class, node, rendering, fallback, masking and what the
// server says, in SCM's order (facts/spire.md §2-§4, §10, §11).
import { podText } from '../objects/pod-index.ts'
import type { Pod } from '../objects/pod.ts'
import { compareBytes } from '../text/bytes.ts'
import type { CandidateIndex, Selection } from './candidates.ts'
import { contest, entryKey, type Contender } from './entry-key.ts'
import type { NamespaceGate } from './namespace-gate.ts'
import type { PodFactsReader, PodFinding } from './pod-facts.ts'
import { sourceText, type EntryOutcome, type EntryVerdict, type RenderedEntry } from './prediction.ts'
import type { Gate, PreparedId } from './prepared-id.ts'
import { renderEntry, type Acceptance, type RenderOutcome } from './render-entry.ts'
import { afterContest, staticContender, type StaticContest } from './static-masking.ts'
import type { StaticCandidate, StaticIndex } from './static-index.ts'
import type { PreparedStatic } from './prepared-static.ts'

/** How a ClusterSPIFFEID fares on a pod, on the way to its verdict. */
export interface Fate {
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
  readonly fates: readonly Fate[]
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
  readonly #contest: StaticContest
  readonly #statics: StaticIndex

  constructor(
    index: CandidateIndex<PreparedId>,
    gate: NamespaceGate,
    facts: PodFactsReader,
    statics: { readonly contest: StaticContest; readonly index: StaticIndex },
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
    const fates = this.#index.selecting(pod).map((selection) => fateOf(selection, podGate, finding))
    fates.sort((left, right) => compareBytes(left.id.source.name, right.id.source.name))
    displaceFallbacks(fates)
    const statics = this.#mask(fates)
    for (const fate of fates) accept(fate)
    const outcomes = fates.map((fate) => outcomeOf(fate, pod))
    const candidates = this.#statics.matching(pod, finding)
    return {
      fates,
      outcomes: [...outcomes, ...this.#staticOutcomes(candidates, statics, pod)],
      statics,
      broken: fates.flatMap((fate, at) => brokenOf(fate, outcomes[at], pod)),
    }
  }

  /** Decides who gets each entry that several want. */
  #mask(fates: readonly Fate[]): ReadonlyMap<PreparedStatic, EntryVerdict> {
    const decided = new Map<PreparedStatic, EntryVerdict>()
    for (const [spiffeId, group] of groupBySpiffeId(fates)) {
      const rivals = this.#contest.rivals(spiffeId)
      if (group.length < 2 && rivals === undefined) continue
      for (const [key, same] of groupByKey(group)) {
        const statics = rivals?.get(key) ?? []
        if (same.length + statics.length < 2) continue
        const standings = contest([...same.map(fateContender), ...statics.map(staticContender)])
        for (const [at, fate] of same.entries()) settle(fate, standings[at])
        for (const [at, object] of statics.entries()) {
          decided.set(object, afterContest(object.verdict, standings[same.length + at]))
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

function fateOf(
  { object: id, match, unsure }: Selection<PreparedId>,
  podGate: Gate | undefined,
  finding: PodFinding,
): Fate {
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
): Pick<Fate, 'applied' | 'verdict'> {
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
function displaceFallbacks(fates: readonly Fate[]): void {
  const others = fates.filter(({ id }) => !id.spec.fallback)
  const certain = others.find(({ applied }) => applied === 'yes')
  const possible = certain === undefined ? others.find(({ applied }) => applied === 'maybe') : undefined
  if (certain === undefined && possible === undefined) return
  for (const fate of fates) {
    if (!fate.id.spec.fallback || isClosed(fate)) continue
    const isFallback = `${sourceText(fate.id.source)} is a fallback`
    if (certain !== undefined) {
      fate.applied = 'no'
      const why = `${isFallback} and ${sourceText(certain.id.source)} selects this pod`
      fate.verdict = { state: 'displaced', by: certain.id.source, why }
    } else if (possible !== undefined && fate.applied !== 'no') {
      fate.applied = 'maybe'
      const why = `${isFallback}, and whether ${sourceText(possible.id.source)} applies to this pod is not known`
      if (fate.verdict.state === 'declared') fate.verdict = { state: 'depends', why }
    }
  }
}

/** SCM never gets to the question whether a fallback is displaced. */
function isClosed({ verdict, id, applied }: Fate): boolean {
  return (
    applied === 'no' && (verdict.state === 'ignored' || (verdict.state === 'failed' && id.gate !== undefined))
  )
}

function groupBySpiffeId(fates: readonly Fate[]): ReadonlyMap<string, readonly Fate[]> {
  const groups = new Map<string, Fate[]>()
  for (const fate of fates) {
    if (fate.applied === 'no' || fate.entry === undefined) continue
    const group = groups.get(fate.entry.spiffeId)
    if (group === undefined) groups.set(fate.entry.spiffeId, [fate])
    else group.push(fate)
  }
  return groups
}

function groupByKey(fates: readonly Fate[]): ReadonlyMap<string, readonly Fate[]> {
  const groups = new Map<string, Fate[]>()
  for (const fate of fates) {
    if (fate.entry === undefined) continue
    const key = entryKey(fate.entry)
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [fate])
    else group.push(fate)
  }
  return groups
}

function fateContender({ id, applied }: Fate): Contender {
  return { source: id.source, seniority: id.seniority, certain: applied === 'yes' }
}

function settle(fate: Fate, standing: ReturnType<typeof contest>[number] | undefined): void {
  fate.contested = standing?.kind === 'open'
  fate.verdict = afterContest(fate.verdict, standing)
}

/** What the server says to an entry that SCM wants; a refusal undoes nothing of what went before. */
function accept(fate: Fate): void {
  const { acceptance, verdict, applied } = fate
  if (acceptance === undefined || applied === 'no' || verdict.state === 'masked') return
  if (acceptance.brokenUtf8 !== undefined) {
    fate.verdict = { state: 'refused', why: `${acceptance.brokenUtf8} gives text that is not UTF-8` }
  } else if (acceptance.refusal !== undefined) {
    fate.verdict = { state: 'refused', why: acceptance.refusal }
  } else if (acceptance.depends !== undefined && verdict.state === 'declared') {
    fate.verdict = { state: 'depends', why: acceptance.depends }
  }
}

function brokenOf(fate: Fate, outcome: EntryOutcome | undefined, pod: Pod): PodJudgement['broken'] {
  const field = fate.acceptance?.brokenUtf8
  // Nobody sends an entry that is masked, displaced or ignored.
  if (field === undefined || outcome?.verdict.state !== 'refused') return []
  const why = `${field} gives text that is not UTF-8 on ${podText(pod)}, so SCM creates no entry for anybody`
  return [{ outcome, why }]
}

function outcomeOf({ id, entry, verdict }: Fate, pod: Pod): EntryOutcome {
  return { source: id.source, pod, hint: id.spec.hint, fallback: id.spec.fallback, entry, verdict }
}
