// Objects for the suites: the smallest that the API server admits, by what a test says about them.
import { dig, isRecord, listAt, stringAt, type JsonRecord } from '../../shared/src/core/base/json.ts'
import { ANNOTATION_BINDING, ANNOTATION_BINDING_UID } from '../../shared/src/core/model/names.ts'
import type { ControlPlane } from './control-plane.ts'
import type { ObjectId } from './rest.ts'
import { until } from '@kleym/testing/wait.ts'

/** A finalizer that is not kleym's. */
export const HOLD = 'example.org/hold'

const BINDING_API = 'kleym.sonda.red/v1alpha1'

export function namespace(name: string): JsonRecord {
  return { apiVersion: 'v1', kind: 'Namespace', metadata: { name } }
}

/** A pool of `inference.networking.k8s.io/v1`. */
export function pool(space: string, name: string, labels: Readonly<Record<string, string>>): JsonRecord {
  return {
    apiVersion: 'inference.networking.k8s.io/v1',
    kind: 'InferencePool',
    metadata: { name, namespace: space },
    spec: {
      selector: { matchLabels: labels },
      targetPorts: [{ number: 8000 }],
      endpointPickerRef: { name: 'epp', port: { number: 9002 } },
    },
  }
}

/** A pool of the other group, `inference.networking.x-k8s.io/v1alpha2`. */
export function olderPool(space: string, name: string, labels: Readonly<Record<string, string>>): JsonRecord {
  return {
    apiVersion: 'inference.networking.x-k8s.io/v1alpha2',
    kind: 'InferencePool',
    metadata: { name, namespace: space },
    spec: { selector: labels, targetPortNumber: 8000, extensionRef: { name: 'epp' } },
  }
}

/** An objective of `inference.networking.x-k8s.io/v1alpha2` that leads to a pool of the same namespace. */
export function objective(space: string, name: string, poolName: string): JsonRecord {
  return {
    apiVersion: 'inference.networking.x-k8s.io/v1alpha2',
    kind: 'InferenceObjective',
    metadata: { name, namespace: space },
    spec: { priority: 1, poolRef: { name: poolName, group: 'inference.networking.k8s.io' } },
  }
}

/** A PerObjective binding: pool `llama`, service account `llama`, container `vllm`, objective as its own name, unless `spec` says otherwise. */
export function binding(space: string, name: string, spec: JsonRecord = {}): JsonRecord {
  return {
    apiVersion: BINDING_API,
    kind: 'InferenceIdentityBinding',
    metadata: { name, namespace: space },
    spec: {
      poolRef: { name: 'llama' },
      objectiveRef: { name },
      serviceAccountName: 'llama',
      containerName: 'vllm',
      ...spec,
    },
  }
}

/** A PoolOnly binding: pool `llama` and service account `llama` unless `spec` says otherwise. PoolOnly never collides. */
export function poolOnly(space: string, name: string, spec: JsonRecord = {}): JsonRecord {
  const { apiVersion, kind, metadata } = binding(space, name)
  const own = { mode: 'PoolOnly', poolRef: { name: 'llama' }, serviceAccountName: 'llama' }
  return { apiVersion, kind, metadata, spec: { ...own, ...spec } }
}

/** A PerVariant binding: pool `llama` and service account `llama` unless `spec` says otherwise. */
export function perVariant(space: string, name: string, variant: string, spec: JsonRecord = {}): JsonRecord {
  return poolOnly(space, name, { mode: 'PerVariant', identityBoundary: { variant }, ...spec })
}

/** A namespace with pool `llama`, which selects `app: llama`. */
export function estate(space: string): readonly JsonRecord[] {
  return [namespace(space), pool(space, 'llama', { app: 'llama' })]
}

/** A PerObjective binding of pool `llama` with its objective, which bears its name. */
export function member(space: string, name: string, spec: JsonRecord = {}): readonly JsonRecord[] {
  return [objective(space, name, 'llama'), binding(space, name, spec)]
}

export function bindingId(space: string, name: string): ObjectId {
  return { apiVersion: BINDING_API, kind: 'InferenceIdentityBinding', name, namespace: space }
}

export function outputId(name: string): ObjectId {
  return { apiVersion: 'spire.spiffe.io/v1alpha1', kind: 'ClusterSPIFFEID', name }
}

/** `namespace/name` of the binding that an output's annotation names; empty where there is none. */
export function ownerOf(output: unknown): string {
  return stringAt(output, 'metadata', 'annotations', ANNOTATION_BINDING) ?? ''
}

/** The UID of that binding. */
export function ownerUidOf(output: unknown): string {
  return stringAt(output, 'metadata', 'annotations', ANNOTATION_BINDING_UID) ?? ''
}

/** All ClusterSPIFFEIDs. */
export function outputs(cp: ControlPlane): Promise<readonly JsonRecord[]> {
  return cp.admin.list({ apiVersion: 'spire.spiffe.io/v1alpha1', kind: 'ClusterSPIFFEID' })
}

/** The ClusterSPIFFEIDs whose annotation names a binding. */
export async function outputsOf(
  cp: ControlPlane,
  space: string,
  name: string,
): Promise<readonly JsonRecord[]> {
  const all = await outputs(cp)
  return all.filter((output) => ownerOf(output) === `${space}/${name}`)
}

/** A condition of a binding's status: `status`, `reason` and `message`. */
export function conditionOf(object: unknown, type: string): JsonRecord | undefined {
  const found = listAt(object, 'status', 'conditions').find(
    (condition) => stringAt(condition, 'type') === type,
  )
  return isRecord(found) ? found : undefined
}

/**
 * Waits until `Ready` of a binding has this reason for its present generation, and this message where one is given; returns the
 * binding. A reason can come with one message first and another one later: who expects a message gives it here.
 */
export function untilReason(
  cp: ControlPlane,
  space: string,
  name: string,
  reason: string,
  message?: string | RegExp,
): Promise<JsonRecord> {
  return until(
    async () => {
      const found = await cp.admin.get(bindingId(space, name))
      const ready = conditionOf(found, 'Ready')
      const said = stringAt(ready, 'message') ?? ''
      if (
        found !== undefined &&
        stringAt(ready, 'reason') === reason &&
        (message === undefined || (typeof message === 'string' ? said === message : message.test(said))) &&
        dig(ready, 'observedGeneration') === dig(found, 'metadata', 'generation')
      ) {
        return found
      }
      throw new Error(`Ready of ${space}/${name} is ${JSON.stringify(ready) ?? 'not there'}`)
    },
    `binding ${space}/${name} to be ${reason}${message === undefined ? '' : `: ${String(message)}`}`,
  )
}

/**
 * The events about a binding as `<type> <reason>`, in byte order: several may bear one time. They come after the status,
 * so it waits until there are so many.
 */
export function eventsOf(
  cp: ControlPlane,
  space: string,
  name: string,
  atLeast: number,
): Promise<readonly string[]> {
  return until(async () => {
    const all = await cp.admin.list({ apiVersion: 'events.k8s.io/v1', kind: 'Event', namespace: space })
    const about = all
      .filter((event) => stringAt(event, 'regarding', 'name') === name)
      .map((event) => `${stringAt(event, 'type')} ${stringAt(event, 'reason')}`)
    if (about.length < atLeast) throw new Error(`there are ${about.join(', ') || 'none'}`)
    return about.toSorted()
  }, `${atLeast} events about ${space}/${name}`)
}

/** The outputs that name bindings of a namespace. */
export async function outputsIn(cp: ControlPlane, space: string): Promise<readonly JsonRecord[]> {
  return (await outputs(cp)).filter((output) => ownerOf(output).startsWith(`${space}/`))
}
