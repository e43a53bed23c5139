// `verify` from files, as a person runs it: the estate against the entries that it asks for, and against what is wrong with them.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { dig, isRecord, listAt, type JsonRecord } from '@kleym/shared/core/base/json.ts'
import { printedBy } from '@kleym/testing/child-process.ts'
import { ESTATE_FLAGS, PROJECT_ROOT } from '../../support/estate.ts'
import { inProcess, type Ran } from '../../support/in-process.ts'
import { workspace } from '../../support/workspace.ts'
import { binding as bindingOf, pool } from '../../certainty/manifests.ts'

const AS_OF = ['--as-of', '2030-01-01T00:00:00Z']

async function verify(file: string, ...flags: readonly string[]): Promise<Ran> {
  return inProcess(['verify', '--entries', file, ...ESTATE_FLAGS, ...flags], PROJECT_ROOT)
}

/** The entries that the estate asks for, as its server would print them: without those that hold placeholders. */
async function entriesOfEstate(): Promise<readonly JsonRecord[]> {
  const { stdout } = await inProcess(
    ['who-selects', '-A', '--entries', '-o', 'spire', ...ESTATE_FLAGS],
    PROJECT_ROOT,
  )
  const whole: unknown = JSON.parse(stdout)
  return listAt(whole, 'entries')
    .filter(isRecord)
    .filter((entry) => !JSON.stringify(entry).includes('<'))
    .map((entry, at) => ({ ...entry, id: `prod.${at}`, created_at: '1800000000' }))
}

async function dumped(entries: readonly JsonRecord[]): Promise<string> {
  const folder = await workspace({ 'entries.json': JSON.stringify({ entries, next_page_token: '' }) })
  return join(folder, 'entries.json')
}

async function differencesOf(entries: readonly JsonRecord[]): Promise<readonly string[]> {
  const { stdout } = await verify(await dumped(entries), ...AS_OF, '-o', 'json')
  const report: unknown = JSON.parse(stdout)
  return listAt(report, 'differences')
    .filter(isRecord)
    .map(({ kind, code, cause }) => `${String(kind)} ${String(code)} ${String(cause)}`)
}

describe('the estate against a server', () => {
  test('that holds what it asks for: no difference', async () => {
    expect(await differencesOf(await entriesOfEstate())).toEqual([])
  })

  test('that holds something else: each difference, with the cause that shows', async () => {
    const [first = {}, second = {}, third = {}, ...rest] = await entriesOfEstate()
    const made = { ...third, id: '0b6f', spiffe_id: { trust_domain: 'example.org', path: '/made/by/hand' } }
    const left = {
      ...made,
      id: 'prod.left',
      created_at: '1',
      selectors: [{ type: 'k8s', value: 'pod-uid:gone' }],
    }
    const entries = [{ ...first, x509_svid_ttl: 77 }, { ...second, admin: true }, third, made, left, ...rest]
    expect(await differencesOf(entries)).toEqual([
      'different KLM804 scm behind',
      'extra KLM802 another registrar',
      'different KLM803 scm behind',
      'extra KLM805 pod gone',
    ])
    const { code } = await verify(await dumped(entries), ...AS_OF)
    expect(code).toBe(1)
  })

  test('an entry of another node gives a container here its right, by the ID that the container holds', async () => {
    const entries = await entriesOfEstate()
    const [first = {}] = entries
    const parent = { trust_domain: 'example.org', path: '/spire/agent/k8s_psat/elsewhere/node' }
    const selectors = [{ type: 'unix', value: 'uid:0' }]
    const made = { ...first, id: '0b6f', parent_id: parent, selectors, admin: true }
    expect(await differencesOf([made, ...entries])).toEqual(['extra KLM804 another registrar'])
    const { code, stdout } = await verify(
      await dumped([made, ...entries]),
      ...AS_OF,
      '--suppress',
      'KLM805=registrationentry/*',
    )
    expect({ code, isNamed: stdout.includes('RegistrationEntry/0b6f') }).toEqual({ code: 1, isNamed: true })
    const unheld = { ...made, spiffe_id: { trust_domain: 'example.org', path: '/held/by/nobody' } }
    expect(await differencesOf([unheld, ...entries])).toEqual(['extra KLM805 another registrar'])
  })

  test('an entry with a right whose ID a container holds only perhaps is a finding that depends on that', async () => {
    const made: JsonRecord = {
      id: '0b6f',
      spiffe_id: { trust_domain: 'example.org', path: '/ci/builder' },
      parent_id: { trust_domain: 'example.org', path: '/spire/agent/k8s_psat/elsewhere/node' },
      selectors: [{ type: 'unix', value: 'uid:0' }],
      admin: true,
    }
    const { stdout } = await verify(
      await dumped([made, ...(await entriesOfEstate())]),
      ...AS_OF,
      '-o',
      'json',
    )
    const report: unknown = JSON.parse(stdout)
    expect(
      listAt(report, 'findings').filter((one) => JSON.stringify(one).includes('RegistrationEntry')),
    ).toMatchObject([{ code: 'KLM804', severity: 'warning', dependsOn: ['which containers hold its ID'] }])
  })

  test('an entry that expires is no agreement, and another client made it so', async () => {
    const [first = {}, ...rest] = await entriesOfEstate()
    expect(await differencesOf([{ ...first, expires_at: '1900000000' }, ...rest])).toEqual([
      'different KLM803 another registrar',
    ])
  })

  test('in text: the sum first, and the entry that gives an identity by name', async () => {
    const [first = {}, second = {}, third = {}, ...rest] = await entriesOfEstate()
    const made = { ...third, id: '0b6f', spiffe_id: { trust_domain: 'example.org', path: '/made/by/hand' } }
    const { stdout } = await verify(await dumped([first, second, third, made, ...rest]), ...AS_OF)
    expect(stdout.split('\n')[0]).toMatch(/^✗ the SPIRE server has 1 entry that no object asks for$/)
    expect(stdout).toContain('RegistrationEntry/0b6f')
  })
})

describe('what a comparison comes to', () => {
  const STAMP = { uid: 'e1', creationTimestamp: '2029-12-31T00:00:00Z' }
  const OBJECT = {
    apiVersion: 'spire.spiffe.io/v1alpha1',
    kind: 'ClusterStaticEntry',
    metadata: { name: 'db', ...STAMP },
    spec: {
      className: 'spire',
      parentID: 'spiffe://example.org/node',
      spiffeID: 'spiffe://example.org/db',
      selectors: ['unix:uid:7'],
    },
  }
  const SCM = {
    apiVersion: 'spire.spiffe.io/v1alpha1',
    kind: 'ControllerManagerConfig',
    trustDomain: 'example.org',
    className: 'spire',
    clusterName: 'prod',
  }
  const ENTRY: JsonRecord = {
    id: 'prod.1',
    spiffe_id: { trust_domain: 'example.org', path: '/db' },
    parent_id: { trust_domain: 'example.org', path: '/node' },
    selectors: [{ type: 'unix', value: 'uid:7' }],
    created_at: '1893369600',
  }

  test.each<[string, readonly JsonRecord[], string, string, number]>([
    ['agreement is 0', [ENTRY], '2030-01-01T00:00:00Z', '✓ the SPIRE server agrees', 0],
    [
      'a difference that is no error is 1 too',
      [{ ...ENTRY, x509_svid_ttl: 77 }],
      '2030-01-01T00:00:00Z',
      '! the SPIRE server differs in 1 entry',
      1,
    ],
    [
      'an entry that no object asks for is a difference, whoever gets it',
      [ENTRY, { ...ENTRY, id: 'x', selectors: [{ type: 'unix', value: 'uid:8' }] }],
      '2030-01-01T00:00:00Z',
      '! the SPIRE server has 1 entry that no object asks for',
      1,
    ],
    ['a missing entry is an error', [], '2030-01-01T00:00:00Z', '✗ the SPIRE server lacks 1 entry', 1],
    [
      'a difference that may only be a matter of time is 4',
      [],
      '2029-12-31T00:00:05Z',
      '! the SPIRE server lacks 1 entry',
      4,
    ],
  ])('%s', async (_, entries, asOf, first, exit) => {
    const folder = await workspace({
      'entries.json': JSON.stringify({ entries }),
      'scm.json': JSON.stringify(SCM),
      'objects/db.json': JSON.stringify(OBJECT),
      'objects/pod.json': JSON.stringify({
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name: 'a', namespace: 'b', ...STAMP },
      }),
    })
    const settings = '--trust-domain example.org --clusterspiffeid-class-name spire --scm-config scm.json'
    const args = `verify --entries entries.json --as-of ${asOf} --offline -f objects ${settings}`.split(' ')
    const { stdout, code } = await inProcess(args, folder)
    expect(stdout).toContain(first)
    expect(code).toBe(exit)
  })
})

/** An extra entry that all containers of a namespace of the estate get. */
function extraOf(entries: readonly JsonRecord[], namespace: string, id: string): JsonRecord {
  const one = entries.find((entry) => String(dig(entry, 'spiffe_id', 'path')).startsWith(`/ns/${namespace}/`))
  if (one === undefined) throw new Error(`the estate has an entry of ${namespace}`)
  const selectors = [{ type: 'k8s', value: `ns:${namespace}` }]
  return { ...one, id, selectors, spiffe_id: { trust_domain: 'example.org', path: `/made/${id}` } }
}

function crowdOf(entries: readonly JsonRecord[], namespace: string, count: number): readonly JsonRecord[] {
  return Array.from({ length: count }, (_, at) => extraOf(entries, namespace, `a${1_000 + at}`))
}

describe('very many extra entries', () => {
  test('one behind a thousand others is told of, also to who asks about its namespace alone', async () => {
    const entries = await entriesOfEstate()
    const all = [...entries, ...crowdOf(entries, 'serving', 1_001), extraOf(entries, 'team-a', 'z')]
    const answer = await verify(await dumped(all), ...AS_OF, '-n', 'team-a')
    expect(answer.code).toBe(1)
    expect(answer.stdout).toContain('no object asks for 2 more entries')
    expect(answer.stdout).toContain('entry z: spiffe://example.org/made/z')
    expect(answer.stdout).not.toContain('RegistrationEntry/a1000')
  })

  test('who accepts those that are not told one by one has not accepted later ones', async () => {
    const entries = await entriesOfEstate()
    const crowd = [...entries, ...crowdOf(entries, 'serving', 1_002)]
    const accepting = ['--suppress', 'KLM802=*/a*', '--suppress', 'KLM802=*/others']
    const { stdout, code } = await verify(await dumped(crowd), ...AS_OF, ...accepting)
    const [name = ''] = /others-[0-9a-f]{12}/.exec(stdout) ?? []
    expect([code, name]).toEqual([1, expect.stringContaining('others-')])
    const accepted = [...accepting.slice(0, 3), `KLM802=*/${name}`]
    const before = await verify(await dumped(crowd), ...AS_OF, ...accepted)
    // Of the estate itself some is open.
    expect(before.code).toBe(4)
    expect(before.stdout).not.toContain('more entries')
    const later = await verify(
      await dumped([...crowd, extraOf(entries, 'team-a', 'z')]),
      ...AS_OF,
      ...accepted,
    )
    expect(later.code).toBe(1)
    expect(later.stdout).toContain('entry z: spiffe://example.org/made/z')
  })

  test('one that gives an identity, behind more than are kept that give none, is an error', async () => {
    const entries = await entriesOfEstate()
    const crowd = crowdOf(entries, 'serving', 50_001).map((entry) => ({
      ...entry,
      selectors: [{ type: 'k8s', value: 'ns:nowhere' }],
    }))
    const file = await dumped([...entries, ...crowd, extraOf(entries, 'team-a', 'z')])
    const answer = await verify(file, ...AS_OF)
    expect(answer.code).toBe(1)
    expect(answer.stdout).toContain('RegistrationEntry/z')
  })

  test('more that give identities than are kept leave the answer incomplete', async () => {
    const entries = await entriesOfEstate()
    const crowd = crowdOf(entries, 'serving', 100_000)
    const file = await dumped([...entries, ...crowd, extraOf(entries, 'team-a', 'z')])
    const accepting = ['--suppress', 'KLM802=*/a*', '--suppress', 'KLM802=*/others-*']
    const answer = await verify(file, ...AS_OF, ...accepting)
    expect(answer.code).toBe(4)
    expect(answer.stderr).toContain('which containers get 1 entry more that no object asks for')
  })
})

describe('a file that is no dump ends the command', () => {
  test('a named pipe, which may never have a writer', async () => {
    const root = await workspace({ 'entries.json': '{"entries":[]}' })
    printedBy('mkfifo', [join(root, 'pipe')])
    for (const flags of [['--entries=pipe'], ['--entries=entries.json', '--bundles=pipe']]) {
      const { code, stderr } = await inProcess(['verify', '--offline', '-f', 'entries.json', ...flags], root)
      expect(stderr).toContain('it is a pipe or a device, and no file')
      expect(code).toBe(2)
    }
  })

  test.each([
    ['text of entry show', 'Found 3 entries\n', 'it is no JSON'],
    ['cut off', '{"entries":[{"id":"a"', 'it ends in the middle'],
    ['a list of objects', '{"items":[{"kind":"Pod"}]}', 'it has no list entries'],
    [
      'entries of another shape',
      '{"entries":[{"id":"a","spiffe_id":"spiffe://a/b"}]}',
      'entry 1: .spiffe_id: ',
    ],
    [
      'a page of a list',
      '{"entries":[],"next_page_token":"a"}',
      'it is one page of a longer list (next_page_token)',
    ],
    ['SVIDs with keys', '{"entries":[{"x509_svid_key":"SECRET"}]}', 'it holds private keys'],
    ['control characters', '{"entries":[{"id":"\\u001b[2J"}]}', 'entry 1: .id: it is no ID of an entry'],
  ])('%s', async (_, content, why) => {
    const folder = await workspace({ 'entries.json': content })
    const { code, stdout, stderr } = await verify(join(folder, 'entries.json'))
    expect([code, stdout]).toEqual([4, ''])
    expect(stderr).toContain(why)
    expect(stderr).not.toContain('SECRET')
  })

  test('an ID that stands twice', async () => {
    const [first = {}, second = {}] = await entriesOfEstate()
    const { code, stderr } = await verify(await dumped([first, { ...second, id: first['id'] }]))
    expect(code).toBe(4)
    expect(stderr).toContain('entry 2: the ID prod.0 is there twice')
  })

  test('two dumps of one server, as two of its replicas give: each entry would be there twice', async () => {
    const [first = {}, second = {}] = await entriesOfEstate()
    const file = await dumped([first])
    for (const other of [file, await dumped([second, first])]) {
      const { code, stdout, stderr } = await verify(file, '--entries', other)
      expect([code, stdout]).toEqual([4, ''])
      expect(stderr).toContain('the ID prod.0 is there twice, in one file or in two: give each server once')
    }
  })

  test('a dump that is younger than --as-of says: what has expired since would count as valid', async () => {
    const file = await dumped(await entriesOfEstate())
    const { code, stdout, stderr } = await verify(file, '--as-of', '2027-01-15T07:59:29Z')
    expect([code, stdout]).toEqual([4, ''])
    expect(stderr).toContain('the entries were dumped after 2027-01-15T07:59:29Z')
    // Two clocks may differ by as much.
    expect((await verify(file, '--as-of', '2027-01-15T07:59:30Z')).stderr).not.toContain('dumped after')
  })

  test.each([
    [['--entries', 'nowhere.json'], 'there is no such file'],
    [['--entries', 'examples'], 'it is a folder'],
    [['--entries', '-', '-f', '-'], 'it can be read only once'],
    [['--entries', 'x', '--as-of', 'noon'], 'RFC 3339'],
    [[], 'verify needs the entries of a server'],
  ])('%j is wrong usage', async (flags, why) => {
    const { code, stderr } = await inProcess(['verify', ...flags, ...ESTATE_FLAGS], PROJECT_ROOT)
    expect(code).toBe(2)
    expect(stderr).toContain(why)
  })
})

test('manifests without pods of a cluster: extra entries depend on what was not given', async () => {
  const folder = await workspace({ 'entries.json': JSON.stringify({ entries: await entriesOfEstate() }) })
  await writeFile(
    join(folder, 'namespace.yaml'),
    'apiVersion: v1\nkind: Namespace\nmetadata: {name: team-a}\n',
  )
  const { code, stdout } = await inProcess(
    ['verify', '--entries', 'entries.json', '--offline', '-f', 'namespace.yaml', '-o', 'json'],
    folder,
  )
  expect(code).toBe(4)
  const report: unknown = JSON.parse(stdout)
  expect(listAt(report, 'findings').filter((one) => isRecord(one) && one['severity'] === 'error')).toEqual([])
})

test('-o spire is the form of entries alone', async () => {
  for (const args of [
    ['who-selects', '-A'],
    ['conflicts', '-A'],
    ['verify', '--entries', '-'],
  ])
    expect((await inProcess([...args, ...ESTATE_FLAGS, '-o', 'spire'], PROJECT_ROOT)).stderr).toContain(
      'only who-selects --entries has that',
    )
})

/** A ClusterFederatedTrustDomain. */
function relationship(name: string, className: string): string {
  return JSON.stringify({
    apiVersion: 'spire.spiffe.io/v1alpha1',
    kind: 'ClusterFederatedTrustDomain',
    metadata: { name },
    spec: {
      className,
      trustDomain: `${name}.example`,
      bundleEndpointURL: `https://${name}.example/bundle`,
      bundleEndpointProfile: { type: 'https_web' },
    },
  })
}

test('the bundles of the server settle what depends on federation', async () => {
  const folder = await workspace({
    'some.json': JSON.stringify({ bundles: [{ trust_domain: 'elsewhere.example' }] }),
    'all.json': JSON.stringify({
      bundles: [{ trust_domain: 'elsewhere.example' }, { trust_domain: 'far.example' }],
    }),
    'far.json': JSON.stringify({ bundles: [{ trust_domain: 'far.example' }] }),
    'none.json': JSON.stringify({ bundles: [] }),
    'elsewhere.yaml': relationship('elsewhere', 'spire-mgmt-spire'),
    'far.yaml': relationship('far', 'another'),
    'twice.json': JSON.stringify({ bundles: [{ trust_domain: 'a' }, { trust_domain: 'a' }] }),
    'id.yaml': `apiVersion: spire.spiffe.io/v1alpha1
kind: ClusterSPIFFEID
metadata: { name: far, uid: u, creationTimestamp: '2020-01-01T00:00:00Z' }
spec:
  className: spire-mgmt-spire
  spiffeIDTemplate: spiffe://example.org/far/{{ .PodMeta.Name }}
  federatesWith: [elsewhere.example, far.example]
`,
  })
  const server = join(PROJECT_ROOT, 'examples/server/entries.json')
  const findingsWith = async (
    bundles: string | undefined,
    ...files: readonly string[]
  ): Promise<readonly JsonRecord[]> => {
    const given = bundles === undefined ? [] : ['--bundles', join(folder, bundles)]
    const flags = [...given, ...['id.yaml', ...files].flatMap((file) => ['-f', join(folder, file)])]
    const { stdout } = await verify(server, ...flags, '-o', 'json')
    const report: unknown = JSON.parse(stdout)
    return listAt(report, 'findings')
      .filter(isRecord)
      .filter(({ subject }) => isRecord(subject) && subject['name'] === 'far')
  }
  const codesWith = async (...given: Parameters<typeof findingsWith>): Promise<readonly string[]> =>
    (await findingsWith(...given)).map(({ code, summary }) => `${String(code)} ${String(summary)}`)
  const DEFAULT =
    'KLM812 this default identity depends on 2 bundles of others: elsewhere.example, far.example'
  expect(await codesWith('some.json')).toEqual([
    'KLM811 the SPIRE server holds no bundle of far.example, and refuses every entry of it',
    DEFAULT,
  ])
  expect(await codesWith(undefined)).toEqual([DEFAULT])
  expect(await codesWith(undefined, 'elsewhere.yaml')).toEqual([
    DEFAULT,
    'KLM813 it federates with far.example, and no object that SCM handles declares the relationship',
  ])
  // One of another class declares nothing to this SCM; where the bundle is missing, that is said alone.
  expect(await codesWith('some.json', 'elsewhere.yaml', 'far.yaml')).toEqual([
    'KLM811 the SPIRE server holds no bundle of far.example, and refuses every entry of it',
    DEFAULT,
  ])
  expect(await codesWith('all.json', 'elsewhere.yaml', 'far.yaml')).toEqual([
    DEFAULT,
    'KLM813 it federates with far.example, and no object that SCM handles declares the relationship',
    expect.stringMatching(/^KLM806 the SPIRE server lacks \d+ entries of ClusterSPIFFEID\/far:/),
  ])
  const [lacking] = await findingsWith('none.json', 'elsewhere.yaml', 'far.yaml')
  expect(lacking).toMatchObject({
    evidence: [
      '.spec.federatesWith: elsewhere.example, far.example',
      'ClusterFederatedTrustDomain/elsewhere declares elsewhere.example, and its bundle has not come',
      'ClusterFederatedTrustDomain/far declares far.example, and SCM does not handle its class',
    ],
    fix: expect.stringMatching(/^Declare the relationship/),
  })
  const [late] = await findingsWith('far.json', 'elsewhere.yaml')
  expect(late).toMatchObject({
    code: 'KLM811',
    fix: expect.stringMatching(/^Find out why the bundle does not arrive/),
  })
  expect((await verify(server, '--bundles', join(folder, 'twice.json'))).stderr).toContain(
    'trust domain a is there twice',
  )
})

test('a selector of an identity of kleym fails: the field of the binding or of its pool asks for it', async () => {
  const folder = await workspace({
    'denied.txt': 'rpc error: code = PermissionDenied desc = no identity issued',
  })
  const uid = 'k8s:pod-uid:bca7e8dd-c0b1-433d-80c4-aa5eb83838e8'
  const { stdout } = await verify(
    'examples/server/entries.json',
    '--svids',
    join(folder, 'denied.txt'),
    '--pod',
    'team-a/llama-pqjm8lw-knkfm',
    '-c',
    'vllm',
    ...[uid, 'k8s:sa:other', 'k8s:ns:team-a', 'k8s:pod-label:app:other', 'k8s:container-name:proxy'].flatMap(
      (one) => ['--selectors', one],
    ),
    '-o',
    'json',
  )
  const [lacking] = listAt(JSON.parse(stdout), 'svids', 'lacking')
  const failing = listAt(lacking, 'failing').map((one) => [
    dig(one, 'askedBy', 'object'),
    dig(one, 'askedBy', 'field'),
    dig(one, 'decidedBy', 'object'),
    dig(one, 'decidedBy', 'field'),
  ])
  const [binding, pod] = ['InferenceIdentityBinding/team-a/chat', 'Pod/team-a/llama-pqjm8lw-knkfm']
  expect(failing).toEqual([
    [binding, '.spec.containerName', pod, '.spec.containers[0].name'],
    ['InferencePool/team-a/llama', '.spec.selector.matchLabels["app"]', pod, '.metadata.labels["app"]'],
    [binding, '.spec.serviceAccountName', pod, '.spec.serviceAccountName'],
  ])
})

/** A pool and a binding of it. */
function bindingFile(spec: JsonRecord): Readonly<Record<string, string>> {
  const items = [
    { ...pool('llama'), spec: { selector: { matchLabels: { pool: 'llama' } } } },
    bindingOf('whole', spec),
  ]
  return { 'kleym.json': JSON.stringify({ apiVersion: 'v1', kind: 'List', items }) }
}

/** What `spire-agent api fetch x509` prints of SVIDs with these IDs. */
function text(...ids: readonly string[]): string {
  return [
    `Received ${ids.length} svid${ids.length === 1 ? '' : 's'} after 3.1ms\n`,
    ...ids.map((id) => `SPIFFE ID:\t\t${id}\nSVID Valid After:\t2026-11-22 12:00:00 +0000 UTC\n`),
  ].join('\n')
}

describe('what a process got', () => {
  const CHAT = 'spiffe://example.org/ns/team-a/objective/chat'
  const ID = 'spiffe://example.org/ns/team-a/p'
  const META = { creationTimestamp: '2026-01-01T00:00:00Z', generation: 1 }
  const OBJECTS = [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'team-a' } },
    { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1', uid: 'node-1' } },
    {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { ...META, name: 'p', namespace: 'team-a', uid: 'pod-1', labels: { pool: 'llama' } },
      spec: { nodeName: 'n1', serviceAccountName: 'runner', containers: [{ name: 'app', image: 'app:1' }] },
    },
    {
      apiVersion: 'spire.spiffe.io/v1alpha1',
      kind: 'ClusterSPIFFEID',
      metadata: { ...META, name: 'a', uid: 'a' },
      spec: {
        className: 'x',
        spiffeIDTemplate: 'spiffe://example.org/ns/team-a/{{ .PodMeta.Name }}',
        workloadSelectorTemplates: ['k8s:container-name:app'],
      },
    },
  ]
  const ENTRY = {
    id: 'prod.1',
    spiffe_id: { trust_domain: 'example.org', path: '/ns/team-a/p' },
    parent_id: { trust_domain: 'example.org', path: '/spire/agent/k8s_psat/prod/node-1' },
    selectors: [
      { type: 'k8s', value: 'container-name:app' },
      { type: 'k8s', value: 'pod-uid:pod-1' },
    ],
    created_at: '1767225700',
    revision_number: '0',
  }
  const SCM = {
    apiVersion: 'spire.spiffe.io/v1alpha1',
    kind: 'ControllerManagerConfig',
    clusterName: 'prod',
    trustDomain: 'example.org',
    className: 'x',
    entryIDPrefix: 'prod',
  }

  const DENIED = 'rpc error: code = PermissionDenied desc = no identity issued\n'

  async function asked(
    content: string,
    flags: readonly string[] = [],
    files: Readonly<Record<string, string>> = {},
    asOf = AS_OF,
  ): Promise<Ran> {
    const folder = await workspace({
      'svids.txt': content,
      'cluster.json': JSON.stringify({ apiVersion: 'v1', kind: 'List', items: OBJECTS }),
      'entries.json': JSON.stringify({ entries: [ENTRY] }),
      'scm.json': JSON.stringify(SCM),
      ...files,
    })
    const line =
      'verify --offline -f cluster.json --entries entries.json --scm-config scm.json --svids svids.txt --pod team-a/p -c app'
    return inProcess([...line.split(' '), ...asOf, ...flags], folder)
  }

  async function codesOf(
    content: string,
    flags: readonly string[] = [],
    files: Readonly<Record<string, string>> = {},
  ): Promise<readonly string[]> {
    const { stdout, stderr } = await asked(content, [...flags, '-o', 'json'], files)
    if (stdout === '') throw new Error(stderr)
    const report: unknown = JSON.parse(stdout)
    return listAt(report, 'findings')
      .filter(isRecord)
      .map(({ code, evidence }) => `${String(code)} ${listAt({ evidence }, 'evidence').join('; ')}`)
  }

  async function secondLine(content: string): Promise<string | undefined> {
    const { stdout } = await asked(content)
    return stdout.split('\n')[1]
  }

  test('is what it should: no finding', async () => {
    expect(await codesOf(text(ID))).toEqual([])
  })

  const until = (...times: readonly string[]): string =>
    times.reduce(
      (given, time) =>
        given
          .replace('12:00:00 +0000 UTC\n', `$&SVID Valid Until:\t${time} 00:00:00 +0000 UTC\n`)
          .replace('12:', '11:'),
      text(...times.map(() => ID)),
    )
  const shortCodes = async (content: string, flags?: readonly string[]): Promise<unknown> =>
    (await codesOf(content, flags)).map((one) => one.slice(0, 6))
  describe('has expired', () => {
    test('is missing', async () => {
      const { code, stdout } = await asked(until('2029-12-31'))
      expect(code).toBe(1)
      expect(stdout).toContain('app of team-a/p got 1 SVID: 1 missing')
      expect(stdout.replaceAll(/\s+/g, ' ')).toContain(
        `its SVID of ${ID} by ClusterSPIFFEID/a was valid until 2029-12-31T00:00:00Z`,
      )
      expect(await shortCodes(until('2030-01-01'))).toEqual([])
    })
    test('is not, if another of the same ID is valid', async () => {
      expect(await shortCodes(until('2029-12-31', '2030-01-02'))).toEqual([])
    })
    test('is not unexpected', async () => {
      const other = until('2029-12-31').replace(ID, CHAT)
      expect(await shortCodes(other)).toEqual(['KLM821'])
      expect(await shortCodes(other.replace('2029', '2030'))).toEqual(['KLM821', 'KLM822'])
    })
    test('is perhaps missing, if nothing says how old the text is', async () => {
      const { code, stdout } = await asked(until('2001-01-01'), [], {}, [])
      expect([code, stdout.split('\n')[1]]).toEqual([4, '  app of team-a/p got 1 SVID: 1 perhaps missing'])
    })
  })

  test('an entry of its ID for the agent of another node is none of it', async () => {
    const parent = { trust_domain: 'example.org', path: '/spire/agent/k8s_psat/prod/node-2' }
    const items = OBJECTS.map((one) => ({ ...one, metadata: { ...META, ...one.metadata } }))
    const elsewhere = {
      'cluster.json': JSON.stringify({ apiVersion: 'v1', kind: 'List', items }),
      'entries.json': JSON.stringify({ entries: [{ ...ENTRY, parent_id: parent }] }),
    }
    const codes = await codesOf(
      text(),
      ['--selectors', 'k8s:container-name:app,k8s:pod-uid:pod-1'],
      elsewhere,
    )
    expect(codes.find((one) => one.startsWith('KLM821'))).toContain(
      'the server holds no entry of it for this pod',
    )
  })

  describe('by a binding that kleym has not settled', () => {
    const KLEYM = ['--trust-domain', 'example.org', '--clusterspiffeid-class-name', 'x', '-f', 'kleym.json']
    test('is neither missing nor unexpected while its output must still be written', async () => {
      const whole = bindingFile({ mode: 'PoolOnly' })
      expect(await codesOf(text(ID), KLEYM, whole)).toEqual([])
      expect(await codesOf(text(ID, 'spiffe://example.org/ns/team-a/pool/llama'), KLEYM, whole)).toEqual([])
    })

    test('is perhaps unexpected while the binding is undetermined', async () => {
      const variant = bindingFile({ mode: 'PerVariant', identityBoundary: { variant: 'a' } })
      const got = text(ID, 'spiffe://example.org/ns/team-a/pool/llama/variant/a')
      const { code, stdout } = await asked(got, [...KLEYM, '-o', 'json'], variant)
      const report: unknown = JSON.parse(stdout)
      expect(listAt(report, 'findings')).toMatchObject([
        { code: 'KLM822', severity: 'warning', dependsOn: [expect.stringContaining('binding team-a/whole')] },
      ])
      expect(listAt(report, 'svids', 'surplus')).toMatchObject([{ certain: false }])
      expect(code).toBe(4)
      expect((await asked(got, KLEYM, variant)).stdout.split('\n')[1]).toContain(': 1 perhaps unexpected')
    })
  })

  test('the second line tells how many it got, and whether one is missing or unexpected', async () => {
    expect(await secondLine(text(ID))).toBe('  app of team-a/p got 1 SVID: none missing or unexpected')
    expect(await secondLine(text(CHAT, `${CHAT}-2`))).toBe(
      '  app of team-a/p got 2 SVIDs: 1 missing, 2 unexpected',
    )
    expect(await secondLine(DENIED)).toBe('  app of team-a/p got 0 SVIDs: 1 missing')
  })

  test('lacks one that the server holds, and holds one that no object gives', async () => {
    expect(await codesOf(text(CHAT))).toEqual([
      'KLM821 the server holds the entry prod.1: the agent has not fetched it yet (every 5 s), or the process has other selectors than its pod shows',
      'KLM822 the server holds no entry of it for this pod: the agent hands out what it had, until its next synchronization',
    ])
  })

  test('lacks one that an SVID with the same hint hides', async () => {
    const hinted = text(CHAT).replace(CHAT, `${CHAT}\nHint:\t\t\th`)
    const entries = { 'entries.json': JSON.stringify({ entries: [{ ...ENTRY, hint: 'h' }] }) }
    const codes = await codesOf(hinted, [], entries)
    expect(codes[0]).toBe(
      `KLM821 the server holds the entry prod.1, and ${CHAT} has the same hint h: of two entries with one hint the Workload API hands out the older alone`,
    )
  })

  test('lacks one: the selectors of the process tell which of the entry it has not', async () => {
    const flags = ['--selectors', 'k8s:pod-uid:pod-1', '--selectors', 'k8s:container-name:proxy']
    expect(await codesOf(DENIED, flags)).toEqual([
      'KLM821 the process has not the selector k8s:container-name:app of the entry prod.1; k8s:container-name:app is wanted by .spec.workloadSelectorTemplates[0] of ClusterSPIFFEID/a, and the process has k8s:container-name:proxy: the pod shows it, so the process is of another pod or container, or the pod has changed since',
    ])
  })

  test("the agent's log tells them too, and each selector that fails names the fields that ask for it and that decide it", async () => {
    const values = ['ns:team-a', 'pod-uid:pod-1', 'container-name:app', 'pod-label:app:other']
    const line = JSON.stringify({
      msg: 'PID attested to have selectors',
      selectors: values.map((value) => ({ type: 'k8s', value })),
    })
    const entry = {
      ...ENTRY,
      selectors: [
        ...ENTRY.selectors,
        { type: 'k8s', value: 'pod-label:app:llama' },
        { type: 'unix', value: 'uid:0' },
      ],
    }
    const extra = { 'agent.log': line, 'entries.json': JSON.stringify({ entries: [entry] }) }
    const { stdout, stderr } = await asked(DENIED, ['--agent-log', 'agent.log', '-o', 'json'], extra)
    expect(stderr).not.toContain('error')
    const report: unknown = JSON.parse(stdout)
    expect(dig(report, 'svids')).toEqual({
      pod: 'pod team-a/p',
      container: 'app',
      got: [],
      selectors: values.map((value) => `k8s:${value}`),
      lacking: [
        {
          spiffe_id: ID,
          certain: true,
          source: 'ClusterSPIFFEID/a',
          entry: 'prod.1',
          why: 'the process has not the selectors k8s:pod-label:app:llama, unix:uid:0 of the entry prod.1',
          expired: null,
          failing: [
            {
              selector: 'k8s:pod-label:app:llama',
              has: ['k8s:pod-label:app:other'],
              askedBy: null,
              decidedBy: { object: 'Pod/team-a/p', field: '.metadata.labels["app"]' },
              isShownByPod: false,
            },
            { selector: 'unix:uid:0', has: [], askedBy: null, decidedBy: null, isShownByPod: false },
          ],
          untold: [],
        },
      ],
      surplus: [],
    })
    const found = listAt(report, 'findings').find((one) => isRecord(one) && one['code'] === 'KLM821')
    expect(found).toMatchObject({ fix: 'Change .metadata.labels["app"] of Pod/team-a/p.' })
  })

  test('a log of which log_selectors leaves out a kind tells nothing about that kind', async () => {
    const line = 'msg="No identity issued" selectors="k8s:container-name:proxy"'
    expect(await codesOf(DENIED, ['--agent-log', 'agent.log'], { 'agent.log': line })).toEqual([
      expect.stringContaining('of the kind of k8s:pod-uid:pod-1 none is given'),
    ])
    const { code, stderr } = await asked(DENIED, ['--agent-log', 'agent.log'], { 'agent.log': 'SECRET' })
    expect([code, stderr]).toEqual([4, expect.stringContaining('this log shows no selectors of the process')])
    expect(stderr).not.toContain('SECRET')
  })

  test('lacks one: of selectors that the agent does not log nothing is said for certain', async () => {
    const untold =
      'of the kind of k8s:pod-uid:pod-1 none is given: the process has none, or log_selectors does not name the kind'
    // As a line of the agent's log has them.
    const proxy = 'k8s:container-name:proxy,k8s:ns:team-a,k8s:sa:runner'
    expect(await codesOf(DENIED, ['--selectors', proxy])).toEqual([
      expect.stringMatching(
        /^KLM821 the process has not the selector k8s:container-name:app of .*none is given/,
      ),
    ])
    expect(await codesOf(DENIED, ['--selectors', 'k8s:container-name:app,k8s:ns:team-a'])).toEqual([
      `KLM821 the server holds the entry prod.1: the agent has not fetched it yet (every 5 s), or the process has other selectors than its pod shows; ${untold}`,
    ])
  })

  test.each([
    ['keys in JSON', '{"svids":[{"x509_svid_key":"SECRET"}]}', 'it holds private keys'],
    ['a PEM key', '-----BEGIN PRIVATE KEY-----\nSECRET', 'it holds private keys'],
    ['JSON', '{"svids":["SECRET"]}', 'it is JSON, which holds keys'],
    ['another text', 'SECRET', 'it is not what spire-agent api fetch x509 prints'],
    [
      'one that is cut off',
      text('spiffe://a/b', 'spiffe://a/c').split('spiffe://a/c')[0] ?? '',
      'it tells of 2 SVIDs and shows 1',
    ],
  ])('%s: refused, and nothing of it is printed', async (_, content, why) => {
    const { code, stdout, stderr } = await asked(content)
    expect([code, stdout]).toEqual([4, ''])
    expect(stderr).toContain(why)
    expect(stderr).not.toContain('SECRET')
  })
})
