// A wait that ends without what it waited for says what that was, and how things stood.
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { ended, printedBy, runToEnd } from '@kleym/testing/child-process.ts'
import { withLock } from '@kleym/testing/process-lock.ts'
import { CannotHold, until, within } from '@kleym/testing/wait.ts'

const NEVER = new Promise<never>(() => undefined)

test('a condition that comes to hold gives its result', async () => {
  let calls = 0
  const result = await until(() => {
    calls++
    if (calls === 1) throw new Error('not yet')
    return calls === 2 ? undefined : { calls }
  }, 'the third call')
  expect(result).toEqual({ calls: 3 })
})

test.each<[case_: string, condition: () => unknown, lastTry: RegExp]>([
  ['does not hold', () => false, /^waited 30 ms for the door to open$/],
  [
    'throws',
    () => {
      throw new Error('it is shut')
    },
    /^waited 30 ms for the door to open; the last try: it is shut$/,
  ],
  ['does not answer', () => NEVER, /^waited 30 ms for the door to open; a later try has not ended$/],
])('a condition that %s ends with the reason', async (_, condition, message) => {
  await expect(until(condition, 'the door to open', 30)).rejects.toThrow(message)
})

test('the answer of the last call that ended is reported, not that of one that hangs', async () => {
  let calls = 0
  const condition = (): Promise<never> => (++calls === 1 ? Promise.reject(new Error('it is shut')) : NEVER)
  await expect(until(condition, 'the door to open', 30)).rejects.toThrow(
    /^waited 30 ms for the door to open; the last try: it is shut; a later try has not ended$/,
  )
})

test('a condition that cannot hold any more ends at once', async () => {
  const door = until(() => {
    throw new CannotHold('it is walled up')
  }, 'the door to open')
  await expect(door).rejects.toThrow('the door to open cannot come: it is walled up')
})

test('a promise that does not settle ends with the reason, as it stands then', async () => {
  const words = ['not']
  const waiting = within(NEVER, () => `the door, which is ${words.join(' ')}`, 10)
  words.push('open')
  await expect(waiting).rejects.toThrow('waited 10 ms for the door, which is not open')
})

test('a child process that does not end is killed, and what it has printed is said', async () => {
  const child = spawn('sh', ['-c', 'echo here I am; exec sleep 600'])
  await new Promise((resolve) => child.stdout.once('readable', resolve))
  await expect(ended(child, '', 50)).rejects.toThrow(
    /^waited 50 ms for the end of sh -c .*, which has printed:\nhere I am\n$/,
  )
  expect(child.killed).toBe(true)
})

test('a program that blocks and does not end is killed, and the command and what it has printed are said', () => {
  expect(() => runToEnd('sh', ['-c', 'echo here I am; exec sleep 600'], { ms: 500 })).toThrow(
    /^waited 500 ms for the end of sh -c echo here I am; exec sleep 600, which has printed:\nhere I am\n$/,
  )
})

test('a program that fails is an error with its exit code and what it has printed', () => {
  expect(() => printedBy('sh', ['-c', 'echo out; echo err >&2; exit 3'])).toThrow(
    /^sh -c .* ended with 3:\nout\nerr\n$/,
  )
  expect(() => printedBy('no-such-program', [])).toThrow('ENOENT')
})

test('a lock that another process holds for too long ends with its name and its holder', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'kleym-lock-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const path = join(folder, 'lock')
  const work = async (): Promise<void> => {
    await expect(
      withLock(
        path,
        () => undefined,
        async () => undefined,
        10,
      ),
    ).rejects.toThrow(`waited 10 ms for the lock ${path}, which process ${process.pid} holds`)
  }
  await withLock(path, () => undefined, work)
  // It is free again.
  await expect(
    withLock(
      path,
      () => undefined,
      async () => 'done',
      10,
    ),
  ).resolves.toBe('done')
})
