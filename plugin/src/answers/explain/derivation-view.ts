// The derivation in `explain`: how a binding comes to its identity, and which containers that reaches.
import {
  type Explanation,
  lostText,
  type Reach,
  type DerivationStep,
} from '@kleym/shared/core/answers/index.ts'
import { shortPodText } from '@kleym/shared/core/model/objects/pod-index.ts'
import type { Pod } from '@kleym/shared/core/model/objects/pod.ts'
import type { NamedBy } from '@kleym/shared/core/analysis/index.ts'
import { unknownReasonText, type UnknownReason } from '@kleym/shared/core/model/unknown-reason.ts'
import type { Layout } from '../../text/layout.ts'
import { BLANK, line, MARKS, span, type Block, type Mark } from '../../text/line.ts'
import { namesText } from '../../text/names.ts'
import { table } from '../../text/table.ts'
import { shorten } from '../../text/wrap.ts'
import { namedByRows } from '../parts/named-by.ts'

/** What the derivation shows beside the explanation. */
export interface DerivationLayout extends Layout {
  /** Who names the identity of a binding; undefined where it has none, or where there are no policies to speak of. */
  readonly namedBy: (one: Explanation) => NamedBy | undefined
  /** What is the same for several bindings, and stands once below all of them. */
  readonly saidBelow?: SaidBelow
  /** The first lines say why pods are not matched. */
  readonly isMissedSaid?: boolean
}

/** What derivations do not repeat. */
export interface SaidBelow {
  /** Rows of `named by`. */
  readonly namedBy: ReadonlySet<string>
  /** That the files hold no registration of others. */
  readonly isAlone: boolean
}

/** The derivation of a ready binding: selectors with their sources, then pool, proof, reach, policies and output. */
export function viewDerivation(one: Explanation, layout: DerivationLayout): Block {
  const selectors = one.selectors.map(({ selector, object, field }) => [selector, `${object} ${field}`])
  return [
    ...table(selectors, { width: layout.width, indent: 2, header: ['selector', 'from'] }),
    BLANK,
    ...table(rowsOf(one, layout), { width: layout.width, indent: 2 }),
  ]
}

/** Below the steps of a binding that is not ready: who relies on the ID that it asks for. */
export function viewNamedBy(one: Explanation, layout: DerivationLayout): Block {
  return table(policyRows(one, layout), { width: layout.width, indent: 2 })
}

function policyRows(one: Explanation, layout: DerivationLayout): string[][] {
  const rows = rowsNaming(one, layout).filter((row) => layout.saidBelow?.namedBy.has(row) !== true)
  return labelled('named by', rows)
}

function rowsNaming(one: Explanation, layout: DerivationLayout): readonly string[] {
  const namedBy = layout.namedBy(one)
  return namedBy === undefined ? [] : namedByRows(namedBy, layout)
}

/** What the derivations of several bindings would each say: who names every one of their identities, and what no file holds. */
export function sameForAll(explanations: readonly Explanation[], layout: DerivationLayout): SaidBelow {
  const [first = [], ...others] = explanations
    .map((one) => rowsNaming(one, layout))
    .filter((rows) => rows.length > 0)
  const common = others.length === 0 ? [] : first.filter((row) => others.every((rows) => rows.includes(row)))
  const reaching = explanations.filter((one) => isReachShown(one))
  return { namedBy: new Set(common), isAlone: layout.isAlone === true && reaching.length > 1 }
}

/** What `sameForAll` found, once. */
export function viewSaidBelow({ namedBy, isAlone }: SaidBelow, { width }: Layout): Block {
  const rows = [...(isAlone ? [['besides', ALONE]] : []), ...labelled('named by', [...namedBy])]
  if (rows.length === 0) return []
  return [
    BLANK,
    line(span('The same for all identities above', 'dim')),
    ...table(
      rows.map((row) => row.map((text) => line(span(text, 'dim')))),
      { width, indent: 2 },
    ),
  ]
}

/** Whether the derivation of a binding says which containers its identity reaches. */
function isReachShown({ judgement, reach }: Explanation): boolean {
  return judgement.state === 'ready' && reach !== undefined
}

const ALONE = 'no ClusterSPIFFEID of others is among these files, so none is displaced'

/** The steps that the derivation of a ready binding shows; that of the variant is there with a variant alone. */
const SHOWN: ReadonlySet<DerivationStep['name']> = new Set(['pool', 'objective', 'variant', 'proof'])

function rowsOf(one: Explanation, layout: DerivationLayout): readonly (readonly string[])[] {
  const { reach, output } = one
  const rows: string[][] = one.steps
    .filter(({ name }) => SHOWN.has(name))
    .map(({ name, text }) => [name, text])
  if (reach !== undefined)
    rows.push(...reachRows(layout.isMissedSaid === true ? { ...reach, missed: [] } : reach, one.podsUnknown))
  if (reach !== undefined && layout.isAlone === true && layout.saidBelow?.isAlone !== true)
    rows.push(['besides', ALONE])
  rows.push(...policyRows(one, layout))
  if (output !== undefined) rows.push(['output', outputText(output, layout)])
  if (one.inForce !== undefined)
    rows.push(['in force', `${one.inForce.reason}, says the status: ${one.inForce.message}`])
  for (const { name, because } of one.withdrawn)
    rows.push(['withdrawn', `ClusterSPIFFEID/${name}: ${because}`])
  return rows
}

function outputText(output: NonNullable<Explanation['output']>, layout: Layout): string {
  const name = layout.wide ? output.name : shorten(output.name, Math.max(48, layout.width - 48))
  const drift = output.drift.length === 0 ? '' : `: ${output.drift.join(', ')}`
  return `ClusterSPIFFEID/${name}, ${output.state}${drift}`
}

/** Which pods the identity reaches, misses or may reach, a row for each way; `unknown` is why there may be more pods. */
export function reachRows(reach: Reach, unknown: UnknownReason | undefined): string[][] {
  const reached = grouped(reach.reached, ({ containers }) => containers.join(', '))
  const perhaps = grouped(reach.perhaps, ({ why }) => why)
  const missed = missedRows(reach)
  const lost = grouped(reach.lost, (one) => `${one.containers.join(', ')} ${lostText(one)}`)
  const held = grouped(
    reach.alsoHeld,
    ({ container, spiffeId, source }) => `${container} also holds ${spiffeId} from ${source}`,
  )
  return [
    ...(reached.length === 0 && perhaps.length === 0 && unknown === undefined
      ? [['reaches', 'no container']]
      : labelled('reaches', reached)),
    ...(unknown === undefined ? [] : [['pods', `not known: ${unknownReasonText(unknown)}`]]),
    ...labelled('perhaps', perhaps),
    ...labelled('not matched', missed),
    ...labelled('also', held),
    ...labelled('loses', lost),
  ]
}

/** The pods that the registration selects without reaching a container of them, a row for each reason. */
export function missedRows({ missed }: Reach): readonly string[] {
  return grouped(missed, ({ why }) => why)
}

function labelled(label: string, rows: readonly string[]): string[][] {
  return rows.map((text, at) => [at === 0 ? label : '', text])
}

/** Pods with the same text in one row: `llama-0, llama-1: vllm`. */
function grouped<T extends { readonly pod: Pod }>(
  items: readonly T[],
  what: (item: T) => string,
): readonly string[] {
  return [...Map.groupBy(items, what)].map(
    ([text, same]) => `${namesText(same.map(({ pod }) => shortPodText(pod)))}: ${text}`,
  )
}

/** The steps of a binding that is not ready, each with its mark; `answered` is what the first lines have said of one. */
export function viewSteps(
  steps: readonly DerivationStep[],
  answered: string | undefined,
  layout: Layout,
): Block {
  const judged = steps.filter(({ outcome }) => outcome !== 'not judged')
  const marks: Readonly<Record<Exclude<DerivationStep['outcome'], 'not judged'>, Mark>> = {
    passed: 'ok',
    failed: 'bad',
    unknown: 'warn',
  }
  const rows = judged.map(({ name, outcome, text }) => [
    outcome === 'not judged' ? '' : [MARKS[marks[outcome]], ` ${name}`],
    text === answered ? 'see above' : text,
  ])
  const rest = judged.length < steps.length ? [line('  ', MARKS.note, ' later checks were skipped')] : []
  return [...table(rows, { width: layout.width, indent: 2 }), ...rest]
}
