// From raw objects to what the caches keep: only what decisions read, and what they read rarely as text. There may be ten
// thousand of each; classes, since an object literal with getters costs a hidden class of its own for every object.
import { dig, type JsonRecord } from '@kleym/shared/core/json.ts'
import type { ObjectiveGroup, PoolGroup } from '@kleym/shared/core/kinds.ts'
import { ANNOTATION_BINDING } from '@kleym/shared/core/names.ts'
import type { BindingStatus } from '@kleym/shared/core/objects/binding-schema.ts'
import { readBinding, readStatus, type Binding } from '@kleym/shared/core/objects/binding.ts'
import { readClusterSpiffeId, type ClusterSpiffeId } from '@kleym/shared/core/objects/clusterspiffeid.ts'
import { readObjective, readPool, type Objective, type Pool } from '@kleym/shared/core/objects/inference.ts'

/** An InferenceIdentityBinding of the API server. */
export function cachedBinding(value: JsonRecord): Binding {
  return new CachedBinding(value)
}

/** An InferencePool of one group. */
export function cachedPool(group: PoolGroup): (value: JsonRecord) => Pool {
  return (value) => readPool({ value }, group)
}

/** An InferenceObjective of one group. */
export function cachedObjective(group: ObjectiveGroup): (value: JsonRecord) => Objective {
  return (value) => readObjective({ value }, group)
}

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

/** One for all. */
const NONE: readonly string[] = []

/** Its status is looked at when it is written, and when it may say whose an output is. */
class CachedBinding implements Binding {
  readonly meta: Binding['meta']
  readonly key: string
  readonly poolRef: Binding['poolRef']
  readonly objectiveRef: Binding['objectiveRef']
  readonly mode: Binding['mode']
  readonly serviceAccountName: Binding['serviceAccountName']
  readonly containerName: Binding['containerName']
  readonly standing = 'live'
  readonly origin = undefined
  readonly #status: string | undefined

  constructor({ status, ...value }: JsonRecord) {
    const binding = readBinding({ value }, 'live')
    this.meta = binding.meta
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

/** Its spec is looked at when it changes, and when its binding is decided. */
class CachedOutput implements ClusterSpiffeId {
  readonly meta: ClusterSpiffeId['meta']
  readonly undecodable: readonly string[]
  readonly standing = 'live'
  readonly origin = undefined
  readonly #spec: string | undefined

  constructor(value: JsonRecord) {
    const { meta, undecodable, rawSpec } = readClusterSpiffeId({ value }, 'live')
    this.meta = meta
    this.undecodable = undecodable.length === 0 ? NONE : undecodable
    this.#spec = textOf(rawSpec)
  }

  get spec(): ClusterSpiffeId['spec'] {
    return this.#read().spec
  }

  get rawSpec(): JsonRecord {
    return this.#read().rawSpec
  }

  #read(): ClusterSpiffeId {
    return readClusterSpiffeId({ value: { spec: valueOf(this.#spec) } }, 'live')
  }
}

/** As text of one byte per character, where that is enough: what `JSON.stringify` leaves may take two. */
function textOf(value: unknown): string | undefined {
  return value === undefined ? undefined : Buffer.from(JSON.stringify(value)).toString()
}

function valueOf(text: string | undefined): unknown {
  return text === undefined ? undefined : JSON.parse(text)
}
