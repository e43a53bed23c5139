// What the alerts and the dashboard of the chart ask for, against what the operator serves: a metric that there is not, or a
// reason that nobody gives, makes an alert that never fires. That they fire is promtool's business
// (test/control-plane/chart-alerts.test.ts).
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import {
  createMetrics,
  CONTROLLER,
  EVENT_RESULTS,
  RECONCILE_RESULTS,
} from '../../operator/src/telemetry/metrics.ts'
import { WorkQueue } from '../../operator/src/queue/queue.ts'
import { dashboardQueries } from '../../scripts/chart/dashboard.ts'
import { DEFAULT_LEASE_NAME } from '../../shared/src/core/decide/settings/flags.ts'
import { dig, listAt, stringAt } from '../../shared/src/core/base/json.ts'
import { CONDITION_TYPES } from '../../shared/src/core/model/names.ts'
import { sumOfStats } from '../../shared/src/core/model/objects/output-stats.ts'
import {
  IN_FORCE_REASON_NAMES,
  IN_FORCE_REASONS,
} from '../../shared/src/core/decide/reasons/in-force-reasons.ts'
import { REASONS } from '../../shared/src/core/decide/reasons/reasons.ts'
import { systemClock } from '../../shared/src/kube/clock.ts'

const ROOT = join(import.meta.dirname, '../..')
const RULES: unknown = parse(readFileSync(join(ROOT, 'charts/kleym/files/alerts.yaml'), 'utf8'))
const ALERTS = listAt(RULES, 'groups').flatMap((group) => listAt(group, 'rules'))

/** All that is asked, by who asks. */
const QUERIES: readonly (readonly [who: string, query: string])[] = [
  ...ALERTS.map((rule) => [stringAt(rule, 'alert') ?? '', stringAt(rule, 'expr') ?? ''] as const),
  ...dashboardQueries().map((query) => ['dashboard', query] as const),
]

/** PromQL's words that look like names: operators, modifiers and functions without their brackets. */
const WORDS = new Set(['by', 'without', 'on', 'ignoring', 'and', 'or', 'unless', 'offset', 'bool'])

/** The metrics that a query names: what is neither a word, a function, a label nor a number. */
function metricsOf(query: string): readonly string[] {
  const bare = query
    .replaceAll(/"[^"]*"/g, '')
    .replaceAll(/\{[^}]*\}/g, '{}')
    .replaceAll(/\[[^\]]*\]/g, '')
    .replaceAll(/\b(?:by|without|on|ignoring)\s*\([^)]*\)/g, '')
  return [...bare.matchAll(/(?<![\w.])([a-zA-Z_:][\w:]*)(?!\w|\s*\()/g)]
    .map(([, name = '']) => name)
    .filter((name) => !WORDS.has(name))
}

/** Each value that a label may have by a query: alternatives one by one. */
function valuesOf(query: string, label: string): readonly string[] {
  const matchers = query.matchAll(new RegExp(`\\b${label}=~?"([^"]*)"`, 'g'))
  return [...matchers].flatMap(([, values = '']) => values.split('|'))
}

/** What an operator serves that has done one thing of each kind. */
async function served(): Promise<string> {
  const metrics = createMetrics()
  metrics.watchLeadership({ isLeader: () => true }, DEFAULT_LEASE_NAME)
  metrics.watchQueue(
    new WorkQueue({
      clock: systemClock,
      random: () => 0,
      groupOf: () => '',
      workers: 1,
      observer: metrics.queue,
    }),
  )
  metrics.watchOutputs({ sum: () => sumOfStats([undefined]) })
  metrics.setBinding('a/1', { condition: 'Ready', reason: 'Reconciled', mode: 'PoolOnly' })
  metrics.setInForce('a/1', 'Registered')
  metrics.reconciled('success', 1)
  metrics.queue.taken(1)
  metrics.queue.done(1)
  metrics.requested({ code: 200, method: 'GET', host: 'api' })
  return (await metrics.render()).body
}

const BODY = await served()
const SERVED = new Set([...BODY.matchAll(/^([a-z_][\w:]*)[{ ]/gm)].map(([, name = '']) => name))

test('how the metrics of a query are found', () => {
  const query =
    'sum by (le, reason) (rate(a_bucket{le="10",x=~"or_b"}[5m] offset 1h)) > 0 and on (job) c_total or vector(0) unless d:e * 2e3'
  expect(metricsOf(query)).toEqual(['a_bucket', 'c_total', 'd:e'])
  expect(QUERIES.filter(([, one]) => metricsOf(one).length === 0)).toEqual([])
  expect(QUERIES.length).toBeGreaterThan(30)
})

test.each(QUERIES)('%s: every metric of `%s` is served', (_who, query) => {
  expect(metricsOf(query).filter((name) => !SERVED.has(name))).toEqual([])
})

test.each<[label: string, values: readonly string[]]>([
  ['reason', [...Object.keys(REASONS), ...IN_FORCE_REASON_NAMES]],
  ['condition', CONDITION_TYPES],
  ['name', [CONTROLLER, DEFAULT_LEASE_NAME]],
  ['controller', [CONTROLLER]],
  ['result', [...EVENT_RESULTS, ...RECONCILE_RESULTS]],
])('every `%s` that is asked for is one that the operator gives', (label, values) => {
  const asked = QUERIES.flatMap(([, query]) => valuesOf(query, label))
  expect(asked.filter((value) => !values.includes(value))).toEqual([])
})

test('every condition that refuses counts as refused', () => {
  const refusing = CONDITION_TYPES.filter((type) =>
    Object.values(REASONS).some(({ condition, ready }) => condition === type && ready === 'False'),
  )
  const asked = new Set(QUERIES.flatMap(([, query]) => valuesOf(query, 'condition')))
  expect([...asked].toSorted()).toEqual(refusing.toSorted())
})

test('what is written and not in force alerts, but for pools without pods', () => {
  const failing = IN_FORCE_REASON_NAMES.filter(
    (reason) => IN_FORCE_REASONS[reason].status === 'False' || reason === 'NotHandled',
  ).filter((reason) => reason !== 'NoOutput' && reason !== 'NoPods')
  const [, query = ''] = QUERIES.find(([who]) => who === 'KleymIdentitiesNotInForce') ?? []
  expect(valuesOf(query, 'reason').toSorted()).toEqual(failing.toSorted())
})

test('every bucket that is asked for is there', () => {
  const asked = QUERIES.flatMap(([, query]) =>
    [...query.matchAll(/(\w+)_bucket\{[^}]*le="([^"]*)"/g)].map(([, name = '', le = '']) => ({ name, le })),
  )
  expect(asked.length).toBeGreaterThan(0)
  const lines = BODY.split('\n')
  const missing = asked.filter(
    ({ name, le }) =>
      !lines.some((line) => line.startsWith(`${name}_bucket{`) && line.includes(`le="${le}"`)),
  )
  expect(missing).toEqual([])
})

describe('every alert', () => {
  const names = ALERTS.map((rule) => stringAt(rule, 'alert') ?? '')
  const pages = readdirSync(join(ROOT, 'docs/runbooks')).filter((name) => name !== 'README.md')

  test('has a runbook, and every runbook an alert', () => {
    expect(names.length).toBeGreaterThan(8)
    expect(new Set(names).size).toBe(names.length)
    expect(pages.toSorted()).toEqual(names.map((name) => `${name}.md`).toSorted())
  })

  test.each(names)('%s: its page has what a person at night needs, and the lists have it', (name) => {
    const page = readFileSync(join(ROOT, 'docs/runbooks', `${name}.md`), 'utf8')
    expect(page.startsWith(`# ${name}\n`)).toBe(true)
    const headings = [...page.matchAll(/^## (.*)$/gm)].map(([, heading]) => heading)
    expect(headings).toEqual(['Meaning', 'Impact', 'Diagnosis', 'Fix'])
    expect(page.match(/^```sh\n/gm)).toHaveLength(1)
    const severity = String(dig(ALERTS[names.indexOf(name)], 'labels', 'severity'))
    const list = readFileSync(join(ROOT, 'docs/runbooks/README.md'), 'utf8')
    expect(list).toContain(`| [${name}](${name}.md) | ${severity} |`)
    const monitoring = readFileSync(join(ROOT, 'docs/monitoring.md'), 'utf8')
    expect(monitoring).toMatch(
      new RegExp(`^\\| \\[${name}\\]\\(runbooks/${name}\\.md\\) \\| .* \\| ${severity} \\|$`, 'm'),
    )
  })
})
