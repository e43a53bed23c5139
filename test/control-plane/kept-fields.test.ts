// Which fields of a live object an apply leaves, on a real API server with the real kubectl, against what kleym makes of it.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { isRecord, type JsonRecord } from '../../shared/src/core/base/json.ts'
import { afterApply, appliedRecord, LAST_APPLIED } from '../../shared/src/core/model/objects/applied.ts'
import { readWorkloadPods } from '../../shared/src/core/model/objects/workload.ts'
import { startControlPlane, type ControlPlane } from './control-plane.ts'

let cp: ControlPlane
beforeAll(async () => {
  cp = await startControlPlane({ controllers: [] })
})
afterAll(() => cp?.stop())

async function run(args: readonly string[], input?: string): Promise<void> {
  const { status, stderr } = await cp.kubectl(args, input === undefined ? {} : { input })
  expect([status, stderr.replaceAll(/^Warning: .*\n/gm, '')]).toEqual([0, ''])
}

/** Labels, annotations and spec; of a template what answers read, since the API server fills in the rest. */
function givenOf(value: JsonRecord): JsonRecord {
  const { metadata, spec } = value
  const { labels = {}, annotations = {} } = isRecord(metadata) ? metadata : {}
  const {
    [LAST_APPLIED]: _,
    'deployment.kubernetes.io/revision': _revision,
    ...others
  } = isRecord(annotations) ? annotations : {}
  const pods = readWorkloadPods({ value }).map((pod) => ({
    labels: pod.labels,
    account: pod.serviceAccountName,
    containers: pod.containers.map((one) => one.name).toSorted(),
  }))
  return { labels, annotations: others, ...(pods.length === 0 ? { spec } : { pods }) }
}

const CONTAINER = { name: 'vllm', image: 'i' }
const deployment = (labels: object, spec: object): JsonRecord => ({
  selector: { matchLabels: { app: 'llama' } },
  template: { metadata: { labels: { app: 'llama', ...labels } }, spec: { containers: [CONTAINER], ...spec } },
})

interface Case {
  readonly says: string
  readonly type: { readonly apiVersion: string; readonly kind: string }
  readonly first: JsonRecord
  readonly labels?: JsonRecord
  /** A patch by hand in between. */
  readonly edit: JsonRecord
  readonly next: JsonRecord
  readonly labelsNext?: JsonRecord
}

const DEPLOYMENT = { apiVersion: 'apps/v1', kind: 'Deployment' }
const REGISTRATION = { apiVersion: 'spire.spiffe.io/v1alpha1', kind: 'ClusterSPIFFEID' }
const ID = { spiffeIDTemplate: 'spiffe://example.org/x' }

const CASES: readonly Case[] = [
  {
    says: 'an account that another has set',
    type: DEPLOYMENT,
    first: deployment({}, {}),
    edit: { spec: { template: { spec: { serviceAccountName: 'other' } } } },
    next: deployment({ tier: 'a' }, {}),
  },
  {
    says: 'a label and an account that were applied',
    type: DEPLOYMENT,
    first: deployment({ tier: 'a' }, { serviceAccountName: 'runner' }),
    edit: {
      metadata: { labels: { by: 'hand' } },
      spec: { template: { metadata: { labels: { more: 'x' } } } },
    },
    next: deployment({}, {}),
  },
  {
    says: 'containers, one of them applied',
    type: DEPLOYMENT,
    first: deployment({}, { containers: [CONTAINER, { name: 'gone', image: 'i' }] }),
    edit: { metadata: { annotations: { by: 'hand' } } },
    next: deployment({}, { containers: [{ name: 'new', image: 'i' }, CONTAINER] }),
  },
  {
    says: 'a container and an init container that another has put beside them',
    type: DEPLOYMENT,
    first: deployment({}, { initContainers: [{ name: 'first', image: 'i' }] }),
    edit: {
      spec: {
        template: {
          spec: {
            containers: [{ name: 'proxy', image: 'i' }],
            initContainers: [{ name: 'side', image: 'i', restartPolicy: 'Always' }],
          },
        },
      },
    },
    next: deployment({}, {}),
  },
  {
    says: 'a container that was applied and has a field by another',
    type: DEPLOYMENT,
    first: deployment({}, { containers: [CONTAINER, { name: 'gone', image: 'i' }] }),
    edit: { spec: { template: { spec: { containers: [{ name: 'gone', tty: true }] } } } },
    next: deployment({}, {}),
  },
  {
    says: 'labels of the object',
    type: REGISTRATION,
    first: ID,
    labels: { a: 'applied', b: 'applied' },
    edit: { metadata: { labels: { c: 'hand' } } },
    next: ID,
    labelsNext: { b: 'applied' },
  },
  {
    says: 'labels of an object whose manifest has none any more',
    type: REGISTRATION,
    first: ID,
    labels: { a: 'applied' },
    edit: { metadata: { labels: { c: 'hand' } } },
    next: ID,
  },
  {
    says: 'fields of a custom resource',
    type: REGISTRATION,
    first: { ...ID, hint: 'h', fallback: true, dnsNameTemplates: ['a', 'b'] },
    edit: { spec: { className: 'hand' } },
    next: { ...ID, dnsNameTemplates: ['b'] },
  },
  {
    says: 'a selector that another has set',
    type: REGISTRATION,
    first: ID,
    edit: { spec: { podSelector: { matchLabels: { hand: 'x' } } } },
    next: { ...ID, hint: 'h' },
  },
  {
    says: 'a selector that was applied and that another has changed',
    type: REGISTRATION,
    first: { ...ID, podSelector: { matchLabels: { a: 'applied' } } },
    edit: { spec: { podSelector: { matchLabels: { hand: 'x' } } } },
    next: ID,
  },
  {
    says: 'a selector of the manifest',
    type: REGISTRATION,
    first: { ...ID, podSelector: { matchLabels: { a: 'applied', b: 'applied' } } },
    edit: { metadata: { labels: { by: 'hand' } } },
    next: { ...ID, podSelector: { matchLabels: { b: 'applied' } } },
  },
]

describe.each([
  ['client', []],
  ['server', ['--server-side']],
] as const)('applied on the %s', (side, flags) => {
  test.each(CASES)('$says', async ({ type, first, labels, edit, next, labelsNext, says }) => {
    const name = `${side}-${CASES.findIndex((one) => one.says === says)}`
    const ref = { ...type, name, ...(type === DEPLOYMENT && { namespace: 'default' }) }
    const manifest = (spec: JsonRecord, given: JsonRecord | undefined): JsonRecord => ({
      ...type,
      metadata: { name, ...(given && { labels: given }) },
      spec,
    })
    await run(['apply', ...flags, '-f', '-'], JSON.stringify(manifest(first, labels)))
    const how = type === DEPLOYMENT ? 'strategic' : 'merge'
    await run(['patch', type.kind.toLowerCase(), name, `--type=${how}`, '-p', JSON.stringify(edit)])
    const get = async (): Promise<JsonRecord> => (await cp.admin.get(ref)) ?? {}
    const live = await get()
    const file = manifest(next, labelsNext)
    const metadata = isRecord(live['metadata']) ? live['metadata'] : {}
    const laid = afterApply(
      { ...file, metadata: { ...(isRecord(file['metadata']) ? file['metadata'] : {}), annotations: {} } },
      live,
      appliedRecord(metadata),
    )
    await run(['apply', ...flags, '-f', '-'], JSON.stringify(file))
    expect(givenOf(laid)).toEqual(givenOf(await get()))
  })
})
