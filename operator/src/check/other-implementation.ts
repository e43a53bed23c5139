// Whether the CRD of bindings is that of the Go implementation of the same API group (docs/upstream.md): its CRD has the same name, a
// boundary of variants and no mode.
import { digPath, isRecord, listAt, own } from '@kleym/shared/core/json.ts'
import type { Api } from '@kleym/shared/kube/api.ts'
import { BINDINGS, CRDS } from '@kleym/shared/kube/resources.ts'

/** Asks for the CRD by a list, the one right that the operator has; rejects where that fails. */
export async function isOthersCrd(api: Pick<Api, 'list'>): Promise<boolean> {
  const name = `${BINDINGS.plural}.${BINDINGS.group}`
  const { items } = await api.list(CRDS, { fieldSelector: `metadata.name=${name}` })
  return items.some((crd) =>
    listAt(crd, 'spec', 'versions').some((version) => {
      const fields = digPath(version, ['schema', 'openAPIV3Schema', 'properties', 'spec', 'properties'])
      return (
        isRecord(fields) && own(fields, 'identityBoundary') !== undefined && own(fields, 'mode') === undefined
      )
    }),
  )
}
