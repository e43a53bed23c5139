// The simulation as tests: each file runs its share of the seeds, side by side.
import { expect, test } from 'vitest'
import { simulate } from './simulation.ts'

/** Set it to a seed that a failure has named, to run that one alone. */
const REPLAY: number | undefined = undefined

/** Runs these seeds and the ones between. */
export function simulateSeeds(first: number, last: number): void {
  test(
    `whatever the order, the operator ends where the core does, and never makes two: seeds ${first} to ${last}`,
    { timeout: 300_000 },
    async () => {
      const seeds =
        REPLAY === undefined ? Array.from({ length: last - first + 1 }, (_, at) => first + at) : [REPLAY]
      for (const seed of seeds) {
        const { problems, trace } = await simulate(seed)
        const story = problems.length === 0 ? '' : trace.slice(-200).join('\n')
        expect(problems, `seed ${seed}\n${story}`).toEqual([])
      }
    },
  )
}
