// A claim: one identity for a container of the pods that carry some labels and run under a service account, or for all
// containers of a variant's pods (docs/contract.md §6). Bindings declare claims, live outputs keep them in force, and writes in flight reserve them.
import type { Compiled } from '../compile/compile.ts'
import { podLabelsOf, type IdentityParts } from '../compile/identity.ts'
import { parseIdentity } from '../compile/identity-path.ts'
import type { Pod } from '../../model/objects/pod.ts'
import type { PoolLabels } from '../../model/objects/pool-selector.ts'
import type { ClusterSpiffeId, ClusterSpiffeIdSpec } from '../../model/objects/clusterspiffeid.ts'
import type { NamespacedName } from '../../model/namespaced-name.ts'
import { compareKeys } from '../../base/text/bytes.ts'

/** What a claim rests on. */
export type ClaimBasis =
  /** A binding that passed all checks before the collision: two of them collide. */
  | 'declared'
  /** A binding whose checks ended unknown after its pool selector was read: others wait for it. */
  | 'tentative'
  /** A live output, by its own spec: others wait until it is gone or changed. */
  | 'live'
  /** A create or update that the operator has decided on, until the output cache shows it. */
  | 'reserved'

/** One claim. Claims are compared by `relationOf` and never changed. */
export interface Claim {
  readonly basis: ClaimBasis
  /** The key of the binding behind the claim; empty for an output whose binding is gone or not known. */
  readonly owner: NamespacedName | ''
  /** The output behind a live or reserved claim. */
  readonly output: string | undefined
  readonly namespace: string
  /** `ANY` for a live output that lacks this selector; the same holds for the namespace and the container. */
  readonly serviceAccountName: string
  /** Undefined: all containers of the pods of a variant. Such a claim meets only others of its kind. */
  readonly containerName: string | undefined
  readonly labels: PoolLabels
  readonly spiffeId: string
}

/** Whether a pod has a container that a claim is on: for a variant's, any. */
export function claimsContainerOf(
  { containerName }: Claim,
  { containers }: Pick<Pod, 'containers'>,
): boolean {
  return containerName === undefined || containers.some(({ name }) => name === containerName)
}

/** Stands for every value of a selector that an output lacks; no Kubernetes name equals it. */
export const ANY = '*'

/** The claim that a binding declares; undefined for PoolOnly, which never collides, for a refusal and for a deletion. */
export function declaredClaim(compiled: Compiled): Claim | undefined {
  const { binding, input, result } = compiled
  if (binding.meta.deletedAt !== undefined || result.kind === 'refused') return undefined
  if (result.kind === 'resolved')
    return claimOf('declared', result.identity, binding.key, result.identity.spiffeId)
  return input.parts === undefined ? undefined : claimOf('tentative', input.parts, binding.key, '')
}

/**
 * The claims that a live output keeps in force, read from its own spec. Further selectors, added by hand, only narrow it:
 * leaving them out claims too much rather than too little. For the same reason a missing selector claims every value: SPIRE
 * gives the ID to every container until the output is repaired. An output with the SPIFFE ID of a variant claims as
 * PerVariant whatever its selectors. An output with the SPIFFE ID of a pool needs no container selector, and claims nothing
 * without one; nor does a foreign one whose ID is none of kleym's: nobody repairs it, and it would hold back all others.
 */
export function liveClaims(
  { meta: { name }, spec }: Pick<ClusterSpiffeId, 'meta' | 'spec'>,
  owner: NamespacedName | '',
  isForeign = false,
): readonly Claim[] {
  const { workloadSelectorTemplates: selectors, spiffeIDTemplate: spiffeId } = spec
  return claimedNamespaces(selectors).flatMap((namespace) =>
    orAny(valuesOf(selectors, 'k8s:sa:')).flatMap((serviceAccountName) =>
      liveContainers(spec, isForeign).flatMap((containerName) =>
        liveLabels(spec).map((labels) => ({
          basis: 'live' as const,
          owner,
          output: name,
          namespace,
          serviceAccountName,
          containerName,
          labels,
          spiffeId,
        })),
      ),
    ),
  )
}

function liveContainers(
  { spiffeIDTemplate, workloadSelectorTemplates }: ClusterSpiffeIdSpec,
  isForeign: boolean,
): readonly (string | undefined)[] {
  const mode = parseIdentity(spiffeIDTemplate)?.mode
  if (mode === 'PerVariant') return [undefined]
  const named = valuesOf(workloadSelectorTemplates, 'k8s:container-name:')
  return mode === 'PoolOnly' || (isForeign && mode === undefined) ? named : orAny(named)
}

/** The namespaces in which selectors claim; `ANY` where none is named. */
export function claimedNamespaces(selectors: readonly string[]): readonly string[] {
  return orAny(valuesOf(selectors, 'k8s:ns:'))
}

/**
 * The label sets of a live output: one as rendered, where pod selector and workload selectors say the same. Where an edit
 * made them differ, SCM makes the entry for the pods that both choose, but the workload selectors alone decide which pods
 * of those nodes get it, so both sets are claimed.
 */
function liveLabels({ workloadSelectorTemplates, podSelector }: ClusterSpiffeIdSpec): readonly PoolLabels[] {
  const selected = new Map<string, string>()
  for (const text of valuesOf(workloadSelectorTemplates, 'k8s:pod-label:')) {
    const colon = text.indexOf(':')
    if (colon > 0 && !selected.has(text.slice(0, colon)))
      selected.set(text.slice(0, colon), text.slice(colon + 1))
  }
  const chosen = podSelector?.matchLabels ?? new Map<string, string>()
  const narrowed = [...chosen].some(([key, value]) => selected.get(key) !== value)
  if (narrowed) return [inOrder(new Map([...selected, ...chosen])), inOrder(selected)]
  return [inOrder(chosen.size === selected.size ? chosen : selected)]
}

/** The very labels where they are in order: there may be ten thousand outputs. */
function inOrder(labels: PoolLabels): PoolLabels {
  const sorted = [...labels].toSorted(compareKeys)
  return labels.keys().every((key, at) => key === sorted[at]?.[0]) ? labels : new Map(sorted)
}

function claimOf(
  basis: 'declared' | 'tentative',
  parts: IdentityParts,
  owner: NamespacedName | '',
  spiffeId: string,
): Claim | undefined {
  if (parts.mode === 'PoolOnly') return undefined
  return {
    basis,
    owner,
    output: undefined,
    namespace: parts.namespace,
    serviceAccountName: parts.serviceAccountName,
    containerName: parts.containerName,
    labels: podLabelsOf(parts),
    spiffeId,
  }
}

/** Without a selector of a kind nothing narrows the registration in that respect. */
function orAny(values: readonly string[]): readonly string[] {
  return values.length === 0 ? [ANY] : values
}

function valuesOf(selectors: readonly string[], prefix: string): readonly string[] {
  return [
    ...new Set(selectors.filter((text) => text.startsWith(prefix)).map((text) => text.slice(prefix.length))),
  ]
}
