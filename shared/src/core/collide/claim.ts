// A claim: these pods, this service account, this container, one identity (contract §6). Bindings declare them, live
// outputs keep them in force, and a write in flight reserves them.
import type { Compiled } from '../compile/compile.ts'
import type { IdentityParts } from '../compile/identity.ts'
import type { PoolLabels } from '../compile/pool-selector.ts'
import type { ClusterSpiffeId } from '../objects/clusterspiffeid.ts'
import { compareBytes } from '../text/bytes.ts'

export type ClaimBasis =
  /** A binding that passed all checks before the collision: two of them collide. */
  | 'declared'
  /** A binding whose checks ended unknown after its pool selector was read: others wait for it. */
  | 'tentative'
  /** A live output, by its own spec: others wait until it is gone or changed. */
  | 'live'
  /** A create or update that is decided and not yet seen. */
  | 'reserved'

export interface Claim {
  readonly basis: ClaimBasis
  /** The binding behind the claim, `namespace/name`; for an orphan, the one that its annotation names. */
  readonly owner: string
  /** The output behind a live or reserved claim. */
  readonly output: string | undefined
  readonly namespace: string
  readonly serviceAccountName: string
  readonly containerName: string
  readonly labels: PoolLabels
  readonly spiffeId: string
}

/** What a binding declares; nothing for PoolOnly, which never collides. */
export function declaredClaim(compiled: Compiled): Claim | undefined {
  const { binding, gathered, result } = compiled
  if (binding.meta.deletedAt !== undefined || result.kind === 'refused') return undefined
  if (result.kind === 'resolved')
    return claimOf('declared', result.identity, binding.key, result.identity.spiffeId)
  return gathered.parts === undefined ? undefined : claimOf('tentative', gathered.parts, binding.key, '')
}

/**
 * What a live output keeps in force, read from its own spec. Selectors that a person's hand has added only narrow it, so
 * leaving them out claims too much rather than too little. Nothing without a container: that is PoolOnly.
 */
export function liveClaims(output: ClusterSpiffeId, owner: string): readonly Claim[] {
  const selectors = output.spec.workloadSelectorTemplates
  const labels = new Map(output.spec.podSelector?.matchLabels ?? [])
  for (const text of valuesOf(selectors, 'k8s:pod-label:')) {
    const colon = text.indexOf(':')
    if (colon > 0 && !labels.has(text.slice(0, colon)))
      labels.set(text.slice(0, colon), text.slice(colon + 1))
  }
  const sorted = new Map([...labels].toSorted(([a], [b]) => compareBytes(a, b)))
  return valuesOf(selectors, 'k8s:ns:').flatMap((namespace) =>
    valuesOf(selectors, 'k8s:sa:').flatMap((serviceAccountName) =>
      valuesOf(selectors, 'k8s:container-name:').map((containerName) => ({
        basis: 'live' as const,
        owner,
        output: output.meta.name,
        namespace,
        serviceAccountName,
        containerName,
        labels: sorted,
        spiffeId: output.spec.spiffeIDTemplate,
      })),
    ),
  )
}

function claimOf(
  basis: 'declared' | 'tentative',
  parts: IdentityParts,
  owner: string,
  spiffeId: string,
): Claim | undefined {
  if (parts.mode !== 'PerObjective' || parts.containerName === undefined) return undefined
  return {
    basis,
    owner,
    output: undefined,
    namespace: parts.namespace,
    serviceAccountName: parts.serviceAccountName,
    containerName: parts.containerName,
    labels: parts.poolLabels,
    spiffeId,
  }
}

function valuesOf(selectors: readonly string[], prefix: string): readonly string[] {
  return [
    ...new Set(selectors.filter((text) => text.startsWith(prefix)).map((text) => text.slice(prefix.length))),
  ]
}
