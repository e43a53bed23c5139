// Lists from a cluster: what was read, what is certainly not there, and what is not known and why. None becomes another.
import { describe, expect, test } from 'vitest'
import type { JsonRecord } from '@kleym/shared/core/base/json.ts'
import { BINDINGS, LEASES, NODES, PODS, POOLS } from '@kleym/shared/kube/resources.ts'
import { BodyTooLarge } from '@kleym/shared/kube/transport.ts'
import { KEPT_MAX } from '../../src/cluster/kept-size.ts'
import { ClusterReader, type Reading } from '../../src/cluster/reader.ts'
import { INPUT_LIMITS } from '../../src/sources/budget.ts'
import { api, broken, FakeClient, notFound, type Answer, type Answers } from '../support/fake-client.ts'

const BINDING = 'InferenceIdentityBinding.kleym.sonda.red'
const item = (name: string, namespace = 'team-a'): JsonRecord => ({ metadata: { name, namespace } })
const namesOf = (reading: Reading): readonly unknown[] =>
  reading.state === 'absent' ? [] : reading.objects.map(({ value }) => Object(value['metadata']).name)

async function opened(answers: Answers): Promise<{ reader: ClusterReader; fake: FakeClient }> {
  const fake = new FakeClient(answers)
  const reader = new ClusterReader(fake.client, 'kind-dev')
  await reader.open()
  return { reader, fake }
}

const trim = ({ apiVersion, kind, metadata }: JsonRecord): JsonRecord => ({
  apiVersion,
  kind,
  metadata,
  trimmed: 1,
})

test('a kind is read in pages, and its objects are told what they are', async () => {
  const fake = new FakeClient({ lists: { [BINDING]: [[[item('a')], [], [item('b')]]] } })
  const counts: number[] = []
  const reader = new ClusterReader(fake.client, 'kind-dev', (_, count) => counts.push(count))
  await reader.open()
  const apiVersion = 'kleym.sonda.red/v1alpha1'
  const like = (name: string): object => ({
    value: { apiVersion, kind: 'InferenceIdentityBinding', ...item(name), trimmed: 1 },
  })
  expect(await reader.read({ resource: BINDINGS, trim })).toEqual({
    state: 'read',
    objects: [like('a'), like('b')],
  })
  expect(counts).toEqual([1, 0, 1])
})

test('the items of the core group are of a version alone, whatever they say themselves', async () => {
  const liar = { ...item('a'), apiVersion: 'evil/v1', kind: 'Node' }
  const { reader } = await opened({ lists: { Pod: [[[liar]]] } })
  const reading = await reader.read({ resource: PODS })
  expect(reading).toEqual({
    state: 'read',
    objects: [{ value: { ...item('a'), apiVersion: 'v1', kind: 'Pod' } }],
  })
})

test('no objects of a kind that is served are read as none', async () => {
  const { reader } = await opened({ lists: { [BINDING]: [[[]]] } })
  expect(await reader.read({ resource: BINDINGS })).toEqual({ state: 'read', objects: [] })
})

test('in no namespace there are no objects of a kind, which is there all the same', async () => {
  const { reader } = await opened({})
  expect(await reader.read({ resource: PODS, namespaces: [] })).toEqual({ state: 'read', objects: [] })
})

describe('where it is read', () => {
  test.each<[string, Parameters<ClusterReader['read']>[0], readonly string[]]>([
    ['all namespaces in one list', { resource: PODS }, ['list Pod']],
    ['namespace by namespace', { resource: PODS, namespaces: ['b', 'a'] }, ['list Pod b', 'list Pod a']],
    ['no namespace of none', { resource: PODS, namespaces: [] }, []],
    ['a cluster-scoped kind once', { resource: NODES, namespaces: ['a', 'b'] }, ['list Node']],
    ['by label', { resource: PODS, namespaces: ['a'], labelSelector: 'app=x' }, ['list Pod a app=x']],
  ])('%s', async (_says, want, calls) => {
    const { reader, fake } = await opened({})
    await reader.read(want)
    expect(fake.calls).toEqual(['GET /apis', ...calls])
  })
})

/** What a server with aggregated discovery says of the group of bindings. */
function aggregated(resource: string, freshness = 'Current'): Answers {
  const resources = [{ resource, responseKind: { kind: 'InferenceIdentityBinding' } }]
  return {
    discovery: {
      kind: 'APIGroupDiscoveryList',
      items: [
        { metadata: { name: 'kleym.sonda.red' }, versions: [{ version: 'v1alpha1', freshness, resources }] },
      ],
    },
  }
}

describe('a kind that is not there', () => {
  test('its group is not served, and no list is asked for', async () => {
    const { reader, fake } = await opened({ groups: {} })
    expect(await reader.read({ resource: BINDINGS })).toEqual({ state: 'absent' })
    expect(fake.calls).toEqual(['GET /apis'])
  })

  test.each<[string, Answers['kinds'], Reading]>([
    ['without it', {}, { state: 'absent' }],
    [
      'with it: it is there, and cannot be read, as for the operator',
      { '/apis/kleym.sonda.red/v2': [BINDINGS] },
      {
        state: 'unknown',
        objects: [],
        why: { verb: 'discover', what: BINDING, cause: 'served in another version' },
      },
    ],
  ])('its group is served in another version %s', async (_says, kinds = {}, expected) => {
    const { reader, fake } = await opened({ groups: { 'kleym.sonda.red': ['v2'] }, kinds })
    expect(await reader.read({ resource: BINDINGS })).toEqual(expected)
    expect(fake.calls.filter((one) => one.startsWith('list'))).toEqual([])
  })

  test('its group is served without it', async () => {
    const { reader } = await opened({ lists: { [BINDING]: [[api(404)]] } })
    expect(await reader.read({ resource: BINDINGS })).toEqual({ state: 'absent' })
    expect(await reader.read({ resource: BINDINGS, namespaces: ['a', 'b'] })).toEqual({ state: 'absent' })
  })

  test('is not known where the groups are not', async () => {
    const { reader } = await opened({ groups: api(403), lists: { [BINDING]: [[api(404)]] } })
    expect(await reader.read({ resource: BINDINGS })).toEqual({
      state: 'unknown',
      objects: [],
      why: { verb: 'list', what: BINDING, cause: 'absent' },
    })
  })

  test('its version lists others, and no list is asked for', async () => {
    const { reader, fake } = await opened(aggregated('others'))
    expect(await reader.read({ resource: BINDINGS })).toEqual({ state: 'absent' })
    expect(fake.calls).toEqual(['GET /apis'])
    const served = await opened(aggregated(BINDINGS.plural))
    expect(await served.reader.read({ resource: BINDINGS })).toEqual({ state: 'read', objects: [] })
  })

  test('is not known where its group is stale, even if it is not found', async () => {
    const { reader } = await opened({
      ...aggregated('others', 'Stale'),
      lists: { [BINDING]: [[api(404)], [[item('a')]]] },
    })
    expect(await reader.read({ resource: BINDINGS })).toMatchObject({ state: 'unknown' })
    expect(namesOf(await reader.read({ resource: BINDINGS }))).toEqual(['a'])
  })

  test('the core group is always served', async () => {
    const { reader } = await opened({ groups: {}, lists: { Pod: [[[item('a')]]] } })
    expect(namesOf(await reader.read({ resource: PODS }))).toEqual(['a'])
  })
})

describe('a list that fails is unknown', () => {
  test.each<[string, Answer, string]>([
    ['forbidden', [api(403)], 'forbidden'],
    ['without credentials', [api(401)], 'forbidden'],
    ['of a namespace that is named in the answer', [api(404, { name: 'team-a' })], 'absent'],
    ['too many requests', [api(429)], 'throttled'],
    ['server failure', [api(503)], 'failed'],
    ['broken on the second page', [[item('a')], broken('reset')], 'unreachable'],
    ['late', [broken('timed out')], 'timed out'],
    ['no list', [broken('malformed')], 'malformed'],
  ])('%s', async (_says, answer, cause) => {
    const { reader } = await opened({ lists: { Pod: [answer] } })
    // Half a list is none: what is missing would count as absent.
    expect(await reader.read({ resource: PODS })).toEqual({
      state: 'unknown',
      objects: [],
      why: { verb: 'list', what: 'Pod', cause },
    })
    expect(await reader.read({ resource: PODS, namespaces: ['team-a'] })).toEqual({
      state: 'unknown',
      objects: [],
      why: { verb: 'list', what: 'Pod', namespace: 'team-a', cause },
    })
  })

  test('one namespace of several: what the others hold is kept', async () => {
    const { reader } = await opened({
      lists: { 'Pod a': [[[item('1')]]], 'Pod b': [[api(403)]], 'Pod c': [[[item('2')]]] },
    })
    const reading = await reader.read({ resource: PODS, namespaces: ['a', 'b', 'c'] })
    expect(namesOf(reading)).toEqual(['1', '2'])
    expect(reading).toMatchObject({ state: 'unknown', why: { namespace: 'b', cause: 'forbidden' } })
  })

  test('one namespace, while in another the kind has just gone', async () => {
    const { reader } = await opened({
      lists: { [`${BINDING} a`]: [[api(404)]], [`${BINDING} b`]: [[api(403)]] },
    })
    expect(await reader.read({ resource: BINDINGS, namespaces: ['a', 'b'] })).toMatchObject({
      state: 'unknown',
    })
  })
})

describe('a list whose next page has expired', () => {
  test('is begun again, without what came before', async () => {
    const { reader } = await opened({
      lists: {
        Pod: [
          [[item('old')], api(410)],
          [[item('a')], [item('b')]],
        ],
      },
    })
    expect(namesOf(await reader.read({ resource: PODS }))).toEqual(['a', 'b'])
  })

  test('is read at once in the end, which cannot expire', async () => {
    const { reader, fake } = await opened({ lists: { Pod: [[api(410)], [api(410)], [[item('a')]]] } })
    expect(namesOf(await reader.read({ resource: PODS }))).toEqual(['a'])
    expect(fake.calls.slice(1)).toEqual(['list Pod', 'list Pod', 'list Pod limit=0'])
  })

  test('is unknown where even that fails', async () => {
    const { reader, fake } = await opened({ lists: { Pod: [[api(410)]] } })
    expect(await reader.read({ resource: PODS })).toMatchObject({ state: 'unknown', objects: [] })
    expect(fake.calls).toHaveLength(4)
  })

  test('and no other failure is tried again', async () => {
    const { reader, fake } = await opened({ lists: { Pod: [[api(500)], [[item('a')]]] } })
    expect(await reader.read({ resource: PODS })).toMatchObject({ state: 'unknown' })
    expect(fake.calls).toHaveLength(2)
  })
})

describe('one object by name', () => {
  const lease = { metadata: { name: 'op', namespace: 'kleym' } }
  const key = 'Lease.coordination.k8s.io kleym/op'

  test.each<[string, JsonRecord | Error, object]>([
    ['is read', lease, { state: 'read', objects: [{ value: lease }] }],
    ['is not there', notFound(LEASES, 'op'), { state: 'read', objects: [] }],
    [
      'is not found, says something that names it otherwise',
      api(404, { name: 'op' }),
      { state: 'unknown', why: { cause: 'absent' } },
    ],
    ['is of a kind that is not served', api(404), { state: 'absent' }],
    [
      'is forbidden',
      api(403, { name: 'op' }),
      {
        state: 'unknown',
        objects: [],
        why: { verb: 'get', what: 'Lease.coordination.k8s.io', namespace: 'kleym', cause: 'forbidden' },
      },
    ],
    ['cannot be had', broken('reset'), { state: 'unknown', why: { cause: 'unreachable' } }],
  ])('%s', async (_says, answer, reading) => {
    const { reader } = await opened({ objects: { [key]: answer } })
    expect(await reader.get(LEASES, 'op', 'kleym')).toMatchObject(reading)
  })

  test('of a kind without namespaces', async () => {
    const { reader, fake } = await opened({ objects: { 'Node n1': { metadata: { name: 'n1' } } } })
    expect(namesOf(await reader.get(NODES, 'n1'))).toEqual(['n1'])
    expect(fake.calls.at(-1)).toBe('get Node n1')
  })
})

describe('opening', () => {
  test('asks once', async () => {
    const { reader, fake } = await opened({})
    await reader.open()
    expect(fake.calls).toEqual(['GET /apis'])
  })

  test.each([
    ['no server answers', broken('refused'), { code: 'unreachable', where: 'kind-dev' }],
    [
      'the credentials are unknown',
      api(401),
      { code: 'unreachable', what: 'the cluster does not know who we are' },
    ],
    ['no answer comes in time', broken('timed out'), { code: 'timed-out' }],
  ])('fails where %s', async (_says, groups, error) => {
    const reader = new ClusterReader(new FakeClient({ groups }).client, 'kind-dev')
    await expect(reader.open()).rejects.toMatchObject({ name: 'KleymError', ...error })
  })

  test.each([403, 404, 500, 503])('goes on where the groups alone cannot be had (%i)', async (status) => {
    const { reader } = await opened({ groups: api(status), lists: { Pod: [[[item('a')]]] } })
    expect(namesOf(await reader.read({ resource: PODS }))).toEqual(['a'])
    expect(await reader.read({ resource: POOLS[0] ?? PODS })).toMatchObject({ state: 'read' })
  })
})

const refused = (why: string): object => ({
  name: 'KleymError',
  exitCode: 4,
  what: 'cannot take in all of the cluster',
  where: 'kind-dev',
  why,
  fix: expect.stringContaining('-n'),
})

describe('a server that sends more than kleym keeps', () => {
  const tooLarge = new BodyTooLarge('GET /pods', 'longer than 5 bytes')

  test('is asked for smaller pages while they are too large, down to one object', async () => {
    const { reader, fake } = await opened({
      lists: { Pod: [[tooLarge], [tooLarge], [tooLarge], [[item('a')]]] },
    })
    expect(namesOf(await reader.read({ resource: PODS }))).toEqual(['a'])
    expect(fake.calls.slice(1)).toEqual([
      'list Pod',
      'list Pod limit=50',
      'list Pod limit=5',
      'list Pod limit=1',
    ])
  })

  test('with one object that is too large, is not known', async () => {
    const { reader } = await opened({ lists: { Pod: [[tooLarge]] } })
    expect(await reader.read({ resource: PODS })).toMatchObject({
      state: 'unknown',
      why: { verb: 'list', what: 'Pod', cause: 'malformed' },
    })
  })

  test('in pages without end, is an error that says so', async () => {
    const page = Array.from({ length: 1_000 }, (_, at) => item(`p${at}`))
    const pages = Array.from({ length: INPUT_LIMITS.objects / 1_000 + 1 }, () => page)
    for (const [resource, what] of [
      [BINDINGS, '20,000 bindings'],
      [PODS, '300,000 objects'],
    ] as const) {
      const { reader } = await opened({ lists: { Pod: [pages], [BINDING]: [pages] } })
      await expect(reader.read({ resource })).rejects.toMatchObject(refused(`it has more than ${what}`))
    }
  })

  test('again and again, since its pages expire, is counted once', async () => {
    const page = Array.from({ length: 1_000 }, (_, at) => item(`p${at}`))
    const most = Array.from({ length: INPUT_LIMITS.bindings / 1_000 }, () => page)
    const { reader } = await opened({
      lists: { [BINDING]: [[...most, api(410)], [...most, api(410)], most] },
    })
    expect((await reader.read({ resource: BINDINGS })).state).toBe('read')
  })

  test('in objects that are large, is an error too', async () => {
    const large = { metadata: { name: 'x'.repeat(1024 * 1024) } }
    const pages = Array.from({ length: KEPT_MAX / 1024 / 1024 }, () => [large])
    const { reader } = await opened({ lists: { Pod: [pages] } })
    await expect(reader.read({ resource: PODS })).rejects.toMatchObject(
      refused('what an answer uses of it is more than 512 MiB'),
    )
  })
})
