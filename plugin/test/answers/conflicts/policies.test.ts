// What `conflicts` says about access policies.
import { describe, expect, test } from 'vitest'
import { listAt, stringAt } from '@kleym/shared/core/base/json.ts'
import { ask, askJson, CHAT, codesOf, policy, spiffeRule } from '../../support/policy-manifests.ts'

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

  test('says that no rule names an identity, as information', async () => {
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
    expect(stdout).toMatch(/! XAccessPolicy\/agents\/open, rule all: /)
  })
})
