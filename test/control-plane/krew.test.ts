// The archives and the manifest as krew takes them: the real krew and its checker, an index and archives of our own on this
// machine, and then the real kubectl, which finds the plugin as it does for people.
import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { tmpdir } from 'node:os'
import { basename, delimiter, join } from 'node:path'
import process from 'node:process'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ROOT } from '../e2e/plugin.ts'
import {
  archivePath,
  artefact,
  RELEASE,
  RELEASE_MAX_MS,
  released,
  thisPlatform,
  VERSION,
} from '../release/released.ts'
import { ensureBinaries } from './binaries.ts'
import { ended, type Ended, printedBy } from '@kleym/testing/child-process.ts'
import { ensureClient } from './client-binaries.ts'

const NEXT_VERSION = '999.0.0'

let folder: string
let downloads: Server
let checker: string
beforeAll(async () => {
  await released()
  const binaries = await ensureBinaries()
  if (!binaries.available) throw new Error(binaries.why)
  checker = await ensureClient('validate-krew-manifest')
  folder = mkdtempSync(join(tmpdir(), 'kleym-krew-'))
  for (const name of ['bin', 'home', 'root', 'index/plugins'])
    mkdirSync(join(folder, name), { recursive: true })
  symlinkSync(binaries.programs.kubectl, join(folder, 'bin/kubectl'))
  symlinkSync(await ensureClient('krew'), join(folder, 'bin/kubectl-krew'))
  downloads = await serve(RELEASE)
}, RELEASE_MAX_MS)
afterAll(() => {
  downloads?.close()
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true })
})

/** Krew's checker installs for six platforms in one run. */
const KREW_MS = 300_000

/** Runs a program with krew's folder on PATH, and nothing of this machine's own krew or kubectl. */
function run(command: string, args: readonly string[], krewRoot = join(folder, 'root')): Promise<Ended> {
  return ended(
    spawn(command, args, {
      cwd: folder,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        PATH: [join(folder, 'bin'), join(krewRoot, 'bin'), process.env['PATH'] ?? ''].join(delimiter),
        HOME: join(folder, 'home'),
        KREW_ROOT: krewRoot,
        KREW_DEFAULT_INDEX_URI: join(folder, 'index'),
        KREW_NO_UPGRADE_CHECK: '1',
      },
    }),
    '',
    KREW_MS,
  )
}

async function kubectl(...args: readonly string[]): Promise<string> {
  const { status, stdout, stderr } = await run('kubectl', args)
  if (status !== 0) throw new Error(`kubectl ${args.join(' ')} ended with ${String(status)}: ${stderr}`)
  return stdout
}

/** Serves the files of a folder as a release page does. */
function serve(files: string): Promise<Server> {
  const server = createServer((request, response) => {
    response.end(readFileSync(join(files, basename(request.url ?? ''))))
  })
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => resolve(server))
  })
}

/** The manifest of the release, but with archives that are downloaded from this machine. */
function localManifest(version: string): string {
  const address = downloads.address()
  const port = typeof address === 'object' ? (address?.port ?? 0) : 0
  return artefact('kleym.yaml')
    .toString('utf8')
    .replaceAll(/uri: \S+\//g, `uri: http://127.0.0.1:${port}/`)
    .replace(`version: v${VERSION}`, `version: v${version}`)
}

/** Puts a version into the index, which is a git repository. */
function publish(version: string): void {
  const index = join(folder, 'index')
  writeFileSync(join(index, 'plugins/kleym.yaml'), localManifest(version))
  const author = ['-c', 'user.name=kleym', '-c', 'user.email=kleym@example.org']
  for (const args of [
    ['init', '--quiet'],
    ['add', '.'],
    [...author, 'commit', '--quiet', '-m', version],
  ])
    printedBy('git', args, { cwd: index })
}

async function answer(): Promise<string> {
  const estate = ['--offline', '-R', '-f', join(ROOT, 'examples/estate')]
  return kubectl('kleym', 'explain', '-A', ...estate, '-o', 'name', '--fail-on', 'never')
}

test("krew's checker has nothing against the manifest of the release", async () => {
  writeFileSync(join(folder, 'kleym.yaml'), artefact('kleym.yaml'))
  const { status, stderr } = await run(checker, ['-manifest', join(folder, 'kleym.yaml'), '-skip-install'])
  expect({ status, stderr }).toEqual({
    status: 0,
    stderr: expect.stringContaining('structural validation OK'),
  })
})

test(
  'its full check installs all six platforms',
  async () => {
    mkdirSync(join(folder, 'full'))
    writeFileSync(join(folder, 'full/kleym.yaml'), localManifest(VERSION))
    const { status, stderr } = await run(checker, ['-manifest', join(folder, 'full/kleym.yaml')])
    expect({ status, stderr }).toEqual({
      status: 0,
      stderr: expect.stringContaining('all 6 spec.platforms installed fine'),
    })
  },
  RELEASE_MAX_MS,
)

test('a wrong checksum is not installed', async () => {
  mkdirSync(join(folder, 'wrong'))
  const manifest = join(folder, 'wrong/kleym.yaml')
  writeFileSync(manifest, localManifest(VERSION).replaceAll(/[0-9a-f]{64}/g, '0'.repeat(64)))
  const root = join(folder, 'wrong-root')
  const args = ['krew', 'install', `--manifest=${manifest}`, `--archive=${archivePath(thisPlatform())}`]
  const { status, stderr } = await run('kubectl', args, root)
  expect({ status, stderr }).toEqual({
    status: 1,
    stderr: expect.stringContaining('checksum does not match'),
  })
})

test(
  'installed from an index, used, completed, upgraded and uninstalled',
  async () => {
    publish(VERSION)
    await kubectl('krew', 'update')
    await kubectl('krew', 'install', 'kleym')
    expect(await kubectl('krew', 'list')).toContain('kleym')
    expect(await kubectl('kleym', '--version')).toBe(`kubectl-kleym ${VERSION}\n`)
    expect(await answer()).toContain('inferenceidentitybinding')
    await kubectl('kleym', 'completion', 'install')
    expect(await kubectl('__complete', 'kleym', 'expl')).toMatch(/^explain\t/)

    publish(NEXT_VERSION)
    await kubectl('krew', 'upgrade', 'kleym')
    expect(readFileSync(join(folder, 'root/receipts/kleym.yaml'), 'utf8')).toContain(
      `version: v${NEXT_VERSION}`,
    )
    expect(await answer()).toContain('inferenceidentitybinding')

    await kubectl('krew', 'uninstall', 'kleym')
    const { status, stderr } = await run('kubectl', ['kleym', '--version'])
    expect({ status, stderr }).toEqual({
      status: 1,
      stderr: expect.stringContaining('unknown command "kleym"'),
    })
  },
  RELEASE_MAX_MS,
)
