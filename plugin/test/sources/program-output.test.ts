// Programs of the user's that kleym runs, and its own end meanwhile.
import { chmodSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { describe, expect, test } from 'vitest'
import type { Interrupts, Signal } from '../../src/io/context.ts'
import { outputOf } from '../../src/sources/program-output.ts'

/** How many programs this process has started that have not ended. */
function running(): number {
  return process.getActiveResourcesInfo().filter((name) => name === 'ProcessWrap').length
}

/** Runs a script as the program `sleeper`, with interrupts that a test sends. */
function run(script: string) {
  const folder = mkdtempSync(join(tmpdir(), 'kleym-program-'))
  writeFileSync(join(folder, 'sleeper'), `#!/bin/sh\n${script}\n`)
  chmodSync(join(folder, 'sleeper'), 0o755)
  const listeners = new Map<Signal, () => void>()
  const seen: { readonly runningAtFirst: number[]; readonly raised: Signal[] } = {
    runningAtFirst: [],
    raised: [],
  }
  const interrupts: Interrupts = {
    on: (signal, then) => {
      seen.runningAtFirst.push(running())
      listeners.set(signal, then)
      return () => void listeners.delete(signal)
    },
    onCrash: () => () => {},
    raise: (signal) => void seen.raised.push(signal),
  }
  const env = { PATH: `${folder}:/usr/bin:/bin` }
  const output = outputOf(
    { program: 'sleeper', args: ['now'], env, timeMs: 30_000 },
    { cwd: folder, env, interrupts },
  )
  return { output, listeners, seen }
}

describe('an interrupt of kleym', () => {
  test('is listened for before the program runs, so that none is left behind by one that comes in between', async () => {
    const { output, listeners, seen } = run('exit 0')
    expect(seen.runningAtFirst).toEqual([0, 0, 0])
    expect(running()).toBe(1)
    await output
    expect(listeners.size).toBe(0)
  })

  test.each<Signal>(['SIGINT', 'SIGTERM', 'SIGHUP'])(
    'of %s ends the program and what it has started',
    async (signal) => {
      const { output, listeners, seen } = run("trap '' INT TERM HUP; sleep 600 & wait")
      listeners.get(signal)?.()
      expect(await output).toMatchObject({ state: 'failed' })
      expect(seen.raised).toEqual([signal])
      expect(listeners.size).toBe(0)
    },
  )
})
