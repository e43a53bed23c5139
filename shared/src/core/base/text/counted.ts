// Counting things without keeping them all: a finding about a hundred thousand pods names a few and says how many more.
import { compareBytes } from './bytes.ts'

const NAMED_MAX = 5

/** Names and how many they are; keeps the first few in byte order, and the count. */
export class NameSummary {
  readonly #first: string[] = []
  #count = 0

  /** Counts a name, also one that was added before. */
  add(name: string): void {
    this.#count++
    const first = this.#first
    let at = first.length
    while (at > 0 && compareBytes(name, first[at - 1] ?? '') < 0) at--
    if (at === NAMED_MAX) return
    first.splice(at, 0, name)
    if (first.length > NAMED_MAX) first.pop()
  }

  /** How many names were added. */
  get count(): number {
    return this.#count
  }

  /** `a, b, c` or `a, b, c, d, e and 95 more`. */
  text(): string {
    return fewText(this.#first, NAMED_MAX, this.#count)
  }
}

/** The text of a `NameSummary`. */
export function summaryText(names: Iterable<string>): string {
  const some = new NameSummary()
  for (const name of names) some.add(name)
  return some.text()
}

/** `a, b and 3 more`: the first `most` of some texts; `count`: how many there are, if these are not all. */
export function fewText(texts: readonly string[], most: number, count = texts.length): string {
  const named = texts.slice(0, most)
  const more = count - named.length
  return `${named.join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}

/** `3 of 5 pods are`, `1 of 5 pods is`; `5 pods are` if it is all of them. */
export function shareText(count: number, total: number, noun: string): string {
  const of = count === total ? '' : `${count} of `
  return `${of}${counted(total, noun)} ${count === 1 ? 'is' : 'are'}`
}

/** `1 pod`, `3 pods`. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}

/** `a Pod`, `an InferencePool`: a kind, as it is written, behind its article. */
export function withArticle(kind: string): string {
  return `${/^[AEIOU]/i.test(kind) ? 'an' : 'a'} ${kind}`
}
