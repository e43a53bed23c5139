// How `explain` looks: the answer, the reason, the fix, then the derivation. Refused bindings come first; a binding that
// nobody asked for by name is kept to its answer.
import type { Explanation } from '@kleym/shared/core/explain/explanation.ts'
import { unknownReasonText, type UnknownReason } from '@kleym/shared/core/unknown-reason.ts'
import type { Reach } from '@kleym/shared/core/explain/reach.ts'
import type { DerivationStep } from '@kleym/shared/core/explain/steps.ts'
import type { Finding } from '@kleym/shared/core/findings/finding.ts'
import { counted } from '@kleym/shared/core/text/counted.ts'
import { shortPodText } from '@kleym/shared/core/objects/pod-index.ts'
import type { Pod } from '@kleym/shared/core/objects/pod.ts'
import type { NamedBy } from '@kleym/shared/core/policies/resolution.ts'
import { codeOfReason, findingEntry } from '@kleym/shared/core/registry/findings.ts'
import { viewFinding } from '../conflicts/view.ts'
import type { Layout } from '../../text/layout.ts'
import { BLANK, line, MARKS, span, type Block, type Line, type Mark } from '../../text/line.ts'
import { namedByRows } from '../../frame/named-by.ts'
import { namesText } from '../../text/names.ts'
import { table } from '../../text/table.ts'
import { shorten, wrap } from '../../text/wrap.ts'

export interface ExplainLayout extends Layout {
  /** The findings that name a binding, by its key. */
  readonly about: ReadonlyMap<string, readonly Finding[]>
  /** The findings that stop everybody's registrations, those of ready bindings too. */
  readonly everybody: readonly Finding[]
  /** Who names the identity of a binding; undefined where it has none, or where there are no policies to speak of. */
  readonly namedBy: (one: Explanation) => NamedBy | undefined
  /** Whether the bindings were asked for by name. */
  readonly named: boolean
  /** Where the bindings that were read stand, and how many they are: `there are 3 in namespace team-a`. */
  readonly there: string
}

/** All explanations, worst first, with a line that counts them where there are several. */
export function viewExplanations(explanations: readonly Explanation[], layout: ExplainLayout): Block {
  if (explanations.length === 0) {
    const mark = layout.incomplete === true ? MARKS.warn : MARKS.note
    return [
      line(
        mark,
        ` no binding is ${layout.incomplete === true ? 'known to be ' : ''}in scope; ${layout.there}`,
      ),
    ]
  }
  const inFull = layout.named || layout.wide || explanations.length === 1
  const sorted = explanations.toSorted((a, b) => RANK[stateOf(a)] - RANK[stateOf(b)])
  const head = explanations.length === 1 ? [] : [...summary(explanations), BLANK]
  const hint = inFull
    ? []
    : [
        BLANK,
        ...wrap(
          line(span('The derivation of one: kubectl kleym explain NAMESPACE/NAME, of all: -o wide', 'dim')),
          { width: layout.width, hang: 0 },
        ),
      ]
  const blocks = sorted.map((one) => viewExplanation(one, layout, inFull))
  const stop = layout.everybody.flatMap((one) => [...viewFinding(one, layout), BLANK])
  return [...stop, ...head, ...blocks.flatMap((block, at) => (at === 0 ? block : [BLANK, ...block])), ...hint]
}

type State = 'refused' | 'unknown' | 'deleting' | 'ready'
const RANK: Readonly<Record<State, number>> = { refused: 0, unknown: 1, deleting: 2, ready: 3 }

function stateOf({ verdict }: Explanation): State {
  if (verdict === undefined) return 'deleting'
  return verdict.ready === 'True' ? 'ready' : verdict.ready === 'False' ? 'refused' : 'unknown'
}

function summary(explanations: readonly Explanation[]): Block {
  const counts = new Map<State, number>()
  for (const one of explanations) counts.set(stateOf(one), (counts.get(stateOf(one)) ?? 0) + 1)
  const words: readonly [State, string][] = [
    ['refused', 'refused'],
    ['unknown', 'not decided'],
    ['deleting', 'being deleted'],
    ['ready', 'ready'],
  ]
  const parts = words.flatMap(([state, word]) => (counts.has(state) ? [`${counts.get(state)} ${word}`] : []))
  return [line(span(`${counted(explanations.length, 'binding')}: ${parts.join(', ')}`, 'bold'))]
}

function viewExplanation(one: Explanation, layout: ExplainLayout, inFull: boolean): Block {
  const about = layout.about.get(one.key) ?? []
  switch (stateOf(one)) {
    case 'refused':
      return viewRefused(one, about, layout, inFull)
    case 'unknown':
      return viewUndecided(one, about, layout, inFull)
    case 'deleting':
      return heading(
        line(MARKS.note, ' ', span(one.key, 'bold'), ' is being deleted; its registrations go with it'),
        layout,
      )
    case 'ready':
      return viewReady(one, about, layout, inFull)
  }
}

function viewRefused(
  one: Explanation,
  about: readonly Finding[],
  layout: ExplainLayout,
  inFull: boolean,
): Block {
  const { verdict } = one
  const code = verdict === undefined ? undefined : codeOfReason(verdict.reason)
  if (verdict === undefined || code === undefined) return []
  const entry = findingEntry(code)
  const own = about.find((finding) => finding.code === code)
  return [
    ...heading(
      line(MARKS.bad, ' ', span(one.key, 'bold'), ` is refused: ${entry.title} (${verdict.reason})`),
      layout,
    ),
    ...paragraph(verdict.message, layout),
    ...peerLines(one, layout),
    ...paragraph(`fix: ${own?.fix ?? entry.fix}`, layout),
    ...one.withdrawn.flatMap(({ name }) => paragraph(`ClusterSPIFFEID/${name} is withdrawn`, layout)),
    ...(inFull
      ? [more(code), BLANK, ...viewSteps(one.steps, layout), ...viewNamedBy(one, layout)]
      : [more(code)]),
  ]
}

function viewUndecided(
  one: Explanation,
  about: readonly Finding[],
  layout: ExplainLayout,
  inFull: boolean,
): Block {
  const { verdict } = one
  const code = verdict === undefined ? undefined : codeOfReason(verdict.reason)
  if (verdict === undefined || code === undefined) return []
  const what = verdict.reason === 'WaitingForPeer' ? 'is waiting' : 'cannot be decided'
  return [
    ...heading(line(MARKS.warn, ' ', span(one.key, 'bold'), ` ${what} (${verdict.reason})`), layout),
    ...paragraph(verdict.message, layout),
    ...paragraph(
      `fix: ${about.find((finding) => finding.code === code)?.fix ?? findingEntry(code).fix}`,
      layout,
    ),
    ...(one.afterwards?.ready === 'True' ? paragraph('afterwards it is ready', layout) : []),
    ...(inFull
      ? [more(code), BLANK, ...viewSteps(one.steps, layout), ...viewNamedBy(one, layout)]
      : [more(code)]),
  ]
}

function viewReady(
  one: Explanation,
  about: readonly Finding[],
  layout: ExplainLayout,
  inFull: boolean,
): Block {
  const containers = one.reach?.reached.reduce((sum, reached) => sum + reached.containers.length, 0) ?? 0
  const who =
    containers > 0
      ? `${counted(containers, 'container')} ${containers === 1 ? 'gets' : 'get'}`
      : one.podsUnknown === undefined
        ? 'but no container gets'
        : 'and it is not known which containers get'
  const why =
    containers > 0 || inFull || one.reach === undefined ? [] : reachRows(one.reach, one.podsUnknown).slice(1)
  return [
    ...heading(
      line(
        containers === 0 ? MARKS.warn : MARKS.ok,
        ' ',
        span(one.key, 'bold'),
        ` is ready${containers === 0 ? ',' : ':'} ${who}`,
      ),
      layout,
    ),
    line(`  ${one.identity?.spiffeId ?? ''}`),
    ...about.flatMap((finding) => findingLines(finding, layout)),
    ...(about.length > 0 ? [] : table(why, { width: layout.width, indent: 4 })),
    ...(inFull ? [BLANK, ...viewDerivation(one, layout)] : []),
  ]
}

const SEVERITY_MARK: Readonly<Record<Finding['severity'], Mark>> = {
  error: 'bad',
  warning: 'warn',
  info: 'note',
}

/** A finding under its binding: mark, sentence, code. */
export function findingLines({ code, severity, summary: text }: Finding, layout: Layout): Block {
  return wrap(line('  ', MARKS[SEVERITY_MARK[severity]], ` ${text}   `, span(code, 'dim')), {
    width: layout.width,
    hang: 4,
  })
}

function viewDerivation(one: Explanation, layout: ExplainLayout): Block {
  const selectors = one.selectors.map(({ selector, object, field }) => [selector, `${object} ${field}`])
  return [
    ...table(selectors, { width: layout.width, indent: 2, header: ['selector', 'from'] }),
    BLANK,
    ...table(rowsOf(one, layout), { width: layout.width, indent: 2 }),
  ]
}

/** Below the steps of a binding that is not ready: who relies on the ID that it asks for. */
function viewNamedBy(one: Explanation, layout: ExplainLayout): Block {
  return table(policyRows(one, layout), { width: layout.width, indent: 2 })
}

function policyRows(one: Explanation, layout: ExplainLayout): string[][] {
  const namedBy = layout.namedBy(one)
  return namedBy === undefined ? [] : labelled('named by', namedByRows(namedBy, layout))
}

function rowsOf(one: Explanation, layout: ExplainLayout): readonly (readonly string[])[] {
  const { reach, output } = one
  const rows: string[][] = one.steps
    .filter(({ name }) => name === 'pool' || name === 'objective' || name === 'proof')
    .map(({ name, text }) => [name, text])
  if (reach !== undefined) rows.push(...reachRows(reach, one.podsUnknown))
  rows.push(...policyRows(one, layout))
  if (output !== undefined) rows.push(['output', outputText(output, layout)])
  for (const { name, because } of one.withdrawn)
    rows.push(['withdrawn', `ClusterSPIFFEID/${name}: ${because}`])
  return rows
}

function outputText(output: NonNullable<Explanation['output']>, layout: Layout): string {
  const name = layout.wide ? output.name : shorten(output.name, Math.max(48, layout.width - 48))
  const drift = output.drift.length === 0 ? '' : `: ${output.drift.join(', ')}`
  return `ClusterSPIFFEID/${name}, ${output.state}${drift}`
}

function reachRows(reach: Reach, unknown: UnknownReason | undefined): string[][] {
  const reached = grouped(reach.reached, ({ containers }) => containers.join(', '))
  const perhaps = grouped(reach.perhaps, ({ why }) => why)
  const missed = grouped(reach.missed, ({ why }) => why)
  const lost = grouped(
    reach.lost,
    ({ containers, spiffeId }) =>
      `${containers.join(', ')} ${containers.length === 1 ? 'loses' : 'lose'} ${spiffeId}`,
  )
  const held = grouped(
    reach.alsoHeld,
    ({ container, spiffeId, source }) => `${container} also holds ${spiffeId} from ${source}`,
  )
  return [
    ...(reached.length === 0 && unknown === undefined
      ? [['reaches', 'no container']]
      : labelled('reaches', reached)),
    ...(unknown === undefined ? [] : [['pods', `not known: ${unknownReasonText(unknown)}`]]),
    ...labelled('perhaps', perhaps),
    ...labelled('in vain', missed),
    ...labelled('also', held),
    ...labelled('loses', lost),
  ]
}

function labelled(label: string, rows: readonly string[]): string[][] {
  return rows.map((text, at) => [at === 0 ? label : '', text])
}

/** Pods with the same thing to say, in one row: `llama-0, llama-1: vllm`. */
function grouped<T extends { readonly pod: Pod }>(
  items: readonly T[],
  what: (item: T) => string,
): readonly string[] {
  return [...Map.groupBy(items, what)].map(
    ([text, same]) => `${namesText(same.map(({ pod }) => shortPodText(pod)))}: ${text}`,
  )
}

function viewSteps(steps: readonly DerivationStep[], layout: Layout): Block {
  const judged = steps.filter(({ outcome }) => outcome !== 'not judged')
  const marks: Readonly<Record<Exclude<DerivationStep['outcome'], 'not judged'>, Mark>> = {
    passed: 'ok',
    failed: 'bad',
    unknown: 'warn',
  }
  const rows = judged.map(({ name, outcome, text }) => [
    outcome === 'not judged' ? '' : [MARKS[marks[outcome]], ` ${name}`],
    text,
  ])
  const rest = judged.length < steps.length ? [line('  ', MARKS.note, ' the rest was not judged')] : []
  return [...table(rows, { width: layout.width, indent: 2 }), ...rest]
}

/** Every peer with its proof and witness; a person wants the name first. */
function peerLines(one: Explanation, layout: ExplainLayout): Block {
  const shown = layout.wide || layout.named ? one.peers : one.peers.slice(0, 3)
  const lines = shown.flatMap(({ binding, relation, proof, witness }) => {
    const seen = witness === undefined ? 'no such pod exists now' : `witness: ${shortPodText(witness)}`
    return wrap(line('  ', MARKS.note, ` ${binding} (${relation}): ${proof}; ${seen}`), {
      width: layout.width,
      hang: 4,
    })
  })
  const rest = one.peers.length - shown.length
  return rest > 0 ? [...lines, line(`  and ${counted(rest, 'more peer')}`)] : lines
}

/** The first line of a binding: names can be longer than a line. */
function heading(text: Line, { width }: Layout): Block {
  return wrap(text, { width, hang: 2 })
}

function paragraph(text: string, { width }: Layout): Block {
  return wrap(line(`  ${text}`), { width, hang: 2 })
}

function more(code: string): Line {
  return line(span(`  ${code}, more: kubectl kleym explain ${code}`, 'dim'))
}
