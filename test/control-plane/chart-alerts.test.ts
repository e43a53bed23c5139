// The alerts and the dashboard of the chart, held against their real readers: promtool runs each alert on made-up metrics,
// Grafana's own schema reads the dashboard, and the Prometheus operator's CRD takes the rules.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parse, stringify } from 'yaml'
import { dig, isRecord, listAt, own, stringAt, type JsonRecord } from '../../shared/src/core/base/json.ts'
import { ensureClient, FIRST_BUILD_MS } from './client-binaries.ts'
import { CHART, demand, LEAST, objectsIn, ofKind, RELEASE, RELEASE_NAMESPACE, type Helm } from './helm.ts'
import { runKubectl, type KubectlResult } from './kubectl.ts'

const CASES = readFileSync(join(import.meta.dirname, 'alerts/cases.yaml'), 'utf8')
const ROOT = join(import.meta.dirname, '../..')
const ON = ['--set', 'metrics.rules.enabled=true', '--set', 'metrics.dashboard.enabled=true']

let folder = ''
let promtool = ''
let grafana = ''
let helm: Helm
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'kleym-alerts-'))
  const program = await ensureClient('helm')
  helm = (...args) => runKubectl(program, args, undefined, folder)
  promtool = await ensureClient('promtool')
  grafana = await ensureClient('grafana')
}, FIRST_BUILD_MS)
afterAll(() => rmSync(folder, { recursive: true, force: true }))

async function render(...args: readonly string[]): Promise<readonly JsonRecord[]> {
  const given = [RELEASE, CHART, '--namespace', RELEASE_NAMESPACE, ...LEAST, ...args]
  return objectsIn(await demand(helm('template', ...given)))
}

/** The alerts of the rendered PrometheusRule. */
async function alerts(...args: readonly string[]): Promise<readonly JsonRecord[]> {
  const [rule] = ofKind(await render(...ON, ...args), 'PrometheusRule')
  return listAt(rule, 'spec', 'groups').flatMap((group) => listAt(group, 'rules').filter(isRecord))
}

function namesOf(rules: readonly JsonRecord[]): readonly string[] {
  return rules.map((rule) => stringAt(rule, 'alert') ?? '')
}

/** Runs promtool's unit tests on these alerts, in a folder of their own. */
function unitTests(rules: readonly JsonRecord[], cases: string): Promise<KubectlResult> {
  const at = join(folder, 'unit')
  mkdirSync(at, { recursive: true })
  // Cases repeat the annotations that they expect; a constant text would stand there for nothing.
  const short = rules.map((rule) => ({
    ...rule,
    annotations: { summary: stringAt(rule, 'annotations', 'summary') },
  }))
  writeFileSync(join(at, 'rules.yaml'), stringify({ groups: [{ name: 'kleym', rules: short }] }))
  writeFileSync(join(at, 'cases.yaml'), cases)
  return runKubectl(promtool, ['test', 'rules', join(at, 'cases.yaml')], undefined, folder)
}

describe('the alerts', () => {
  test('are off, as the dashboard is, until somebody asks for them', async () => {
    const objects = await render()
    expect(ofKind(objects, 'PrometheusRule')).toEqual([])
    expect(dashboardIn(objects)).toBeUndefined()
  })

  test('are rules that promtool finds nothing wrong with', async () => {
    const [rule] = ofKind(await render(...ON), 'PrometheusRule')
    const file = join(folder, 'rules.yaml')
    writeFileSync(file, stringify(own(rule, 'spec')))
    const { status, stdout, stderr } = await runKubectl(
      promtool,
      ['check', 'rules', '--lint=all', '--lint-fatal', file],
      undefined,
      folder,
    )
    expect(stderr).toBe('')
    expect(stdout).toContain('SUCCESS')
    expect(status).toBe(0)
  })

  test('fire and keep quiet as the cases say', async () => {
    const { status, stdout, stderr } = await unitTests(await alerts(), CASES)
    expect(stderr + stdout).not.toContain('FAILED')
    expect(status).toBe(0)
  })

  test('each has a case in which it fires, and one in which it does not', async () => {
    const told = listAt(parse(CASES), 'tests').flatMap((one) =>
      listAt(one, 'alert_rule_test').map((check) => ({
        name: stringAt(check, 'alertname') ?? '',
        fires: listAt(check, 'exp_alerts').length > 0,
      })),
    )
    const cased = (fires: boolean): readonly string[] =>
      [...new Set(told.filter((one) => one.fires === fires).map(({ name }) => name))].toSorted()
    const all = namesOf(await alerts()).toSorted()
    expect(cased(true)).toEqual(all)
    expect(cased(false)).toEqual(all)
  })

  test.each<[string, JsonRecord]>([
    ['always', { expr: 'vector(1)', for: '0s' }],
    ['never', { expr: 'vector(1) < 0' }],
  ])('one that fires %s fails its cases', async (_when, broken) => {
    const rules = await alerts()
    const { status, stdout, stderr } = await unitTests(
      rules.map((rule) => ({ ...rule, ...broken })),
      CASES,
    )
    expect(status).not.toBe(0)
    const failed = new Set([...(stderr + stdout).matchAll(/alertname: (\w+)/g)].map(([, name]) => name))
    expect(namesOf(rules).filter((name) => !failed.has(name))).toEqual([])
  })

  test('carry the labels of the values, and a link to their page; some can be left out', async () => {
    const plain = await alerts()
    expect(plain.some((rule) => dig(rule, 'annotations', 'runbook_url') !== undefined)).toBe(false)
    const set = [
      'metrics.rules.runbookUrl=https://example.org/runbooks/',
      'metrics.rules.alertLabels.team=identity',
      'metrics.rules.disabled={KleymQueueSlow}',
      'metrics.rules.labels.release=prometheus',
    ].flatMap((one) => ['--set', one])
    const rules = await alerts(...set)
    expect(namesOf(rules)).toEqual(namesOf(plain).filter((name) => name !== 'KleymQueueSlow'))
    for (const rule of rules) {
      const page = `runbooks/${stringAt(rule, 'alert')}.md`
      expect(stringAt(rule, 'annotations', 'runbook_url')).toBe(`https://example.org/${page}`)
      expect(readFileSync(join(ROOT, 'docs', page), 'utf8')).toContain(stringAt(rule, 'alert'))
      expect(stringAt(rule, 'labels', 'team')).toBe('identity')
      expect(['critical', 'warning']).toContain(stringAt(rule, 'labels', 'severity'))
      // Where it held a template, the cases above would have to tell it.
      expect(stringAt(rule, 'annotations', 'description')).not.toContain('{{')
    }
    const [object] = ofKind(await render(...ON, ...set), 'PrometheusRule')
    expect(stringAt(object, 'metadata', 'labels', 'release')).toBe('prometheus')
  })
})

/** The ConfigMap of the dashboard. */
function dashboardIn(objects: readonly JsonRecord[]): JsonRecord | undefined {
  return ofKind(objects, 'ConfigMap').find((one) => stringAt(one, 'metadata', 'name') === 'kleym-dashboard')
}

describe('the dashboard', () => {
  test('is what Grafana reads, in a ConfigMap that its sidecar finds', async () => {
    const set = ['--set', 'metrics.dashboard.namespace=monitoring']
    const map = dashboardIn(await render(...ON, ...set))
    expect(stringAt(map, 'metadata', 'namespace')).toBe('monitoring')
    expect(stringAt(map, 'metadata', 'labels', 'grafana_dashboard')).toBe('1')
    const text = stringAt(map, 'data', 'kleym.json') ?? ''
    const { status, stderr } = await runKubectl(grafana, [], text, folder)
    expect(stderr).toBe('')
    expect(status).toBe(0)
  })

  test('with a word that Grafana does not know is refused, so the test above can fail', async () => {
    const map = dashboardIn(await render(...ON))
    const text = stringAt(map, 'data', 'kleym.json') ?? ''
    const { status, stderr } = await runKubectl(grafana, [], text.replaceAll('"expr"', '"query"'), folder)
    expect(stderr).toContain("unexpected field 'query'")
    expect(status).not.toBe(0)
  })
})

test.each([
  [
    'rules of no metrics',
    'metrics.rules.enabled=true',
    'metrics.enabled=false',
    'metrics.rules.enabled: the operator does not serve',
  ],
  [
    'a dashboard of no metrics',
    'metrics.dashboard.enabled=true',
    'metrics.enabled=false',
    'metrics.dashboard.enabled: the operator does not serve',
  ],
  [
    'an alert that there is not',
    'metrics.rules.enabled=true',
    'metrics.rules.disabled={KleymUp}',
    'metrics.rules.disabled: the chart has no alert "KleymUp"; it has KleymOperatorDown, ',
  ],
])('%s are refused with a sentence', async (_what, first, second, says) => {
  const { status, stderr } = await helm('template', RELEASE, CHART, ...LEAST, '--set', first, '--set', second)
  expect(stderr).toContain(says)
  expect(status).not.toBe(0)
})
