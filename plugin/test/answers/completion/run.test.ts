// `kubectl kleym completion`: what it says about what is there, and what it writes where.
import { chmodSync, lstatSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { run, type CompletionArguments } from '../../../src/answers/completion/run.ts'
import { completionScript } from '../../../src/answers/completion/script.ts'
import type { CommandContext, CommandResult, OutputStream } from '../../../src/io/context.ts'
import { KleymError } from '../../../src/io/errors.ts'
import { FakeClock } from '@kleym/testing/fake-clock.ts'
import { workspace } from '../../support/workspace.ts'

const NAME = 'kubectl_complete-kleym'
const SILENT: OutputStream = { write: () => undefined, isTerminal: false, columns: undefined }

/** Two folders on PATH; the second holds kubectl-kleym. */
async function machine(): Promise<{ readonly cwd: string; readonly context: CommandContext }> {
  const cwd = await workspace({ 'one/other': '', 'two/kubectl-kleym': '#!/bin/sh\n', 'off-path/file': '' })
  chmodSync(join(cwd, 'two', 'kubectl-kleym'), 0o755)
  const env = { PATH: ['', join(cwd, 'one'), join(cwd, 'two')].join(delimiter) }
  const stdin = { [Symbol.asyncIterator]: async function* () {} }
  const context = {
    cwd,
    env,
    stdin,
    stdout: SILENT,
    stderr: SILENT,
    version: '0.0.0',
    clock: new FakeClock(),
  }
  return { cwd, context }
}

async function refusalOf(promise: Promise<CommandResult>): Promise<KleymError> {
  const error: unknown = await promise.catch((thrown: unknown) => thrown)
  if (error instanceof KleymError) return error
  throw new Error('it was not refused', { cause: error })
}

const INSTALL: CompletionArguments = { action: 'install' }

describe('install', () => {
  test('puts an executable script beside kubectl-kleym', async () => {
    const { cwd, context } = await machine()
    const path = join(cwd, 'two', NAME)
    expect(await run(INSTALL, context)).toEqual({ answer: `wrote ${path}\n`, notes: [], exitCode: 0 })
    expect(readFileSync(path, 'utf8')).toBe(completionScript({}).text)
    expect(statSync(path).mode & 0o777).toBe(0o755)
  })

  test('writes over a script of its own, also an old one that lost its mode', async () => {
    const { cwd, context } = await machine()
    const path = join(cwd, 'two', NAME)
    writeFileSync(path, `${completionScript({}).text}# old\n`, { mode: 0o644 })
    await run(INSTALL, context)
    expect(readFileSync(path, 'utf8')).toBe(completionScript({}).text)
    expect(statSync(path).mode & 0o777).toBe(0o755)
  })

  test('says when kubectl does not look where it was told to install', async () => {
    const { cwd, context } = await machine()
    const folder = join(cwd, 'off-path')
    const { notes } = await run({ ...INSTALL, folder: 'off-path' }, context)
    expect(notes).toEqual([`${folder} is not on PATH: kubectl will not find it there`])
  })

  test('takes a folder that is relative to the working directory', async () => {
    const { cwd, context } = await machine()
    const { answer, notes } = await run({ ...INSTALL, folder: 'one' }, context)
    expect({ answer, notes }).toEqual({ answer: `wrote ${join(cwd, 'one', NAME)}\n`, notes: [] })
  })

  test('leaves a file alone that it did not write', async () => {
    const { cwd, context } = await machine()
    writeFileSync(join(cwd, 'two', NAME), 'mine')
    const { code, what, why } = await refusalOf(run(INSTALL, context))
    expect({ code, what, why }).toEqual({
      code: 'usage',
      what: 'something else has the name of the completion script',
      why: 'kleym did not write it',
    })
    expect(readFileSync(join(cwd, 'two', NAME), 'utf8')).toBe('mine')
  })

  test('leaves a link alone, and the plugin to which it leads', async () => {
    const { cwd, context } = await machine()
    symlinkSync('kubectl-kleym', join(cwd, 'two', NAME))
    expect((await refusalOf(run(INSTALL, context))).why).toContain('it is a link')
    expect(lstatSync(join(cwd, 'two', NAME)).isSymbolicLink()).toBe(true)
    expect(readFileSync(join(cwd, 'two', 'kubectl-kleym'), 'utf8')).toBe('#!/bin/sh\n')
  })

  test.each([
    ['a folder that is not there', 'nowhere', 'there is no such folder'],
    ['a file', 'off-path/file', 'it is no folder'],
  ])('refuses %s', async (_, folder, why) => {
    const { context } = await machine()
    expect(await refusalOf(run({ ...INSTALL, folder }, context))).toMatchObject({ code: 'usage', why })
  })

  test('says what to do where no folder of PATH holds kubectl-kleym', async () => {
    const { context } = await machine()
    const { what, fix } = await refusalOf(run(INSTALL, { ...context, env: {} }))
    expect({ what, fix }).toEqual({
      what: 'cannot tell where to install',
      fix: 'put kubectl-kleym on PATH, or name a folder that is: kubectl kleym completion install DIR',
    })
  })

  test('leaves a folder of that name alone', async () => {
    const { cwd, context } = await machine()
    mkdirSync(join(cwd, 'two', NAME))
    expect((await refusalOf(run(INSTALL, context))).why).toBe('kleym did not write it')
  })
})

describe('without a word', () => {
  test('says that the script is missing, and how to install it', async () => {
    const { cwd, context } = await machine()
    const { answer } = await run({}, context)
    expect(answer).toContain(`✓ ${join(cwd, 'two', 'kubectl-kleym')} is on PATH\n`)
    expect(answer).toContain(`✗ ${NAME} is not on PATH\n`)
    expect(answer).toContain('kubectl kleym completion install\n')
  })

  test('says where the script is', async () => {
    const { cwd, context } = await machine()
    await run({ ...INSTALL, folder: 'one' }, context)
    expect((await run({}, context)).answer).toContain(`✓ ${join(cwd, 'one', NAME)} is on PATH\n`)
  })

  test('a script that cannot be run is none', async () => {
    const { cwd, context } = await machine()
    writeFileSync(join(cwd, 'one', NAME), '', { mode: 0o644 })
    expect((await run({}, context)).answer).toContain(`✗ ${NAME} is not on PATH\n`)
  })

  test('says that the plugin itself is missing', async () => {
    const { context } = await machine()
    expect((await run({}, { ...context, env: {} })).answer).toContain('✗ kubectl-kleym is not on PATH: ')
  })
})

describe('the script', () => {
  test('asks kubectl-kleym, wherever that is by now, and says nothing else', async () => {
    const { context } = await machine()
    const { answer } = await run({ action: 'script' }, context)
    expect(answer).toMatch(/^#!\/bin\/sh\n#.*\nexec kubectl-kleym __complete "\$@" 2>\/dev\/null\n$/)
  })

  test('is a batch file on Windows', () => {
    const { name, text } = completionScript({ OS: 'Windows_NT' })
    expect(name).toBe('kubectl_complete-kleym.cmd')
    expect(text).toMatch(/^@rem .*\r\n@kubectl-kleym __complete %\* 2>nul\r\n$/)
  })
})
