// Estates made up from a seed. Everything that decides between identities is drawn from few values, so that it meets:
// equal IDs and selectors mask each other, selectors overlap, templates fail on some pods and not on others.
import * as fc from 'fast-check'
import type { JsonRecord } from '../../shared/src/core/base/json.ts'
import { USUAL_ID } from './clusterspiffeid.ts'
import type { Estate, EstateId, EstatePod, EstateStatic, Space } from './estate.ts'
import { CLASS } from './spire.ts'

/** So many estates of a seed; the same for the same seed, whatever the count. */
export function estatesOf(seed: number, count: number): readonly Estate[] {
  return fc.sample(ESTATE, { seed, numRuns: count })
}

const ROLE = 'x.io/role'
const POD_LABELS: Readonly<Record<string, readonly string[]>> = {
  app: ['llama', 'phi', 'qwen'],
  tier: ['gold', 'iron'],
  [ROLE]: ['prefill', 'decode', ''],
}
const SPACE_LABELS: Readonly<Record<string, readonly string[]>> = {
  stage: ['prod', 'dev'],
  team: ['a', 'b'],
  'kubernetes.io/metadata.name': ['@-a', '@-b', '@-ibm-x'],
}

const ID_TEMPLATES: readonly string[] = [
  'spiffe://{{.TrustDomain}}/app/{{ index .PodMeta.Labels "app" }}',
  'spiffe://{{.TrustDomain}}/app/{{ .PodMeta.Labels.app }}',
  'spiffe://example.org/x/{{ with index .PodMeta.Labels "tier" }}{{ . }}{{ else }}none{{ end }}',
  'spiffe://example.org/{{ .PodMeta.Name | printf "%s-x" }}',
  'spiffe://example.org/{{ printf "%q" .PodMeta.Labels.tier | len }}',
  'spiffe://other.org/a',
  'spiffe://example.org/n/{{ .NodeMeta.Labels.zone }}/{{ .NodeMeta.Name }}',
  'spiffe://example.org/o/{{ (index .PodMeta.OwnerReferences 0).Name }}',
  'spiffe://example.org/c/{{ len .PodSpec.Containers }}-{{ len .PodSpec.InitContainers }}',
  'spiffe://example.org/{{ range $i, $c := .PodSpec.Containers }}{{ if $i }}-{{ end }}{{ $c.Name }}{{ end }}',
  'spiffe://example.org/{{ if eq .PodSpec.ServiceAccountName "runner" }}r{{ else if ne .PodMeta.Name "p0" }}s{{ end }}',
  'spiffe://example.org/spire/agent',
  'spiffe://example.org',
  'spiffe://example.org/{{ .ClusterName }}/{{ .ClusterDomain }}/{{ .PodSpec.Hostname }}',
  'spiffe://example.org/{{ .Bad.Field }}',
  'spiffe://example.org/{{ .Unclosed',
  'spiffe://example.org/{{ .PodMeta.GetNamespace }}/{{ .PodSpec.NodeName | len }}',
  'spiffe://example.org/{{ slice .PodMeta.Name 0 1 }}{{/* c */}}',
  'spiffe://example.org/a b',
  'spiffe://example.org/{{ or (index .PodMeta.Labels "tier") "free" }}',
  'spiffe://example.org/{{ and .PodMeta.Labels.app "yes" }}',
  'spiffe://example.org/{{ eq .PodMeta.Labels.tier "" }}',
  'spiffe://example.org/{{ not .PodMeta.Labels.app }}',
  'spiffe://example.org/{{ html .PodMeta.Labels.app }}',
  'spiffe://example.org/{{- print " y" -}} /z',
  'spiffe://example.org/{{ define "t" }}{{ .Name }}{{ end }}{{ template "t" .PodMeta }}',
  'spiffe://example.org/{{ range $k, $v := .PodMeta.Labels }}{{ if eq $k "app" }}{{ $v }}{{ end }}{{ end }}',
  'spiffe://example.org/{{ $x := "a" }}{{ if .PodMeta.Annotations.note }}{{ $x = "b" }}{{ end }}{{ $x }}',
  'spiffe://example.org/{{ .PodSpec.HostNetwork }}/{{ .PodSpec.RestartPolicy }}',
  'spiffe://example.org/{{ urlquery .PodMeta.Annotations.note }}',
  'spiffe://example.org/tail\n',
]
const SELECTOR_TEMPLATES: readonly string[] = [
  'k8s:ns:{{ .PodMeta.Namespace }}',
  'k8s:sa:runner',
  'k8s:sa:{{ .PodSpec.ServiceAccountName }}',
  'k8s:sa:{{ .PodSpec.ServiceAccountName }}\n',
  'k8s:container-name:vllm',
  'k8s:pod-label:app:llama',
  'k8s:pod-label:app:{{ .PodMeta.Labels.app }}',
  'k8s:pod-label:tier:{{ index .PodMeta.Labels "tier" }}',
  'k8s:pod-uid:{{ .PodMeta.UID }}',
  'k8s:{{ index .PodMeta.Labels "tier" }}',
  'k8s:note:{{ .PodMeta.Annotations.note }}',
  'k8s:image:{{ (index .PodSpec.Containers 0).Image }}',
  'unix:uid:1000',
  'nocolon',
  'x:yz',
  'xy:z',
  'x:1',
  'x:2',
  'x:1x2',
  'k8s:node-name:{{ .PodSpec.NodeName }}',
]
const DNS_TEMPLATES: readonly string[] = [
  '{{ .PodMeta.Name }}.{{ .PodMeta.Namespace }}.svc',
  '{{ index .PodMeta.Labels "app" }}',
  '{{ .PodMeta.Labels.tier }}.x',
  '{{ .PodMeta.Annotations.note }}',
  'a.example',
  'A.example',
  '-bad',
  '*.wild.example',
  'a..b',
  'xn--9ca.example',
  '_srv.x',
]
/** What no prediction can know; rare, so that most estates are predicted in full. */
const OPEN_SELECTOR = 'x:{{ .PodMeta.OwnerReferences }}'

function chance(percent: number): fc.Arbitrary<boolean> {
  return fc.integer({ min: 0, max: 99 }).map((drawn) => drawn < percent)
}

/** Now and then something, else nothing. */
function maybe<T>(percent: number, arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> {
  return fc.oneof(
    { weight: percent, arbitrary },
    { weight: 100 - percent, arbitrary: fc.constant(undefined) },
  )
}

function labelsFrom(
  values: Readonly<Record<string, readonly string[]>>,
): fc.Arbitrary<Record<string, string>> {
  const parts = Object.fromEntries(
    Object.entries(values).map(([key, some]) => [key, maybe(60, fc.constantFrom(...some))]),
  )
  return fc.record(parts).map(withoutUndefined)
}

function withoutUndefined<T>(record: Readonly<Record<string, T | undefined>>): Record<string, T> {
  const defined: Record<string, T> = {}
  for (const [key, value] of Object.entries(record)) if (value !== undefined) defined[key] = value
  return defined
}

/** Absent, empty, by labels, by expressions, or both. */
function selectorFrom(
  values: Readonly<Record<string, readonly string[]>>,
): fc.Arbitrary<JsonRecord | undefined> {
  const keys = Object.keys(values)
  const expression = fc.constantFrom(...keys).chain((key) =>
    fc.oneof(
      fc
        .tuple(fc.constantFrom('In', 'NotIn'), fc.subarray([...(values[key] ?? [])], { minLength: 1 }))
        .map(([operator, some]): JsonRecord => ({ key, operator, values: some })),
      fc.constantFrom('Exists', 'DoesNotExist').map((operator): JsonRecord => ({ key, operator })),
    ),
  )
  const matchLabels = fc
    .constantFrom(...keys)
    .chain((key) => fc.constantFrom(...(values[key] ?? [])).map((value) => ({ [key]: value })))
  return fc.oneof(
    { weight: 6, arbitrary: fc.constant(undefined) },
    { weight: 1, arbitrary: fc.constant({}) },
    { weight: 2, arbitrary: fc.record({ matchLabels }) },
    {
      weight: 2,
      arbitrary: fc.record({ matchExpressions: fc.array(expression, { minLength: 1, maxLength: 2 }) }),
    },
    {
      weight: 1,
      arbitrary: fc.record({ matchLabels, matchExpressions: fc.array(expression, { maxLength: 1 }) }),
    },
  )
}

const POD: fc.Arbitrary<EstatePod> = fc.record({
  space: fc.constantFrom<Space[]>('a', 'a', 'a', 'b', 'b', 'ibm-x'),
  node: fc.constantFrom('n1', 'n1', 'n1', 'n2', 'n2', 'n2', 'gone', undefined),
  serviceAccount: fc.constantFrom('runner', 'runner', 'web', 'default', ''),
  labels: labelsFrom(POD_LABELS),
  annotations: maybe(40, fc.constantFrom('a b', 'é', 'x', '<&>')).map((note) =>
    note === undefined ? {} : { note },
  ),
  fate: fc.constantFrom('running', 'running', 'running', 'running', 'Succeeded', 'Failed', 'terminating'),
  containers: fc.constantFrom(['vllm'], ['vllm', 'side'], ['proxy', 'vllm']),
  inits: fc.constantFrom([], [], ['init']),
  owned: chance(30),
})

const SPEC: fc.Arbitrary<JsonRecord> = fc
  .record({
    spiffeIDTemplate: fc.oneof(
      { weight: 1, arbitrary: fc.constant(USUAL_ID) },
      { weight: 3, arbitrary: fc.constant('spiffe://example.org/same') },
      { weight: 6, arbitrary: fc.constantFrom(...ID_TEMPLATES) },
    ),
    namespaceSelector: selectorFrom(SPACE_LABELS),
    podSelector: selectorFrom(POD_LABELS),
    workloadSelectorTemplates: maybe(
      40,
      fc.oneof(
        {
          weight: 60,
          arbitrary: fc.array(fc.constantFrom(...SELECTOR_TEMPLATES), { minLength: 1, maxLength: 3 }),
        },
        { weight: 1, arbitrary: fc.constant([OPEN_SELECTOR]) },
      ),
    ),
    dnsNameTemplates: maybe(12, fc.array(fc.constantFrom(...DNS_TEMPLATES), { minLength: 1, maxLength: 2 })),
    fallback: maybe(25, fc.constant(true)),
    className: fc.oneof(
      { weight: 12, arbitrary: fc.constant(CLASS) },
      { weight: 1, arbitrary: fc.constantFrom('', 'other') },
    ),
    hint: maybe(40, fc.constantFrom('h', 'default', 'é')),
    ttl: maybe(20, fc.constantFrom('1h', '1.5h', '1500ms', '30s', '-500ms', '0s', '-1s', '596524h')),
    jwtTtl: maybe(10, fc.constantFrom('5m', '0s')),
    admin: maybe(8, fc.constant(true)),
    downstream: maybe(5, fc.constant(true)),
    federatesWith: maybe(
      4,
      fc.constantFrom(['example.org'], ['spiffe://example.org/x'], ['nobundle.org'], ['Bad!']),
    ),
  })
  .map(withoutUndefined)

const ID: fc.Arbitrary<EstateId> = fc.record({
  spec: SPEC,
  scope: fc.constantFrom('namespace', 'pod'),
  younger: chance(40),
  terminating: chance(8),
})

const STATIC: fc.Arbitrary<EstateStatic> = fc.record({
  path: fc.constantFrom('/same', '/same', '/same', '/static', '/spire/no', '/x/none'),
  selectors: fc.constantFrom([], [], [], ['k8s:sa:runner'], ['xy:z'], ['x:1', 'x:2'], ['unix:uid:1']),
  forPod: fc.constantFrom('n1', 'n2', 'n1', undefined),
  hint: fc.constantFrom('', 'static'),
})

const ESTATE: fc.Arbitrary<Estate> = fc.record({
  namespaces: fc.record({
    a: spaceLabels(),
    b: spaceLabels(),
    'ibm-x': spaceLabels(),
  }),
  pods: fc.array(POD, { minLength: 2, maxLength: 5 }),
  ids: fc.array(ID, { minLength: 2, maxLength: 7 }),
  statics: fc.array(STATIC, { maxLength: 1 }),
})

function spaceLabels(): fc.Arbitrary<Record<string, string>> {
  return labelsFrom({ stage: ['prod', 'dev'], team: ['a', 'b'] })
}

/** Numbers from 0 up to 1 that follow from the seed alone. */
export function randomOf(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}
