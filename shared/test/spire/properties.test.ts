// What holds of every prediction: the order of the input changes nothing, other namespaces change nothing, and no
// input is too strange.
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { runs } from '@kleym/testing/runs.ts'
import { readClusterSpiffeId } from '../../src/core/model/objects/clusterspiffeid.ts'
import { readEndpoints, readNamespace, readNode, readPod } from '../../src/core/model/objects/pod.ts'
import { readScmSettings } from '../../src/core/model/objects/scm-config.ts'
import { readClusterStaticEntry } from '../../src/core/model/objects/static-entry.ts'
import { readWorkloadPods } from '../../src/core/model/objects/workload.ts'
import { containerVerdicts, possibleVerdicts } from '../../src/core/predict/spire/registration.ts'
import { registrationEntries } from '@kleym/testing/at-once.ts'
import { predict } from '../../src/core/predict/spire/predict.ts'
import type { PredictionInput } from '../../src/core/predict/spire/prediction.ts'
import { NO } from '../../src/core/model/truth/truth.ts'
import { matchSelector } from '../../src/core/model/objects/label-match.ts'
import { csid, inputOf, NO_EVIDENCE, pod, staticEntry, type PredictedEstate, type Fields } from './estate.ts'

/** Everything that a prediction says, as a text; pods by name, so that their order does not matter. */
function everything(input: PredictionInput): string {
  const prediction = predict(input)
  const pods = input.pods.toSorted((left, right) => (left.ref.name < right.ref.name ? -1 : 1))
  return JSON.stringify(
    [
      [...prediction.objects],
      pods.map((subject) => [
        prediction.entriesOf(subject),
        subject.containers.map((container) => containerVerdicts(prediction, subject, container)),
      ]),
      prediction.staticEntries(),
      [...prediction.counts()],
      prediction.scmFaults(),
      registrationEntries(prediction, input.pods),
    ],
    (_, value: unknown) => (value instanceof Map || value instanceof Set ? [...value] : value),
  )
}

const ids = fc.constantFrom(
  'spiffe://td/x',
  'spiffe://td/{{ .PodMeta.Name }}',
  'spiffe://td/{{ .PodMeta }}',
  'x',
  '',
)
const labels = fc.dictionary(fc.constantFrom('app', 'role'), fc.constantFrom('a', 'b'), { maxKeys: 2 })
const selector = fc.option(
  fc.oneof(
    labels.map((matchLabels) => ({ matchLabels })),
    fc.constantFrom(
      { matchExpressions: [{ key: 'app', operator: 'NotIn', values: ['a'] }] },
      { matchExpressions: [{ key: 'role', operator: 'Exists' }] },
      { matchLabels: { 'kubernetes.io/metadata.name': 'team-a' } },
    ),
  ),
  { nil: undefined },
)
const spec = fc.record({
  spiffeIDTemplate: ids,
  fallback: fc.boolean(),
  className: fc.constantFrom('', 'x', 'y'),
  namespaceSelector: selector,
  podSelector: selector,
  workloadSelectorTemplates: fc.subarray([
    'k8s:ns:team-a',
    'x:yz',
    'xy:z',
    'k8s:x:{{ slice .PodMeta.Name 0 1 }}',
  ]),
  hint: fc.constantFrom('', 'h'),
})
const meta = fc.record({
  uid: fc.option(fc.constantFrom('u1', 'u2', 'u3'), { nil: undefined }),
  creationTimestamp: fc.option(fc.constantFrom('2026-01-01T00:00:00Z', '2026-01-02T00:00:00Z'), {
    nil: undefined,
  }),
})
const NAMES = ['a', 'b', 'c', 'd'] as const
const estates: fc.Arbitrary<PredictedEstate> = fc.record({
  ids: fc
    .array(fc.tuple(spec, meta), { maxLength: 4 })
    .map((list) => list.map(([fields, about], at) => csid(NAMES[at] ?? '', fields, about))),
  statics: fc
    .array(fc.constantFrom('k8s:ns:team-a', 'k8s:pod-uid:pod-uid-p0', 'x:yz'), { maxLength: 2 })
    .map((list) =>
      list.map((one, at) => staticEntry(`s${at}`, { spiffeID: 'spiffe://td/x', selectors: [one] })),
    ),
  pods: fc
    .array(fc.tuple(labels, fc.constantFrom('team-a', 'team-b', 'team-c'), fc.constantFrom('n1', 'n3', '')), {
      maxLength: 4,
    })
    .map((list) =>
      list.map(([found, namespace, nodeName], at) =>
        pod(`p${at}`, { meta: { labels: found, namespace }, spec: { nodeName } }),
      ),
    ),
  config: fc.constantFrom(
    { className: 'x' },
    { className: 'x', watchClassless: true },
    {},
    { className: '$C' },
  ),
})

function shuffled<T>(items: readonly T[], order: readonly number[]): readonly T[] {
  return items
    .map((item, at) => ({ item, key: order[at % order.length] ?? 0, at }))
    .toSorted((left, right) => left.key - right.key || right.at - left.at)
    .map(({ item }) => item)
}

test('the order of the input changes no byte', () => {
  fc.assert(
    fc.property(estates, fc.array(fc.nat(), { minLength: 1, maxLength: 6 }), (estate, order) => {
      const input = inputOf(estate)
      const other: PredictionInput = {
        ...input,
        clusterSpiffeIds: shuffled(input.clusterSpiffeIds, order),
        staticEntries: shuffled([...input.staticEntries], order),
        namespaces: shuffled([...input.namespaces], order),
        nodes: input.nodes === undefined ? undefined : shuffled(input.nodes, order),
        pods: shuffled(input.pods, order),
      }
      expect(everything(other)).toBe(everything(input))
    }),
    { numRuns: runs(200) },
  )
})

/** One container holds two identities of one hint, which hardly ever comes about by chance. */
const hinted: PredictedEstate = {
  ids: ['x', 'y'].map((name) => csid(name, { spiffeIDTemplate: `spiffe://td/${name}`, hint: 'h' })),
}

test('what a container may hold is what its verdicts say, without those that give it nothing', () => {
  const seen = { issued: 0, open: 0, sharing: 0, left: 0 }
  fc.assert(
    fc.property(estates, (estate) => {
      const input = inputOf(estate)
      const prediction = predict(input)
      for (const subject of input.pods) {
        for (const container of subject.containers) {
          const all = containerVerdicts(prediction, subject, container)
          const possible = all.filter(({ verdict }) => ['issued', 'depends', 'unknown'].includes(verdict))
          expect(possibleVerdicts(prediction, subject, container)).toEqual(possible)
          seen.left += all.length - possible.length
          seen.issued += possible.filter(({ verdict }) => verdict === 'issued').length
          seen.open += possible.filter(({ verdict }) => verdict !== 'issued').length
          seen.sharing += possible.filter(({ sharesHint }) => sharesHint).length
        }
      }
    }),
    { numRuns: runs(1_000), examples: [[hinted]] },
  )
  expect(Object.entries(seen).filter(([, times]) => times < 2)).toEqual([])
})

/** What is said of the pods of every namespace but one. */
function outsideElsewhere({ pods, ...rest }: PredictionInput): unknown {
  const prediction = predict({ pods, ...rest })
  return pods
    .filter(({ namespace }) => namespace !== 'elsewhere')
    .map((subject) => prediction.entriesOf(subject).filter(({ source }) => source.name !== 'z'))
}

test('the pods and objects of another namespace change nothing', () => {
  fc.assert(
    fc.property(estates, spec, (estate, fields) => {
      const input = inputOf(estate)
      const stranger = csid('z', {
        ...fields,
        workloadSelectorTemplates: [],
        namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'elsewhere' } },
      })
      const larger = inputOf({
        ...estate,
        ids: [...(estate.ids ?? []), stranger],
        pods: [...(estate.pods ?? []), pod('z', { meta: { namespace: 'elsewhere', annotations: {} } })],
      })
      expect(outsideElsewhere(larger)).toEqual(outsideElsewhere(input))
    }),
    { numRuns: runs(200) },
  )
})

test('the index finds exactly what asking every object finds', () => {
  fc.assert(
    fc.property(estates, (estate) => {
      const input = inputOf({ ...estate, statics: [], namespaces: [] })
      const prediction = predict(input)
      for (const subject of input.pods) {
        const found = prediction.entriesOf(subject).map(({ source }) => source.name)
        const asked = input.clusterSpiffeIds
          .filter(({ spec: fields }) => {
            const namespace = {
              labels: new Map([['kubernetes.io/metadata.name', subject.namespace]]),
              complete: false,
            }
            return (
              matchSelector(fields.namespaceSelector, namespace) !== NO &&
              matchSelector(fields.podSelector, { labels: subject.labels }) !== NO
            )
          })
          .map(({ meta: { name } }) => name)
        expect(found).toEqual(asked.toSorted())
      }
    }),
    { numRuns: runs(200) },
  )
})

const hostileText = fc.oneof(
  fc.constantFrom(
    '__proto__',
    'constructor',
    '<pod UID>',
    '{{',
    '{{ . }}',
    'spiffe://',
    ':',
    '\u0000',
    '\ud800',
    '1h',
    'k8s:a',
  ),
  fc.string(),
)
const hostile: fc.Arbitrary<unknown> = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    fc.constantFrom<unknown>(null, undefined, 0, -1, true, [], {}),
    hostileText,
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(hostileText, tie('value'), { maxKeys: 3 }),
  ),
})).value

/** An object of which some known fields hold anything. */
function corrupted(fields: readonly string[]): fc.Arbitrary<Fields> {
  return fc.record({
    metadata: fc.oneof(
      hostile,
      fc.dictionary(
        fc.constantFrom(
          'name',
          'namespace',
          'uid',
          'labels',
          'annotations',
          'creationTimestamp',
          'ownerReferences',
        ),
        hostile,
      ),
    ),
    spec: fc.oneof(hostile, fc.dictionary(fc.constantFrom(...fields), hostile)),
    status: hostile,
    subsets: hostile,
    kind: fc.constantFrom('Deployment', 'CronJob', 'LeaderWorkerSet'),
    apiVersion: fc.constantFrom('apps/v1', 'batch/v1', 'leaderworkerset.x-k8s.io/v1'),
  })
}

test('no object is too strange', () => {
  const wild = fc.record({
    id: corrupted([
      'spiffeIDTemplate',
      'podSelector',
      'namespaceSelector',
      'workloadSelectorTemplates',
      'dnsNameTemplates',
      'ttl',
      'hint',
      'autoPopulateDNSNames',
      'federatesWith',
    ]),
    entry: corrupted(['spiffeID', 'parentID', 'selectors', 'dnsNames', 'x509SVIDTTL']),
    pod: corrupted([
      'nodeName',
      'containers',
      'initContainers',
      'serviceAccountName',
      'template',
      'jobTemplate',
      'leaderWorkerTemplate',
    ]),
    other: corrupted(['podCIDR']),
    config: hostile,
  })
  fc.assert(
    fc.property(wild, ({ id, entry, pod: subject, other, config }) => {
      const input: PredictionInput = {
        clusterSpiffeIds: [
          readClusterSpiffeId({ value: id }, 'live'),
          readClusterSpiffeId({ value: csid('a') }, 'live'),
        ],
        staticEntries: [readClusterStaticEntry({ value: entry })],
        namespaces: [readNamespace({ value: other })],
        nodes: [readNode({ value: other })],
        pods: [
          readPod({ value: subject }),
          readPod({ value: pod('p') }),
          ...readWorkloadPods({ value: subject }),
        ],
        endpoints: [readEndpoints({ value: other })],
        settings: readScmSettings(config, 'f', NO_EVIDENCE).settings,
      }
      expect(typeof everything(input)).toBe('string')
    }),
    { numRuns: runs(500) },
  )
})
