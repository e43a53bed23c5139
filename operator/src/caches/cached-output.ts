// A ClusterSPIFFEID as its cache keeps it. One that names a binding may be kleym's and is kept whole, most of it as text; of
// any other one only the metadata is kept, so that the cache knows which names are taken.
import { readOutputStats, type OutputStats } from '@kleym/shared/core/in-force/stats.ts'
import { dig, isRecord, stringAt, type JsonRecord } from '@kleym/shared/core/json.ts'
import { ANNOTATION_BINDING } from '@kleym/shared/core/names.ts'
import { readClusterSpiffeId, type ClusterSpiffeId } from '@kleym/shared/core/objects/clusterspiffeid.ts'
import { readMeta } from '@kleym/shared/core/objects/meta.ts'
import { keptMeta, type KeptMeta } from './kept-meta.ts'
import { textOf, valueOf } from './kept-text.ts'

export type CachedOutput = NamingOutput | UnrelatedOutput

/** A ClusterSPIFFEID without the annotation that names a binding: it cannot be kleym's. */
export interface UnrelatedOutput {
  readonly meta: KeptMeta
  readonly bindingKey: undefined
}

/** A ClusterSPIFFEID whose annotation names a binding. A class: closures for each of ten thousand would fill the memory. */
export class NamingOutput {
  readonly meta: KeptMeta
  /** The annotation's value, `namespace/name` if it is kleym's; anybody may have written it. */
  readonly bindingKey: string
  /** SCM's counters; undefined where there are none. */
  readonly stats: OutputStats | undefined
  /** The spec, and the metadata that `meta` does not hold. */
  readonly #text: string | undefined

  constructor(meta: KeptMeta, bindingKey: string, value: JsonRecord) {
    this.meta = meta
    this.bindingKey = bindingKey
    this.stats = readOutputStats(value)
    this.#text = textOf({
      labels: dig(value, 'metadata', 'labels'),
      annotations: dig(value, 'metadata', 'annotations'),
      finalizers: dig(value, 'metadata', 'finalizers'),
      ownerReferences: dig(value, 'metadata', 'ownerReferences'),
      creationTimestamp: dig(value, 'metadata', 'creationTimestamp'),
      spec: value['spec'],
    })
  }

  /** Parses and reads the whole object, some 20 µs each time: read it once per decision. */
  read(): ClusterSpiffeId {
    const { name, uid, resourceVersion, generation, deletedAt } = this.meta
    const kept = valueOf(this.#text)
    const { spec, ...rest } = isRecord(kept) ? kept : {}
    const metadata = {
      name,
      uid,
      resourceVersion,
      generation,
      deletionTimestamp: deletedAt,
      ...rest,
    }
    return readClusterSpiffeId({ value: { metadata, spec } }, 'live')
  }
}

/** Reads a ClusterSPIFFEID of the API server. */
export function cachedOutput(value: JsonRecord): CachedOutput {
  const meta = keptMeta(readMeta(value))
  const bindingKey = stringAt(value, 'metadata', 'annotations', ANNOTATION_BINDING)
  return bindingKey === undefined ? { meta, bindingKey } : new NamingOutput(meta, bindingKey, value)
}
