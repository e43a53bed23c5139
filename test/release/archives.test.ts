// The archives of the plugin that krew installs: what is in them, for which machine, and that they are the same every day.
import { chmodSync, copyFileSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { gzipSync } from 'node:zlib'
import { beforeAll, describe, expect, test } from 'vitest'
import { printedBy } from '@kleym/testing/child-process.ts'
import { bundle } from '../../scripts/build/bundle.ts'
import { archiveProblems } from '../../scripts/release/archive-check.ts'
import { sha256 } from '../../scripts/release/krew-manifest.ts'
import { signAdHoc, wrongPage } from '../../scripts/release/mac-signature.ts'
import { PLATFORMS, platformName, pluginFile, type Platform } from '../../scripts/release/platforms.ts'
import { executableFor } from '../../scripts/release/plugin-archives.ts'
import { membersOf, tarGz, type TarMember } from '../../scripts/release/tar.ts'
import { PLUGIN, ROOT } from '../e2e/plugin.ts'
import { workspace } from '../e2e/workspace.ts'
import { archivePath, artefact, RELEASE_MAX_MS, released, thisPlatform } from './released.ts'

beforeAll(released, RELEASE_MAX_MS)

async function membersFor(platform: Platform): Promise<readonly TarMember[]> {
  return membersOf(readFileSync(archivePath(platform)))
}

async function executableIn(platform: Platform): Promise<Buffer> {
  const member = (await membersFor(platform)).find(({ name }) => name === pluginFile(platform))
  if (member === undefined) throw new Error(`no executable for ${platformName(platform)}`)
  return member.bytes
}

function mac(arch: Platform['arch']): Platform {
  const found = PLATFORMS.find((platform) => platform.os === 'darwin' && platform.arch === arch)
  if (found === undefined) throw new Error(`no macOS on ${arch}`)
  return found
}

/** Which machine an executable is for, by the headers of ELF, Mach-O and PE. */
function machineOf(file: Buffer): string {
  if (file.readUInt32BE(0) === 0x7f454c46) return `ELF ${file.readUInt16LE(18).toString(16)}`
  if (file.readUInt32LE(0) === 0xfeedfacf) return `Mach-O ${file.readUInt32LE(4).toString(16)}`
  return `PE ${file.readUInt16LE(file.readUInt32LE(0x3c) + 4).toString(16)}`
}

const MACHINES: Readonly<Record<string, string>> = {
  'linux-amd64': 'ELF 3e',
  'linux-arm64': 'ELF b7',
  'darwin-amd64': 'Mach-O 1000007',
  'darwin-arm64': 'Mach-O 100000c',
  'windows-amd64': 'PE 8664',
  'windows-arm64': 'PE aa64',
}

describe.each(PLATFORMS.map((platform) => [platformName(platform), platform] as const))(
  '%s',
  (name, platform) => {
    test('holds our licence, the licences of what is inside, the manual page, and the executable for that machine, and nothing else', async () => {
      const members = await membersFor(platform)
      expect(members.map(({ name: file, type, mode }) => [file, type, mode])).toEqual([
        ['LICENSE', 'file', 0o644],
        ['NOTICES', 'file', 0o644],
        ['kubectl-kleym.1', 'file', 0o644],
        [pluginFile(platform), 'file', 0o755],
      ])
      expect(archiveProblems(members, pluginFile(platform))).toEqual([])
      const [licence, , , executable] = members
      expect(licence?.bytes).toEqual(readFileSync(join(ROOT, 'LICENSE')))
      expect(machineOf(executable?.bytes ?? Buffer.alloc(0))).toBe(MACHINES[name])
    })
  },
)

test('what ships for this platform is the very file that the end-to-end tests ran', async () => {
  expect(sha256(await executableIn(thisPlatform()))).toBe(sha256(readFileSync(PLUGIN)))
})

test('tar unpacks it, and it runs', () => {
  const cwd = workspace({})
  printedBy('tar', ['-xzf', archivePath(thisPlatform())], { cwd })
  const printed = printedBy(join(cwd, pluginFile(thisPlatform())), ['--version'], { env: {} })
  expect(printed).toMatch(/^kubectl-kleym \d/)
})

test('built again in another folder, the executable for another platform has the same bytes', async () => {
  const module = join(workspace({}), 'kubectl-kleym.mjs')
  await bundle(ROOT, { entry: join(ROOT, 'plugin/src/main.ts'), outfile: module, split: true })
  const again = executableFor(
    { root: ROOT, bundle: module, notices: '', made: 0, env: process.env },
    mac('amd64'),
  )
  expect(sha256(again)).toBe(sha256(await executableIn(mac('amd64'))))
})

describe('signatures for macOS', () => {
  test.each(['amd64', 'arm64'] as const)('are right for every page on %s', async (arch) => {
    expect(wrongPage(await executableIn(mac(arch)))).toBeUndefined()
  })

  test('of ours are those that Bun makes where it makes them', async () => {
    const byBun = await executableIn(mac('arm64'))
    expect(sha256(signAdHoc(byBun))).toBe(sha256(byBun))
  })

  test('a changed byte is noticed, and where', async () => {
    const changed = Buffer.from(await executableIn(mac('amd64')))
    changed[5 * 4096 + 7] = (changed[5 * 4096 + 7] ?? 0) ^ 1
    expect(wrongPage(changed)).toBe(5)
  })

  test.each([
    ['a Linux executable', Buffer.from('\x7fELF'.padEnd(64, '\0')), 'this is no executable of macOS'],
    ['an empty file', Buffer.alloc(0), 'this is no executable of macOS'],
  ])('%s has none', (_, file, message) => {
    expect(() => signAdHoc(file)).toThrow(message)
  })
})

test('the checksums are those of the files, all of them', () => {
  const lines = artefact('SHA256SUMS').toString('utf8').trimEnd().split('\n')
  expect(lines.length).toBeGreaterThan(10)
  for (const line of lines) {
    const [sum = '', name = ''] = line.split('  ')
    expect([name, sha256(artefact(name))]).toEqual([name, sum])
  }
})

/** Packs by the real tar whatever `fill` puts into a folder that would be fine as it is. */
async function packed(
  fill: (folder: string) => void,
  members: readonly string[],
): Promise<readonly TarMember[]> {
  const cwd = workspace({ 'kubectl-kleym': 'program', LICENSE: 'licence', 'out/placeholder': '' })
  chmodSync(join(cwd, 'kubectl-kleym'), 0o755)
  fill(cwd)
  printedBy('tar', ['-P', '--hard-dereference', '-czf', 'out/one.tar.gz', ...members], { cwd })
  return membersOf(readFileSync(join(cwd, 'out/one.tar.gz')))
}
describe('the check refuses what krew would', () => {
  const BOTH = ['LICENSE', 'kubectl-kleym']

  test.each<[string, (folder: string) => void, readonly string[], readonly string[]]>([
    ['nothing', () => undefined, BOTH, []],
    [
      'a link',
      (cwd) => symlinkSync('LICENSE', join(cwd, 'COPYING')),
      [...BOTH, 'COPYING'],
      ['COPYING is a link'],
    ],
    ['a folder', (cwd) => mkdirSync(join(cwd, 'lib')), [...BOTH, 'lib'], ['lib/ is a folder']],
    [
      'a path that leads out',
      () => undefined,
      [...BOTH, 'out/../LICENSE'],
      ['out/../LICENSE has `..` in its path'],
    ],
    [
      '`..` inside a name',
      (cwd) => copyFileSync(join(cwd, 'LICENSE'), join(cwd, 'a..b')),
      [...BOTH, 'a..b'],
      ['a..b has `..` in its path'],
    ],
    [
      'a file twice',
      () => undefined,
      [...BOTH, 'out/placeholder', 'out/placeholder'],
      ['out/placeholder is there twice'],
    ],
    ['no licence', () => undefined, ['kubectl-kleym'], ['there is no licence']],
    ['no program', () => undefined, ['LICENSE'], ['there is no kubectl-kleym']],
    [
      'a program that is not executable',
      (cwd) => chmodSync(join(cwd, 'kubectl-kleym'), 0o644),
      BOTH,
      ['kubectl-kleym is not executable'],
    ],
  ])('%s', async (_, fill, members, problems) => {
    expect(archiveProblems(await packed(fill, members), 'kubectl-kleym')).toEqual(problems)
  })

  test('an absolute path', async () => {
    const file = join(workspace({ one: '1' }), 'one')
    const members = await packed(() => undefined, [...BOTH, file])
    expect(archiveProblems(members, 'kubectl-kleym')).toEqual([`${file} is no relative path`])
  })
})

describe('the packer', () => {
  test('packs the same files to the same bytes', async () => {
    const files = [{ name: 'a', bytes: Buffer.from('one'), executable: true }]
    expect(await tarGz(files, 7)).toEqual(await tarGz(files, 7))
    expect(await tarGz(files, 7)).not.toEqual(await tarGz(files, 8))
  })

  test('keeps what does not fit into a short header', async () => {
    const files = ['a'.repeat(101), `${'b'.repeat(90)}/${'c'.repeat(90)}`, 'é'].map((name) => ({
      name,
      bytes: Buffer.from(name),
    }))
    expect(await membersOf(await tarGz(files, 0))).toEqual(
      files.map((file) => ({ ...file, type: 'file', mode: 0o644 })),
    )
  })

  test('packs what comes out as it went in, whatever its size', async () => {
    const files = [0, 1, 511, 512, 513, 100_000].map((size) => ({
      name: String(size),
      bytes: Buffer.alloc(size, 'x'),
    }))
    expect((await membersOf(await tarGz(files, 0))).map(({ bytes }) => bytes)).toEqual(
      files.map(({ bytes }) => bytes),
    )
  })

  test.each([
    ['no gzip', Buffer.from('x'.repeat(600)), 'incorrect header check'],
    ['no tar', gzipSync('x'.repeat(600)), 'Invalid tar header'],
  ])('refuses to list %s', async (_, archive, message) => {
    await expect(membersOf(archive)).rejects.toThrow(message)
  })
})
