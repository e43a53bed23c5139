// What each call sends, what its answer means, and what is tried again.
import { describe, expect, test } from 'vitest'
import { drop, failure, json, stall, stream, text, type Behaviour } from '@kleym/testing/faults/behaviour.ts'
import { certificate } from '@kleym/testing/faults/certificates.ts'
import { faultServer, type FaultServer } from '@kleym/testing/faults/server.ts'
import type { Api } from '../../src/kube/api.ts'
import type { Cluster, Credentials } from '../../src/kube/cluster.ts'
import { ApiError, ConnectionError } from '../../src/kube/errors.ts'
import type { RequestReport } from '../../src/kube/exchange.ts'
import {
  clientAt,
  clientOf,
  clusterAt,
  rejection,
  TEAM_PATH,
  THINGS,
  THINGS_PATH,
} from '@kleym/testing/clusters.ts'
import { FakeClock } from '@kleym/testing/fake-clock.ts'

const THING = { metadata: { namespace: 'team-a', name: 'one', resourceVersion: '7' } }
const ONE = { namespace: 'team-a', name: 'one' }
const EMPTY = { kind: 'ThingList', items: [], metadata: { resourceVersion: '5' } }

describe('what a call sends', () => {
  interface Sent {
    readonly does: string
    readonly call: (api: Api) => Promise<unknown>
    readonly request: string
    readonly type?: string
    readonly body?: unknown
  }
  const sent: readonly Sent[] = [
    { does: 'get', call: (api) => api.get(THINGS, ONE), request: `GET ${TEAM_PATH}/one` },
    {
      does: 'create',
      call: (api) => api.create(THINGS, THING, { fieldManager: 'kleym', dryRun: true }),
      request: `POST ${TEAM_PATH}?fieldManager=kleym&dryRun=All`,
      type: 'application/json',
      body: THING,
    },
    {
      does: 'update',
      call: (api) => api.update(THINGS, THING, { fieldManager: 'kleym' }),
      request: `PUT ${TEAM_PATH}/one?fieldManager=kleym`,
      type: 'application/json',
      body: THING,
    },
    {
      does: 'update of the status',
      call: (api) => api.update(THINGS, THING, { subresource: 'status' }),
      request: `PUT ${TEAM_PATH}/one/status`,
      type: 'application/json',
      body: THING,
    },
    {
      does: 'merge patch',
      call: (api) => api.patch(THINGS, ONE, { a: 'ü' }, { kind: 'merge' }),
      request: `PATCH ${TEAM_PATH}/one`,
      type: 'application/merge-patch+json',
      body: { a: 'ü' },
    },
    {
      does: 'JSON patch of the status',
      call: (api) => api.patch(THINGS, ONE, [{ op: 'test' }], { kind: 'json', subresource: 'status' }),
      request: `PATCH ${TEAM_PATH}/one/status`,
      type: 'application/json-patch+json',
      body: [{ op: 'test' }],
    },
    {
      does: 'delete with preconditions',
      call: (api) => api.delete(THINGS, ONE, { uid: 'u', resourceVersion: '9' }),
      request: `DELETE ${TEAM_PATH}/one`,
      type: 'application/json',
      body: {
        apiVersion: 'v1',
        kind: 'DeleteOptions',
        preconditions: { uid: 'u', resourceVersion: '9' },
      },
    },
  ]

  test.each(sent)('$does', async ({ call, request, type, body }) => {
    await using server = await faultServer(() => json({ kind: 'Thing', metadata: {} }))
    await call(clientAt(server.url))
    const [seen] = server.seen
    expect(`${seen?.method} ${seen?.path}`).toBe(request)
    expect(seen?.headers).toMatchObject({ 'user-agent': 'kleym-test', accept: 'application/json' })
    expect(seen?.headers['content-type']).toBe(type)
    expect(seen?.body).toBe(body === undefined ? '' : JSON.stringify(body))
    expect(seen?.headers['transfer-encoding']).toBeUndefined()
  })

  test('a list has its selectors and page size', async () => {
    await using server = await faultServer(() => json(EMPTY))
    await clientAt(server.url).list(THINGS, { labelSelector: 'a=b', fieldSelector: 'c=d', limit: 2 })
    expect(server.seen.map(({ path }) => path)).toEqual([
      `${THINGS_PATH}?labelSelector=a%3Db&fieldSelector=c%3Dd&limit=2`,
    ])
  })

  test('the path of the server is kept in front', async () => {
    await using server = await faultServer(() => json(EMPTY))
    await clientAt(new URL('/k8s/clusters/c-1/', server.url)).list(THINGS)
    expect(server.seen[0]?.path).toBe(`/k8s/clusters/c-1${THINGS_PATH}?limit=500`)
  })

  test.each(['', '.', '..', 'a/b', '%2e%2e', '\uD800'])(
    'an object called %j is refused before anything is sent',
    async (name) => {
      await using server = await faultServer(() => json({}))
      const api = clientAt(server.url)
      const work = [
        api.get(THINGS, { namespace: 'team-a', name }),
        api.update(THINGS, { metadata: { namespace: 'team-a', name } }),
        api.delete(THINGS, { namespace: name, name: 'one' }),
      ]
      for (const error of await Promise.all(work.map(rejection)))
        expect(error).toMatchObject({ name: 'ConnectionError', failure: 'malformed', neverSent: true })
      expect(server.seen).toEqual([])
    },
  )

  test.each(['/apis/a b', '/apis/v1\r\nhost: elsewhere', '/apis/\u00fc'])(
    'a path that is not encoded (%j) is refused before anything is sent',
    async (path) => {
      await using server = await faultServer(() => json({}))
      const error = await rejection(clientAt(server.url).raw('GET', path))
      expect(error).toMatchObject({ name: 'ConnectionError', failure: 'malformed', neverSent: true })
      expect(server.seen).toEqual([])
    },
  )

  test.each([{}, { ok: true }, { items: [] }, { kind: 'Status', status: 'Failure' }])(
    'an answer of 200 that no API server gives (%j) is none, whatever was asked',
    async (answer) => {
      await using server = await faultServer(() => json(answer))
      const api = clientAt(server.url)
      const work = [
        api.get(THINGS, ONE),
        api.create(THINGS, THING),
        api.update(THINGS, THING),
        api.patch(THINGS, ONE, {}, { kind: 'merge' }),
        api.delete(THINGS, ONE),
      ]
      for (const error of await Promise.all(work.map(rejection)))
        expect(error).toMatchObject({ name: 'ConnectionError', failure: 'malformed', neverSent: false })
    },
  )

  test('an object of a namespaced kind without a namespace is refused', async () => {
    await using server = await faultServer(() => json({}))
    const error = await rejection(clientAt(server.url).create(THINGS, { metadata: { name: 'one' } }))
    expect(error).toMatchObject({ failure: 'malformed', neverSent: true })
  })
})

describe('what the answer to a DELETE means', () => {
  const held = { deletionTimestamp: 'now', deletionGracePeriodSeconds: 0, finalizers: ['x/y'] }
  test.each([
    { answer: { kind: 'Status', status: 'Success' }, means: 'gone' },
    { answer: { kind: 'Thing', metadata: held }, means: 'terminating' },
    { answer: { kind: 'Thing', metadata: { ...held, finalizers: [] } }, means: 'gone' },
    { answer: { kind: 'Thing', metadata: { finalizers: ['x/y'] } }, means: 'gone' },
    {
      answer: { kind: 'Pod', metadata: { deletionTimestamp: 'now', deletionGracePeriodSeconds: 30 } },
      means: 'terminating',
    },
    {
      answer: {
        kind: 'Namespace',
        metadata: { deletionTimestamp: 'now' },
        spec: { finalizers: ['kubernetes'] },
      },
      means: 'terminating',
    },
  ])('$answer is $means', async ({ answer, means }) => {
    await using server = await faultServer(() => json(answer))
    expect(await clientAt(server.url).delete(THINGS, ONE)).toMatchObject({ state: means })
  })
})

describe('a failure that the server tells of', () => {
  interface Told {
    readonly says: string
    readonly behaviour: Behaviour
    readonly error: Readonly<Record<string, unknown>>
  }
  const told: readonly Told[] = [
    {
      says: 'a conflict',
      behaviour: failure(409, 'Conflict', { details: { name: 'one' } }),
      error: {
        status: 409,
        reason: 'Conflict',
        message: 'a fault: Conflict',
        details: { name: 'one' },
        retryAfterMs: undefined,
      },
    },
    {
      says: 'Retry-After in seconds',
      behaviour: failure(429, 'TooManyRequests', { headers: { 'retry-after': '3' } }),
      error: { status: 429, reason: 'TooManyRequests', retryAfterMs: 3000 },
    },
    {
      says: 'Retry-After as a date',
      behaviour: failure(429, 'TooManyRequests', {
        headers: { 'retry-after': 'Thu, 01 Jan 2026 00:00:07 GMT' },
      }),
      error: { status: 429, retryAfterMs: 7000 },
    },
    {
      says: 'Retry-After as a date that has passed',
      behaviour: failure(503, 'ServiceUnavailable', {
        headers: { 'retry-after': 'Wed, 31 Dec 2025 23:00:00 GMT' },
      }),
      error: { status: 503, retryAfterMs: 0 },
    },
    {
      says: 'Retry-After as neither',
      behaviour: failure(503, 'ServiceUnavailable', { headers: { 'retry-after': 'soon' } }),
      error: { status: 503, retryAfterMs: undefined },
    },
    {
      says: 'retryAfterSeconds in the Status',
      behaviour: failure(504, 'ServerTimeout', { details: { retryAfterSeconds: 2 } }),
      error: { status: 504, reason: 'ServerTimeout', retryAfterMs: 2000 },
    },
    {
      says: 'a kind that is not served',
      behaviour: text('404 page not found\n', 404),
      error: { status: 404, reason: '', message: '404 page not found', details: undefined },
    },
    {
      says: 'nothing at all',
      behaviour: text('', 502),
      error: { status: 502, message: 'HTTP status 502 without a text' },
    },
    { says: 'a redirect, which is not followed', behaviour: text('elsewhere', 302), error: { status: 302 } },
  ]

  test.each(told)('$says', async ({ behaviour, error }) => {
    await using server = await faultServer(() => behaviour)
    const thrown = await rejection(clientAt(server.url, { clock: new FakeClock() }).get(THINGS, ONE))
    expect(thrown).toBeInstanceOf(ApiError)
    expect(thrown).toMatchObject(error)
    expect(server.seen).toHaveLength(1)
  })

  test.each([
    { says: 'text', behaviour: text('hello') },
    { says: 'a list', behaviour: json([]) },
    { says: 'half an object', behaviour: text('{"kind":') },
    { says: 'no HTTP', behaviour: { kind: 'garbage' } satisfies Behaviour },
  ])('a success that is $says is malformed', async ({ behaviour }) => {
    await using server = await faultServer(() => behaviour)
    const thrown = await rejection(clientAt(server.url).get(THINGS, ONE))
    expect(thrown).toBeInstanceOf(ConnectionError)
    expect(thrown).toMatchObject({ failure: 'malformed', neverSent: false })
  })
})

function page(name: string, next: string): Behaviour {
  return json({ items: [{ metadata: { name } }], metadata: { resourceVersion: '5', continue: next } })
}

function tokenOf(path: string): string | null {
  return new URL(path, 'http://server').searchParams.get('continue')
}

describe('pages', () => {
  test('all are read, and the list is of the state of the first', async () => {
    await using server = await faultServer(({ path }) =>
      tokenOf(path) === null
        ? page('a', 'next')
        : json({ items: [{ metadata: { name: 'b' } }], metadata: { resourceVersion: '6' } }),
    )
    expect(await clientAt(server.url).list(THINGS)).toEqual({
      items: [{ metadata: { name: 'a' } }, { metadata: { name: 'b' } }],
      resourceVersion: '5',
    })
  })

  test('an expired token begins the list again, and at last asks for all at once', async () => {
    await using server = await faultServer(({ path }) => {
      if (!path.includes('limit')) return json(EMPTY)
      return tokenOf(path) === null ? page('a', 'old') : failure(410, 'Expired')
    })
    expect(await clientAt(server.url).list(THINGS)).toEqual({ items: [], resourceVersion: '5' })
    expect(server.seen.map(({ path }) => path.replace(THINGS_PATH, ''))).toEqual([
      '?limit=500',
      '?limit=500&continue=old',
      '?limit=500',
      '?limit=500&continue=old',
      '',
    ])
  })

  test('one by one, an expired token is the reader’s to judge', async () => {
    await using server = await faultServer(({ path }) =>
      tokenOf(path) === null ? page('a', 'old') : failure(410, 'Expired'),
    )
    const names: unknown[] = []
    const read = async (): Promise<void> => {
      for await (const { items } of clientAt(server.url).pages(THINGS)) names.push(...items)
    }
    expect(await rejection(read())).toMatchObject({ status: 410, reason: 'Expired' })
    expect(names).toEqual([{ metadata: { name: 'a' } }])
  })

  test.each([
    { says: 'the same token again', behaviour: page('a', 'same') },
    { says: 'no resourceVersion', behaviour: json({ items: [], metadata: {} }) },
    {
      says: 'items that are no objects',
      behaviour: json({ items: [1], metadata: { resourceVersion: '5' } }),
    },
  ])('a list with $says is malformed', async ({ behaviour }) => {
    await using server = await faultServer(() => behaviour)
    expect(await rejection(clientAt(server.url).list(THINGS))).toMatchObject({ failure: 'malformed' })
  })

  test('a list whose items are null is empty', async () => {
    await using server = await faultServer(() => json({ items: null, metadata: { resourceVersion: '5' } }))
    expect(await clientAt(server.url).list(THINGS)).toEqual({ items: [], resourceVersion: '5' })
  })
})

/** A server that refuses all tokens but `accepted`. */
function guarded(accepted: string): Promise<FaultServer> {
  return faultServer(({ headers }) =>
    headers.authorization === `Bearer ${accepted}` ? json(EMPTY) : failure(401, 'Unauthorized'),
  )
}

/** A cluster whose token is the next one after each refresh. */
function rotating(server: URL, tokens: readonly string[]): Cluster {
  let refreshes = 0
  return {
    ...clusterAt(server),
    credentials: async (refresh = false) => {
      if (refresh) refreshes += 1
      return { rejectUnauthorized: true, headers: { authorization: `Bearer ${tokens[refreshes]}` } }
    },
  }
}

describe('credentials', () => {
  test('a 401 is tried once more with fresh ones, also for a write', async () => {
    await using server = await guarded('new')
    const cluster = rotating(server.url, ['old', 'new'])
    expect(await clientOf(cluster).create(THINGS, THING)).toEqual(EMPTY)
    expect(server.seen.map(({ method }) => method)).toEqual(['POST', 'POST'])
  })

  test('a second 401 is an error', async () => {
    await using server = await guarded('none')
    const cluster = rotating(server.url, ['old', 'new', 'newer'])
    expect(await rejection(clientOf(cluster).get(THINGS, ONE))).toMatchObject({ status: 401 })
    expect(server.seen).toHaveLength(2)
  })

  test('those that another call has got meanwhile are used, without a refresh', async () => {
    await using server = await guarded('new')
    const tokens = ['old', 'new']
    const asked: boolean[] = []
    const cluster = {
      ...clusterAt(server.url),
      credentials: async (refresh = false) => {
        asked.push(refresh)
        return { rejectUnauthorized: true, headers: { authorization: `Bearer ${tokens.shift()}` } }
      },
    }
    expect(await clientOf(cluster).list(THINGS)).toMatchObject({ items: [] })
    expect(asked).toEqual([false, false])
  })

  test('none to be had is reported as such, and nothing is sent', async () => {
    await using server = await guarded('new')
    const cluster = {
      ...clusterAt(server.url),
      credentials: async () => Promise.reject(new Error('the plugin failed')),
    }
    const thrown = await rejection(clientOf(cluster).get(THINGS, ONE))
    expect(thrown).toMatchObject({ failure: 'no credentials', neverSent: true })
    expect(String(thrown)).toContain('the plugin failed')
    expect(server.seen).toEqual([])
  })
})

describe('connections', () => {
  test('200 lists, one after another, take one', async () => {
    await using server = await faultServer(() => json(EMPTY), { certificate: 'server' })
    const api = clientOf(clusterAt(server.url, { rejectUnauthorized: false }))
    for (let i = 0; i < 200; i += 1) await api.list(THINGS)
    expect(server.seen).toHaveLength(200)
    expect(server.connections()).toBe(1)
    api.close()
  })

  test('a new client certificate takes a new one, and the old one is closed; a new token does not', async () => {
    await using server = await faultServer(() => json(EMPTY), { certificate: 'server' })
    let credentials: Partial<Credentials> = { headers: { authorization: 'Bearer one' } }
    const api = clientOf({
      ...clusterAt(server.url),
      credentials: async () => ({ headers: {}, ...credentials, rejectUnauthorized: false }),
    })
    await api.list(THINGS)
    credentials = { headers: { authorization: 'Bearer two' } }
    await api.list(THINGS)
    expect(server.connections()).toBe(1)
    credentials = { cert: certificate('client.crt'), key: certificate('client.key') }
    await api.list(THINGS)
    expect(server.connections()).toBe(2)
    await expect.poll(() => server.open(), { message: 'the old connection to close' }).toBe(1)
    api.close()
  })

  const ca = certificate('ca.crt')
  test.each<{ says: string; before: Partial<Credentials>; after: Partial<Credentials> }>([
    { says: 'another CA', before: { ca }, after: { ca: certificate('other-ca.crt') } },
    { says: 'another server name', before: { ca }, after: { ca, servername: 'elsewhere.invalid' } },
    { says: 'verification', before: { rejectUnauthorized: false }, after: {} },
  ])('one that was made before is not used for $says, by the same client or another', async (change) => {
    await using server = await faultServer(() => json(EMPTY), { certificate: 'server' })
    let credentials = change.before
    const api = clientOf({
      ...clusterAt(server.url),
      credentials: async () => clusterAt(server.url, credentials).credentials(),
    })
    await api.list(THINGS)
    const another = clientOf(clusterAt(server.url, change.after))
    expect(await rejection(another.list(THINGS))).toMatchObject({ failure: 'tls', neverSent: true })
    await api.list(THINGS)
    credentials = change.after
    expect(await rejection(api.list(THINGS))).toMatchObject({ failure: 'tls', neverSent: true })
    expect(server.seen).toHaveLength(2)
    api.close()
  })

  test('calls at a time take no more than were allowed, and watches do not take theirs', async () => {
    await using server = await faultServer(({ path }) =>
      path.includes('watch=true') ? stream([], 'stall') : json(EMPTY),
    )
    const api = clientAt(server.url, { maxSockets: 2 })
    const ending = new AbortController()
    const watches = Array.from({ length: 5 }, () => openWatch(api, ending.signal))
    await Promise.all(watches.map(({ opened }) => opened))
    await Promise.all(Array.from({ length: 20 }, () => api.list(THINGS)))
    expect(server.connections()).toBe(7)
    ending.abort()
    await Promise.all(watches.map(({ over }) => over))
  })

  test('a read whose kept-alive connection is dead goes out again on a new one', async () => {
    await using server = await faultServer(({ nth }) => (nth === 1 ? json(EMPTY) : drop))
    const reports: RequestReport[] = []
    const api = clientAt(server.url, { onRequest: (report) => reports.push(report) })
    await api.list(THINGS)
    await api.list(THINGS)
    expect(server.seen.map(({ connection, nth }) => [connection, nth])).toEqual([
      [1, 1],
      [1, 2],
      [2, 1],
    ])
    expect(reports.map(({ status }) => status)).toEqual([200, undefined, 200])
  })

  test('a write whose kept-alive connection is dead is not sent again: it may have been carried out', async () => {
    await using server = await faultServer(({ nth }) => (nth === 1 ? json(EMPTY) : drop))
    const api = clientAt(server.url)
    await api.list(THINGS)
    const thrown = await rejection(api.create(THINGS, THING))
    expect(thrown).toMatchObject({ name: 'ConnectionError', failure: 'reset', neverSent: false })
    expect(server.seen).toHaveLength(2)
  })

  test('a read that is cut on a new connection is not sent again', async () => {
    await using server = await faultServer(() => drop)
    const thrown = await rejection(clientAt(server.url).get(THINGS, ONE))
    expect(thrown).toMatchObject({ failure: 'reset', neverSent: false })
    expect(server.seen).toHaveLength(1)
  })

  test('a body that is cut is a reset', async () => {
    await using server = await faultServer(() => stream(['{"items":'], 'drop'))
    expect(await rejection(clientAt(server.url).list(THINGS))).toMatchObject({ failure: 'reset' })
  })

  test('a server that is not there was never reached', async () => {
    let url: URL
    {
      await using server = await faultServer(() => drop)
      url = server.url
    }
    const thrown = await rejection(clientAt(url).create(THINGS, THING))
    expect(thrown).toMatchObject({ failure: 'refused', neverSent: true })
    expect(String(thrown)).toContain(`POST ${url.origin}${TEAM_PATH}: nothing answers there`)
  })

  test('a name that does not resolve was never reached', async () => {
    const thrown = await rejection(clientAt(new URL('http://nowhere.invalid')).get(THINGS, ONE))
    expect(thrown).toMatchObject({ failure: 'unresolved', neverSent: true })
  })
})

describe('the end of a call', () => {
  test.each([
    { says: 'no answer', behaviour: stall },
    { says: 'half a body', behaviour: stream(['{"items":'], 'stall') },
  ])('$says in time is timed out, and the connection is closed', async ({ behaviour }) => {
    const clock = new FakeClock()
    await using server = await faultServer(() => behaviour)
    const work = rejection(clientAt(server.url, { clock, timeoutMs: 1000 }).get(THINGS, ONE))
    await expect.poll(() => server.seen.length, { message: 'the request to arrive' }).toBe(1)
    clock.advance(1000)
    expect(await work).toMatchObject({ failure: 'timed out', neverSent: false })
    await expect.poll(() => server.open(), { message: 'the connection to close' }).toBe(0)
    expect(clock.timers).toBe(0)
  })

  test('a call that waits for a connection times out as well, and was never sent', async () => {
    const clock = new FakeClock()
    await using server = await faultServer(() => stall)
    const api = clientAt(server.url, { clock, timeoutMs: 1000, maxSockets: 1 })
    const first = rejection(api.get(THINGS, ONE))
    await expect.poll(() => server.seen.length, { message: 'the first request to arrive' }).toBe(1)
    const second = rejection(api.create(THINGS, THING))
    await expect.poll(() => clock.timers, { message: 'the second call to begin' }).toBe(2)
    clock.advance(1000)
    expect(await first).toMatchObject({ failure: 'timed out', neverSent: false })
    expect(await second).toMatchObject({ failure: 'timed out', neverSent: true })
  })

  test('a signal ends it', async () => {
    await using server = await faultServer(() => stall)
    const ending = new AbortController()
    const work = rejection(clientAt(server.url).get(THINGS, ONE, { signal: ending.signal }))
    await expect.poll(() => server.seen.length, { message: 'the request to arrive' }).toBe(1)
    ending.abort()
    expect(await work).toMatchObject({ failure: 'aborted', neverSent: false })
  })

  test('a signal ends a call at once that still waits for a connection', async () => {
    await using server = await faultServer(() => stall)
    const api = clientAt(server.url, { maxSockets: 1 })
    const first = rejection(api.get(THINGS, ONE))
    await expect.poll(() => server.seen.length, { message: 'the first request to arrive' }).toBe(1)
    const ending = new AbortController()
    const second = rejection(api.create(THINGS, THING, { signal: ending.signal }))
    ending.abort()
    expect(await second).toMatchObject({ failure: 'aborted', neverSent: true })
    api.close()
    expect(await first).toMatchObject({ failure: 'aborted', neverSent: false })
  })

  test('a signal that is tripped already lets nothing out', async () => {
    await using server = await faultServer(() => json({}))
    const thrown = await rejection(clientAt(server.url).get(THINGS, ONE, { signal: AbortSignal.abort() }))
    expect(thrown).toMatchObject({ failure: 'aborted', neverSent: true })
    expect(server.seen).toEqual([])
  })

  test('closing the client ends all calls and refuses later ones', async () => {
    await using server = await faultServer(() => stall)
    const api = clientAt(server.url)
    const work = rejection(api.get(THINGS, ONE))
    await expect.poll(() => server.seen.length, { message: 'the request to arrive' }).toBe(1)
    api.close()
    expect(await work).toMatchObject({ failure: 'aborted' })
    expect(await rejection(api.get(THINGS, ONE))).toMatchObject({ failure: 'aborted', neverSent: true })
    await expect.poll(() => server.open(), { message: 'the connections to close' }).toBe(0)
  })
})

/** A watch that is read until it ends. */
function openWatch(
  api: Api,
  signal: AbortSignal,
): { readonly opened: Promise<void>; readonly over: Promise<void> } {
  const { promise: opened, resolve } = Promise.withResolvers<void>()
  const read = async (): Promise<void> => {
    const watch = api.watch(THINGS, { resourceVersion: '1', timeoutSeconds: 60, signal, onOpen: resolve })
    for await (const _ of watch) expect.unreachable()
  }
  return { opened, over: read().catch(() => undefined) }
}
