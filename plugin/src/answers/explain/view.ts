// How `explain` looks: the answer, the reason, the fix, then the derivation. Several bindings that were not asked for by name
// are a table, refused ones first, and what is wrong with them.
import { inForceText } from '@kleym/shared/core/analysis/index.ts'
import type { Explanation } from '@kleym/shared/core/answers/index.ts'
import {
  compareFindings,
  type Finding,
  codeOfReason,
  findingEntry,
} from '@kleym/shared/core/findings/index.ts'
import { type Judgement, judgementWord } from '@kleym/shared/core/decide/index.ts'
import { counted, shareText } from '@kleym/shared/core/base/text/counted.ts'
import { shortPodText } from '@kleym/shared/core/model/objects/pod-index.ts'
import { pageUrl } from '../../io/docs-url.ts'
import { markUnder } from '../../frame/outcome.ts'
import {
  leadingWith,
  viewAnswer,
  type Answer,
  type AnswerDoubts,
  type MarkedAnswer,
} from '../../text/answer.ts'
import { viewFindingGroups } from '../../text/finding-groups.ts'
import { findingPieces, fixText, kindsText, viewFinding } from '../../text/findings.ts'
import type { Layout } from '../../text/layout.ts'
import { BLANK, line, markRank, MARKS, span, type Block, type Line } from '../../text/line.ts'
import { wrap } from '../../text/wrap.ts'
import { bindingMark, bindingTable } from './binding-table.ts'
import {
  missedRows,
  sameForAll,
  viewDerivation,
  viewNamedBy,
  viewSaidBelow,
  viewSteps,
  type DerivationLayout,
} from './derivation-view.ts'

/** What the view shows beside the explanations. */
export interface ExplainLayout extends DerivationLayout {
  /** The findings that name a binding, by its key. */
  readonly findingsByBinding: ReadonlyMap<string, readonly Finding[]>
  /** The findings that stop all registrations of the cluster, those of ready bindings too. */
  readonly clusterWide: readonly Finding[]
  /** How many bindings the answer is about, those included that are not shown. */
  readonly total: number
  /** Whether the bindings were asked for by name. */
  readonly named: boolean
  /** What is said where no binding is in scope: `no binding is in scope; 3 bindings were found`. */
  readonly scopeText: string
  /** Then no change is applied. */
  readonly isOperatorDown: boolean
  /** Whether no binding is there at all, so that the next question is which there could be. */
  readonly isBeforeTheFirst: boolean
  /** `-A`, or `-n team-a`. */
  readonly scopeFlag: string
}

/** What stands below the answer: one derivation, a table of several bindings with what is wrong, or (`-o wide`) all derivations. */
export function viewExplanations(explanations: readonly Explanation[], layout: ExplainLayout): Block {
  const stop = layout.clusterWide.flatMap((one) => [...viewFinding(one, layout), BLANK])
  const [only] = explanations
  if (only === undefined) return stop.slice(0, -1)
  if (layout.total === 1) return [...stop, ...viewRest(only, layout)]
  const sorted = troubleFirst(explanations, layout)
  if (layout.named || layout.wide) {
    const saidBelow = sameForAll(sorted, layout)
    const eachLayout: ExplainLayout = { ...layout, saidBelow }
    return [
      ...stop,
      ...sorted.flatMap((one, at) => [
        ...(at === 0 ? [] : [BLANK]),
        ...viewAnswer(markedAnswer(one, layout), NO_DOUBTS, layout),
        ...viewRest(one, eachLayout),
      ]),
      ...viewSaidBelow(saidBelow, layout),
    ]
  }
  return [...stop, ...viewTable(sorted, layout)]
}

/** AnswerDoubts are said once, above all bindings. */
const NO_DOUBTS: AnswerDoubts = { incomplete: false, unsettled: false, notShown: 0 }

/** Refused bindings first, then those that wait; of the ready ones those about which something is found, or that reach nothing. */
function troubleFirst(
  explanations: readonly Explanation[],
  { findingsByBinding }: ExplainLayout,
): readonly Explanation[] {
  const rankOf = (one: Explanation): number =>
    10 * RANK[one.judgement.state] + markRank(bindingMark(one, findingsByBinding.get(one.key)))
  const ranked = explanations.map((one) => ({ one, rank: rankOf(one) }))
  return ranked.toSorted((a, b) => a.rank - b.rank).map(({ one }) => one)
}

/** A row for each binding, then what is wrong with which of them, each fix once. */
function viewTable(explanations: readonly Explanation[], layout: ExplainLayout): Block {
  const findings = new Set(explanations.flatMap(({ key }) => layout.findingsByBinding.get(key) ?? []))
  const shown = [...findings].filter((one) => one.severity !== 'info' && !layout.clusterWide.includes(one))
  const hint = `the derivation of one: kubectl kleym explain NAMESPACE/NAME${layout.echo ?? ''}; of all: -o wide`
  return [
    ...bindingTable(explanations, layout),
    ...(shown.length === 0 ? [] : [BLANK, ...viewFindingGroups(shown.toSorted(compareFindings), layout)]),
    BLANK,
    ...wrap(line(span(hint, 'dim')), layout.width, 2),
  ]
}

type BindingState = Judgement['state']
const RANK: Readonly<Record<BindingState, number>> = {
  refused: 0,
  undetermined: 1,
  waiting: 1,
  deleting: 2,
  ready: 3,
}

/** The first lines: of one binding its verdict, why and the fix; of several, how many have which. */
export function explainAnswer(explanations: readonly Explanation[], layout: ExplainLayout): Answer {
  const [only, ...others] = explanations
  if (only === undefined)
    return {
      mark: 'note',
      text: [layout.scopeText],
      reasons: layout.isBeforeTheFirst
        ? [[`see which there could be: kubectl kleym suggest ${layout.scopeFlag}${layout.echo ?? ''}`]]
        : [],
    }
  if (others.length === 0) return explanationAnswer(only, layout)
  const counts = new Map<BindingState, number>()
  for (const { judgement } of explanations)
    counts.set(judgement.state, (counts.get(judgement.state) ?? 0) + 1)
  const states: readonly BindingState[] = ['refused', 'undetermined', 'waiting', 'deleting', 'ready']
  const total = explanations.length
  const [worst = 'ready', ...better] = states.filter((state) => counts.has(state))
  const rest = better.map((state) => `${counts.get(state)} ${judgementWord(state)}`)
  const unreached = explanations.filter(
    (one) => one.judgement.state === 'ready' && containersOf(one) === 0,
  ).length
  return {
    mark: counts.size > 1 || !counts.has('ready') || unreached > 0 ? 'warn' : 'ok',
    ...leadingWith(
      [
        `${shareText(counts.get(worst) ?? 0, total, 'binding')} ${judgementWord(worst)}`,
        ...rest,
        ...(unreached === 0
          ? []
          : [`${unreached} of the ready ones ${unreached === 1 ? 'reaches' : 'reach'} no container`]),
      ],
      ...worstText(layout),
    ),
  }
}

/** What is found about bindings, the most frequent of the worst kinds; nothing where there is no more than a remark. */
function worstText({ findingsByBinding }: ExplainLayout): readonly (readonly [string])[] {
  const findings = [...new Set([...findingsByBinding.values()].flat())]
  const worst = (['error', 'warning'] as const).find((one) =>
    findings.some(({ severity }) => severity === one),
  )
  return worst === undefined ? [] : [[kindsText(findings.filter(({ severity }) => severity === worst))]]
}

/** The answer about one of several. */
function markedAnswer(one: Explanation, layout: ExplainLayout): MarkedAnswer {
  const answer = explanationAnswer(one, layout)
  return { ...answer, mark: markUnder(layout.findingsByBinding.get(one.key) ?? [], answer.mark) }
}

function explanationAnswer(one: Explanation, layout: ExplainLayout): Answer {
  const about = layout.findingsByBinding.get(one.key) ?? []
  const key = span(one.key, 'bold')
  const { verdict } = one
  const code = codeOfReason(verdict.reason)
  switch (one.judgement.state) {
    case 'deleting':
      return { mark: 'note', text: [key, ' is being deleted; its registrations go with it'] }
    case 'ready':
      return readyAnswer(one, about, layout)
    case 'refused':
    case 'undetermined':
    case 'waiting': {
      const state = one.judgement.state
      const mark = 'warn'
      if (code === undefined) return { mark, text: [key, ` is ${judgementWord(state)}`] }
      const entry = findingEntry(code)
      const own = about.find((finding) => finding.code === code)
      const title = state === 'refused' ? `: ${entry.title}` : ''
      return {
        mark,
        text: [key, ` is ${judgementWord(state)}${title} (${verdict.reason})${stayingText(one, layout)}`],
        reasons: [
          [verdict.message],
          [`fix: ${fixText(own?.fix ?? entry.fix, layout)}`],
          ...foundTexts(
            about.filter((finding) => finding !== own && !layout.clusterWide.includes(finding)),
            layout,
          ),
          ...(one.afterwards?.ready === 'True' ? [['afterwards it is ready']] : []),
        ],
      }
    }
  }
}

function containersOf({ reach }: Explanation): number {
  return reach?.reached.reduce((sum, { containers }) => sum + containers.length, 0) ?? 0
}

function readyAnswer(one: Explanation, about: readonly Finding[], layout: ExplainLayout): Answer {
  const containers = containersOf(one)
  const pending = isOffline(layout) ? undefined : pendingText(one)
  const { gets, behind } = entitledTexts(containers, about)
  const who =
    containers > 0 && pending !== undefined
      ? `: ${counted(containers, 'container')} will get, once ${pending},`
      : containers > 0
        ? `: ${counted(containers, 'container')} ${gets}`
        : one.podsUnknown !== undefined
          ? ', but which containers it reaches is unknown:'
          : one.reach !== undefined && one.reach.perhaps.length > 0
            ? ', but whether it reaches a container is undetermined:'
            : `, but reaches no container${isOffline(layout) ? ' among these files' : ''}:`
  return {
    mark: containers === 0 || pending !== undefined || layout.isOperatorDown ? 'warn' : 'ok',
    text: [
      span(one.key, 'bold'),
      ` ${stateText(one, pending, layout)}${who} ${one.identity?.spiffeId ?? ''}${containers === 0 ? '' : behind}`,
    ],
    reasons: [...whyUnreached(one, about).map((text) => [text]), ...foundTexts(about, layout)],
  }
}

/** What stands before the ID, and behind it: an entry gives a container nothing that cannot fetch it. */
function entitledTexts(
  containers: number,
  about: readonly Finding[],
): { readonly gets: string; readonly behind: string } {
  const isOne = containers === 1
  if (about.every(({ code }) => findingEntry(code).noEffect !== 'of any output'))
    return { gets: isOne ? 'gets' : 'get', behind: '' }
  return isOne
    ? { gets: 'is entitled to', behind: ', but may be unable to fetch it' }
    : { gets: 'are entitled to', behind: ', but some may be unable to fetch it' }
}

/** What else is found about a binding; of an error its fix too. */
function foundTexts(found: readonly Finding[], layout: ExplainLayout): NonNullable<Answer['reasons']> {
  return found.flatMap((finding) => [
    findingPieces(finding),
    ...(finding.severity === 'error' ? [[`fix: ${fixText(finding.fix, layout)}`]] : []),
  ])
}

/** What is true of the output of a binding that is ready. */
function stateText(
  { inForce }: Explanation,
  pending: string | undefined,
  { isOperatorDown }: ExplainLayout,
): string {
  if (!isOperatorDown) return 'is ready'
  return pending === undefined
    ? `is ${inForceText(inForce)}; changes will not be applied`
    : 'is valid, not applied yet'
}

/** An output that is to be withdrawn is there until the operator does it. */
function stayingText({ withdrawn }: Explanation, { isOperatorDown }: ExplainLayout): string {
  return isOperatorDown && withdrawn.length > 0 ? '; its output stays until the operator runs' : ''
}

/** Why the identity of a ready binding reaches no container, where no error says so: a row for each reason. */
function whyUnreached(one: Explanation, about: readonly Finding[]): readonly string[] {
  const { reach } = one
  if (one.judgement.state !== 'ready' || reach === undefined || one.podsUnknown !== undefined) return []
  if (containersOf(one) > 0 || reach.perhaps.length > 0 || about.some(({ severity }) => severity === 'error'))
    return []
  return reach.missed.length === 0 ? ['no pod or pod template has all labels of the pool'] : missedRows(reach)
}

/** What stands below the answer about one binding. */
function viewRest(one: Explanation, layout: ExplainLayout): Block {
  const { verdict } = one
  const code = codeOfReason(verdict.reason)
  switch (one.judgement.state) {
    case 'deleting':
      return []
    case 'ready':
      return viewDerivation(one, {
        ...layout,
        isMissedSaid: whyUnreached(one, layout.findingsByBinding.get(one.key) ?? []).length > 0,
      })
    case 'refused':
    case 'undetermined':
    case 'waiting':
      return [
        ...peerLines(one, layout),
        ...one.withdrawn.flatMap(({ name }) =>
          wrap(line(`  ClusterSPIFFEID/${name} is withdrawn`), layout.width, 2),
        ),
        ...(code === undefined ? [] : [more(code), BLANK]),
        ...viewSteps(one.steps, verdict.message, layout),
        ...viewNamedBy(one, layout),
      ]
  }
}

/** What kleym must still write in a cluster: until then the identity is not there, or is another one. */
function pendingText({ output }: Explanation): string | undefined {
  if (output === undefined || output.state === 'up to date') return undefined
  return `kleym has ${output.state === 'to be created' ? 'created' : 'updated'} its ClusterSPIFFEID`
}

/** Whether files are all there is. */
function isOffline({ world = '' }: Layout): boolean {
  return world !== ''
}

/** Every peer with its proof and witness; a person wants the name first. */
function peerLines(one: Explanation, layout: ExplainLayout): Block {
  const shown = layout.wide || layout.named ? one.peers : one.peers.slice(0, 3)
  const lines = shown.flatMap(({ binding, relation, proof, witness }) => {
    const seen = witness === undefined ? 'no such pod exists now' : `for example ${shortPodText(witness)}`
    return wrap(line('  ', MARKS.note, ` ${binding} (${relation}): ${proof}; ${seen}`), layout.width, 4)
  })
  const rest = one.peers.length - shown.length
  return rest > 0 ? [...lines, line(`  and ${counted(rest, 'more peer')}`)] : lines
}

function more(code: string): Line {
  const url = pageUrl(code)
  return line(
    span(`  ${code}, more: kubectl kleym explain ${code}${url === undefined ? '' : ` or ${url}`}`, 'dim'),
  )
}
