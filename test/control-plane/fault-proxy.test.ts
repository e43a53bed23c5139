// The fault proxy: each fault does what it says, and nothing else.
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest'
import { request as httpsRequest } from 'node:https'
import { dig, type JsonRecord } from '../../shared/src/core/base/json.ts'
import { startControlPlane, type ControlPlane } from './control-plane.ts'
import { startFaultProxy, type FaultProxy } from './fault-proxy.ts'
import type { FaultRule } from './fault-rules.ts'
import { isWrite } from './observed-request.ts'
import { rest, type Rest } from './rest.ts'
import { until, within } from '@kleym/testing/wait.ts'

let cp: ControlPlane
let proxy: FaultProxy
let client: Rest
beforeAll(async () => {
  cp = await startControlPlane({ controllers: [], without: ['inferencepools.inference.networking.x-k8s.io'] })
})
afterAll(() => cp?.stop())

beforeEach(async () => {
  proxy = await startFaultProxy(cp)
  client = rest({ port: Number(new URL(proxy.server).port), ca: cp.ca, token: cp.tokenOf('admin') })
  // The client learns its paths before a rule can hit that.
  await client.list({ apiVersion: 'v1', kind: 'ConfigMap', namespace: 'default' })
  const [usedProxy, usedClient] = [proxy, client]
  onTestFinished(async () => {
    usedClient.hangUp()
    await usedProxy.stop()
  })
})

const id = (name: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', name, namespace: 'default' })
const map = (name: string): JsonRecord => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'default' },
  data: { value: '1' },
})
const exists = async (name: string): Promise<boolean> => (await cp.admin.get(id(name))) !== undefined
const CREATE: Omit<FaultRule, 'fault'> = { method: 'POST', path: /\/configmaps/ }

/** What a promise is rejected with; watched from the start, so that it is never unhandled. */
function errorOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => undefined,
    (error: unknown) => error,
  )
}

interface Watch {
  text: string
  ended: 'open' | 'ended' | 'broken'
}

/** Opens a watch on config maps through the proxy and resolves when it is open. */
function watch(): Promise<Watch> {
  const open = new Promise<Watch>((resolve, reject) => {
    const seen: Watch = { text: '', ended: 'open' }
    const request = httpsRequest(
      `${proxy.server}/api/v1/namespaces/default/configmaps?watch=true`,
      { ca: cp.ca, agent: false, headers: { authorization: `Bearer ${cp.tokenOf('admin')}` } },
      (response) => {
        response.on('data', (chunk: Buffer) => {
          seen.text += chunk.toString('utf8')
        })
        response.once('end', () => {
          seen.ended = 'ended'
        })
        response.once('error', () => {
          seen.ended = 'broken'
        })
        resolve(seen)
      },
    )
    request.once('error', reject)
    request.end()
  })
  return within(open, 'a watch through the proxy to open')
}

test('without a rule everything passes, is observed, and kubectl is content with its certificate', async () => {
  const kubectl = await cp.kubectl(['get', 'namespaces', '-o', 'name', '--kubeconfig', proxy.kubeconfig()])
  expect(kubectl).toMatchObject({ status: 0, stderr: '' })
  expect(kubectl.stdout).toContain('namespace/default')
  await client.create(map('passes'))
  expect(proxy.requests.filter(isWrite)).toMatchObject([
    {
      method: 'POST',
      path: '/api/v1/namespaces/default/configmaps',
      body: map('passes'),
      outcome: 'answered',
      status: 201,
    },
  ])
})

test.each([
  [409, 'Conflict', undefined],
  [410, 'Expired', undefined],
  [429, 'TooManyRequests', 3],
  [500, 'InternalError', undefined],
])('an injected %i is answered without the server', async (status, reason, retryAfterSeconds) => {
  const name = `answered-${status}`
  const fault = {
    kind: 'answer',
    status,
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
  } as const
  const injection = proxy.inject({ ...CREATE, fault })
  const answer = await client.request({
    method: 'POST',
    path: '/api/v1/namespaces/default/configmaps',
    body: map(name),
  })
  expect(answer).toMatchObject({ status, body: { kind: 'Status', status: 'Failure', reason, code: status } })
  expect(dig(answer.body, 'details', 'retryAfterSeconds')).toBe(retryAfterSeconds)
  expect(injection.hits).toHaveLength(1)
  expect(await exists(name)).toBe(false)
  await client.create(map(name))
})

test('a rule hits from its nth match, as often as it says', async () => {
  const injection = proxy.inject({ ...CREATE, nth: 2, count: 2, fault: { kind: 'answer', status: 500 } })
  const statuses: number[] = []
  for (const name of ['nth-1', 'nth-2', 'nth-3', 'nth-4']) {
    const path = '/api/v1/namespaces/default/configmaps'
    statuses.push((await client.request({ method: 'POST', path, body: map(name) })).status)
  }
  expect(statuses).toEqual([201, 500, 500, 201])
  expect(injection.hits).toHaveLength(2)
})

test('a rule can look at the request, and hits nothing more once it is removed', async () => {
  const injection = proxy.inject({
    when: ({ body }) => dig(body, 'metadata', 'name') === 'looked-at',
    count: Infinity,
    fault: { kind: 'drop' },
  })
  await client.create(map('not-looked-at'))
  await expect(client.create(map('looked-at'))).rejects.toMatchObject({ code: 'ECONNRESET' })
  injection.remove()
  await client.create(map('looked-at'))
})

test('a dropped request never reaches the server', async () => {
  proxy.inject({ ...CREATE, fault: { kind: 'drop' } })
  await expect(client.create(map('dropped'))).rejects.toMatchObject({ code: 'ECONNRESET' })
  expect(await exists('dropped')).toBe(false)
})

test('a dropped answer belongs to a write that was carried out', async () => {
  proxy.inject({ ...CREATE, fault: { kind: 'drop answer' } })
  await expect(client.create(map('answer-dropped'))).rejects.toMatchObject({ code: 'ECONNRESET' })
  expect(await exists('answer-dropped')).toBe(true)
  expect(proxy.requests.find(isWrite)).toMatchObject({ outcome: 'dropped', status: 201 })
})

test('a held request reaches the server when it is released', async () => {
  const injection = proxy.inject({ ...CREATE, fault: { kind: 'hold' } })
  const created = client.create(map('held'))
  await injection.hit()
  expect(await exists('held')).toBe(false)
  injection.release()
  await created
  expect(await exists('held')).toBe(true)
})

test('a held request is carried out although its client is gone', async () => {
  const injection = proxy.inject({ ...CREATE, fault: { kind: 'hold' } })
  const created = errorOf(client.create(map('late')))
  await injection.hit()
  proxy.dropConnections()
  expect(await created).toMatchObject({ code: 'ECONNRESET' })
  injection.release()
  await until(() => exists('late'), 'the late write')
})

test('a held request can be dropped in the end', async () => {
  const injection = proxy.inject({ ...CREATE, fault: { kind: 'hold' } })
  const created = errorOf(client.create(map('held-dropped')))
  await injection.hit()
  injection.release('drop')
  expect(await created).toMatchObject({ code: 'ECONNRESET' })
  expect(await exists('held-dropped')).toBe(false)
})

test('a held answer comes after the write was carried out', async () => {
  const injection = proxy.inject({ ...CREATE, fault: { kind: 'hold answer' } })
  const created = client.create(map('answer-held'))
  await injection.hit()
  expect(await exists('answer-held')).toBe(true)
  expect(proxy.requests.find(isWrite)).toMatchObject({ outcome: 'held' })
  injection.release()
  await created
  expect(proxy.requests.find(isWrite)).toMatchObject({ outcome: 'answered', status: 201 })
})

test('a stalled watch is silent with its connection open, and misses nothing when it goes on', async () => {
  const seen = await watch()
  await cp.apply([map('flowing')])
  await until(() => seen.text.includes('"flowing"'), 'the event before the stall')
  proxy.watches(/configmaps/).stall()
  await cp.apply([map('stalled')])
  const other = await watch()
  await until(() => other.text.includes('"stalled"'), 'the event on a later watch')
  expect(seen.text).not.toContain('"stalled"')
  expect(seen.ended).toBe('open')
  proxy.watches().resume()
  await until(() => seen.text.includes('"stalled"'), 'the event after the stall')
})

test.each([
  ['end', 'ended'],
  ['drop', 'broken'],
] as const)('%s: a watch is %s', async (act, ended) => {
  const seen = await watch()
  expect(proxy.watches().count).toBe(1)
  proxy.watches()[act]()
  await until(() => seen.ended !== 'open', 'the end of the watch')
  expect(seen.ended).toBe(ended)
  await until(() => proxy.watches().count === 0, 'the proxy to forget it')
})

test('a server that dies takes the watches of the proxy with it', async () => {
  const seen = await watch()
  await cp.killApiServer()
  await until(() => seen.ended === 'broken', 'the watch to break')
  await expect(client.create(map('proxy-stopped'))).rejects.toMatchObject({ code: 'ECONNRESET' })
  await cp.restartApiServer()
  await client.create(map('proxy-started'))
})
