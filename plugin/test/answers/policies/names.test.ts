// Names in objects of other programs, and in plain strings: whom they mean, in `policies`, `who-selects --spiffe-id` and `diff`.
import { describe, expect, test } from 'vitest'
import { listAt, stringAt } from '@kleym/shared/core/base/json.ts'
import { stringify } from 'yaml'
import { SCM_CONFIG, SETTINGS } from '../../../../test/e2e/workspace.ts'
import { inProcess, type Ran } from '../../support/in-process.ts'
import { workspace } from '../../support/workspace.ts'
import { ask, askJson, binding, CHAT, codesOf, POLICY_ESTATE } from '../../support/policy-manifests.ts'

const BARE = CHAT.slice('spiffe://'.length)

/** An AuthorizationPolicy with one source. */
function istio(source: unknown, name = 'callers'): string {
  return stringify({
    apiVersion: 'security.istio.io/v1',
    kind: 'AuthorizationPolicy',
    metadata: { name, namespace: 'team-a' },
    spec: { action: 'ALLOW', rules: [{ from: [{ source }], to: [{ operation: { methods: ['GET'] } }] }] },
  })
}

/** The ConfigMap in which Istio keeps its settings. */
function meshConfig(trustDomain: string, namespace = 'istio-system'): string {
  return stringify({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'istio', namespace },
    data: { mesh: `trustDomain: ${trustDomain}\n` },
  })
}

function configMap(text: string): string {
  return stringify({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'clients', namespace: 'team-a' },
    data: { 'envoy.yaml': text },
  })
}

/** The states of the sources of the first policy. */
function statesOf(answer: unknown): readonly unknown[] {
  const [first] = listAt(answer, 'policies')
  return listAt(first, 'rules').flatMap((rule) =>
    listAt(rule, 'sources').map((source) => stringAt(source, 'state')),
  )
}

/** A pod of a manifest, which gets a UID when it is made, and a registration that is for it alone. */
async function patternShown(principal: string, spiffeIDTemplate: string): Promise<string> {
  const metadata = { name: 'new-0', namespace: 'team-a', labels: { app: 'new' } }
  const spec = { nodeName: 'gpu-1', serviceAccountName: 'new', containers: [{ name: 'web' }] }
  const podSelector = { matchLabels: { app: 'new' } }
  const objects = [
    { apiVersion: 'v1', kind: 'Pod', metadata, spec },
    {
      apiVersion: 'spire.spiffe.io/v1alpha1',
      kind: 'ClusterSPIFFEID',
      metadata: { name: 'new' },
      spec: { spiffeIDTemplate, podSelector },
    },
  ]
  const { stdout } = await ask(
    ['policies', '-A'],
    istio({ principals: [principal] }),
    ...objects.map((one) => stringify(one)),
  )
  return stdout.replaceAll(/\s+/g, ' ')
}

describe('an AuthorizationPolicy', () => {
  test.each<[string, unknown, readonly string[], readonly string[], RegExp]>([
    [
      'an ID that containers hold',
      { principals: [BARE] },
      ['resolved'],
      [],
      /✓ spiffe:\S+\/chat\n.*resolved: 2 containers/,
    ],
    [
      'with the scheme, which Istio writes itself: dead, with the form that is meant',
      { principals: [CHAT] },
      ['dead'],
      ['KLM610'],
      /! spiffe:\S+\/chat\n {6}dead by its form: it means\n? *\s+spiffe:\/\/spiffe:.*\n.*\n* *write example\.org\/ns\/team-a\/objective\/chat,\s+the\s+ID\s+of\s+2\s+containers/s,
    ],
    [
      'an ID that nothing gives',
      { principals: [`${BARE}t`] },
      ['dangling'],
      ['KLM601'],
      /dangling: nothing gives it/,
    ],
    [
      'a prefix',
      { principals: ['example.org/ns/team-a/*'] },
      ['pattern'],
      [],
      /pattern: it takes in spiffe:\S+\/chat\s+2 containers hold one/,
    ],
    ['all but some', { notPrincipals: [BARE] }, ['resolved'], [], /✓ all but spiffe:\S+\/chat/],
    [
      'a namespace',
      { namespaces: ['team-a'] },
      ['pattern'],
      [],
      /namespace team-a\n {6}pattern: it takes in spiffe/,
    ],
    [
      'a service account, whose ID these pods do not hold',
      { serviceAccounts: ['runner'] },
      ['pattern'],
      [],
      /it takes in none of the IDs here/,
    ],
    ['a number', { principals: [7] }, ['unreadable'], ['KLM609'], /unreadable/],
  ])('%s', async (_, source, states, codes, shows) => {
    const answer = await askJson(['policies', '-A'], istio(source))
    expect(statesOf(answer)).toEqual(states)
    expect(codesOf(answer)).toEqual(codes)
    const text = await ask(['policies', '-A'], istio(source))
    expect(text.stdout).toMatch(shows)
    expect(text.stdout).toContain('team-a/callers  AuthorizationPolicy action ALLOW')
    expect({ code: text.code, stderr: text.stderr }).toEqual({ code: 0, stderr: '' })
  })

  describe('a pattern, and the ID that a template renders', () => {
    test('for pods whose UID is not known yet is taken in', async () => {
      expect(
        await patternShown(
          '*/sa/new',
          'spiffe://example.org/{{ .PodMeta.Namespace }}/sa/{{ .PodSpec.ServiceAccountName }}',
        ),
      ).toContain('it takes in spiffe://example.org/team-a/sa/new')
    })

    test('with the UID of such a pod is taken in, may be, or certainly is not', async () => {
      const template = 'spiffe://example.org/pod/{{ .PodMeta.UID }}'
      const shown = async (principal: string): Promise<string> => patternShown(principal, template)
      expect(await shown('example.org/pod/*')).toMatch(
        /^✓ .* it takes in spiffe:\/\/example.org\/pod\/<pod UID>;? 1 container/,
      )
      expect(await shown('*/a')).toMatch(
        /^! .*perhaps others: ClusterSPIFFEID\/new gives spiffe:\/\/example.org\/pod\/<pod UID>/,
      )
      expect(await shown('example.org/job/*')).toMatch(/^✓ (?!.*perhaps others)/)
    })
  })

  test('cluster.local is the trust domain of the mesh, and unknown without it', async () => {
    const policy = istio({ principals: ['cluster.local/ns/team-a/objective/chat'] })
    const without = await ask(['policies', '-A'], policy)
    expect(without.stdout).toMatch(
      /unknown: the trust domain of the mesh \(ConfigMap istio\) was not read\s+it may mean spiffe:\S+\/chat/,
    )
    // Policies bring a warning at most: whom this one means hides no error.
    expect({ code: without.code, mark: without.stdout.slice(0, 1) }).toEqual({ code: 0, mark: '!' })
    const { code } = await ask(['policies', '-A', '--fail-on', 'warning'], policy)
    expect(code).toBe(4)
    const ours = await askJson(['policies', '-A'], policy, meshConfig('example.org'))
    expect(statesOf(ours)).toEqual(['resolved'])
    const other = await askJson(['policies', '-A'], policy, meshConfig('example.net'))
    expect(statesOf(other)).toEqual(['foreign'])
    const ofTenant = await ask(['policies', '-A'], policy, meshConfig('example.org', 'team-b'))
    expect(ofTenant).toEqual(without)
  })

  test('another trust domain may be an alias of a mesh that was not read, if an ID of ours has its path', async () => {
    const policy = istio({ principals: ['old.example/ns/team-a/objective/chat'] })
    expect(statesOf(await askJson(['policies', '-A'], policy))).toEqual(['unknown'])
    const { stdout } = await ask(['who-selects', '-A', '--spiffe-id', CHAT], policy)
    expect(stdout).toMatch(/perhaps.*old\.example\/ns\/team-a\/objective\/chat/s)
    const { code } = await ask(['policies', '-A', '--fail-on', 'warning'], policy)
    expect(code).toBe(4)
    const read = await askJson(['policies', '-A'], policy, meshConfig('example.org'))
    expect(statesOf(read)).toEqual(['foreign'])
    const elsewhere = istio({ principals: ['old.example/ns/team-a/objective/nobody'] })
    expect(statesOf(await askJson(['policies', '-A'], elsewhere))).toEqual(['foreign'])
    expect(statesOf(await askJson(['policies', '-A'], istio({ principals: [BARE] })))).toEqual(['resolved'])
  })

  test('an object that names nobody is no policy, and leaves nothing open', async () => {
    const rule = stringify({
      apiVersion: 'networking.istio.io/v1',
      kind: 'DestinationRule',
      metadata: { name: 'models', namespace: 'team-a' },
      spec: { host: 'models', trafficPolicy: { tls: { mode: 'ISTIO_MUTUAL' } } },
    })
    const answer = await askJson(['policies', '-A'], istio({ principals: [BARE] }), rule)
    expect(listAt(answer, 'policies').map((one) => stringAt(one, 'kind'))).toEqual(['AuthorizationPolicy'])
  })

  test('explain and who-selects say that it names the identity, and by what', async () => {
    const policies = [istio({ principals: [BARE] }), istio({ principals: ['example.org/*'] }, 'all')]
    for (const args of [
      ['explain', 'chat', '-n', 'team-a'],
      ['who-selects', '-A', '--spiffe-id', CHAT],
    ]) {
      const { stdout } = await ask(args, ...policies)
      expect(stdout).toMatch(/AuthorizationPolicy\s+team-a\/callers rule #1/)
      expect(stdout).toMatch(/example\.org\/\*: AuthorizationPolicy\s+team-a\/all rule #1/)
    }
  })

  test('a name in a template keeps no answer from bindings', async () => {
    const { code } = await ask(
      ['explain', 'chat', '-n', 'team-a'],
      istio({ principals: ['{{ .Values.caller }}'] }),
    )
    expect(code).toBe(0)
  })

  test('is named on the command line by its kind', async () => {
    const { stdout } = await ask(
      ['policies', 'authorizationpolicy/team-a/callers', '-o', 'name'],
      istio({ principals: [BARE] }),
    )
    expect(stdout).toBe('authorizationpolicy.security.istio.io/team-a/callers\n')
  })
})

describe('an ID in any string', () => {
  const text = `match: {exact: "${CHAT}"}\nmatch: {exact: "${CHAT}t"}\n`

  test('policies says where it stands and who holds it', async () => {
    const { stdout } = await ask(['policies', '-A'], configMap(text))
    expect(stdout).toMatch(/1 other object mentions 2 IDs: 1 dangling/)
    expect(stdout).toMatch(
      /✓ spiffe:\S+\/chat\n.*resolved.*in ConfigMap team-a\/clients \.data\["envoy\.yaml"\]/s,
    )
    const answer = await askJson(['policies', '-A'], configMap(text))
    expect(codesOf(answer)).toEqual(['KLM612'])
    expect(listAt(answer, 'mentions').map((one) => [stringAt(one, 'field'), stringAt(one, 'state')])).toEqual(
      [
        ['.data["envoy.yaml"]', 'resolved'],
        ['.data["envoy.yaml"]', 'dangling'],
      ],
    )
  })

  test('of an object of a kind that nothing else reads', async () => {
    const thing = stringify({
      apiVersion: 'cert-manager.io/v1',
      kind: 'Client',
      metadata: { name: 'a', namespace: 'team-a' },
      spec: { peer: CHAT },
    })
    const answer = await askJson(['policies', '-A'], thing)
    expect(listAt(answer, 'mentions')).toMatchObject([
      { kind: 'Client', name: 'a', field: '.spec.peer', state: 'resolved' },
    ])
    // It is no policy, and no other answer reads it.
    expect((await ask(['conflicts', '-A'], thing)).stderr).toContain('1 Client.cert-manager.io')
  })

  test('nothing of a Secret is printed but the ID', async () => {
    const secret = stringify({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'peer', namespace: 'team-a' },
      data: { config: Buffer.from(`password=hunter2 peer=${CHAT} spiffe://hunter4/*`).toString('base64') },
    })
    const ran: readonly Ran[] = await Promise.all([
      ask(['policies', '-A'], secret),
      ask(['policies', '-A', '-o', 'json'], secret),
    ])
    for (const { stdout, stderr } of ran) {
      expect(stdout).toContain(CHAT)
      expect(stdout).toContain('a part of a SPIFFE ID')
      expect(stdout + stderr).not.toMatch(/hunter|cGFzc3/)
    }
  })

  test('who-selects --spiffe-id names the places', async () => {
    const { stdout } = await ask(['who-selects', '-A', '--spiffe-id', CHAT], configMap(text))
    expect(stdout).toMatch(/is mentioned in ConfigMap\s+team-a\/clients \.data\["envoy\.yaml"\]/)
  })

  test('suppressed in the object', async () => {
    const suppressed = configMap(text).replace(
      'namespace: team-a',
      'namespace: team-a\n  annotations: {kleym.sonda.red/suppress: "KLM612: moved later"}',
    )
    const answer = await askJson(['policies', '-A'], suppressed)
    expect(codesOf(answer)).toEqual([])
  })
})

async function diff(files: Readonly<Record<string, string>>, ...names: readonly string[]): Promise<Ran> {
  const cwd = await workspace({
    'live/all.yaml': [POLICY_ESTATE, ...names].join('---\n'),
    'scm.yaml': SCM_CONFIG,
    ...files,
  })
  const given = Object.keys(files).flatMap((file) => ['-f', file])
  return inProcess(['diff', '--offline', '--live', 'live', ...given, ...SETTINGS], cwd)
}

describe('a change', () => {
  test('that renames an identity leaves each name of it dangling', async () => {
    const names = [istio({ principals: [BARE] }), configMap(`exact: ${CHAT}`)]
    const { stdout } = await diff({ 'rename.yaml': binding('spare') }, ...names)
    expect(stdout).toMatch(/1 policy affected, 1 rule; 1 other object affected/)
    expect(stdout).toMatch(/! AuthorizationPolicy team-a\/callers rule #1 names/)
    expect(stdout).toMatch(/! ConfigMap team-a\/clients \.data\["envoy\.yaml"\] mentions/)
    expect(stdout.match(/resolved → dangling/g)).toHaveLength(2)
  })

  test('is shown where a pattern begins to take in another ID', async () => {
    const { stdout } = await diff(
      { 'rename.yaml': binding('spare') },
      istio({ principals: ['example.org/ns/team-a/objective/s*'] }),
    )
    expect(stdout).toMatch(
      /callers rule #1 names\s+example\.org\/ns\/team-a\/objective\/s\*, which is\s+gained/,
    )
  })

  test('of one character in a name is found, wherever it stands', async () => {
    for (const at of [0, 5, BARE.length - 1]) {
      const changed = `${BARE.slice(0, at)}q${BARE.slice(at + 1)}`
      const { stdout } = await diff(
        { 'policy.yaml': istio({ principals: [changed] }) },
        istio({ principals: [BARE] }),
      )
      expect(stdout).toMatch(/rule #1 names\s+spiffe:\S+ and goes/)
      expect(stdout.replaceAll(/\s+/g, '')).toContain(`spiffe://${changed},andisnew`)
    }
  })
})

async function askNames(names: string, ...flags: readonly string[]): Promise<Ran> {
  const cwd = await workspace({ 'all.yaml': POLICY_ESTATE, 'scm.yaml': SCM_CONFIG, 'role.json': names })
  return inProcess(
    [
      'policies',
      '--offline',
      '-n',
      'team-a',
      '-f',
      'all.yaml',
      '--names',
      'role.json',
      ...SETTINGS,
      ...flags,
    ],
    cwd,
  )
}

describe('--names', () => {
  test('a role outside of the cluster names identities like a policy, whatever -n says', async () => {
    const { code, stdout } = await askNames(JSON.stringify({ bound_subject: CHAT, other: `${CHAT}t` }))
    expect(stdout).toMatch(/role\.json {2}NamesFile\n {2}rule \.bound_subject\n {4}✓ spiffe:\S+\/chat\n/)
    expect((await askNames(CHAT, '-o', 'name')).stdout).toBe('')
    expect(stdout).toMatch(/rule \.other\n {4}! spiffe:\S+\/chatt\n {6}dangling/)
    expect(code).toBe(0)
  })

  test('a role in YAML is what it is in JSON', async () => {
    const { stdout } = await askNames(`bound_claims:\n  sub: ["${CHAT}"]\n`)
    expect(stdout).toMatch(/rule \.bound_claims\.sub\[0\]\n {4}✓ spiffe:\S+\/chat\n/)
  })

  describe('JSON in a string', () => {
    const policy = JSON.stringify({ StringLike: { 'x:sub': '*/objective/chat' } })
    const packed = (text: string, times: number): string =>
      times === 0 ? text : packed(JSON.stringify({ a: text }), times - 1)

    test.each<[string, string]>([
      ['as the state of Terraform has it', policy],
      ['as the API of AWS gives it', encodeURIComponent(policy)],
      ['packed again', packed(policy, 2)],
    ])('is read, %s', async (_, text) => {
      const { stdout } = await askNames(JSON.stringify({ policy: text }))
      expect(stdout.replaceAll(/\s+/g, ' ')).toMatch(/StringLike\["x:sub"\] . \*\/objective\/chat pattern/)
    })

    test.each<[string, string]>([
      ['that is broken', `[${CHAT}`],
      ['that is nested too deep', `${'['.repeat(10_000)}"${CHAT}"${']'.repeat(10_000)}`],
      [
        'whose brackets in strings hide how deep it is',
        `["${']'.repeat(20_000)}",${'['.repeat(20_000)}"${CHAT}"${']'.repeat(20_000)}]`,
      ],
      ['that only begins like an encoded one', `%7B%zz ${CHAT}`],
    ])('is looked through as a text, %s', async (_, text) => {
      const { stdout } = await askNames(JSON.stringify({ policy: text }))
      expect(stdout).toMatch(/rule \.policy\n {4}✓ spiffe:\S+\/chat\n/)
    })

    test('is refused where it is packed without end', async () => {
      const { code, stderr } = await askNames(JSON.stringify({ policy: packed(policy, 9) }))
      expect(stderr).toContain('give the inner JSON by itself')
      expect(code).toBe(2)
    })
  })

  test('a pattern perhaps names an ID whose trust domain is not known', async () => {
    const cwd = await workspace({ 'all.yaml': POLICY_ESTATE, 'names.txt': CHAT.replace('chat', '*') })
    const { stdout } = await inProcess(
      ['who-selects', 'pod/llama-0', '-n', 'team-a', '--offline', '-f', 'all.yaml', '--names', 'names.txt'],
      cwd,
    )
    expect(stdout).toMatch(/no known rule names\s+spiffe:\/\/<trust-domain>/)
    expect(stdout).toMatch(/perhaps, by\s+spiffe:\S+\/objective\/\*: NamesFile\s+names.txt/)
  })

  test('a rename cuts it off: diff says so', async () => {
    const cwd = await workspace({
      'live/all.yaml': POLICY_ESTATE,
      'scm.yaml': SCM_CONFIG,
      'rename.yaml': binding('spare'),
      'names.txt': `${CHAT}\n`,
    })
    const { stdout } = await inProcess(
      ['diff', '--offline', '--live', 'live', '-f', 'rename.yaml', '--names', 'names.txt', ...SETTINGS],
      cwd,
    )
    expect(stdout).toMatch(/! NamesFile names\.txt rule line 1 names\s+spiffe:\S+\/chat, which is\s+lost/)
  })

  describe('an ID that is known in part', () => {
    const names = JSON.stringify({ regex: CHAT.replace('chat', '(chat|draft)') })

    test('policies says which ID it may mean', async () => {
      const { stdout } = await askNames(names)
      expect(stdout.replaceAll(/\s+/g, ' ')).toMatch(
        /! spiffe:\S+\/objective\/\* unknown: what completes it is not known it may mean spiffe:\S+\/chat/,
      )
    })

    test('who-selects and diff say that it perhaps names the ID', async () => {
      const cwd = await workspace({
        'live/all.yaml': POLICY_ESTATE,
        'scm.yaml': SCM_CONFIG,
        'rename.yaml': binding('spare'),
        names,
      })
      const told = [...SETTINGS, '--names', 'names']
      const who = await inProcess(
        ['who-selects', '-A', '--spiffe-id', CHAT, '--offline', '-f', 'live', ...told],
        cwd,
      )
      expect(who.stdout).toMatch(/no known rule names/)
      expect(who.stdout).toMatch(/perhaps, by\s+spiffe:\S+\/objective\/\*: NamesFile names\s+rule\s+\.regex/)
      const { stdout } = await inProcess(
        ['diff', '--offline', '--live', 'live', '-f', 'rename.yaml', ...told],
        cwd,
      )
      expect(stdout.replaceAll(/\s+/g, ' ')).toMatch(
        /! NamesFile names rule \.regex names spiffe:\S+\/objective\/\*, whose holders may change .* it may mean spiffe:\S+\/spare/,
      )
    })

    test('of another object, they say the same', async () => {
      const { stdout } = await ask(['who-selects', '-A', '--spiffe-id', CHAT], configMap(names))
      expect(stdout.replaceAll(/\s+/g, ' ')).toMatch(
        /spiffe:\S+\/objective\/\* is mentioned in ConfigMap team-a\/clients/,
      )
    })
  })

  test.each<[string, string, RegExp]>([
    ['nobody', '{}', /it names nobody/],
    ['broken JSON', '{"a": ', /cannot read the names/],
    [
      'a language that kleym does not read',
      'resource "x" {\n  a = "spiffe://a/b"\n}\n',
      /give a role .* as JSON or YAML/,
    ],
    [
      'a template with functions',
      `StringEquals:\n  a:sub: !Sub "spiffe://\${Domain}/ns/a"\n`,
      /tag !Sub [^]*\(line 2\)[^]*as its API gives it and not as a template/,
    ],
    ['UTF-16', `${CHAT}\n`.replaceAll(/[^]/g, '$&\0'), /the file is UTF-16/],
    [
      'a text behind a mapping',
      `a: spiffe://a/b\n---\n${CHAT}\n`,
      /it is neither JSON, YAML nor a list \(line 3\)/,
    ],
  ])('%s is a usage error', async (_, text, says) => {
    const { code, stderr } = await askNames(text)
    expect(stderr).toMatch(says)
    expect(code).toBe(2)
  })
})
