// The report of `status`, from what a cluster answers to the fields and the lines: each unknown stays one.
import { machineReport } from '../../../src/frame/finish.ts'
import { describe, expect, test } from 'vitest'
import type { JsonRecord } from '@kleym/shared/core/base/json.ts'
import { nameFromItself } from '@kleym/shared/core/decide/compile/output.ts'
import {
  ANNOTATION_BINDING,
  ANNOTATION_BINDING_UID,
  LABEL_MANAGED_BY,
  MANAGED_BY,
} from '@kleym/shared/core/model/names.ts'
import { readInstallation } from '../../../src/cluster/installation.ts'
import { ClusterReader } from '../../../src/cluster/reader.ts'
import { installedInput } from '../../../src/gather/installed.ts'
import type { Frame } from '../../../src/frame/frame.ts'
import { statusFrame } from '../../../src/answers/status/frame.ts'
import { MARKS, render } from '../../../src/text/line.ts'
import { PLAIN } from '../../../src/io/palette.ts'
import { api, FakeClient, type Answers } from '../../support/fake-client.ts'
import { outcomePairs } from '../../support/outcome-pairs.ts'
import { OPTIONS } from '../../support/status-options.ts'
import { FAIL_ON } from '../../../src/flags/flags.ts'
import { firstAnswer } from '../../../src/frame/operator-down.ts'
import { missingOf } from '../../../src/frame/causes.ts'
import { resultOf } from '../../../src/frame/result.ts'
import type { Answer } from '../../../src/text/answer.ts'

const NOW = new Date('2026-11-21T12:00:00Z')
const BINDINGS = 'InferenceIdentityBinding.kleym.sonda.red'
const DEPLOYMENTS = 'Deployment.apps'
const LEASE = 'Lease.coordination.k8s.io kleym/kleym-operator'

function deployment(
  name = 'kleym',
  parts: { replicas?: number; available?: number; args?: readonly string[] } = {},
): JsonRecord {
  const {
    replicas = 2,
    available = 2,
    args = ['--trust-domain=example.org', '--clusterspiffeid-class-name=scm'],
  } = parts
  return {
    metadata: { name, namespace: 'kleym', labels: { 'app.kubernetes.io/name': 'kleym' } },
    spec: { replicas, template: { spec: { containers: [{ name: 'operator', image: 'kleym:1', args }] } } },
    status: { availableReplicas: available },
  }
}
function lease(renewed: string, holder = 'pod-1'): JsonRecord {
  return {
    metadata: { name: 'kleym-operator', namespace: 'kleym' },
    spec: { holderIdentity: holder, renewTime: renewed, leaseDurationSeconds: 15 },
  }
}
function binding(name: string, status: string, reason: string): JsonRecord {
  const since = '2026-11-20T00:00:00Z'
  const ready = {
    type: 'Ready',
    status,
    reason,
    message: '',
    observedGeneration: 1,
    lastTransitionTime: since,
  }
  return {
    metadata: { name, namespace: 'team-a', uid: `uid-of-${name}`, generation: 1, creationTimestamp: since },
    spec: { poolRef: { name: 'llama' }, mode: 'PoolOnly', serviceAccountName: 'runner' },
    ...(status !== '' && { status: { observedGeneration: 1, conditions: [ready] } }),
  }
}
const SCM = {
  metadata: { name: 'scm', namespace: 'spire' },
  data: {
    'c.yaml':
      'apiVersion: spire.spiffe.io/v1alpha1\nkind: ControllerManagerConfig\nclassName: scm\nclusterName: prod\ntrustDomain: example.org\n',
  },
}
/** A sound installation. */
const SOUND: Answers = {
  lists: {
    [DEPLOYMENTS]: [[[deployment()]]],
    [BINDINGS]: [[[binding('chat', 'True', 'Reconciled'), binding('code', 'True', 'Reconciled')]]],
    'ConfigMap spire': [[[SCM]]],
  },
  objects: { [LEASE]: lease('2026-11-21T11:59:50Z') },
}

/** The columns of what a line is about: those of the longest name. */
const NAMES = 'InferenceIdentityBinding'.length

interface Said {
  readonly frame: Frame
  readonly fields: Awaited<ReturnType<typeof machineReport>>
  /** The first line. */
  readonly first: string
  /** The lines below it. */
  readonly reasons: readonly string[]
  /** The same as it is printed, with its mark. */
  readonly whole: string
  /** The mark with each threshold and its exit code. */
  readonly outcomes: readonly string[]
  readonly codes: readonly string[]
  /** A line each, by what it is about. */
  readonly lines: Readonly<Record<string, string>>
  readonly calls: readonly string[]
}

async function said(answers: Answers, absent: readonly string[] = [], failing = ''): Promise<Said> {
  const fake = new FakeClient(answers)
  const client = {
    ...fake.client,
    raw: async (method: Parameters<typeof fake.client.raw>[0], path: string): Promise<JsonRecord> => {
      if (path === failing) throw api(503)
      const answer = await fake.client.raw(method, path)
      return path === '/apis' ? answer : { resources: served(absent) }
    },
  }
  const question = { namespaces: undefined, scmNamespaces: ['spire'] }
  const installation = await readInstallation(client, new ClusterReader(client, 'dev'), question)
  const input = await installedInput(installation, OPTIONS, { cwd: '/', namespace: undefined })
  const frame = statusFrame(input, installation, NOW)
  const text = render(frame.view({ width: 200, wide: false }, []), PLAIN)
  const rows = text.split('\n').filter((row) => row !== '')
  const lines = rows.map((row) => [row.slice(2, 2 + NAMES).trim(), `${row[0]} ${row.slice(3 + NAMES)}`])
  const answer = frame.answer?.({ width: 200, wide: false }, frame.findings) ?? { mark: 'note', text: [] }
  const printed = FAIL_ON.map((failOn) => {
    const result = resultOf(frame, input, { ...OPTIONS.output, failOn })
    const { mark, text: all } = firstAnswer(answer, frame.findings, result)
    return { mark: MARKS[mark].text, text: spoken(all), failOn, code: result.exitCode }
  })
  return {
    frame,
    fields: await machineReport(resultOf(frame, input, OPTIONS.output)),
    first: spoken(answer.text),
    reasons: (answer.reasons ?? []).map(spoken),
    whole: printed.map((one) => `${one.mark} ${one.text}`)[0] ?? '',
    outcomes: printed.map(({ mark, failOn, code }) => `${mark} ${failOn} ${code}`),
    codes: frame.findings.map(({ code }) => code),
    lines: Object.fromEntries(lines),
    calls: fake.calls,
  }
}

function spoken(text: Answer['text']): string {
  return text.map((piece) => (typeof piece === 'string' ? piece : piece.text)).join('')
}

test('entries are added up from the counters of SCM, and those that have none make the number a lower bound', async () => {
  const counted = (name: string, entriesToSet: number): JsonRecord => ({
    metadata: { name },
    spec: { spiffeIDTemplate: ID },
    status: { stats: { entriesToSet, podsSelected: entriesToSet } },
  })
  const silent = { metadata: { name: 'silent' }, spec: { spiffeIDTemplate: ID } }
  const outputs = (list: readonly JsonRecord[]): Answers => ({
    ...SOUND,
    lists: { ...SOUND.lists, 'ClusterSPIFFEID.spire.spiffe.io': [[list]] },
  })
  const whole = await said(outputs([counted('a', 150), counted('b', 100)]))
  expect(whole.lines['all entries']).toMatch(/^· 250 for 2 ClusterSPIFFEIDs, by SCM's counters;/)
  expect(whole.lines['SCM lists']).toMatch(/^· 2 pages in each pass/)
  const part = await said(outputs([counted('a', 150), silent]))
  expect(part.lines['all entries']).toMatch(
    /^· at least 150 for 1 ClusterSPIFFEID, .*, 1 more has no counters;/,
  )
  expect((await said(SOUND)).lines['all entries']).toBeUndefined()
})

test('what there is to say of where settings come from is said of an install, too', async () => {
  const { client } = new FakeClient({})
  const question = { namespaces: undefined, scmNamespaces: [] }
  const installation = await readInstallation(client, new ClusterReader(client, 'dev'), question)
  const settings = { ...OPTIONS.settings, remarks: ['the variable KLEYM_TRUSTDOMAIN is not read'] }
  const input = await installedInput(
    installation,
    { ...OPTIONS, settings },
    { cwd: '/', namespace: undefined },
  )
  expect(input.remarks).toEqual(settings.remarks)
})

test('limited to a namespace, an output of another one is no orphan: its binding was not looked for', async () => {
  const output = {
    metadata: {
      name: nameFromItself('team-b/mistral', ID),
      annotations: { [ANNOTATION_BINDING]: 'team-b/mistral', [ANNOTATION_BINDING_UID]: 'uid-of-mistral' },
    },
    spec: { spiffeIDTemplate: ID },
  }
  const { client } = new FakeClient({ lists: { 'ClusterSPIFFEID.spire.spiffe.io': [[[output]]] } })
  const codesFor = async (namespaces: readonly string[] | undefined): Promise<readonly string[]> => {
    const question = { namespaces, scmNamespaces: [] }
    const installation = await readInstallation(client, new ClusterReader(client, 'dev'), question)
    const input = await installedInput(installation, OPTIONS, { cwd: '/', namespace: namespaces?.[0] })
    return statusFrame(input, installation, NOW).findings.map(({ code }) => code)
  }
  expect(await codesFor(undefined)).toContain('KLM521')
  expect(await codesFor(['team-a'])).not.toContain('KLM521')
})

test.each<{ name: string; metadata: JsonRecord; fix: readonly RegExp[] }>([
  {
    name: 'an output that a hand has stripped of its annotations, with the command that removes it',
    metadata: { name: 'kleym-team-b-mistral-pool-0123456789abcdef0123' },
    fix: [/kubectl delete clusterspiffeid kleym-team-b-mistral-pool-0123456789abcdef0123$/],
  },
  {
    name: 'what carries the label of kleym and is not of its making',
    metadata: { name: 'by-another-tool', labels: { [LABEL_MANAGED_BY]: MANAGED_BY } },
    fix: [/kubectl delete clusterspiffeid by-another-tool$/],
  },
  { name: 'nothing else', metadata: { name: 'kleym-team-b-mistral' }, fix: [] },
])('of ClusterSPIFFEIDs that are not of kleym, it tells of $name', async ({ metadata, fix }) => {
  const output = { metadata, spec: { spiffeIDTemplate: ID } }
  const lists = { ...SOUND.lists, 'ClusterSPIFFEID.spire.spiffe.io': [[[output]]] }
  const { frame } = await said({ ...SOUND, lists })
  const found = frame.findings.filter(({ code }) => code === 'KLM522')
  expect(found.map(({ subject }) => subject.name)).toEqual(fix.map(() => metadata['name']))
  expect(found.map((one) => one.fix)).toEqual(fix.map((text) => expect.stringMatching(text)))
})

const ID = 'spiffe://example.org/ns/team-b/pool/mistral'

function served(absent: readonly string[]): readonly JsonRecord[] {
  return [
    ['inferenceidentitybindings', 'InferenceIdentityBinding'],
    ['clusterspiffeids', 'ClusterSPIFFEID'],
    ['clusterstaticentries', 'ClusterStaticEntry'],
    ['inferencepools', 'InferencePool'],
    ['inferenceobjectives', 'InferenceObjective'],
  ]
    .map(([name = '', kind = '']) => ({ name, kind }))
    .filter(({ kind }) => !absent.includes(kind))
}

test('the pod label of variants is reported where a binding has one, or the key is not the usual one', async () => {
  const args = ['--trust-domain=example.org', '--clusterspiffeid-class-name=scm']
  const withKey = (...more: readonly string[]): Answers => ({
    ...SOUND,
    lists: { ...SOUND.lists, [DEPLOYMENTS]: [[[deployment('kleym', { args: [...args, ...more] })]]] },
  })
  const variant = binding('prefill', 'True', 'Reconciled')
  const spec = { ...Object(variant['spec']), mode: 'PerVariant', identityBoundary: { variant: 'prefill' } }
  const withVariant = (answers: Answers, status: JsonRecord = {}): Answers => ({
    ...answers,
    lists: {
      ...answers.lists,
      [BINDINGS]: [[[{ ...variant, spec, status: { ...Object(variant['status']), ...status } }]]],
    },
  })
  expect((await said(withKey())).lines['variant label']).toBeUndefined()
  expect((await said(withKey('--variant-label-key=llm-d.ai/role'))).lines['variant label']).toBe(
    '✓ llm-d.ai/role, says Deployment kleym/kleym',
  )
  expect((await said(withVariant(withKey()))).lines['variant label']).toBe(
    '✓ identity.kleym.sonda.red/variant, says Deployment kleym/kleym',
  )
  const nobody = { ...SOUND, lists: { ...SOUND.lists, [DEPLOYMENTS]: [[[]]] } }
  expect((await said(withVariant(nobody))).lines['variant label']).toBe(
    '! not known: pass --variant-label-key',
  )
  const older = {
    trustDomain: 'example.org',
    clusterSPIFFEIDClassName: 'scm',
    variantLabelKey: 'llm-d.ai/role',
  }
  expect((await said(withVariant(withKey(), older))).codes).toContain('KLM520')
})

describe('the first line', () => {
  test('says that a sound installation is sound, and how its bindings stand', async () => {
    expect((await said(SOUND)).first).toBe('sound: 2 of 2 bindings ready')
  })

  test('says why another is not', async () => {
    const none = {
      ...SOUND,
      lists: { ...SOUND.lists, [DEPLOYMENTS]: [[[deployment('kleym', { available: 0 })]]] },
    }
    // That the operator is down is said before it, as by every command.
    const answered = await said(none)
    expect(answered.first).toBe('not sound')
    expect(answered.whole).toBe('✗ the operator is down: none of its 2 replicas is available; not sound')
    expect(answered.reasons).toContain(
      '0 of 2 bindings in force; changes will not be applied, 2 perhaps in force',
    )
  })

  test('has a mark and an exit code that go together', async () => {
    const unknown = { ...SOUND, lists: { ...SOUND.lists, 'ConfigMap spire': [[[]]] } }
    for (const answers of [SOUND, unknown])
      for (const outcome of (await said(answers)).outcomes) expect(outcomePairs()).toContain(outcome)
  })

  test('says nothing is sound where no SCM is known', async () => {
    const without = { ...SOUND, lists: { ...SOUND.lists, 'ConfigMap spire': [[[]]] } }
    expect((await said(without)).first).not.toMatch(/^sound/)
  })
})

test('a sound installation', async () => {
  const { lines, codes, fields, frame, calls } = await said(SOUND)
  expect(codes).toEqual([])
  expect(missingOf(frame.causes)).toEqual([])
  expect(lines).toMatchObject({
    InferenceIdentityBinding: '✓ kleym.sonda.red/v1alpha1',
    operator: '✓ kleym/kleym, 2 of 2 replicas, kleym:1',
    leader: '✓ pod-1, by Lease kleym/kleym-operator',
    'trust domain': '✓ example.org, says Deployment kleym/kleym',
    class: '✓ scm, says Deployment kleym/kleym',
    bindings: '✓ 2: 2 ready',
  })
  expect(lines['SCM']).toMatch(/^✓ handles kleym's class/)
  expect(fields).toMatchObject({
    operators: [{ namespace: 'kleym', name: 'kleym', replicas: 2, available: 2, images: ['kleym:1'] }],
    leader: { holder: 'pod-1', current: true },
    scmHandlesClass: 'handled',
    conditions: [{ ready: 'True', reason: 'Reconciled', count: 2 }],
    oldestStuck: null,
  })
  expect(calls.filter((call) => call.startsWith('list Pod'))).toEqual([])
})

const withOperators = (...operators: readonly JsonRecord[]): Answers => ({
  ...SOUND,
  lists: { ...SOUND.lists, [DEPLOYMENTS]: [[operators]] },
})

describe('the operator', () => {
  test.each<[string, Answers, string, readonly string[]]>([
    [
      'in part',
      withOperators(deployment('kleym', { available: 1 })),
      '! kleym/kleym, 1 of 2 replicas, kleym:1',
      [],
    ],
    [
      'not at all',
      withOperators(deployment('kleym', { available: 0 })),
      '✗ kleym/kleym, 0 of 2 replicas, kleym:1',
      ['KLM543'],
    ],
    ['nowhere', withOperators(), '! no Deployment of it is there', ['KLM543']],
  ])('runs %s', async (_says, answers, row, codes) => {
    const { lines, codes: found } = await said(answers)
    expect(lines['operator']).toBe(row)
    expect(found).toEqual(codes)
  })

  test('with fewer replicas than wanted is known to be degraded, and leaves nothing open', async () => {
    const { first, frame } = await said(withOperators(deployment('kleym', { available: 1 })))
    expect(first).toBe('sound, but degraded: operator: kleym/kleym, 1 of 2 replicas, kleym:1')
    expect(missingOf(frame.causes)).toEqual([])
  })

  test('is there twice', async () => {
    const { lines, codes } = await said(withOperators(deployment('a'), deployment('b')))
    expect(lines['operator']).toMatch(/^✗ /)
    expect(codes).toEqual(['KLM545'])
  })

  test('that may not be looked for is not known, and not missing', async () => {
    const { lines, codes, fields } = await said({
      ...SOUND,
      lists: { ...SOUND.lists, [DEPLOYMENTS]: [[api(403)]] },
    })
    expect(lines['operator']).toBe('! not known: Deployments cannot be listed')
    expect(fields['operators']).toBeNull()
    expect(codes).not.toContain('KLM543')
  })
})

describe('the leader', () => {
  const withLease = (answer: JsonRecord | Error): Answers => ({ ...SOUND, objects: { [LEASE]: answer } })

  test.each<[string, Answers, string, object | null]>([
    [
      'is gone',
      withLease(lease('2026-11-21T11:59:40Z')),
      '! no replica holds Lease kleym/kleym-operator; the last was pod-1',
      { current: false },
    ],
    [
      'has until now',
      withLease(lease('2026-11-21T11:59:45Z')),
      '! no replica holds Lease kleym/kleym-operator; the last was pod-1',
      { current: false },
    ],
    [
      'gave it up',
      withLease(lease('2026-11-21T11:59:59Z', '')),
      '! no replica holds Lease kleym/kleym-operator',
      { current: false },
    ],
    [
      'never was',
      { ...SOUND, objects: {} },
      '! no replica holds Lease kleym/kleym-operator',
      { current: false },
    ],
    [
      'may not be asked for',
      withLease(api(403)),
      '! not known: cannot get Lease.coordination.k8s.io in namespace kleym: forbidden',
      null,
    ],
    [
      'says nonsense',
      withLease(lease('yesterday')),
      '! no replica holds Lease kleym/kleym-operator; the last was pod-1',
      { current: false },
    ],
  ])('%s', async (_says, answers, row, told) => {
    const { lines, fields, frame, first } = await said(answers)
    expect(lines['leader']).toBe(row)
    expect({ leader: fields['leader'] }).toMatchObject({ leader: told })
    // Where nobody leads, or it is not known who does, nothing is sound, and the exit code is 4.
    expect(first).not.toMatch(/^sound/)
    expect(frame.causes).toHaveLength(1)
  })

  test('is none where none is elected', async () => {
    const args = ['--leader-elect=false']
    const { lines, frame, calls } = await said({
      ...SOUND,
      lists: { ...SOUND.lists, [DEPLOYMENTS]: [[[deployment('kleym', { args })]]] },
      objects: {},
    })
    expect(lines['leader']).toBe('· none is elected (--leader-elect=false)')
    expect(frame.causes.filter(({ leaves }) => leaves === 'a finding')).toEqual([])
    expect(calls.filter((call) => call.startsWith('get Lease'))).toEqual([])
  })

  test('stands in another namespace, if the operator says so', async () => {
    const args = ['--leader-election-namespace=elsewhere']
    const { calls } = await said({
      ...SOUND,
      lists: { ...SOUND.lists, [DEPLOYMENTS]: [[[deployment('kleym', { args })]]] },
    })
    expect(calls).toContain('get Lease.coordination.k8s.io elsewhere/kleym-operator')
  })

  test.each([
    ['in one word', ['--leader-election-lease-name=mine']],
    ['in two', ['--leader-election-lease-name', 'mine']],
  ])('by a Lease of another name, %s', async (_, args) => {
    const { calls } = await said({
      ...SOUND,
      lists: { ...SOUND.lists, [DEPLOYMENTS]: [[[deployment('kleym', { args })]]] },
    })
    expect(calls).toContain('get Lease.coordination.k8s.io kleym/mine')
  })
})

const withBindings = (...bindings: readonly JsonRecord[]): Answers => ({
  ...SOUND,
  lists: { ...SOUND.lists, [BINDINGS]: [[bindings]] },
})

describe('the bindings', () => {
  test.each<[string, Answers, string, string | undefined]>([
    ['are none', withBindings(), '✓ none', undefined],
    [
      'are stuck',
      withBindings(
        binding('a', 'True', 'Reconciled'),
        binding('b', 'False', 'TargetPoolNotFound'),
        binding('c', '', ''),
      ),
      '! 3: 1 ready, 1 TargetPoolNotFound, 1 without a status',
      '! team-a/b, TargetPoolNotFound since 2026-11-20T00:00:00Z',
    ],
  ])('%s', async (_says, answers, row, stuck) => {
    const { lines } = await said(answers)
    expect(lines['bindings']).toBe(row)
    expect(lines['oldest stuck']).toBe(stuck)
  })

  test('that cannot be listed are not none', async () => {
    const { lines, fields, frame } = await said({
      ...SOUND,
      lists: { ...SOUND.lists, [BINDINGS]: [[api(403)]] },
    })
    expect(lines['bindings']).toBe('! not known: they cannot be listed')
    expect(fields['conditions']).toBeNull()
    expect(missingOf(frame.causes)).toEqual([{ verb: 'list', what: BINDINGS, cause: 'forbidden' }])
  })
})

describe('kinds that are not served', () => {
  test.each<[string, string, readonly string[]]>([
    ['InferenceIdentityBinding', '✗ not served', ['KLM544']],
    ['ClusterSPIFFEID', '✗ not served', ['KLM544']],
    ['InferencePool', '✗ not served', ['KLM544']],
    ['ClusterStaticEntry', '· not served', []],
    ['InferenceObjective', '· not served', []],
  ])('%s', async (kind, row, codes) => {
    const found = await said(SOUND, [kind])
    expect(found.lines[kind]).toBe(row)
    expect(found.codes).toEqual(codes)
  })
})

test('a kind that may be served is not reported as missing', async () => {
  const { lines, codes, frame } = await said(SOUND, [], '/apis/spire.spiffe.io/v1alpha1')
  expect(lines['ClusterSPIFFEID']).toMatch(/^! not known: cannot discover ClusterSPIFFEID/)
  expect(codes).toEqual([])
  expect(missingOf(frame.causes).map(({ what }) => what)).toContain('ClusterSPIFFEID.spire.spiffe.io')
})

test('settings that nothing tells are reported as not known', async () => {
  const { lines, codes } = await said({ ...SOUND, lists: { ...SOUND.lists, [DEPLOYMENTS]: [[[]]] } })
  expect(lines).toMatchObject({
    'trust domain': '! not known: pass --trust-domain',
    class: '! not known: pass --clusterspiffeid-class-name',
  })
  expect(lines['SCM']).toMatch(/^! not known whether it handles kleym's class/)
  expect(codes).toEqual(['KLM543'])
})

test('a class that SCM ignores', async () => {
  const args = ['--trust-domain=example.org', '--clusterspiffeid-class-name=other']
  const { lines, codes } = await said({
    ...SOUND,
    lists: { ...SOUND.lists, [DEPLOYMENTS]: [[[deployment('kleym', { args })]]] },
  })
  expect(lines['SCM']).toMatch(/^✗ ignores kleym's outputs/)
  expect(codes).toContain('KLM401')
})

test('a class that no label can hold', async () => {
  const className = 'x'.repeat(64)
  const args = ['--trust-domain=example.org', `--clusterspiffeid-class-name=${className}`]
  const scm = (filter: string): JsonRecord => ({
    ...SCM,
    data: { 'c.yaml': `${SCM.data['c.yaml'].replace('className: scm', `className: ${className}`)}${filter}` },
  })
  const withScm = (filter: string): Answers => ({
    ...SOUND,
    lists: {
      ...SOUND.lists,
      [DEPLOYMENTS]: [[[deployment('kleym', { args })]]],
      'ConfigMap spire': [[[scm(filter)]]],
    },
  })
  const plain = await said(withScm(''))
  expect(plain.lines['SCM']).toMatch(/^✓ handles kleym's class/)
  expect(plain.codes).toEqual(['KLM422'])
  const filtered = await said(withScm('filterByClassName: true\n'))
  expect(filtered.lines['SCM']).toMatch(/^✗ ignores kleym's outputs/)
  expect(filtered.codes.toSorted()).toEqual(['KLM401', 'KLM414', 'KLM422'])
})
