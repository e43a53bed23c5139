// Completion as kubectl asks for it: the real kubectl runs what `kubectl kleym completion install` wrote, which runs the
// executable that ships, which asks a real API server, as a user who may list things and as a user who may not.
import { spawn } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { JsonRecord } from '../../shared/src/core/base/json.ts'
import { built, PLUGIN } from '../e2e/plugin.ts'
import { ended, type Ended } from '@kleym/testing/child-process.ts'
import { ensureBinaries } from './binaries.ts'
import { startControlPlane, type ControlPlane } from './control-plane.ts'
import { writeKubeconfig } from './credentials.ts'

const [NOBODY, VIEWER] = ['nobody', 'viewer']

let cp: ControlPlane
let kubectl: string
/** A folder with kubectl-kleym and the completion script in it, as krew's `bin` is. */
let bin: string
/** Kubeconfigs by user; their context is in team-a. */
let configs: Readonly<Record<string, string>>

beforeAll(async () => {
  await built()
  const binaries = await ensureBinaries()
  if (!binaries.available) throw new Error(binaries.why)
  kubectl = binaries.programs.kubectl
  cp = await startControlPlane({ users: [{ name: NOBODY }, { name: VIEWER }] })
  bin = join(cp.folder, 'krew-bin')
  mkdirSync(bin)
  symlinkSync(PLUGIN, join(bin, 'kubectl-kleym'))
  configs = Object.fromEntries(['admin', NOBODY, VIEWER].map((user) => [user, kubeconfigOf(user)]))
  await cp.apply(objects())
  const { status, stderr } = await run('kubectl-kleym', ['completion', 'install'])
  if (status !== 0) throw new Error(`the completion script could not be installed: ${stderr}`)
})
afterAll(() => cp?.stop())

function kubeconfigOf(user: string): string {
  const file = join(cp.folder, `completion-${user}`)
  writeKubeconfig(file, { server: cp.server, ca: cp.ca, user, token: cp.tokenOf(user), namespace: 'team-a' })
  return file
}

function inNamespace(namespace: string, name: string): JsonRecord {
  return { namespace, name }
}

function objects(): readonly JsonRecord[] {
  const binding = (namespace: string, name: string): JsonRecord => ({
    apiVersion: 'kleym.sonda.red/v1alpha1',
    kind: 'InferenceIdentityBinding',
    metadata: inNamespace(namespace, name),
    spec: { mode: 'PoolOnly', poolRef: { name: 'llama' }, serviceAccountName: 'runner' },
  })
  const spec = {
    selector: { matchLabels: { app: 'llama' } },
    template: {
      metadata: { labels: { app: 'llama' } },
      spec: { containers: [{ name: 'vllm', image: 'vllm' }] },
    },
  }
  const namespaces = ['team-a', 'team-b'].map((name) => ({
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name },
  }))
  return [
    ...namespaces,
    {
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: inNamespace('team-a', 'runner'),
    },
    binding('team-a', 'chat'),
    binding('team-a', 'batch'),
    binding('team-b', 'search'),
    {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: inNamespace('team-a', 'llama-0'),
      spec: { serviceAccountName: 'runner', containers: [{ name: 'vllm', image: 'vllm' }] },
    },
    { apiVersion: 'apps/v1', kind: 'Deployment', metadata: inNamespace('team-a', 'llama'), spec },
    {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'Role',
      metadata: inNamespace('team-a', 'names'),
      rules: [{ apiGroups: ['kleym.sonda.red'], resources: ['inferenceidentitybindings'], verbs: ['list'] }],
    },
    {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'RoleBinding',
      metadata: inNamespace('team-a', 'names'),
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'names' },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: VIEWER }],
    },
  ]
}

/** Runs a program with `bin` first on PATH, and a kubeconfig of admin unless told otherwise. */
function run(
  file: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<Ended> {
  const path = `${bin}:${process.env['PATH'] ?? ''}`
  return ended(
    spawn(file === 'kubectl-kleym' ? join(bin, file) : file, args, {
      env: { PATH: path, HOME: cp.folder, KUBECONFIG: configs['admin'] ?? '', ...env },
    }),
  )
}

/** What kubectl offers for a command line after `kubectl kleym`: candidates without descriptions, and the directive. */
async function completed(line: string, user = 'admin'): Promise<readonly string[]> {
  const env = { KUBECONFIG: configs[user] ?? '' }
  const { status, stdout } = await run(kubectl, ['__complete', 'kleym', ...line.split(' ')], env)
  expect(status).toBe(0)
  return stdout
    .trimEnd()
    .split('\n')
    .map((text) => text.split('\t', 1)[0] ?? '')
}

describe('kubectl __complete kleym', () => {
  test.each([
    ['ex', ['explain', ':4']],
    ['explain --offl', ['--offline', ':4']],
    ['explain ', ['batch', 'chat', ':4']],
    ['explain c', ['chat', ':4']],
    ['explain -A ', ['team-a/batch', 'team-a/chat', 'team-b/search', ':4']],
    ['explain -n team-b ', ['search', ':4']],
    ['explain team-b/', ['team-b/search', ':4']],
    ['explain KLM201', ['KLM201', ':4']],
    ['who-selects po', ['pod/', ':6']],
    ['who-selects pod/', ['pod/llama-0', ':4']],
    ['who-selects deploy/', ['deploy/llama', ':4']],
    ['who-selects sts/', [':4']],
    ['conflicts -n team', ['team-a', 'team-b', ':4']],
    ['conflicts -f ', ['json', 'yaml', 'yml', ':8']],
    ['explain --offline ', [':4']],
  ])('%j, as admin', async (line, expected) => {
    expect(await completed(line)).toEqual(expected)
  })

  test.each([
    ['explain ', ['batch', 'chat', ':4']],
    ['explain -A ', [':4']],
    ['explain team-b/', [':4']],
    ['who-selects pod/', [':4']],
    ['conflicts -n ', [':4']],
  ])('%j, as a user who may list the bindings of one namespace', async (line, expected) => {
    expect(await completed(line, VIEWER)).toEqual(expected)
  })

  test.each([
    ['explain ', [':4']],
    ['explain KLM201', ['KLM201', ':4']],
    ['who-selects pod/', [':4']],
    ['conflicts -n ', [':4']],
    ['conflicts --context ', ['test', ':4']],
    ['explain --fail-on w', ['warning', ':36']],
  ])('%j, as a user who may list nothing', async (line, expected) => {
    expect(await completed(line, NOBODY)).toEqual(expected)
  })

  test('completes as whom the command line says', async () => {
    expect(await completed(`explain --as ${VIEWER} `)).toEqual(['batch', 'chat', ':4'])
    expect(await completed(`explain --as ${NOBODY} `)).toEqual([':4'])
    expect(await completed(`explain --kubeconfig ${configs[NOBODY] ?? ''} `)).toEqual([':4'])
  })

  test('prints nothing but kubectl does where names cannot be had, and says why to the debug file', async () => {
    const log = join(cp.folder, 'completion-debug')
    const env = { KUBECONFIG: configs[NOBODY] ?? '', BASH_COMP_DEBUG_FILE: log }
    const asked = await run('kubectl-kleym', ['__complete', 'explain', ''], env)
    expect(asked).toEqual({ status: 0, signal: null, stdout: ':4\n', stderr: '' })
    expect(readFileSync(log, 'utf8')).toMatch(/list inferenceidentitybindings: .*forbidden/)
  })

  test('asks for nothing but metadata, in one request', async () => {
    const since = await cp.auditMark()
    await completed('explain ')
    const calls = await cp.audit({ since, user: 'admin', resource: 'inferenceidentitybindings' })
    expect(calls.map(({ verb, namespace }) => [verb, namespace])).toEqual([['list', 'team-a']])
  })

  test('works through a link of that name as well as through the script', async () => {
    rmSync(join(bin, 'kubectl_complete-kleym'))
    symlinkSync('kubectl-kleym', join(bin, 'kubectl_complete-kleym'))
    expect(await completed('explain ')).toEqual(['batch', 'chat', ':4'])
  })
})

describe('an API server that has stopped answering', () => {
  test('is not waited for: there are no names, and the flags are there', async () => {
    await cp.pauseApiServer()
    try {
      expect(await completed('explain ')).toEqual([':4'])
      expect(await completed('explain --offl')).toEqual(['--offline', ':4'])
    } finally {
      await cp.resumeApiServer()
    }
  })
})
