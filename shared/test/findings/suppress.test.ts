// Every rule of suppressions, as a table: what a flag and an annotation silence, what they cannot, and what is then said.
import { describe, expect, test } from 'vitest'
import { finding, type Finding } from '../../src/core/findings/finding/finding.ts'
import { type Subject } from '../../src/core/model/objects/subject.ts'
import { suppress, type SuppressionContext } from '../../src/core/findings/finding/suppress.ts'
import {
  annotationEntries,
  marksOf,
  type ObjectMark,
} from '../../src/core/findings/finding/suppress-annotation.ts'
import { matchesWildcard, type FlagSuppression } from '../../src/core/findings/finding/suppress-flag.ts'
import type { FindingCode } from '../../src/core/findings/registry/findings.ts'

const CHAT: Subject = { kind: 'InferenceIdentityBinding', namespace: 'team-a', name: 'chat' }
const DEFAULT: Subject = { kind: 'ClusterSPIFFEID', namespace: '', name: 'default' }
const OTHER: Subject = { kind: 'InferenceIdentityBinding', namespace: 'team-b', name: 'chat' }

interface Parts {
  readonly code?: FindingCode
  readonly subject?: Subject
  readonly related?: readonly Subject[]
  readonly namespaces?: readonly string[]
}

function found({ code = 'KLM402', subject = CHAT, related = [], namespaces }: Parts = {}): Finding {
  return finding(code, {
    subject,
    related,
    summary: 'something is the case',
    ...(namespaces === undefined ? {} : { namespaces: new Set(namespaces) }),
  })
}

function flag(parts: Partial<FlagSuppression>): FlagSuppression {
  const all = { code: 'KLM402' as const, kind: CHAT.kind, namespace: 'team-a', name: 'chat', ...parts }
  return { ...all, text: `${all.code}=${all.kind}/${all.namespace}/${all.name}` }
}

function annotated(text: string, { kind, namespace, name }: Subject = CHAT): ObjectMark {
  return { kind, namespace, name, origin: undefined, suppress: text }
}

interface Asked {
  readonly findings?: readonly Finding[]
  readonly flags?: readonly FlagSuppression[]
  readonly marks?: readonly ObjectMark[]
  readonly grounds?: Partial<SuppressionContext>
}

/** The codes that are kept, those that are suppressed and by what, and what is said about suppressions. */
function outcome({ findings = [found()], flags = [], marks = [], grounds = {} }: Asked): unknown {
  const made = suppress(
    findings,
    { flags, marks },
    { all: () => findings, covers: () => true, incomplete: false, ...grounds },
  )
  return {
    kept: made.kept.map(({ code }) => code),
    suppressed: made.suppressed.map(({ finding: one, suppression }) => `${one.code} by ${suppression.by}`),
    said: made.problems.map(({ code, summary }) => `${code} ${summary}`),
  }
}

const kept = (...said: readonly string[]): unknown => ({ kept: ['KLM402'], suppressed: [], said })
const gone = (by: string): unknown => ({ kept: [], suppressed: [`KLM402 by ${by}`], said: [] })
const error = { kept: ['KLM301'], suppressed: [], said: [] }

describe('--suppress', () => {
  test.each<[string, Asked, unknown]>([
    ['nothing is asked for: all is kept', {}, kept()],
    ['the very object', { flags: [flag({})] }, gone('flag')],
    ['a wildcard in the name', { flags: [flag({ name: 'ch*' })] }, gone('flag')],
    ['a wildcard as namespace', { flags: [flag({ namespace: '*' })] }, gone('flag')],
    ['a wildcard as kind', { flags: [flag({ kind: '*' })] }, gone('flag')],
    [
      'another code',
      { flags: [flag({ code: 'KLM404' })] },
      kept('KLM530 no finding KLM404 is about InferenceIdentityBinding/team-a/chat'),
    ],
    [
      'another name',
      { flags: [flag({ name: 'chat-2' })] },
      kept('KLM530 no finding KLM402 is about InferenceIdentityBinding/team-a/chat-2'),
    ],
    [
      'a cluster-scoped pattern means no object of a namespace',
      { flags: [flag({ kind: '*', namespace: '', name: '*' })] },
      kept('KLM530 no finding KLM402 is about *//*'),
    ],
    [
      'a pattern with a namespace means no cluster-scoped object',
      { findings: [found({ subject: DEFAULT })], flags: [flag({ kind: '*', namespace: '*', name: '*' })] },
      kept('KLM530 no finding KLM402 is about */*/*'),
    ],
    [
      'a cluster-scoped object',
      {
        findings: [found({ subject: DEFAULT })],
        flags: [flag({ kind: 'ClusterSPIFFEID', namespace: '', name: 'default' })],
      },
      gone('flag'),
    ],
    [
      'a related object is not what the finding is about',
      { findings: [found({ subject: DEFAULT, related: [CHAT] })], flags: [flag({})] },
      kept('KLM530 no finding KLM402 is about InferenceIdentityBinding/team-a/chat'),
    ],
    [
      'a container of the object',
      { findings: [found({ subject: { ...CHAT, container: 'vllm' } })], flags: [flag({})] },
      gone('flag'),
    ],
    [
      'a subject whose kind names its group',
      {
        findings: [found({ subject: { kind: 'InferencePool.llm-d.ai', namespace: 'team-a', name: 'chat' } })],
        flags: [flag({ kind: 'InferencePool' })],
      },
      gone('flag'),
    ],
    [
      'an error',
      { findings: [found({ code: 'KLM301' })], flags: [flag({ code: 'KLM301' })] },
      { kept: [], suppressed: ['KLM301 by flag'], said: [] },
    ],
    [
      'a finding that another namespace is part of',
      { findings: [found({ related: [OTHER] })], flags: [flag({})] },
      gone('flag'),
    ],
    [
      'a finding that the answer leaves out is no reason to call it unused',
      { findings: [], flags: [flag({})], grounds: { all: () => [found()] } },
      { kept: [], suppressed: [], said: [] },
    ],
    [
      'whether it is used is not known where something is missing',
      { flags: [flag({ name: 'chat-2' })], grounds: { incomplete: true } },
      kept(),
    ],
  ])('%s', (_, asked, expected) => {
    expect(outcome(asked)).toEqual(expected)
  })
})

describe('the annotation', () => {
  test.each<[string, Asked, unknown]>([
    [
      'a warning of its own object',
      { marks: [annotated('KLM402: the proxy needs none')] },
      gone('annotation'),
    ],
    ['a code in small letters', { marks: [annotated('klm402: the proxy needs none')] }, gone('annotation')],
    [
      'one entry a line, among blank lines',
      {
        marks: [annotated('\n KLM408: later \r\n\nKLM402:the proxy\n')],
        findings: [found(), found({ code: 'KLM408' })],
      },
      { kept: [], suppressed: ['KLM402 by annotation', 'KLM408 by annotation'], said: [] },
    ],
    [
      'information',
      { findings: [found({ code: 'KLM412' })], marks: [annotated('KLM412: comes next week')] },
      { kept: [], suppressed: ['KLM412 by annotation'], said: [] },
    ],
    [
      'an error stays',
      { findings: [found({ code: 'KLM301' })], marks: [annotated('KLM301: we know')] },
      { ...error, said: ['KLM531 KLM301 stays: an error is suppressed by --suppress alone'] },
    ],
    ['no reason', { marks: [annotated('KLM402')] }, kept('KLM531 KLM402 has no reason')],
    ['an empty reason', { marks: [annotated('KLM402:  ')] }, kept('KLM531 KLM402 has no reason')],
    ['a dash as reason', { marks: [annotated('KLM402: -')] }, kept('KLM531 KLM402 has no reason')],
    ['an annotation that is empty', { marks: [annotated(' \n')] }, kept('KLM531 a line is not CODE: reason')],
    ['no code', { marks: [annotated('all of it: please')] }, kept('KLM531 a line is not CODE: reason')],
    [
      'a code that is none',
      { marks: [annotated('KLM492: the proxy needs none')] },
      kept('KLM531 there is no finding code KLM492: did you mean KLM402, KLM412 or KLM422?'),
    ],
    [
      'a code about suppressions',
      { marks: [annotated('KLM530: leave me alone')] },
      kept('KLM531 KLM530 is about suppressions, and nothing suppresses it'),
    ],
    [
      'another code',
      { marks: [annotated('KLM404: later')] },
      kept('KLM530 no finding KLM404 is about InferenceIdentityBinding/team-a/chat'),
    ],
    [
      'on another object of that name',
      { marks: [annotated('KLM402: not mine', OTHER)] },
      kept('KLM530 no finding KLM402 is about InferenceIdentityBinding/team-b/chat'),
    ],
    [
      'on an object that is only related',
      {
        findings: [found({ subject: CHAT, related: [DEFAULT] })],
        marks: [annotated('KLM402: not mine', DEFAULT)],
      },
      kept('KLM530 no finding KLM402 is about ClusterSPIFFEID/default'),
    ],
    [
      'a related object of the same namespace, or of none, changes nothing',
      {
        findings: [found({ related: [DEFAULT, { ...CHAT, name: 'sql' }], namespaces: ['team-a'] })],
        marks: [annotated('KLM402: known')],
      },
      gone('annotation'),
    ],
    [
      'a related object of another namespace keeps it',
      { findings: [found({ related: [OTHER] })], marks: [annotated('KLM402: known')] },
      kept('KLM531 KLM402 stays: namespace team-b is part of the finding'),
    ],
    [
      'pods of another namespace keep it',
      { findings: [found({ namespaces: ['team-a', 'team-b'] })], marks: [annotated('KLM402: known')] },
      kept('KLM531 KLM402 stays: namespace team-b is part of the finding'),
    ],
    [
      'a cluster-scoped object cannot silence what a namespace is part of',
      {
        findings: [found({ subject: DEFAULT, related: [CHAT] })],
        marks: [annotated('KLM402: mine', DEFAULT)],
      },
      kept('KLM531 KLM402 stays: namespace team-a is part of the finding'),
    ],
    [
      'a cluster-scoped object silences what is about it alone',
      { findings: [found({ subject: DEFAULT })], marks: [annotated('KLM402: mine', DEFAULT)] },
      gone('annotation'),
    ],
    [
      'nothing is said about objects that the answer is not about',
      {
        marks: [annotated('nonsense', OTHER)],
        grounds: { covers: ({ namespace }) => namespace === 'team-a' },
      },
      kept(),
    ],
    [
      'nothing is called unused where not all findings were worked out',
      { marks: [annotated('KLM404: later')], grounds: { all: undefined } },
      kept(),
    ],
    [
      'nothing is called unused where something is missing',
      { marks: [annotated('KLM404: later')], grounds: { incomplete: true } },
      kept(),
    ],
    [
      'the flag comes first, and the annotation is used all the same',
      { flags: [flag({})], marks: [annotated('KLM402: the proxy needs none')] },
      gone('flag'),
    ],
  ])('%s', (_, asked, expected) => {
    expect(outcome(asked)).toEqual(expected)
  })

  test('its reason comes with what it suppresses', () => {
    const mark = annotated('KLM402: the proxy needs none: ever')
    const { suppressed } = suppress(
      [found()],
      { flags: [], marks: [mark] },
      { all: () => [], covers: () => true, incomplete: false },
    )
    expect(suppressed.map(({ suppression }) => suppression)).toEqual([
      { by: 'annotation', text: 'KLM402: the proxy needs none: ever', reason: 'the proxy needs none: ever' },
    ])
  })
})

describe('wildcards', () => {
  test.each<[string, string, boolean]>([
    ['chat', 'chat', true],
    ['chat', 'chat-2', false],
    ['*', '', true],
    ['*', 'chat', true],
    ['ch*', 'chat', true],
    ['*at', 'chat', true],
    ['c*t', 'chat', true],
    ['c*t', 'ct', true],
    ['ch*hat', 'chat', false],
    ['*a*a*', 'banana', true],
    ['a*b*c', 'a-b-b-c', true],
    ['a*b*c', 'a-c-b', false],
    ['**', 'x', true],
    ['.*', 'x', false],
  ])('%s and %s', (pattern, text, expected) => {
    expect(matchesWildcard(pattern, text)).toBe(expected)
  })

  test('many of them cost no more than their text', () => {
    expect(matchesWildcard(`${'*a'.repeat(5000)}*b`, 'a'.repeat(20_000))).toBe(false)
  })
})

describe('the marks of objects', () => {
  const metadata = { name: 'chat', namespace: 'team-a' }
  const origin = { file: 'a.yaml', document: 1, line: 7 }

  test('are made of what stands in a file or carries the annotation, and of nothing else', () => {
    const annotations = { 'kleym.sonda.red/suppress': 'KLM402: x', other: 'y' }
    expect(
      marksOf([
        { value: { kind: 'Pod', metadata } },
        { value: { kind: 'Pod', metadata }, origin },
        { value: { kind: 'Pod', metadata: { ...metadata, annotations } } },
        { value: { kind: 'Pod', metadata: { ...metadata, annotations: { 'kleym.sonda.red/suppress': 7 } } } },
      ]),
    ).toEqual([
      { kind: 'Pod', ...metadata, origin, suppress: undefined },
      { kind: 'Pod', ...metadata, origin: undefined, suppress: 'KLM402: x' },
    ])
  })

  test('without the annotation have no entries', () => {
    expect(annotationEntries({ ...annotated(''), suppress: undefined })).toEqual([])
  })
})
