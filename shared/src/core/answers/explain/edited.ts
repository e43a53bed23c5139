// Registrations that a change edits. An edit may change what their entries carry, though nobody gains or loses an ID: TTLs, DNS names, bundles
// of other trust domains, a hint, and the rights of `admin` and `downstream`.
import type { State } from '../../analysis/index.ts'
import { deepEqual, own, type JsonRecord } from '../../base/json.ts'
import { compareBytes } from '../../base/text/bytes.ts'
import { CLUSTER_SPIFFE_ID, CLUSTER_STATIC_ENTRY } from '../../model/kinds.ts'

/** A registration that is not kleym's, and that is there before and after a change with another spec. */
export interface EditedRegistration {
  readonly kind: string
  readonly name: string
  /** The fields of its spec that differ, in byte order: `admin`. */
  readonly fields: readonly string[]
}

/** The registrations that two states have with different specs, in byte order of kind and name. */
export function editedRegistrations(before: State, after: State): readonly EditedRegistration[] {
  const had = new Map(specsOf(before).map((one) => [`${one.kind}/${one.name}`, one.spec]))
  return specsOf(after)
    .flatMap(({ kind, name, spec }): readonly EditedRegistration[] => {
      const other = had.get(`${kind}/${name}`)
      const fields =
        other === undefined ? [] : Object.keys(spec).filter((field) => !deepEqual(spec[field], other[field]))
      return fields.length === 0 ? [] : [{ kind, name, fields: fields.toSorted(compareBytes) }]
    })
    .toSorted((a, b) => compareBytes(a.kind, b.kind) || compareBytes(a.name, b.name))
}

/** `ClusterSPIFFEID/mesh: .spec.admin, .spec.ttl`. */
export function editedText({ kind, name, fields }: EditedRegistration): string {
  return `${kind}/${name}: ${fields.map((field) => `.spec.${field}`).join(', ')}`
}

interface Named {
  readonly kind: string
  readonly name: string
  /** With the defaults of what is left out. */
  readonly spec: JsonRecord
}

function specsOf({ base, outputs }: State): readonly Named[] {
  return [
    ...outputs.flatMap(({ object: { meta, spec, rawSpec }, ownership }) =>
      ownership.kind === 'ours'
        ? []
        : [
            {
              kind: CLUSTER_SPIFFE_ID.kind,
              name: meta.name,
              spec: {
                ...spec,
                namespaceSelector: own(rawSpec, 'namespaceSelector'),
                podSelector: own(rawSpec, 'podSelector'),
              },
            },
          ],
    ),
    ...base.snapshot.staticEntries.read.map(({ meta, spec }) => ({
      kind: CLUSTER_STATIC_ENTRY.kind,
      name: meta.name,
      spec: { ...spec },
    })),
  ]
}
