// Absent is not unknown.
import { describe, expect, test } from 'vitest'
import { drop, failure, json, text, type Behaviour } from '@kleym/testing/faults/behaviour.ts'
import { faultServer } from '@kleym/testing/faults/server.ts'
import { discover, inServedVersion, isGroupServed, isStale, servedGroups } from '../../src/kube/discovery.ts'
import { ApiError, ConnectionError } from '../../src/kube/errors.ts'
import { ignoranceOf, isNotFound, mayBeKindAbsent } from '../../src/kube/failures.ts'
import { PODS, resourceName, resourcePath } from '../../src/kube/resources.ts'
import { clientAt, THINGS } from '@kleym/testing/clusters.ts'

const OTHERS = { ...THINGS, plural: 'others', kind: 'Other' }
const served = json({
  resources: [
    { name: 'things', kind: 'Thing' },
    { name: 'things/status', kind: 'Thing' },
  ],
})
const groups = (...names: readonly string[]): Behaviour =>
  json({ groups: names.map((name) => ({ name, versions: [{ version: 'v1' }] })) })
const inVersions = (...versions: readonly string[]): Behaviour =>
  json({ groups: [{ name: 'test.example.com', versions: versions.map((version) => ({ version })) }] })
const notFound = text('404 page not found\n', 404)
const unknown = (cause: string): object => ({
  state: 'unknown',
  why: { verb: 'discover', what: 'Thing.test.example.com', cause },
})

describe('a kind is', () => {
  interface Case {
    readonly when: string
    readonly version: Behaviour
    readonly apis?: Behaviour
    /** What the other versions of the group answer. */
    readonly others?: Behaviour
    readonly is: object
  }
  const listsOthers = json({ resources: [{ name: 'others', kind: 'Other' }] })
  const cases: readonly Case[] = [
    { when: 'its group version lists it', version: served, is: { state: 'served' } },
    {
      when: 'its group version lists others',
      version: listsOthers,
      apis: groups('test.example.com'),
      is: { state: 'absent' },
    },
    {
      when: 'no version of its group lists it',
      version: listsOthers,
      apis: inVersions('v1', 'v2'),
      others: listsOthers,
      is: { state: 'absent' },
    },
    {
      when: 'another version of its group lists it',
      version: listsOthers,
      apis: inVersions('v1', 'v2'),
      others: served,
      is: unknown('served in another version'),
    },
    {
      when: 'its version is not served any more, and another one lists it',
      version: notFound,
      apis: inVersions('v2'),
      others: served,
      is: unknown('served in another version'),
    },
    {
      when: 'another version of its group cannot be read',
      version: listsOthers,
      apis: inVersions('v1', 'v2'),
      others: failure(503, 'ServiceUnavailable'),
      is: unknown('failed'),
    },
    {
      when: 'another version of its group is listed and yet not found',
      version: notFound,
      apis: inVersions('v2'),
      others: notFound,
      is: unknown('failed'),
    },
    {
      when: 'its group version has a kind of another name in its place',
      version: json({ resources: [{ name: 'things', kind: 'Impostor' }] }),
      apis: groups('test.example.com'),
      is: { state: 'absent' },
    },
    { when: 'its group is listed nowhere', version: notFound, apis: groups('apps'), is: { state: 'absent' } },
    {
      when: 'its group is listed and yet not found',
      version: notFound,
      apis: groups('test.example.com'),
      is: unknown('failed'),
    },
    {
      when: 'the groups cannot be listed',
      version: notFound,
      apis: failure(503, 'ServiceUnavailable'),
      is: unknown('failed'),
    },
    {
      when: 'the groups may not be listed',
      version: notFound,
      apis: failure(403, 'Forbidden'),
      is: unknown('forbidden'),
    },
    { when: 'the list of groups is none', version: notFound, apis: json({}), is: unknown('malformed') },
    { when: 'discovery is forbidden', version: failure(403, 'Forbidden'), is: unknown('forbidden') },
    { when: 'its API fails', version: failure(503, 'ServiceUnavailable'), is: unknown('failed') },
    { when: 'the server is overloaded', version: failure(429, 'TooManyRequests'), is: unknown('throttled') },
    { when: 'the connection breaks', version: drop, is: unknown('unreachable') },
    { when: 'the answer cannot be read', version: text('<html>'), is: unknown('malformed') },
    { when: 'the answer is no list', version: json({}), is: unknown('malformed') },
  ]
  test.each(cases)('$is.state when $when', async ({ version, apis = drop, others = drop, is }) => {
    await using server = await faultServer(({ path }) =>
      path === '/apis' ? apis : path === '/apis/test.example.com/v1' ? version : others,
    )
    expect(await discover(clientAt(server.url), [THINGS])).toEqual([is])
  })

  test('asked for once per group version', async () => {
    await using server = await faultServer(({ path }) => {
      if (path === '/apis') return groups('test.example.com')
      return path === '/api/v1' ? json({ resources: [] }) : served
    })
    const answers = await discover(clientAt(server.url), [THINGS, OTHERS, PODS])
    expect(answers.map(({ state }) => state)).toEqual(['served', 'absent', 'absent'])
    expect(server.seen.map(({ path }) => path).toSorted()).toEqual([
      '/api/v1',
      '/apis',
      '/apis/test.example.com/v1',
    ])
  })
})

describe('the groups of a server', () => {
  const aggregated = json({
    kind: 'APIGroupDiscoveryList',
    apiVersion: 'apidiscovery.k8s.io/v2',
    items: [
      {
        metadata: { name: 'test.example.com' },
        versions: [
          {
            version: 'v1',
            freshness: 'Current',
            resources: [{ resource: 'things', responseKind: { kind: 'Thing' } }, { resource: 'broken' }, 5],
          },
          { version: 'v2', freshness: 'Stale' },
          { version: 'v3' },
        ],
      },
      { metadata: { name: 'empty' } },
    ],
  })

  test('come with their kinds from a server that tells them, in one request', async () => {
    await using server = await faultServer(() => aggregated)
    const found = await servedGroups(clientAt(server.url))
    expect([...found.keys()]).toEqual(['test.example.com', 'empty'])
    expect(server.seen.map(({ path }) => path)).toEqual(['/apis'])
    expect(server.seen[0]?.headers.accept).toContain('as=APIGroupDiscoveryList')
    const at = (version: string): readonly boolean[] =>
      [THINGS, OTHERS].map((one) => isGroupServed(found, { ...one, version }))
    expect(at('v1')).toEqual([true, false])
    // What is stale, and what does not say that it is current, may hold anything.
    expect(at('v2')).toEqual([true, true])
    expect(at('v3')).toEqual([true, true])
    expect(at('v4')).toEqual([false, false])
    expect(isStale(found, THINGS)).toBe(false)
    expect(isStale(found, { ...THINGS, version: 'v2' })).toBe(true)
    expect(isGroupServed(found, { ...THINGS, kind: 'Impostor' })).toBe(false)
    expect(isGroupServed(found, PODS)).toBe(true)
  })

  test('come without their kinds from an older server', async () => {
    await using server = await faultServer(() => groups('test.example.com'))
    const found = await servedGroups(clientAt(server.url))
    expect(isGroupServed(found, OTHERS)).toBe(true)
    expect(isGroupServed(found, { ...OTHERS, version: 'v2' })).toBe(false)
    expect(isStale(found, OTHERS)).toBe(false)
  })

  test.each([
    json({}),
    json({ kind: 'APIGroupDiscoveryList' }),
    json({ kind: 'APIGroupDiscoveryList', items: {} }),
  ])('are not known where the answer is no list', async (answer) => {
    await using server = await faultServer(() => answer)
    await expect(servedGroups(clientAt(server.url))).rejects.toThrow('it lists no groups')
  })

  test.each<[string, string, string | undefined]>([
    ['in its own version', 'v1', 'v1'],
    ['in another one that lists it, where its own does not', 'v9', 'v1'],
    ['in one that may list it', 'v2', 'v2'],
  ])('serve a kind %s', async (_says, version, is) => {
    await using server = await faultServer(() => aggregated)
    const found = await servedGroups(clientAt(server.url))
    expect(inServedVersion(found, { ...THINGS, version })?.version).toBe(is)
    expect(inServedVersion(found, { ...THINGS, group: 'no.such' })).toBeUndefined()
  })
})

function api(status: number, details?: object): ApiError {
  return new ApiError({ status, reason: '', message: '', ...(details && { details }) })
}

function broken(how: ConnectionError['failure']): ConnectionError {
  return new ConnectionError(how, '', { neverSent: false })
}

describe('a failure in a word', () => {
  test.each([
    [api(401), 'forbidden'],
    [api(403), 'forbidden'],
    [api(404), 'absent'],
    [api(409), 'conflicting writes'],
    [api(422), 'refused'],
    [api(429), 'throttled'],
    [api(500), 'failed'],
    [api(504), 'timed out'],
    [broken('refused'), 'unreachable'],
    [broken('reset'), 'unreachable'],
    [broken('tls'), 'unreachable'],
    [broken('timed out'), 'timed out'],
    [broken('malformed'), 'malformed'],
    [new Error('a bug'), 'failed'],
  ])('%o is %s', (error, cause) => {
    expect(ignoranceOf(error, 'list', 'Thing')).toEqual({ verb: 'list', what: 'Thing', cause })
  })

  test.each([
    ['an unserved kind', api(404), true],
    ['a missing object', api(404, { name: 'one', kind: 'things' }), false],
    ['a Status about no object', api(404, {}), true],
    ['a conflict', api(409), false],
    ['a broken connection', broken('reset'), false],
  ])('%s: the kind may be absent %#', (_, error, absent) => {
    expect(mayBeKindAbsent(error)).toBe(absent)
  })
})

test.each<[string, unknown, boolean]>([
  ['a Status that names it', statusOf(404, 'NotFound', { name: 'one', kind: 'things' }), true],
  ['a Status that names another object', statusOf(404, 'NotFound', { name: 'two', kind: 'things' }), false],
  ['a Status about its namespace', statusOf(404, 'NotFound', { name: 'one', kind: 'namespaces' }), false],
  ['a Status of another reason', statusOf(404, '', { name: 'one', kind: 'things' }), false],
  ['a Status that names none', statusOf(404, 'NotFound'), false],
  ['a Status of another code', statusOf(410, 'NotFound', { name: 'one', kind: 'things' }), false],
  ['a text', new ApiError({ status: 404, isStatus: false, reason: '', message: 'not found' }), false],
  ['a broken connection', broken('reset'), false],
])('an object is absent if the API server says so: %s', (_, error, absent) => {
  expect(isNotFound(error, THINGS, 'one')).toBe(absent)
})

function statusOf(status: number, reason: string, details?: unknown): ApiError {
  return new ApiError({ status, reason, message: '', details })
}

test('paths and names of the core group have no group', () => {
  expect(resourceName(PODS)).toBe('Pod')
  expect(resourcePath(PODS, { namespace: 'a', name: 'b', subresource: 'status' })).toBe(
    '/api/v1/namespaces/a/pods/b/status',
  )
})
