// Pods of a pool that bindings share out among variants: a variant that no pod carries, pods that no binding gives an identity,
// and templates that do not say the variant which their pods carry.
import { type Analysis, isMade } from '../../analysis/index.ts'
import type { IdentityParts, VariantLabel } from '../../decide/index.ts'
import { asFarAs, finding, type Finding } from '../finding/finding.ts'
import { ruleAtOnce, type Rule } from '../finding/rule.ts'
import { bindingSubject } from '../../model/objects/subject.ts'
import { getOrCreate } from '../../base/get-or-create.ts'
import { lazy } from '../../base/lazy.ts'
import { POOL_KIND } from '../../model/kinds.ts'
import { valueOf, type DeclaredBinding } from '../../model/objects/binding.ts'
import { indexPods, PodCount, podText, type PodIndex } from '../../model/objects/pod-index.ts'
import type { Pod } from '../../model/objects/pod.ts'
import { shapeOf } from '../../model/objects/sidecars.ts'
import { areAllPodsRead, carries, podsOfPool, type OpenPod } from './pods-of-pool.ts'
import { counted, NameSummary } from '../../base/text/counted.ts'
import { compareKeys } from '../../base/text/bytes.ts'
import { all, any, atLeast, known, NO, not, YES, type Truth } from '../../model/truth/truth.ts'
import { decidingText } from '../../model/truth/unknown.ts'

/** A pool with bindings that name variants. */
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

/** Pods of the pool, grouped by variant label. */
interface PodsByVariant {
  readonly carried: ReadonlyMap<string, NameSummary>
  readonly without: NameSummary
  /** The pods that no binding of the pool covers, by a readable text of their variant and service account. */
  readonly left: PodsLeft
  /** Those that may be of the pool, or whose variant is not known. */
  readonly open: readonly OpenPod[]
}

/** Pods by a readable text, and how many they are. */
class PodsLeft {
  readonly names = new Map<string, NameSummary>()
  readonly count = new PodCount()

  add(what: string, pod: Pod): void {
    getOrCreate(this.names, what, newSummary).add(podText(pod))
    this.count.add(pod)
  }
}

/** What is found about variants. What pods show depends on those that were not read; that none shows it is not said beside such. */
export const variantRule: Rule = ruleAtOnce(['KLM412', 'KLM415', 'KLM416', 'KLM417'], variantFindings)

function variantFindings(analysis: Analysis): readonly Finding[] {
  const { snapshot } = analysis
  const existing = lazy(() => indexPods(snapshot.pods.read.filter((pod) => pod.exists)))
  const templates = lazy(() => indexPods([...snapshot.templates.read]))
  return [...sharedPools(analysis).values()].flatMap((pool) => {
    const { namespace } = pool.parts
    const areAll = areAllPodsRead(analysis, namespace)
    const pods = podsByVariant(analysis, pool)
    return [
      ...(areAll === YES ? uncarried(pool, pods) : []),
      // A binding that was not read may name them.
      ...(snapshot.rest.bindings(namespace) === undefined ? unnamed(pool, pods) : []),
      ...silentTemplates(pool, { existing, templates }),
    ].flatMap((one) => asFarAs(areAll, one))
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
  const left = new PodsLeft()
  const without = new NameSummary()
  const open: OpenPod[] = []
  const pods = podsOfPool(analysis, parts.namespace, parts.poolLabels)
  for (const pod of pods.certain) {
    const variant = pod.labels.get(key)
    if (variant === undefined && mayCarry(pod, key)) {
      open.push({ pod, isOfPool: YES })
      continue
    }
    if (variant === undefined) without.add(podText(pod))
    else getOrCreate(carried, variant, newSummary).add(podText(pod))
    const what = leftOf(variant, pod)
    if (what !== undefined) left.add(what, pod)
  }
  return { carried, without, left, open: [...open, ...pods.open] }
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
    const account = valueOf(binding.serviceAccountName) ?? ''
    getOrCreate(accounts, variant.value, () => new Set<string>()).add(account)
  }
  return (variant, { serviceAccountName: account }) => {
    if (covered.has(account)) return undefined
    if (variant === undefined) return `no label ${key}`
    const named = accounts.get(variant)
    if (named === undefined) return `${key}=${variant}`
    return named.has(account) ? undefined : `${key}=${variant} under service account ${account}`
  }
}

function mayCarry({ unknownLabels, possibleLabels }: Pod, key: string): boolean {
  return unknownLabels.has(key) || possibleLabels.has(key)
}

/** Whether no binding of the pool is for a pod that may be of it. */
function isLeft({ bindings, key, covered }: SharedPool, { pod, isOfPool }: OpenPod): Truth {
  const isUnder = (account: string): Truth =>
    pod.perhaps?.knowsAccount === false ? isMade(pod) : known(pod.serviceAccountName === account)
  const named = bindings.map(({ binding: { serviceAccountName: account }, variant }) =>
    all(carries(pod, key, variant.value), isUnder(valueOf(account) ?? '')),
  )
  return all(isMade(pod), isOfPool, not(any(...named, ...[...covered].map(isUnder))))
}

/** Ready bindings of a variant that no pod carries, where the pool has pods; without any that is KLM412. */
function uncarried(
  { bindings, key, parts }: SharedPool,
  { carried, without, open }: PodsByVariant,
): readonly Finding[] {
  const isAnyCertain = known(carried.size > 0 || without.count > 0)
  return bindings.flatMap(({ binding, variant: { value }, isReady }) => {
    if (!isReady || carried.has(value)) return []
    const one = finding('KLM415', {
      subject: bindingSubject(binding),
      summary: `no pod of InferencePool ${parts.poolName} carries ${key}=${value}`,
      evidence: [
        ...carriedText(carried, key),
        ...(without.count === 0 ? [] : [`no label ${key}: ${without.text()}`]),
      ],
    })
    const pods = open.map(({ pod, isOfPool }) => ({ pod, isOfPool, isOfVariant: carries(pod, key, value) }))
    const isCarried = atLeast(
      1,
      pods.map(({ isOfPool, isOfVariant }) => all(isOfPool, isOfVariant)),
    )
    const isOther = pods.map(({ pod, isOfPool, isOfVariant }) => all(isMade(pod), isOfPool, not(isOfVariant)))
    return asFarAs(all(any(isAnyCertain, atLeast(1, isOther)), not(isCarried)), one)
  })
}

/** Pods that no binding of the pool gives an identity: they carry no variant, or one that none names for their account. */
function unnamed(pool: SharedPool, { left: certain, open }: PodsByVariant): readonly Finding[] {
  const { bindings, parts } = pool
  const perhaps = open.map((one) => ({ ...one, holds: isLeft(pool, one) }))
  const more = atLeast(
    1,
    perhaps.map(({ holds }) => holds),
  )
  const isCertain = certain.count.total > 0
  const { names, count } = isCertain ? certain : leftPerhaps(pool, perhaps)
  const one = finding('KLM416', {
    subject: { kind: POOL_KIND, namespace: parts.namespace, name: parts.poolName },
    related: bindings.map(({ binding }) => bindingSubject(binding)),
    summary: `no binding of InferencePool ${parts.poolName} is for ${count.text()} of it`,
    evidence: [...names].toSorted(compareKeys).map(([what, pods]) => `${what}: ${pods.text()}`),
    parts: new Map([...names.keys()].map((what) => [what, what])),
  })
  return asFarAs(any(known(isCertain), more), {
    ...one,
    ...(more !== NO && { moreParts: [...more.causes].map(decidingText) }),
  })
}

/** Pods that may be of the pool and that perhaps no binding of it is for, as `left` has them. */
function leftPerhaps(
  pool: SharedPool,
  pods: readonly { readonly pod: Pod; readonly holds: Truth }[],
): PodsLeft {
  const leftOf = whatIsLeft(pool)
  const left = new PodsLeft()
  for (const { pod, holds } of pods) {
    if (holds === NO) continue
    const what = mayCarry(pod, pool.key)
      ? `label ${pool.key} not known`
      : leftOf(pod.labels.get(pool.key), pod)
    left.add(what ?? 'service account not known', pod)
  }
  return left
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
    const carry = labelled.count === 1 ? 'carries' : 'carry'
    return finding('KLM417', {
      subject: { kind, namespace, name },
      related: bindings.map(({ binding }) => bindingSubject(binding)),
      summary: `the template of ${podText(template)} has no label ${key}, and ${counted(labelled.count, 'pod')} like it ${carry} one`,
      evidence: [labelled.text()],
    })
  })
}

function isAlike(pod: Pod, template: Pod): boolean {
  return pod.serviceAccountName === template.serviceAccountName && shapeOf(pod) === shapeOf(template)
}

function carriedText(carried: ReadonlyMap<string, NameSummary>, key: string): readonly string[] {
  return [...carried].toSorted(compareKeys).map(([variant, pods]) => `${key}=${variant}: ${pods.text()}`)
}
