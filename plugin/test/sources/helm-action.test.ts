// Which braces in a text of SCM are SCM's own, and which another tool must still fill in.
import { expect, test } from 'vitest'
import { parseTemplate } from '@kleym/shared/core/base/go/template/index.ts'
import { actionForAnotherTool } from '../../src/sources/helm-action.ts'

test.each([
  'spiffe://{{ .TrustDomain }}/ns/{{ .PodMeta.Namespace }}',
  'spiffe://{{ $ns := .PodMeta.Namespace }}{{ .TrustDomain }}/ns/{{ $ns }}',
  'spiffe://{{ $.TrustDomain }}/{{ $.PodMeta.Name }}',
  '{{ range $key, $value := .PodMeta.Labels }}{{ $key }}={{ $value }}{{ end }}',
  '{{ define "who" }}chat{{ end }}spiffe://{{ .TrustDomain }}/{{ template "who" }}',
  '{{ block "who" . }}{{ .PodMeta.Name }}{{ end }}{{ template "who" . }}',
  '{{- /* a comment */ -}}x',
  '{{ with .PodMeta }}{{ .Name | printf "%s" | html }}{{ else }}none{{ end }}',
  '{{ index .PodMeta.Labels "app.kubernetes.io/Values" }}',
  '{{ ".Values" }}{{ `include` }}',
  '{{ if and (eq .PodMeta.Name "a") true }}a{{ else if not .PodMeta }}b{{ end }}',
])('SCM renders %s', (text) => {
  // Neither is our own parser against it.
  expect([actionForAnotherTool(text), parseTemplate(text).kind]).toEqual([undefined, 'template'])
})

test.each([
  ['spiffe://{{ .Values.trustDomain }}/x', '{{ .Values.trustDomain }}'],
  ['spiffe://{{ printf "%s" .Values.trustDomain }}/x', '{{ printf "%s" .Values.trustDomain }}'],
  ['{{ if .Values.on }}a{{ end }}', '{{ if .Values.on }}'],
  ['{{ $.Release.Namespace }}', '{{ $.Release.Namespace }}'],
  ['{{ .PodMeta.Name }}{{ include "app.id" . }}', '{{ include "app.id" . }}'],
  ['{{ $id }}', '{{ $id }}'],
  ['{{ trust_domain }}', '{{ trust_domain }}'],
  ['{{ "a" | upper }}', '{{ "a" | upper }}'],
  ['/ns/{{ "{{ .PodMeta.Namespace }}" }}', '{{ "{{ .PodMeta.Namespace }}'],
  ['/ns/{{`{{ .PodMeta.Namespace }}`}}', '{{`{{ .PodMeta.Namespace }}'],
  ['{% if on %}a{% endif %}', '{% if on %}'],
])('another tool is to fill in %s', (text, action) => {
  expect(actionForAnotherTool(text)).toBe(action)
})

test.each(['{{ .PodMeta.Name | lower }}', '{{ .TrustDomain }}{{ $id }}'])(
  'what Go cannot read of %s is a fault of its own: it asks for what only SCM has',
  (text) => {
    expect(actionForAnotherTool(text)).toBe(undefined)
  },
)
