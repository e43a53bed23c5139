// A pod in two pools, which GAIE calls unsupported and nothing prevents.
import { POOL_KIND, qualifiedKind } from '../../model/kinds.ts'
import { type Analysis, Holdings, isMade } from '../../analysis/index.ts'
import { carriesLabel } from '../../model/objects/label-match.ts'
import type { Pool } from '../../model/objects/inference.ts'
import type { PoolLabels } from '../../model/objects/pool-selector.ts'
import { getOrCreate } from '../../base/get-or-create.ts'
import { type Steps } from '../../base/steps.ts'
import { indexPods, podText, PodCount, type PodIndex } from '../../model/objects/pod-index.ts'
import type { Pod } from '../../model/objects/pod.ts'
import { compareBytes } from '../../base/text/bytes.ts'
import { asFarAs, finding, type Finding } from '../finding/finding.ts'
import { type Rule } from '../finding/rule.ts'
import { type Subject } from '../../model/objects/subject.ts'
import { NameSummary } from '../../base/text/counted.ts'
import { all, any, NO, open, openOn, YES, type Truth } from '../../model/truth/truth.ts'

/** The pools of one namespace that select by the same labels. */
interface Selection {
  readonly number: number
  readonly namespace: string
  readonly labels: PoolLabels
  /** By its name, whether a pool is as it was read: one that is defined twice may select by others. */
  readonly pools: Map<string, Truth>
}

interface Shared {
  readonly pools: readonly Subject[]
  /** Whether the pools are as they were read, and one of the pods is. */
  readonly arePools: Truth
  isPod: Truth
  readonly first: Pod
  readonly pods: NameSummary
  readonly count: PodCount
}

/**
 * One finding per set of pools that share pods, or may. Whether pools share the pods of a controller depends on what it makes;
 * for pods that admission changes, on the labels that it adds. A pool of one name in both groups counts once. No finding is
 * about a binding. A step for each selection.
 */
export function* poolFindings(analysis: Analysis, bindings?: ReadonlySet<string>): Steps<readonly Finding[]> {
  if (bindings !== undefined) return []
  const selections = selectionsOf(analysis)
  const holdings = new Holdings(analysis.settled)
  const sharedPods = (byPod: ReadonlyMap<Pod, readonly Selection[]>): ReadonlyMap<string, Shared> =>
    sharedBy(byPod, holdings)
  const certain = sharedPods(yield* selectionsOfPods(selections, analysis.pods()))
  const made =
    analysis.snapshot.podMakers.length === 0
      ? []
      : analysis.podsInQuestion.filter((pod) => isMade(pod) !== YES)
  const perhaps =
    made.length === 0 ? certain : sharedPods(yield* selectionsOfPods(selections, indexPods(made)))
  const changed = sharedPods(selectionsWithAddedLabels(selections, analysis.podsInQuestion))
  const dependent = (shares: ReadonlyMap<string, Shared>, holds: (first: Pod) => Truth): readonly Finding[] =>
    [...shares].flatMap(([key, shared]) =>
      certain.has(key) ? [] : sharedFinding(shared, holds(shared.first)),
    )
  return [
    ...[...certain.values()].flatMap((shared) => sharedFinding(shared, YES)),
    ...dependent(perhaps, isMade),
    ...dependent(changed, (first) => {
      const givers = [...new Set(first.labelGivers?.values())].join(', ')
      return openOn(`the labels of ${podText(first)}`, `${givers} may set labels of the pod`)
    }),
  ]
}

/** Whether two pools may have a pod in common, whatever pods there are: not where one label has a value of its own in each of a namespace. */
export function mayShare(pools: readonly Pool[]): boolean {
  const inNamespace = Map.groupBy(pools, ({ meta }) => meta.namespace)
  return [...inNamespace.values()].some((ones) => {
    const labels = ones.flatMap(({ selector }) => (selector.ok ? [selector.labels] : []))
    const tellsThemApart = (key: string): boolean => {
      const values = new Set(labels.map((one) => one.get(key)))
      return values.size === labels.length && !values.has(undefined)
    }
    return labels.length > 1 && ![...(labels[0]?.keys() ?? [])].some(tellsThemApart)
  })
}

/** What is found about pools. */
export const poolRule: Rule = { codes: ['KLM306'], find: poolFindings }

/** The sets of pools that share pods, by what selects each of these. */
function sharedBy(
  byPod: ReadonlyMap<Pod, readonly Selection[]>,
  holdings: Holdings,
): ReadonlyMap<string, Shared> {
  const shared = new Map<string, Shared>()
  // Pods in the same selections are in the same pools, however many of those there are: their names are joined once for all.
  const bySelections = new Map<string, Shared>()
  for (const [pod, selections] of byPod) {
    const key = selections.map(({ number }) => number).join(' ')
    const found = getOrCreate(bySelections, key, () => {
      const names = new Set(selections.flatMap(({ pools }) => [...pools.keys()]))
      const sorted = [...names].toSorted(compareBytes)
      const pools = sorted.map((name) => ({ kind: POOL_KIND, namespace: pod.namespace, name }))
      return getOrCreate(shared, JSON.stringify([pod.namespace, sorted]), () => ({
        pools,
        arePools: all(...sorted.map((name) => any(...selections.map((one) => one.pools.get(name) ?? NO)))),
        isPod: NO,
        first: pod,
        pods: new NameSummary(),
        count: new PodCount(),
      }))
    })
    found.pods.add(podText(pod))
    found.count.add(pod)
    if (found.isPod !== YES) found.isPod = any(found.isPod, holdings.asRead(pod))
  }
  return shared
}

function sharedFinding({ pools, arePools, isPod, pods, count }: Shared, holds: Truth): readonly Finding[] {
  const [first, ...others] = pools
  if (first === undefined || others.length === 0) return []
  const one = finding('KLM306', {
    subject: first,
    related: others,
    summary: `${count.text()} in ${pools.length} pools: ${pools.map(({ name }) => name).join(', ')}`,
    evidence: [`seen in ${pods.text()}`],
  })
  return asFarAs(all(holds, arePools, isPod), one)
}

/** The selections that choose each pod that more than one pool selects: of a hundred thousand pods, hardly any. */
function* selectionsOfPods(
  selections: readonly Selection[],
  pods: PodIndex,
): Steps<ReadonlyMap<Pod, readonly Selection[]>> {
  const several = new Map<Pod, Selection[]>()
  // One namespace after the other: a map of all pods at once would be the largest.
  for (const ofNamespace of Map.groupBy(selections, ({ namespace }) => namespace).values()) {
    const first = new Map<Pod, Selection>()
    for (const selection of ofNamespace) {
      yield
      for (const pod of pods.withLabels(selection.namespace, selection.labels)) {
        const before = first.get(pod)
        if (before !== undefined) getOrCreate(several, pod, () => [before]).push(selection)
        else {
          first.set(pod, selection)
          if (selection.pools.size > 1) several.set(pod, [selection])
        }
      }
    }
  }
  return several
}

/** The same of the pods to which admission may add labels: of those that each may be given, as many as it can have at once. */
function selectionsWithAddedLabels(
  selections: readonly Selection[],
  pods: readonly Pod[],
): ReadonlyMap<Pod, readonly Selection[]> {
  const several = new Map<Pod, readonly Selection[]>()
  const changed = pods.filter(({ labelGivers }) => labelGivers !== undefined)
  const inNamespace = Map.groupBy(changed.length === 0 ? [] : selections, ({ namespace }) => namespace)
  for (const pod of changed) {
    const possible = (inNamespace.get(pod.namespace) ?? []).filter(({ labels }) =>
      [...labels].every(([key, value]) => carriesLabel(pod, key, value) !== NO),
    )
    for (const [at, first] of possible.entries()) {
      const labels = new Map(first.labels)
      const together = [first]
      for (const next of possible.slice(at + 1)) {
        if (![...next.labels].every(([key, value]) => (labels.get(key) ?? value) === value)) continue
        together.push(next)
        for (const [key, value] of next.labels) labels.set(key, value)
      }
      if (together.length === 1 && first.pools.size === 1) continue
      several.set(pod, together)
      break
    }
  }
  return several
}

function selectionsOf(analysis: Analysis): readonly Selection[] {
  const selections = new Map<string, Selection>()
  for (const pool of analysis.snapshot.pools.read) {
    const { selector, meta } = pool
    if (!selector.ok) continue
    const { namespace, name } = meta
    const { labels } = selector
    const { pools } = getOrCreate(selections, JSON.stringify([namespace, [...labels]]), () => ({
      number: selections.size,
      namespace,
      labels,
      pools: new Map(),
    }))
    pools.set(name, any(pools.get(name) ?? NO, asRead(pool, analysis)))
  }
  return [...selections.values()]
}

/** Whether a pool is what was read of it: one that is defined twice may be the other one. */
function asRead({ group, meta: { namespace, name } }: Pool, { snapshot }: Analysis): Truth {
  const kind = qualifiedKind({ group, kind: POOL_KIND })
  const doubled = snapshot.rest.part([kind], { namespace, name }, (one) => one.name === name)
  return doubled === undefined
    ? YES
    : open({ kind: 'doubled', of: { kind, namespace, name }, why: doubled.why })
}
