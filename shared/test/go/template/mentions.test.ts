// What a template can read and what it can give, from its text alone. That enough of a pod is kept for what it reads is
// held where pods are trimmed (plugin/test/cluster/trim.test.ts).
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { leastSeen, runs } from '@kleym/testing/runs.ts'
import { mayGive, mentionsOf } from '../../../src/core/base/go/template/mentions.ts'
import { parseTemplate } from '../../../src/core/base/go/template/index.ts'
import { MAX_NESTING, MAX_SOURCE } from '../../../src/core/base/go/template/signals.ts'
import { readData } from './differential.ts'
import { RandomTemplates } from '@kleym/testing/random-templates.ts'

const DATA = [...readData(new URL('vectors/corpus.json', import.meta.url)).values()]
const TOO_DEEP = `{{ ${'('.repeat(MAX_NESTING + 1)}1${')'.repeat(MAX_NESTING + 1)} }}`
const TOO_LONG = 'x'.repeat(MAX_SOURCE + 1)

describe('a template mentions', () => {
  test.each<[template: string, mentioned: readonly string[]]>([
    ['spiffe://td/x', []],
    ['{{ .TrustDomain }}/{{ .ClusterName }}', []],
    ['{{ .PodMeta.Name }}', ['PodMeta.Name']],
    ['{{ .PodMeta.Labels.app }}{{ .PodMeta.Labels.tier }}', ['PodMeta.Labels']],
    ['{{ .PodMeta.GetName }}', ['PodMeta.GetName']],
    ['{{ .PodMeta }}', ['PodMeta']],
    ['{{ $.PodSpec.NodeName }}', ['PodSpec.NodeName']],
    ['{{ $p := .PodMeta }}{{ $p.Finalizers }}', ['PodMeta']],
    ['{{ $p := .PodMeta.Finalizers }}{{ $p }}', ['PodMeta.Finalizers']],
    ['{{ with .NodeMeta }}{{ .Labels }}{{ end }}', ['NodeMeta']],
    ['{{ with .PodSpec }}{{ . }}{{ end }}', ['*', 'PodSpec']],
    ['{{ (index .PodSpec.Containers 0).Image }}', ['PodSpec.Containers']],
    ['{{ (.PodMeta).Annotations }}', ['PodMeta']],
    ['{{ print "x" (print .PodSpec.HostPID) }}', ['PodSpec.HostPID']],
    ['{{ "x" | printf "%s %v" .NodeSpec.PodCIDR }}', ['NodeSpec.PodCIDR']],
    ['{{ if .PodMeta.UID }}{{ else if .PodSpec.Priority }}{{ end }}', ['PodMeta.UID', 'PodSpec.Priority']],
    ['{{ if 1 }}{{ else }}{{ .PodSpec.Priority }}{{ end }}', ['PodSpec.Priority']],
    ['{{ range .PodSpec.Volumes }}{{ .Name }}{{ break }}{{ end }}', ['PodSpec.Volumes']],
    ['{{ define "t" }}{{ $.PodMeta.Name }}{{ end }}', ['PodMeta.Name']],
    ['{{ define "t" }}x{{ end }}{{ template "t" .PodSpec }}', ['PodSpec']],
    ['{{ block "t" .PodMeta.Name }}x{{ end }}', ['PodMeta.Name']],
    ['{{ . }}', ['*']],
    ['{{ $ }}', ['*']],
    ['{{ $x := $ }}{{ $x.Nope }}', ['*']],
    ['{{ template "t" . }}', ['*']],
  ])('%s', (template, mentioned) => {
    expect([...mentionsOf(template)].toSorted()).toEqual(mentioned)
  })

  test.each([
    ['nested too deep to be read', TOO_DEEP],
    ['too long to be read', TOO_LONG],
    ['of which a part has the name of the main one', '{{ template "spiffeIDTemplate" .PodMeta }}'],
  ])('everything, for one %s', (_says, template) => {
    expect(mentionsOf(template)).toEqual(new Set(['*']))
  })

  test('nothing, for one that Go refuses: SCM reads no pod for it', () => {
    expect(mentionsOf('{{ .PodMeta.Finalizers')).toEqual(new Set())
  })
})

describe('a text may come out of a template', () => {
  test.each<[template: string, text: string, may: boolean]>([
    ['spiffe://td/x', 'spiffe://td/x', true],
    ['spiffe://td/x', 'spiffe://td/xy', false],
    ['', '', true],
    ['', 'x', false],
    ['{{ .PodMeta.Name }}', '', true],
    ['{{ .PodMeta.Name }}', 'anything', true],
    ['spiffe://{{ .TrustDomain }}/ns/{{ .PodMeta.Namespace }}/x', 'spiffe://td/ns/team-a/x', true],
    ['spiffe://{{ .TrustDomain }}/ns/{{ .PodMeta.Namespace }}/x', 'spiffe://td/ns/team-a/y', false],
    ['spiffe://{{ .TrustDomain }}/ns/{{ .PodMeta.Namespace }}/x', 'spiffe://td/sa/team-a/x', false],
    ['spiffe://td/{{ .PodMeta.Name }}', 'spiffe://other/a', false],
    ['{{ .PodMeta.Name }}/a/{{ .PodMeta.UID }}/b', 'x/a/b', false],
    ['{{ .PodMeta.Name }}/a/{{ .PodMeta.UID }}/b', 'x/a//b', true],
    ['ab{{ .PodMeta.Name }}bc', 'abc', false],
    ['ab{{ .PodMeta.Name }}bc', 'abbc', true],
    ['a{{ .X }}b{{ .Y }}b', 'ab', false],
    ['a{{ .X }}b{{ .Y }}b', 'abb', true],
    ['x{{ .X }}b{{ .Y }}b{{ .Z }}y', 'xby', false],
    ['a {{- " " -}} b', 'a b', true],
    ['a {{- /* a comment gives nothing */ -}} b', 'ab', true],
    ['a{{/* nor do two texts in a row have a gap */}}b', 'axb', false],
    ['{{ if .PodMeta.Name }}a{{ else }}b{{ end }}', 'c', true],
    ['x{{ define "t" }}y{{ end }}', 'x', true],
    ['x{{ define "t" }}y{{ end }}', 'xy', false],
    ['é{{ .X }}', 'é', true],
    ['{{ .X', 'anything', false],
    [TOO_DEEP, 'anything', true],
  ])('%s: %s', (template, text, may) => {
    expect(mayGive(template, [text])).toBe(may)
  })

  test('one of several is enough, and none of none', () => {
    expect(mayGive('a{{ .X }}', ['b', 'c', 'ab'])).toBe(true)
    expect(mayGive('a{{ .X }}', ['b', 'c'])).toBe(false)
    expect(mayGive('{{ .X }}', [])).toBe(false)
  })
})

const piece = fc.oneof(
  fc.constantFrom('a', 'b', 'ab', 'ba', 'é', '/', ' ', '\ud800', '\uFFFD'),
  fc.constantFrom(
    '{{ .PodMeta.Labels.tier }}',
    '{{- .TrustDomain -}}',
    '{{ "ab" }}',
    '{{ "a" }}',
    '{{ "" }}',
    '{{ "é" }}',
    '{{ "\\xc3" }}',
    '{{ "\\xa9" }}',
    '{{ slice "é" 1 2 }}',
    '{{ if true }}a{{ else }}b{{ end }}',
    '{{ range .PodMeta.Finalizers }}a{{ end }}',
    '{{/* c */}}',
    '{{ define "t" }}ab{{ end }}',
    '{{ template "t" }}',
    '{{ $x := "b" }}{{ $x }}',
    '{{ with "b" }}{{ . }}{{ end }}',
  ),
)
const written = fc.array(piece, { maxLength: 6 }).map((pieces) => pieces.join(''))
const fuzzed = fc.nat().map((seed) => new RandomTemplates(seed).next())

test('what is rendered may come out of the template', () => {
  let rendered = 0
  let telling = 0
  fc.assert(
    fc.property(fc.oneof(written, fuzzed), fc.constantFrom(...DATA), (template, data) => {
      const parsed = parseTemplate(template)
      const result = parsed.kind === 'template' ? parsed.render(data) : undefined
      if (result?.kind !== 'text') return
      rendered++
      if (!mayGive(template, [`${result.text}~`])) telling++
      expect(mayGive(template, ['spiffe://other', result.text])).toBe(true)
    }),
    { numRuns: runs(4000) },
  )
  // Enough to be sure, and not because the answer were always yes.
  expect(rendered).toBeGreaterThan(leastSeen(800))
  expect(telling).toBeGreaterThan(leastSeen(200))
})
