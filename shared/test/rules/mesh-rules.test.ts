// An identity of a binding that a mesh's proxy takes from SPIRE and cannot use (KLM440): who gives it to whom, and how sure that is.
import { findingsIn, ofFile } from './findings-in.ts'
import { describe, expect, test } from 'vitest'
import { DEFAULT, foreign, MESHED, pod, PROXYS_OWN, world } from '@kleym/testing/finding-cases.ts'
import { binding, perVariant, poolOnly } from '@kleym/testing/manifests.ts'
import { DEFAULT_VARIANT_LABEL_KEY } from '../../src/core/model/names.ts'
import type { Finding } from '../../src/core/findings/finding/finding.ts'
import type { JsonRecord } from '../../src/core/base/json.ts'

const NAMESPACE: JsonRecord = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'team-a' } }
const INJECTED: JsonRecord = {
  ...NAMESPACE,
  metadata: { name: 'team-a', labels: { 'istio-injection': 'enabled' } },
}

function found(...objects: readonly JsonRecord[]): readonly Finding[] {
  return findingsIn(world(...objects).map(ofFile)).filter(({ code }) => code === 'KLM440')
}

/** What each finding depends on; `certain` where it depends on nothing. */
function certainties(...objects: readonly JsonRecord[]): readonly unknown[] {
  return found(...objects).map(({ dependsOn }) => dependsOn ?? 'certain')
}

/** A workload whose pods do not exist yet. */
function template(annotations: Readonly<Record<string, string>> = {}): JsonRecord {
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'llama', namespace: 'team-a' },
    spec: {
      selector: { matchLabels: { app: 'llama' } },
      template: {
        metadata: { labels: { app: 'llama' }, annotations },
        spec: { serviceAccountName: 'runner', containers: [{ name: 'vllm' }] },
      },
    },
  }
}

const SPIRE = { 'inject.istio.io/templates': 'sidecar,spire' }
const DECODE = {
  ...MESHED,
  metadata: {
    ...Object(MESHED['metadata']),
    labels: { app: 'llama', [DEFAULT_VARIANT_LABEL_KEY]: 'decode' },
  },
}

test('is about the proxy, and says what the binding gives and what Istio accepts', () => {
  expect(found(NAMESPACE, MESHED, poolOnly())).toMatchObject([
    {
      severity: 'error',
      subject: {
        kind: 'InferenceIdentityBinding',
        namespace: 'team-a',
        name: 'llama',
        container: 'istio-proxy',
      },
      summary: 'istio-proxy of 1 pod gets an identity that Istio does not accept',
      evidence: [
        'the binding gives spiffe://example.org/ns/team-a/pool/llama',
        'Istio accepts spiffe://<trust domain>/ns/<namespace>/sa/<service account> alone',
        'seen in pod team-a/llama-0',
      ],
    },
  ])
})

describe('the binding', () => {
  test.each<[what: string, objects: readonly JsonRecord[], expected: readonly string[]]>([
    ['PoolOnly', [MESHED, poolOnly()], ['certain']],
    ['PoolOnly beside the default of the chart', [MESHED, poolOnly(), DEFAULT], ['certain']],
    ['PerVariant', [DECODE, perVariant({ spec: { identityBoundary: { variant: 'decode' } } })], ['certain']],
    ['PerObjective for the model', [MESHED, binding()], []],
    [
      'PerObjective for the proxy',
      [MESHED, binding({ spec: { containerName: 'istio-proxy' } })],
      ['certain'],
    ],
    ['PerObjective, and a registration of the proxy', [MESHED, binding(), PROXYS_OWN], []],
    [
      'PoolOnly, and a registration of the proxy: it holds two',
      [MESHED, poolOnly(), PROXYS_OWN],
      ['certain'],
    ],
    ['of another service account', [MESHED, poolOnly({ spec: { serviceAccountName: 'other' } })], []],
    ['that is refused', [MESHED, poolOnly({ spec: { containerName: 'vllm' } })], []],
    ['that is none: a foreign ClusterSPIFFEID', [MESHED, foreign('odd')], []],
  ])('%s', (_, objects, expected) => {
    expect(certainties(NAMESPACE, ...objects)).toEqual(expected)
  })
})

function withVolume(source: JsonRecord): JsonRecord {
  return pod({ spec: { ...Object(MESHED['spec']), volumes: [{ name: 'workload-socket', ...source }] } })
}

describe('the proxy', () => {
  test('takes its certificates from Istio', () => {
    expect(certainties(NAMESPACE, withVolume({ emptyDir: {} }), poolOnly())).toEqual([])
  })

  test('may take them from SPIRE', () => {
    expect(certainties(NAMESPACE, withVolume({ hostPath: { path: '/opt/sockets' } }), poolOnly())).toEqual([
      ['whether istio-proxy takes its certificates from SPIRE'],
    ])
  })

  test('will be added by Istio, which says nothing of SPIRE, so that nothing is in doubt', () => {
    expect(certainties(INJECTED, template(), poolOnly())).toEqual([])
    expect(certainties(template(), poolOnly())).toEqual([])
  })

  test("will be added by a template that is not Istio's", () => {
    const asked = [['whether istio-proxy takes its certificates from SPIRE']]
    expect(certainties(INJECTED, template(SPIRE), poolOnly())).toEqual(asked)
    expect(certainties(INJECTED, template(SPIRE), binding())).toEqual([])
    expect(certainties(NAMESPACE, template(SPIRE), poolOnly())).toEqual([])
  })
})
