// Chance that can be had again: one seed, one sequence of choices.

export class Dice {
  #state: number

  constructor(seed: number) {
    this.#state = seed >>> 0
  }

  /** From 0 up to but without 1. Mulberry32: small, fast, and good enough to choose by. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0
    let word = this.#state
    word = Math.imul(word ^ (word >>> 15), word | 1)
    word ^= word + Math.imul(word ^ (word >>> 7), word | 61)
    return ((word ^ (word >>> 14)) >>> 0) / 2 ** 32
  }

  /** An integer from 0 to below `count`. */
  below(count: number): number {
    return Math.floor(this.next() * count)
  }

  /** True in `share` of all cases: 0 never, 1 always. */
  chance(share: number): boolean {
    return this.next() < share
  }

  /** One of the items; undefined where there is none. */
  pick<T>(items: readonly T[]): T | undefined {
    return items[this.below(items.length)]
  }

  /** `count` different items in a random order, or all where there are fewer. */
  some<T>(items: readonly T[], count: number): readonly T[] {
    const left = [...items]
    return Array.from({ length: Math.min(count, left.length) }, () =>
      left.splice(this.below(left.length), 1),
    ).flat()
  }

  /** One of the choices, each as likely as its weight says; undefined where all weigh nothing. */
  weighted<T>(choices: readonly (readonly [T, number])[]): T | undefined {
    let left = this.next() * choices.reduce((sum, [, weight]) => sum + weight, 0)
    for (const [choice, weight] of choices) {
      left -= weight
      if (left < 0) return choice
    }
    return undefined
  }
}
