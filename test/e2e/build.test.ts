// What the build says where it cannot build, and what it leaves behind then.
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { compile } from '../../scripts/build/bun.ts'
import { buildExecutable } from '../../scripts/build/executable.ts'
import { ROOT } from './plugin.ts'
import { workspace } from './workspace.ts'

test('without Bun it says how to get it', () => {
  const folder = workspace({ 'one.mjs': 'console.log(1)' })
  const files = { folder, bundle: 'one.mjs', outfile: 'one' }
  expect(() => compile(folder, files)).toThrow(
    expect.objectContaining({
      message: 'the executable cannot be built yet',
      why: expect.stringMatching(/^@oven\/bun-[a-z0-9-]+ is not installed$/),
      fix: 'npm ci --include=optional',
    }),
  )
})

test('what Bun finds is the reason, and no executable is left', () => {
  const folder = workspace({ 'one.mjs': 'import {' })
  const files = { folder, bundle: 'one.mjs', outfile: 'one' }
  expect(() => compile(ROOT, files)).toThrow(
    expect.objectContaining({
      message: 'Bun cannot make the executable',
      why: expect.stringContaining('Expected identifier but found end of file'),
    }),
  )
  expect(readdirSync(folder)).toEqual(['one.mjs'])
})

test('a build that fails leaves the last executable, and nothing else', async () => {
  const folder = workspace({ 'main.ts': 'const = 1', 'dist/one': 'the last one' })
  const program = { name: 'one', entry: 'main.ts', runtime: 'bun' } as const
  await expect(buildExecutable(folder, program)).rejects.toThrow(/main\.ts:1:6/)
  expect(readdirSync(join(folder, 'dist'))).toEqual(['one'])
})
