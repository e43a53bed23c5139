// What applies have recorded in a live object. An apply removes the fields that an earlier apply gave and that it lacks itself. Fields that
// others have set stay, such as labels by `kubectl label` or by a controller.
import { dig, isRecord, listAt, own, stringAt, type JsonRecord } from '../../base/json.ts'

/** The annotation in which `kubectl apply` keeps the manifest. */
export const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration'

/** The manifest in that annotation; undefined: there is none, or it is not by kubectl. */
export function lastApplied(annotation: string | undefined): JsonRecord | undefined {
  try {
    const manifest: unknown = JSON.parse(annotation ?? 'null')
    return isRecord(manifest) ? manifest : undefined
  } catch {
    return undefined
  }
}

/** The keys of labels or annotations that client-side or server-side applies gave; undefined: no apply is on record. */
export function appliedKeys(
  metadata: unknown,
  field: 'labels' | 'annotations',
): ReadonlySet<string> | undefined {
  const manifest = lastApplied(stringAt(metadata, 'annotations', LAST_APPLIED))
  const serverSide = listAt(metadata, 'managedFields').filter((one) => own(one, 'operation') === 'Apply')
  if (manifest === undefined && serverSide.length === 0) return undefined
  const ofClient = keysOf(dig(manifest, 'metadata', field))
  const ofServer = serverSide.flatMap((one) => keysOf(dig(one, 'fieldsV1', 'f:metadata', `f:${field}`)))
  return new Set([...ofClient, ...ofServer.map((key) => key.replace(/^f:/, ''))])
}

function keysOf(value: unknown): readonly string[] {
  return isRecord(value) ? Object.keys(value) : []
}
