// docs/install-plugin.md, by a shell with the real krew, kubectl and npm, on the files of the release; then the completion commands of
// other pages.
import { spawn } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import process from 'node:process'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ended } from '@kleym/testing/child-process.ts'
import { commandsRunBy } from '../../scripts/docs/commands.ts'
import { RELEASE_MAX_MS, RELEASE, released, thisPlatform, VERSION } from '../release/released.ts'
import { platformName } from '../../scripts/release/platforms.ts'
import { ROOT } from '../house/files.ts'
import { ensureBinaries } from './binaries.ts'
import { ensureClient } from './client-binaries.ts'
import { startControlPlane, type ControlPlane } from './control-plane.ts'

const PAGE = 'docs/install-plugin.md'
const COMMANDS = commandsRunBy(ROOT, 'plugin')
const COMMAND_MS = 300_000

let cp: ControlPlane
let home: string
/** A clone of the project, as far as the page touches it. */
let clone: string
beforeAll(async () => {
  await released()
  const binaries = await ensureBinaries()
  if (!binaries.available) throw new Error(binaries.why)
  cp = await startControlPlane()
  home = mkdtempSync(join(tmpdir(), 'kleym-install-'))
  clone = join(home, 'kleym')
  mkdirSync(join(home, 'bin'))
  mkdirSync(join(clone, 'dist/release'), { recursive: true })
  cpSync(join(ROOT, 'examples'), join(clone, 'examples'), { recursive: true })
  cpSync(RELEASE, join(clone, 'dist/release'), { recursive: true })
  symlinkSync(binaries.programs.kubectl, join(home, 'bin/kubectl'))
  symlinkSync(await ensureClient('krew'), join(home, 'bin/kubectl-krew'))
}, RELEASE_MAX_MS)
afterAll(async () => {
  await cp?.stop()
  if (home !== undefined) rmSync(home, { recursive: true, force: true })
})

/** Where the three ways put the plugin; the first on the PATH that has it counts. */
const PLACES = { archive: '.local/bin', krew: '.krew/bin', npm: 'npm/bin' } as const

/** Runs lines in one shell, with one of the places on its PATH. */
function sh(lines: readonly string[], place: keyof typeof PLACES): ReturnType<typeof ended> {
  return ended(
    spawn('sh', ['-e', '-c', lines.join('\n')], {
      cwd: clone,
      env: {
        PATH: [join(home, PLACES[place]), join(home, 'bin'), process.env['PATH'] ?? ''].join(delimiter),
        HOME: home,
        KREW_ROOT: join(home, '.krew'),
        KREW_NO_UPGRADE_CHECK: '1',
        KUBECONFIG: cp.kubeconfig(),
        npm_config_prefix: join(home, 'npm'),
        npm_config_offline: 'true',
        npm_config_update_notifier: 'false',
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    }),
    '',
    COMMAND_MS,
  )
}

/** Runs a line that must succeed, with the archive of this platform in place of the page's; what it prints. */
async function works(place: keyof typeof PLACES, ...lines: readonly string[]): Promise<string> {
  const mine = lines.map((line) => line.replaceAll('linux-amd64', platformName(thisPlatform())))
  const { status, stdout, stderr } = await sh(mine, place)
  expect({ lines, status, stderr, stdout }).toMatchObject({ status: 0 })
  return stdout
}

/** The commands of the page that fit, in their order. */
function typed(pattern: RegExp): readonly string[] {
  const found = COMMANDS.filter(({ page, command }) => page === PAGE && pattern.test(command))
  expect(found.length).toBeGreaterThan(0)
  return found.map(({ command }) => command)
}

test('the page names the version that the release has', () => {
  const versions = COMMANDS.flatMap(({ command }) => command.match(/\d+\.\d+\.\d+/g) ?? [])
  expect(new Set(versions)).toEqual(new Set([VERSION]))
})

test('every command of the page is in one of the tests here', () => {
  const here = /^(?:cd|sha256sum|tar|install|npm install|kubectl krew|kubectl kleym) /
  expect(COMMANDS.filter(({ command }) => !here.test(command))).toEqual([])
})

test('from the archive: checked, unpacked, on the PATH', async () => {
  const said = await works(
    'archive',
    ...typed(/^(?:cd|sha256sum|tar|install)\b/),
    ...typed(/ --version$/).slice(0, 1),
  )
  expect(said).toContain(`kubectl-kleym-v${VERSION}-${platformName(thisPlatform())}.tar.gz: OK`)
  expect(said).toContain(`kubectl-kleym ${VERSION}\n`)
})

test('with krew', async () => {
  const said = await works('krew', ...typed(/^kubectl krew /), ...typed(/ --version$/).slice(-1))
  expect(said).toContain(`kubectl-kleym ${VERSION}\n`)
  expect(existsSync(join(home, '.krew/bin/kubectl-kleym'))).toBe(true)
})

test('with npm', async () => {
  await works('npm', ...typed(/^npm install /))
  expect(existsSync(join(home, 'npm/bin/kubectl-kleym'))).toBe(true)
})

test('completion: beside the plugin, and where a page says', async () => {
  const installs = COMMANDS.filter(({ command }) => command.startsWith('kubectl kleym completion install'))
  expect(new Set(installs.map(({ page }) => page)).size).toBeGreaterThan(2)
  for (const { command } of installs) await works('archive', command)
  expect(existsSync(join(home, '.local/bin/kubectl_complete-kleym'))).toBe(true)
  expect(await works('archive', 'kubectl __complete kleym expl')).toMatch(/^explain\t/)
})

test('it answers about files, and about a cluster', async () => {
  const [files = '', cluster = '', ...others] = typed(/^kubectl kleym (?:explain|status)/)
  expect(others).toEqual([])
  const answered = await sh([files], 'archive')
  expect({ status: [0, 1].includes(answered.status ?? -1), stdout: answered.stdout }).toMatchObject({
    status: true,
    stdout: expect.stringContaining('spiffe://example.org/ns/team-a/objective/chat'),
  })
  const status = await sh([cluster], 'archive')
  expect(status.stderr).not.toContain('error:')
  expect(status.stdout).toContain('InferenceIdentityBinding')
})
