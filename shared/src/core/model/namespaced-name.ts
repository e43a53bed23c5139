// `namespace/name`: how kleym keys, compares and shows namespaced objects. The only file that joins and splits it.
import { compareBytes } from '../base/text/bytes.ts'

declare const joined: unique symbol

/** The key of a namespaced object: `team-a/chat`. Branded, so that a bare name or another text never passes for one. */
export type NamespacedName = string & { readonly [joined]: true }

/** The two parts of a key. */
export interface NameParts {
  readonly namespace: string
  readonly name: string
}

/** Joins the namespace and the name of an object, as they are. */
export function namespacedName(namespace: string, name: string): NamespacedName {
  const key = `${namespace}/${name}`
  brand(key)
  return key
}

/** Reads a key in a text from outside; undefined unless the text has exactly one slash. */
export function parseNamespacedName(text: string): NamespacedName | undefined {
  const [namespace, name, ...rest] = text.split('/')
  return namespace === undefined || name === undefined || rest.length > 0
    ? undefined
    : namespacedName(namespace, name)
}

/** In byte order of namespace and name. */
export function byNamespaceAndName(left: NameParts, right: NameParts): number {
  return compareBytes(left.namespace, right.namespace) || compareBytes(left.name, right.name)
}

/** Splits a key at its first slash: a namespace holds none, and a hostile name in a file may. */
export function splitNamespacedName(key: NamespacedName): NameParts {
  const slash = key.indexOf('/')
  return { namespace: key.slice(0, slash), name: key.slice(slash + 1) }
}

/** The namespace of a text from outside that should be a key: what stands before its first slash, empty without one. */
export function namespaceWritten(text: string): string {
  return text.slice(0, Math.max(0, text.indexOf('/')))
}

/** Tells the compiler, and does nothing at run time: the text was joined in this file. */
function brand(_key: string): asserts _key is NamespacedName {}
