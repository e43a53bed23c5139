// What a CRD leaves of an object: the API server drops each field that the structural schema does not have, when it is written
// and when it is read. Source: apiextensions-apiserver, pkg/apiserver/schema/pruning.
import { dig, isRecord, listAt, own, stringAt, type JsonRecord, deepEqual } from '../../base/json.ts'

/** The schema of whole objects of one version in a CRD; undefined if the CRD drops nothing of them. */
export function pruningSchema(crd: JsonRecord, version: string): JsonRecord | undefined {
  if (dig(crd, 'spec', 'preserveUnknownFields') === true) return undefined
  const found = listAt(crd, 'spec', 'versions').find((one) => stringAt(one, 'name') === version)
  const schema = dig(found, 'schema', 'openAPIV3Schema')
  return isRecord(schema) ? schema : undefined
}

/** The fields of a spec that a schema drops, whole or in part, as paths in their order. */
export function prunedFields(schema: JsonRecord, spec: object): readonly string[] {
  const kept = own(pruned({ spec }, schema), 'spec')
  return Object.entries(spec)
    .filter(([field, value]) => !deepEqual(own(kept, field), value))
    .map(([field]) => `.spec.${field}`)
}

function pruned(value: unknown, schema: unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => pruned(item, own(schema, 'items')))
  if (!isRecord(value)) return value
  const further = own(schema, 'additionalProperties')
  const keepsUnknown = own(schema, 'x-kubernetes-preserve-unknown-fields') === true || further === true
  const entries = Object.entries(value).flatMap(([key, item]): [string, unknown][] => {
    const known = own(own(schema, 'properties'), key) ?? (isRecord(further) ? further : undefined)
    if (known !== undefined) return [[key, pruned(item, known)]]
    return keepsUnknown ? [[key, item]] : []
  })
  return Object.fromEntries(entries)
}
