// The commands of the pages that ask a cluster, run as they stand by a shell with the real kubectl and the plugin: on a real API server
// with the estate of the examples, and the operator as the README starts it. What the reader fills in is filled in.
import { spawn } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ended } from '@kleym/testing/child-process.ts'
import { until } from '@kleym/testing/wait.ts'
import { commandsRunBy } from '../../scripts/docs/commands.ts'
import { stringAt, type JsonRecord } from '../../shared/src/core/base/json.ts'
import { ROOT } from '../house/files.ts'
import { shellOn } from './chart-shell.ts'
import { FIRST_BUILD_MS } from './client-binaries.ts'
import { startControlPlane, type ControlPlane } from './control-plane.ts'
import { applyEstate } from './examples.ts'
import { DIST } from './kubectl-kleym.ts'
import { conditionOf } from './objects.ts'
import { freePorts } from './ports.ts'

const BINDING = { apiVersion: 'kleym.sonda.red/v1alpha1', kind: 'InferenceIdentityBinding' } as const
const OPERATOR = 'dist/kleym-operator '
const COMMANDS = commandsRunBy(ROOT, 'cluster')
const TYPED = COMMANDS.filter(({ command }) => !command.startsWith(OPERATOR))
/** The class of the estate's SCM. */
const CLASS = 'spire-mgmt-spire'
/** A command asks for no more than the whole cluster; the machine may be busy. */
const COMMAND_MS = 120_000

let cp: ControlPlane
let folder: string
let pod = ''
beforeAll(async () => {
  cp = await startControlPlane()
  await applyEstate(cp)
  await cp.apply(installed())
  const pods = await cp.admin.list({ apiVersion: 'v1', kind: 'Pod', namespace: 'team-a' })
  pod =
    pods.map((one) => stringAt(one, 'metadata', 'name') ?? '').find((name) => name.startsWith('llama')) ?? ''
  await shellOn(cp)
  // Commands write files beside them.
  folder = join(cp.folder, 'reader')
  mkdirSync(folder)
  for (const name of ['charts', 'examples']) cpSync(join(ROOT, name), join(folder, name), { recursive: true })
  // What the reader has exported from Vault (docs/names.md).
  const role = { bound_subject: 'spiffe://example.org/ns/team-a/objective/chat' }
  writeFileSync(join(folder, 'vault-role.json'), JSON.stringify(role))
  // The reader works in the namespace of their team.
  const { status, stderr } = await sh('kubectl config set-context --current --namespace=team-a')
  if (status !== 0) throw new Error(stderr)
}, FIRST_BUILD_MS)
afterAll(() => cp?.stop())

/** What charts and docs/ci.md make, and the estate leaves out. */
function installed(): readonly JsonRecord[] {
  const namespace = 'kleym-system'
  const rbac = 'rbac.authorization.k8s.io'
  const lease = { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['get', 'update'] }
  return [
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'kleym-ci', namespace } },
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'kleym-operator', namespace } },
    { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name: 'kleym-operator', namespace } },
    {
      apiVersion: `${rbac}/v1`,
      kind: 'Role',
      metadata: { name: 'kleym-operator', namespace },
      rules: [{ ...lease, resourceNames: ['kleym-operator'] }],
    },
    {
      apiVersion: `${rbac}/v1`,
      kind: 'RoleBinding',
      metadata: { name: 'kleym-operator', namespace },
      roleRef: { apiGroup: rbac, kind: 'Role', name: 'kleym-operator' },
      subjects: [{ kind: 'ServiceAccount', name: 'kleym-operator', namespace }],
    },
    ...['kleym', 'agent'].map((name) => ({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name, namespace, labels: { 'app.kubernetes.io/name': name } },
      spec: { serviceAccountName: 'kleym-operator', containers: [{ name, image: `${name}:1` }] },
    })),
  ]
}

let kubeconfig: string | undefined

/** Runs a line as a person would, with the plugin on the PATH. */
function sh(line: string): ReturnType<typeof ended> {
  kubeconfig ??= cp.kubeconfig()
  const env = {
    PATH: `${DIST}:${join(cp.folder, 'bin')}:${process.env['PATH'] ?? ''}`,
    HOME: cp.folder,
    KUBECONFIG: kubeconfig,
  }
  return ended(
    spawn('sh', ['-c', line], { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] }),
    '',
    COMMAND_MS,
  )
}

/** What stands for something of the reader, with that of the estate in its place. */
function filledIn(command: string): string {
  return command
    .replace(/\bpod\/NAME\b|(?<=\bget pod )NAME\b/, (text) => (text === 'NAME' ? pod : `pod/${pod}`))
    .replace('pod llama-0', `pod ${pod}`)
    .replace('why llama-0', `why ${pod}`)
    .replace('--agent-log agent.log', '--selectors k8s:ns:team-a')
    .replaceAll(/\bNAME\b(?!:)/g, 'chat')
    .replaceAll(/\bTEAM\b/g, 'team-a')
    .replace(/-f pr\/(?=\s|$)/, '-f examples/changes/add-collision')
    .replace(/-f manifests(?=\s|$)/, '-f examples/estate/team-a')
    .replace('clusterspiffeid/inference', 'clusterspiffeid/mesh')
    .replace(/(?<=(?:--tests|kleym test) )tests$/, 'examples/identity-tests')
    .replace('--entries entries.json', '--entries examples/server/entries.json')
    .replace(/ identities\.yaml$/, ' examples/identity-tests/estate.yaml')
}

/** 0 nothing to report, 1 findings or differences, 4 something that was not given or not read. */
function allowed(command: string): readonly number[] {
  if (/\bkubectl kleym /.test(command)) return [0, 1, 4]
  // grep ends with 1 where no line fits.
  return /\| grep /.test(command) ? [0, 1] : [0]
}

describe('the operator, as the README starts it', () => {
  test('writes outputs that the SCM of the estate acts on, and judges every binding', async () => {
    const [{ command } = { command: '' }, ...others] = COMMANDS.filter((one) =>
      one.command.startsWith(OPERATOR),
    )
    expect(others).toEqual([])
    const [probes = 0, metrics = 0] = await freePorts(2)
    await cp.start({
      name: 'readme-operator',
      command: join(ROOT, 'dist/kleym-operator'),
      // Other processes of this machine may use its own ports.
      args: [
        ...command.slice(OPERATOR.length).split(' '),
        `--health-probe-bind-address=127.0.0.1:${probes}`,
        `--metrics-bind-address=127.0.0.1:${metrics}`,
      ],
      env: { KUBECONFIG: cp.kubeconfig() },
    })
    const bindings = await until(async () => {
      const all = await cp.admin.list(BINDING)
      return all.every((one) => conditionOf(one, 'Ready') !== undefined) ? all : undefined
    }, 'the operator to have judged every binding')
    expect(bindings.length).toBeGreaterThan(10)
    const ready = bindings.filter((one) => stringAt(conditionOf(one, 'Ready'), 'status') === 'True')
    expect(ready.length).toBeGreaterThan(6)
    // No binding of the estate is left open for a setting that the command does not give.
    const reasons = bindings.map((one) => stringAt(conditionOf(one, 'Ready'), 'reason'))
    expect(reasons).not.toContain('Undetermined')
    const outputs = (
      await cp.admin.list({ apiVersion: 'spire.spiffe.io/v1alpha1', kind: 'ClusterSPIFFEID' })
    ).filter((one) => stringAt(one, 'metadata', 'name')?.startsWith('kleym-') === true)
    expect(outputs.length).toBeGreaterThanOrEqual(ready.length)
    const managed = outputs.filter(
      (one) => stringAt(one, 'metadata', 'labels', 'kleym.sonda.red/managed-by') === 'kleym',
    )
    expect(new Set(managed.map((one) => stringAt(one, 'spec', 'className')))).toEqual(new Set([CLASS]))
    expect(readFileSync(join(ROOT, 'examples/estate/platform/spire.yaml'), 'utf8')).toContain(
      `className: ${CLASS}`,
    )
  })
})

describe('commands of the pages', () => {
  const lines = [...new Map(TYPED.map(({ page, command }) => [command, page]))]

  test('there are many', () => {
    expect(lines.length).toBeGreaterThan(40)
  })

  test.each(lines)('`%s` (%s)', async (command) => {
    const line = filledIn(command)
    const { status, stdout, stderr } = await sh(line)
    expect({
      line,
      status: allowed(command).includes(status ?? -1) ? 'fine' : status,
      stdout,
      stderr,
    }).toMatchObject({
      status: 'fine',
    })
    expect(stderr).not.toMatch(/^error:/im)
    const [, file] = / > (\S+)$/.exec(line) ?? []
    const answer = file === undefined ? stdout : readFileSync(join(folder, file), 'utf8')
    // A filter may leave nothing; an answer of kleym or kubectl itself is never empty.
    expect(answer !== '' || line.includes('|')).toBe(true)
  })
})
