// Bad test files: what is wrong, where, why, and how to correct it. A test with a fault is not run at all.
import { describe, expect, test } from 'vitest'
import { fieldText } from '../../src/core/answers/identity-tests/identity-test.ts'
import { readObject, readSpec } from './run-test.ts'

const CHAT = 'spiffe://example.org/ns/team-a/objective/chat'
const SUBJECT = { namespace: 'team-a', workload: 'deployment/llama' }
const HOLDS = { exactly: [CHAT] }

function faults(spec: unknown): readonly string[] {
  const read = readSpec(spec)
  return 'assertions' in read ? [] : read.map(({ path, why, fix }) => `${fieldText(path)}: ${why} | ${fix}`)
}

describe('a spec', () => {
  test.each<readonly [says: string, spec: unknown, fault: RegExp]>([
    [
      'an unknown field',
      { container: [] },
      /^spec\.container: there is no field container here \| did you mean containers\?/,
    ],
    [
      'an unknown field of an assertion',
      { containers: [{ subject: SUBJECT, hold: HOLDS, holds: HOLDS }] },
      /^spec\.containers\[0\]\.hold: there is no field hold here \| did you mean holds\?/,
    ],
    [
      'an unknown field of a subject',
      { containers: [{ subject: { ...SUBJECT, pods: 'x' }, holds: HOLDS }] },
      /^spec\.containers\[0\]\.subject\.pods: .* did you mean pod or podSelector\?/,
    ],
    [
      'a label that no mapping holds',
      {
        rules: [
          { spiffeID: CHAT, onlyIn: { podSelector: { matchLabels: JSON.parse('{"__proto__":"x"}') } } },
        ],
      },
      /^spec\.rules\[0\]\.onlyIn\.podSelector\.matchLabels\.__proto__: no label has this name \| take it away/,
    ],
    [
      'a wrong type',
      { containers: [{ subject: SUBJECT, holds: { exactly: CHAT } }] },
      /^spec\.containers\[0\]\.holds\.exactly: it must be a list, and is "spiffe:/,
    ],
    [
      'a number for a string',
      { bindings: [{ name: 7, ready: true }] },
      /^spec\.bindings\[0\]\.name: it must be a string, and is a number/,
    ],
    [
      'a string for a truth value',
      { bindings: [{ name: 'a/b', ready: 'yes' }] },
      /^spec\.bindings\[0\]\.ready: it must be true or false, and is "yes"/,
    ],
    [
      'nothing that is missing',
      { containers: [{ subject: SUBJECT }] },
      /^spec\.containers\[0\]\.holds: it is missing \| add holds/,
    ],
    ['no assertion', {}, /^spec: it must hold an assertion/],
    ['an empty list of assertions', { rules: [] }, /^spec: it must hold an assertion/],
    [
      'an empty rule',
      { rules: [{}] },
      /^spec\.rules\[0\]: it must be identitiesBelow or spiffeID with onlyIn or neverIn, or everyContainer with holds/,
    ],
    ['half a rule', { rules: [{ spiffeID: CHAT }] }, /^spec\.rules\[0\]: it must be/],
    [
      'two rules in one',
      { rules: [{ spiffeID: CHAT, onlyIn: { namespace: 'a' }, neverIn: { namespace: 'b' } }] },
      /^spec\.rules\[0\]: it must be/,
    ],
    [
      'a rule that allows everything',
      { rules: [{ everyContainer: {}, holds: {} }] },
      /^spec\.rules\[0\]\.holds: it must not be empty/,
    ],
    [
      'an empty list of identities',
      { containers: [{ subject: SUBJECT, holds: { exactly: [] } }] },
      /must not be empty; write none: true/,
    ],
    [
      'an empty subject',
      { containers: [{ subject: {}, holds: HOLDS }] },
      /^spec\.containers\[0\]\.subject: it must name something/,
    ],
    [
      'two expectations',
      { containers: [{ subject: SUBJECT, holds: { exactly: [CHAT], none: true } }] },
      /must have one of exactly, atLeast and none/,
    ],
    [
      'none: false',
      { containers: [{ subject: SUBJECT, holds: { none: false } }] },
      /must be true, or left out/,
    ],
    [
      'an ID of another trust domain',
      { identities: [{ spiffeID: 'spiffe://other.org/a', heldBy: { none: true } }] },
      /^spec\.identities\[0\]\.spiffeID: the ID is of trust domain other\.org, and that of this install is example\.org \| write spiffe:\/\/example\.org\/\.\.\., or give the trust domain that is meant with --trust-domain/,
    ],
    [
      'an ID that is none',
      { identities: [{ spiffeID: 'chat', heldBy: { none: true } }] },
      /is no SPIFFE ID: it does not begin with/,
    ],
    [
      'a pattern in a list of identities',
      { containers: [{ subject: SUBJECT, holds: { exactly: ['spiffe://example.org/*'] } }] },
      /a pattern is not allowed here/,
    ],
    [
      'a placeholder without its source',
      { rules: [{ spiffeID: CHAT, onlyIn: { namespace: '{namespace}' } }] },
      /^spec\.rules\[0\]\.onlyIn\.namespace: \{namespace\} stands for nothing/,
    ],
    [
      'a kind that has no pods',
      { containers: [{ subject: { namespace: 'a', workload: 'deploymet/x' }, holds: HOLDS }] },
      /^spec\.containers\[0\]\.subject\.workload: kleym knows no workload of kind deploymet \| did you mean deployment\?/,
    ],
    [
      'a pod in the place of a workload',
      { containers: [{ subject: { namespace: 'a', workload: 'pod/llama-0' }, holds: HOLDS }] },
      /^spec\.containers\[0\]\.subject\.workload: a pod is no workload \| write pod: llama-0 in its place/,
    ],
    [
      'a workload without a kind',
      { containers: [{ subject: { namespace: 'a', workload: 'llama' }, holds: HOLDS }] },
      /must be KIND\/NAME/,
    ],
    [
      'a selector that an API server would refuse',
      { containers: [{ subject: { podSelector: { matchLabels: { 'a b': 'c' } } }, holds: HOLDS }] },
      /^spec\.containers\[0\]\.subject\.podSelector: matchLabels/,
    ],
    [
      'a reason that does not exist',
      { bindings: [{ name: 'a/b', reason: 'Collision' }] },
      /^spec\.bindings\[0\]\.reason: it must be a reason/,
    ],
    [
      'a binding that is asked nothing',
      { bindings: [{ name: 'a/b' }] },
      /must say ready, reason or spiffeID/,
    ],
    [
      'a binding that is absent and ready',
      { bindings: [{ name: 'a/b', absent: true, ready: true }] },
      /must say ready, reason or spiffeID, or else absent/,
    ],
    ['a binding without a namespace', { bindings: [{ name: 'b', ready: true }] }, /must be NAMESPACE\/NAME/],
    [
      'a wrong source',
      { containers: [{ subject: SUBJECT, holds: { exactly: [{ spiffeID: CHAT, source: 'iib/a' }] } }] },
      /source: it must be binding\/NAMESPACE\/NAME/,
    ],
    [
      'an unknown field of an identity',
      { containers: [{ subject: SUBJECT, holds: { exactly: [{ spiffeID: CHAT, hin: 'x' }] } }] },
      /exactly\[0\]\.hin: there is no field hin here \| did you mean hint\?/,
    ],
    ['no mapping at all', 'x', /^spec: it must be a mapping/],
  ])('%s', (_says, spec, fault) => {
    const found = faults(spec)
    expect(found.some((one) => fault.test(one)) ? [] : found).toEqual([])
    expect(found.length).toBeGreaterThan(0)
  })

  test('all faults are reported at once', () => {
    const found = faults({
      identities: [
        { spiffeID: 'spiffe://other.org/a', heldBy: { none: true } },
        { spiffeID: 'x', heldBy: { none: true } },
      ],
    })
    expect(found).toHaveLength(2)
  })
})

test.each<readonly [says: string, value: unknown, fault: RegExp]>([
  [
    'another version',
    { apiVersion: 'test.kleym.sonda.red/v2', kind: 'IdentityTest', metadata: { name: 'x' }, spec: {} },
    /^apiVersion: it must be test\.kleym\.sonda\.red\/v1alpha1/,
  ],
  [
    'no name',
    { apiVersion: 'test.kleym.sonda.red/v1alpha1', kind: 'IdentityTest', metadata: {}, spec: {} },
    /^metadata\.name: it is missing/,
  ],
  [
    'an annotation that is no string',
    {
      apiVersion: 'test.kleym.sonda.red/v1alpha1',
      kind: 'IdentityTest',
      metadata: { name: 'x', annotations: { a: true } },
      spec: {},
    },
    /^metadata\.annotations\.a: it must be a string; put it in quotes/,
  ],
  ['no object', [], /./],
  ['nothing', null, /./],
])('%s', (_says, value, fault) => {
  const read = readObject(value)
  expect('assertions' in read).toBe(false)
  const found = 'assertions' in read ? [] : read.map(({ path, why }) => `${fieldText(path)}: ${why}`)
  expect(found.some((one) => fault.test(one)) ? [] : found).toEqual([])
})
