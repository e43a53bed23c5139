// How many identities containers hold, as the first lines of answers say it.
import { counted } from '@kleym/shared/core/base/text/counted.ts'

/** What a container holds; `some`: one for certain, and perhaps more. The worst first. */
export const HOLDINGS = ['none', 'undetermined', 'several', 'pending', 'some', 'one'] as const
/** One of them. */
export type Holding = (typeof HOLDINGS)[number]

const WORDS: Readonly<Record<Holding, readonly [one: string, several: string]>> = {
  none: ['holds no identity', 'hold no identity'],
  undetermined: ['is undetermined', 'are undetermined'],
  several: ['holds several identities', 'hold several identities'],
  pending: ['waits for kleym', 'wait for kleym'],
  some: ['holds one identity or more', 'hold one identity or more'],
  one: ['holds one identity', 'hold one identity each'],
}

/**
 * Containers by what they hold, the worst first: `2 of 3 containers are undetermined`, then `1 holds one identity`. If each may hold
 * more than is known, the first one says so.
 */
export function holdingTexts(holdings: readonly Holding[], mayHoldMore: boolean): readonly string[] {
  const total = holdings.length
  return HOLDINGS.filter((one) => holdings.includes(one)).map((holding, at) => {
    const count = holdings.filter((one) => one === holding).length
    const [one, several] = WORDS[holding]
    const share =
      count === total ? counted(total, 'container') : at === 0 ? `${count} of ${total} containers` : count
    const more = at === 0 && mayHoldMore && holding !== 'undetermined' ? ', and perhaps more' : ''
    return `${share} ${count === 1 ? one : several}${more}`
  })
}
