// ClusterFederatedTrustDomain (spire.spiffe.io/v1alpha1): which trust domain the server is to federate with. Whether the bundle has
// come, the bundles of the server tell.
// Source: SCM v0.7.0, api/v1alpha1/clusterfederatedtrustdomain_types.go.
import { dig, isRecord, stringAt, type JsonRecord } from '../../base/json.ts'
import { readMeta, type ObjectMeta } from './meta.ts'
import type { RawObject } from './raw.ts'

/** A relationship that an object declares. */
export interface FederatedTrustDomain {
  readonly meta: ObjectMeta
  readonly trustDomain: string
  readonly className: string
  /** As written. */
  readonly spec: JsonRecord
}

/** Reads a ClusterFederatedTrustDomain; never throws. */
export function readFederatedTrustDomain(raw: RawObject): FederatedTrustDomain {
  const spec = dig(raw.value, 'spec')
  return {
    meta: readMeta(raw.value),
    trustDomain: stringAt(spec, 'trustDomain') ?? '',
    className: stringAt(spec, 'className') ?? '',
    spec: isRecord(spec) ? spec : {},
  }
}
