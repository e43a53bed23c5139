// `npm run control-plane` where something is missing: every line that a person then reads. What it does where all is there is in
// test/svid/agent/try-it.test.ts, which needs root.
import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { expect, onTestFinished, test } from 'vitest'
import { ended, type Ended } from '@kleym/testing/child-process.ts'
import { until } from '@kleym/testing/wait.ts'
import { ROOT } from '../house/files.ts'
import { CONTROL_PLANE_SCRIPT, startCommand } from './started-command.ts'

function run(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Ended> {
  return ended(
    spawn(process.execPath, [CONTROL_PLANE_SCRIPT, ...args], { cwd: ROOT, env: { ...process.env, ...env } }),
  )
}

test('--help says what it needs', async () => {
  const { status, stdout, stderr } = await run(['--help'])
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  expect(stdout).toContain('--spire')
  expect(stdout).toContain('need root and a cgroup hierarchy')
})

test('a flag that is not there is wrong usage', async () => {
  const { status, stderr } = await run(['--spir'])
  expect(status).toBe(2)
  expect(stderr).toContain("error: Unknown option '--spir'")
  expect(stderr).toContain('fix:  npm run control-plane -- --help')
})

test('without Go and without what it has built before, it says what to install', async () => {
  const empty = mkdtempSync(join(tmpdir(), 'kleym-no-go-'))
  onTestFinished(() => rmSync(empty, { recursive: true, force: true }))
  const env = { PATH: empty, HOME: empty, XDG_CACHE_HOME: empty, KUBEBUILDER_ASSETS: '' }
  const { status, stdout, stderr } = await run(['--spire'], env)
  expect({ status, stdout }).toEqual({ status: 1, stdout: '' })
  expect(stderr).toMatch(/^error: there is no control plane: .+\n {2}fix: {2}install Go 1\.\d+/)
})

test('without a cgroup hierarchy all but the agents runs, and it says so', async () => {
  // No version 3 is anywhere.
  const { printed, exported, toType, files, end } = await startCommand({ KLEYM_CGROUP: '3' }, (command) =>
    onTestFinished(() => void command.kill('SIGKILL')),
  )
  expect(printed).toContain('\nNO AGENT RUNS: ')
  expect(printed).not.toContain('an agent on each node')
  expect(printed).not.toContain('fetch x509')
  const verify = toType.find((line) => line.endsWith('| kubectl kleym verify --entries -')) ?? ''
  // The operator and SCM may still be at work.
  await until(async () => {
    const { stdout } = await ended(
      spawn('sh', ['-c', [...exported, verify].join('\n')], { cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe'] }),
    )
    if (!stdout.includes('the SPIRE server agrees')) throw new Error(stdout)
    return true
  }, 'the server to agree')
  expect(existsSync(files)).toBe(true)
  expect({ code: await end('SIGTERM'), isLeft: existsSync(files) }).toEqual({ code: 0, isLeft: false })
})
