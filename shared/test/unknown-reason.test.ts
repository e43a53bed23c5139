// Reasons for not knowing, as sentences: what failed alike is said once, and nothing else is joined.
import { expect, test } from 'vitest'
import { unknownReasonTexts, type UnknownReason } from '../src/core/model/unknown-reason.ts'

const no = (what: string, parts: Partial<UnknownReason> = {}): UnknownReason => ({
  verb: 'list',
  what,
  cause: 'forbidden',
  ...parts,
})

test.each<[says: string, reasons: readonly UnknownReason[], texts: readonly string[]]>([
  ['none', [], []],
  ['kinds of the whole cluster', [no('Pod'), no('Node'), no('Pod')], ['cannot list Pod, Node: forbidden']],
  [
    'namespaces of one kind',
    [no('ConfigMap', { namespace: 'a' }), no('ConfigMap', { namespace: 'b' })],
    ['cannot list ConfigMap in namespace a, b: forbidden'],
  ],
  [
    'other verbs, causes and places',
    [no('Pod'), no('Pod', { namespace: 'a' }), no('Pod', { verb: 'watch' }), no('Pod', { cause: 'failed' })],
    [
      'cannot list Pod: forbidden',
      'cannot list Pod in namespace a: forbidden',
      'cannot watch Pod: forbidden',
      'cannot list Pod: failed',
    ],
  ],
  [
    'what is defined twice',
    [
      no('a.yaml:1 and b.yaml:1', { verb: 'read', cause: 'ambiguous' }),
      no('c.yaml:1 and d.yaml:1', { verb: 'read', cause: 'ambiguous' }),
    ],
    ['defined twice: a.yaml:1, b.yaml:1', 'defined twice: c.yaml:1, d.yaml:1'],
  ],
])('%s', (_, reasons, texts) => {
  expect(unknownReasonTexts(reasons)).toEqual(texts)
})
