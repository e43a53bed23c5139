// Which kinds have a namespace, by the CRDs among the files: what makes pods and names no namespace is in the one in force, or
// has none.
import { own, recordsAt, stringAt, type JsonRecord } from '@kleym/shared/core/base/json.ts'
import { fieldsDefined } from '@kleym/shared/core/model/objects/crd-fields.ts'
import { qualifiedKind, kindKey } from '@kleym/shared/core/model/kinds.ts'
import { readMeta } from '@kleym/shared/core/model/objects/meta.ts'

/** What a CRD says of its kind. */
export interface KindScope {
  /** With its group. */
  readonly kind: string
  readonly isNamespaced: boolean
  /** Of the CRD, if its document was parsed. */
  readonly name?: string
  /** What it has of it, by version, if its document was parsed: `version v1`, and fields that answers rest on. */
  readonly parts?: ReadonlyMap<string, readonly string[]>
}

/** The kind of CRDs, with its group. */
export const CRD = 'CustomResourceDefinition.apiextensions.k8s.io'

/** The scope that a CRD gives its kind; undefined for any other object, and where it says none. */
export function scopeOfCrd(value: JsonRecord): KindScope | undefined {
  if (kindKey(value) !== CRD) return undefined
  const [group, kind] = [stringAt(value, 'spec', 'group'), stringAt(value, 'spec', 'names', 'kind')]
  const scope = kindScope(group, kind, stringAt(value, 'spec', 'scope'))
  const served = recordsAt(value, 'spec', 'versions').filter((one) => own(one, 'served') !== false)
  return (
    scope && {
      ...scope,
      name: readMeta(value).name,
      parts: new Map(served.map((one) => partsOf(one, group, kind))),
    }
  )
}

function partsOf(version: JsonRecord, group = '', kind = ''): readonly [string, readonly string[]] {
  const name = stringAt(version, 'name') ?? ''
  const schema = own(own(version, 'schema'), 'openAPIV3Schema')
  return [name, [`version ${name}`, ...fieldsDefined(schema, `${group}/${name}`, kind)]]
}

/**
 * The same by the lines of its text, which is not parsed: only where each field stands alone where generators of CRDs put it.
 */
export function scopeInText(text: string): KindScope | undefined {
  return kindScope(
    onlyValue(text, '\n  group:'),
    onlyValue(text, '\n    kind:'),
    onlyValue(text, '\n  scope:'),
  )
}

/** The scopes of kinds, if all CRDs of a kind agree. */
export function scopesOf(found: readonly KindScope[]): ReadonlyMap<string, boolean> {
  const byKind = Map.groupBy(found, ({ kind }) => kind)
  return new Map(
    [...byKind].flatMap(([kind, ones]) => {
      const said = new Set(ones.map(({ isNamespaced }) => isNamespaced))
      const [isNamespaced] = said
      return isNamespaced === undefined || said.size > 1 ? [] : [[kind, isNamespaced] as const]
    }),
  )
}

function kindScope(group = '', kind = '', scope = ''): KindScope | undefined {
  if (group === '' || kind === '' || (scope !== 'Namespaced' && scope !== 'Cluster')) return undefined
  return { kind: qualifiedKind({ group, kind }), isNamespaced: scope === 'Namespaced' }
}

function onlyValue(text: string, key: string): string | undefined {
  const at = text.indexOf(key)
  if (at === -1 || text.includes(key, at + 1)) return undefined
  const from = at + key.length
  const end = text.indexOf('\n', from)
  return VALUE.exec(text.slice(from, end === -1 ? undefined : end))?.[2]
}

/** A name, with or without quotes. */
const VALUE = /^ +(["']?)([A-Za-z0-9.-]+)\1[ \t\r]*$/
