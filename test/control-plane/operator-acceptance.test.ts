// The operator's main promise on a real API server: a binding becomes a ClusterSPIFFEID and stays one with no more work,
// what is unsafe is refused in clear words, and nothing else is touched. docs/contract.md §5 to §8 and docs/operator.md.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { dig, listAt, stringAt } from '../../shared/src/core/base/json.ts'
import { WRITE_VERBS, type AuditMark } from './audit.ts'
import type { ControlPlane } from './control-plane.ts'
import { besideInForce } from './in-force-writes.ts'
import { watchNeverTwo, type NeverTwo } from './never-two.ts'
import {
  binding,
  conditionOf,
  estate,
  eventsOf,
  member,
  namespace,
  objective,
  outputId,
  outputs,
  outputsOf,
  pool,
  untilReason,
} from './objects.ts'
import { LEASE, LEASE_NAME, OPERATOR } from './operator-access.ts'
import {
  EXECUTABLE,
  startLeading,
  startOperatorPlane,
  stopAll,
  whileDown,
  type RunningOperator,
} from './operator.ts'
import { runToEnd, type Ended } from '@kleym/testing/child-process.ts'
import { until } from '@kleym/testing/wait.ts'
import { judgeWrites, sortOf } from './write-rules.ts'

let cp: ControlPlane
let operator: RunningOperator
let neverTwo: NeverTwo
beforeAll(async () => {
  cp = await startOperatorPlane()
  neverTwo = await watchNeverTwo(cp)
  operator = await startLeading(cp)
})
afterAll(() => stopAll(neverTwo, cp))

test('a binding with its pool and objective becomes one ClusterSPIFFEID, and its status says so', async () => {
  await cp.apply([...estate('team-a'), ...member('team-a', 'chat')])
  const ready = await untilReason(cp, 'team-a', 'chat', 'Reconciled')
  const [output, ...others] = await outputs(cp)
  expect(others).toEqual([])
  const spiffeID = 'spiffe://example.org/ns/team-a/objective/chat'
  const selectors = ['k8s:container-name:vllm', 'k8s:ns:team-a', 'k8s:pod-label:app:llama', 'k8s:sa:llama']
  const name = stringAt(output, 'metadata', 'name')
  expect(name).toMatch(/^kleym-team-a-chat-objective-[0-9a-f]{20}$/)
  expect(dig(output, 'metadata', 'labels')).toEqual({
    'kleym.sonda.red/managed-by': 'kleym',
    'kleym.sonda.red/binding-name': 'chat',
    'kleym.sonda.red/binding-namespace': 'team-a',
  })
  expect(dig(output, 'metadata', 'annotations')).toEqual({
    'kleym.sonda.red/binding': 'team-a/chat',
    'kleym.sonda.red/binding-uid': stringAt(ready, 'metadata', 'uid'),
    'kleym.sonda.red/install': 'kleym-system/kleym-operator',
  })
  expect(dig(output, 'spec')).toEqual({
    spiffeIDTemplate: spiffeID,
    namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'team-a' } },
    podSelector: { matchLabels: { app: 'llama' } },
    workloadSelectorTemplates: selectors,
    fallback: false,
    hint: 'team-a/chat',
  })
  expect(dig(ready, 'status')).toMatchObject({
    observedGeneration: 1,
    trustDomain: 'example.org',
    computedSpiffeIDs: [{ mode: 'PerObjective', spiffeID }],
    renderedSelectors: [{ spiffeID, selectors }],
    clusterSPIFFEID: { name, uid: stringAt(output, 'metadata', 'uid') },
  })
  expect(listAt(ready, 'metadata', 'finalizers')).toEqual([
    'kleym.sonda.red/inferenceidentitybinding-finalizer',
  ])
  await eventsOf(cp, 'team-a', 'chat', 1)
  expect(await writesBesideTheLease({ offset: 0 })).toEqual([
    'patch inferenceidentitybindings',
    'create clusterspiffeids',
    'update inferenceidentitybindings status',
    'create events',
  ])
})

test('several objectives on one pool get distinct IDs, each with at most four writes and no read of its own', async () => {
  const names = Array.from({ length: 20 }, (_, at) => `objective-${at}`)
  await cp.apply([...estate('team-b'), ...names.map((name) => objective('team-b', name, 'llama'))])
  // Once a later objective is known, all of them are: what is not, is looked for.
  await cp.apply(member('team-b', 'last'))
  await untilReason(cp, 'team-b', 'last', 'Reconciled')
  await eventsOf(cp, 'team-b', 'last', 1)
  const mark = await cp.auditMark()
  await cp.apply(names.map((name) => binding('team-b', name, { containerName: name })))
  await Promise.all(names.map((name) => untilReason(cp, 'team-b', name, 'Reconciled')))
  await Promise.all(names.map((name) => eventsOf(cp, 'team-b', name, 1)))
  const ids = (await outputs(cp)).map((output) => stringAt(output, 'spec', 'spiffeIDTemplate'))
  expect(new Set(ids).size).toBe(ids.length)
  expect(ids).toEqual(
    expect.arrayContaining(names.map((name) => `spiffe://example.org/ns/team-b/objective/${name}`)),
  )
  expect(await readsOfObjects(mark)).toEqual([])
  const writes = await writesBesideTheLease(mark)
  const counts = Map.groupBy(writes, (sort) => sort)
  expect(Object.fromEntries([...counts].map(([sort, all]) => [sort, all.length]))).toEqual({
    'patch inferenceidentitybindings': 20,
    'create clusterspiffeids': 20,
    'update inferenceidentitybindings status': 20,
    'create events': 20,
  })
})

test.each<[what: string, reason: string, says: string, labels: Readonly<Record<string, string>>]>([
  ['an empty label value', 'InvalidPoolSelector', '.spec.selector.matchLabels["app"] is empty', { app: '' }],
  [
    'a label key that is none',
    'InvalidPoolSelector',
    '.spec.selector.matchLabels["app name"] is no label key',
    { 'app name': 'llama' },
  ],
  [
    'a label longer than SPIRE keeps',
    'UnsafeSelector',
    '255 is the most that SPIRE keeps',
    { [`${'prefix.'.repeat(30)}org/model`]: 'l'.repeat(63) },
  ],
])('an unsafe selector is refused: %s', async (what, reason, says, labels) => {
  const space = `unsafe-${what.replaceAll(' ', '-').toLowerCase()}`
  await cp.apply([namespace(space), pool(space, 'llama', labels), ...member(space, 'chat')])
  const refused = await untilReason(cp, space, 'chat', reason)
  expect(conditionOf(refused, 'UnsafeSelector')).toMatchObject({ status: 'True', reason })
  expect(stringAt(conditionOf(refused, 'UnsafeSelector'), 'message')).toContain(says)
  expect(await outputsOf(cp, space, 'chat')).toEqual([])
})

test('kubectl waits for Ready, and shows the columns', async () => {
  const waited = await cp.kubectl(
    ['wait', '--for=condition=Ready', 'iib/chat', '-n', 'team-a', '--timeout=20s'],
    {},
  )
  expect(waited.stdout + waited.stderr).toBe('inferenceidentitybinding.kleym.sonda.red/chat condition met\n')
  const listed = await cp.kubectl(['get', 'iib', '-n', 'team-a'])
  const rows = listed.stdout.trimEnd().split('\n')
  expect(rows[0]?.split(/\s{2,}/).map((cell) => cell.trim())).toEqual([
    'NAME',
    'MODE',
    'POOL',
    'OBJECTIVE',
    'READY',
    'REASON',
    'IN-FORCE',
    'SPIFFE-ID',
    'AGE',
  ])
  // The binding names no mode, so that column is empty.
  expect(rows[1]?.split(/\s+/).slice(0, -1)).toEqual([
    'chat',
    'llama',
    'chat',
    'True',
    'Reconciled',
    'Unknown',
    'spiffe://example.org/ns/team-a/objective/chat',
  ])
})

test('the probes answer, and the metrics have the names that dashboards know and no name of anybody', async () => {
  expect(await operator.probe('/healthz')).toMatchObject({ status: 200 })
  expect(await operator.probe('/readyz')).toMatchObject({ status: 200 })
  const lines = (await operator.metrics()).split('\n').filter((line) => !/^(#|$)/.test(line))
  const names = new Set(lines.map((line) => line.replace(/[{ ].*/, '').replace(/_(bucket|sum|count)$/, '')))
  for (const name of [
    ...['total', 'errors_total', 'time_seconds'].map((end) => `controller_runtime_reconcile_${end}`),
    ...['depth', 'adds_total', 'retries_total', 'queue_duration_seconds', 'work_duration_seconds'].map(
      (end) => `workqueue_${end}`,
    ),
    'rest_client_requests_total',
    'kleym_identity_binding_outcomes_total',
    'kleym_event_loop_lag_seconds',
  ]) {
    expect(names).toContain(name)
  }
  for (const line of [
    'controller_runtime_reconcile_errors_total{controller="inferenceidentitybinding"} 0',
    `leader_election_master_status{name="${LEASE_NAME}"} 1`,
    'kleym_identity_bindings{condition="Ready",reason="Reconciled",mode="PerObjective"} 22',
    'kleym_identity_bindings{condition="UnsafeSelector",reason="InvalidPoolSelector",mode="PerObjective"} 2',
    'kleym_identity_bindings{condition="UnsafeSelector",reason="UnsafeSelector",mode="PerObjective"} 1',
  ]) {
    expect(lines).toContain(line)
  }
  const named = /team-a|team-b|unsafe-|chat|llama|objective-|vllm|spiffe:/
  expect(lines.filter((line) => named.test(line))).toEqual([])
})

test('an idle hour writes nothing but the Lease: resyncs, a clean restart and one after SIGKILL', async () => {
  // Some of everything: ready, unsafe, in conflict, and without an objective.
  await cp.apply([
    ...estate('team-c'),
    ...member('team-c', 'one'),
    ...member('team-c', 'two'),
    binding('team-c', 'lost', { containerName: 'router' }),
  ])
  await untilReason(cp, 'team-c', 'lost', 'TargetObjectiveNotFound')
  await Promise.all(['one', 'two'].map((name) => untilReason(cp, 'team-c', name, 'IdentityCollision')))
  const bindings = 28
  // With the end of the one come the last events of what was decided; the next one finds everything at rest.
  operator = await whileDown(cp, operator, async () => undefined)
  await until(async () => (await standing()) === bindings, 'all bindings to stand in the metrics')
  const before = { outputs: await outputs(cp), events: await allEvents() }

  const mark = await cp.auditMark()
  expect(await operator.stop()).toBe('exit code 0')
  const lease = await cp.admin.get(LEASE)
  expect(stringAt(lease, 'spec', 'holderIdentity') ?? '').toBe('')

  const restart = await cp.auditMark()
  operator = await startLeading(cp, { flags: ['--resync-period=200ms'] })
  await until(async () => (await standing()) === bindings, 'all bindings to stand in the metrics')
  // The Lease, discovery twice, `/apis` for the kind that its group version does not list, and a watch for each kind.
  expect((await requestsBesideLists(restart)).length).toBeLessThanOrEqual(21)
  const lines = linesBesideInForce()
  const done = await reconciles()
  // A day's worth of resyncs and more.
  await until(async () => (await reconciles()) > done + 10 * bindings, 'ten resyncs of everything')
  expect(linesBesideInForce()).toBe(lines)

  await operator.kill()
  operator = await startLeading(cp)
  await until(async () => (await standing()) === bindings, 'all bindings to stand in the metrics')
  await until(async () => (await reconciles()) >= bindings, 'all bindings to be looked at')
  expect(operator.log().map((line) => stringAt(line, 'message'))).toEqual(
    expect.not.arrayContaining(['decided', 'wrote an output', 'withdrawing an output']),
  )

  expect(await writesBesideTheLease(mark)).toEqual([])
  expect(await readsOfObjects(mark)).toEqual([])
  expect(await outputs(cp)).toEqual(before.outputs)
  expect(await allEvents()).toEqual(before.events)
  // One for each transition, of which there was one.
  expect(await eventsOf(cp, 'team-a', 'chat', 1)).toEqual(['Normal Reconciled'])
})

test('an identity is the same after its output was deleted by hand: name, SPIFFE ID and selectors', async () => {
  const [before] = await outputsOf(cp, 'team-a', 'chat')
  const name = stringAt(before, 'metadata', 'name') ?? ''
  await cp.admin.delete(outputId(name))
  const after = await until(() => cp.admin.get(outputId(name)), `${name} to be put back`)
  expect(dig(after, 'spec')).toEqual(dig(before, 'spec'))
  await until(async () => {
    const ready = await untilReason(cp, 'team-a', 'chat', 'Reconciled')
    return dig(ready, 'status', 'clusterSPIFFEID', 'uid') === dig(after, 'metadata', 'uid')
  }, 'the status to name the new object')
})

test('--help names every flag and ends well', () => {
  const { status, stdout, stderr } = run(['--help'])
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  for (const flag of [
    '--trust-domain',
    '--clusterspiffeid-class-name',
    '--resync-period',
    '--leader-elect',
  ]) {
    expect(stdout).toContain(flag)
  }
})

test.each<[what: string, args: readonly string[], says: string]>([
  ['no trust domain', [], 'the trust domain is not set'],
  ['an empty trust domain', ['--trust-domain='], 'the trust domain is not set'],
  [
    'a trust domain with a scheme',
    ['--trust-domain=spiffe://example.org'],
    '--trust-domain=spiffe://example.org:',
  ],
  ['a flag that is none', ['--trust-domain=example.org', '--trust-domian=x'], '--trust-domian'],
  ['no workers', ['--trust-domain=example.org', '--workers=0'], '--workers=0:'],
  ['no such kubeconfig', ['--trust-domain=example.org', '--kubeconfig=nowhere'], 'nowhere'],
])('a bad setting is one clear line and exit code 1: %s', (_what, args, says) => {
  const { status, stdout, stderr } = run(args)
  expect({ status, stdout }).toEqual({ status: 1, stdout: '' })
  expect(stderr).toMatch(/^error: [^\n]+\n$/)
  expect(stderr).toContain(says)
})

test('in the whole log the operator wrote nothing else, was forbidden nothing, and never registered two for one', async () => {
  expect(await operator.stop()).toBe('exit code 0')
  const { writes, broken } = await judgeWrites(cp)
  expect(broken).toEqual([])
  expect(writes.length).toBeGreaterThan(100)
  const all = await cp.audit({ user: OPERATOR })
  expect(all.filter(({ status }) => status === 401 || status === 403)).toEqual([])
  await neverTwo.holds()
})

/** How many lines the operator has logged, without those of a time that is up. */
function linesBesideInForce(): number {
  return operator.log().filter(({ message }) => message !== 'in force or not').length
}

async function writesBesideTheLease(since: AuditMark): Promise<readonly string[]> {
  const writes = await besideInForce(cp, await cp.audit({ since, user: OPERATOR, verbs: WRITE_VERBS }))
  return writes.filter(({ resource }) => resource !== 'leases').map(sortOf)
}

/** Reads of single objects other than the Lease; discovery names no resource. */
async function readsOfObjects(since: AuditMark): Promise<readonly string[]> {
  const gets = await cp.audit({ since, user: OPERATOR, verbs: ['get'] })
  return gets.filter(({ resource }) => resource !== '' && resource !== 'leases').map(({ uri }) => uri)
}

/** What was asked since then, watches too; `<verb> <uri>` each. */
async function requestsBesideLists(since: AuditMark): Promise<readonly string[]> {
  const all = await cp.audit({ since, user: OPERATOR, stage: 'all' })
  const once = new Map(all.map((event) => [event.auditId, event]))
  return [...once.values()].filter(({ verb }) => verb !== 'list').map(({ verb, uri }) => `${verb} ${uri}`)
}

async function allEvents(): Promise<readonly string[]> {
  const events = await cp.admin.list({ apiVersion: 'events.k8s.io/v1', kind: 'Event' })
  return events.map((event) => stringAt(event, 'metadata', 'uid') ?? '').toSorted()
}

/** How many bindings the metrics know, whatever they stand at. */
function standing(): Promise<number> {
  return sumOf(/^kleym_identity_bindings\{.*\} (\d+)$/gm)
}

function reconciles(): Promise<number> {
  return sumOf(/^controller_runtime_reconcile_total\{.*\} (\d+)$/gm)
}

async function sumOf(pattern: RegExp): Promise<number> {
  const found = (await operator.metrics()).matchAll(pattern)
  return [...found].reduce((sum, [, value]) => sum + Number(value), 0)
}

/** The shipped executable with no environment. */
function run(args: readonly string[]): Ended {
  return runToEnd(EXECUTABLE, args, { env: {} })
}
