// Hostile templates end in an answer, and the facts that a caller reads off a parsed template.
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { runs } from '@kleym/testing/runs.ts'
import { parseTemplate } from '../../../src/core/base/go/template/index.ts'
import { RandomTemplates } from '@kleym/testing/random-templates.ts'

const data = {
  trustDomain: 'td',
  clusterName: 'c',
  clusterDomain: '',
  podMeta: { value: JSON.parse('{"name":"p","labels":{"__proto__":"own","a":"b"}}'), complete: true },
  podSpec: { value: { containers: [{ name: 'x' }] }, complete: true },
}

function answer(template: string): string {
  const parsed = parseTemplate(template)
  if (parsed.kind === 'unsupported') return parsed.construct
  if (parsed.kind === 'syntax error') return parsed.kind
  const rendered = parsed.render(data)
  return rendered.kind === 'text' ? rendered.text : rendered.kind === 'unknown' ? rendered.why : 'failed'
}

describe('bounds', () => {
  test.each([
    ['10,000 parentheses', `{{${'('.repeat(10_000)}1${')'.repeat(10_000)}}}`, 'nesting deeper than 150'],
    ['10,000 ifs', '{{if 1}}'.repeat(10_000), 'nesting deeper than 150'],
    ['10,000 else ifs', `{{if 0}}${'{{else if 0}}'.repeat(10_000)}`, 'nesting deeper than 150'],
    [
      'endless recursion',
      '{{define "r"}}{{template "r"}}{{end}}{{template "r"}}',
      'an execution nested deeper than 500',
    ],
    [
      'recursion through blocks and parentheses',
      `{{define "r"}}${'{{if 1}}'.repeat(70)}{{print ${'('.repeat(70)}1${')'.repeat(70)}}}{{template "r"}}${'{{end}}'.repeat(70)}{{end}}{{template "r"}}`,
      'an execution nested deeper than 500',
    ],
    [
      'a range over a huge number',
      '{{range 1000000000}}{{range 1000000000}}{{end}}{{end}}',
      'an execution of more than 300000 steps',
    ],
    [
      'a long argument list in a loop',
      `{{range 100000}}{{if and${' 1'.repeat(100_000)}}}{{end}}{{end}}`,
      'an execution of more than 300000 steps',
    ],
    [
      'a long text escaped in a loop',
      '{{$x := printf "%200000s" ""}}{{range 100000}}{{$y := html $x}}{{end}}',
      'an execution of more than 300000 steps',
    ],
    [
      'a text that doubles',
      '{{$x := "x"}}{{range 100}}{{$x = print $x $x}}{{end}}',
      'a text longer than 262144 bytes',
    ],
    ['a great width', '{{printf "%999999d" 1}}', 'a text longer than 262144 bytes'],
    ['a great precision', '{{printf "%.999999f" 1.5}}', 'a text longer than 262144 bytes'],
    ['an absurd width', '{{printf "%999999999d" 1}}', '%!(NOVERB)%!(EXTRA int=1)'],
    ['a template of 3 MB', 'x'.repeat(3_000_000), 'a template longer than 2097152'],
    ['a number of 100,000 digits', `{{${'9'.repeat(100_000)}}}`, 'syntax error'],
    ['a field of 100,000 names', `{{.PodMeta.Labels.z${'.B'.repeat(100_000)}}}`, '<no value>'],
    ['a key of Object.prototype', '{{.PodMeta.Labels.constructor}}', '<no value>'],
    ['an own key called __proto__', '{{.PodMeta.Labels.__proto__}}', 'own'],
    [
      'a template called as the main one',
      '{{template "spiffeIDTemplate" .}}',
      'a template named spiffeIDTemplate, as the main one is',
    ],
    ['a complex number', '{{1+2i}}', 'a complex number'],
  ])('%s', (_name, template, expected) => {
    expect(answer(template)).toBe(expected)
  })
})

describe('any text', () => {
  test('never throws on arbitrary text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.string(), (left, right) => {
        expect(answer(`${left}{{${right}}}`)).toBeTypeOf('string')
      }),
      { numRuns: runs(100) },
    )
  })

  test('never throws on random templates, and gives the same answer twice', () => {
    fc.assert(
      fc.property(fc.integer(), (seed) => {
        const template = new RandomTemplates(seed).next()
        expect(answer(template)).toBe(answer(template))
      }),
      { numRuns: runs(500) },
    )
  })
})

describe('what a parsed template tells', () => {
  test.each([
    ['no actions', 'k8s:ns:a', { literal: 'k8s:ns:a', hasNumber: false, usesDefinitions: false }],
    ['a comment alone', 'é{{/* c */}} x', { literal: 'é x', hasNumber: false }],
    ['an action', '{{ .TrustDomain }}', { literal: undefined, hasNumber: false }],
    ['a number', '{{ index .PodMeta.Finalizers 0 }}', { hasNumber: true }],
    ['a character', "{{ print 'a' }}", { hasNumber: true }],
    [
      'a number in a definition',
      '{{define "x"}}{{1}}{{end}}a',
      { hasNumber: false, usesDefinitions: true, literal: 'a' },
    ],
  ])('%s', (_name, template, expected) => {
    expect(parseTemplate(template)).toMatchObject({ kind: 'template', source: template, ...expected })
  })

  test('a syntax error says the line and what is wrong', () => {
    expect(parseTemplate('a\n{{ lower .PodMeta.Name }}')).toEqual({
      kind: 'syntax error',
      message: 'line 2: function "lower" not defined',
    })
  })

  test('text that is not UTF-8 is reported', () => {
    const parsed = parseTemplate('{{ slice "é" 0 1 }}')
    expect(parsed.kind === 'template' && parsed.render(data)).toEqual({
      kind: 'text',
      text: '\ufffd',
      placeholders: [],
      invalidUtf8: true,
    })
  })
})
