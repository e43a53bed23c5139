// Thousands of interleavings of users, faults, lagging caches and dying operators: at no moment two, nothing foreign
// touched, and always the state that the pure core says.
import { expect, test } from 'vitest'
import { simulate } from './simulation.ts'

/** Set it to a seed that a failure has named, to run that one alone. */
const REPLAY: number | undefined = undefined
const RUNS = 1_200

test(
  'whatever the order, the operator ends where the core does, and never makes two',
  { timeout: 300_000 },
  async () => {
    const seeds = REPLAY === undefined ? Array.from({ length: RUNS }, (_, at) => at + 1) : [REPLAY]
    for (const seed of seeds) {
      const { problems, trace } = await simulate(seed)
      const story = problems.length === 0 ? '' : trace.slice(-200).join('\n')
      expect(problems, `seed ${seed}\n${story}`).toEqual([])
    }
  },
)
