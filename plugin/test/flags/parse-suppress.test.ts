// `--suppress` as people write it, right and wrong.
import { describe, expect, test } from 'vitest'
import { SUBJECT_GROUPS } from '@kleym/shared/core/model/subject-groups.ts'
import { parseSuppress } from '../../src/flags/parse-suppress.ts'
import { inProcess } from '../support/in-process.ts'
import { ESTATE_FLAGS, PROJECT_ROOT } from '../support/estate.ts'

test.each(Object.entries(SUBJECT_GROUPS))(
  '%s, which findings are about, is named as it is',
  (kind, groups) => {
    const written = `KLM301=${kind}.${groups[0] ?? ''}`
    const namespace = isRefused(`${written}/some`) ? 'team-a/' : ''
    expect(parseSuppress(`${written}/${namespace}some`)).toMatchObject({ kind, name: 'some' })
  },
)

function isRefused(text: string): boolean {
  try {
    parseSuppress(text)
    return false
  } catch {
    return true
  }
}

describe('wrong usage of --suppress, in four parts', () => {
  test.each<[string, string, string, string]>([
    ['no object', 'KLM301', 'it is not CODE=KIND/NAMESPACE/NAME', 'KLM402=iib/team-a/chat'],
    ['no code', '=iib/a/b', 'there is no finding code (empty)', 'docs/findings/README.md'],
    ['an unknown code', 'KLM31=iib/a/b', 'there is no finding code KLM31', 'did you mean KLM301'],
    ['a code about suppressions', 'KLM530=iib/a/b', 'nothing suppresses it', 'correct the suppression'],
    [
      'an unknown kind',
      'KLM301=inferencepol/a/b',
      'kleym reads no kind inferencepol',
      'did you mean inferencepool?',
    ],
    ['a kind that is written otherwise', 'KLM301=rollout/a/b', 'kleym reads no kind rollout', 'name one of'],
    ['no kind', 'KLM301=/a/b', 'it is not KIND[.GROUP]/[NAMESPACE/]NAME', 'write it like'],
    ['no name', 'KLM301=iib/a/', 'it is not KIND[.GROUP]/[NAMESPACE/]NAME', 'write it like'],
    ['too many parts', 'KLM301=*/a/b/c', 'it is not CODE=KIND/NAMESPACE/NAME', 'write */NAMESPACE/NAME'],
    ['no namespace', 'KLM301=iib/chat', 'has a namespace', 'write iib/NAMESPACE/chat'],
    ['a namespace too many', 'KLM305=clusterspiffeid/a/b', 'has no namespace', 'write clusterspiffeid/b'],
    [
      'no assertion',
      'KLM701=identitytest/tenancy/',
      'it names no assertion',
      'write identitytest/TEST for a',
    ],
    [
      'a wrong group of a test',
      'KLM701=identitytest.kleym.sonda.red/tenancy',
      'IdentityTest is of no group kleym.sonda.red',
      'identitytest.test.kleym.sonda.red',
    ],
    [
      'a wrong group',
      'KLM306=inferencepool.apps/a/b',
      'InferencePool is of no group apps',
      'write inferencepool',
    ],
  ])('%s', async (_, text, why, fix) => {
    const { code, stdout, stderr } = await inProcess(
      ['conflicts', ...ESTATE_FLAGS, '--suppress', text],
      PROJECT_ROOT,
    )
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toMatch(
      /^error: cannot tell (?:what|which object) --suppress means.*\n {2}why: {2}.*\n {2}fix: {2}/,
    )
    expect(stderr).toContain(why)
    expect(stderr).toContain(fix)
  })

  test.each([
    'KLM402=iib/team-a/*',
    'klm402=InferenceIdentityBindings/*/chat',
    'KLM402=inferenceidentitybinding.kleym.sonda.red/team-a/chat',
    'KLM411=controllermanagerconfig/*',
    'KLM305=clusterspiffeid.spire.spiffe.io/mesh',
    'KLM601=xaccesspolicy/agents/*',
    'KLM601=xaccesspolicies.agentic.networking.x-k8s.io/agents/tools',
    'KLM306=*/*/*',
    'KLM306=Rollout/team-a/llama',
    'KLM306=Rollout.argoproj.io/team-a/*',
    'KLM440=clusterfederatedtrustdomain/partner',
    'KLM801=registrationentry.spire.spiffe.io/*',
    'KLM602=accesspolicy/agents/tools',
  ])('%s is right', async (text) => {
    const { code } = await inProcess(
      ['conflicts', ...ESTATE_FLAGS, '--suppress', text, '--fail-on', 'never'],
      PROJECT_ROOT,
    )
    expect(code).not.toBe(2)
  })
})
