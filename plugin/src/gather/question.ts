// Which part of a cluster an answer is about, so that no more is read than it takes.
import type { Binding } from '@kleym/shared/core/model/objects/binding.ts'
import { FEDERATED_TRUST_DOMAIN } from '@kleym/shared/core/model/kinds.ts'
import { readMeta } from '@kleym/shared/core/model/objects/meta.ts'
import type { RawObject } from '@kleym/shared/core/model/objects/raw.ts'
import { isClusterScoped, type ObjectName } from '../sources/kind-name.ts'

/** A binding known by its metadata alone. */
export type NamedBinding = Pick<Binding, 'meta'>

/** What a command line asks about. */
export interface Question {
  /** `-A`. */
  readonly allNamespaces: boolean
  /** The namespaces that the arguments name; undefined means the current one. */
  readonly named: readonly (string | undefined)[]
  /** The kind of workload that the arguments name. */
  readonly kind?: string | undefined
  /** The answer tells which workloads there are, and what they are: they matter whether or not anything gives them an identity. */
  readonly workloads?: boolean
  /** The answer shows which access policies name an identity. */
  readonly policies?: boolean
  /** The answer resolves whom access policies name, those of the namespaces concerned or all: identities of any namespace. */
  readonly resolves?: 'own' | 'all'
  /** The answer tells whom objects of other programs name; `strings`: and which SPIFFE IDs stand in any string of any object. */
  readonly names?: 'kinds' | 'strings' | undefined
  /** The answer tells which relationships with other trust domains are declared; `changed`: if the files change one. */
  readonly federation?: boolean | 'changed'
  /** The answer compares several clusters: federation counts, and pools that one imports from another. */
  readonly clusters?: boolean
  /** The answer tells of SPIRE's own parts. */
  readonly spire?: boolean
  /** The answer may depend on any namespace, whichever it is about. */
  readonly readsAll?: boolean
  /** The answer tells of other namespaces too, as far as they were read. */
  readonly elsewhere?: boolean
  /** The answer is about whatever the files change, in all that it does. */
  readonly aboutFiles?: boolean
  /** The bindings of all that there are that the answer is about, where it is about nothing else; none: all of them. */
  readonly about?: (bindings: readonly NamedBinding[]) => readonly NamedBinding[]
}

/** The answer tells whom any object names, and which containers hold that. */
export const WHOM_ALL_NAME = {
  policies: true,
  resolves: 'all',
  names: 'strings',
} as const satisfies Partial<Question>

/** More namespaces than these are read as all: one list of a kind is cheaper than ten. */
export const NAMESPACES_MAX = 4

/** What a change adds, edits or removes. */
interface Changes {
  readonly files: readonly RawObject[]
  /** Whether the files define kinds that answers read. */
  readonly definesKinds?: boolean
  readonly without: readonly ObjectName[]
}

/** Whether the relationships with other trust domains that the cluster declares are to be read. */
export function readsFederation(
  { clusters = false, federation = false }: Question,
  { files, without }: Changes,
): boolean {
  if (federation !== 'changed') return clusters || federation
  const { kind } = FEDERATED_TRUST_DOMAIN
  return files.some(({ value }) => value['kind'] === kind) || without.some((one) => one.kind === kind)
}

/** The namespaces to read; undefined: all of them. `inForce` is undefined where no namespace limits the answer. */
export function namespacesToRead(
  { allNamespaces, named, aboutFiles = false, readsAll = false }: Question,
  inForce: string | undefined,
  changes: Changes,
): readonly string[] | undefined {
  if (allNamespaces || inForce === undefined || readsAll) return undefined
  const touched = changes.files.map(({ value }) => readMeta(value).namespace)
  // What has no namespace can reach into every one of them.
  const isWide =
    changes.definesKinds === true ||
    touched.includes('') ||
    changes.without.some(({ kind }) => isClusterScoped(kind))
  if (aboutFiles && isWide) return undefined
  const namespaces = new Set([
    ...(aboutFiles && touched.length > 0 ? [] : named.map((namespace) => namespace ?? inForce)),
    ...touched.filter((namespace) => namespace !== ''),
    ...changes.without.map(({ namespace }) => namespace ?? inForce),
  ])
  return namespaces.size > NAMESPACES_MAX ? undefined : [...namespaces].toSorted()
}
