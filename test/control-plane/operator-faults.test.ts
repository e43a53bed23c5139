// What networks and servers do by accident, in the midst of a convergence that has every sort of write: the final state is
// that of a run in peace, nothing is doubled, lost or told wrongly on the way (docs/contract.md §6 to §8). There is no
// Lease here: an API server that restarts on two shared cores may be away for longer than one lasts.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { dig, stringAt, type JsonRecord } from '../../shared/src/core/base/json.ts'
import { holdIdle } from '../../operator/test/build/idle-connections.ts'
import type { ControlPlane } from './control-plane.ts'
import {
  goTo,
  prepare,
  settled,
  stateOf,
  untilState,
  writePoint,
  type ConvergenceSide,
  type State,
} from './convergence.ts'
import { startFaultProxy, type FaultProxy } from './fault-proxy.ts'
import type { Fault, Injection } from './fault-rules.ts'
import type { ObservedRequest } from './observed-request.ts'
import { settle } from './in-force.ts'
import { watchNeverTwo, type NeverTwo } from './never-two.ts'
import {
  binding,
  bindingId,
  conditionOf,
  estate,
  objective,
  outputId,
  outputsOf,
  pool,
  untilReason,
} from './objects.ts'
import { startOperator, startOperatorPlane, stopAll, type RunningOperator } from './operator.ts'
import { allWatches } from './proxied-watches.ts'
import { until } from '@kleym/testing/wait.ts'
import { judgeWrites } from './write-rules.ts'

let cp: ControlPlane
let proxy: FaultProxy
let operator: RunningOperator
let neverTwo: NeverTwo
let foreign: JsonRecord
/** The two sides after a run in peace. */
let peace: Readonly<Record<ConvergenceSide, State>>
/** Where the scenario has come to rest on its second side. */
const rested: string[] = []

beforeAll(async () => {
  cp = await startOperatorPlane()
  proxy = await startFaultProxy(cp)
  neverTwo = await watchNeverTwo(cp)
  foreign = await cp.admin.create({
    apiVersion: 'spire.spiffe.io/v1alpha1',
    kind: 'ClusterSPIFFEID',
    metadata: { name: 'somebody-else', labels: { 'kleym.sonda.red/managed-by': 'kleym' } },
    spec: { spiffeIDTemplate: 'spiffe://example.org/somebody', podSelector: { matchLabels: { a: 'b' } } },
  })
  operator = await startOperator(cp, { server: proxy.server, flags: ['--leader-elect=false'] })
  await prepare(cp, 'peace')
  peace = { before: await inPeace('before'), after: await inPeace('after') }
})
afterAll(() => stopAll(neverTwo, proxy, cp))

async function inPeace(side: ConvergenceSide): Promise<State> {
  await goTo(cp, 'peace', side)
  await settled(cp, 'peace', side)
  return stateOf(cp, 'peace')
}

/** Goes through the scenario in a namespace of its own; `disturb` is called on each way, while one write is held. */
async function goThrough(space: string, disturb?: () => Promise<void>): Promise<void> {
  await prepare(cp, space)
  for (const side of ['before', 'after'] as const) {
    const held = disturb === undefined ? undefined : holdAWrite(space)
    await goTo(cp, space, side)
    await held?.hit()
    await disturb?.()
    held?.release()
    await untilState(cp, space, peace[side])
  }
  rested.push(space)
}

/** Some of the writes of a convergence have been made when it comes to this one. */
const IN_THE_MIDST = 4

function holdAWrite(space: string): Injection {
  const when = (request: ObservedRequest): boolean =>
    isAbout(request, space) && writePoint(request) !== undefined
  return proxy.inject({ when, nth: IN_THE_MIDST, fault: { kind: 'hold' } })
}

/** The requests of the operator that are about a namespace, outputs and events of its bindings among them. */
function isAbout(request: ObservedRequest, space: string): boolean {
  return `${request.path} ${JSON.stringify(request.body)}`.includes(space)
}

/** A fault that hits each write of a namespace the first `times` times. */
function onEachWrite(space: string, fault: Fault, times: number): Injection {
  const seen = new Map<string, number>()
  const when = (request: ObservedRequest): boolean => {
    const point = isAbout(request, space) ? writePoint(request) : undefined
    if (point === undefined) return false
    const before = seen.get(point) ?? 0
    seen.set(point, before + 1)
    return before < times
  }
  return proxy.inject({ when, count: Infinity, fault })
}

const CAUSES = 'forbidden|absent|unreachable|timed out|refused|malformed|throttled|failed|conflicting writes'
const UNDETERMINED = new RegExp(
  `^cannot (?:get|list|watch|discover|create|update|patch|delete) (?:[A-Z]\\w+)(?:[. ][-a-z0-9.]+)?: (?:${CAUSES})$`,
)

/**
 * What is wrong with the status writes of a namespace, a sentence each: the same again, or a reason for not knowing that
 * is none of the fixed ones.
 */
function noise(space: string): readonly string[] {
  const said = new Map<string, string>()
  const found: string[] = []
  for (const request of proxy.requests) {
    if (!request.path.includes(`/${space}/`) || !request.path.includes('/status?')) continue
    const ready = conditionOf(request.body, 'Ready')
    const message = stringAt(ready, 'message') ?? ''
    if (stringAt(ready, 'reason') === 'Undetermined' && !UNDETERMINED.test(message))
      found.push(`an odd reason: ${message}`)
    if (request.status !== 200) continue
    const key = `${request.path} ${stringAt(request.body, 'metadata', 'uid')}`
    const status = JSON.stringify(dig(request.body, 'status'))
    if (said.get(key) === status) found.push(`said again: ${status}`)
    said.set(key, status)
  }
  return said.size === 0 ? [...found, 'no status was written'] : found
}

const EACH_WRITE: readonly { readonly name: string; readonly fault: Fault; readonly times: number }[] = [
  { name: 'is answered 500 twice', fault: { kind: 'answer', status: 500 }, times: 2 },
  { name: 'is answered 504 twice', fault: { kind: 'answer', status: 504 }, times: 2 },
  { name: 'is answered 429 once', fault: { kind: 'answer', status: 429, retryAfterSeconds: 1 }, times: 1 },
  { name: 'is answered 409 five times', fault: { kind: 'answer', status: 409 }, times: 5 },
  {
    name: 'is answered 404 twice, by a text of a proxy',
    fault: { kind: 'answer', status: 404, page: '404 page not found' },
    times: 2,
  },
  { name: 'is lost on its way twice', fault: { kind: 'drop' }, times: 2 },
  { name: 'is carried out and its answer lost', fault: { kind: 'drop answer' }, times: 1 },
  { name: 'is carried out and its answer lost, three times', fault: { kind: 'drop answer' }, times: 3 },
]

describe('the state is that of a run in peace when each write', () => {
  test.each(EACH_WRITE.map((row, at) => ({ ...row, space: `write-${at}` })))('$name', async (row) => {
    const injection = onEachWrite(row.space, row.fault, row.times)
    await goThrough(row.space)
    const points = (): string => injection.hits.map((request) => writePoint(request)).join('\n')
    // Events come last, in the background; there are none of a status of which nobody knew that it had been written.
    if (row.fault.kind !== 'drop answer') {
      await until(() => points().includes('POST event'), 'the fault to hit an event')
    }
    for (const sort of ['POST Cluster', 'PUT Cluster', 'DELETE Cluster', 'PUT status', 'finalizer off']) {
      expect(points()).toContain(sort)
    }
    expect(noise(row.space)).toEqual([])
  })
})

test('a page of a proxy that says 404 for a pool is no absence: the output stays until the API server itself says so', async () => {
  const space = 'page'
  const { name, output } = await settle(cp, space)
  const fault: Fault = { kind: 'answer', status: 404, page: '<html><title>404 Not Found</title></html>' }
  const path = /\/namespaces\/page\/inferencepools\/absent$/
  const pages = proxy.inject({ method: 'GET', path, count: Infinity, fault })
  await cp.admin.patch(bindingId(space, 'chat'), { spec: { poolRef: { name: 'absent' } } })
  await pages.hit(3)
  const open = await untilReason(cp, space, 'chat', 'Undetermined')
  expect(stringAt(open, 'status', 'clusterSPIFFEID', 'name')).toBe(name)
  expect(await cp.admin.get(outputId(name))).toEqual(output)
  pages.remove()
  await untilReason(cp, space, 'chat', 'TargetPoolNotFound')
  expect(await outputsOf(cp, space, 'chat')).toEqual([])
})

/** What happens to all at once; each resolves when it is over. */
const IN_THE_MIDST_OF_IT: readonly { readonly name: string; readonly disturb: () => Promise<void> }[] = [
  {
    name: 'the API server is killed and started again',
    disturb: async () => {
      await cp.killApiServer()
      await cp.restartApiServer()
    },
  },
  {
    name: 'the API server hangs, and the operator stays alive and ready',
    disturb: async () => {
      await cp.pauseApiServer()
      try {
        expect((await operator.probe('/healthz')).status).toBe(200)
        expect((await operator.probe('/readyz')).status).toBe(200)
      } finally {
        await cp.resumeApiServer()
      }
    },
  },
  {
    name: 'all watches break',
    disturb: async () => (await allWatches(proxy)).drop(),
  },
  { name: 'all watches are ended', disturb: async () => (await allWatches(proxy)).end() },
  { name: 'all connections break', disturb: async () => proxy.dropConnections() },
]

describe('the state is that of a run in peace when in the midst of it', () => {
  test.each(IN_THE_MIDST_OF_IT.map((row, at) => ({ ...row, space: `midst-${at}` })))(
    '$name',
    async ({ space, disturb }) => {
      await goThrough(space, disturb)
      expect(noise(space)).toEqual([])
    },
  )

  test.each([500, 403])('no event can be written (%i)', async (status) => {
    const space = `events-${status}`
    const fault: Fault = { kind: 'answer', status }
    const injection = proxy.inject({ path: /\/events(?:$|\?)/, count: Infinity, fault })
    await goThrough(space)
    await injection.hit()
    injection.remove()
    expect(noise(space)).toEqual([])
  })

  test('every live read fails twice', async () => {
    const space = 'reads'
    const seen = new Map<string, number>()
    const when = ({ method, path, isWatch }: ObservedRequest): boolean => {
      const isLive =
        method === 'GET' && !isWatch && (path.includes(space) || path.includes('clusterspiffeids'))
      const before = seen.get(path) ?? 0
      if (isLive) seen.set(path, before + 1)
      return isLive && before < 2
    }
    const injection = proxy.inject({ when, count: Infinity, fault: { kind: 'answer', status: 500 } })
    await goThrough(space)
    injection.remove()
    const hits = injection.hits.map(({ path }) => path)
    // Of the pool that is not there, of the binding behind the orphan, and of what is left of the deleted binding.
    for (const part of ['/nowhere', '/gone', '/clusterspiffeids?']) {
      expect(hits.filter((path) => path.includes(part)).length).toBeGreaterThan(1)
    }
    expect(noise(space)).toEqual([])
  })
})

test('a pod that holds 280 idle connections to the probes fails none of sixty', async () => {
  const flood = await holdIdle(operator.probePort, 280)
  try {
    for (let probe = 0; probe < 60; probe++) expect((await operator.probe('/healthz')).status).toBe(200)
    await until(() => flood.lost >= 60, 'sixty of its connections to be ended')
  } finally {
    flood.end()
  }
})

describe('what was missed is made up for when', () => {
  test('watches were stalled, and then end', async () => {
    await prepare(cp, 'stalled')
    await goTo(cp, 'stalled', 'before')
    await untilState(cp, 'stalled', peace.before)
    const watches = await allWatches(proxy)
    watches.stall()
    await goTo(cp, 'stalled', 'after')
    watches.end()
    await untilState(cp, 'stalled', peace.after)
    rested.push('stalled')
    expect(noise('stalled')).toEqual([])
  })

  test('no watch could be opened until its version had expired', async () => {
    await prepare(cp, 'expired')
    await goTo(cp, 'expired', 'before')
    await untilState(cp, 'expired', peace.before)
    const watching = /[?&]watch=(?:1|true)/
    const injection = proxy.inject({ path: watching, count: Infinity, fault: { kind: 'drop' } })
    proxy.watches().drop()
    const asked = proxy.requests.length
    await goTo(cp, 'expired', 'after')
    await cp.expireVersions()
    injection.remove()
    await untilState(cp, 'expired', peace.after)
    rested.push('expired')
    // Watches alone could not have shown it: the bindings were listed anew.
    const since = proxy.requests.slice(asked).filter(({ isWatch }) => !isWatch)
    expect(since.some(({ path }) => /\/inferenceidentitybindings\?/.test(path))).toBe(true)
    expect(noise('expired')).toEqual([])
  })
})

/** Tries that fail, before a look at what the status says. */
const ENOUGH = 6

// Edits of the binding that `settle` leaves: each calls for another sort of request.

function newPool(space: string): Promise<void> {
  return cp.apply([pool(space, 'llama', { app: 'other' })])
}

function noPool(space: string): Promise<void> {
  return cp.apply([binding(space, 'chat', { poolRef: { name: 'nowhere' } })])
}

function newBinding(space: string): Promise<void> {
  return cp.apply([binding(space, 'next', { objectiveRef: { name: 'chat' }, containerName: 'next' })])
}

describe('as long as', () => {
  test.each([
    {
      name: 'creates fail',
      method: 'POST',
      path: /\/clusterspiffeids/,
      status: 500,
      edit: newBinding,
      about: 'next',
      message: /^cannot create ClusterSPIFFEID: failed$/,
    },
    {
      name: 'creates are forbidden, with no admission behind it',
      method: 'POST',
      path: /\/clusterspiffeids/,
      status: 403,
      edit: newBinding,
      about: 'next',
      message: /^cannot create ClusterSPIFFEID: forbidden$/,
    },
    {
      name: 'finalizers cannot be set',
      method: 'PATCH',
      path: /\/inferenceidentitybindings\//,
      status: 503,
      edit: newBinding,
      about: 'next',
      message: /^cannot patch InferenceIdentityBinding: failed$/,
    },
    {
      name: 'updates fail',
      method: 'PUT',
      path: /\/clusterspiffeids\//,
      status: 500,
      edit: newPool,
      about: 'chat',
      message: /^cannot update ClusterSPIFFEID: failed$/,
    },
    {
      name: 'deletes fail',
      method: 'DELETE',
      path: /\/clusterspiffeids\//,
      status: 504,
      edit: noPool,
      about: 'chat',
      message: /^cannot delete ClusterSPIFFEID kleym-[-a-z0-9]+: timed out$/,
    },
    {
      name: 'live reads of pools fail',
      method: 'GET',
      path: /\/inferencepools\/nowhere/,
      status: 500,
      edit: noPool,
      about: 'chat',
      message: /^cannot get InferencePool\.inference\.networking\.k8s\.io: failed$/,
    },
  ])('$name, the status says so once, whatever is tried again', async (row) => {
    const space = row.name.replaceAll(/[^a-z]+/g, '-')
    await settle(cp, space)
    const { method, path, status, about } = row
    const before = proxy.requests.length
    const injection = proxy.inject({
      method,
      path,
      when: (request) => isAbout(request, space),
      count: Infinity,
      fault: { kind: 'answer', status },
    })
    await row.edit(space)
    await injection.hit(ENOUGH)
    await untilReason(cp, space, about, 'Undetermined', row.message)
    const told = proxy.requests
      .slice(before)
      .filter((request) => request.path.includes(`/${space}/`) && request.path.includes('/status?'))
    expect(told).toHaveLength(1)
    // Not knowing withdraws nothing, and what a deletion left is still there.
    expect(await outputsOf(cp, space, 'chat')).toHaveLength(1)
    injection.remove()
    await untilReason(cp, space, about, row.edit === noPool ? 'TargetPoolNotFound' : 'Reconciled')
  })
})

test('429 with Retry-After: the write is not tried again sooner', async () => {
  await settle(cp, 'throttled')
  const asked: number[] = []
  const injection = proxy.inject({
    method: 'POST',
    path: /\/clusterspiffeids/,
    when: (request) => isAbout(request, 'throttled') && asked.push(performance.now()) > 0,
    fault: { kind: 'answer', status: 429, retryAfterSeconds: 2 },
  })
  await cp.apply([binding('throttled', 'next', { objectiveRef: { name: 'chat' }, containerName: 'next' })])
  await untilReason(cp, 'throttled', 'next', 'Reconciled')
  injection.remove()
  // What it said for two seconds, by what it has written: a look at one moment could come too late.
  const told = proxy.requests
    .filter(({ path }) => path.includes('/throttled/inferenceidentitybindings/next/status?'))
    .map(({ body }) => stringAt(conditionOf(body, 'Ready'), 'message'))
  expect(told).toContain('cannot create ClusterSPIFFEID: throttled')
  const [first = 0, second = 0] = asked
  expect(asked).toHaveLength(2)
  expect(second - first).toBeGreaterThanOrEqual(2000)
})

test('503 with a Retry-After of an hour keeps the identity of a deleted binding for half a minute, no longer', async () => {
  await settle(cp, 'put-off')
  const injection = proxy.inject({
    method: 'DELETE',
    path: /\/clusterspiffeids/,
    when: (request) => isAbout(request, 'put-off'),
    fault: { kind: 'answer', status: 503, retryAfterSeconds: 3600 },
  })
  await cp.admin.delete(bindingId('put-off', 'chat'))
  await injection.hit()
  const from = performance.now()
  await until(async () => (await outputsOf(cp, 'put-off', 'chat')).length === 0, 'the identity to go', 45_000)
  expect(performance.now() - from).toBeGreaterThan(25_000)
})

test('503 with a Retry-After of an hour holds up a retry, and no edit', async () => {
  await settle(cp, 'newer')
  const injection = proxy.inject({
    method: 'PUT',
    path: /\/clusterspiffeids/,
    when: (request) => isAbout(request, 'newer'),
    fault: { kind: 'answer', status: 503, retryAfterSeconds: 3600 },
  })
  await cp.apply([binding('newer', 'chat', { containerName: 'proxy' })])
  await injection.hit()
  await untilReason(cp, 'newer', 'chat', 'Undetermined')
  const from = performance.now()
  await cp.admin.delete(bindingId('newer', 'chat'))
  await until(async () => (await outputsOf(cp, 'newer', 'chat')).length === 0, 'the identity to go')
  expect(performance.now() - from).toBeLessThan(15_000)
})

describe('two bindings swap their containers while a POST of one is in flight', () => {
  test.each([
    { name: 'that arrives late', fault: { kind: 'hold' }, end: 'forward' },
    { name: 'that never arrives', fault: { kind: 'hold' }, end: 'drop' },
    { name: 'whose answer is late', fault: { kind: 'hold answer' }, end: 'forward' },
    { name: 'whose answer is lost', fault: { kind: 'hold answer' }, end: 'drop' },
  ] as const)(
    '$name: the other waits for it, and both come to their containers',
    async ({ name, fault, end }) => {
      const space = `flight-${name.replaceAll(/[^a-z]+/g, '-')}`
      const ours = (each: string, containerName: string): JsonRecord =>
        binding(space, each, { containerName, objectiveRef: { name: 'chat' } })
      await cp.apply([...estate(space), objective(space, 'chat', 'llama'), ours('settled', 'one')])
      await untilReason(cp, space, 'settled', 'Reconciled')
      const injection = proxy.inject({
        method: 'POST',
        path: /\/clusterspiffeids/,
        when: (request) => isAbout(request, `${space}/flying`),
        fault,
      })
      await cp.apply([ours('flying', 'two')])
      await until(() => injection.hits[0]?.outcome === 'held', 'the POST to be held')
      // In this order: the other way around both claim 'two' for a moment, and the one at rest says so as long as the
      // other's write is in flight.
      await cp.apply([ours('flying', 'one')])
      await cp.apply([ours('settled', 'two')])
      await untilReason(cp, space, 'settled', 'WaitingForPeer')
      expect(await outputsOf(cp, space, 'settled')).toEqual([])
      injection.release(end)
      for (const [each, container] of [
        ['settled', 'two'],
        ['flying', 'one'],
      ] as const) {
        await untilReason(cp, space, each, 'Reconciled')
        const own = await outputsOf(cp, space, each)
        expect(own.map((output) => dig(output, 'spec', 'workloadSelectorTemplates'))).toEqual([
          expect.arrayContaining([`k8s:container-name:${container}`]),
        ])
      }
    },
  )
})

test('after all of that everything is still at rest, nothing foreign was touched, and never were there two', async () => {
  expect(operator.program.ended()).toBeUndefined()
  for (const space of ['peace', ...rested]) await untilState(cp, space, peace.after)
  expect(await cp.admin.get(outputId('somebody-else'))).toEqual(foreign)
  expect((await judgeWrites(cp)).broken).toEqual([])
  await neverTwo.holds()
})
