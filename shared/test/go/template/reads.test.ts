// Which labels, annotations and fields a template may read, by its text.
import { expect, test } from 'vitest'
import { readsOf } from '../../../src/core/base/go/template/reads.ts'
import { MAX_SOURCE } from '../../../src/core/base/go/template/signals.ts'

test.each<[template: string, reads: readonly string[]]>([
  ['spiffe://td/x', []],
  ['{{ .TrustDomain }}', ['TrustDomain']],
  ['{{ .PodMeta.Labels.app }}', ['PodMeta Labels app']],
  ['{{ index .PodMeta.Labels "a.b/c" }}', ['PodMeta Labels a.b/c']],
  ['{{ index .PodMeta.Labels "\\x61pp" }}', ['PodMeta Labels app']],
  ['{{ index .PodMeta.Labels .PodMeta.Name }}', ['PodMeta Labels', 'PodMeta Name']],
  ['{{ "app" | index .PodMeta.Labels }}', ['PodMeta Labels']],
  ['{{ len .PodMeta.Labels }}', ['PodMeta Labels']],
  ['{{ $.PodMeta.Labels.app }}', ['PodMeta Labels app']],
  ['{{ (.PodMeta).Labels.app }}', ['PodMeta Labels app']],
  ['{{ (index .PodSpec.Containers 0).Image }}', ['PodSpec Containers [] Image']],
  ['{{ with .PodMeta }}{{ .Labels.app }}{{ end }}', ['PodMeta Labels app']],
  ['{{ with .PodMeta }}{{ . }}{{ end }}', ['PodMeta']],
  ['{{ with .PodMeta.Labels }}{{ .app }}{{ end }}', ['PodMeta Labels', 'PodMeta Labels app']],
  ['{{ with .PodMeta.Name }}{{ else }}{{ .PodMeta.UID }}{{ end }}', ['PodMeta Name', 'PodMeta UID']],
  ['{{ with $m := .PodMeta }}{{ $m.Name }}{{ $.PodMeta.UID }}{{ end }}', ['PodMeta Name', 'PodMeta UID']],
  ['{{ with print .PodMeta.Name }}{{ . }}{{ end }}', ['PodMeta Name']],
  [
    '{{ if .PodMeta.Labels.app }}x{{ else if .PodSpec.HostPID }}y{{ end }}',
    ['PodMeta Labels app', 'PodSpec HostPID'],
  ],
  ['{{ range $k, $v := .PodMeta.Labels }}{{ $k }}{{ . }}{{ end }}', ['PodMeta Labels']],
  ['{{ $m := .PodMeta }}{{ $m.Name }}', ['PodMeta Name']],
  [
    '{{ $m := .PodMeta }}{{ if true }}{{ $m = .NodeMeta }}{{ end }}{{ $m.Name }}',
    ['NodeMeta', 'PodMeta Name'],
  ],
  [
    '{{ $m := .PodMeta }}{{ if true }}{{ $m := .NodeMeta }}{{ $m.UID }}{{ end }}{{ $m.Name }}',
    ['NodeMeta UID', 'PodMeta Name'],
  ],
  ['{{ define "t" }}{{ .Name }}{{ end }}{{ template "t" .PodMeta }}', ['PodMeta']],
  ['{{ define "t" }}x{{ end }}{{ template "t" }}', []],
  ['{{ block "t" . }}x{{ end }}', ['']],
  ['{{ . }}', ['']],
  ['{{ printf "%v" $ }}', ['']],
  ['{{ .PodMeta.Labels', []],
  [`{{ .TrustDomain }}${'x'.repeat(MAX_SOURCE)}`, ['']],
])('%s', (template, reads) => {
  expect([...new Set(readsOf(template).map((path) => path.join(' ')))].toSorted()).toEqual(reads)
})
