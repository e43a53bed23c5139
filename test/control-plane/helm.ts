// The real Helm against a control plane, as a person would run it, and what the chart's suites read out of it.
import { join } from 'node:path'
import { parseAllDocuments } from 'yaml'
import { isRecord, stringAt, type JsonRecord } from '../../shared/src/core/base/json.ts'
import { ensureClient } from './client-binaries.ts'
import type { ControlPlane } from './control-plane.ts'
import { runKubectl, type KubectlResult } from './kubectl.ts'

/** The chart, and sets of values that people may have, which `ct lint` reads too. */
export const CHART = join(import.meta.dirname, '../../charts/kleym')
export const CHART_VALUES = ['default', 'hardened-spire', 'fenced', 'bare'] as const

/** Where the suites install it. */
export const RELEASE = 'kleym'
export const RELEASE_NAMESPACE = 'kleym-system'
/** The values that every install must give. */
export const LEAST = [
  '--set',
  'trustDomain=example.org',
  '--set',
  'image.registry=registry.example.org',
] as const

/** Runs Helm as admin. It may fail: see the status. */
export type Helm = (...args: readonly string[]) => Promise<KubectlResult>

/** Helm with a home of its own in the control plane's folder. */
export async function helmOn(cp: ControlPlane): Promise<Helm> {
  const helm = await ensureClient('helm')
  const kubeconfig = cp.kubeconfig()
  return (...args) => runKubectl(helm, ['--kubeconfig', kubeconfig, ...args], undefined, cp.folder)
}

/** What Helm prints where it must succeed. */
export async function demand(run: Promise<KubectlResult>): Promise<string> {
  const { status, stdout, stderr } = await run
  if (status !== 0) throw new Error(`helm ended with ${String(status)}: ${stderr}${stdout}`)
  return stdout
}

/** The path of one of the sets of values. */
export function valuesFile(name: (typeof CHART_VALUES)[number]): string {
  return join(CHART, 'ci', `${name}-values.yaml`)
}

/** The objects that `helm template` prints; hooks and tests are among them. */
export function objectsIn(manifests: string): readonly JsonRecord[] {
  return parseAllDocuments(manifests).flatMap((document) => {
    const [problem] = document.errors
    if (problem !== undefined) throw problem
    const object: unknown = document.toJS()
    return isRecord(object) ? [object] : []
  })
}

/** All objects of a kind, in the order in which they were rendered. */
export function ofKind(objects: readonly JsonRecord[], kind: string): readonly JsonRecord[] {
  return objects.filter((object) => stringAt(object, 'kind') === kind)
}

/** The namespace of the release, in which only `restricted` pods may run. */
export function restrictedNamespace(name: string): JsonRecord {
  const labels = {
    'pod-security.kubernetes.io/enforce': 'restricted',
    'pod-security.kubernetes.io/warn': 'restricted',
  }
  return { apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } }
}
