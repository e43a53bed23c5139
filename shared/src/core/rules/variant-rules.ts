// Pods of a pool that bindings share out among variants: a variant that no pod carries, pods that no binding gives an identity,
// and templates that do not say the variant which their pods carry.
import type { Analysis } from '../analysis/analysis.ts'
import type { IdentityParts } from '../compile/identity.ts'
import type { VariantLabel } from '../compile/identity-path.ts'
import { finding, type Finding, type Subject } from '../findings/finding.ts'
import { bindingSubject } from '../findings/subjects.ts'
import { getOrCreate } from '../get-or-create.ts'
import { lazy } from '../lazy.ts'
import { POOL_KIND } from '../kinds.ts'
import type { DeclaredBinding } from '../objects/binding.ts'
import { indexPods, podText, type PodIndex } from '../objects/pod-index.ts'
import type { Pod } from '../objects/pod.ts'
import { shapeOf } from '../objects/sidecars.ts'
import { bindingGap, subjectGap } from '../snapshot/unread.ts'
import { counted, NameSummary } from '../text/counted.ts'
import { compareBytes } from '../text/bytes.ts'

/** A pool of which bindings name variants. */
interface SharedPool {
  readonly parts: IdentityParts
  readonly key: string
  /** Those that come to an identity, or would but for a peer. */
  readonly bindings: {
    readonly binding: DeclaredBinding
    readonly variant: VariantLabel
    readonly isReady: boolean
  }[]
  /** The service accounts for which a PoolOnly binding of the pool is ready: no pod under them is left without an identity. */
  readonly covered: Set<string>
}

/** The pods of a pool, by the variant that they carry; those of which it is not known are in none. */
interface PodsByVariant {
  readonly carried: ReadonlyMap<string, NameSummary>
  readonly without: NameSummary
  /** The pods that no binding of the pool is for, by what tells them apart, as a person reads it. */
  readonly left: ReadonlyMap<string, NameSummary>
  /** How many carry a variant that is not known yet. */
  readonly open: number
}

/** The findings about variants. Where there may be pods of the namespace that were not read, there are none. */
export function variantFindings(analysis: Analysis): readonly Finding[] {
  const { snapshot } = analysis
  const existing = lazy(() => indexPods(snapshot.pods.filter((pod) => pod.exists)))
  const templates = lazy(() => indexPods(snapshot.templates))
  return [...sharedPools(analysis).values()].flatMap((pool) => {
    const { namespace } = pool.parts
    if (subjectGap(snapshot, namespace) !== undefined) return []
    const pods = podsByVariant(analysis, pool)
    return [
      ...uncarried(pool, pods),
      // A binding that was not read may name them.
      ...(bindingGap(snapshot, namespace) === undefined ? unnamed(pool, pods) : []),
      ...silentTemplates(pool, { existing, templates }),
    ]
  })
}

function sharedPools({ compiled, now }: Analysis): ReadonlyMap<string, SharedPool> {
  const pools = new Map<string, SharedPool>()
  const covered = new Map<string, Set<string>>()
  for (const { binding, input } of compiled) {
    const { parts } = input
    if (parts === undefined || binding.meta.deletedAt !== undefined) continue
    const key = JSON.stringify([parts.namespace, parts.poolName, [...parts.poolLabels]])
    const isReady = now.judgements.get(binding.key)?.state === 'ready'
    if (parts.mode === 'PoolOnly' && isReady)
      getOrCreate(covered, key, () => new Set<string>()).add(parts.serviceAccountName)
    if (parts.variant === undefined) continue
    const { variant } = parts
    const pool = getOrCreate(pools, key, (): SharedPool => ({
      parts,
      key: variant.key,
      bindings: [],
      covered: getOrCreate(covered, key, () => new Set<string>()),
    }))
    pool.bindings.push({ binding, variant, isReady })
  }
  return pools
}

function podsByVariant(analysis: Analysis, pool: SharedPool): PodsByVariant {
  const { parts, key } = pool
  const leftOf = whatIsLeft(pool)
  const carried = new Map<string, NameSummary>()
  const left = new Map<string, NameSummary>()
  const without = new NameSummary()
  let open = 0
  for (const pod of analysis.pods().withLabels(parts.namespace, parts.poolLabels)) {
    const variant = pod.labels.get(key)
    if (variant !== undefined) getOrCreate(carried, variant, newSummary).add(podText(pod))
    else if (mayCarry(pod, key)) open++
    else without.add(podText(pod))
    const what = variant === undefined && mayCarry(pod, key) ? undefined : leftOf(variant, pod)
    if (what !== undefined) getOrCreate(left, what, newSummary).add(podText(pod))
  }
  return { carried, without, left, open }
}

function newSummary(): NameSummary {
  return new NameSummary()
}

/** Why no binding of the pool is for a pod that carries a variant, or none; undefined where one is, or may be. */
function whatIsLeft({
  bindings,
  key,
  covered,
}: SharedPool): (variant: string | undefined, pod: Pod) => string | undefined {
  const accounts = new Map<string, Set<string>>()
  for (const { binding, variant } of bindings) {
    const account = binding.serviceAccountName.ok ? binding.serviceAccountName.value : ''
    getOrCreate(accounts, variant.value, () => new Set<string>()).add(account)
  }
  return (variant, { serviceAccountName: account, perhaps }) => {
    if (perhaps?.knowsAccount === false || covered.has(account)) return undefined
    if (variant === undefined) return `no label ${key}`
    const named = accounts.get(variant)
    if (named === undefined) return `${key}=${variant}`
    return named.has(account) ? undefined : `${key}=${variant} under service account ${account}`
  }
}

function mayCarry({ unknownLabels, possibleLabels }: Pod, key: string): boolean {
  return unknownLabels.has(key) || possibleLabels.has(key)
}

/** Ready bindings of a variant that no pod carries, where the pool has pods; without any that is KLM412. */
function uncarried(
  { bindings, key, parts }: SharedPool,
  { carried, without, open }: PodsByVariant,
): readonly Finding[] {
  if (open > 0 || (carried.size === 0 && without.count === 0)) return []
  return bindings.flatMap(({ binding, variant, isReady }) =>
    !isReady || carried.has(variant.value)
      ? []
      : [
          finding('KLM415', {
            subject: bindingSubject(binding),
            summary: `no pod of InferencePool ${parts.poolName} carries ${key}=${variant.value}`,
            evidence: [...carriedText(carried, key), ...withoutText(without, key)],
          }),
        ],
  )
}

/** Pods that no binding of the pool gives an identity: they carry no variant, or one that none names for their account. */
function unnamed({ bindings, parts }: SharedPool, { left }: PodsByVariant): readonly Finding[] {
  const count = [...left.values()].reduce((sum, pods) => sum + pods.count, 0)
  if (count === 0) return []
  return [
    finding('KLM416', {
      subject: poolSubject(parts),
      related: bindings.map(({ binding }) => bindingSubject(binding)),
      summary: `no binding of InferencePool ${parts.poolName} is for ${counted(count, 'pod')} of it`,
      evidence: [...left]
        .toSorted(([one], [other]) => compareBytes(one, other))
        .map(([what, pods]) => `${what}: ${pods.text()}`),
      parts: new Map([...left.keys()].map((what) => [what, what])),
    }),
  ]
}

/** Templates without the label whose pods carry it: a controller or webhook has put it there. */
function silentTemplates(
  { parts, key, bindings }: SharedPool,
  index: { readonly existing: () => PodIndex; readonly templates: () => PodIndex },
): readonly Finding[] {
  const templates = index
    .templates()
    .withLabels(parts.namespace, parts.poolLabels)
    .filter((template) => !template.labels.has(key) && !mayCarry(template, key))
  return templates.flatMap((template) => {
    const labelled = new NameSummary()
    for (const pod of index.existing().withLabels(parts.namespace, template.labels)) {
      const variant = pod.labels.get(key)
      if (variant !== undefined && isAlike(pod, template)) labelled.add(`${podText(pod)} (${variant})`)
    }
    if (labelled.count === 0) return []
    const { kind, namespace, name } = template.ref
    return [
      finding('KLM417', {
        subject: { kind, namespace, name },
        related: bindings.map(({ binding }) => bindingSubject(binding)),
        summary: `the template of ${podText(template)} has no label ${key}, and ${counted(labelled.count, 'pod')} like it carry one`,
        evidence: [labelled.text()],
      }),
    ]
  })
}

function isAlike(pod: Pod, template: Pod): boolean {
  return pod.serviceAccountName === template.serviceAccountName && shapeOf(pod) === shapeOf(template)
}

function carriedText(carried: ReadonlyMap<string, NameSummary>, key: string): readonly string[] {
  return [...carried]
    .toSorted(([left], [right]) => compareBytes(left, right))
    .map(([variant, pods]) => `${key}=${variant}: ${pods.text()}`)
}

function withoutText(without: NameSummary, key: string): readonly string[] {
  return without.count === 0 ? [] : [`no label ${key}: ${without.text()}`]
}

function poolSubject({ namespace, poolName }: IdentityParts): Subject {
  return { kind: POOL_KIND, namespace, name: poolName }
}
