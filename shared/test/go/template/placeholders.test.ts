// What is not known yet: placeholders where a value is only printed, unknown wherever anything hangs on it.
import { describe, expect, test } from 'vitest'
import {
  Placeholder,
  parseTemplate,
  type Rendered,
  type TemplateData,
} from '../../../src/core/base/go/template/index.ts'

const manifest: TemplateData = {
  trustDomain: 'example.org',
  clusterName: new Placeholder('cluster name'),
  clusterDomain: '',
  podMeta: {
    complete: false,
    value: {
      name: new Placeholder('pod name'),
      namespace: 'team-a',
      labels: {
        app: 'llama',
        'pod-template-hash': new Placeholder('pod template hash'),
        zone: new Placeholder('zone label', true),
      },
    },
  },
  podSpec: {
    complete: false,
    value: {
      serviceAccountName: '',
      runtimeClassName: 'gvisor',
      containers: [{ name: 'vllm' }],
      volumes: [{ name: 'a' }],
    },
  },
  nodeMeta: new Placeholder('node'),
}

function render(template: string, data: TemplateData = manifest): Rendered {
  const parsed = parseTemplate(template)
  return parsed.kind === 'template' ? parsed.render(data) : { kind: 'unknown', why: parsed.kind }
}

describe('printed as placeholders', () => {
  test.each([
    ['{{ .PodMeta.Name }}', '<pod name>', ['pod name']],
    ['{{ .PodMeta.UID }}', '<pod UID>', ['pod UID']],
    ['{{ .PodMeta.GetUID }}', '<pod UID>', ['pod UID']],
    ['{{ .NodeMeta.UID }}', '<node UID>', ['node UID']],
    ['{{ with .NodeMeta }}{{ .UID }}{{ end }}', '<node UID>', ['node UID']],
    ['{{ .PodSpec.ServiceAccountName }}', '<pod service account name>', ['pod service account name']],
    ['{{ .PodSpec.PriorityClassName }}', '<pod priority class name>', ['pod priority class name']],
    ['{{ (index .PodSpec.Containers 0).Image }}', '<pod containers[0] image>', ['pod containers[0] image']],
    [
      '{{ print .ClusterName "/" .PodMeta.Name }}|{{ .PodMeta.Name }}',
      '<cluster name>/<pod name>|<pod name>',
      ['cluster name', 'pod name'],
    ],
    ['{{ printf "%s-%v" .PodMeta.Name .PodMeta.UID }}', '<pod name>-<pod UID>', ['pod UID', 'pod name']],
    ['{{ index .PodMeta.Labels "pod-template-hash" }}', '<pod template hash>', ['pod template hash']],
    ['{{ $n := .PodMeta.Name }}{{ $n }}', '<pod name>', ['pod name']],
    ['{{ (index .PodSpec.Volumes 0).Name }}', 'a', []],
    ['{{ .PodSpec.RuntimeClassName }}', 'gvisor', []],
    ['{{ .PodMeta.Labels.app }}{{ .PodMeta.Labels.none }}', 'llama<no value>', []],
    ['{{ index .PodMeta.Annotations "none" }}', '', []],
  ])('%s is %s', (template, text, open) => {
    expect(render(template)).toEqual({ kind: 'text', text, placeholders: open, invalidUtf8: false })
  })
})

describe('unknown, with the reason', () => {
  test.each([
    ['{{ if .NodeMeta.UID }}a{{ end }}', 'a condition on the node UID, which is not known yet'],
    ['{{ if eq .PodMeta.Name "x" }}{{ end }}', 'a comparison with the pod name, which is not known yet'],
    ['{{ len .PodMeta.Name }}', 'the length of the pod name, which is not known yet'],
    ['{{ slice .PodMeta.Name 0 1 }}', 'a slice of the pod name, which is not known yet'],
    ['{{ index .PodMeta.Labels .PodMeta.Name }}', 'an index by the pod name, which is not known yet'],
    ['{{ printf "%5s" .PodMeta.Name }}', 'the format of the pod name, which is not known yet'],
    ['{{ printf "%q" .PodMeta.Name }}', 'the format of the pod name, which is not known yet'],
    ['{{ html .PodMeta.Name }}', 'how the pod name is escaped, which is not known yet'],
    ['{{ .PodMeta.Labels.zone }}', 'zone label, which may be absent'],
    ['{{ index .PodMeta.Labels "zone" }}', 'zone label, which may be absent'],
    ['{{ len .PodMeta.Labels }}', 'the length of the pod labels, which is not known yet'],
    ['{{ range .PodMeta.Labels }}{{ . }}{{ end }}', 'the length of the pod labels, which is not known yet'],
    ['{{ .PodMeta.Labels }}', 'the length of the pod labels, which is not known yet'],
    ['{{ .NodeMeta.Labels.zone }}', 'entry zone of the node labels, which may be absent'],
    ['{{ index .NodeMeta.Labels "zone" }}', 'an index into the node labels, which is not known yet'],
    [
      '{{ range .PodMeta.OwnerReferences }}{{ end }}',
      'a range over the pod owner references, which is not known yet',
    ],
    ['{{ range .PodSpec.Volumes }}{{ end }}', 'the length of the pod volumes, to which more may be added'],
    [
      '{{ .PodSpec.SecurityContext.RunAsUser }}',
      'field RunAsUser of the pod security context, which may be absent',
    ],
    ['{{ print .PodSpec.Priority }}', 'the format of the pod priority, which is not known yet'],
    ['{{ if (print .PodMeta.Name "x") }}{{ end }}', 'a condition on the pod name, which is not known yet'],
  ])('%s: %s', (template, why) => {
    expect(render(template)).toEqual({ kind: 'unknown', why })
  })
})

describe('certain all the same', () => {
  test.each([
    ['a field that no node has', '{{ .NodeMeta.Nope }}'],
    ['a nil object', '{{ .NodeSpec.PodCIDR }}'],
    ['a second container that is not there', '{{ (index .PodSpec.Containers 1).Name }}'],
    ['a named string as an index', '{{ index .PodMeta.Labels (index .PodSpec.Containers 0) }}'],
  ])('%s fails', (_name, template) => {
    expect(render(template)).toMatchObject({ kind: 'failed' })
  })

  test('what is not evaluated may be unknown', () => {
    expect(render('{{ if or true .PodMeta.UID }}a{{ else }}{{ len .PodMeta.UID }}{{ end }}')).toMatchObject({
      kind: 'text',
      text: 'a',
    })
  })

  test('a labels map with an open entry has a length, but cannot be ranged over', () => {
    const data = {
      ...manifest,
      podMeta: { complete: false, value: { labels: { a: 'b', hash: new Placeholder('hash') } } },
    }
    expect(render('{{ len .PodMeta.Labels }}', data)).toMatchObject({ text: '2' })
    expect(render('{{ range .PodMeta.Labels }}{{ end }}', data)).toEqual({
      kind: 'unknown',
      why: 'a range over the pod labels, where the hash is not known yet',
    })
  })

  test('data of a wrong type is unknown, not a guess', () => {
    const data = { ...manifest, podMeta: { complete: true, value: { name: 5, labels: 'x' } } }
    expect(render('{{ .PodMeta.Name }}', data)).toEqual({
      kind: 'unknown',
      why: 'pod name, which is not of type string',
    })
    expect(render('{{ .PodMeta.Labels.a }}', data)).toMatchObject({ kind: 'unknown' })
  })
})
