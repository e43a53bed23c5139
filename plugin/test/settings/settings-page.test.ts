// docs/settings.md as a new user follows it: two clusters with an SCM each, from a folder without settings to a job in CI.
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { printedBy } from '@kleym/testing/child-process.ts'
import { commandsRunBy } from '../../../scripts/docs/commands.ts'
import { CHAT_BINDING } from '../support/chat-world.ts'
import { PROJECT_ROOT } from '../support/estate.ts'
import { inProcess, type Ran } from '../support/in-process.ts'
import { workspace } from '../support/workspace.ts'

const APP = `${CHAT_BINDING}---
apiVersion: inference.networking.k8s.io/v1
kind: InferencePool
metadata: {name: llama, namespace: demo}
spec: {selector: {matchLabels: {app: llama}}, targetPorts: [{number: 8000}], endpointPickerRef: {name: epp, port: {number: 9002}}}
---
apiVersion: v1
kind: Namespace
metadata: {name: demo, labels: {kubernetes.io/metadata.name: demo}}
---
apiVersion: v1
kind: Pod
metadata: {name: llama-0, namespace: demo, uid: p1, labels: {app: llama}}
spec:
  serviceAccountName: runner
  containers: [{name: vllm, image: vllm, volumeMounts: [{name: spiffe, mountPath: /spiffe}]}]
  volumes: [{name: spiffe, csi: {driver: csi.spiffe.io, readOnly: true}}]
`

function platform(cluster: string, className: string): string {
  return `apiVersion: apps/v1
kind: Deployment
metadata: {name: kleym, namespace: kleym-system}
spec:
  selector: {matchLabels: {app: kleym}}
  template:
    metadata: {labels: {app: kleym}}
    spec:
      containers: [{name: kleym, image: kleym, args: [--trust-domain=${cluster}.example, --clusterspiffeid-class-name=${className}]}]
---
apiVersion: v1
kind: ConfigMap
metadata: {name: spire-controller-manager, namespace: spire-server}
data:
  controller-manager-config.yaml: |
    apiVersion: spire.spiffe.io/v1alpha1
    kind: ControllerManagerConfig
    trustDomain: ${cluster}.example
    className: ${className}
    clusterName: ${cluster}
`
}

const THEFT = `apiVersion: spire.spiffe.io/v1alpha1
kind: ClusterSPIFFEID
metadata: {name: thief}
spec: {className: spire, spiffeIDTemplate: 'spiffe://prod.example/ns/demo/objective/chat', podSelector: {matchLabels: {app: thief}}}
---
apiVersion: v1
kind: Pod
metadata: {name: thief, namespace: other, uid: p2, labels: {app: thief}}
spec: {serviceAccountName: x, containers: [{name: main, image: web}]}
---
apiVersion: v1
kind: Namespace
metadata: {name: other, labels: {kubernetes.io/metadata.name: other}}
`

const COMMANDS = commandsRunBy(PROJECT_ROOT, 'settings').map(({ command }) =>
  command.replace('kubectl kleym ', '').split(' '),
)

function isDiff([name]: readonly string[]): boolean {
  return name === 'diff'
}

test('every command of the page answers, and ends with 0', async () => {
  const root = await workspace({
    'platform/prod/platform.yaml': platform('prod', 'spire'),
    'platform/staging/platform.yaml': platform('staging', 'spire-next'),
    'apps/prod/app.yaml': APP,
    'apps/staging/app.yaml': APP,
  })
  const git = (...args: readonly string[]): void => {
    const identity = ['-c', 'user.name=x', '-c', 'user.email=x@example.org']
    printedBy('git', [...identity, ...args], { cwd: root })
  }
  git('init', '-q', '-b', 'main')
  const prodWithout = await inProcess(['conflicts', '-A', '--offline', '-R', '-f', 'apps/prod'], root)
  expect(prodWithout.stdout).toMatch(/^·[^]*assuming/)

  const ran: (readonly [string, Ran])[] = []
  for (const command of COMMANDS.filter((one) => !isDiff(one)))
    ran.push([command.join(' '), await inProcess(command, root)])
  git('add', '.')
  git('commit', '-q', '-m', 'before')
  git('worktree', 'add', '-q', '--detach', 'base', 'main')
  for (const command of COMMANDS.filter(isDiff)) ran.push([command.join(' '), await inProcess(command, root)])
  expect(ran.length).toBeGreaterThan(6)
  expect(ran.filter(([, { code }]) => code !== 0).map(([command, one]) => [command, one.stdout])).toEqual([])
  expect(ran.filter(([, { stdout }]) => !stdout.startsWith('√')).map(([command]) => command)).toEqual([])
  const written = await readFile(join(root, '.kleym.yaml'), 'utf8')
  expect(written).toMatch(
    /prod:\n {4}trustDomain: prod.example[^]*staging:\n {4}trustDomain: staging.example/,
  )

  // A pull request that edits the settings to hide its theft is judged by those from before.
  await writeFile(join(root, 'apps/prod/thief.yaml'), THEFT)
  await writeFile(join(root, '.kleym.yaml'), written.replaceAll('className: spire\n', 'className: none\n'))
  const prod = COMMANDS.find(isDiff) ?? []
  const { code, stdout } = await inProcess(prod, root)
  expect(stdout).toContain('KLM308')
  expect(stdout).toContain('KLM520')
  expect(code).toBe(1)
  // And a section that is there is never written over.
  const [write = []] = COMMANDS
  const again = await inProcess(write, root)
  expect([again.code, again.stderr]).toEqual([
    2,
    expect.stringContaining('has a section for the context prod'),
  ])
})
