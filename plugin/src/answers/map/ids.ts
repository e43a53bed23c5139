// The ids of the boxes of a map: the kind, then what names the object. Kubernetes names hold no slash; a SPIFFE ID comes last.
import type { PodRef } from '@kleym/shared/core/model/objects/pod.ts'
import { type EntrySource, sourceText } from '@kleym/shared/core/predict/index.ts'

export function namespaceId(namespace: string): string {
  return `namespace/${namespace}`
}

export function workloadId({ kind, namespace, name }: PodRef): string {
  return `workload/${namespace}/${kind}/${name}`
}

/** Of pods that are alike, by the first of them. */
export function podsId(first: string): string {
  return `pods/${first}`
}

/** `at`: its place among the containers; a broken manifest may name two alike. */
export function containerId(pods: string, name: string, at: number): string {
  return `container/${pods.slice('pods/'.length)}/${at}/${name}`
}

export function bindingId(key: string): string {
  return `binding/${key}`
}

export function registrationId(source: EntrySource): string {
  return sourceText(source)
}

export function identityId(spiffeId: string): string {
  return `identity/${spiffeId}`
}

export function policyId({ kind, key }: { readonly kind: string; readonly key: string }): string {
  return `policy/${kind}/${key}`
}
