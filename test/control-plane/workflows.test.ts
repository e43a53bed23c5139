// What GitHub would run is what its own rules allow: the workflows, by the real actionlint, which reads contexts, events, the
// inputs of steps and the matrix. What this project asks of them beside that: test/release/workflows.test.ts.
import { spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, expect, onTestFinished, test } from 'vitest'
import { ended, type Ended } from '@kleym/testing/child-process.ts'
import { ROOT } from '../e2e/plugin.ts'
import { ensureClient, FIRST_BUILD_MS } from './client-binaries.ts'

const FOLDER = join(ROOT, '.github/workflows')
const WORKFLOWS = readdirSync(FOLDER)

let actionlint: string
beforeAll(async () => {
  actionlint = await ensureClient('actionlint')
}, FIRST_BUILD_MS)

/** Without the checkers of shell and Python that it would find on this machine: not every machine has them. */
function lint(path: string): Promise<Ended> {
  const args = ['-no-color', '-shellcheck=', '-pyflakes=', path]
  return ended(spawn(actionlint, args, { cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe'] }))
}

test.each(WORKFLOWS)('actionlint finds nothing wrong with %s', async (name) => {
  const { status, stdout, stderr } = await lint(join(FOLDER, name))
  expect(stdout + stderr).toBe('')
  expect(status).toBe(0)
})

test('a job that needs one that there is not is found, so the test above can fail', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'kleym-workflow-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const path = join(folder, 'release.yml')
  const text = readFileSync(join(FOLDER, 'release.yml'), 'utf8')
  writeFileSync(path, text.replace(/^ {4}needs: .*$/m, '    needs: [nothing]'))
  const { status, stdout } = await lint(path)
  expect(stdout).toContain('"nothing"')
  expect(status).toBe(1)
})
