// A binding and the output that is in force for it: what the suites about ownership and deletion are made of.
import { expect } from 'vitest'
import { outputName } from '../../shared/src/core/decide/compile/output.ts'
import { dig, isRecord, stringAt, type JsonRecord } from '../../shared/src/core/base/json.ts'
import { ANNOTATION_BINDING, ANNOTATION_BINDING_UID } from '../../shared/src/core/model/names.ts'
import type { ControlPlane } from './control-plane.ts'
import { binding, bindingId, estate, objective, outputId, ownerUidOf, untilReason } from './objects.ts'
import { TRUST_DOMAIN } from './operator.ts'
import { until } from '@kleym/testing/wait.ts'

/** Of a binding that never was. */
export const ANOTHER_UID = '5a1c2f0e-0000-4000-8000-000000000000'

export interface Pair {
  readonly binding: JsonRecord
  readonly output: JsonRecord
  /** The name of the output. */
  readonly name: string
}

/** A namespace with pool `llama` and objective `chat`. */
export async function prepare(cp: ControlPlane, space: string): Promise<void> {
  await cp.apply([...estate(space), objective(space, 'chat', 'llama')])
}

/** Such a namespace with a settled binding `chat`. */
export async function settle(cp: ControlPlane, space: string): Promise<Pair> {
  await prepare(cp, space)
  await cp.apply([binding(space, 'chat')])
  return settled(cp, space)
}

/** Waits until a binding is ready with an output that names it and that its status names. */
export async function settled(cp: ControlPlane, space: string, bindingName = 'chat'): Promise<Pair> {
  return until(async () => {
    const ready = await untilReason(cp, space, bindingName, 'Reconciled')
    const name = stringAt(ready, 'status', 'clusterSPIFFEID', 'name') ?? ''
    const output = await cp.admin.get(outputId(name))
    if (output === undefined || dig(output, 'metadata', 'deletionTimestamp') !== undefined) return undefined
    const isRecorded = uidOf(output) === dig(ready, 'status', 'clusterSPIFFEID', 'uid')
    const isItsOwn = ownerUidOf(output) === uidOf(ready)
    return isRecorded && isItsOwn && { binding: ready, output, name }
  }, `the output of ${space}/${bindingName} to be in force`)
}

export function uidOf(object: unknown): string {
  return stringAt(object, 'metadata', 'uid') ?? ''
}

export function nameOf(object: unknown): string {
  return stringAt(object, 'metadata', 'name') ?? ''
}

export function annotationsOf(object: unknown): JsonRecord {
  const annotations = dig(object, 'metadata', 'annotations')
  return isRecord(annotations) ? annotations : {}
}

/** A ClusterSPIFFEID that is not kleym's. */
export function foreign(name: string): JsonRecord {
  return {
    apiVersion: 'spire.spiffe.io/v1alpha1',
    kind: 'ClusterSPIFFEID',
    metadata: { name },
    spec: {
      spiffeIDTemplate: 'spiffe://example.org/not-ours',
      podSelector: { matchLabels: { a: 'b' } },
    },
  }
}

/** What a PoolOnly binding `gone` of a pool, which selects `app: <its name>`, would have left behind. */
export function orphan(space: string, poolName: string): JsonRecord {
  const spiffeId = `spiffe://${TRUST_DOMAIN}/ns/${space}/pool/${poolName}`
  return {
    apiVersion: 'spire.spiffe.io/v1alpha1',
    kind: 'ClusterSPIFFEID',
    metadata: {
      name: outputName(space, 'gone', 'pool', spiffeId),
      annotations: {
        [ANNOTATION_BINDING]: `${space}/gone`,
        [ANNOTATION_BINDING_UID]: crypto.randomUUID(),
      },
    },
    spec: {
      spiffeIDTemplate: spiffeId,
      podSelector: { matchLabels: { app: poolName } },
      workloadSelectorTemplates: [`k8s:ns:${space}`, 'k8s:sa:llama'],
    },
  }
}

/** The copy that a person or a backup makes of an object, with our labels and annotations unless `metadata` says otherwise. */
export function copyOf(object: JsonRecord, name: string, metadata: JsonRecord = {}): JsonRecord {
  const { apiVersion, kind, spec } = object
  const ours = { labels: dig(object, 'metadata', 'labels'), annotations: annotationsOf(object) }
  return { apiVersion, kind, metadata: { ...ours, ...metadata, name }, spec }
}

/** No client has written it since. */
export async function expectUntouched(cp: ControlPlane, created: JsonRecord): Promise<void> {
  expect(await cp.admin.get(outputId(nameOf(created)))).toEqual(created)
}

/** Waits until there is no ClusterSPIFFEID of this name, or another one than that of this UID. */
export async function untilGone(cp: ControlPlane, name: string, uid?: string): Promise<void> {
  await until(async () => {
    const found = await cp.admin.get(outputId(name))
    return found === undefined || (uid !== undefined && uidOf(found) !== uid)
  }, `ClusterSPIFFEID ${name} to be gone`)
}

export async function untilBindingGone(cp: ControlPlane, space: string, name = 'chat'): Promise<void> {
  await until(
    async () => (await cp.admin.get(bindingId(space, name))) === undefined,
    `binding ${space}/${name} to be gone`,
  )
}

/** Waits until a user's edit is undone: the same object, with all that kleym had given it. */
export async function untilPutBack(cp: ControlPlane, { output, name }: Pair): Promise<JsonRecord> {
  return until(async () => {
    const now = await cp.admin.get(outputId(name))
    expect(uidOf(now)).toBe(uidOf(output))
    expect(now?.['spec']).toEqual(output['spec'])
    expect(dig(now, 'metadata', 'labels')).toMatchObject(dig(output, 'metadata', 'labels') ?? {})
    expect(annotationsOf(now)).toMatchObject(annotationsOf(output))
    return now
  }, `the edit of ClusterSPIFFEID ${name} to be undone`)
}
