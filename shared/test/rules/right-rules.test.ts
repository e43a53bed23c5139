// Who holds an identity by which every other one can be made (KLM310): the right is that of the ID, whichever entry gave it.
import { findingsIn, ofFile } from './findings-in.ts'
import { expect, test } from 'vitest'
import { foreign, pod, world } from '@kleym/testing/finding-cases.ts'
import { binding } from '@kleym/testing/manifests.ts'
import type { JsonRecord } from '../../src/core/base/json.ts'

const CHAT = 'spiffe://example.org/ns/team-a/objective/chat'
const NOWHERE = { podSelector: { matchLabels: { app: 'nothing' } } }

/** Each finding KLM310: what it says, on what it depends, and what it is about beside the object that sets the right. */
function rightsIn(...objects: readonly JsonRecord[]): readonly unknown[] {
  const raw = world(pod(), ...objects).map((value) => ({
    ...ofFile(value),
    ...(value['kind'] === 'RayCluster' && ({ isUnread: true } as const)),
  }))
  return findingsIn(raw)
    .filter(({ code }) => code === 'KLM310')
    .map(({ subject, summary, related, dependsOn }) => [
      `${subject.kind}/${subject.name}`,
      summary,
      related.map(({ kind, name }) => `${kind}/${name}`).join(),
      dependsOn?.length ?? 0,
    ])
}

const staticEntry = (spec: JsonRecord): JsonRecord => ({
  apiVersion: 'spire.spiffe.io/v1alpha1',
  kind: 'ClusterStaticEntry',
  metadata: { name: 'by-hand', uid: 'uid-of-by-hand' },
  spec: {
    spiffeID: CHAT,
    parentID: 'spiffe://example.org/spire/agent/vm',
    selectors: ['unix:uid:0'],
    ...spec,
  },
})

test('an entry that sets a right gives it to the containers that get its SVID', () => {
  expect(
    rightsIn(foreign('tool', { admin: true, workloadSelectorTemplates: ['k8s:container-name:vllm'] })),
  ).toEqual([
    ['ClusterSPIFFEID/tool', 'container vllm of 1 pod can create entries for every identity', '', 0],
  ])
})

test('the holder of a binding has the right that another entry sets for the same ID, wherever that entry applies', () => {
  const vllm = 'container vllm of 1 pod can sign every identity'
  expect(rightsIn(binding(), staticEntry({ downstream: true }))).toEqual([
    ['ClusterStaticEntry/by-hand', vllm, 'InferenceIdentityBinding/llama', 0],
  ])
  expect(rightsIn(binding(), staticEntry({}))).toEqual([])
  expect(rightsIn(binding(), staticEntry({ downstream: true, spiffeID: `${CHAT}-2` }))).toEqual([])
})

test('a right that no entry carries is none', () => {
  expect(rightsIn(binding(), foreign('tool', { admin: true, spiffeIDTemplate: CHAT, ...NOWHERE }))).toEqual(
    [],
  )
  expect(rightsIn(foreign('tool', { admin: true, className: 'other' }))).toEqual([])
})

test('a right for an ID that is known in part depends on what it will be', () => {
  const web: JsonRecord = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web', namespace: 'team-a' },
    spec: {
      selector: { matchLabels: { app: 'web' } },
      template: {
        metadata: { labels: { app: 'web' } },
        spec: { serviceAccountName: 'web', containers: [{ name: 'main' }] },
      },
    },
  }
  const tool = foreign('tool', {
    admin: true,
    spiffeIDTemplate: 'spiffe://example.org/ns/team-a/objective/{{ .PodMeta.Name }}',
    podSelector: { matchLabels: { app: 'web' } },
  })
  expect(rightsIn(binding(), web, tool)).toEqual([
    ['ClusterSPIFFEID/tool', expect.stringContaining('container main of'), '', 0],
    [
      'ClusterSPIFFEID/tool',
      expect.stringContaining('container vllm of'),
      'InferenceIdentityBinding/llama',
      1,
    ],
  ])
})

const config = (text: string): JsonRecord => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'spire', namespace: 'spire-server' },
  data: { conf: text },
})

test('configurations of a server and of an agent give rights to an ID, by whichever binding it is held', () => {
  expect(
    rightsIn(binding(), config(`server {\n  admin_ids = ["${CHAT}", "spiffe://example.org/x"]\n}`)),
  ).toEqual([
    [
      'ConfigMap/spire',
      'container vllm of 1 pod can create entries for every identity',
      'InferenceIdentityBinding/llama',
      0,
    ],
  ])
  expect(rightsIn(binding(), config(`{"agent": {"authorized_delegates": ["${CHAT}"]}}`))).toEqual([
    [
      'ConfigMap/spire',
      'container vllm of 1 pod can get every SVID of its node',
      'InferenceIdentityBinding/llama',
      0,
    ],
  ])
  // A variable of an agent that is started with -expandEnv.
  expect(rightsIn(binding(), config('authorized_delegates = ["spiffe://example.org/$DELEGATE"]'))).toEqual([
    ['ConfigMap/spire', expect.any(String), 'InferenceIdentityBinding/llama', 1],
  ])
  expect(rightsIn(binding(), config(`# admin_ids = ["${CHAT}"]\nadmin_ids = []`))).toEqual([])
})

test('a right for the ID of a pod that may not be made depends on that', () => {
  const cluster: JsonRecord = {
    apiVersion: 'ray.io/v1',
    kind: 'RayCluster',
    metadata: { name: 'ray', namespace: 'team-a' },
    spec: {
      headGroupSpec: {
        template: { metadata: { labels: { app: 'ray' } }, spec: { containers: [{ name: 'main' }] } },
      },
    },
  }
  const tool = foreign('tool', {
    admin: true,
    spiffeIDTemplate: CHAT,
    podSelector: { matchLabels: { app: 'ray' } },
  })
  expect(rightsIn(binding(), cluster, tool)).toContainEqual([
    'ClusterSPIFFEID/tool',
    expect.stringContaining('container vllm of'),
    'InferenceIdentityBinding/llama',
    1,
  ])
})
