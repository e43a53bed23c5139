// What belongs to a key, such as the bindings that name a pool. Most keys have one member, which is kept as it is: a Set
// for each would take 230 bytes, and there may be ten thousand of them.

export class Members {
  readonly #byKey = new Map<string, string | Set<string>>()

  /** The keys that have a member. */
  keys(): Iterable<string> {
    return this.#byKey.keys()
  }

  /** The members of a key; a live view in no promised order. */
  of(key: string): Iterable<string> {
    const found = this.#byKey.get(key)
    if (found === undefined) return []
    return typeof found === 'string' ? [found] : found
  }

  /** Takes a member from the one key to the other; undefined stands for none. */
  move(member: string, before: string | undefined, now: string | undefined): void {
    if (before === now) return
    if (before !== undefined) this.#drop(before, member)
    if (now !== undefined) this.#add(now, member)
  }

  #add(key: string, member: string): void {
    const found = this.#byKey.get(key)
    if (found === undefined) this.#byKey.set(key, member)
    else if (typeof found !== 'string') found.add(member)
    else if (found !== member) this.#byKey.set(key, new Set([found, member]))
  }

  #drop(key: string, member: string): void {
    const found = this.#byKey.get(key)
    if (found === member) this.#byKey.delete(key)
    if (found === undefined || typeof found === 'string') return
    found.delete(member)
    const [last] = found
    if (found.size === 1 && last !== undefined) this.#byKey.set(key, last)
  }
}
