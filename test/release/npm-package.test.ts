// The npm package: installed from its archive by the real npm, without a network, and run by Node.
import { readFileSync } from 'node:fs'
import { dirname, delimiter, join } from 'node:path'
import process from 'node:process'
import { beforeAll, expect, test } from 'vitest'
import { runToEnd } from '@kleym/testing/child-process.ts'
import { npm } from '../../scripts/release/npm.ts'
import { membersOf } from '../../scripts/release/tar.ts'
import { ESTATE, kleym, ROOT } from '../e2e/plugin.ts'
import { workspace } from '../e2e/workspace.ts'
import { artefact, RELEASE, RELEASE_MAX_MS, released, VERSION } from './released.ts'

beforeAll(released, RELEASE_MAX_MS)

const ARCHIVE = `kubectl-kleym-${VERSION}.tgz`
test('holds the program, the licences, the manual page and a page about it, and nothing else', async () => {
  const members = await membersOf(artefact(ARCHIVE))
  const said = members.map(({ name, mode }) => `${name}${(mode & 0o111) === 0 ? '' : ' (executable)'}`)
  expect(new Set(said)).toEqual(
    new Set([
      'package/LICENSE',
      'package/NOTICES',
      'package/README.md',
      'package/kubectl-kleym.1',
      'package/kubectl-kleym.mjs (executable)',
      'package/package.json',
    ]),
  )
})

test('installs without a network and answers as the executable does', async () => {
  const prefix = workspace({ 'package.json': '{}' })
  const what = 'the package cannot be installed'
  // A registry that is not there: the package needs nothing from any.
  const env = {
    ...process.env,
    npm_config_registry: 'http://127.0.0.1:1/',
    npm_config_cache: join(prefix, 'cache'),
  }
  npm(['install', '--global', '--prefix', prefix, join(RELEASE, ARCHIVE), '--no-audit', '--no-fund'], {
    folder: prefix,
    env,
    what,
  })
  const question = ['explain', '-A', ...ESTATE]
  const { status, stdout, stderr } = runToEnd(join(prefix, 'bin/kubectl-kleym'), question, {
    cwd: ROOT,
    env: { PATH: [dirname(process.execPath), process.env['PATH'] ?? ''].join(delimiter) },
  })
  const executable = await kleym(question)
  expect({ status, stdout, stderr }).toEqual({
    status: executable.code,
    stdout: executable.stdout,
    stderr: executable.stderr,
  })
})

test('asks for the Node that the tests run on', async () => {
  const members = await membersOf(artefact(ARCHIVE))
  const manifest: unknown = JSON.parse(
    members.find(({ name }) => name === 'package/package.json')?.bytes.toString('utf8') ?? '',
  )
  expect(manifest).toMatchObject({ version: VERSION, license: 'Apache-2.0', engines: { node: '>=26' } })
  expect(process.version).toMatch(/^v26\./)
  const readme = readFileSync(join(ROOT, 'scripts/release/npm/README.md'), 'utf8')
  expect(readme).toContain('Node.js 26 or later')
})
