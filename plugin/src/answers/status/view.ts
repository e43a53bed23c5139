// How `status` looks: a line each, with a mark; then the findings, with their fixes.
import { namespacedName } from '@kleym/shared/core/namespaced-name.ts'
import type { Finding } from '@kleym/shared/core/findings/finding.ts'
import { counted } from '@kleym/shared/core/text/counted.ts'
import type { ConditionCount } from '@kleym/shared/core/install/conditions.ts'
import { unknownReasonText } from '@kleym/shared/core/unknown-reason.ts'
import type { AnswerInput } from '../../gather/gather.ts'
import type { KindFact } from '../../cluster/installation.ts'
import type { StatusAnswer } from './model.ts'
import { viewFinding } from '../../text/findings.ts'
import type { Layout } from '../../text/layout.ts'
import { BLANK, MARKS, type Block, type Mark } from '../../text/line.ts'
import { table } from '../../text/table.ts'

type StatusRow = readonly [mark: Mark, what: string, says: string]

/** The whole view. */
export function viewStatus(
  answer: StatusAnswer,
  input: AnswerInput,
  findings: readonly Finding[],
  layout: Layout,
): Block {
  const rows: readonly StatusRow[] = [
    ...kindRows(answer.kinds),
    ...operatorRows(answer),
    ...settingRows(input),
    scmRow(answer, input),
    ...bindingRows(answer),
    ...inForceRows(answer),
  ]
  const cells = rows.map(([mark, what, says]) => [MARKS[mark], what, says])
  return [
    ...table(cells, { width: layout.width, gap: 1 }),
    ...findings.flatMap((one) => [BLANK, ...viewFinding(one, layout)]),
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
    if (unknown.length > 0) return ['warn', kind, says.join(', ')]
    return [OPTIONAL.has(kind) ? 'note' : 'bad', kind, 'not served']
  })
}

/** kleym does without them. */
const OPTIONAL: ReadonlySet<string> = new Set(['ClusterStaticEntry', 'InferenceObjective'])

function operatorRows({ operators, leader }: StatusAnswer): readonly StatusRow[] {
  if (operators === undefined) return [['warn', 'operator', 'not known: Deployments cannot be listed']]
  if (operators.length === 0) return [['warn', 'operator', 'no Deployment of it is there']]
  const rows = operators.map(({ subject, wanted, available, images }): StatusRow => {
    const mark: Mark = operators.length > 1 || available === 0 ? 'bad' : available < wanted ? 'warn' : 'ok'
    const says = `${namespacedName(subject.namespace, subject.name)}, ${available} of ${counted(wanted, 'replica')}, ${images.join(', ')}`
    return [mark, 'operator', says]
  })
  return [...rows, leaderRow(leader)]
}

function leaderRow(leader: StatusAnswer['leader']): StatusRow {
  if (leader === undefined) return ['note', 'leader', 'no Lease is known']
  if (leader.isCurrent) return ['ok', 'leader', `${leader.holder}, by Lease ${leader.lease}`]
  const was = leader.holder === '' ? '' : `; the last was ${leader.holder}`
  return ['warn', 'leader', `nobody holds Lease ${leader.lease}${was}`]
}

function settingRows({ operator }: AnswerInput): readonly StatusRow[] {
  const { trustDomain, className } = operator.config
  return [
    trustDomain.kind === 'set'
      ? ['ok', 'trust domain', `${trustDomain.value}, says ${operator.trustDomainSource ?? ''}`]
      : ['warn', 'trust domain', 'not known: pass --trust-domain'],
    operator.classNameSource === undefined
      ? ['warn', 'class', 'not known: pass --clusterspiffeid-class-name']
      : ['ok', 'class', `${className === '' ? 'none' : className}, says ${operator.classNameSource}`],
  ]
}

function scmRow({ scm }: StatusAnswer, { after }: AnswerInput): StatusRow {
  const { settings } = after
  const source = settings.assumed.includes('className')
    ? `assumed, as ${settings.source} sets it`
    : settings.source
  if (scm.state === 'handled') return ['ok', 'SCM', `handles kleym's class (${source})`]
  if (scm.state === 'unknown')
    return ['warn', 'SCM', `not known whether it handles kleym's class (${source})`]
  return [
    settings.assumed.includes('className') ? 'warn' : 'bad',
    'SCM',
    `ignores kleym's outputs (${source})`,
  ]
}

function bindingRows({ conditions, stuck }: StatusAnswer): readonly StatusRow[] {
  if (conditions === undefined) return [['warn', 'bindings', 'not known: they cannot be listed']]
  const total = conditions.reduce((sum, { count }) => sum + count, 0)
  const says = total === 0 ? 'none' : `${total}: ${conditions.map(countText).join(', ')}`
  const bindings: StatusRow = [worst(conditions), 'bindings', says]
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

function countText({ ready, reason, count }: ConditionCount): string {
  if (ready === 'True') return `${count} ready`
  return `${count} ${ready === 'none' ? 'without a status' : reason}`
}

function worst(conditions: readonly ConditionCount[]): Mark {
  return conditions.every(({ ready }) => ready === 'True') ? 'ok' : 'warn'
}
