// An access policy changes nothing but what is said about policies, in every command.
import { NAMING_POLICIES, ask, askJson, CHAT, policy, spiffeRule } from '../../support/policy-manifests.ts'
import { describe, expect, test } from 'vitest'
import { isRecord, stringAt } from '@kleym/shared/core/base/json.ts'

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
    ...NAMING_POLICIES,
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
