// What people, and other tools, get wrong about the SPIRE Controller Manager (docs/spire-facts.md, "Traps"), as small estates
// with what the server must hold in the end; and the builders of their objects.
import { isRecord, type JsonRecord } from '../../../shared/src/core/base/json.ts'
import { csid } from '../clusterspiffeid.ts'
import { pod, type PlacedObject } from '../build-cluster.ts'

/** One estate, which has a namespace of its own: `@` in its texts. */
export interface Trap {
  readonly name: string
  /** From old to young. */
  readonly waves: readonly (readonly (JsonRecord | PlacedObject)[])[]
  /** What the server holds for each pod: the SPIFFE ID's path, with the hint behind it where there is one. */
  readonly holds: Readonly<Record<string, readonly string[]>>
}

/** Selects the namespace of the estate. */
export const HERE = { matchLabels: { 'kubernetes.io/metadata.name': '@' } }
/** The pod that most estates are about. */
export const P = pod('@', 'p', { labels: { app: 'llama' } })

/** A ClusterSPIFFEID for this namespace, with an ID that is a path of its own. */
export function id(name: string, spec: JsonRecord = {}, meta: JsonRecord = {}): JsonRecord {
  return csid(
    `@-${name}`,
    { spiffeIDTemplate: `spiffe://example.org/${name}`, namespaceSelector: HERE, ...spec },
    meta,
  )
}

/** What a chart installs as a default identity. */
export function fallback(name = 'default', spec: JsonRecord = {}): JsonRecord {
  return id(name, { fallback: true, hint: name, ...spec })
}

/** The SPIFFE ID that several objects of an estate share. */
export const SAME = 'spiffe://example.org/same'

/** A static entry for the pod `p` under the agent of its node, as SCM would render it. */
export function staticFor(path: string, selectors: readonly string[] = []): JsonRecord {
  return {
    spiffeID: `spiffe://example.org${path}`,
    parentID: 'spiffe://example.org/spire/agent/k8s_psat/prod/<uid:Node/n1>',
    selectors: ['k8s:pod-uid:<uid:Pod/@/p>', ...selectors],
  }
}

/** Whether one of the objects of an estate comes with what is done to it. */
export function isPiece(one: JsonRecord | PlacedObject): one is PlacedObject {
  return isRecord(one['object'])
}
