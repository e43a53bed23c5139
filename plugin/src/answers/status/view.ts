// How `status` looks below its answer: a line each, with a mark; then the findings, with their fixes.
import { kindsText } from '../../text/findings.ts'
import { leadingWith, type Answer } from '../../text/answer.ts'
import { isOperatorDown } from '../../frame/operator-down.ts'
import { namespacedName } from '@kleym/shared/core/model/namespaced-name.ts'
import type { Finding } from '@kleym/shared/core/findings/index.ts'
import { DEFAULT_VARIANT_LABEL_KEY } from '@kleym/shared/core/model/names.ts'
import { counted } from '@kleym/shared/core/base/text/counted.ts'
import {
  SCM_WORKLOAD_KINDS,
  workloadText,
  acts,
  type ScmInstance,
  type ConditionCount,
  type InForceText,
} from '@kleym/shared/core/analysis/index.ts'
import type { Hop, HopName } from '@kleym/shared/core/answers/index.ts'
import { NO, YES } from '@kleym/shared/core/model/truth/truth.ts'
import { unknownReasonText } from '@kleym/shared/core/model/unknown-reason.ts'
import type { AnswerInput } from '../../gather/gather.ts'
import type { KindFact } from '../../cluster/installation.ts'
import type { StatusAnswer } from './model.ts'
import { budgetRows, delayRow, overRows, passText } from '../parts/budgets.ts'
import { unreadIn } from '../parts/unread-hops.ts'
import { viewFindingGroups } from '../../text/finding-groups.ts'
import type { Layout } from '../../text/layout.ts'
import { BLANK, MARKS, type Block, type Mark } from '../../text/line.ts'
import { table } from '../../text/table.ts'

/** A line's mark; `unknown` looks like `warn`, and leaves open whether the installation is sound. */
type StatusMark = Mark | 'unknown'
/** One line: its mark, what it is about, and what is said. */
export type StatusRow = readonly [mark: StatusMark, what: string, says: string]

/** The rows about the installation itself. */
export function installationRows(answer: StatusAnswer, input: AnswerInput): readonly StatusRow[] {
  return [
    ...kindRows(answer.kinds),
    ...operatorRows(answer),
    ...settingRows(input),
    ...scmRows(answer, input),
    ...hopRows(answer),
  ]
}

/** What stands below the answer: a line each, then the findings with their fixes. */
export function viewStatus(
  answer: StatusAnswer,
  input: AnswerInput,
  findings: readonly Finding[],
  layout: Layout,
): Block {
  const rows = [
    ...installationRows(answer, input),
    ...bindingRows(answer),
    ...inForceRows(answer),
    ...entryRows(answer),
  ]
  // The first lines have said the first error, and its fix.
  const told = findings.find(({ severity }) => severity === 'error')
  const cells = rows.map(([mark, what, says]) => [MARKS[mark === 'unknown' ? 'warn' : mark], what, says])
  return [
    ...table(cells, { width: layout.width, gap: 1 }),
    ...(findings.length === 0 ? [] : [BLANK, ...viewFindingGroups(findings, layout, told)]),
  ]
}

/** A line for each kind; those that may be served in several groups share one. */
function kindRows(kinds: readonly KindFact[]): readonly StatusRow[] {
  const byKind = Map.groupBy(kinds, ({ resource }) => resource.kind)
  return [...byKind].map(([kind, facts]): StatusRow => {
    const served = facts.filter((fact) => fact.served.state === 'served')
    const unknown = facts.flatMap(({ served: state }) => (state.state === 'unknown' ? [state.why] : []))
    const says = [
      ...served.map(({ resource }) => `${resource.group}/${resource.version}`),
      ...unknown.map((why) => `not known: ${unknownReasonText(why)}`),
    ]
    if (served.length > 0) return ['ok', kind, says.join(', ')]
    if (unknown.length > 0) return ['unknown', kind, says.join(', ')]
    return [OPTIONAL.has(kind) ? 'note' : 'bad', kind, 'not served']
  })
}

/** kleym does without them. */
const OPTIONAL: ReadonlySet<string> = new Set(['ClusterStaticEntry', 'InferenceObjective'])

function operatorRows({ operators, leader, leaderUnknown }: StatusAnswer): readonly StatusRow[] {
  if (operators === undefined) return [['unknown', 'operator', 'not known: Deployments cannot be listed']]
  if (operators.length === 0) return [['unknown', 'operator', 'no Deployment of it is there']]
  const rows = operators.map(({ subject, wanted, available, images }): StatusRow => {
    const mark: Mark = operators.length > 1 || available === 0 ? 'bad' : available < wanted ? 'warn' : 'ok'
    const says = `${namespacedName(subject.namespace, subject.name)}, ${available} of ${counted(wanted, 'replica')}, ${images.join(', ')}`
    return [mark, 'operator', says]
  })
  return [...rows, leaderRow(leader, leaderUnknown)]
}

function leaderRow(leader: StatusAnswer['leader'], why: StatusAnswer['leaderUnknown']): StatusRow {
  if (why !== undefined) return ['unknown', 'leader', `not known: ${unknownReasonText(why)}`]
  if (leader === undefined) return ['note', 'leader', 'none is elected (--leader-elect=false)']
  if (leader.isCurrent) return ['ok', 'leader', `${leader.holder}, by Lease ${leader.lease}`]
  const was = leader.holder === '' ? '' : `; the last was ${leader.holder}`
  return ['unknown', 'leader', `no replica holds Lease ${leader.lease}${was}`]
}

function settingRows(input: AnswerInput): readonly StatusRow[] {
  const { operator } = input
  const { trustDomain, className, variantLabelKey } = operator.config
  return [
    trustDomain.kind === 'set'
      ? ['ok', 'trust domain', `${trustDomain.value}, says ${operator.trustDomainSource ?? ''}`]
      : ['unknown', 'trust domain', 'not known: pass --trust-domain'],
    operator.classNameSource === undefined
      ? ['unknown', 'class', 'not known: pass --clusterspiffeid-class-name']
      : ['ok', 'class', `${className === '' ? 'none' : className}, says ${operator.classNameSource}`],
    ...(tellsVariants(input) ? [variantRow(variantLabelKey, operator.variantLabelKeySource)] : []),
  ]
}

/** Told where a binding has a variant, or the key is not the usual one. */
function tellsVariants({ operator, after }: AnswerInput): boolean {
  const { variantLabelKey = DEFAULT_VARIANT_LABEL_KEY } = operator.config
  return (
    variantLabelKey !== DEFAULT_VARIANT_LABEL_KEY ||
    after.snapshot.bindings.some(({ mode }) => mode.ok && mode.value === 'PerVariant') !== NO
  )
}

function variantRow(key: string | undefined, source = ''): StatusRow {
  return key === undefined
    ? ['unknown', 'variant label', 'not known: pass --variant-label-key']
    : ['ok', 'variant label', `${key}, says ${source}`]
}

/** The SCM that the answer is about, then the others; where none is known, what is assumed in its place. */
function scmRows(answer: StatusAnswer, { after }: AnswerInput): readonly StatusRow[] {
  const { scm, scms, scmContainers } = answer
  const [first, ...others] = scms
  const { settings } = after
  if (first !== undefined)
    return [
      handlingRow(scm, placeOf(first)),
      ...others.map((one) => otherRow(one, first.handling.state !== 'ignored')),
    ]
  const isAssumed = settings.assumed.includes('className')
  if (!isAssumed) return [handlingRow(scm, settings.source)]
  const running = scmContainers?.filter((one) => !one.isForOtherCluster)
  const as = `its settings are assumed, as ${settings.source} sets them`
  if (running === undefined)
    return [
      [
        'unknown',
        'SCM',
        `not known: no configuration of it was found, and not every workload may be listed; ${as}`,
      ],
    ]
  const where = [...new Set(running.map(({ workload }) => workloadText(workload)))]
  return where.length === 0
    ? [['unknown', 'SCM', `none was found in a ${WHERE_SCM_RUNS}; ${as}`]]
    : [['unknown', 'SCM', `${where.join(', ')} runs it, and what it is set to could not be read; ${as}`]]
}

const WHERE_SCM_RUNS = SCM_WORKLOAD_KINDS.join(' or ')

function handlingRow(scm: StatusAnswer['scm'], place: string): StatusRow {
  if (scm.state === 'handled') return ['ok', 'SCM', `handles kleym's class (${place})`]
  if (scm.state === 'unknown')
    return ['unknown', 'SCM', `not known whether it handles kleym's class (${place}): ${scm.why}`]
  return ['bad', 'SCM', `ignores kleym's outputs (${place})`]
}

/** What each hop is about, as a line. */
const HOP_ROWS: Partial<Record<HopName, string>> = {
  installed: 'SCM runs',
  'on the server': 'entries',
  'on the agent': 'agents',
}

function hopRows({ hops }: StatusAnswer): readonly StatusRow[] {
  return hops.flatMap((hop): StatusRow[] => {
    const what = HOP_ROWS[hop.name] ?? hop.name
    const fix = hop.fix === undefined || hop.truth === YES ? '' : `; ${hop.fix}`
    const notes = hop.notes ?? []
    return [
      [markOfHop(hop), what, `${hop.text}${fix}`],
      ...notes.map((note): StatusRow => ['note', what, note]),
    ]
  })
}

/** What was not given, or is beside Kubernetes, is no doubt about the installation; what may not be read is one. */
function markOfHop(hop: Hop): StatusMark {
  if (hop.truth === YES) return 'ok'
  if (hop.truth === NO) return 'bad'
  return unreadIn([hop]).length > 0 ? 'unknown' : 'note'
}

/** One more SCM: fine where another acts, and no help where none does. */
function otherRow(one: ScmInstance, isHandled: boolean): StatusRow {
  if (acts(one)) return ['ok', 'SCM', `handles kleym's class too (${placeOf(one)})`]
  if (one.handling.state === 'unknown')
    return ['note', 'SCM', `not known whether it handles kleym's class too (${placeOf(one)})`]
  const { className } = one.settings
  const its =
    className === undefined
      ? 'a class that is not known'
      : className === ''
        ? 'no class'
        : `class ${className}`
  return [isHandled ? 'note' : 'bad', 'SCM', `does not act on kleym's outputs: ${its} (${placeOf(one)})`]
}

function placeOf({ settings, runBy }: ScmInstance): string {
  return [settings.source, ...new Set(runBy.map(({ workload }) => workloadText(workload)))].join(', ')
}

function bindingRows({ conditions, stuck }: StatusAnswer): readonly StatusRow[] {
  if (conditions === undefined) return [['warn', 'bindings', 'not known: they cannot be listed']]
  const total = conditions.reduce((sum, { count }) => sum + count, 0)
  const says = total === 0 ? 'none' : `${total}: ${conditions.map(countText).join(', ')}`
  const mark = conditions.every(({ ready }) => ready === 'True') ? 'ok' : 'warn'
  const bindings: StatusRow = [mark, 'bindings', says]
  if (stuck === undefined) return [bindings]
  return [bindings, ['warn', 'oldest stuck', `${stuck.binding.key}, ${stuck.reason} since ${stuck.since}`]]
}

/** Whether SCM acts on the outputs, as the statuses say. */
function inForceRows({ inForce }: StatusAnswer): readonly StatusRow[] {
  if (inForce.length === 0) return []
  const says = inForce.map(({ reason, count }) => `${count} ${reason}`).join(', ')
  const isGood = inForce.every(({ status, reason }) => status === 'True' || reason === 'Pending')
  return [[isGood ? 'ok' : 'warn', 'in force', says]]
}

/** The entries of all pods, or, where no pod was read, what SCM's counters add up to. */
function entryRows({ budgets, counters, timers }: StatusAnswer): readonly StatusRow[] {
  const delay = (count: number, gcIntervalSeconds: number): StatusRow =>
    delayRow(count, { ...timers, gcIntervalSeconds })
  if (budgets !== undefined)
    return [...budgetRows(budgets), delay(budgets.budgets.entries.certain, budgets.pass.gcSeconds)]
  const { entries, counted: known, uncounted, pass, over } = counters
  if (pass === undefined || known === 0) return []
  const least = uncounted === 0 ? '' : 'at least '
  const without = uncounted === 0 ? '' : `, ${uncounted} more ${uncounted === 1 ? 'has' : 'have'} no counters`
  return [
    [
      'note',
      'all entries',
      `${least}${entries} for ${counted(known, 'ClusterSPIFFEID')}, by SCM's counters${without}; status --budgets counts them by node`,
    ],
    ['note', 'SCM lists', passText(pass)],
    delay(entries, pass.gcSeconds),
    ...overRows(over),
  ]
}

function countText({ ready, reason, count }: ConditionCount): string {
  if (ready === 'True') return `${count} ready`
  return `${count} ${ready === 'none' ? 'without a status' : reason}`
}

/** The answer. It is `sound` only where every line about the installation is, and no finding says otherwise. */
export function statusSummary(
  answer: StatusAnswer,
  input: AnswerInput,
  findings: readonly Finding[],
): Answer {
  const rows = installationRows(answer, input)
  const [error, ...errors] = findings.filter(({ severity }) => severity === 'error')
  const warnings = findings.filter(({ severity }) => severity === 'warning')
  const bad = rows.filter(([mark]) => mark === 'bad')
  const open = rows.filter(([mark]) => mark === 'unknown')
  const degraded = rows.filter(([mark]) => mark === 'warn')
  const bindings = bindingsText(answer, findings.some(isOperatorDown))
  if (error !== undefined) {
    const more = errors.length === 0 ? '' : `; ${counted(errors.length, 'more error')}`
    const what = isOperatorDown(error) ? 'not sound' : `not sound: ${error.summary}`
    return {
      mark: 'warn',
      text: [`${what}${more}`],
      reasons: [[`fix: ${error.fix} (${error.code})`], [bindings]],
    }
  }
  if (bad.length > 0) return { mark: 'warn', ...leadingWith([`not sound: ${rowsText(bad)}`, bindings]) }
  if (open.length > 0)
    return { mark: 'warn', ...leadingWith([`undetermined whether it is sound: ${rowsText(open)}`, bindings]) }
  if (warnings.length > 0)
    return {
      mark: 'warn',
      ...leadingWith(
        [`no error, but ${counted(warnings.length, 'warning')}`],
        [kindsText(warnings)],
        [bindings],
      ),
    }
  return degraded.length === 0
    ? { mark: 'ok', text: [`sound: ${bindings}`] }
    : { mark: 'warn', ...leadingWith([`sound, but degraded: ${rowsText(degraded)}`, bindings]) }
}

type Rows = ReturnType<typeof installationRows>

function rowsText(rows: Rows): string {
  const [first] = rows
  if (first === undefined) return ''
  const more = rows.length === 1 ? '' : `; and ${counted(rows.length - 1, 'more line')}`
  return `${first[1]}: ${first[2]}${more}`
}

function bindingsText({ conditions, outputs }: StatusAnswer, isDown: boolean): string {
  if (conditions === undefined) return 'bindings unknown'
  const count = (wanted: (ready: string) => boolean): number =>
    conditions.filter(({ ready }) => wanted(ready)).reduce((sum, one) => sum + one.count, 0)
  const total = count(() => true)
  if (total === 0) return 'no bindings'
  const refused = count((ready) => ready === 'False')
  const waiting = count((ready) => ready === 'Unknown' || ready === 'none')
  const held = (text: InForceText): number => outputs.filter((one) => one === text).length
  const notSure = (['perhaps in force', 'not in force'] as const).filter((text) => isDown && held(text) > 0)
  return [
    isDown
      ? `${held('in force')} of ${counted(total, 'binding')} in force; changes will not be applied`
      : `${outputs.length} of ${counted(total, 'binding')} ready`,
    ...notSure.map((text) => `${held(text)} ${text}`),
    ...(refused === 0 ? [] : [`${refused} refused`]),
    ...(waiting === 0 ? [] : [`${waiting} ${isDown ? 'not applied yet' : 'waiting'}`]),
  ].join(', ')
}
