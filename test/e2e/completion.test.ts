// Completion by the executable that ships: asked directly, through a link of kubectl's name for it, and through the
// script that `completion install` writes. That nothing but the lines of the protocol comes out, and that it ends.
import { chmodSync, readFileSync, symlinkSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { runToEnd } from '@kleym/testing/child-process.ts'
import { built, kleym, PLUGIN, type Run } from './plugin.ts'
import { workspace } from './workspace.ts'

beforeAll(built)

const NAME = 'kubectl_complete-kleym'
const ASKED = ['explain', '--fail-on', 'w']
const ANSWER = { code: 0, stdout: 'warning\n:36\n', stderr: '' }

function runFile(
  file: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Pick<Run, 'code' | 'stdout' | 'stderr'> {
  const { status, stdout, stderr } = runToEnd(file, args, { env })
  return { code: status, stdout, stderr }
}

/** A folder with a link to kubectl-kleym, as krew makes one. */
function krewBin(): string {
  const bin = workspace({})
  symlinkSync(PLUGIN, join(bin, 'kubectl-kleym'))
  return bin
}

describe('asked directly', () => {
  test.each<[string, readonly string[], string]>([
    ['a command', ['conf'], 'conflicts\tWhat clashes?\n:4\n'],
    ['a value', ASKED, ANSWER.stdout],
    ['files', ['explain', '--offline', '-Rf', ''], 'json\nyaml\nyml\n:8\n'],
    ['a question for help, which is for a person', ['explain', '--help', ''], ':4\n'],
    ['words that end', ['explain', '--', '--offl'], ':4\n'],
    ['a wrong command line', ['explain', '--nonsense', '--fail-on', 'x'], ':36\n'],
  ])('%s', async (_, words, expected) => {
    const { code, stdout, stderr } = await kleym(['__complete', ...words], { env: { HOME: workspace({}) } })
    expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: expected, stderr: '' })
  })

  test('no words at all: every command', async () => {
    const { stdout } = await kleym(['__complete'])
    expect(stdout).toMatch(/^explain\t.*\n(?:.*\n)+help\t.*\n:4\n$/)
  })
})

describe('under the name by which kubectl looks for it', () => {
  test('a link to the plugin completes', () => {
    const bin = krewBin()
    symlinkSync('kubectl-kleym', join(bin, NAME))
    expect(runFile(join(bin, NAME), ASKED, {})).toEqual(ANSWER)
  })

  test('the script that it prints completes', async () => {
    const { stdout } = await kleym(['completion', 'script'])
    const bin = krewBin()
    const script = join(workspace({ [NAME]: stdout }), NAME)
    chmodSync(script, 0o755)
    const path = [bin, process.env['PATH'] ?? ''].join(delimiter)
    expect(runFile(script, ASKED, { PATH: path })).toEqual(ANSWER)
  })

  test('the script says nothing where the plugin is gone', async () => {
    const { stdout } = await kleym(['completion', 'script'])
    const script = join(workspace({ [NAME]: stdout }), NAME)
    chmodSync(script, 0o755)
    expect(runFile(script, ASKED, { PATH: '/usr/bin:/bin' })).toMatchObject({ stdout: '', stderr: '' })
  })
})

/** A credential plugin that never answers, and notes its process. */
const HANGING = '#!/bin/sh\necho $$ > "$(dirname "$0")/pid"\nexec sleep 600\n'

const KUBECONFIG = `current-context: dev
clusters: [{name: c, cluster: {server: "https://127.0.0.1:1"}}]
contexts: [{name: dev, context: {cluster: c, user: u}}]
users:
- name: u
  user: {exec: {apiVersion: client.authentication.k8s.io/v1, command: ./hang, interactiveMode: Never}}
`

describe('a shell is never kept waiting', () => {
  test('by a credential plugin that does not end', async () => {
    const folder = workspace({ config: KUBECONFIG, hang: HANGING })
    chmodSync(join(folder, 'hang'), 0o755)
    onTestFinished(() => {
      process.kill(Number(readFileSync(join(folder, 'pid'), 'utf8')))
    })
    const env = { KUBECONFIG: join(folder, 'config') }
    const { code, stdout, stderr } = await kleym(['__complete', 'explain', ''], { env })
    expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: ':4\n', stderr: '' })
  })

  test('by a server that is not there', async () => {
    const folder = workspace({ config: KUBECONFIG.replace(/exec: \{.*\}\}/, 'token: t}') })
    const env = { KUBECONFIG: join(folder, 'config'), BASH_COMP_DEBUG_FILE: join(folder, 'debug') }
    const { code, stdout, stderr } = await kleym(['__complete', 'explain', ''], { env })
    expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: ':4\n', stderr: '' })
    expect(readFileSync(join(folder, 'debug'), 'utf8')).toMatch(/^kubectl-kleym: list .*ECONNREFUSED/m)
  })

  test('by a kubeconfig that is none', async () => {
    const folder = workspace({ config: '{' })
    const { code, stdout, stderr } = await kleym(['__complete', 'explain', '--context', ''], {
      env: { KUBECONFIG: join(folder, 'config') },
    })
    expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: ':4\n', stderr: '' })
  })
})
