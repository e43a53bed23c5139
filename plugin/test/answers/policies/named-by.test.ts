// What other commands say about access policies, on small files: who names an identity, which policies a change affects;
// and that a policy changes nothing but what is said about policies.
import { describe, expect, test } from 'vitest'
import { dig, isRecord, listAt, own, stringAt } from '@kleym/shared/core/json.ts'
import { inProcess, type Ran } from '../../support/in-process.ts'
import { SCM_CONFIG, SETTINGS } from '../../../../test/e2e/workspace.ts'
import { workspace } from '../../support/workspace.ts'
import {
  ask,
  askJson,
  binding,
  CHAT,
  codesOf,
  policy,
  spiffeRule,
  WORLD,
  type PolicyParts,
  type Rule,
} from '../../support/policy-manifests.ts'

const NAMERS: readonly (readonly [string, readonly Rule[], PolicyParts?])[] = [
  ['exact', [spiffeRule('chat', CHAT), spiffeRule('other', 'spiffe://example.org/other')]],
  ['open', [{ name: 'all' }]],
  [
    'by-account',
    [{ name: 'runner', source: { type: 'ServiceAccount', serviceAccount: { name: 'runner' } } }],
    { namespace: 'team-a' },
  ],
  ['waiting', [spiffeRule('chat', CHAT)], { accepted: false }],
]
const NAMING = NAMERS.map(([name, rules, parts]) => policy(name, rules, parts))

/** The parts of namings that tell them apart. */
function named(rules: readonly unknown[]): readonly unknown[] {
  return rules.map((one) => [own(one, 'policy'), own(one, 'rule'), own(one, 'way'), own(one, 'notes')])
}

/** A ClusterSPIFFEID that gives this ID to every pod. */
function foreign(id: string): string {
  return `apiVersion: spire.spiffe.io/v1alpha1
kind: ClusterSPIFFEID
metadata: {name: mesh, uid: uid-of-mesh, creationTimestamp: "2026-01-01T00:00:00Z"}
spec: {spiffeIDTemplate: '${id}'}
`
}

describe('named by', () => {
  // Everybody is not named again for each.
  const everybody = [['agents/open', 'all', 'unbounded', []]]
  const rows = [
    ['agents/exact', 'chat', 'exactly', []],
    ['agents/waiting', 'chat', 'exactly', ['not accepted']],
    ['team-a/by-account', 'runner', 'service account', []],
  ] as const

  test('explain lists the rules that name the ID, everybody, or the service account of its pods', async () => {
    const answer = await askJson(['explain', 'team-a/chat'], ...NAMING)
    const [one] = listAt(answer, 'bindings')
    expect(named(listAt(own(answer, 'accessPolicies'), 'unbounded'))).toEqual(everybody)
    expect(named(listAt(own(one, 'namedBy'), 'rules'))).toEqual(
      expect.arrayContaining(rows.map((row) => [...row])),
    )
    expect(named(listAt(own(one, 'namedBy'), 'rules'))).toHaveLength(rows.length)
    const { stdout } = await ask(['explain', 'team-a/chat', '-o', 'wide'], ...NAMING)
    expect(stdout).toMatch(
      /named by +agents\/exact rule chat, agents\/waiting rule chat\s+\(not accepted\)\n/,
    )
    expect(stdout).toContain('any principal: agents/open rule all\n')
    expect(stdout).toMatch(/service account team-a\/runner: team-a\/by-account rule\s+runner\n/)
  })

  test('explain says that nobody does', async () => {
    const { stdout, code } = await ask(
      ['explain', 'team-a/chat'],
      policy('tools', [spiffeRule('x', 'spiffe://a.b/c')]),
    )
    expect(stdout).toMatch(/named by +no rule of any policy\n/)
    expect(code).toBe(0)
  })

  test('explain says it of a binding that is refused', async () => {
    const twin = binding('chat').replace('name: chat, namespace', 'name: twin, namespace')
    const { stdout } = await ask(
      ['explain', 'team-a/twin'],
      twin,
      policy('exact', [spiffeRule('chat', CHAT)]),
    )
    expect(stdout).toMatch(/^× team-a\/twin is refused/)
    expect(stdout).toMatch(/named by +agents\/exact rule chat\n/)
  })

  test('who-selects says it once for all pods', async () => {
    const answer = await askJson(['who-selects', '-A'], ...NAMING)
    expect(named(listAt(own(answer, 'namedBy'), 'rules'))).toHaveLength(rows.length)
    const { stdout } = await ask(['who-selects', '-A', '-o', 'wide'], ...NAMING)
    expect(stdout.match(/Named by access policies/g)).toHaveLength(1)
    expect(stdout).toMatch(/\n {2}spiffe:\/\/\S+chat: agents\/exact rule chat/)
  })

  test('who-selects --spiffe-id says it of an ID that nobody holds', async () => {
    const id = 'spiffe://example.org/other'
    const { stdout } = await ask(['who-selects', '-A', '--spiffe-id', id], ...NAMING)
    expect(stdout).toMatch(/^· no container would hold spiffe:\/\/example.org\/other\n/)
    expect(stdout).toContain(`\n  ${id}: agents/exact rule other\n`)
  })

  test('registration entries are named by nobody', async () => {
    expect((await ask(['who-selects', '-A', '--entries'], ...NAMING)).stdout).toBe(
      (await ask(['who-selects', '-A', '--entries'])).stdout,
    )
  })
})

describe('where the trust domain is not known', () => {
  test('what names the same path may name it, and nothing is said to name it not', async () => {
    const files = { 'all.yaml': [WORLD, policy('exact', [spiffeRule('chat', CHAT)])].join('---\n') }
    const cwd = await workspace(files)
    const { stdout } = await inProcess(
      ['explain', 'team-a/chat', '--offline', '-f', 'all.yaml', '-o', 'wide'],
      cwd,
    )
    expect(stdout).toMatch(/named by +perhaps, by spiffe:\S+chat:\s+agents\/exact rule chat\n/)
    expect(stdout).not.toContain('no rule')
  })
})

describe('a policy that cannot be interpreted may name everything', () => {
  test.each([
    ['explain', ['explain', 'team-a/chat']],
    ['who-selects', ['who-selects', 'pod/team-a/llama-0']],
  ])('%s', async (_, args) => {
    const old = policy('old', [spiffeRule('one', CHAT)], {
      apiVersion: 'agentic.networking.x-k8s.io/v0alpha0',
    })
    const { stdout } = await ask(args, old)
    expect(stdout).toMatch(/perhaps agents\/old, which kleym cannot interpret/)
    expect(stdout).not.toMatch(/no rule/)
  })
})

describe('policies affected', () => {
  const tools = policy('tools', [spiffeRule('chat', CHAT)])
  const mesh = policy('mesh', [spiffeRule('mesh', 'spiffe://example.org/mesh')])

  async function diff(files: Readonly<Record<string, string>>, ...flags: readonly string[]): Promise<Ran> {
    const live = [WORLD, tools].join('---\n')
    const cwd = await workspace({ 'live/all.yaml': live, 'scm.yaml': SCM_CONFIG, ...files })
    const given = Object.keys(files).flatMap((file) => ['-f', file])
    return inProcess(['diff', '--offline', '--live', 'live', ...given, ...SETTINGS, ...flags], cwd)
  }

  test('a renamed identity: the rule that names the old one is told, and it is a difference', async () => {
    const rename = { 'rename.yaml': binding('spare') }
    const { code, stdout } = await diff(rename)
    expect(stdout).toMatch(/\n1 policy affected, 1 rule\n {2}‼ agents\/tools rule chat names/)
    expect(stdout).toMatch(/resolved → dangling: /)
    expect(stdout).toMatch(/findings {3}new: .*1 warning/)
    expect(code).toBe(1)
    const answer: unknown = JSON.parse((await diff(rename, '-o', 'json')).stdout)
    expect(dig(answer, 'effect', 'policiesAffected')).toMatchObject([
      {
        policy: 'agents/tools',
        rule: 'chat',
        spiffeID: CHAT,
        change: 'lost',
        before: { state: 'resolved' },
        after: { state: 'dangling' },
        instead: [{ binding: 'team-a/chat', spiffeID: 'spiffe://example.org/ns/team-a/objective/spare' }],
      },
    ])
    expect((await diff(rename, '-o', 'github')).stdout).toMatch(
      /^::notice title=kleym diff::XAccessPolicy\/agents\/tools rule chat names \S+, which is lost/m,
    )
  })

  test('a rename of what no policy names affects none', async () => {
    const cwd = await workspace({
      'live/all.yaml': [WORLD, policy('tools', [spiffeRule('x', 'spiffe://a.b/c')])].join('---\n'),
      'scm.yaml': SCM_CONFIG,
      'rename.yaml': binding('spare'),
    })
    const args = ['diff', '--offline', '--live', 'live', '-f', 'rename.yaml', ...SETTINGS, '-o', 'json']
    const answer: unknown = JSON.parse((await inProcess(args, cwd)).stdout)
    expect(dig(answer, 'effect', 'policiesAffected')).toEqual([])
  })

  test('a pool that selects no pod any more, moves the identity: a difference too', async () => {
    const pool = WORLD.split('---\n')[0] ?? ''
    const change = { 'pool.yaml': pool.replace('{app: llama}', '{app: other}') }
    expect((await diff(change)).stdout).toMatch(/resolved → unheld: /)
    expect((await diff(change, '-o', 'github')).stdout).toContain('agents/tools rule chat names')
  })

  test.each([
    ['another identity: one that a policy names is lost', 'spiffe://example.org/other', 1],
    ['the same one', 'spiffe://example.org/mesh', 0],
  ])('a foreign ClusterSPIFFEID gives %s, and that alone decides the exit code', async (_, id, expected) => {
    const cwd = await workspace({
      'live/all.yaml': [WORLD, foreign('spiffe://example.org/mesh'), mesh].join('---\n'),
      'scm.yaml': SCM_CONFIG,
      'all.yaml': foreign(id),
    })
    const gone = ['--without', 'iib/team-a/chat']
    const args = ['diff', '--offline', '--live', 'live', '-f', 'all.yaml', ...gone, ...SETTINGS]
    const { code, stdout } = await inProcess(args, cwd)
    expect(stdout).toContain("no ClusterSPIFFEID of kleym's changes")
    expect(stdout.includes('1 policy affected')).toBe(expected === 1)
    expect(code).toBe(expected)
  })

  test('a rule that takes another name with the change is told where its ID goes', async () => {
    const { stdout } = await diff({
      'rename.yaml': binding('spare'),
      'policy.yaml': policy('tools', [spiffeRule('renamed', CHAT)]),
    })
    expect(stdout).toMatch(/· agents\/tools rule chat names spiffe:\S+chat,\s+and\s+goes\n/)
    expect(stdout).toMatch(/‼ agents\/tools rule renamed names\s+spiffe:\S+chat,\s+and\s+is\s+new\n/)
  })

  test('a policy that the files bring is told, and is no difference by itself', async () => {
    const brought = { 'new.yaml': policy('new', [spiffeRule('chat', CHAT)]) }
    const { stdout } = await diff(brought)
    expect((await diff(brought, '-o', 'github')).stdout).not.toContain('agents/new rule')
    expect(stdout).toMatch(/· agents\/new rule chat names spiffe:\S+chat,\s+and is new\n/)
  })
})

describe('conflicts', () => {
  test('reports what is found about policies, at its severity', async () => {
    const answer = await askJson(
      ['conflicts'],
      policy('bad', [spiffeRule('one', `${CHAT}x`), { name: 'two' }]),
    )
    const found = listAt(answer, 'findings').map((one) => [stringAt(one, 'code'), stringAt(one, 'severity')])
    expect(found).toEqual(
      expect.arrayContaining([
        ['KLM601', 'warning'],
        ['KLM603', 'warning'],
      ]),
    )
  })

  test('says that nobody names an identity, as information', async () => {
    const answer = await askJson(['conflicts'], policy('tools', [spiffeRule('x', 'spiffe://a.b/c')]))
    expect(listAt(answer, 'findings')).toMatchObject([{ code: 'KLM604', severity: 'info' }])
  })

  test('an annotation of the policy suppresses it', async () => {
    const annotations = { 'kleym.sonda.red/suppress': 'KLM603: behind another gateway' }
    const answer = await askJson(['conflicts'], policy('open', [{ name: 'all' }], { annotations }))
    expect(codesOf(answer)).not.toContain('KLM603')
    expect(listAt(answer, 'suppressed')).toMatchObject([{ code: 'KLM603' }])
  })

  test('rules are shown by name, in text', async () => {
    const { stdout } = await ask(['conflicts'], policy('open', [{ name: 'all' }]))
    expect(stdout).toMatch(/‼ XAccessPolicy\/agents\/open, rule all: /)
  })
})

describe('without a policy', () => {
  test.each([
    ['explain', ['explain', '-A']],
    ['who-selects', ['who-selects', '-A']],
    ['conflicts', ['conflicts', '-A']],
    ['diff', ['diff']],
  ])('%s says nothing about policies', async (_, args) => {
    for (const format of ['wide', 'json', 'yaml', 'name', 'sarif', 'junit', 'github']) {
      const { stdout, stderr } = await ask([...args, '-o', format])
      expect(stdout + stderr).not.toMatch(/polic|named ?by|KLM6/i)
    }
  })
})

/** An answer without what it says about policies. */
function withoutPolicies(value: unknown): unknown {
  if (Array.isArray(value))
    return value.filter((one) => stringAt(one, 'code')?.startsWith('KLM6') !== true).map(withoutPolicies)
  if (!isRecord(value)) return value
  const hidden = new Set([
    'accessPolicies',
    'namedBy',
    'policies',
    'policiesAffected',
    'summary',
    'unchangedFindings',
  ])
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key]) => !hidden.has(key))
      .map(([key, inner]) => [key, withoutPolicies(inner)]),
  )
}

describe('with policies of every kind', () => {
  const all = [
    ...NAMING,
    policy('bad', [spiffeRule('one', `${CHAT}x`), { name: 'two', source: { type: 'SPIFFE', spiffe: [] } }]),
    policy('old', [], { apiVersion: 'agentic.networking.x-k8s.io/v0alpha0' }),
  ]

  test.each([
    ['explain', ['explain', '-A']],
    ['who-selects', ['who-selects', '-A']],
    ['conflicts', ['conflicts', '-A']],
    ['diff', ['diff']],
  ])('%s says the same of all else, and ends with the same exit code', async (_, args) => {
    const [without, withThem] = [await askJson(args), await askJson(args, ...all)]
    expect(withoutPolicies(withThem)).toEqual(withoutPolicies(without))
  })

  test('nothing is said about what becomes of a request', async () => {
    const commands = [['policies'], ['explain', '-A'], ['who-selects', '-A'], ['conflicts', '-A'], ['diff']]
    for (const args of commands) {
      for (const format of ['text', 'wide', 'json', 'sarif', 'github']) {
        const { stdout, stderr } = await ask([...args, '-o', format], ...all)
        expect(stdout + stderr).not.toMatch(
          /\b(?:allow(?:s|ed)|den(?:y|ies|ied)|permit(?:s|ted)?|block(?:s|ed)|grant(?:s|ed)?|reject(?:s|ed)?)\b/i,
        )
      }
    }
  })
})
