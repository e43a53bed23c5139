// The identity that a binding asks for: its SPIFFE ID and its workload selectors, each selector with the field that it
// comes from, and the proof that they stay within the tenant (docs/contract.md §5).
import { SPIRE_COLUMN_BYTES } from '../../model/names.ts'
import { parseSpiffeId } from '../../model/spiffe-id.ts'
import { byteLength, compareBytes, compareKeys } from '../../base/text/bytes.ts'
import { isDns1123Label, isDns1123Subdomain, labelValueProblem } from '../../base/text/kubernetes.ts'
import { TRUST_DOMAIN_PLACEHOLDER } from '../settings/config.ts'
import { boundaryOf, identityPath, type BoundaryNames } from './identity-path.ts'
import {
  podLabelSelector,
  type PodLabelSelector,
  type PoolLabels,
} from '../../model/objects/pool-selector.ts'

/** One workload selector and where it comes from. */
export interface SelectorOrigin {
  /** As SPIRE has it: `k8s:sa:runner`. */
  readonly selector: string
  /** The object, as `Kind/name`. */
  readonly object: string
  /** The field of that object. */
  readonly field: string
}

/** The parts of an identity, as the checks have established them before the safety proof. */
export interface IdentityParts extends BoundaryNames {
  readonly binding: string
  readonly poolLabels: PoolLabels
  /** The same labels as selectors. */
  readonly poolSelectors: readonly PodLabelSelector[]
  readonly serviceAccountName: string
  /** Set when the mode is PerObjective. */
  readonly containerName: string | undefined
}

/** A proven identity: its SPIFFE ID and its workload selectors. */
export interface Identity extends IdentityParts {
  readonly spiffeId: string
  /** In byte order, without duplicates. */
  readonly selectors: readonly SelectorOrigin[]
}

/** The SPIFFE ID of an identity: `spiffe://<trust domain>`, and the path of its boundary. */
export function spiffeIdOf(parts: BoundaryNames, trustDomain: string): string {
  return `spiffe://${trustDomain}${identityPath(boundaryOf(parts))}`
}

/** Why a SPIFFE ID cannot be used; undefined where it can. An unknown trust domain counts as valid. */
export function spiffeIdProblem(spiffeId: string): string | undefined {
  const parsed = parseSpiffeId(spiffeId.replace(TRUST_DOMAIN_PLACEHOLDER, 'trust.domain'))
  if (!parsed.ok) return parsed.message
  const bytes = byteLength(spiffeId.replace(TRUST_DOMAIN_PLACEHOLDER, 'd'))
  if (bytes <= SPIRE_COLUMN_BYTES) return undefined
  return `it has ${bytes} bytes; ${SPIRE_COLUMN_BYTES} is the most that SPIRE's datastore keeps`
}

/** The selectors of an identity, de-duplicated and in byte order. */
export function selectorsOf(parts: IdentityParts): readonly SelectorOrigin[] {
  const binding = `InferenceIdentityBinding/${parts.binding}`
  const pool = `InferencePool/${parts.poolName}`
  const bySelector = new Map<string, SelectorOrigin>()
  const add = (selector: string, object: string, field: string): void => {
    if (!bySelector.has(selector)) bySelector.set(selector, { selector, object, field })
  }
  add(`k8s:ns:${parts.namespace}`, binding, '.metadata.namespace')
  add(`k8s:sa:${parts.serviceAccountName}`, binding, '.spec.serviceAccountName')
  for (const { selector, field } of parts.poolSelectors) add(selector, pool, field)
  if (parts.variant !== undefined) {
    add(podLabelSelector(parts.variant.key, parts.variant.value), binding, '.spec.identityBoundary.variant')
  }
  if (parts.mode === 'PerObjective') {
    add(`k8s:container-name:${parts.containerName ?? ''}`, binding, '.spec.containerName')
  }
  return [...bySelector.values()].toSorted((a, b) => compareBytes(a.selector, b.selector))
}

/** The labels of the pods that an identity selects: those of the pool and, for PerVariant, the variant's. In byte order. */
export function podLabelsOf({
  poolLabels,
  variant,
}: Pick<IdentityParts, 'poolLabels' | 'variant'>): PoolLabels {
  if (variant === undefined) return poolLabels
  const labels = new Map([...poolLabels, [variant.key, variant.value]])
  return new Map([...labels].toSorted(compareKeys))
}

/**
 * Proves a set of selectors again, from its strings alone: what is missing or unsafe, as sentences; empty when the set
 * stays within the binding's namespace, service account, pool labels and, by its mode, container or variant.
 */
export function safetyProblems(parts: IdentityParts, selectors: readonly string[]): readonly string[] {
  return PROOFS.flatMap((proof) => proof(parts, selectors))
}

type Proof = (parts: IdentityParts, selectors: readonly string[]) => readonly string[]

const PROOFS: readonly Proof[] = [
  (parts) =>
    isDns1123Label(parts.namespace)
      ? []
      : [`the namespace ${JSON.stringify(parts.namespace)} is no DNS-1123 label`],
  (parts, selectors) => exactlyOne(selectors, 'k8s:ns:', parts.namespace, 'namespace'),
  (parts) =>
    isDns1123Subdomain(parts.serviceAccountName)
      ? []
      : [`the service account ${JSON.stringify(parts.serviceAccountName)} is no DNS-1123 subdomain`],
  (parts, selectors) => exactlyOne(selectors, 'k8s:sa:', parts.serviceAccountName, 'service account'),
  (parts, selectors) => {
    if (parts.poolLabels.size === 0) return ['no label of the pool is selected']
    const all = new Set(selectors)
    const missing = [...parts.poolLabels].filter(([key, value]) => !all.has(podLabelSelector(key, value)))
    return missing.map(([key]) => `the pool label ${JSON.stringify(key)} is not selected`)
  },
  (parts, selectors) => {
    if (parts.mode !== 'PerObjective') return []
    if (!isDns1123Label(parts.containerName ?? '')) return ['the container name is no DNS-1123 label']
    return exactlyOne(selectors, 'k8s:container-name:', parts.containerName ?? '', 'container')
  },
  ({ mode, variant, poolLabels, poolName }, selectors) => {
    if (mode !== 'PerVariant') return []
    if (variant === undefined || variant.value === '' || labelValueProblem(variant.value) !== undefined)
      return ['the variant is no label value']
    const ofPool = poolLabels.get(variant.key)
    if (ofPool !== undefined && ofPool !== variant.value) {
      const { key, value } = variant
      return [
        `InferencePool ${poolName} itself selects ${key}=${ofPool}, so no pod of it carries ${key}=${value}; name that variant, or another pool`,
      ]
    }
    // Neither a label key nor a label value has a colon, so nothing else begins like that.
    return exactlyOne(selectors, podLabelSelector(variant.key, ''), variant.value, 'variant')
  },
  (_parts, selectors) =>
    selectors.flatMap((selector) => {
      const bytes = byteLength(selector) - 'k8s:'.length
      return bytes <= SPIRE_COLUMN_BYTES
        ? []
        : `the selector ${selector} has ${bytes} bytes after k8s:; ${SPIRE_COLUMN_BYTES} is the most that SPIRE keeps`
    }),
]

function exactlyOne(
  selectors: readonly string[],
  prefix: string,
  value: string,
  what: string,
): readonly string[] {
  const found = selectors.filter((selector) => selector.startsWith(prefix))
  if (found.length === 1 && found[0] === `${prefix}${value}`) return []
  if (found.length === 1) return [`the ${what} selector is ${found[0]}, not ${prefix}${value}`]
  return [`there are ${found.length} ${what} selectors, not one`]
}
