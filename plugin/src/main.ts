#!/usr/bin/env node
// kubectl kleym: the one place where the plugin meets its process. Streams, environment, working directory and exit
// code are taken here and handed on; nothing else touches them. There is no handler for SIGINT: dying of the signal is
// what shells expect (they report 130), and it works while a long computation runs.
import process from 'node:process'
import { dig } from '@kleym/shared/core/base/json.ts'
import { systemClock } from '@kleym/shared/kube/clock.ts'
import type { CommandContext, Garbage, Interrupts } from './io/context.ts'
import { asKleymError, EXIT, formatError, KleymError } from './io/errors.ts'
import { FileOutput } from './io/file-output.ts'
import { runProgram } from './program/program.ts'
import { VERSION } from './io/version.ts'
import { commandLineWords, COMPLETE } from './io/completion-request.ts'

const argv = commandLineWords(process.argv0, process.argv.slice(2))

/**
 * JavaScriptCore takes its settings from the environment alone. Its last compiler, and memory that it asks for ahead, cost a question about
 * a whole cluster more than they gain: docs/decisions/2026-11-22-steps-between-collections.md.
 */
const ABOUT_A_CLUSTER = { BUN_JSC_useFTLJIT: '0', BUN_JSC_useWarmUpMarkedBlocks: '0' }

/** Begins anew with these settings, in the same process, where the system can. Nothing was read or written yet. */
function beginAnew(): void {
  const isOfCluster = argv.some((word) => word === '-A' || word === '--all-namespaces')
  if (!isOfCluster || argv.includes('--offline') || argv[0] === COMPLETE) return
  if (Object.keys(ABOUT_A_CLUSTER).some((name) => name in process.env)) return
  const env = { ...process.env, ...ABOUT_A_CLUSTER }
  try {
    process.execve?.(process.execPath, [process.argv0, ...process.argv.slice(2)], env)
  } catch {
    // Then the answer takes longer.
  }
}

// On Node there is nothing of this to set.
if ('Bun' in globalThis) beginAnew()

const crashListeners = new Set<(error: unknown) => void>()

const interrupts: Interrupts = {
  on: (signal, run) => {
    process.on(signal, run)
    return () => void process.off(signal, run)
  },
  onCrash: (run) => {
    crashListeners.add(run)
    return () => void crashListeners.delete(run)
  },
  raise: (signal) => void process.kill(process.pid, signal),
}

/** By so many bytes, or by this part of its size if that is more, the process may grow until all is collected again, as needed. */
const GROWTH_BYTES = 32 * 2 ** 20
const GROWTH_PART = 1 / 10
let sizeAfterAll = Infinity

function hasGrown(): boolean {
  const growth = process.memoryUsage.rss() - sizeAfterAll
  return growth > Math.max(GROWTH_BYTES, sizeAfterAll * GROWTH_PART)
}

/**
 * The executable runs on Bun; Node has neither. Who asks for it has much to do: code is compiled as early as usual from then on.
 * https://bun.com/reference/bun/gc, https://bun.com/reference/bun/jsc
 */
function collectGarbage(which: Garbage): void {
  const bun = dig(globalThis, 'Bun')
  if (bun === undefined) return
  setJitPolicy(USUAL_JIT_POLICY)
  const isAll = which === 'all' || (which === 'as needed' && hasGrown())
  const collect = isAll ? dig(bun, 'gc') : dig(process.getBuiltinModule('bun:jsc'), 'edenGC')
  if (typeof collect === 'function') Reflect.apply(collect, undefined, [true])
  if (isAll) sizeAfterAll = process.memoryUsage.rss()
}

/** How many times longer code runs before it is compiled. In a short run none runs as long. */
const SHORT_RUN_JIT_POLICY = 1000
const USUAL_JIT_POLICY = 1

/** https://bun.com/reference/bun/unsafe: the executable begins with the policy that it is built with. */
function setJitPolicy(policy: number): void {
  const unsafe = dig(globalThis, 'Bun', 'unsafe')
  const set = dig(unsafe, 'setJITPolicy')
  if (typeof set === 'function') Reflect.apply(set, unsafe, [policy])
}

const context: CommandContext = {
  cwd: process.cwd(),
  env: process.env,
  stdin: { [Symbol.asyncIterator]: () => process.stdin[Symbol.asyncIterator]() },
  stdout: new FileOutput({ fd: 1, open: () => process.stdout, onError: reportWriteFailure }),
  // Where stderr cannot be written there is nowhere left to say so.
  stderr: new FileOutput({ fd: 2, open: () => process.stderr, onError: () => {} }),
  clock: systemClock,
  interrupts,
  terminal: () =>
    process.stdin.isTTY && process.stdout.isTTY
      ? { stdin: process.stdin, stdout: process.stdout }
      : undefined,
  collectGarbage,
  expectShortRun: () => setJitPolicy(SHORT_RUN_JIT_POLICY),
  version: VERSION,
}

function reportWriteFailure(code: string): void {
  process.exitCode = EXIT.incomplete
  const why = `the system says ${code}`
  const fix = 'make room where it is written to'
  context.stderr.write(
    formatError(new KleymError('output', { what: 'the answer could not be written', why, fix })),
  )
}

function reportBug(thrown: unknown): void {
  process.exitCode = EXIT.internal
  // The screen restores the terminal first, and reports the bug as its own failure.
  if (crashListeners.size > 0) {
    for (const run of crashListeners) run(thrown)
    return
  }
  context.stderr.write(formatError(asKleymError(thrown)))
}

process.on('uncaughtException', reportBug)
// Node hands these to the handler above; Bun, which runs the executable, would print an excerpt of the source.
process.on('unhandledRejection', reportBug)

// The exit code is set, never forced: what is written to a pipe must drain first.
const exitCode = await runProgram(argv, context)
process.exitCode ??= exitCode
// A shell waits for its completions: what still hangs then, such as a credential plugin, is not waited for.
if (argv[0] === COMPLETE) process.exit()
