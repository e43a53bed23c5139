// Fields that were asked for and that the API server has dropped, since an older CRD of ClusterSPIFFEIDs has no such field: `hint` and
// `fallback` came with SCM 0.6.0, `className` with 0.4.0 (https://github.com/spiffe/spire-controller-manager/releases). The server says
// nothing of it, and SCM acts on what is left.
import { own, isRecord, type JsonRecord } from '../../base/json.ts'
import type { ClusterSpiffeId } from '../../model/objects/clusterspiffeid.ts'
import { LAST_APPLIED, lastApplied } from '../../model/objects/applied.ts'
import { prunedFields } from '../../decide/index.ts'

/** Paths such as `.spec.hint`. */
export interface DroppedFields {
  /** The CRD has no such field. */
  readonly certain: readonly string[]
  /** They were applied and are not there: dropped, or taken away since. */
  readonly perhaps: readonly string[]
}

/** The fields that an object lost on its way into the API server; `written` is what kleym writes of an output of its own. */
export function droppedFields(
  object: Pick<ClusterSpiffeId, 'meta' | 'rawSpec' | 'lifecycle'>,
  schema: JsonRecord | undefined,
  written?: object,
): DroppedFields {
  const applied = asked(object, written)
  if (applied === undefined) return { certain: [], perhaps: [] }
  const isThere = object.lifecycle === 'live'
  const lost = Object.entries(applied)
    .filter(([field, value]) => says(value) && !(isThere && says(own(object.rawSpec, field))))
    .map(([field]) => `.spec.${field}`)
  if (schema === undefined) return { certain: [], perhaps: isThere ? lost : [] }
  const pruned = prunedFields(schema, applied)
  return { certain: lost.filter((field) => pruned.includes(field)), perhaps: [] }
}

function asked(
  { meta, rawSpec, lifecycle }: Pick<ClusterSpiffeId, 'meta' | 'rawSpec' | 'lifecycle'>,
  written: object | undefined,
): object | undefined {
  if (written !== undefined) return written
  if (lifecycle !== 'live') return rawSpec
  const spec = own(lastApplied(meta.annotations.get(LAST_APPLIED)), 'spec')
  return isRecord(spec) ? spec : undefined
}

/** What is empty says the same as what is not there. */
function says(value: unknown): boolean {
  return (
    value !== undefined &&
    value !== null &&
    value !== false &&
    value !== '' &&
    !(typeof value === 'object' && Object.keys(value).length === 0)
  )
}
