// What the CRD of ClusterSPIFFEIDs drops of our outputs (docs/contract.md §8): that of another release of SCM may lack a field. An
// object that is stored then loses the field for every reader, without an event and without a new version.
import { type OutputSpec, prunedFields, pruningSchema } from '@kleym/shared/core/decide/index.ts'
import { isRecord, type JsonRecord, deepEqual } from '@kleym/shared/core/base/json.ts'
import { CLUSTER_SPIFFE_ID } from '@kleym/shared/core/model/kinds.ts'
import type { Api } from '@kleym/shared/kube/api.ts'
import { backoffMs, type Backoff } from '@kleym/shared/kube/backoff.ts'
import type { Clock } from '@kleym/shared/kube/clock.ts'
import { CRDS } from '@kleym/shared/kube/resources.ts'
import type { Log } from '../telemetry/log.ts'

/** How long an API server may go on by the CRD before, in milliseconds. */
const SETTLE_MS = 5_000
const BACKOFF: Backoff = { firstMs: 500, maxMs: 30_000 }
/** A value in every field of an output, with a label of no name that a schema could know. */
const EVERY_FIELD: Required<OutputSpec> = {
  spiffeIDTemplate: 'any',
  namespaceSelector: { matchLabels: { 'example.org/any': 'any' } },
  podSelector: { matchLabels: { 'example.org/any': 'any' } },
  workloadSelectorTemplates: ['any'],
  fallback: false,
  hint: 'any',
  className: 'any',
}

const CRD_NAME = `${CLUSTER_SPIFFE_ID.plural}.${CLUSTER_SPIFFE_ID.group}`

export interface OutputSchemaOptions {
  readonly api: Pick<Api, 'list'>
  readonly clock: Clock
  readonly log: Log
  /** Other fields may be dropped from now on. */
  readonly onChange: () => void
}

/** Which fields of an output the API server drops. */
export class OutputSchema {
  readonly #options: OutputSchemaOptions
  /** By which API servers may go, the newest last; `undefined` drops nothing. Empty until one was read. */
  #schemas: readonly (JsonRecord | undefined)[] = []
  #reading: Promise<boolean> | undefined
  #failures = 0
  #cancel: () => void = () => {}

  constructor(options: OutputSchemaOptions) {
    this.#options = options
  }

  /** Whether the CRD was read. */
  get isKnown(): boolean {
    return this.#schemas.length > 0
  }

  /** The fields of a spec that are dropped, as far as the CRD is known. */
  pruned(spec: OutputSpec): readonly string[] {
    const fields = this.#schemas.flatMap((schema) => (schema === undefined ? [] : prunedFields(schema, spec)))
    return [...new Set(fields)]
  }

  /** The CRD has changed: reads it, again and again if that fails. One that is new, where none was read, the next write reads. */
  async changed(isNew = false): Promise<void> {
    if (isNew && !this.isKnown) return
    this.#cancel()
    if (await this.refresh()) {
      this.#failures = 0
      return
    }
    this.#failures += 1
    this.#cancel = this.#options.clock.after(backoffMs(BACKOFF, this.#failures), () => void this.changed())
  }

  /** Reads the CRD; one read serves all that ask meanwhile. Whether it could be read. */
  refresh(): Promise<boolean> {
    this.#reading ??= this.#read().finally(() => {
      this.#reading = undefined
    })
    return this.#reading
  }

  async #read(): Promise<boolean> {
    const { api, log } = this.#options
    try {
      // Lists of CRDs are allowed to the operator anyway.
      const { items } = await api.list(CRDS, { fieldSelector: `metadata.name=${CRD_NAME}` })
      const [crd] = items
      if (isRecord(crd)) this.#learn(pruningSchema(crd, CLUSTER_SPIFFE_ID.version))
      return true
    } catch (error) {
      log.debug('reading the CRD of ClusterSPIFFEIDs failed', { error })
      return false
    }
  }

  #learn(schema: JsonRecord | undefined): void {
    const { clock, onChange } = this.#options
    const before = this.#schemas
    if (before.length > 0 && deepEqual(before.at(-1), schema)) return
    this.#schemas = [...before, schema]
    if (before.length === 0) {
      // Until now nothing counted as dropped.
      if (this.pruned(EVERY_FIELD).length > 0) onChange()
      return
    }
    onChange()
    clock.after(SETTLE_MS, () => {
      this.#schemas = this.#schemas.slice(1)
      onChange()
    })
  }
}
