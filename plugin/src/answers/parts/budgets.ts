// How many entries a state asks for, as `status`, `map` and `diff` say it; docs/scale.md has the limits.
import { present } from '@kleym/shared/core/base/present.ts'
import {
  countingEntries,
  delayOf,
  fullestOf,
  overLimits,
  scmPass,
  secondsText,
  type Amount,
  type BudgetChange,
  type Budgets,
  type OverLimit,
  type ScmPass,
  type State,
} from '@kleym/shared/core/analysis/index.ts'
import { counted } from '@kleym/shared/core/base/text/counted.ts'
import type { Drive } from '@kleym/shared/core/base/steps.ts'
import { unknownText } from '@kleym/shared/core/model/truth/unknown.ts'
import type { Mark } from '../../text/line.ts'
import { entriesText, namesText } from '../../text/names.ts'

/** The entries of a state, what a pass of SCM over them costs, and what is above a limit. */
export interface BudgetReport {
  readonly budgets: Budgets
  readonly pass: ScmPass
  readonly over: readonly OverLimit[]
}

/** Counts the entries of a state; `svidsKept` is what its agents are set to. */
export function budgetReport(state: State, drive: Drive, svidsKept?: number): BudgetReport {
  return reportOfBudgets(drive(countingEntries(state), 'little'), state, svidsKept)
}

/** The same of entries that were counted. */
export function reportOfBudgets(budgets: Budgets, state: State, svidsKept?: number): BudgetReport {
  const pass = scmPass(budgets.entries.certain, state.base.settings)
  return { budgets, pass, over: overLimits(budgets, pass, svidsKept) }
}

/** A line: its mark, what it is about, and what is said. */
export type BudgetRow = readonly [mark: Mark, what: string, says: string]

/** The lines; none where nothing asks for an entry and that is all there is to know. */
export function budgetRows({ budgets, pass, over }: BudgetReport): readonly BudgetRow[] {
  const { entries, unmatched, pods, byNode, byBinding, ofContainer, ofEachPod } = budgets
  const isNothing = entries.certain === 0 && entries.causes.size === 0
  const node = fullestOf(byNode)
  const binding = fullestOf(byBinding)
  const fullest = [
    ...(node === undefined ? [] : [`node ${node.name} has ${node.entries}`]),
    ...(binding === undefined ? [] : [`binding ${binding.name} makes ${binding.entries}`]),
    ...(ofContainer === undefined ? [] : [`${ofContainer.name} matches ${ofContainer.entries}`]),
  ]
  const never = unmatched.certain === 0 ? '' : `; ${unmatched.certain} can never match a container`
  return present<BudgetRow>(
    !isNothing && ['note', 'entries', `${amountText(entries, ` of ${counted(pods, 'pod')}`)}${never}`],
    ofEachPod.size > 0 && ['note', 'to come', eachPodText(ofEachPod, (by) => `${by} for`)],
    fullest.length > 0 && ['note', 'the most', fullest.join(', ')],
    entries.certain !== 0 && ['note', 'SCM lists', passText(pass)],
    ...overRows(over),
  )
}

/** How long an identity takes on the way, as estimated for so many entries; the settings are those of the agents and the server. */
export function delayRow(
  entries: number,
  settings: Omit<Parameters<typeof delayOf>[0], 'entries' | 'made' | 'costs'>,
): BudgetRow {
  const { typicalSeconds, mostSeconds, parts } = delayOf({ ...settings, entries, made: 1 })
  const each = parts.map((part) => `${part.name} ${secondsText(part.typicalSeconds)}`).join(', ')
  return [
    'note',
    'delay',
    `from apply to an SVID ${secondsText(typicalSeconds)} (estimated: ${each}), and ${secondsText(mostSeconds)} at most`,
  ]
}

/** The lines about what is above a limit, each with its source. */
export function overRows(over: readonly OverLimit[]): readonly BudgetRow[] {
  return over.map(({ text, source }): BudgetRow => ['warn', 'limit', `${text} (${source})`])
}

/** What a pass of SCM lists and takes. */
export function passText({ pages, seconds, gcSeconds }: ScmPass): string {
  return `${counted(pages, 'page')} in each pass, which takes ${secondsText(seconds)} (estimated); its gcInterval is ${secondsText(gcSeconds)}`
}

/** `120 of 40 pods`, `at least 120 of 40 pods: cannot list Pod: forbidden`, `not known: cannot list Pod: forbidden`. */
function amountText({ certain, causes }: Amount, of: string): string {
  const [first] = causes
  if (first === undefined) return `${certain}${of}`
  const more = causes.size === 1 && !causes.isCut ? '' : ', among other reasons'
  const why = `${unknownText(first)}${more}`
  return certain === 0 ? `not known: ${why}` : `at least ${certain}${of}: ${why}`
}

/** What a change does to the number of entries; empty: nothing. */
export function changeTexts({
  added,
  removed,
  open,
  node,
  ofEachPod,
  causes,
}: BudgetChange): readonly string[] {
  const net = added - removed
  const where = node === undefined || net === 0 ? '' : `, ${node.entries} of them on node ${node.name}`
  const unread = causes.size === 0 ? '' : ', as far as is known'
  const sure =
    net === 0
      ? added === 0
        ? []
        : [`replaces ${entriesText(added)}${unread}`]
      : [`${net > 0 ? 'adds' : 'removes'} ${entriesText(Math.abs(net))}${where}${unread}`]
  return present(
    ...sure,
    open !== 0 && `perhaps changes ${entriesText(open)}: whether they are there is not known`,
    ofEachPod.size > 0 &&
      eachPodText(ofEachPod, (by) => `${by > 0 ? 'adds' : 'removes'} ${entriesText(Math.abs(by))} for`),
  )
}

/** `1 for each pod of Deployment team-a/llama, Deployment team-a/chat; 2 for each pod of …`. */
function eachPodText(ofEachPod: ReadonlyMap<string, number>, text: (by: number) => string): string {
  const byCount = Map.groupBy(ofEachPod, ([, by]) => by)
  return [...byCount]
    .toSorted(([left], [right]) => left - right)
    .map(([by, same]) => `${text(by)} each pod of ${namesText(same.map(([name]) => name))}`)
    .join('; ')
}
