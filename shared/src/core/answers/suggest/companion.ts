// Registrations that keep what the proxies of meshes have by a fallback, beside a binding for another container (docs/consumers.md).
import { labelsForScm, type OutputSettings } from '../../decide/index.ts'
import { proxiesOfAccount, type ProxyOfAccount, isMeshIdentity } from '../../analysis/index.ts'
import { dig, isRecord, type JsonRecord } from '../../base/json.ts'
import { apiVersionOf, CLUSTER_SPIFFE_ID } from '../../model/kinds.ts'
import { CLUSTER_SPIFFE_ID_KIND, NAMESPACE_NAME_LABEL } from '../../model/names.ts'
import type { ClusterSpiffeId } from '../../model/objects/clusterspiffeid.ts'
import type { Pool } from '../../model/objects/inference.ts'
import type { PoolLabels } from '../../model/objects/pool-selector.ts'
import type { Namespace, Pod } from '../../model/objects/pod.ts'
import {
  containerIdentities,
  preferred,
  precedenceOf,
  type Prediction,
  isHeld,
  isPossible,
  type Registration,
} from '../../predict/index.ts'
import { compareBytes, compareKeys, distinct } from '../../base/text/bytes.ts'

/** A ClusterSPIFFEID for the proxies of one pool. It is no fallback, so it stays. */
export interface Companion {
  /** The container of the proxies. */
  readonly container: string
  /** Whether one of the proxies asks for its ID: of several it gets the one that it needs. */
  readonly asksById: boolean
  /** What its name is made of. */
  readonly nameParts: readonly string[]
  readonly labels: Readonly<Record<string, string>>
  readonly spec: JsonRecord
}

/** One whose name is free, or that is there. */
export interface NamedCompanion extends Companion {
  readonly name: string
}

/** What companions are made from. */
export interface CompanionContext {
  readonly prediction: Prediction
  readonly namespaceOf: (name: string) => Namespace | undefined
  readonly registrationOf: (name: string) => ClusterSpiffeId | undefined
  readonly outputLabels: OutputSettings['outputLabels']
}

/** The containers of proxies that need the ID of the pod's service account, or may, in byte order. */
export function proxyContainers(
  pods: readonly Pod[],
  isMeant: (proxy: ProxyOfAccount) => boolean = () => true,
): readonly string[] {
  const proxies = pods.flatMap((pod) => proxiesOfAccount(pod, undefined).filter(isMeant))
  return distinct(proxies.map(({ container }) => container.name))
}

/**
 * The registrations that keep all that the proxies of a pool have by fallbacks, or would have if these did not give way: one for each
 * container and fallback, with whatever else the fallback gives. None for a container that has no ID of its mesh by one.
 */
export function companionsOf(
  { meta: { namespace, name } }: Pick<Pool, 'meta'>,
  labels: PoolLabels,
  pods: readonly Pod[],
  context: CompanionContext,
): readonly Companion[] {
  const kept = new Map<
    string,
    { readonly fallbacks: Set<ClusterSpiffeId>; asksById: boolean; isOfMesh: boolean }
  >()
  for (const pod of pods) {
    // Few pods have proxies, and what gives them entries takes longer to work out.
    const proxies = proxiesOfAccount(pod, context.namespaceOf(pod.namespace))
    if (proxies.length === 0) continue
    const facts = { pod, outcomes: context.prediction.entriesOf(pod) }
    if (!facts.outcomes.some(({ fallback }) => fallback)) continue
    for (const { container, consumer } of proxies) {
      const { registrations } = containerIdentities(facts, container)
      for (const [spiffeId, same] of fallbacksById(registrations)) {
        const one = kept.get(container.name) ?? { fallbacks: new Set(), asksById: false, isOfMesh: false }
        kept.set(container.name, one)
        one.asksById ||= consumer.asksById === true
        one.isOfMesh ||= isMeshIdentity(spiffeId)
        const objects = same.flatMap(({ source }) => context.registrationOf(source.name) ?? [])
        const best = objects.find((each) => one.fallbacks.has(each)) ?? preferredOf(objects)
        if (best !== undefined) one.fallbacks.add(best)
      }
    }
  }
  return [...kept]
    .filter(([, { isOfMesh }]) => isOfMesh)
    .toSorted(compareKeys)
    .flatMap(([container, { fallbacks, asksById }]) =>
      [...fallbacks].map((fallback, at) => ({
        container,
        asksById,
        nameParts: [namespace, name, container, ...(at === 0 ? [] : [fallback.meta.name])],
        labels: labelsForScm({
          className: fallback.spec.className,
          ...(context.outputLabels === undefined ? {} : { outputLabels: context.outputLabels }),
        }),
        spec: specOf(fallback, { namespace, labels, container }),
      })),
    )
}

/** The fallbacks that give, may give, or gave a container an ID, by the ID; without IDs that other registrations give it. */
function fallbacksById(registrations: readonly Registration[]): ReadonlyMap<string, readonly Registration[]> {
  const others = new Set(
    registrations.flatMap((one) => (!one.outcome.fallback && isHeld(one) ? (one.spiffeId ?? []) : [])),
  )
  return Map.groupBy(
    registrations.filter(
      (one) =>
        one.outcome.fallback &&
        one.spiffeId !== undefined &&
        !others.has(one.spiffeId) &&
        (one.verdict === 'issued' || one.verdict === 'displaced' || isPossible(one)),
    ),
    ({ spiffeId = '' }) => spiffeId,
  )
}

/** The object whose entry SCM uses; the first if that is not known. */
function preferredOf(objects: readonly ClusterSpiffeId[]): ClusterSpiffeId | undefined {
  const [first, ...others] = objects
  return others.reduce(
    (best, one) =>
      best !== undefined && preferred(precedenceOf(one.meta), precedenceOf(best.meta)) === 'left'
        ? one
        : best,
    first,
  )
}

/** What a fallback says, for one container of the pods that both it and a pool select. */
function specOf(
  { rawSpec, spec }: ClusterSpiffeId,
  {
    namespace,
    labels,
    container,
  }: { readonly namespace: string; readonly labels: PoolLabels; readonly container: string },
): JsonRecord {
  const { fallback: _, namespaceSelector: __, podSelector, ...kept } = rawSpec
  const also = dig(podSelector, 'matchLabels')
  const pools = [...labels].map(([key, value]) => `k8s:pod-label:${key}:${value}`).toSorted(compareBytes)
  return {
    ...kept,
    namespaceSelector: { matchLabels: { [NAMESPACE_NAME_LABEL]: namespace } },
    podSelector: {
      ...(isRecord(podSelector) ? podSelector : {}),
      matchLabels: { ...(isRecord(also) ? also : {}), ...Object.fromEntries(labels) },
    },
    // With the labels of the pool, as bindings have them: the entries of two pools on one pod are two. The server refuses a selector twice.
    workloadSelectorTemplates: [
      ...new Set([...spec.workloadSelectorTemplates, `k8s:container-name:${container}`, ...pools]),
    ],
  }
}

/** A ClusterSPIFFEID as it is applied. */
export function registrationManifest({
  name,
  labels,
  spec,
}: Pick<NamedCompanion, 'name' | 'labels' | 'spec'>): JsonRecord {
  return {
    apiVersion: apiVersionOf(CLUSTER_SPIFFE_ID),
    kind: CLUSTER_SPIFFE_ID_KIND,
    metadata: { name, ...(Object.keys(labels).length === 0 ? {} : { labels }) },
    spec,
  }
}
