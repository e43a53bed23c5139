// Which labels of a Namespace an apply leaves, on a real API server with the real kubectl, and what `diff` has said of it before.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { dig } from '../../shared/src/core/base/json.ts'
import { startControlPlane, type ControlPlane } from './control-plane.ts'
import { kubectlKleym } from './kubectl-kleym.ts'

const SERVER_SIDE = ['apply', '--server-side', '-f', '-']
const APPLY = ['apply', '-f', '-']
const CREATE = ['create', '-f', '-']

const SCM = `apiVersion: spire.spiffe.io/v1alpha1
kind: ControllerManagerConfig
className: scm
clusterName: c
trustDomain: acme.example
`

let cp: ControlPlane
beforeAll(async () => {
  cp = await startControlPlane({ controllers: [] })
  writeFileSync(join(cp.folder, 'scm.yaml'), SCM)
  await cp.apply([
    { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1' } },
    {
      apiVersion: 'spire.spiffe.io/v1alpha1',
      kind: 'ClusterSPIFFEID',
      metadata: { name: 'x' },
      spec: {
        className: 'scm',
        spiffeIDTemplate: 'spiffe://acme.example/x',
        namespaceSelector: { matchLabels: { spiffe: 'on' } },
      },
    },
  ])
})
afterAll(() => cp?.stop())

function manifest(name: string, labels: object): string {
  return JSON.stringify({ apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } })
}

const LABEL = { spiffe: 'on' }
const OTHER = { team: 'a' }

test.each([
  ['applied-and-labelled', APPLY, OTHER, true, APPLY, 0, true],
  ['applied', APPLY, LABEL, false, APPLY, 1, false],
  ['applied-on-the-server-and-labelled', SERVER_SIDE, OTHER, true, SERVER_SIDE, 0, true],
  ['applied-on-the-server', SERVER_SIDE, LABEL, false, SERVER_SIDE, 1, false],
  ['created', CREATE, LABEL, false, APPLY, 4, true],
  ['created-and-labelled', CREATE, OTHER, true, SERVER_SIDE, 4, true],
] as const)('a Namespace that was %s', async (name, first, labels, isLabelled, next, code, stays) => {
  const run = async (args: readonly string[], input?: string): Promise<void> => {
    const { status, stderr } = await cp.kubectl(args, input === undefined ? {} : { input })
    expect(stderr.replaceAll(/^Warning: .*\n/gm, '')).toBe('')
    expect(status).toBe(0)
  }
  await run(first, manifest(name, labels))
  if (isLabelled) await run(['label', 'namespace', name, 'spiffe=on'])
  await cp.apply([
    {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'p', namespace: name },
      spec: { nodeName: 'n1', serviceAccountName: 'default', containers: [{ name: 'c', image: 'i' }] },
    },
  ])
  const file = manifest(name, { owner: 'a' })
  const said = await kubectlKleym(cp, ['diff', '-n', name, '-f', '-', '--scm-config', 'scm.yaml'], {
    stdin: file,
  })
  expect([said.code, said.stdout, said.stderr]).toEqual([code, expect.any(String), expect.any(String)])
  await run(next, file)
  const live = await cp.admin.get({ apiVersion: 'v1', kind: 'Namespace', name })
  expect(dig(live, 'metadata', 'labels', 'spiffe')).toBe(stays ? 'on' : undefined)
})
