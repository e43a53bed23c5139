// The two SPIRE kinds as the suites write them.
import type { JsonRecord } from '../../shared/src/core/base/json.ts'
import { CLASS, CLUSTER_SPIFFE_ID } from './spire.ts'

/** The template of the SPIRE charts. */
export const USUAL_ID =
  'spiffe://{{ .TrustDomain }}/ns/{{ .PodMeta.Namespace }}/sa/{{ .PodSpec.ServiceAccountName }}'

/** A ClusterSPIFFEID of the controller's class with the usual template, unless `spec` says otherwise. */
export function csid(name: string, spec: JsonRecord = {}, meta: JsonRecord = {}): JsonRecord {
  return {
    ...CLUSTER_SPIFFE_ID,
    metadata: { name, ...meta },
    spec: { spiffeIDTemplate: USUAL_ID, className: CLASS, ...spec },
  }
}

/** A ClusterStaticEntry of the controller's class. */
export function staticEntry(name: string, spec: JsonRecord): JsonRecord {
  return {
    apiVersion: 'spire.spiffe.io/v1alpha1',
    kind: 'ClusterStaticEntry',
    metadata: { name },
    spec: { className: CLASS, ...spec },
  }
}

/** Keeps an object that is deleted. */
export const HELD = { finalizers: ['kleym.test/held'] } as const
