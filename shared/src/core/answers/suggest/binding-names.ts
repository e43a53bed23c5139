// The names of suggested bindings and of the registrations beside them: the same objects give the same names, and none is taken. That
// of a binding is a valid DNS label.
import type { Each } from '../../base/each.ts'
import { getOrCreate } from '../../base/get-or-create.ts'
import { canonicalText } from '../../base/json.ts'
import type { ClusterSpiffeId } from '../../model/objects/clusterspiffeid.ts'
import { namespacedName } from '../../model/namespaced-name.ts'
import type { Companion } from './companion.ts'
import { sha256Hex } from '../../base/text/sha256.ts'
import { DNS1123_LABEL_MAX, DNS1123_SUBDOMAIN_MAX } from '../../base/text/kubernetes.ts'

/** How many hex digits of a hash tell two equal names apart. */
const HASH_DIGITS = 8

/** Gives out names; a name that it gave out is taken from then on. */
export class BindingNames {
  readonly #taken: Set<string>

  /** `taken` are the keys (`namespace/name`) of the bindings that exist. */
  constructor(taken: Iterable<string>) {
    this.#taken = new Set(taken)
  }

  /**
   * A free name made of these parts: the parts that repeat the one before are left out. One that is too long or taken ends with a
   * hash of what it stands for.
   */
  nameOf(namespace: string, parts: readonly string[]): string {
    const words = parts.map(labelPart).filter((word, at, all) => word !== '' && word !== all[at - 1])
    const plain = words.length === 0 ? 'binding' : words.join('-')
    const isFree = (one: string): boolean => !this.#taken.has(namespacedName(namespace, one))
    const name = freeName(plain, DNS1123_LABEL_MAX, (round) => [namespace, round, ...parts], isFree)
    this.#taken.add(namespacedName(namespace, name))
    return name
  }
}

/** The name if it is free and has at most so many characters, else one that ends with a hash. What is hashed differs from round to round. */
function freeName(
  plain: string,
  max: number,
  content: (round: number) => readonly unknown[],
  isFree: (name: string) => boolean,
): string {
  if (plain.length <= max && isFree(plain)) return plain
  const base = plain.slice(0, max - HASH_DIGITS - 1).replace(/[-.]+$/, '')
  for (let round = 0; ; round++) {
    const name = `${base}-${sha256Hex(JSON.stringify(content(round))).slice(0, HASH_DIGITS)}`
    if (isFree(name)) return name
  }
}

/** Gives out names of registrations: what several bindings ask for, or what is there, has one name. */
export class CompanionNames {
  /** What each name stands for, and the name of what was given one. */
  readonly #taken: Map<string, string>
  readonly #given = new Map<string, string>()

  /** `taken` are the ClusterSPIFFEIDs that exist. */
  constructor(taken: Each<Pick<ClusterSpiffeId, 'meta' | 'rawSpec'>>) {
    this.#taken = new Map(taken.map(({ meta, rawSpec }) => [meta.name, canonicalText(rawSpec)]))
  }

  /**
   * `NAMESPACE.POOL.CONTAINER`. A name that is too long, or that another object has, ends with a hash of the namespace, the
   * pool and the container.
   */
  nameOf({ nameParts: parts, spec }: Pick<Companion, 'nameParts' | 'spec'>): string {
    const content = canonicalText(spec)
    return getOrCreate(this.#given, content, () => this.#take(parts, content))
  }

  #take(parts: readonly string[], content: string): string {
    const plain = parts.join('.')
    const isFree = (name: string): boolean => (this.#taken.get(name) ?? content) === content
    const name = freeName(plain, DNS1123_SUBDOMAIN_MAX, (round) => [round, ...parts], isFree)
    this.#taken.set(name, content)
    return name
  }
}

/** A text as a part of a DNS label: every run of other characters is one dash. */
function labelPart(text: string): string {
  return text
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-+|-+$/g, '')
}
