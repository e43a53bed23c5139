// What `diff` says about the rules of access policies that a change affects.
import { SETTINGS, SCM_CONFIG } from '../../../../test/e2e/workspace.ts'
import { describe, expect, test } from 'vitest'
import { dig } from '@kleym/shared/core/base/json.ts'
import { inProcess, type Ran } from '../../support/in-process.ts'
import { workspace } from '../../support/workspace.ts'
import { binding, CHAT, policy, spiffeRule, POLICY_ESTATE } from '../../support/policy-manifests.ts'

/** A ClusterSPIFFEID that gives this ID to every pod. */
function foreign(id: string): string {
  return `apiVersion: spire.spiffe.io/v1alpha1
kind: ClusterSPIFFEID
metadata: {name: mesh, uid: uid-of-mesh, creationTimestamp: "2026-01-01T00:00:00Z"}
spec: {spiffeIDTemplate: '${id}'}
`
}

describe('policies affected', () => {
  const tools = policy('tools', [spiffeRule('chat', CHAT)])
  const mesh = policy('mesh', [spiffeRule('mesh', 'spiffe://example.org/mesh')])

  async function diff(files: Readonly<Record<string, string>>, ...flags: readonly string[]): Promise<Ran> {
    const live = [POLICY_ESTATE, tools].join('---\n')
    const cwd = await workspace({ 'live/all.yaml': live, 'scm.yaml': SCM_CONFIG, ...files })
    const given = Object.keys(files).flatMap((file) => ['-f', file])
    return inProcess(['diff', '--offline', '--live', 'live', ...given, ...SETTINGS, ...flags], cwd)
  }

  test('a renamed identity: the rule that names the old one is reported, and it is a difference', async () => {
    const rename = { 'rename.yaml': binding('spare') }
    const { code, stdout } = await diff(rename)
    expect(stdout).toMatch(/\n1 policy affected, 1 rule\n {2}! agents\/tools rule chat names/)
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
      'live/all.yaml': [POLICY_ESTATE, policy('tools', [spiffeRule('x', 'spiffe://a.b/c')])].join('---\n'),
      'scm.yaml': SCM_CONFIG,
      'rename.yaml': binding('spare'),
    })
    const args = ['diff', '--offline', '--live', 'live', '-f', 'rename.yaml', ...SETTINGS, '-o', 'json']
    const answer: unknown = JSON.parse((await inProcess(args, cwd)).stdout)
    expect(dig(answer, 'effect', 'policiesAffected')).toEqual([])
  })

  test('a pool that selects no pod any more, moves the identity: a difference too', async () => {
    const pool = POLICY_ESTATE.split('---\n')[0] ?? ''
    const change = { 'pool.yaml': pool.replace('{app: llama}', '{app: other}') }
    expect((await diff(change)).stdout).toMatch(/resolved → unheld: /)
    expect((await diff(change, '-o', 'github')).stdout).toContain('agents/tools rule chat names')
  })

  test.each([
    ['another identity: one that a policy names is lost', 'spiffe://example.org/other', 1],
    ['the same one', 'spiffe://example.org/mesh', 0],
  ])(
    'a foreign ClusterSPIFFEID gives %s: what it does to policies and containers decides the exit code',
    async (_, id, expected) => {
      const withoutBinding = POLICY_ESTATE.split('---\n').filter(
        (manifest) => !manifest.includes('InferenceIdentityBinding'),
      )
      const cwd = await workspace({
        'live/all.yaml': [...withoutBinding, foreign('spiffe://example.org/mesh'), mesh].join('---\n'),
        'scm.yaml': SCM_CONFIG,
        'all.yaml': foreign(id),
      })
      const args = ['diff', '--offline', '--live', 'live', '-f', 'all.yaml', ...SETTINGS]
      const { code, stdout } = await inProcess(args, cwd)
      expect(stdout).toContain("no ClusterSPIFFEID of kleym's changes")
      expect(stdout.includes('1 policy affected')).toBe(expected === 1)
      expect(code).toBe(expected)
    },
  )

  test('a rule that takes another name with the change is told where its ID goes', async () => {
    const { stdout } = await diff({
      'rename.yaml': binding('spare'),
      'policy.yaml': policy('tools', [spiffeRule('renamed', CHAT)]),
    })
    expect(stdout).toMatch(/· agents\/tools rule chat names spiffe:\S+chat,\s+and\s+goes\n/)
    expect(stdout).toMatch(/! agents\/tools rule renamed names\s+spiffe:\S+chat,\s+and\s+is\s+new\n/)
  })

  test('a policy that the files bring is reported, and is no difference by itself', async () => {
    const brought = { 'new.yaml': policy('new', [spiffeRule('chat', CHAT)]) }
    const { stdout } = await diff(brought)
    expect((await diff(brought, '-o', 'github')).stdout).not.toContain('agents/new rule')
    expect(stdout).toMatch(/· agents\/new rule chat names spiffe:\S+chat,\s+and is new\n/)
  })
})
