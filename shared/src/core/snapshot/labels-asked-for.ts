// The labels by which registrations and pools tell pods apart: no other label of a pod matters to an answer.
import type { Each } from '../base/each.ts'
import type { ClusterSpiffeId } from '../model/objects/clusterspiffeid.ts'
import type { Pool } from '../model/objects/inference.ts'
import type { ClusterStaticEntry } from '../model/objects/static-entry.ts'
import { NUMBER_LABELS, POD_NAME_LABEL } from '../model/objects/workload.ts'
import { podReadsOf, readsPodName, type PodReads } from './pod-reads.ts'

const POD_LABEL = 'k8s:pod-label:'

/** The keys of labels without which a pod may be selected, and is not with them. */
export function labelsAskedToLack(registered: readonly Pick<ClusterSpiffeId, 'spec'>[]): ReadonlySet<string> {
  const expressions = registered.flatMap(({ spec }) => spec.podSelector?.matchExpressions ?? [])
  return new Set(
    expressions.flatMap(({ key, operator }) =>
      operator === 'DoesNotExist' || operator === 'NotIn' ? [key] : [],
    ),
  )
}

/** The keys of all labels of namespaces that these objects select by. */
export function namespaceLabelsAskedFor(
  registered: readonly Pick<ClusterSpiffeId, 'spec'>[],
): ReadonlySet<string> {
  return new Set(
    registered.flatMap(({ spec: { namespaceSelector: selector } }) => [
      ...(selector?.matchLabels.keys() ?? []),
      ...(selector?.matchExpressions ?? []).map(({ key }) => key),
    ]),
  )
}

/** The keys of the labels and the annotations that the templates of these objects read. */
export function metadataRead(
  registered: readonly Pick<ClusterSpiffeId, 'spec'>[],
  staticEntries: readonly Pick<ClusterStaticEntry, 'spec'>[],
): Pick<PodReads, 'labels' | 'annotations'> {
  return podReadsOf(
    registered,
    staticEntries.flatMap(({ spec }) => spec.selectors),
  )
}

/** The keys of the labels by which templates and selectors may tell the numbered pods of a workload apart; `read` are those that templates read. */
export function numbersAskedFor(
  read: PodReads['labels'],
  registered: readonly Pick<ClusterSpiffeId, 'spec'>[],
  staticEntries: readonly Pick<ClusterStaticEntry, 'spec'>[],
): ReadonlySet<string> {
  const texts = new Set([
    ...registered.flatMap(({ spec }) => [
      spec.spiffeIDTemplate,
      ...spec.dnsNameTemplates,
      ...spec.workloadSelectorTemplates,
    ]),
    ...staticEntries.flatMap(({ spec }) => spec.selectors),
  ])
  return new Set([
    ...(read === 'all' ? NUMBER_LABELS : read),
    ...(readsPodName(texts) ? [POD_NAME_LABEL] : []),
  ])
}

/** The keys of all labels that selectors of these objects name. */
export function labelsAskedFor(
  registered: readonly Pick<ClusterSpiffeId, 'spec'>[],
  staticEntries: Each<Pick<ClusterStaticEntry, 'spec'>>,
  pools: Each<Pick<Pool, 'selector'>> = [],
): ReadonlySet<string> {
  const keys = new Set<string>()
  const addSelector = (text: string): void => {
    if (text.startsWith(POD_LABEL)) keys.add(text.slice(POD_LABEL.length).split(':')[0] ?? '')
  }
  for (const { spec } of registered) {
    for (const key of spec.podSelector?.matchLabels.keys() ?? []) keys.add(key)
    for (const { key } of spec.podSelector?.matchExpressions ?? []) keys.add(key)
    for (const text of spec.workloadSelectorTemplates) addSelector(text)
  }
  for (const { spec } of staticEntries) for (const text of spec.selectors) addSelector(text)
  for (const { selector } of pools) if (selector.ok) for (const [key] of selector.labels) keys.add(key)
  return keys
}
