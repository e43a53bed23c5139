// Which differences of an answer make the object another than the one that was proven (docs/contract.md §8).
import { expect, test } from 'vitest'
import type { JsonRecord } from '../../src/core/base/json.ts'
import {
  ANNOTATION_BINDING,
  ANNOTATION_BINDING_UID,
  ANNOTATION_OUTPUT_LABELS,
} from '../../src/core/model/names.ts'
import { readClusterSpiffeId } from '../../src/core/model/objects/clusterspiffeid.ts'
import {
  alteredFields,
  alteredMessage,
  hasLost,
  isProvenField,
} from '../../src/core/decide/plan/altered-fields.ts'
import { binding, estate, outputOf } from '@kleym/testing/manifests.ts'

const SENT = outputOf(estate(binding()))
const { labels, annotations } = SENT.metadata
const selectors = SENT.spec.workloadSelectorTemplates

/** The fields that are altered in the answer to `SENT` when it comes back with these changes. */
function alteredBy({ spec = {}, metadata = {}, sent = SENT }: Altered): readonly string[] {
  const value = {
    ...sent,
    metadata: { ...sent.metadata, uid: 'u', resourceVersion: '1', ...metadata },
    spec: { ...sent.spec, ...spec },
  }
  return alteredFields(readClusterSpiffeId({ value }, 'live'), sent)
}

interface Altered {
  readonly spec?: JsonRecord
  readonly metadata?: JsonRecord
  readonly sent?: typeof SENT
}

const WITH_OUTPUT_LABELS: typeof SENT = {
  ...SENT,
  metadata: { ...SENT.metadata, annotations: { ...annotations, [ANNOTATION_OUTPUT_LABELS]: 'tier' } },
}
const WITH_CLASS = { ...SENT, spec: { ...SENT.spec, className: 'kleym' } }

test.each<[string, Altered, readonly string[]]>([
  ['another SPIFFE ID', { spec: { spiffeIDTemplate: 'spiffe://x/admin' } }, ['.spec.spiffeIDTemplate']],
  ['no SPIFFE ID', { spec: { spiffeIDTemplate: undefined } }, ['.spec.spiffeIDTemplate']],
  [
    'stripped selectors',
    {
      spec: {
        workloadSelectorTemplates: selectors.filter((text) => !/^k8s:(sa|container-name):/.test(text)),
      },
    },
    ['.spec.workloadSelectorTemplates'],
  ],
  ['no selectors', { spec: { workloadSelectorTemplates: [] } }, ['.spec.workloadSelectorTemplates']],
  [
    'one selector more',
    { spec: { workloadSelectorTemplates: [...selectors, 'k8s:node-name:a'] } },
    ['.spec.workloadSelectorTemplates'],
  ],
  ['no pod selector', { spec: { podSelector: undefined } }, ['.spec.podSelector']],
  ['other pods', { spec: { podSelector: { matchLabels: { app: 'other' } } } }, ['.spec.podSelector']],
  ['an empty namespace selector', { spec: { namespaceSelector: {} } }, ['.spec.namespaceSelector']],
  ['a class that was not sent', { spec: { className: 'other' } }, ['.spec.className']],
  ['a class that was taken out', { sent: WITH_CLASS, spec: { className: undefined } }, ['.spec.className']],
  ['another class', { sent: WITH_CLASS, spec: { className: 'other' } }, ['.spec.className']],
  ['admin', { spec: { admin: true } }, ['.spec.admin']],
  ['downstream', { spec: { downstream: true } }, ['.spec.downstream']],
  ['DNS names', { spec: { dnsNameTemplates: ['a.b'] } }, ['.spec.dnsNameTemplates']],
  ['DNS names of its own', { spec: { autoPopulateDNSNames: true } }, ['.spec.autoPopulateDNSNames']],
  ['federation', { spec: { federatesWith: ['other.org'] } }, ['.spec.federatesWith']],
  ['no annotations', { metadata: { annotations: {} } }, ['.metadata.annotations']],
  [
    'no annotation with the UID',
    { metadata: { annotations: { [ANNOTATION_BINDING]: annotations[ANNOTATION_BINDING] } } },
    ['.metadata.annotations'],
  ],
  [
    "another binding's UID",
    { metadata: { annotations: { ...annotations, [ANNOTATION_BINDING_UID]: 'other' } } },
    ['.metadata.annotations'],
  ],
  ['another name', { metadata: { name: 'other' } }, ['.metadata.name']],
  [
    'no spec that can be read',
    { spec: { spiffeIDTemplate: 1, admin: 'yes' } },
    ['.spec.spiffeIDTemplate', '.spec.admin'],
  ],
  [
    'several at once, in a fixed order',
    { spec: { federatesWith: ['o'], admin: true, podSelector: {} }, metadata: { annotations: null } },
    ['.metadata.annotations', '.spec.podSelector', '.spec.admin', '.spec.federatesWith'],
  ],
])('%s', (_, altered, fields) => {
  expect(alteredBy(altered)).toEqual(fields)
})

test.each<[string, Altered]>([
  ['nothing', {}],
  [
    'zero values, as a server that knows more fields than it is sent may fill in',
    {
      spec: {
        admin: false,
        downstream: null,
        dnsNameTemplates: [],
        autoPopulateDNSNames: false,
        federatesWith: null,
        className: '',
      },
    },
  ],
  ['a TTL', { spec: { ttl: '1h', jwtTtl: '5m' } }],
  ['a hint', { spec: { hint: 'other' } }],
  ['a fallback', { spec: { fallback: true } }],
  ['other labels', { metadata: { labels: { team: 'blue' } } }],
  ['one label more', { metadata: { labels: { ...labels, team: 'blue' } } }],
  ['no annotation with the keys of output labels', { metadata: { annotations }, sent: WITH_OUTPUT_LABELS }],
  ['one annotation more', { metadata: { annotations: { ...annotations, team: 'blue' } } }],
  ['a finalizer', { metadata: { finalizers: ['example.com/audit'] } }],
])('%s may stay', (_, altered) => {
  expect(alteredBy(altered)).toEqual([])
})

test('the message names the fields', () => {
  expect(alteredMessage(['.metadata.annotations', '.spec.admin'])).toBe(
    'a mutating webhook or policy changes .metadata.annotations, .spec.admin of the ClusterSPIFFEID: it is not left in force',
  )
})

test.each<[string, JsonRecord, boolean]>([
  ['as it was sent', {}, false],
  ['without its pod selector', { podSelector: undefined }, true],
  ['with an empty pod selector, as a schema that lacks what is in it leaves it', { podSelector: {} }, true],
  ['with another pod selector', { podSelector: { matchLabels: { app: 'other' } } }, false],
  ['without selectors', { workloadSelectorTemplates: [] }, true],
  ['with a class that was not sent', { className: 'other' }, false],
])('an output %s: whether it has lost what is proven of it', (_, spec, lost) => {
  const value = { ...SENT, spec: { ...SENT.spec, ...spec } }
  expect(hasLost(readClusterSpiffeId({ value }, 'live'), SENT)).toBe(lost)
})

test.each([
  ['.spec.podSelector', true],
  ['.spec.className', true],
  ['.spec.hint', false],
  ['.metadata.labels', false],
])('whether %s must come back as it was sent', (path, isProven) => {
  expect(isProvenField(path)).toBe(isProven)
})
