// `why --watch` without a cluster: each look is at files, of which there are more and more, on a clock that does not wait. On a real
// cluster it is followed in test/svid/agent/why.test.ts.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Clock } from '@kleym/shared/kube/clock.ts'
import { healthySlot, WHY_INSTALL, workloadStatus } from '@kleym/testing/why-world.ts'
import { chainsOf } from '../../../src/answers/why/chains.ts'
import { WhyCommand } from '../../../src/answers/why/command.ts'
import { follow } from '../../../src/answers/why/watch.ts'
import { CommandConfig } from '../../../src/flags/command.ts'
import type { CommandContext, CommandResult } from '../../../src/io/context.ts'
import { inProcess } from '../../support/in-process.ts'
import { logOf, WhyFiles, type Dumped, type WhyWorld } from '../../support/why-files.ts'

const cluster = new WhyFiles()
const slot = healthySlot('new')
let whole: WhyWorld
beforeAll(async () => {
  whole = await cluster.world('whole', [slot])
  writeFileSync(join(cluster.folder, 'agent.log'), logOf(slot, 'app', whole.objects))
})
afterAll(() => cluster.end())

/** Waits by moving on at once. */
class QuickClock implements Clock {
  #ms = 0

  now(): Date {
    return new Date(this.#ms)
  }

  monotonicMs(): number {
    return this.#ms
  }

  after(ms: number, run: () => void): () => void {
    this.#ms += ms
    queueMicrotask(run)
    return () => {}
  }
}

/** The objects of the whole, of which some are changed or not there. */
type Stage = (object: Dumped) => Dumped | undefined

const isPod = ({ kind, metadata }: Dumped): boolean => kind === 'Pod' && metadata.namespace === slot.space
const withoutPod: Stage = (one) => (isPod(one) ? undefined : one)
const withoutNode: Stage = (one) => {
  if (!isPod(one)) return one
  const spec: Record<string, unknown> = { ...Object(one['spec']) }
  delete spec['nodeName']
  return { ...one, spec }
}
const withoutScm: Stage = (one) => (one.kind === 'StatefulSet' ? { ...one, status: workloadStatus(0) } : one)
const unregistered: Stage = (one) => (one.kind === 'ClusterSPIFFEID' ? undefined : one)
const withoutAgents: Stage = (one) => (one.metadata.namespace === WHY_INSTALL.agentSpace ? undefined : one)
const all: Stage = (one) => one

interface Followed {
  readonly result: CommandResult
  readonly rows: readonly string[]
  readonly looks: number
}

/** Follows the pod over stages, the last of which stays. */
async function followed(
  stages: readonly Stage[],
  given: readonly string[] = [],
  leavesAt = Number.POSITIVE_INFINITY,
): Promise<Followed> {
  const written: string[] = []
  let leave: (() => void) | undefined
  const stdout = {
    write: (text: string) => void written.push(text),
    isTerminal: false,
    columns: undefined,
    onReaderLeft: (run: () => void) => {
      leave = run
    },
  }
  const silent = { write: () => {}, isTerminal: false, columns: undefined }
  const context: CommandContext = {
    cwd: cluster.folder,
    env: {},
    stdin: (async function* () {})(),
    stdout,
    stderr: silent,
    clock: new QuickClock(),
    version: '0.0.0',
  }
  const args = ['llama', '-n', slot.space, '-c', 'app', ...whole.files.with(2, 'stage.json'), ...given]
  const options = await new WhyCommand(
    args,
    new CommandConfig({ root: import.meta.dirname }, context),
  ).options()
  let looks = 0
  const result = await follow(async () => {
    const stage = stages[Math.min(looks, stages.length - 1)] ?? all
    looks += 1
    if (looks >= leavesAt) leave?.()
    cluster.writeObjects(
      'stage',
      whole.objects.flatMap((one) => stage(one) ?? []),
    )
    return (await chainsOf(options, context)).chains
  }, context)
  return { result, rows: written.join('').trimEnd().split('\n'), looks }
}

const GIVEN = [
  '--entries',
  'whole-entries.json',
  '--as-of',
  '2026-01-03T00:00:00Z',
  '--agent-log',
  'agent.log',
]

test('a pod that comes up: each hop is printed when it changes, and it ends with the identity', async () => {
  const { result, rows, looks } = await followed([withoutPod, withoutNode, all], GIVEN)
  expect(looks).toBe(3)
  // Nothing is said of a pod that is not there yet.
  expect(rows.some((row) => row.startsWith('+0.0s'))).toBe(false)
  expect(rows).toContainEqual(expect.stringMatching(/^\+2\.0s llama app 3 rendered broken: .* has no node/))
  const good = rows.filter((row) => / good: /.test(row)).map((row) => row.replace(/ good: .*/, ''))
  expect(good).toContain('+2.0s llama app 1 wanted')
  expect(good).toContain('+4.0s llama app 3 rendered')
  expect(new Set(good.map((row) => row.replace(/^\S+ llama app \d /, ''))).size).toBe(8)
  expect(result).toMatchObject({
    exitCode: 0,
    answer: `container app of pod ${slot.space}/llama holds spiffe://example.org/new/llama: all 8 hops are good\n`,
  })
})

test('what is not given beside the cluster is not waited for', async () => {
  const { result, looks } = await followed([withoutNode, all])
  expect(looks).toBe(2)
  expect(result).toMatchObject({ exitCode: 4, answer: expect.stringContaining('not known at hop 4') })
})

test('what cannot be read is not waited for: time does not mend it', async () => {
  const { result, looks } = await followed([withoutAgents], GIVEN)
  expect(looks).toBe(1)
  expect(result).toMatchObject({ exitCode: 4, answer: expect.stringContaining('not known at hop 5') })
})

test('a hop that breaks again is printed again', async () => {
  const { rows } = await followed([withoutScm, unregistered, all])
  const wanted = rows.filter((row) => row.includes(' 1 wanted '))
  expect(wanted.map((row) => row.replace(/:.*/, ''))).toEqual([
    '+0.0s llama app 1 wanted good',
    '+2.0s llama app 1 wanted broken',
    '+4.0s llama app 1 wanted good',
  ])
})

test('it ends once its reader has left, with what is known by then', async () => {
  const { result, looks } = await followed([withoutNode], [], 3)
  expect(looks).toBe(3)
  expect(result).toMatchObject({ exitCode: 1, answer: expect.stringContaining('broken at hop 3') })
})

describe('what cannot be followed', () => {
  test.each([
    ['files', ['--offline', '-f', 'whole.json'], '--watch has no cluster'],
    ['another format', ['-o', 'json'], '--watch prints no json'],
    ['stdin', ['--entries', '-'], 'stdin can be read only once'],
  ])('%s', async (_, flags, says) => {
    const { code, stderr } = await inProcess(['why', 'llama', '--watch', ...flags], cluster.folder)
    expect(code).toBe(2)
    expect(stderr).toContain(says)
  })
})
