// First in, first out, both ends in constant time. A Map or Set is no queue: V8 leaves a hole for every entry that is
// deleted at its front, and each look at the first entry walks over them.

/** How many free places at the front make it worth moving the items down: at least as many were taken as are moved. */
const SLACK = 64

export class Fifo<T> {
  #items: (T | undefined)[] = []
  #head = 0

  get size(): number {
    return this.#items.length - this.#head
  }

  /** The oldest item, which stays; undefined when there is none. */
  get first(): T | undefined {
    return this.#items[this.#head]
  }

  push(item: T): void {
    this.#items.push(item)
  }

  /** The oldest item, taken out; undefined when there is none. */
  shift(): T | undefined {
    if (this.size === 0) return undefined
    const item = this.#items[this.#head]
    this.#items[this.#head++] = undefined
    if (this.#head > SLACK && this.#head * 2 > this.#items.length) {
      this.#items = this.#items.slice(this.#head)
      this.#head = 0
    }
    return item
  }

  /** The oldest item that matches, taken out, while the others keep their order; takes as long as there are older ones. */
  shiftFirst(matches: (item: T) => boolean): T | undefined {
    for (let at = this.#head; at < this.#items.length; at++) {
      const item = this.#items[at]
      if (item === undefined || !matches(item)) continue
      this.#items.copyWithin(this.#head + 1, this.#head, at)
      this.#items[this.#head] = item
      return this.shift()
    }
    return undefined
  }

  clear(): void {
    this.#items = []
    this.#head = 0
  }
}
