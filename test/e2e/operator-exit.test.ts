// The operator's runtime must end when it is told to: no compiler may be at work beside the main thread, since an exit waits for it, and
// it may wait for the main thread (scripts/build/node.ts).
import { execFile } from 'node:child_process'
import process from 'node:process'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { NODE_FLAGS } from '../../scripts/build/node.ts'

/** Gets two functions hot enough for both compilers: one by its calls, one by its loop. */
const HOT = `
  const add = (sum, at) => sum + at
  const loop = (times) => { let sum = 0; for (let at = 0; at < times; at++) sum = add(sum, at); return sum }
  const end = performance.now() + 300
  let sum = 0
  while (performance.now() < end) sum += loop(1_000)
  console.log(sum > 0)
`

/** How V8 compiled what got hot, with these flags: a line for each mode and compiler. */
async function compilations(flags: readonly string[]): Promise<ReadonlySet<string>> {
  const { stdout } = await promisify(execFile)(process.execPath, [...flags, '--trace-opt', '-e', HOT])
  const found = stdout.matchAll(
    /^\[compiling method .*\(target ([A-Z]+).*mode: ConcurrencyMode::k([A-Za-z]+)\]$/gm,
  )
  return new Set([...found].map(([, compiler, mode]) => `${compiler} ${mode}`))
}

test('the operator compiles on its main thread alone', async () => {
  expect(await compilations(NODE_FLAGS)).toEqual(new Set(['MAGLEV Synchronous', 'TURBOFAN Synchronous']))
})

test('which Node would not do by itself', async () => {
  const others = NODE_FLAGS.filter((flag) => flag !== '--no-concurrent-recompilation')
  expect(await compilations(others)).toEqual(new Set(['MAGLEV Concurrent', 'TURBOFAN Concurrent']))
})
