// What `policies` and "named by" say where policies are not known, not served, or none: four answers that must not be
// taken for one another.
import { namespacedName } from '@kleym/shared/core/model/namespaced-name.ts'
import { describe, expect, test } from 'vitest'
import type {
  NamedBy,
  NoteKind,
  ResolvedPolicy,
  ResolvedRule,
} from '@kleym/shared/core/analysis/policies/resolution.ts'
import type { PolicyKnowledge } from '@kleym/shared/core/snapshot/snapshot.ts'
import { render } from '../../../src/text/line.ts'
import { namedByRows, namedIdRows } from '../../../src/answers/parts/named-by.ts'
import { PLAIN } from '../../../src/io/palette.ts'
import { viewAnswer } from '../../../src/text/answer.ts'
import { policiesAnswer, viewPolicies, type PoliciesLayout } from '../../../src/answers/policies/view.ts'

const FORBIDDEN: PolicyKnowledge = {
  state: 'unknown',
  why: { verb: 'list', what: 'XAccessPolicy.agentic.networking.x-k8s.io', cause: 'forbidden' },
}

/** The first line where there is no policy. */
function first(layout: PoliciesLayout): string {
  return render(viewAnswer(policiesAnswer([], layout), NO_DOUBTS, layout), PLAIN)
}

const NO_DOUBTS = { incomplete: false, unsettled: false, notShown: 0 }

describe('no policy to show', () => {
  test.each<[string, PolicyKnowledge, string]>([
    [
      'the kind is not served',
      { state: 'absent' },
      '· this cluster does not serve XAccessPolicy.agentic.networking.x-k8s.io, so there is no access policy\n',
    ],
    ['no file holds one', { state: 'not given' }, '· none of the files holds an access policy\n'],
    ['there is none', { state: 'known' }, '· no access policy is in scope\n'],
    [
      'they may not be listed',
      FORBIDDEN,
      '! no access policy is known to be in scope: cannot list XAccessPolicy.agentic.networking.x-k8s.io: forbidden\n',
    ],
  ])('%s', (_, knowledge, expected) => {
    const layout = { width: 120, wide: false, knowledge, findings: [], mentioning: [] }
    expect(first(layout)).toBe(expected)
  })
})

test('no file that could be read holds one: another may', () => {
  const layout = { width: 120, wide: false, findings: [], mentioning: [], incomplete: true }
  expect(first({ ...layout, knowledge: { state: 'not given' } })).toBe(
    '· none of the files that could be read holds an access policy\n',
  )
})

describe('a note says no more than follows from it', () => {
  test.each<[NoteKind, string]>([
    ['not accepted', 'it does not take effect as written'],
    ['over the limit', 'it may not take effect as written'],
    ['stale', 'its status is out of date'],
    ['former target', 'its status is out of date'],
    ['member ignored', 'a part of it does not count'],
  ])('%s', (kind, lead) => {
    const note = { kind, text: 'something', source: 'KAN does so.', by: undefined }
    expect(shownWith({ ...POLICY, notes: [note] })).toContain(`  ! ${lead}: something\n      KAN does so.\n`)
  })
})

describe('what a rule asks, and what a policy does, in words that kleym does not know', () => {
  const rule: ResolvedRule = {
    at: 0,
    name: 'one',
    sources: [],
    asks: 'any request',
    authorization: undefined,
    mentioned: [],
    notes: [],
  }
  test.each<[string, Partial<ResolvedPolicy>, string]>([
    ['a known action stands as it is', {}, 'agents/tools  action Allow\n'],
    ['no action', { action: undefined }, 'agents/tools  action (none)\n'],
    ['any other is quoted', { action: 'all is well' }, 'agents/tools  action "all is well"\n'],
    ['a rule asks nothing', { rules: [rule] }, '  rule one, any request\n'],
    [
      'a rule with an authorization',
      { rules: [{ ...rule, asks: 'CEL', authorization: '{}' }] },
      '  rule one, authorization CEL\n',
    ],
    [
      'an ID in a CEL text is mentioned there, and no more is said of it',
      {
        rules: [
          {
            ...rule,
            asks: 'CEL',
            authorization: '{}',
            mentioned: [{ text: 'spiffe://a/b', matcher: ['spiffe://a/b'], isWhole: true }],
          },
        ],
      },
      '  rule one, authorization CEL\n    · spiffe://a/b is mentioned in CEL, not interpreted\n',
    ],
  ])('%s', (_, parts, shows) => {
    expect(shownWith({ ...POLICY, ...parts })).toContain(shows)
  })
})

const POLICY: ResolvedPolicy = {
  key: namespacedName('agents', 'tools'),
  kind: 'XAccessPolicy',
  namespace: 'agents',
  name: 'tools',
  apiVersion: 'agentic.networking.x-k8s.io/v1alpha1',
  isInterpreted: true,
  isNamesAlone: false,
  targets: [],
  action: 'Allow',
  rules: [],
  notes: [],
  problems: [],
}

function shownWith(policy: ResolvedPolicy): string {
  const layout = { width: 120, wide: false, named: true, findings: [], mentioning: [] }
  return render(viewPolicies([policy], { ...layout, knowledge: { state: 'known' } }), PLAIN)
}

function noNamings(knowledge: PolicyKnowledge): NamedBy {
  return {
    knowledge,
    namings: [],
    mentions: [],
    inTexts: [],
    uninterpreted: [],
    asksDiffer: false,
  }
}

describe('an identity that no rule is seen to name', () => {
  test('policies are known: no rule names it', () => {
    const by = noNamings({ state: 'known' })
    expect(namedByRows(by, { wide: false })).toEqual(['no rule of any policy'])
    expect(namedIdRows({ ids: ['spiffe://a/b'], by }, { wide: false })).toEqual([
      'no rule names spiffe://a/b itself',
    ])
  })

  test('access policies alone are known: other objects may name it', () => {
    const by = noNamings({ state: 'known', isInPart: true })
    expect(namedByRows(by, { wide: false })).toEqual([
      'no rule of any access policy; by other objects: kubectl kleym policies',
    ])
  })

  test('policies are not known: nor is who names it', () => {
    const by = noNamings(FORBIDDEN)
    const unknown = 'not known: cannot list XAccessPolicy.agentic.networking.x-k8s.io: forbidden'
    expect(namedByRows(by, { wide: false })).toEqual([unknown])
    expect(namedIdRows({ ids: ['spiffe://a/b'], by }, { wide: false })).toEqual([
      'no known rule names spiffe://a/b itself',
      unknown,
    ])
  })

  test('many of them are counted, and -o wide names them all', () => {
    const by = noNamings({ state: 'known' })
    const ids = Array.from({ length: 9 }, (_, at) => `spiffe://a/${at}`)
    expect(namedIdRows({ ids, by }, { wide: false })[0]).toMatch(/spiffe:\/\/a\/5 and 3 more itself$/)
    expect(namedIdRows({ ids, by }, { wide: true })[0]).toContain('spiffe://a/8')
  })
})
