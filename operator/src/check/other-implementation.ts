// Whether the CRD of bindings is that of the Go implementation of the same API group (docs/upstream.md), which has the same name. Theirs of
// v0.12 has no `spec.mode`, and theirs of v0.9 lacks the `status.clusterSPIFFEID` that every version of ours has.
import { digPath, isRecord, listAt, own, type JsonRecord } from '@kleym/shared/core/base/json.ts'
import type { Api } from '@kleym/shared/kube/api.ts'
import { BINDINGS, CRDS } from '@kleym/shared/kube/resources.ts'

/** The CRD of bindings, by a list, the one right that the operator has; undefined where there is none. Rejects as the list does. */
export async function crdOfBindings(api: Pick<Api, 'list'>): Promise<JsonRecord | undefined> {
  const name = `${BINDINGS.plural}.${BINDINGS.group}`
  const { items } = await api.list(CRDS, { fieldSelector: `metadata.name=${name}` })
  return items[0]
}

/** Whether a CRD of bindings is the other implementation's. */
export function isOthersCrd(crd: JsonRecord | undefined): boolean {
  return listAt(crd, 'spec', 'versions').some(
    (version) => lacks(version, 'spec', 'mode') || lacks(version, 'status', 'clusterSPIFFEID'),
  )
}

/** Whether a version of the CRD has a schema of that part, and the field is not in it. */
function lacks(version: unknown, part: 'spec' | 'status', field: string): boolean {
  const fields = digPath(version, ['schema', 'openAPIV3Schema', 'properties', part, 'properties'])
  return isRecord(fields) && own(fields, field) === undefined
}
