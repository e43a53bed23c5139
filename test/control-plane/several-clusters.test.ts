// `conflicts` of two real clusters with one trust domain: one binding in each, and two tenants behind one SPIFFE ID.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { parse, stringify } from 'yaml'
import { listAt, own, type JsonRecord } from '../../shared/src/core/base/json.ts'
import { requireValidReport } from '../../plugin/test/support/report-check.ts'
import { built } from '../e2e/plugin.ts'
import type { ControlPlane } from './control-plane.ts'
import { startControlPlane } from './control-plane.ts'
import { installAndWait } from './crds.ts'
import { kubectlKleym, type PluginRun } from './kubectl-kleym.ts'
import { estate, namespace, pool, poolOnly } from './objects.ts'

const ID = 'spiffe://example.org/ns/team-a/pool/llama'
/** No object of these clusters tells them. */
const SETTINGS = ['--trust-domain', 'example.org', '--clusterspiffeid-class-name', 'kleym']
/** As Gateway API Inference Extension v1.6.0 has it, without the descriptions. */
const IMPORT_CRD: JsonRecord = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'inferencepoolimports.inference.networking.x-k8s.io' },
  spec: {
    group: 'inference.networking.x-k8s.io',
    scope: 'Namespaced',
    names: {
      kind: 'InferencePoolImport',
      listKind: 'InferencePoolImportList',
      plural: 'inferencepoolimports',
      singular: 'inferencepoolimport',
    },
    versions: [
      {
        name: 'v1alpha1',
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: { status: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
          },
        },
      },
    ],
  },
}

let east: ControlPlane
let west: ControlPlane
let kubeconfig: string
beforeAll(async () => {
  await built()
  ;[east, west] = await Promise.all([startControlPlane(), startControlPlane()])
  await east.apply([...estate('team-a'), poolOnly('team-a', 'llama')])
  await west.apply([namespace('team-a')])
  kubeconfig = join(east.folder, 'two-clusters')
  writeFileSync(kubeconfig, stringify(merged({ east, west })), { mode: 0o600 })
})
afterAll(() => Promise.all([east?.stop(), west?.stop()]))

/** One kubeconfig with a context for each cluster, of its name. */
function merged(clusters: Readonly<Record<string, ControlPlane>>): JsonRecord {
  const parts = Object.entries(clusters).map(([name, cp]) => {
    const config: unknown = parse(readFileSync(cp.kubeconfig(), 'utf8'))
    const one = (field: string, key: string): unknown => own(listAt(config, field)[0], key)
    return {
      cluster: { name, cluster: one('clusters', 'cluster') },
      user: { name, user: one('users', 'user') },
      context: { name, context: { cluster: name, user: name } },
    }
  })
  return {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'east',
    clusters: parts.map(({ cluster }) => cluster),
    users: parts.map(({ user }) => user),
    contexts: parts.map(({ context }) => context),
  }
}

function compare(...more: readonly string[]): Promise<PluginRun> {
  const contexts = ['--context', 'east', '--context', 'west']
  return kubectlKleym(east, ['conflicts', ...contexts, ...SETTINGS, ...more], { kubeconfig })
}

test('one ID in two clusters is found once the second gives it, and the pool that it imports is named until then', async () => {
  await installAndWait(west.admin, IMPORT_CRD)
  await west.apply([
    {
      apiVersion: 'inference.networking.x-k8s.io/v1alpha1',
      kind: 'InferencePoolImport',
      metadata: { name: 'llama', namespace: 'team-a' },
      status: { controllers: [{ name: 'example.net/c', exportingClusters: [{ name: 'eu-1' }] }] },
    },
  ])
  const before = await compare()
  expect(before.stdout).toContain('no SPIFFE ID is')
  expect(before.stdout.replaceAll(/\s+/g, ' ')).toContain(
    `imports pool team-a/llama, exported by eu-1: no pod of it is here; its pods are in east and hold ${ID}`,
  )
  await west.apply([pool('team-a', 'llama', { app: 'llama' }), poolOnly('team-a', 'theirs')])
  const after = await compare('-o', 'json')
  requireValidReport(after.stdout)
  const report: unknown = JSON.parse(after.stdout)
  expect(report).toMatchObject({
    findings: [{ code: 'KLM309', severity: 'warning' }],
    comparison: {
      shared: [
        {
          spiffeID: ID,
          certain: true,
          in: [
            { cluster: 'east', givers: [{ subject: { name: 'llama' } }] },
            { cluster: 'west', givers: [{ subject: { name: 'theirs' } }] },
          ],
        },
      ],
    },
  })
})

test('a cluster that cannot be asked ends the answer: nothing is called unshared', async () => {
  const { code, stdout, stderr } = await kubectlKleym(
    east,
    ['conflicts', '--context', 'east', '--context', 'gone', ...SETTINGS],
    { kubeconfig },
  )
  expect([code, stdout]).not.toContain(0)
  expect(stdout).toBe('')
  expect(stderr).toContain('gone')
})
