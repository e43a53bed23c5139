// The quick start, literally: the commands of docs/quick-start.md in their order, by a shell with the real kubectl and Helm, on a
// real API server with the real SPIRE server and SCM. What needs a container engine or the network has a stand-in, which
// scripts/docs/commands.ts names with its reason; at the end the server must hold the entries that the page promises.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { until } from '@kleym/testing/wait.ts'
import { SCM_LAYOUTS } from '@kleym/testing/scm-layouts.ts'
import { commandsRunBy, documentedCommands, howRun } from '../../scripts/docs/commands.ts'
import { dig, stringAt, type JsonRecord } from '../../shared/src/core/base/json.ts'
import { startDeployed, type DeployedOperator } from '../control-plane/chart-operator.ts'
import { shellOn, type Shell } from '../control-plane/chart-shell.ts'
import { FIRST_BUILD_MS } from '../control-plane/client-binaries.ts'
import { DEFAULT_CONTROLLERS, startControlPlane, type ControlPlane } from '../control-plane/control-plane.ts'
import { namespace } from '../control-plane/objects.ts'
import { freePorts } from '../control-plane/ports.ts'
import { built } from '../e2e/plugin.ts'
import { ROOT } from '../house/files.ts'
import { CLUSTER_SPIFFE_ID, startSpire, TRUST_DOMAIN, type Spire } from './spire.ts'

const PAGE = 'docs/quick-start.md'
const TEXT = readFileSync(join(ROOT, PAGE), 'utf8')
const ALL = documentedCommands(ROOT).filter(({ page }) => page === PAGE)
/** Those that are typed here, and those whose work is done before: the build. The last one needs an agent: agent/try-it.test.ts. */
const TYPED = ALL.filter((one) => {
  const how = howRun(one)
  return how !== 'unaccounted' && 'by' in how && how.by !== 'tryIt'
}).map(({ command }) => command)

const CLASS = 'spire-mgmt-spire'
const NODE = 'kleym-control-plane'

let cp: ControlPlane
let spire: Spire
let shell: Shell
let operator: DeployedOperator | undefined
/** Takes the place of the ports of the chart, which another process of this machine may use. */
let ports = ''
beforeAll(async () => {
  await built()
  cp = await startControlPlane({
    // The page installs the kinds of the Gateway API Inference Extension alone.
    without: ['inferenceidentitybindings.kleym.sonda.red', 'inferenceobjectives.llm-d.ai'],
    controllers: [...DEFAULT_CONTROLLERS, 'deployment-controller', 'replicaset-controller'],
  })
  shell = await shellOn(cp)
  // In place of `kind create cluster` and of the charts of SPIRE.
  spire = await startSpire(cp, { className: CLASS, clusterName: 'kleym' })
  const [hardened] = SCM_LAYOUTS
  await cp.apply((hardened?.namespaces ?? []).map((name) => namespace(name)))
  await cp.apply([
    ...(hardened?.objects ?? []),
    fallback(),
    { apiVersion: 'v1', kind: 'Node', metadata: { name: NODE } },
  ])
  const [probes = 0, metrics = 0] = await freePorts(2)
  ports = `--set probes.port=${probes} --set metrics.port=${metrics}`
}, FIRST_BUILD_MS)
afterAll(() => cp?.stop())

/** The ClusterSPIFFEID that the hardened chart ships for every pod. */
function fallback(): JsonRecord {
  return {
    ...CLUSTER_SPIFFE_ID,
    metadata: { name: 'spire-mgmt-spire-default' },
    spec: {
      className: CLASS,
      fallback: true,
      hint: 'default',
      spiffeIDTemplate:
        'spiffe://{{ .TrustDomain }}/ns/{{ .PodMeta.Namespace }}/sa/{{ .PodSpec.ServiceAccountName }}',
    },
  }
}

/** Each pod of the page gets a node, as the scheduler would do. */
async function schedule(): Promise<void> {
  const pods = await until(async () => {
    const found = await cp.admin.list({ apiVersion: 'v1', kind: 'Pod', namespace: 'demo' })
    return found.length === 2 ? found : undefined
  }, 'the two pods of the Deployment')
  for (const pod of pods) {
    const name = stringAt(pod, 'metadata', 'name') ?? ''
    const input = JSON.stringify({
      apiVersion: 'v1',
      kind: 'Binding',
      metadata: { name },
      target: { apiVersion: 'v1', kind: 'Node', name: NODE },
    })
    const path = `/api/v1/namespaces/demo/pods/${name}/binding`
    const { status, stderr } = await cp.kubectl(['create', '--raw', path, '-f', '-'], { input })
    if (status !== 0) throw new Error(stderr)
  }
}

/** The operator runs in place of the Deployment's pod: that is reported as the kubelet would. */
async function reportReady(): Promise<void> {
  const pod = await until(
    async () => (await cp.admin.list({ apiVersion: 'v1', kind: 'Pod', namespace: 'kleym-system' }))[0],
    "the pod of the operator's Deployment",
  )
  const at = new Date().toISOString()
  const conditions = ['Ready', 'ContainersReady'].map((type) => ({
    type,
    status: 'True',
    lastTransitionTime: at,
  }))
  const patch = JSON.stringify({ status: { phase: 'Running', conditions } })
  const name = stringAt(pod, 'metadata', 'name') ?? ''
  const where = ['-n', 'kleym-system', '--subresource=status', '--type=merge']
  const { status, stderr } = await cp.kubectl(['patch', 'pod', name, ...where, '-p', patch])
  if (status !== 0) throw new Error(stderr)
  await until(async () => {
    const [deployment] = await cp.admin.list({
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      namespace: 'kleym-system',
    })
    return dig(deployment, 'status', 'availableReplicas') === 1
  }, "the operator's Deployment to be available")
}

/** What the page shows below each command: lines in their order; `...` stands for any. */
const SHOWN: ReadonlyMap<string, readonly string[]> = new Map(
  [...TEXT.matchAll(/^```console\n([\s\S]*?)^```/gm)]
    .flatMap(([, block = '']) => block.split(/^\$ /m).slice(1))
    .map((one) => one.trimEnd().split('\n'))
    .map(([command = '', ...lines]) => [command, lines.filter((text) => text !== '...')]),
)

/** The lines that the page shows and an output lacks, where they are looked for one after the other. */
function missingLines(wanted: readonly string[], output: string): readonly string[] {
  const lines = output.split('\n').map((text) => text.trimEnd())
  let from = 0
  return wanted.filter((text) => {
    const at = lines.findIndex((one, index) => index >= from && one.startsWith(text))
    if (at >= 0) from = at + 1
    return at < 0
  })
}

test('every command of the page that can run here does what the page says', async () => {
  // The build is that of `built`, and of the operator beside it.
  const commands = TYPED.filter((command) => command !== 'npm run build')
  expect(commands.length).toBeGreaterThan(8)
  expect(commands.flatMap((command) => SHOWN.get(command) ?? []).length).toBeGreaterThan(20)
  const exported: string[] = []
  let seconds = 0
  for (const command of commands) {
    if (command.startsWith('export ')) {
      exported.push(command)
      continue
    }
    const began = performance.now()
    const typed = command.startsWith('helm install kleym ') ? `${command} ${ports}` : command
    const { status, stdout, stderr } = await shell([...exported, typed].join('\n'))
    seconds += (performance.now() - began) / 1000
    expect({ command, status, stdout, stderr }).toMatchObject({
      status: command.includes(' diff ') ? 1 : 0,
      stderr: '',
    })
    expect({ command, missing: missingLines(SHOWN.get(command) ?? [], stdout), stdout }).toMatchObject({
      missing: [],
    })
    if (command.startsWith('helm install kleym ')) {
      operator = await startDeployed(cp, 'kleym-system')
      await operator.leads()
      await reportReady()
    }
    if (command.includes('model-server.yaml')) {
      await schedule()
      await spire.settled()
    }
  }
  process.stdout.write(`the commands of ${PAGE} that were run took ${seconds.toFixed(1)} s\n`)
})

test('the server holds the entry of each pod, as the last command of the page would show it', async () => {
  const [, promised = ''] = /^SPIFFE ID:\s+(spiffe:\S+)$/m.exec(TEXT) ?? []
  expect(promised).toBe(`spiffe://${TRUST_DOMAIN}/ns/demo/objective/chat`)
  const pods = await cp.admin.list({ apiVersion: 'v1', kind: 'Pod', namespace: 'demo' })
  const held = (await spire.settled()).filter(({ spiffeId }) => spiffeId === promised)
  const wanted = pods.map((pod) =>
    [
      'k8s:container-name:server',
      'k8s:ns:demo',
      'k8s:pod-label:app:llama',
      `k8s:pod-uid:${stringAt(pod, 'metadata', 'uid') ?? ''}`,
      'k8s:sa:llama',
    ].join(' '),
  )
  expect(wanted).toHaveLength(2)
  expect(new Set(held.map(({ selectors }) => selectors.join(' ')))).toEqual(new Set(wanted))
})

test('the binding of the page is the file that its commands apply', () => {
  const file = readFileSync(join(ROOT, 'examples/quick-start/binding.yaml'), 'utf8')
  const [, shown = ''] = /```yaml\n([\s\S]*?)```/.exec(TEXT) ?? []
  expect(file.replace(/^#.*\n/gm, '')).toBe(shown)
})

test('the page says how many commands it has', () => {
  expect(/: (\d+) commands, about/.exec(TEXT)?.[1]).toBe(String(ALL.length))
})

test('other pages that install or upgrade with Helm do what this one did', async () => {
  const others = commandsRunBy(ROOT, 'quickStart').filter(({ page }) => page !== PAGE)
  expect(others.length).toBeGreaterThan(1)
  for (const { page, command } of others) {
    // A second install would be refused: the same values as an upgrade of the first.
    const typed = command
      .replace('helm install ', 'helm upgrade --install ')
      .replace(/charts\/kleym\b/, `charts/kleym ${ports}`)
    const { status, stdout, stderr } = await shell(typed)
    expect({ page, command, status, stderr, stdout }).toMatchObject({ status: 0, stderr: '' })
    expect(stdout).toContain('acts on this class')
  }
})
