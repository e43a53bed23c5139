// The simulation as tests: each file runs its share of the seeds, side by side.
import { expect, test } from 'vitest'
import { runs } from '@kleym/testing/runs.ts'
import { simulate } from './simulation.ts'

/** Set it to a seed that a failure has named, to run that one alone. */
const REPLAY: number | undefined = undefined

const SEEDS = runs(500)

/** Runs one share of the seeds: `third` 0 the first of them, 1 those that follow. */
export function simulateSeeds(third: 0 | 1 | 2): void {
  const first = third * SEEDS + 1
  test(`whatever the order, the operator ends where the core does, and never makes two: seeds ${first} to ${first + SEEDS - 1}`, async () => {
    const seeds = REPLAY === undefined ? Array.from({ length: SEEDS }, (_, at) => first + at) : [REPLAY]
    for (const seed of seeds) {
      const { problems, trace } = await simulate(seed)
      const story = problems.length === 0 ? '' : trace.slice(-200).join('\n')
      expect(problems, `seed ${seed}\n${story}`).toEqual([])
    }
  })
}
