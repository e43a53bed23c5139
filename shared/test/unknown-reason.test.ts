// Reasons for not knowing, as sentences: what failed alike is said once, and nothing else is joined.
import { expect, test } from 'vitest'
import {
  unknownReasonFix,
  unknownReasonLines,
  unknownReasonTexts,
  type UnknownReason,
} from '../src/core/model/unknown-reason.ts'

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

test('what was not given is missing, and a line says how to give it', () => {
  const domain = no("kleym's trust domain", { verb: 'read', cause: 'not given', fix: 'pass --trust-domain' })
  const pods = no('Pod', { namespace: 'a', cause: 'not given' })
  expect(unknownReasonTexts([domain, pods])).toEqual([
    "missing kleym's trust domain",
    'missing Pod in namespace a',
  ])
  expect(unknownReasonLines([domain, pods, no('Node')])).toEqual([
    "missing kleym's trust domain; pass --trust-domain",
    'missing Pod in namespace a; ask about all namespaces (-A), or give it with -f',
    'cannot list Node: forbidden',
  ])
})

test.each<[cause: UnknownReason['cause'], fix: string]>([
  ['forbidden', 'grant the right to read a.yaml'],
  ['malformed', 'correct it'],
  ['a template', 'fill it in, or leave it out (--exclude)'],
  ['not rendered', 'render it (--render), or give what it renders to with -f'],
  ['not given', 'give it with -f'],
  ['failed', 'ask again when the API server answers'],
  ['absent', 'give the object, or a dump of the cluster that holds it'],
])('the fix of what is %s', (cause, fix) => {
  expect(unknownReasonFix(no('a.yaml', { verb: 'read', cause }))).toBe(fix)
})
