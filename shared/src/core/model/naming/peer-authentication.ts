// PeerAuthentication of Istio names nobody, and decides whether names can match: a client without mTLS shows no certificate, and so no
// principal (https://istio.io/latest/docs/reference/config/security/peer_authentication/).
import { own, stringAt, type JsonRecord } from '../../base/json.ts'
import { readMeta } from '../objects/meta.ts'
import { ISTIO_NAMESPACE } from './istio-source.ts'

/** The kind, qualified. */
export const PEER_AUTHENTICATION = 'PeerAuthentication.security.istio.io'

/**
 * What turns mTLS off where a policy of a namespace is in force: a sentence fragment; undefined if nothing that was read does. An object
 * of the namespace counts before that of the mesh; one with a selector is about some pods alone.
 */
export function withoutMtls(objects: readonly JsonRecord[]): (namespace: string) => string | undefined {
  const byNamespace = Map.groupBy(objects.map(peerOf), ({ namespace }) => namespace)
  return (namespace) => {
    const peers = byNamespace.get(namespace) ?? []
    const decides = peers.some(({ isOfSome, mode }) => !isOfSome && mode !== 'UNSET')
    const ofMesh = (byNamespace.get(ISTIO_NAMESPACE) ?? []).filter(({ isOfSome }) => !isOfSome)
    return (
      offIn(peers.filter(({ isOfSome }) => !isOfSome)) ??
      (decides ? undefined : offIn(ofMesh)) ??
      offIn(peers.filter(({ isOfSome }) => isOfSome))
    )
  }
}

function offIn(peers: readonly Peer[]): string | undefined {
  const off = peers.find(({ mode }) => mode === 'DISABLE')
  return (
    off &&
    `PeerAuthentication ${off.namespace}/${off.name} turns mTLS off${off.isOfSome ? ' for some pods' : ''}`
  )
}

interface Peer {
  readonly namespace: string
  readonly name: string
  readonly mode: string
  /** It has a selector. */
  readonly isOfSome: boolean
}

function peerOf(value: JsonRecord): Peer {
  const { namespace, name } = readMeta(value)
  const spec = own(value, 'spec')
  const selector = own(spec, 'selector') ?? undefined
  return {
    namespace,
    name,
    mode: stringAt(spec, 'mtls', 'mode') ?? 'UNSET',
    isOfSome: selector !== undefined,
  }
}
