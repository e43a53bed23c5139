// A prefill/decode deployment as llm-d renders it, beside the identities that the SPIRE chart installs: the real operator, the real
// SCM, and who is issued what in the end.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { dig, isRecord, stringAt, type JsonRecord } from '../../shared/src/core/base/json.ts'
import type { ControlPlane } from '../control-plane/control-plane.ts'
import { namespace, untilReason } from '../control-plane/objects.ts'
import { startOperator, startOperatorPlane } from '../control-plane/operator.ts'
import { node, serviceAccount } from './build-cluster.ts'
import { compare, differenceText, type Comparison } from './compare.ts'
import { startSpire, type HeldEntry } from './spire.ts'

const SPACE = 'llm-d'
/** The class of the SPIRE chart's controller, as the estate has it. */
const CLASS = 'spire-mgmt-spire'
const POOL_ID = `spiffe://example.org/ns/${SPACE}/pool/ms-deepseek`

let cp: ControlPlane
let before: Comparison
let after: Comparison
beforeAll(async () => {
  const rendered = documents(join(import.meta.dirname, 'llm-d/prefill-decode.yaml'))
  const chart = documents(join(import.meta.dirname, '../../examples/estate/platform/spire.yaml'))
  cp = await startOperatorPlane()
  const pods = rendered.flatMap(podsOf)
  const accounts = new Set(pods.map((pod) => stringAt(pod, 'spec', 'serviceAccountName') ?? ''))
  await cp.apply([
    namespace(SPACE),
    node('n1'),
    ...[...accounts].map((name) => serviceAccount(SPACE, name)),
    ...chart.filter(({ kind }) => kind === 'ClusterSPIFFEID').map(withoutServerFields),
  ])
  await cp.apply(pods)
  const spire = await startSpire(cp, { className: CLASS })
  before = await compare(cp, spire)
  const flags = [`--clusterspiffeid-class-name=${CLASS}`, '--variant-label-key=llm-d.ai/role']
  const operator = await startOperator(cp, { flags })
  await operator.leads()
  await cp.apply(rendered.filter(({ kind }) => kind !== 'Deployment'))
  for (const role of ['prefill', 'decode']) await untilReason(cp, SPACE, role, 'Reconciled')
  after = await compare(cp, spire)
})
afterAll(() => cp?.stop())

function documents(file: string): readonly JsonRecord[] {
  return parseAllDocuments(readFileSync(file, 'utf8')).flatMap((document) => {
    const value: unknown = document.toJS()
    return isRecord(value) ? [value] : []
  })
}

/** The pods that a Deployment would make, bound to the node. */
function podsOf(object: JsonRecord): readonly JsonRecord[] {
  if (object['kind'] !== 'Deployment') return []
  const template = dig(object, 'spec', 'template')
  return Array.from({ length: Number(dig(object, 'spec', 'replicas')) }, (_, at) => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: `${stringAt(object, 'metadata', 'name')}-${at}`,
      namespace: SPACE,
      labels: dig(template, 'metadata', 'labels'),
    },
    spec: { ...Object(dig(template, 'spec')), nodeName: 'n1' },
  }))
}

function withoutServerFields(object: JsonRecord): JsonRecord {
  const { uid: _, creationTimestamp: __, ...metadata } = Object(object['metadata'])
  return { apiVersion: object['apiVersion'], kind: object['kind'], metadata, spec: object['spec'] }
}

/** What the server holds for each pod, by the name of the pod: the IDs of its entries. */
async function idsByPod(held: readonly HeldEntry[]): Promise<Record<string, readonly string[]>> {
  const pods = await cp.admin.list({ apiVersion: 'v1', kind: 'Pod', namespace: SPACE })
  return Object.fromEntries(
    pods.map((pod) => {
      const selector = `k8s:pod-uid:${stringAt(pod, 'metadata', 'uid')}`
      const own = held.filter(({ selectors }) => selectors.includes(selector))
      return [stringAt(pod, 'metadata', 'name'), own.map(({ spiffeId }) => spiffeId)]
    }),
  )
}

test('the prediction is right before and after', () => {
  expect(before.differences.map(differenceText)).toEqual([])
  expect(after.differences.map(differenceText)).toEqual([])
  expect(after.uncertain).toEqual([])
})

test('at first all pods of both roles hold the one default of their service account', async () => {
  const shared = [`spiffe://example.org/ns/${SPACE}/sa/ms-deepseek`]
  expect(await idsByPod(before.held)).toEqual({
    'ms-deepseek-decode-0': shared,
    'ms-deepseek-decode-1': shared,
    'ms-deepseek-epp-0': [`spiffe://example.org/ns/${SPACE}/sa/ms-deepseek-epp`],
    'ms-deepseek-prefill-0': shared,
    'ms-deepseek-prefill-1': shared,
  })
})

test('then there are two identities, one for each role, and the picker keeps its default', async () => {
  expect(await idsByPod(after.held)).toEqual({
    'ms-deepseek-decode-0': [`${POOL_ID}/variant/decode`],
    'ms-deepseek-decode-1': [`${POOL_ID}/variant/decode`],
    'ms-deepseek-epp-0': [`spiffe://example.org/ns/${SPACE}/sa/ms-deepseek-epp`],
    'ms-deepseek-prefill-0': [`${POOL_ID}/variant/prefill`],
    'ms-deepseek-prefill-1': [`${POOL_ID}/variant/prefill`],
  })
})

test('and the prediction tells that the defaults of both roles are displaced, and whose are not', () => {
  const verdicts = after.outcomes
    .filter(({ source }) => source.name === 'default')
    .map(({ pod, verdict }) => `${pod?.ref.name ?? ''} ${verdict.state}`)
  expect(verdicts.toSorted()).toEqual([
    'ms-deepseek-decode-0 displaced',
    'ms-deepseek-decode-1 displaced',
    'ms-deepseek-epp-0 declared',
    'ms-deepseek-prefill-0 displaced',
    'ms-deepseek-prefill-1 displaced',
  ])
})
