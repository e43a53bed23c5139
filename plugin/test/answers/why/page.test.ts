// The example on docs/no-svid.md is what the command prints: the page is held against a run on files.
import { readFileSync, writeFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import {
  isPod,
  serverWorkload,
  statusOf,
  workloadStatus,
  agentConfig,
  agentPodOn,
  type Draft,
  type DraftPod,
} from '@kleym/testing/why-world.ts'
import { PROJECT_ROOT } from '../../support/estate.ts'
import { inProcess } from '../../support/in-process.ts'

const CLASS = 'spire-mgmt-spire'
const MOUNT = '/spiffe-workload-api'

const POD: DraftPod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'llama-0', namespace: 'team-a', labels: { app: 'llama' } },
  spec: {
    nodeName: 'n1',
    serviceAccountName: 'runner',
    containers: [
      {
        name: 'vllm',
        image: 'registry.example/vllm:1',
        volumeMounts: [{ name: 'spiffe', mountPath: MOUNT }],
      },
    ],
    volumes: [{ name: 'spiffe', csi: { driver: 'csi.spiffe.io', readOnly: true } }],
  },
}
/** Its registration has no class, and SCM handles one. */
const OBJECTS: readonly (Draft | DraftPod)[] = [
  { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1' } },
  { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'team-a' } },
  agentConfig('agent'),
  agentPodOn('n1', 'agent'),
  serverWorkload(),
  {
    apiVersion: 'spire.spiffe.io/v1alpha1',
    kind: 'ClusterSPIFFEID',
    metadata: { name: 'llama' },
    spec: {
      spiffeIDTemplate: 'spiffe://example.org/ns/{{ .PodMeta.Namespace }}/llama',
      podSelector: { matchLabels: { app: 'llama' } },
    },
  },
  POD,
]

test('the example of the page is printed by its command', async () => {
  const page = readFileSync(join(PROJECT_ROOT, 'docs/no-svid.md'), 'utf8')
  const [, command = '', shown] =
    /```sh\nkubectl kleym (why .*)\n```\n\n```text\n([\s\S]*?)```/.exec(page) ?? []
  const folder = mkdtempSync(join(tmpdir(), 'kleym-why-page-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const items = OBJECTS.map((one, at) => ({
    ...one,
    metadata: { ...one.metadata, uid: `uid-${at}`, creationTimestamp: '2026-01-01T00:00:00Z' },
    ...(isPod(one) && { status: statusOf(one) }),
    ...(one.kind === 'StatefulSet' && { status: workloadStatus(1) }),
  }))
  writeFileSync(join(folder, 'cluster.json'), JSON.stringify({ apiVersion: 'v1', kind: 'List', items }))
  const scm = { apiVersion: 'spire.spiffe.io/v1alpha1', kind: 'ControllerManagerConfig', className: CLASS }
  writeFileSync(
    join(folder, 'scm.json'),
    JSON.stringify({ ...scm, clusterName: 'prod', trustDomain: 'example.org', ignoreNamespaces: [] }),
  )
  const files = [
    '--offline',
    '-f',
    'cluster.json',
    '--scm-config',
    'scm.json',
    '--trust-domain',
    'example.org',
  ]
  const { stdout, code } = await inProcess([...command.split(' '), ...files], folder, { COLUMNS: '80' })
  expect(code).toBe(1)
  // The hops follow, after an empty line.
  expect(shown).toBe(`${stdout.split('\n\n')[0] ?? ''}\n`)
})
