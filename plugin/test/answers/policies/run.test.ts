// `policies`, on small files: whom a rule names, in every state; which policies are meant; and what is said where there
// are none.
import { describe, expect, test } from 'vitest'
import { listAt, stringAt } from '@kleym/shared/core/base/json.ts'
import { inProcess } from '../../support/in-process.ts'
import { workspace } from '../../support/workspace.ts'
import {
  ask,
  askJson,
  CHAT,
  codesOf,
  policy,
  spiffeRule,
  POLICY_ESTATE,
  type Rule,
} from '../../support/policy-manifests.ts'

/** A source that names a service account of team-a. */
function account(name: string): unknown {
  return { type: 'ServiceAccount', serviceAccount: { namespace: 'team-a', name } }
}

describe('whom a rule names', () => {
  interface Case {
    readonly rule: Omit<Rule, 'name'>
    readonly state: string
    /** Words of the text view. */
    readonly shows: RegExp
    readonly code?: string
  }

  const cases: readonly (readonly [string, Case])[] = [
    [
      'an ID that containers hold: they are named, with the binding',
      {
        rule: spiffeRule('', CHAT),
        state: 'resolved',
        shows:
          /✓ spiffe:.*\n {6}resolved: .*binding team-a\/chat.*\n.* {8}vllm of team-a\/llama-0, team-a\/llama-1/s,
      },
    ],
    [
      'an ID that nothing renders: the one that differs in case is shown',
      {
        rule: spiffeRule('', CHAT.replace('chat', 'Chat')),
        state: 'dangling',
        shows: /! spiffe:.*\n {6}dangling: .*\n {8}spiffe:\S+\/chat differs\s+only\s+in\s+the\s+case/,
        code: 'KLM601',
      },
    ],
    [
      'an ID of another trust domain: nothing is said about it',
      {
        rule: spiffeRule('', 'spiffe://partner.net/x'),
        state: 'foreign',
        shows: /· spiffe:.*\n {6}foreign: /,
      },
    ],
    [
      'no source: any principal',
      { rule: {}, state: 'unbounded', shows: /! .*\n {6}for any principal: /, code: 'KLM603' },
    ],
    [
      'a type and another member: any principal',
      {
        rule: { source: { type: 'ServiceAccount', spiffe: CHAT } },
        state: 'type mismatch',
        shows: /! .*\n {6}source type and field disagree: /,
        code: 'KLM602',
      },
    ],
    [
      'a service account whose pods hold an ID of kleym: it is not the one that is named',
      {
        rule: { source: account('runner') },
        state: 'service account',
        shows: /! service account team-a\/runner\n {6}service account: 2 pods run under it/,
        code: 'KLM606',
      },
    ],
    [
      'a service account that no pod has',
      {
        rule: { source: account('nobody') },
        state: 'service account',
        shows: /· service account team-a\/nobody\n {6}service account: no pod here runs under it/,
      },
    ],
    [
      'an identity that is no SPIFFE ID',
      { rule: { source: { type: 'OIDC' } }, state: 'not SPIFFE', shows: /· .*\n {6}not SPIFFE: / },
    ],
    [
      'a source that cannot be read',
      {
        rule: { source: { type: 'SPIFFE', spiffe: 7 } },
        state: 'unreadable',
        shows: /! .*\n {6}unreadable: /,
        code: 'KLM609',
      },
    ],
  ]

  test.each(cases)('%s', async (_, { rule, state, shows, code }) => {
    const tools = policy('tools', [{ ...rule, name: 'one' }])
    const answer = await askJson(['policies'], tools)
    const [first] = listAt(answer, 'policies')
    const [one] = listAt(first, 'rules')
    expect(listAt(one, 'sources').map((source) => stringAt(source, 'state'))).toEqual([state])
    expect(codesOf(answer)).toEqual(code === undefined ? [] : [code])
    const text = await ask(['policies'], tools)
    expect(text.stdout).toMatch(shows)
    expect(text.stdout.includes('fix: ')).toBe(code !== undefined)
    expect(text.stdout).toContain(code ?? '')
    expect({ code: text.code, stderr: text.stderr }).toEqual({ code: 0, stderr: '' })
    expect((await ask(['policies', '--fail-on', 'warning'], tools)).code).toBe(code === undefined ? 0 : 1)
  })

  test('what does not take effect as it is written is said with its source', async () => {
    const { stdout } = await ask(
      ['policies'],
      policy('tools', [spiffeRule('one', CHAT)], { accepted: false }),
    )
    expect(stdout).toMatch(/! it does not take effect as written: /)
    expect(stdout).toContain('reference')
    expect(stdout).toContain('KLM607')
  })

  test('a policy of an older version is named and not resolved', async () => {
    const old = policy('old', [spiffeRule('one', CHAT)], {
      apiVersion: 'agentic.networking.x-k8s.io/v0alpha0',
    })
    const answer = await askJson(['policies'], old)
    expect(listAt(answer, 'policies')).toMatchObject([
      { policy: 'agents/old', interpreted: false, rules: [] },
    ])
    expect(codesOf(answer)).toEqual(['KLM609'])
    expect((await ask(['policies'], old)).stdout).toMatch(/^agents\/old {2}agentic\S+v0alpha0\n {2}! /m)
  })

  test('without the trust domain the answer is unknown, and not complete', async () => {
    const cwd = await workspace({
      'all.yaml': [POLICY_ESTATE, policy('tools', [spiffeRule('one', CHAT)])].join('---\n'),
    })
    const { code, stdout, stderr } = await inProcess(['policies', '--offline', '-f', 'all.yaml'], cwd)
    expect(stdout).toMatch(/unknown: the trust domain/)
    expect(stderr).toContain("not known: missing kleym's trust domain; pass --trust-domain")
    expect(code).toBe(4)
  })
})

describe('which policies', () => {
  const both = [
    policy('tools', [spiffeRule('one', CHAT)]),
    policy('tools', [spiffeRule('two', CHAT)], { namespace: 'team-a' }),
  ]

  test.each<[string, readonly string[], readonly string[]]>([
    ['all of them, in order', [], ['agents/tools', 'team-a/tools']],
    ['those of a namespace', ['-n', 'team-a'], ['team-a/tools']],
    ['one by its namespace and name', ['team-a/tools'], ['team-a/tools']],
    ['one as kubectl names it', ['xaccesspolicies/agents/tools'], ['agents/tools']],
    ['one in the current namespace', ['tools', '-n', 'agents'], ['agents/tools']],
    ['one that is named twice, once', ['agents/tools', 'agents/tools'], ['agents/tools']],
  ])('%s', async (_, args, expected) => {
    const answer = await askJson(['policies', ...args], ...both)
    expect(listAt(answer, 'policies').map((one) => stringAt(one, 'policy'))).toEqual(expected)
    const { stdout } = await ask(['policies', ...args, '-o', 'name'], ...both)
    expect(stdout).toBe(expected.map((key) => `xaccesspolicy.agentic.networking.x-k8s.io/${key}\n`).join(''))
  })

  test.each<[string, string, number, string]>([
    ['one that is not there', 'agents/tool', 3, 'did you mean agents/tools?'],
    ['one with too many parts', 'a/b/c', 2, 'write it like agents/tools'],
    ['one without a name', 'agents/', 2, 'write it like agents/tools'],
  ])('%s is an error in four parts', async (_, name, code, fix) => {
    const ran = await ask(['policies', name], ...both)
    expect({ code: ran.code, stdout: ran.stdout }).toEqual({ code, stdout: '' })
    expect(ran.stderr).toContain(fix)
  })
})

describe('where there is none', () => {
  test('no file holds one: nothing was checked, unless there may be none', async () => {
    const { code, stdout } = await ask(['policies', '--allow-empty'])
    expect({ code, stdout }).toEqual({ code: 0, stdout: '· none of the files holds an access policy\n' })
    expect((await ask(['policies'])).code).toBe(4)
    expect(await askJson(['policies'])).toMatchObject({ policiesKnown: 'not given', policies: [] })
  })

  test('none is in scope', async () => {
    const { code, stdout } = await ask(['policies', '-n', 'x', '--allow-empty'], policy('tools', []))
    expect({ code, stdout }).toEqual({ code: 0, stdout: '· no access policy is in scope\n' })
  })

  test.each([
    ['mentions an ID', CHAT, 4],
    ['mentions none', 'x', 0],
  ])('a ConfigMap that cannot be read %s', async (_, text, code) => {
    const broken = `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c, namespace: agents}\ndata: {a: "${text}"\n`
    expect((await ask(['policies'], policy('tools', [spiffeRule('one', CHAT)]), broken)).code).toBe(code)
  })

  test('a file cannot be read, and may hold more', async () => {
    const { code, stdout } = await ask(['policies'], policy('tools', [spiffeRule('one', CHAT)]), 'kind: [')
    expect(stdout).toMatch(/^! incomplete: not everything is known/m)
    expect(code).toBe(4)
    const named = await ask(['policies', 'agents/gone'], policy('tools', []), 'kind: [')
    expect(named).toMatchObject({ code: 4, stdout: '' })
    expect(named.stderr).toContain('there is no such access policy, as far as the files could be read')
  })
})
