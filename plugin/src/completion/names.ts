// Words that are names of objects: `chat`, `team-a/chat`, `pod/llama-0`, `deploy/team-a/llama`.
import type { ResourceRef, Resource } from '@kleym/shared/kube/api.ts'
import { ACCESS_POLICIES, BINDINGS, NAMESPACES, PODS, WORKLOADS } from '@kleym/shared/kube/resources.ts'
import { compareBytes } from '@kleym/shared/core/base/text/bytes.ts'
import { kindNamed } from '../sources/kind-name.ts'
import type { CompletionLookup } from './lookup.ts'
import { DIRECTIVE, NOTHING, offer, type CompletionCandidate, type Completion } from './protocol.ts'

/** The kinds whose names are completed. */
export const NAMED: readonly Resource[] = [BINDINGS, ACCESS_POLICIES, PODS, ...WORKLOADS]

/** What a command line says about namespaces. */
export interface NameScope {
  /** That of `-n`. */
  readonly namespace: string | undefined
  readonly allNamespaces: boolean
}

/** A name that is being typed. */
export interface NameWord {
  readonly resource: Resource
  /** What stands before the name and its namespace: `pod/`, or nothing. */
  readonly prefix: string
  /** The whole word, with the prefix. */
  readonly typed: string
  readonly scope: NameScope
}

/** Words for objects of one kind: by name in the current namespace, by NAMESPACE/NAME in all or in a written one. */
export async function objectWords(
  word: NameWord,
  lookup: CompletionLookup,
): Promise<readonly CompletionCandidate[]> {
  const { resource, prefix, typed, scope } = word
  const written = typed.slice(prefix.length)
  const slash = written.indexOf('/')
  const qualified = slash !== -1 || scope.allNamespaces
  const textOf = ({ namespace = '', name }: ResourceRef): string =>
    prefix + (qualified ? `${namespace}/${name}` : name)
  const namespace =
    slash === -1 ? await namespaceOf(scope, lookup) : { known: true, name: written.slice(0, slash) }
  if (!namespace.known || namespace.name === '') return []
  const found = await lookup.objects({
    resource,
    namespace: namespace.name,
    wanted: (ref) => textOf(ref).startsWith(typed),
  })
  return sorted(found.map(textOf))
}

/** The namespace to list; `known` is false where neither the command line nor the kubeconfig names one. */
async function namespaceOf(
  { namespace, allNamespaces }: NameScope,
  lookup: CompletionLookup,
): Promise<{ readonly known: boolean; readonly name: string | undefined }> {
  if (allNamespaces) return { known: true, name: undefined }
  const name = namespace ?? (await lookup.namespace())
  return { known: name !== undefined, name }
}

/** `KIND/NAME` or `KIND/NAMESPACE/NAME`, the kind first; without a lookup, the kind alone. */
export async function kindAndName(
  typed: string,
  { kinds, scope }: { readonly kinds: readonly Resource[]; readonly scope: NameScope },
  lookup: CompletionLookup | undefined,
): Promise<Completion> {
  const slash = typed.indexOf('/')
  if (slash === -1) {
    const words = kinds.map(({ kind }) => `${kind.toLowerCase()}/`).filter((word) => word.startsWith(typed))
    return offer(
      words.map((text) => ({ text })),
      DIRECTIVE.noSpace,
    )
  }
  const kind = kindNamed(typed.slice(0, slash).split('.', 1)[0] ?? '')
  const resource = kinds.find((one) => one.kind === kind)
  if (resource === undefined || lookup === undefined) return NOTHING
  return offer(await objectWords({ resource, prefix: typed.slice(0, slash + 1), typed, scope }, lookup))
}

/**
 * The last requirement of a label selector: the keys of labels of a kind until one is written, then its values. What stands
 * before the last comma stays.
 */
export async function selectorWords(
  { resource, typed, scope }: Omit<NameWord, 'prefix'>,
  lookup: CompletionLookup,
): Promise<Completion> {
  const head = typed.slice(0, typed.lastIndexOf(',') + 1)
  const last = typed.slice(head.length)
  const labels = await labelsSeen({ resource, typed: last, scope }, lookup)
  if (last.includes('=')) return offer(sorted(labels.map((label) => head + label)))
  const keys = new Set(labels.map((label) => `${head}${label.slice(0, label.indexOf('=') + 1)}`))
  return offer(sorted([...keys]), DIRECTIVE.noSpace)
}

/** The keys of labels of a kind. */
export async function labelKeyWords(
  word: Omit<NameWord, 'prefix'>,
  lookup: CompletionLookup,
): Promise<readonly CompletionCandidate[]> {
  const keys = (await labelsSeen(word, lookup)).map((label) => label.slice(0, label.indexOf('=')))
  return sorted([...new Set(keys)].filter((key) => key.startsWith(word.typed)))
}

async function labelsSeen(
  { resource, typed, scope }: Omit<NameWord, 'prefix'>,
  lookup: CompletionLookup,
): Promise<readonly string[]> {
  const namespace = await namespaceOf(scope, lookup)
  if (!namespace.known) return []
  return lookup.labels({ resource, namespace: namespace.name, wanted: (label) => label.startsWith(typed) })
}

/** The names of namespaces. */
export async function namespaceWords(
  typed: string,
  lookup: CompletionLookup,
): Promise<readonly CompletionCandidate[]> {
  const found = await lookup.objects({
    resource: NAMESPACES,
    namespace: undefined,
    wanted: ({ name }) => name.startsWith(typed),
  })
  return sorted(found.map(({ name }) => name))
}

/** Texts as candidates, in the order of their bytes. */
export function sorted(texts: readonly string[]): readonly CompletionCandidate[] {
  return texts.toSorted(compareBytes).map((text) => ({ text }))
}
