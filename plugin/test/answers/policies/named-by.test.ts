// Who names an identity, as `explain` and `who-selects` tell it, on small files.
import {
  NAMING_POLICIES,
  ask,
  askJson,
  binding,
  CHAT,
  policy,
  spiffeRule,
  POLICY_ESTATE,
} from '../../support/policy-manifests.ts'
import { describe, expect, test } from 'vitest'
import { listAt, own } from '@kleym/shared/core/base/json.ts'
import { inProcess } from '../../support/in-process.ts'
import { workspace } from '../../support/workspace.ts'

/** The parts of namings that tell them apart. */
function named(rules: readonly unknown[]): readonly unknown[] {
  return rules.map((one) => [own(one, 'policy'), own(one, 'rule'), own(one, 'way'), own(one, 'notes')])
}

describe('named by', () => {
  // Rules that name any principal are not listed again for each identity.
  const anyPrincipal = [['agents/open', 'all', 'unbounded', []]]
  const rows = [
    ['agents/exact', 'chat', 'exactly', []],
    ['agents/waiting', 'chat', 'exactly', ['not accepted']],
    ['team-a/by-account', 'runner', 'service account', []],
  ] as const

  test('explain lists the rules that name the ID, any principal, or the service account of its pods', async () => {
    const answer = await askJson(['explain', 'team-a/chat'], ...NAMING_POLICIES)
    const [one] = listAt(answer, 'bindings')
    expect(named(listAt(own(answer, 'accessPolicies'), 'unbounded'))).toEqual(anyPrincipal)
    expect(named(listAt(own(one, 'namedBy'), 'rules'))).toEqual(
      expect.arrayContaining(rows.map((row) => [...row])),
    )
    expect(named(listAt(own(one, 'namedBy'), 'rules'))).toHaveLength(rows.length)
    const { stdout } = await ask(['explain', 'team-a/chat', '-o', 'wide'], ...NAMING_POLICIES)
    expect(stdout).toMatch(
      /named by +agents\/exact rule chat, agents\/waiting rule chat\s+\(not accepted\)\n/,
    )
    expect(stdout).toContain('any principal: agents/open rule all\n')
    expect(stdout).toMatch(/service account team-a\/runner: team-a\/by-account rule\s+runner\n/)
  })

  test('explain says that no rule does', async () => {
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
    expect(stdout).toMatch(/^✗ team-a\/twin is refused/)
    expect(stdout).toMatch(/named by +agents\/exact rule chat\n/)
  })

  test('who-selects says it once for all pods', async () => {
    const answer = await askJson(['who-selects', '-A'], ...NAMING_POLICIES)
    expect(named(listAt(own(answer, 'namedBy'), 'rules'))).toHaveLength(rows.length)
    const { stdout } = await ask(['who-selects', '-A', '-o', 'wide'], ...NAMING_POLICIES)
    expect(stdout.match(/Named by access policies/g)).toHaveLength(1)
    expect(stdout).toMatch(/\n {2}spiffe:\/\/\S+chat: agents\/exact rule chat/)
  })

  test('who-selects --spiffe-id says it of an ID that no container holds', async () => {
    const id = 'spiffe://example.org/other'
    const { stdout } = await ask(['who-selects', '-A', '--spiffe-id', id], ...NAMING_POLICIES)
    expect(stdout).toMatch(/^· spiffe:\/\/example.org\/other: no container holds it among these files\b/)
    expect(stdout).toContain(`\n  ${id}: agents/exact rule other\n`)
  })

  test('registration entries say nothing about policies', async () => {
    expect((await ask(['who-selects', '-A', '--entries'], ...NAMING_POLICIES)).stdout).toBe(
      (await ask(['who-selects', '-A', '--entries'])).stdout,
    )
  })
})

describe('where the trust domain is not known', () => {
  test('what names the same path may name it, and nothing is said to name it not', async () => {
    const files = { 'all.yaml': [POLICY_ESTATE, policy('exact', [spiffeRule('chat', CHAT)])].join('---\n') }
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
    expect(stdout).toMatch(/perhaps 1 uninterpreted policy \(kubectl kleym policies -A\)/)
    expect(stdout).not.toMatch(/no rule/)
  })
})
