// An InferenceIdentityBinding as its cache keeps it: the fields of its spec, and its status as text.
import { stringAt, type JsonRecord } from '@kleym/shared/core/base/json.ts'
import type { BindingStatus } from '@kleym/shared/core/model/objects/binding-status.ts'
import { readBinding, readStatus, type Binding } from '@kleym/shared/core/model/objects/binding.ts'
import { readMeta } from '@kleym/shared/core/model/objects/meta.ts'
import { sizeOf } from '@kleym/shared/core/base/value-size.ts'
import { keptFinalizers, type KeptFinalizers } from './kept-finalizers.ts'
import { keptMeta, withReadMeta, type KeptMeta } from './kept-meta.ts'
import { boundedTextOf, valueOf } from './kept-text.ts'

/**
 * The longest status that is kept, in characters: several times the longest that the operator writes. A longer one is another
 * client's, and counts as one that cannot be read.
 */
const STATUS_MAX = 64 * 1024

/**
 * What a binding may have until it counts as large, as `sizeOf` counts: ten times what kubectl and the operator make of one. The API
 * server takes up to a second for each write of 1.5 MB of finalizers or labels.
 */
const ORDINARY_MAX = 64 * 1024

/** The fields of a binding's spec, read and checked. */
type BindingFields = Pick<
  Binding,
  'poolRef' | 'objectiveRef' | 'mode' | 'serviceAccountName' | 'containerName' | 'identityBoundary'
>

/** A binding whose status is kept as text. A class: closures for each of ten thousand would fill the memory. */
export class CachedBinding implements BindingFields {
  readonly meta: KeptMeta
  readonly finalizers: KeptFinalizers
  /** Whether the object is so large that each write of it keeps the API server busy. */
  readonly isLarge: boolean
  /** `namespace/name`. */
  readonly key: Binding['key']
  readonly poolRef: Binding['poolRef']
  readonly objectiveRef: Binding['objectiveRef']
  readonly mode: Binding['mode']
  readonly serviceAccountName: Binding['serviceAccountName']
  readonly containerName: Binding['containerName']
  readonly identityBoundary: Binding['identityBoundary']
  /** Whether its status names an output. */
  readonly namesOutput: boolean
  readonly #status: string | undefined

  /** `value` is the object as the API server has it; `fields` is its spec, read. */
  constructor(value: JsonRecord, meta: KeptMeta, fields: BindingFields & Pick<Binding, 'key'>) {
    this.meta = meta
    this.finalizers = keptFinalizers(value)
    this.isLarge = sizeOf(value, ORDINARY_MAX) > ORDINARY_MAX
    this.key = fields.key
    this.poolRef = fields.poolRef
    this.objectiveRef = fields.objectiveRef
    this.mode = fields.mode
    this.serviceAccountName = fields.serviceAccountName
    this.containerName = fields.containerName
    this.identityBoundary = fields.identityBoundary
    this.namesOutput = stringAt(value, 'status', 'clusterSPIFFEID', 'name') !== undefined
    this.#status = boundedTextOf(value['status'], STATUS_MAX)
  }

  /**
   * Parses and validates the status, some 30 µs each time: read it once per decision. Undefined where the operator has
   * written none yet, or where it cannot be read.
   */
  readStatus(): BindingStatus | undefined {
    return readStatus(valueOf(this.#status))
  }
}

/** Reads a binding of the API server. */
export function cachedBinding(value: JsonRecord): CachedBinding {
  const { status: _, ...rest } = withReadMeta(value)
  const binding = readBinding({ value: rest }, 'live')
  return new CachedBinding(value, keptMeta(binding.meta), binding)
}

/**
 * Reads the answer to a write of ours to `before`. As long as the generation is the same, so is the spec, which is taken
 * over from `before` and not read again.
 */
export function answeredBinding(value: JsonRecord, before: CachedBinding): CachedBinding {
  const meta = readMeta(withReadMeta(value))
  const isSameSpec =
    meta.uid === before.meta.uid &&
    meta.generation === before.meta.generation &&
    meta.generation !== undefined
  return isSameSpec ? new CachedBinding(value, keptMeta(meta), before) : cachedBinding(value)
}
