// From raw objects to what the caches keep: only what decisions read, and what they read rarely as text. There may be ten
// thousand of each; classes, since an object literal with getters costs a hidden class of its own for every object.
import { dig, isRecord, type JsonRecord } from '@kleym/shared/core/json.ts'
import type { ObjectiveGroup, PoolGroup } from '@kleym/shared/core/kinds.ts'
import { ANNOTATION_BINDING, FINALIZER } from '@kleym/shared/core/names.ts'
import type { BindingStatus } from '@kleym/shared/core/objects/binding-status.ts'
import { readBinding, readStatus, type Binding } from '@kleym/shared/core/objects/binding.ts'
import { readClusterSpiffeId, type ClusterSpiffeId } from '@kleym/shared/core/objects/clusterspiffeid.ts'
import { readMeta, readStringMap, type ObjectMeta } from '@kleym/shared/core/objects/meta.ts'
import { readObjective, readPool, type Objective, type Pool } from '@kleym/shared/core/objects/inference.ts'

/** An InferenceIdentityBinding of the API server. */
export function cachedBinding({ status, ...value }: JsonRecord): Binding {
  const binding = withoutNotes(readBinding({ value }, 'live'))
  return new CachedBinding(binding.meta, binding, status)
}

/** The answer to a write of ours to `before`: as long as its generation is the same, so is its spec, which is not read again. */
export function answeredBinding(value: JsonRecord, before: Binding): Binding {
  const { meta } = withoutNotes({ meta: readMeta(value) })
  const isSameSpec =
    meta.uid === before.meta.uid &&
    meta.generation === before.meta.generation &&
    meta.generation !== undefined
  return isSameSpec ? new CachedBinding(meta, before, value['status']) : cachedBinding(value)
}

/** An InferencePool of one group. */
export function cachedPool(group: PoolGroup): (value: JsonRecord) => Pool {
  return (value) => withoutNotes(readPool({ value }, group))
}

/** An InferenceObjective of one group. */
export function cachedObjective(group: ObjectiveGroup): (value: JsonRecord) => Objective {
  return (value) => withoutNotes(readObjective({ value }, group))
}

/** Labels, annotations and owners of what people own are theirs: nothing here reads them, and they may be long. */
function withoutNotes<T extends { readonly meta: ObjectMeta }>(object: T): T {
  const { meta } = object
  return {
    ...object,
    meta: {
      ...meta,
      createdAt: undefined,
      labels: NO_NOTES,
      annotations: NO_NOTES,
      finalizers: sharedFinalizers(meta.finalizers),
      ownerReferences: NONE,
    },
  }
}

/** Ours alone is what a settled binding has. */
function sharedFinalizers(finalizers: readonly string[]): readonly string[] {
  if (finalizers.length === 0) return NONE
  return finalizers.length === 1 && finalizers[0] === FINALIZER ? OURS : finalizers
}

// One for all.
const NO_NOTES: ReadonlyMap<string, string> = new Map()
const NONE: readonly string[] = []
const OURS: readonly string[] = [FINALIZER]

/** A ClusterSPIFFEID; one that names no binding cannot be ours, and is kept as name, UID and version alone. */
export function cachedOutput(value: JsonRecord): ClusterSpiffeId {
  if (dig(value, 'metadata', 'annotations', ANNOTATION_BINDING) !== undefined) return new CachedOutput(value)
  const metadata = {
    name: dig(value, 'metadata', 'name'),
    uid: dig(value, 'metadata', 'uid'),
    resourceVersion: dig(value, 'metadata', 'resourceVersion'),
    deletionTimestamp: dig(value, 'metadata', 'deletionTimestamp'),
  }
  return new CachedOutput({ metadata })
}

/** Its status is looked at when it is written, and when it may say whose an output is: it is parsed at each reading. */
class CachedBinding implements Binding {
  readonly meta: Binding['meta']
  readonly key: string
  readonly poolRef: Binding['poolRef']
  readonly objectiveRef: Binding['objectiveRef']
  readonly mode: Binding['mode']
  readonly serviceAccountName: Binding['serviceAccountName']
  readonly containerName: Binding['containerName']
  readonly lifecycle = 'live'
  readonly origin = undefined
  readonly #status: string | undefined

  constructor(meta: ObjectMeta, binding: Omit<Binding, 'meta' | 'status'>, status: unknown) {
    this.meta = meta
    this.key = binding.key
    this.poolRef = binding.poolRef
    this.objectiveRef = binding.objectiveRef
    this.mode = binding.mode
    this.serviceAccountName = binding.serviceAccountName
    this.containerName = binding.containerName
    this.#status = textOf(status)
  }

  get status(): BindingStatus | undefined {
    return readStatus(valueOf(this.#status))
  }
}

/** Its spec is looked at when it changes, and when its binding is decided: it is parsed at each reading. */
class CachedOutput implements ClusterSpiffeId {
  readonly meta: ClusterSpiffeId['meta']
  readonly undecodable: readonly string[]
  readonly lifecycle = 'live'
  readonly origin = undefined
  readonly #spec: string | undefined

  constructor(value: JsonRecord) {
    const { meta, undecodable, rawSpec } = readClusterSpiffeId({ value }, 'live')
    this.meta = new OutputMeta(meta)
    this.undecodable = undecodable.length === 0 ? NONE : undecodable
    this.#spec = textOf(rawSpec)
  }

  get spec(): ClusterSpiffeId['spec'] {
    return readClusterSpiffeId({ value: { spec: valueOf(this.#spec) } }, 'live').spec
  }

  get rawSpec(): JsonRecord {
    const spec = valueOf(this.#spec)
    return isRecord(spec) ? spec : {}
  }
}

/** Labels and annotations are looked at with the spec, and parsed at each reading too. */
class OutputMeta implements ObjectMeta {
  readonly name: string
  readonly namespace: string
  readonly uid: string | undefined
  readonly resourceVersion: string | undefined
  readonly generation: number | undefined
  readonly createdAt = undefined
  readonly deletedAt: string | undefined
  readonly finalizers: readonly string[]
  readonly ownerReferences: readonly unknown[]
  readonly #labels: string | undefined
  readonly #annotations: string | undefined

  constructor(meta: ObjectMeta) {
    this.name = meta.name
    this.namespace = meta.namespace
    this.uid = meta.uid
    this.resourceVersion = meta.resourceVersion
    this.generation = meta.generation
    this.deletedAt = meta.deletedAt
    this.finalizers = sharedFinalizers(meta.finalizers)
    this.ownerReferences = meta.ownerReferences
    this.#labels = textOf(Object.fromEntries(meta.labels))
    this.#annotations = textOf(Object.fromEntries(meta.annotations))
  }

  get labels(): ReadonlyMap<string, string> {
    return readStringMap(valueOf(this.#labels))
  }

  get annotations(): ReadonlyMap<string, string> {
    return readStringMap(valueOf(this.#annotations))
  }
}

/** As text of one byte per character, where that is enough: what `JSON.stringify` leaves may take two. */
function textOf(value: unknown): string | undefined {
  return value === undefined ? undefined : Buffer.from(JSON.stringify(value)).toString()
}

function valueOf(text: string | undefined): unknown {
  return text === undefined ? undefined : JSON.parse(text)
}
