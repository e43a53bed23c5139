// What the executable is beside its answers: one file that runs anywhere, obeys nothing that lies about, and fails in
// kleym's own words. Its runtime is Bun's: docs/decisions/2026-11-21-single-executable.md.
import type { StdioOptions } from 'node:child_process'
import { closeSync, copyFileSync, openSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { runToEnd } from '@kleym/testing/child-process.ts'
import { built, kleym, PLUGIN, type Run } from './plugin.ts'
import { SCM_CONFIG, SMALL, workspace } from './workspace.ts'

beforeAll(built)

const ASK = ['explain', 'team-a/chat', '--offline', '-f', 'all.yaml', '--trust-domain', 'example.org']
const QUESTION = [...ASK, '--clusterspiffeid-class-name', '', '--scm-config', 'scm.yaml']
const FILES = { 'all.yaml': SMALL, 'scm.yaml': SCM_CONFIG } as const

/** Runs a file with nothing in its environment, not even a PATH. */
function runAlone(file: string, cwd: string): Pick<Run, 'code' | 'stdout' | 'stderr'> {
  const { status, stdout, stderr } = runToEnd(file, QUESTION, { cwd, env: {} })
  return { code: status, stdout, stderr }
}

/** Runs it with a file as one of its streams, the way a shell's redirection does. */
function runWith(
  args: readonly string[],
  stream: 'stdin' | 'stdout',
  path: string,
): Pick<Run, 'code' | 'stderr'> {
  const file = openSync(path, 'r')
  const stdio: StdioOptions = stream === 'stdin' ? [file, 'pipe', 'pipe'] : ['ignore', file, 'pipe']
  const { status, stderr } = runToEnd(PLUGIN, args, { stdio, env: {} })
  closeSync(file)
  return { code: status, stderr }
}

describe('one file', () => {
  test('is all that it needs: no Node, no modules, no environment', () => {
    const cwd = workspace(FILES)
    copyFileSync(PLUGIN, join(cwd, 'kubectl-kleym'))
    const { code, stdout, stderr } = runAlone(join(cwd, 'kubectl-kleym'), cwd)
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toMatch(/^✓ team-a\/chat is ready/)
  })

  test('is found through a link, under another name', () => {
    const cwd = workspace(FILES)
    symlinkSync(PLUGIN, join(cwd, 'kk'))
    expect(runAlone(join(cwd, 'kk'), cwd)).toEqual(runAlone(PLUGIN, cwd))
  })
})

/** What a credential plugin sees of the settings of JavaScriptCore; it gives no credentials. */
async function seenBy(question: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const cwd = workspace({
    config: JSON.stringify({
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [{ name: 'c', cluster: { server: 'https://127.0.0.1:1' } }],
      users: [
        {
          name: 'u',
          user: {
            exec: {
              apiVersion: 'client.authentication.k8s.io/v1',
              command: '/bin/sh',
              args: ['-c', 'echo "$BUN_JSC_useFTLJIT" > seen; exit 1'],
              interactiveMode: 'Never',
            },
          },
        },
      ],
      contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
      'current-context': 'c',
    }),
  })
  const run = await kleym([...question, '--kubeconfig', 'config'], { cwd, env })
  return {
    ...run,
    stderr: run.stderr.replaceAll(cwd, '.'),
    seen: readFileSync(join(cwd, 'seen'), 'utf8').trim(),
  }
}

describe('a question about a whole cluster', () => {
  test('begins anew without the last compiler, and nobody sees it', async () => {
    const anew = await seenBy(['conflicts', '-A'])
    const asItIs = await seenBy(['conflicts', '-A'], { BUN_JSC_useFTLJIT: '1' })
    expect([anew.seen, asItIs.seen]).toEqual(['0', '1'])
    expect({ ...anew, seen: '' }).toEqual({ ...asItIs, seen: '' })
  })

  test.each([[['conflicts', '-n', 'team-a']], [['explain', 'team-a/chat']]])('not %j', async (question) => {
    const { seen } = await seenBy(question)
    expect(seen).toBe('')
  })
})

describe('what lies in the folder is not obeyed', () => {
  test.each<[string, Readonly<Record<string, string>>]>([
    ['.env', { '.env': 'FORCE_COLOR=1\nCOLUMNS=160\n' }],
    ['bunfig.toml', { 'bunfig.toml': 'preload = ["./evil.js"]\n', 'evil.js': 'console.log("obeyed")' }],
  ])('%s', async (_, files) => {
    const plain = await kleym(QUESTION, { cwd: workspace(FILES) })
    expect(plain.code).toBe(0)
    expect(await kleym(QUESTION, { cwd: workspace({ ...FILES, ...files }) })).toEqual(plain)
  })
})

describe('its streams', () => {
  test('stdin that is a folder could not be read', () => {
    const { code, stderr } = runWith(['explain', '-A', '--offline', '-f', '-'], 'stdin', workspace({}))
    expect(code).toBe(4)
    expect(stderr).toMatch(/^error: cannot read stdin\n {2}why: {2}it is a folder\n/m)
  })

  test('stdout that takes nothing leaves the answer unwritten', () => {
    const { code, stderr } = runWith(['explain', 'KLM201'], 'stdout', PLUGIN)
    expect(code).toBe(4)
    expect(stderr).toMatch(/^error: the answer could not be written\n {2}why: {2}the system says EBADF\n/)
  })
})

describe('a bug', () => {
  // BUN_OPTIONS makes the executable run a file first: a way to break it that needs no other build.
  test.each([
    ['that is thrown', 'setTimeout(() => { throw new Error("broken \\u001b[2J") }, 0)', 'Error: broken'],
    [
      'that rejects',
      'setTimeout(() => { Promise.reject(new Error("broken \\u001b[2J")) }, 0)',
      'Error: broken',
    ],
    ['that is no error', 'setTimeout(() => { Promise.reject("broken \\u001b[2J") }, 0)', 'broken'],
  ])('%s is reported as every error is, without an excerpt of the source', async (_, fault, why) => {
    const cwd = workspace({ 'fault.cjs': fault })
    const env = { BUN_OPTIONS: `--preload=${join(cwd, 'fault.cjs')}` }
    const { code, stdout, stderr } = await kleym(['explain', '--offline', '-f', '-', '-A'], { cwd, env })
    expect(code).toBe(5)
    expect(stderr).toMatch(/^error: kleym has a bug and cannot answer\n {2}why: {2}/m)
    expect(stderr).toContain(`${why} \\x1b[2J`)
    expect(stdout + stderr).not.toMatch(/Bun v|\u001b|^ *\d+ \| /m)
  })

  test('has a stack in which functions have their names', async () => {
    const { stderr } = await kleym(['diff', '-v=6', '--nonsense'])
    expect(stderr).toMatch(/^ {4}at (?:async )?runProgram \(.*\d+:\d+\)$/m)
  })
})
