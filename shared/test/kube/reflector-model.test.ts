// A reflector, its store and a writer beside it, against a simulated API server, in many interleavings of their steps:
// what the cache believes at every one, and that it always gets there in the end.
import { array, assert, asyncProperty, integer, nat } from 'fast-check'
import { expect, it } from 'vitest'
import { runs } from '@kleym/testing/runs.ts'
import { choices, flush, ReflectorModel } from './reflector-model.ts'

const RUNS = runs(600)

it('believes nothing false at any step, and always follows the server in the end', async () => {
  const tapes = array(nat(9973), { minLength: 20, maxLength: 400 })
  const property = asyncProperty(tapes, integer({ min: 20, max: 150 }), async (tape, steps) => {
    const world = new ReflectorModel(choices(tape))
    world.reflector.start()
    for (let step = 0; step < steps; step++) {
      world.step()
      await flush()
      world.check()
    }
    await world.settle()
    await world.reflector.stop()
    expect(world.faults).toEqual([])
    expect(world.clock.timers, 'timers left after the stop').toBe(0)
  })
  await assert(property, { numRuns: RUNS })
})
