// Programs are found where Go's os/exec finds them, and never in the folder in which somebody happens to be.
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { findProgram } from '../../src/kube/program-path.ts'

function windows(...files: readonly string[]): (name: string, path: string) => string | undefined {
  const known = new Set(files.map((file) => file.toLowerCase()))
  return (name, path) =>
    findProgram(
      name,
      { Path: path },
      { platform: 'win32', isProgram: (file) => known.has(file.toLowerCase()) },
    )
}

describe('on Windows', () => {
  test.each<[says: string, name: string, path: string, found: string | undefined]>([
    ['the first folder of the PATH that has it', 'kubectl', 'C:\\a;C:\\b', 'C:\\b\\kubectl.exe'],
    ['a name with its suffix', 'KUBECTL.EXE', 'C:\\b', 'C:\\b\\KUBECTL.EXE'],
    ['a share', 'kubectl', '\\\\server\\tools', '\\\\server\\tools\\kubectl.exe'],
    ['not the current folder', 'kubectl', 'C:\\a', undefined],
    ['not by an empty entry', 'kubectl', 'C:\\a;;C:\\c', undefined],
    ['not by a dot', 'kubectl', '.;.\\;C:\\a', undefined],
    ['not in a folder of whatever drive is the current one', 'kubectl', '\\tools;C:tools', undefined],
    ['not what only a shell can start', 'script', 'C:\\b', undefined],
    ['a path is what it is', '.\\kubectl', 'C:\\b', '.\\kubectl'],
  ])('%s', (_, name, path, found) => {
    const find = windows(
      'kubectl.exe',
      '.\\kubectl.exe',
      '\\tools\\kubectl.exe',
      'C:tools\\kubectl.exe',
      'C:\\b\\kubectl.exe',
      'C:\\b\\script.cmd',
      '\\\\server\\tools\\kubectl.exe',
    )
    expect(find(name, path)).toBe(found)
  })
})

describe('elsewhere', () => {
  let folder = ''
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'kleym-program-'))
  })
  afterEach(() => rm(folder, { recursive: true, force: true }))

  test('a file that may be run, in an absolute folder of the PATH', async () => {
    for (const [name, mode] of [
      ['text', 0o644],
      ['real', 0o755],
    ] as const) {
      await mkdir(join(folder, name))
      await writeFile(join(folder, name, 'tool'), '')
      await chmod(join(folder, name, 'tool'), mode)
    }
    await mkdir(join(folder, 'folder', 'tool'), { recursive: true })
    const path = ['', '.', 'real', join(folder, 'folder'), join(folder, 'text'), join(folder, 'real')].join(
      ':',
    )
    expect(findProgram('tool', { PATH: path })).toBe(join(folder, 'real', 'tool'))
    expect(findProgram('tool', { PATH: `${path}x` })).toBeUndefined()
    expect(findProgram('./tool', {})).toBe('./tool')
    expect(findProgram('tool', {})).toBeUndefined()
  })
})
