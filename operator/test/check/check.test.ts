// `--check`: what each answer of an API server, sane or hostile, is said to be.
import { describe, expect, test } from 'vitest'
import { isRecord, own, type JsonRecord } from '@kleym/shared/core/base/json.ts'
import { ApiError, ConnectionError } from '@kleym/shared/kube/errors.ts'
import { BINDINGS, CLUSTER_SPIFFE_IDS, OBJECTIVES, POOLS } from '@kleym/shared/kube/resources.ts'
import { drop, failure, json, text, type Behaviour } from '@kleym/testing/faults/behaviour.ts'
import { faultServer } from '@kleym/testing/faults/server.ts'
import { clientAt } from '@kleym/testing/clusters.ts'
import { checkClass, checkKinds, checkLeader, checkRights, checkServer } from '../../src/check/checks.ts'
import { objectText, rightsWanted } from '../../src/check/rights.ts'
import { resultText } from '../../src/check/result.ts'
import { Election } from '../../src/election/election.ts'
import { newSignature, signerOf } from '../../src/election/signature.ts'
import { FakeTime } from '../build/fake-time.ts'
import { LeaseServer, PROMPT } from '../election/lease-server.ts'
import { keptLog } from '../build/log-lines.ts'

const LEASE = { namespace: 'kleym-system', name: 'kleym-operator' }
const PLAIN = { metrics: undefined }
const SECURE = { metrics: { address: { host: undefined, port: 1 }, tls: { certFile: 'a', keyFile: 'b' } } }

/** An API server that answers each question with what `status` makes of it. */
function reviewing(status: (attributes: unknown) => unknown) {
  const asked: JsonRecord[] = []
  const create = async (_: unknown, object: JsonRecord): Promise<JsonRecord> => {
    const attributes = own(own(object, 'spec'), 'resourceAttributes')
    if (isRecord(attributes)) asked.push(attributes)
    const answer = status(attributes)
    if (answer instanceof Error) throw answer
    return { status: answer }
  }
  return { asked, api: { create } }
}

function setUp() {
  const time = new FakeTime()
  return { time, server: new LeaseServer(time) }
}

function elect(time: FakeTime, server: LeaseServer, identity: string): Election {
  const clock = time.clock()
  const { log } = keptLog()
  const election = new Election({
    api: server.api(clock),
    clock,
    random: () => 0.5,
    log,
    lease: LEASE,
    identity,
    onElected: () => {},
    onLost: () => {},
  })
  election.start()
  return election
}

/** The rights as texts. */
function textsOf(...args: Parameters<typeof rightsWanted>): readonly string[] {
  return rightsWanted(...args).map((right) => `${right.verb} ${objectText(right)}`)
}

describe('the server', () => {
  test.each<[says: string, behaviour: Behaviour, verdict: RegExp]>([
    ['its version', json({ gitVersion: 'v1.36.3' }), /^ok {6}server {2}Kubernetes v1\.36\.3 answers at 127/],
    ['no version', json({}), /^ok {6}server {2}an API server answers at 127/],
    [
      'what no terminal should see',
      json({ gitVersion: 'v1\u001b[2J' }),
      /^ok {6}server {2}an API server ans/,
    ],
    [
      'who are you',
      failure(401, 'Unauthorized'),
      /^FAILED {2}server {2}cannot get the version of 127\.0\.0\.1:\d+: forbidden\n {16}fix: /,
    ],
    ['nothing', drop, /^FAILED {2}server {2}cannot get the version of 127\.0\.0\.1:\d+: unreachable\n/],
    ['no JSON', text('<html>'), /^FAILED {2}server {2}cannot get the version of .*: malformed\n/],
  ])('says %s', async (_says, behaviour, verdict) => {
    await using server = await faultServer(() => behaviour)
    const client = clientAt(server.url)
    expect(resultText(await checkServer(client, server.url))).toMatch(verdict)
    client.close()
  })
})

describe('rights', () => {
  const WANTED = rightsWanted(PLAIN, LEASE)

  test('each is asked for as it is used', async () => {
    const { asked, api } = reviewing(() => ({ allowed: true }))
    const verdict = await checkRights(api, WANTED)
    expect(verdict).toEqual({ state: 'ok', about: 'rights', says: 'all 32 that an operator uses' })
    expect(asked).toHaveLength(WANTED.length)
    expect(asked).toContainEqual({
      verb: 'update',
      group: 'kleym.sonda.red',
      resource: 'inferenceidentitybindings',
      subresource: 'status',
    })
    expect(asked).toContainEqual({
      verb: 'update',
      group: 'coordination.k8s.io',
      resource: 'leases',
      ...LEASE,
    })
    expect(asked).toContainEqual({
      verb: 'create',
      group: 'coordination.k8s.io',
      resource: 'leases',
      namespace: LEASE.namespace,
    })
  })

  test.each<[answer: string, status: unknown, says: string]>([
    ['no', { allowed: false }, 'may not create events.events.k8s.io'],
    ['yes and no', { allowed: true, denied: true }, 'may not create events.events.k8s.io'],
    ['yes as a text', { allowed: 'true' }, 'may not create events.events.k8s.io'],
    ['nothing', undefined, 'may not create events.events.k8s.io'],
    [
      'that it fails',
      new ApiError({ status: 500, reason: 'InternalError', message: '\u001b[2J' }),
      'cannot create SelfSubjectAccessReview: failed',
    ],
    [
      'that it cannot be reached',
      new ConnectionError('refused', 'x', { cause: undefined, neverSent: true }),
      'cannot create SelfSubjectAccessReview: unreachable',
    ],
  ])('%s is no yes', async (_answer, status, says) => {
    const { api } = reviewing((attributes) =>
      own(attributes, 'resource') === 'events' ? status : { allowed: true },
    )
    const fix = says.startsWith('may not')
      ? "bind the chart's roles to this service account, as rbac.create=true does"
      : 'see why the API server cannot judge rights'
    expect(await checkRights(api, WANTED)).toEqual({ state: 'failed', about: 'rights', says, fix })
  })

  test('several that are missing are all named, and one failure once', async () => {
    const missing = await checkRights(reviewing(() => ({})).api, WANTED)
    expect(missing.says.split('; ').slice(0, 3)).toEqual([
      'may not get, list, watch, patch inferenceidentitybindings.kleym.sonda.red',
      'may not update inferenceidentitybindings.kleym.sonda.red/status',
      'may not get, list, watch, create, update, delete clusterspiffeids.spire.spiffe.io',
    ])
    expect(missing.says).toContain(
      '; may not create, get, update leases.coordination.k8s.io in namespace kleym-system',
    )
    const failing = await checkRights(reviewing(() => new Error('x')).api, WANTED)
    expect(failing.says).toBe('cannot create SelfSubjectAccessReview: failed')
  })

  test('reviews of tokens are for secure metrics, and the Lease for an elected operator', () => {
    const plain = textsOf(PLAIN, LEASE)
    expect(textsOf(SECURE, LEASE).filter((right) => !plain.includes(right))).toEqual([
      'create tokenreviews.authentication.k8s.io',
      'create subjectaccessreviews.authorization.k8s.io',
    ])
    expect(plain.filter((right) => !textsOf(PLAIN, undefined).includes(right))).toEqual([
      'create leases.coordination.k8s.io in namespace kleym-system',
      'get leases.coordination.k8s.io in namespace kleym-system',
      'update leases.coordination.k8s.io in namespace kleym-system',
    ])
  })
})

describe('kinds', () => {
  const ALL = [BINDINGS, CLUSTER_SPIFFE_IDS, ...POOLS, ...OBJECTIVES]
  const [POOL, OLD_POOL] = POOLS

  /** The verdicts where the server serves these kinds, and fails for the group versions that `fails` names. */
  async function verdicts(served: readonly unknown[], fails?: string): Promise<string> {
    const kinds = ALL.filter((kind) => served.includes(kind))
    await using server = await faultServer(({ path }) => {
      if (path === fails) return failure(503, 'ServiceUnavailable')
      if (path === '/apis') return json({ groups: kinds.map(asGroup) })
      const here = kinds.filter(({ group, version }) => path === `/apis/${group}/${version}`)
      if (here.length === 0) return text('404 page not found\n', 404)
      return json({ resources: here.map(({ plural, kind }) => ({ name: plural, kind })) })
    })
    const client = clientAt(server.url)
    const found = await checkKinds(client)
    client.close()
    return found.map(resultText).join('')
  }

  function asGroup({ group, version }: (typeof ALL)[number]): JsonRecord {
    return { name: group, versions: [{ version }] }
  }

  test('all are there', async () => {
    expect(await verdicts(ALL)).toBe(
      [
        'ok      kinds   InferenceIdentityBinding.kleym.sonda.red',
        'ok      kinds   ClusterSPIFFEID.spire.spiffe.io',
        'ok      kinds   InferencePool.inference.networking.k8s.io, InferencePool.inference.networking.x-k8s.io',
        'ok      kinds   InferenceObjective.llm-d.ai, InferenceObjective.inference.networking.x-k8s.io, InferenceObjective.inference.networking.k8s.io',
        '',
      ].join('\n'),
    )
  })

  test('none is there: without objectives something can be done, and it says what', async () => {
    expect(await verdicts([])).toBe(
      [
        'FAILED  kinds   the API server serves no InferenceIdentityBinding.kleym.sonda.red',
        '                fix: install its CRD, as crds.enabled=true does',
        'FAILED  kinds   the API server serves no ClusterSPIFFEID.spire.spiffe.io',
        '                fix: install the CRDs of the SPIRE controller manager',
        'FAILED  kinds   the API server serves no InferencePool.inference.networking.k8s.io, nor InferencePool.inference.networking.x-k8s.io',
        '                fix: install the CRDs of the Gateway API Inference Extension',
        'note    kinds   the API server serves no InferenceObjective.llm-d.ai, nor InferenceObjective.inference.networking.x-k8s.io, nor InferenceObjective.inference.networking.k8s.io: only bindings of mode PoolOnly can be compiled',
        '',
      ].join('\n'),
    )
  })

  test('one kind of pool is enough', async () => {
    const only = ALL.filter((kind) => kind !== POOL)
    expect(await verdicts(only)).toContain('ok      kinds   InferencePool.inference.networking.x-k8s.io\n')
  })

  test('a kind that could not be asked about is not taken for absent, nor for served', async () => {
    const path = `/apis/${OLD_POOL?.group}/${OLD_POOL?.version}`
    expect(await verdicts(ALL, path)).toContain(
      'FAILED  kinds   cannot discover InferencePool.inference.networking.x-k8s.io: failed\n',
    )
  })
})

test.each<[string, readonly string[]]>([
  ['', []],
  ['spire-mgmt-spire', []],
  [
    'spire/mgmt',
    [
      'note    class   the class has "/" at character 6; only letters, digits, "-", "_" and "." are allowed there, so outputs have no label spire.spiffe.io/class-name: an SCM with filterByClassName sees none of them\n',
    ],
  ],
])('the class %j', (className, said) => {
  expect(checkClass(className).map(resultText)).toEqual(said)
})

describe('the leader', () => {
  const PATIENCE_MS = 60_000

  /** What the check says, and when, in milliseconds. */
  async function checked(
    { time, server }: ReturnType<typeof setUp>,
    api: Parameters<typeof checkLeader>[0]['api'] = server.api(time.clock()),
  ): Promise<{ said: string; atMs: number }> {
    const verdict = checkLeader({ api, clock: time.clock(), lease: LEASE, patienceMs: PATIENCE_MS })
    const found = verdict.then((said) => ({ said: resultText(said), atMs: time.nowMs }))
    await time.advance(PATIENCE_MS + 5_000)
    return found
  }

  test('is there as soon as it renews the Lease', async () => {
    const world = setUp()
    elect(world.time, world.server, newSignature('kleym-operator-7d9f-x2x4z'))
    const { said, atMs } = await checked(world)
    expect(said).toBe(
      'ok      leader  kleym-operator-7d9f-x2x4z renews the Lease kleym-system/kleym-operator\n',
    )
    expect(atMs).toBeLessThan(5_000)
  })

  test('is waited for: it may have to sit out the Lease of a dead one first', async () => {
    const world = setUp()
    world.server.edit({
      holderIdentity: newSignature('dead'),
      leaseDurationSeconds: 15,
      renewTime: '2026-11-21T00:00:00.000000Z',
    })
    elect(world.time, world.server, newSignature('alive'))
    const { said, atMs } = await checked(world)
    expect(said).toContain('alive renews the Lease')
    expect(atMs).toBeGreaterThan(15_000)
  })

  test.each<[what: string, spec: JsonRecord | undefined, says: string]>([
    ['no Lease', undefined, 'there is none'],
    ['a Lease that was given up', { holderIdentity: '' }, 'no replica holds it'],
    ['a Lease without a holder', {}, 'no replica holds it'],
    ["somebody else's Lease", { holderIdentity: 'else\u001b[2J' }, 'what holds it is no kleym-operator'],
    [
      'the Lease of a dead one',
      { holderIdentity: newSignature('dead'), renewTime: '2026-11-21T00:00:00.000000Z' },
      'dead holds it and does not renew it',
    ],
  ])('is not there where there is %s', async (_what, spec, says) => {
    const world = setUp()
    world.server.edit(spec)
    const { said, atMs } = await checked(world)
    expect(said).toBe(
      [
        `FAILED  leader  no replica renewed the Lease kleym-system/kleym-operator in 60 s: ${says}`,
        '                fix: see why no operator leads: kubectl --namespace kleym-system get pods, and their logs',
        '',
      ].join('\n'),
    )
    expect(atMs).toBeGreaterThanOrEqual(PATIENCE_MS)
  })

  test('is not there where two take turns and neither renews', async () => {
    const world = setUp()
    const { time, server } = world
    const clock = time.clock()
    for (let at = 0; at < PATIENCE_MS; at += 1_500)
      clock.after(at, () => server.edit({ holderIdentity: newSignature('loops'), renewTime: String(at) }))
    expect((await checked(world)).said).toContain('FAILED')
  })

  test('is found although some looks fail', async () => {
    const world = setUp()
    const { time, server } = world
    elect(time, server, newSignature('a'))
    let nth = 0
    const fateOf = () => (nth++ % 2 === 0 ? ({ ...PROMPT, fails: 'refused' } as const) : PROMPT)
    expect((await checked(world, server.api(time.clock(), fateOf))).said).toContain(
      'ok      leader  a renews',
    )
  })
})

test('a signature says whose it is', () => {
  const mine = newSignature('kleym-operator-0.example_1')
  expect(signerOf(mine)).toBe('kleym-operator-0.example_1')
  expect(newSignature('a')).not.toBe(newSignature('a'))
  for (const others of ['', 'a', 'a_b', `${mine}x`, `\u001b${mine}`, ` ${mine}`, `${mine}\n`])
    expect(signerOf(others)).toBeUndefined()
})
