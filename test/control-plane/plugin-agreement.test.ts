// All commands about one cluster, held against each other: with the operator down, where nothing that kleym must still
// write is an identity, and with the operator at work. Nobody gives a flag, so each command learns the settings by itself.
import { spawn } from 'node:child_process'
import { delimiter } from 'node:path'
import process from 'node:process'
import { createInterface } from 'node:readline'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { dig, isRecord, listAt, stringAt, type JsonRecord } from '../../shared/src/core/base/json.ts'
import { requireValidReport } from '../../plugin/test/support/report-check.ts'
import { built } from '../e2e/plugin.ts'
import { ensureBinaries } from './binaries.ts'
import type { ControlPlane } from './control-plane.ts'
import { applyEstate } from './examples.ts'
import { DIST, kubectlKleym } from './kubectl-kleym.ts'
import { outputs } from './objects.ts'
import { startLeading, startOperatorPlane, stopAll, type RunningOperator } from './operator.ts'
import { until } from '@kleym/testing/wait.ts'

let cp: ControlPlane
let operator: RunningOperator | undefined

beforeAll(async () => {
  await built()
  cp = await startOperatorPlane()
  await applyEstate(cp)
})
afterAll(() => stopAll(operator, cp))

/** Every command that reports on the whole cluster, as JSON. */
const COMMANDS = {
  explain: ['explain', '-A'],
  conflicts: ['conflicts', '-A'],
  whoSelects: ['who-selects', '-A'],
  policies: ['policies', '-A'],
  map: ['map', '-A'],
  diff: ['diff', '-A'],
  status: ['status', '-A'],
} as const

type Reports = Readonly<Record<keyof typeof COMMANDS, JsonRecord>> & {
  /** What watch says of each binding, by its key. */
  readonly watch: ReadonlyMap<string, JsonRecord>
  /** The ClusterSPIFFEIDs that are there, by name. */
  readonly live: ReadonlyMap<string, JsonRecord>
}

async function askAll(): Promise<Reports> {
  const reports = new Map<string, JsonRecord>()
  for (const [name, args] of Object.entries(COMMANDS)) {
    const { stdout, stderr } = await kubectlKleym(cp, [...args, '-o', 'json'])
    requireValidReport(stdout)
    const report: unknown = stdout === '' ? undefined : JSON.parse(stdout)
    if (!isRecord(report)) throw new Error(`${args.join(' ')} printed no report: ${stderr}`)
    reports.set(name, report)
  }
  const of = (name: keyof typeof COMMANDS): JsonRecord => reports.get(name) ?? {}
  const live = new Map((await outputs(cp)).map((one) => [stringAt(one, 'metadata', 'name') ?? '', one]))
  const count = listAt(of('explain'), 'bindings').length
  return {
    explain: of('explain'),
    conflicts: of('conflicts'),
    whoSelects: of('whoSelects'),
    policies: of('policies'),
    map: of('map'),
    diff: of('diff'),
    status: of('status'),
    watch: await watched(count),
    live,
  }
}

/** The rows of `watch` once it has shown so many bindings. */
async function watched(count: number): Promise<ReadonlyMap<string, JsonRecord>> {
  const binaries = await ensureBinaries()
  if (!binaries.available) throw new Error(binaries.why)
  const child = spawn(binaries.programs.kubectl, ['kleym', 'watch', '-A', '-o', 'json'], {
    env: {
      PATH: `${DIST}${delimiter}${process.env['PATH'] ?? ''}`,
      HOME: cp.folder,
      KUBECONFIG: cp.kubeconfig(),
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const rows = new Map<string, JsonRecord>()
  createInterface({ input: child.stdout }).on('line', (text) => {
    const event: unknown = JSON.parse(text)
    const key = stringAt(event, 'binding')
    if (isRecord(event) && key !== undefined) rows.set(key, event)
  })
  try {
    await until(() => rows.size >= count, `${count} bindings in watch, which shows ${rows.size}`)
    return rows
  } finally {
    child.kill('SIGINT')
  }
}

interface Explained {
  readonly key: string
  readonly ready: unknown
  readonly reason: unknown
  readonly spiffeId: unknown
  readonly output: { readonly name: string; readonly state: string } | undefined
  /** Containers that it says are reached: `pod team-a/llama-0 vllm`. */
  readonly reached: readonly string[]
}

function explained({ explain }: Reports): readonly Explained[] {
  return listAt(explain, 'bindings').map((one) => {
    const name = stringAt(one, 'output', 'name')
    return {
      key: stringAt(one, 'binding') ?? '',
      ready: dig(one, 'ready'),
      reason: dig(one, 'reason'),
      spiffeId: dig(one, 'spiffeID'),
      output: name === undefined ? undefined : { name, state: stringAt(one, 'output', 'state') ?? '' },
      reached: listAt(one, 'reach', 'reached').flatMap((reached) =>
        listAt(reached, 'containers').map(
          (container) => `${stringAt(reached, 'pod') ?? ''} ${String(container)}`,
        ),
      ),
    }
  })
}

/** What who-selects shows of each container: `pod team-a/llama-0 vllm` and its registrations. */
function containersOf({ whoSelects }: Reports): readonly (readonly [string, JsonRecord])[] {
  return listAt(whoSelects, 'pods').flatMap((pod) =>
    listAt(pod, 'containers').flatMap((container) =>
      isRecord(container)
        ? [[`${stringAt(pod, 'pod') ?? ''} ${stringAt(container, 'name') ?? ''}`, container] as const]
        : [],
    ),
  )
}

/** The identities that a map draws at each container, by the same keys. */
function drawnAt({ map }: Reports): ReadonlyMap<string, readonly string[]> {
  const nodes = listAt(map, 'nodes')
  const pods = new Map(nodes.map((node) => [stringAt(node, 'id') ?? '', listAt(node, 'pods')]))
  return new Map(
    nodes
      .filter((node) => stringAt(node, 'kind') === 'container')
      .flatMap((node) =>
        (pods.get(stringAt(node, 'parent') ?? '') ?? []).map((pod) => [
          `${String(pod)} ${stringAt(node, 'name') ?? ''}`,
          sorted(listAt(node, 'identities')),
        ]),
      ),
  )
}

const DUE: Readonly<Record<string, string>> = {
  'up to date': 'none',
  'to be created': 'create',
  'to be updated': 'update',
}

function sorted(names: Iterable<unknown>): readonly string[] {
  return [...names].map(String).toSorted()
}

/** What must hold whether or not the operator runs. */
function holdAgainstEachOther(reports: Reports): void {
  const { explain, conflicts, whoSelects, policies, diff, watch, live } = reports
  // One way to learn the settings.
  for (const report of [conflicts, whoSelects, policies, diff])
    expect(dig(report, 'settings')).toEqual(dig(explain, 'settings'))
  expect(dig(reports.status, 'settings', 'trustDomain')).toBe(dig(explain, 'settings', 'trustDomain'))
  expect(dig(reports.status, 'settings', 'className')).toBe(dig(explain, 'settings', 'className'))

  // The same verdict, reason, identity and pending write in watch as in explain.
  const bindings = explained(reports)
  expect(sorted(watch.keys())).toEqual(sorted(bindings.map(({ key }) => key)))
  for (const { key, ready, reason, spiffeId } of bindings) {
    const row = watch.get(key)
    const said = { key, ready: row?.['ready'], reason: row?.['reason'], spiffeId: row?.['spiffeID'] }
    // A row has no identity for a binding that is refused.
    expect(said).toEqual({ key, ready, reason, spiffeId: ready === 'False' ? null : spiffeId })
  }
  const written = bindings.flatMap(({ key, ready, output }) =>
    ready === 'True' && output !== undefined ? [{ key, due: DUE[output.state] }] : [],
  )
  expect(written.map(({ key }) => ({ key, due: watch.get(key)?.['due'] }))).toEqual(written)

  // What explain calls there is there, what it calls missing is not, and diff creates exactly that.
  const ready = bindings.filter((one) => one.ready === 'True')
  const namesIn = (state: string): readonly string[] =>
    sorted(ready.flatMap(({ output }) => (output?.state === state ? [output.name] : [])))
  for (const name of namesIn('up to date')) expect(live.has(name)).toBe(true)
  for (const name of namesIn('to be created')) expect(live.has(name)).toBe(false)
  const created = listAt(diff, 'changes').filter((one) => stringAt(one, 'kind') === 'create')
  const createdForReady = created.filter((one) => ready.some(({ key }) => key === stringAt(one, 'binding')))
  expect(sorted(createdForReady.map((one) => stringAt(one, 'name')))).toEqual(namesIn('to be created'))

  // A map draws the containers that who-selects lists, with the identities that it says.
  const drawn = drawnAt(reports)
  const listed = containersOf(reports).map(
    ([container, answer]) => [container, sorted(listAt(answer, 'identities'))] as const,
  )
  expect(listed.length).toBeGreaterThan(30)
  expect(drawn).toEqual(new Map(listed))

  // No container holds an identity of a ClusterSPIFFEID that is not there; it is pending instead.
  for (const [container, answer] of containersOf(reports)) {
    for (const one of listAt(answer, 'registrations')) {
      const [kind, name = ''] = (stringAt(one, 'source') ?? '').split('/')
      if (kind !== 'ClusterSPIFFEID') continue
      const verdict = stringAt(one, 'verdict')
      const isThere = live.has(name)
      expect({ container, name, verdict, isThere }).toEqual({
        container,
        name,
        verdict: isThere ? verdict : 'pending',
        isThere,
      })
    }
  }
}

describe('with the operator down', () => {
  let reports: Reports
  beforeAll(async () => {
    reports = await askAll()
  })

  test('all commands agree, and nothing that is yet to be written is an identity', () => {
    const missing = explained(reports).filter(({ output }) => output?.state === 'to be created')
    expect(missing.length).toBeGreaterThan(10)
    holdAgainstEachOther(reports)
  })

  test('the trust domain and the class come from the Deployment, in watch too', () => {
    expect(dig(reports.explain, 'settings', 'trustDomainSource')).toBe(
      'Deployment kleym-system/kleym-operator',
    )
    const chat = reports.watch.get('team-a/chat')
    expect(chat?.['spiffeID']).toBe('spiffe://example.org/ns/team-a/objective/chat')
  })

  test('a person is told the same: no mark says that an identity is there', async () => {
    const explain = await kubectlKleym(cp, ['explain', 'team-a/chat'])
    expect(explain.stdout.replaceAll(/\s+/g, ' ')).toMatch(
      /^✗ the operator is down: [^;]+; team-a\/chat is valid, not applied yet: \d containers? will get, once kleym has created its/,
    )
    const who = await kubectlKleym(cp, ['who-selects', 'deployment/llama', '-n', 'team-a'])
    expect(who.stdout).toContain('pending: kleym must still write its ClusterSPIFFEID')
    expect(who.stdout).not.toContain('✓ spiffe://example.org/ns/team-a/objective/chat')
    const rows = await kubectlKleym(cp, ['explain', '-n', 'team-a'])
    expect(rows.stdout).not.toContain('✓')
    const entries = await kubectlKleym(cp, ['who-selects', 'deployment/llama', '-n', 'team-a', '--entries'])
    expect(entries.stdout).toContain('! spiffe://example.org/ns/team-a/objective/chat')
    expect(entries.stdout).toMatch(/depends +kleym must still write its ClusterSPIFFEID/)
    // The fallback is displaced once kleym has written its own: now it is on the server.
    expect(entries.stdout).toContain('✓ spiffe://example.org/ns/team-a/sa/')
  })
})

describe('with the operator at work', () => {
  let reports: Reports
  beforeAll(async () => {
    operator = await startLeading(cp, {
      flags: ['--clusterspiffeid-class-name=spire-mgmt-spire', '--variant-label-key=llm-d.ai/role'],
    })
    await until(async () => {
      const { stdout } = await kubectlKleym(cp, ['diff', '-A', '-o', 'json'])
      const report: unknown = JSON.parse(stdout)
      return listAt(report, 'changes').length === 0
    }, 'the operator to have written all that is due')
    reports = await askAll()
  })

  test('all commands agree, and nothing is due', () => {
    holdAgainstEachOther(reports)
    expect(listAt(reports.diff, 'changes')).toEqual([])
    const states = explained(reports).flatMap(({ output }) => output?.state ?? [])
    expect(new Set(states)).toEqual(new Set(['up to date']))
  })

  test('the containers that explain says are reached hold that identity in who-selects', () => {
    const held = new Map(containersOf(reports).map(([key, one]) => [key, listAt(one, 'identities')]))
    const reached = explained(reports).filter((one) => one.ready === 'True' && one.reached.length > 0)
    expect(reached.length).toBeGreaterThan(5)
    for (const { key, spiffeId, reached: containers } of reached)
      for (const container of containers)
        expect({ key, container, ids: held.get(container) }).toEqual({
          key,
          container,
          ids: expect.arrayContaining([spiffeId]),
        })
  })
})
