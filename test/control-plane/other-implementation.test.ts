// The CRD of the Go implementation of the same API group (docs/upstream.md), written anew from the description of its API: the chart and the
// operator refuse to be beside it. Its v0.12 bindings are judged by the operator in operator-variants.test.ts.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { isRecord, type JsonRecord } from '../../shared/src/core/base/json.ts'
import { FIRST_BUILD_MS } from './client-binaries.ts'
import type { ControlPlane } from './control-plane.ts'
import { CHART, helmOn, LEAST, RELEASE, RELEASE_NAMESPACE, type Helm } from './helm.ts'
import { estate, namespace, outputId, perVariant, untilReason } from './objects.ts'
import { until } from '@kleym/testing/wait.ts'
import { ANNOTATION_GO_CLAIM } from '../../shared/src/core/model/names.ts'
import { inProcess } from '../../plugin/test/support/in-process.ts'
import { ROOT } from '../house/files.ts'
import { startLeading, startOperator, startOperatorPlane } from './operator.ts'

const NAME = 'inferenceidentitybindings.kleym.sonda.red'
const TEXT = { type: 'string' }
const NAMED = { type: 'object', required: ['name'], properties: { name: TEXT } }

/** v0.12: one boundary, and nothing else that a binding could name. */
const THEIRS: JsonRecord = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: NAME },
  spec: {
    group: 'kleym.sonda.red',
    scope: 'Namespaced',
    names: { kind: 'InferenceIdentityBinding', plural: 'inferenceidentitybindings' },
    versions: [
      {
        name: 'v1alpha1',
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              spec: {
                type: 'object',
                required: ['poolRef', 'serviceAccountName', 'identityBoundary'],
                properties: {
                  poolRef: NAMED,
                  serviceAccountName: TEXT,
                  identityBoundary: {
                    type: 'object',
                    required: ['variant'],
                    properties: { variant: TEXT },
                  },
                },
              },
              status: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
            },
          },
        },
      },
    ],
  },
}

/** Their v0.9, whose bindings have a mode, as here: its status names no output. */
function withoutRecord(): JsonRecord {
  const crd: unknown = JSON.parse(
    JSON.stringify(cp.crd(NAME), (key, value: unknown) => (key === 'clusterSPIFFEID' ? undefined : value)),
  )
  if (!isRecord(crd)) throw new TypeError('a CRD is an object')
  return crd
}

let cp: ControlPlane
let helm: Helm
beforeAll(async () => {
  cp = await startOperatorPlane({ controllers: [], without: [NAME] })
  helm = await helmOn(cp)
  await cp.installCrd(THEIRS)
}, FIRST_BUILD_MS)
afterAll(() => cp?.stop())

const LACKS = '(it lacks spec.mode or status.clusterSPIFFEID)'
const SAYS = `that of the Go implementation ${LACKS}`

test('the chart is refused, with the order in which to move', async () => {
  await cp.apply([namespace(RELEASE_NAMESPACE)])
  const args = ['install', RELEASE, CHART, '--namespace', RELEASE_NAMESPACE, '--take-ownership', ...LEAST]
  const { status, stderr } = await helm(...args)
  expect(stderr).toContain(`of the Go implementation of the same API group ${LACKS}`)
  expect(stderr).toContain('docs/upstream.md')
  expect(status).not.toBe(0)
})

test('an operator that starts ends with one line, and has written nothing of its kinds', async () => {
  const since = await cp.auditMark()
  const operator = await startOperator(cp)
  await operator.program.end()
  expect(operator.program.ended()).toBe('exit code 1')
  expect(operator.log().map(({ message }) => String(message))).toContainEqual(expect.stringContaining(SAYS))
  const writes = await cp.audit({ since, user: 'kleym-operator', resource: 'clusterspiffeids' })
  expect(writes.filter(({ verb }) => verb !== 'list' && verb !== 'watch')).toEqual([])
})

test('migrate lists what changes of a binding of v0.12 that the API server holds', async () => {
  await cp.apply([...estate('theirs')])
  await cp.admin.create({
    apiVersion: 'kleym.sonda.red/v1alpha1',
    kind: 'InferenceIdentityBinding',
    metadata: { name: 'decode', namespace: 'theirs' },
    spec: {
      poolRef: { name: 'llama' },
      serviceAccountName: 'runner',
      identityBoundary: { variant: 'decode' },
    },
  })
  const args = [
    'migrate',
    '--from-go',
    '--kubeconfig',
    cp.kubeconfig(),
    '--trust-domain',
    'example.org',
    '-o',
    'json',
  ]
  const { stdout } = await inProcess(
    [...args, '--clusterspiffeid-class-name=', '--variant-label-key=llm-d.ai/role'],
    ROOT,
  )
  expect(JSON.parse(stdout)).toMatchObject({
    fromGo: [
      {
        binding: 'theirs/decode',
        oldID: 'spiffe://example.org/ns/theirs/sa/runner/inference/pool/llama/variant/decode',
        newID: 'spiffe://example.org/ns/theirs/pool/llama/variant/decode',
        verdict: 'ready',
        consumers: [],
      },
    ],
  })
})

test('beside this CRD the operator finds theirs by its outputs, and writes nothing until the last of them is gone', async () => {
  await cp.removeCrd(NAME)
  await cp.installCrd(NAME)
  await cp.apply([...estate('beside'), perVariant('beside', 'decode', 'decode')])
  const name = 'kleym-beside-decode-pool-01234567'
  await cp.admin.create({
    apiVersion: 'spire.spiffe.io/v1alpha1',
    kind: 'ClusterSPIFFEID',
    metadata: { name, annotations: { [ANNOTATION_GO_CLAIM]: '6b8f2c1e' } },
    spec: {
      spiffeIDTemplate: 'spiffe://example.org/ns/beside/sa/llama/inference/pool/llama/variant/decode',
      podSelector: { matchLabels: { app: 'llama' } },
    },
  })
  const since = await cp.auditMark()
  const operator = await startLeading(cp, { name: 'beside', flags: ['--leader-elect=false'] })
  const says = 'outputs of the Go implementation of the same API group are here: remove its operator'
  await until(async () => (await operator.probe('/readyz')).body.includes(says), 'it to be not ready')
  const writes = await cp.audit({ since, user: 'kleym-operator' })
  expect(
    writes.filter(({ verb, resource }) => /create|update|patch|delete/.test(verb) && resource !== 'leases'),
  ).toEqual([])
  await cp.admin.delete(outputId(name))
  await untilReason(cp, 'beside', 'decode', 'Reconciled')
  await until(async () => (await operator.probe('/readyz')).status === 200, 'it to be ready')
  await operator.stop()
})

test('an operator that runs ends when the CRD becomes theirs', async () => {
  const operator = await startLeading(cp, { name: 'running' })
  await cp.installCrd(withoutRecord())
  await operator.program.end()
  expect(operator.program.ended()).toBe('exit code 1')
  expect(operator.log().map(({ message }) => String(message))).toContainEqual(expect.stringContaining(SAYS))
})
