// A ClusterSPIFFEID as its cache keeps it. One that names a binding may be kleym's, and one that has a name of kleym's making
// may have been (docs/contract.md §6): both are kept whole, most of it as text. Of any other one only the metadata is kept, so
// that the cache knows which names are taken.
import { readOutputStats, type OutputStats } from '@kleym/shared/core/model/objects/output-stats.ts'
import { claimedNamespaces, isOutputName, installOf } from '@kleym/shared/core/decide/index.ts'
import { dig, isRecord, listAt, stringAt, type JsonRecord } from '@kleym/shared/core/base/json.ts'
import { namespaceWritten } from '@kleym/shared/core/model/namespaced-name.ts'
import { ANNOTATION_BINDING } from '@kleym/shared/core/model/names.ts'
import {
  readClusterSpiffeId,
  type ClusterSpiffeId,
} from '@kleym/shared/core/model/objects/clusterspiffeid.ts'
import { readMeta } from '@kleym/shared/core/model/objects/meta.ts'
import { keptMeta, withReadMeta, type KeptMeta } from './kept-meta.ts'
import { textOf, valueOf } from './kept-text.ts'

export type CachedOutput = WholeOutput | UnrelatedOutput

/** A ClusterSPIFFEID that neither names a binding nor has a name of kleym's making: it decides nothing but whether to stand by. */
export interface UnrelatedOutput {
  readonly meta: KeptMeta
  readonly bindingKey: undefined
  readonly install: string | undefined
  readonly isWhole: false
}

/**
 * A ClusterSPIFFEID whose annotation names a binding, or whose name kleym may have given. A class: closures for each of ten
 * thousand would fill the memory.
 */
export class WholeOutput {
  readonly meta: KeptMeta
  /** The annotation's value, `namespace/name` if it is kleym's; any client may have written it. Undefined without it. */
  readonly bindingKey: string | undefined
  /** The install that has made it, as far as it tells. */
  readonly install: string | undefined
  /** SCM's counters; undefined where there are none. */
  readonly stats: OutputStats | undefined
  /** Where it claims, if that is not the namespace of its binding alone. */
  readonly #elsewhere: readonly string[] | undefined
  /** The spec, and the metadata that `meta` does not hold. */
  readonly #text: string | undefined

  constructor(meta: KeptMeta, bindingKey: string | undefined, value: JsonRecord) {
    this.meta = meta
    this.bindingKey = bindingKey
    this.install = installOfValue(value)
    this.stats = readOutputStats(value)
    const claimed = claimedNamespaces(
      listAt(value, 'spec', 'workloadSelectorTemplates').filter((text) => typeof text === 'string'),
    )
    const own = bindingKey === undefined ? undefined : namespaceWritten(bindingKey)
    this.#elsewhere = claimed.every((namespace) => namespace === own) ? undefined : claimed
    this.#text = textOf({
      labels: dig(value, 'metadata', 'labels'),
      annotations: dig(value, 'metadata', 'annotations'),
      finalizers: dig(value, 'metadata', 'finalizers'),
      ownerReferences: dig(value, 'metadata', 'ownerReferences'),
      creationTimestamp: dig(value, 'metadata', 'creationTimestamp'),
      spec: value['spec'],
    })
  }

  /** On the prototype, so that it takes no room in each. */
  get isWhole(): true {
    return true
  }

  /** The namespaces whose decisions it may concern: its binding's, and those where it claims. */
  get namespaces(): readonly string[] {
    const own = this.bindingKey === undefined ? [] : [namespaceWritten(this.bindingKey)]
    return this.#elsewhere === undefined ? own : [...own, ...this.#elsewhere]
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
  const meta = keptMeta(readMeta(withReadMeta(value)))
  const bindingKey = stringAt(value, 'metadata', 'annotations', ANNOTATION_BINDING)
  if (bindingKey === undefined && !isOutputName(meta.name))
    return { meta, bindingKey, install: installOfValue(value), isWhole: false }
  return new WholeOutput(meta, bindingKey, value)
}

function installOfValue(value: JsonRecord): string | undefined {
  return installOf((key) => stringAt(value, 'metadata', 'annotations', key))
}
