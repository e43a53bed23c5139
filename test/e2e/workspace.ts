// Folders of manifests for one test, and the least manifests that an answer needs.
import { settingsFlags } from '@kleym/testing/settings-flags.ts'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { onTestFinished } from 'vitest'

/** A new folder with these files in it, removed when the test is over. */
export function workspace(files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'kleym-e2e-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  for (const [name, text] of Object.entries(files)) {
    const path = join(folder, name)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text)
  }
  return folder
}

export const POOL = `apiVersion: inference.networking.k8s.io/v1
kind: InferencePool
metadata: {name: llama, namespace: team-a}
spec: {selector: {matchLabels: {app: llama}}}
`

export const OBJECTIVE = `apiVersion: llm-d.ai/v1alpha2
kind: InferenceObjective
metadata: {name: chat, namespace: team-a}
spec: {poolRef: {name: llama}}
`

/** It names the group of its pool: without it, a file that cannot be read may hold one of the other group. */
export const BINDING = `apiVersion: kleym.sonda.red/v1alpha1
kind: InferenceIdentityBinding
metadata: {name: chat, namespace: team-a}
spec:
  poolRef: {name: llama, group: inference.networking.k8s.io}
  objectiveRef: {name: chat}
  serviceAccountName: runner
  containerName: vllm
`

export const POD = `apiVersion: v1
kind: Pod
metadata:
  name: llama-0
  namespace: team-a
  uid: 3d0ff7fd-08cb-45dd-9e5a-2c9d3d6cc73f
  creationTimestamp: "2026-01-01T00:00:00Z"
  labels: {app: llama}
spec:
  nodeName: gpu-1
  serviceAccountName: runner
  containers: [{name: vllm}]
`

export const NODE = `apiVersion: v1
kind: Node
metadata: {name: gpu-1, uid: 5f3d3e5d-6a0f-4a3a-a0a6-7b0d2a1f8a11, creationTimestamp: "2026-01-01T00:00:00Z"}
`

/** SCM's settings, under which it handles what kleym renders. */
export const SCM_CONFIG = `apiVersion: spire.spiffe.io/v1alpha1
kind: ControllerManagerConfig
metadata: {name: scm}
trustDomain: example.org
clusterName: prod
watchClassless: true
ignoreNamespaces: []
`

/** The flags that go with SCM's settings, where they stand in `scm.yaml`. */
export const SETTINGS: readonly string[] = settingsFlags()

/** Manifests as one file. */
export function documents(...manifests: readonly string[]): string {
  return manifests.join('---\n')
}

/** A pool, an objective, a binding that is ready, and a pod whose container gets its identity. */
export const SMALL = documents(POOL, OBJECTIVE, BINDING, POD, NODE)

/** A ClusterSPIFFEID of somebody else. */
export function registration(name: string, id: string, ...fields: readonly string[]): string {
  const lines = [`spiffeIDTemplate: '${id}'`, ...fields].map((field) => `  ${field}\n`)
  return `apiVersion: spire.spiffe.io/v1alpha1\nkind: ClusterSPIFFEID\nmetadata: {name: ${name}}\nspec:\n${lines.join('')}`
}
