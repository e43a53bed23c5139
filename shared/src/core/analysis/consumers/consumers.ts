// Who takes identities in a cluster, and which SPIFFE IDs each of them accepts. docs/consumers.md has the source of each fact.

/** What a consumer accepts, as docs/consumers.md has it. */
export type AcceptedIds = 'of a service account' | 'as configured' | 'any' | "of the mesh's own CA"

/** A kind of proxy or helper that takes identities. */
export interface Consumer {
  readonly name: string
  readonly accepts: AcceptedIds
  /** The mesh that it is a proxy of: it may hand identities to the containers beside it. */
  readonly mesh?: string
  /** It asks SPIRE's agent for the one SPIFFE ID that its mesh computes, whatever else its container holds. */
  readonly asksById?: boolean
}

/** All consumers of docs/consumers.md, in its order. */
export const CONSUMERS = {
  istio: { name: 'Istio sidecar', accepts: 'of a service account', mesh: 'Istio' },
  ztunnel: { name: 'Istio ambient (ztunnel)', accepts: 'of a service account', mesh: 'Istio' },
  linkerd: { name: 'Linkerd', accepts: "of the mesh's own CA", mesh: 'Linkerd' },
  kuma: { name: 'Kuma', accepts: 'as configured', mesh: 'Kuma', asksById: true },
  consul: { name: 'Consul', accepts: "of the mesh's own CA", mesh: 'Consul' },
  cilium: { name: "Cilium's ztunnel", accepts: 'of a service account', mesh: 'Cilium' },
  envoyGateway: { name: 'Envoy Gateway', accepts: 'as configured' },
  agentgateway: { name: 'agentgateway', accepts: 'any' },
  spiffeHelper: { name: 'spiffe-helper', accepts: 'any' },
} as const satisfies Readonly<Record<string, Consumer>>

/**
 * Whether Istio takes a text for an identity: `spiffe://<trust domain>/ns/<namespace>/sa/<service account>`, with nothing behind it.
 * The same answer as `ParseIdentity` of Istio's pkg/spiffe.
 */
export function isMeshIdentity(spiffeId: string): boolean {
  return /^spiffe:\/\/[^/]*\/ns\/[^/]*\/sa\/[^/]*$/.test(spiffeId)
}
