// A pod in two pools, which GAIE calls unsupported and nothing prevents.
import { POOL_KIND } from '../../model/kinds.ts'
import { type Analysis, isMade } from '../../analysis/index.ts'
import { carriesLabel } from '../../model/objects/label-match.ts'
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
import { NO, openOn, YES, type Truth } from '../../model/truth/truth.ts'

/** The pools of one namespace that select by the same labels. */
interface Selection {
  readonly number: number
  readonly namespace: string
  readonly labels: PoolLabels
  readonly pools: Set<string>
}

interface Shared {
  readonly pools: readonly Subject[]
  readonly first: Pod
  readonly pods: NameSummary
  readonly count: PodCount
}

/**
 * One finding per set of pools that share pods, or may: of pods that a controller makes it depends on what it makes, and of those that
 * admission changes on the labels that it adds. A pool of one name in both groups counts once. None of them is about a binding. A step
 * for each selection.
 */
export function* poolFindings(analysis: Analysis, bindings?: ReadonlySet<string>): Steps<readonly Finding[]> {
  if (bindings !== undefined) return []
  const selections = selectionsOf(analysis)
  const certain = sharedPods(yield* selectionsOfPods(selections, analysis.pods()))
  const made =
    analysis.snapshot.podMakers.length === 0
      ? []
      : analysis.podsInQuestion.filter((pod) => isMade(pod) !== YES)
  const perhaps =
    made.length === 0 ? certain : sharedPods(yield* selectionsOfPods(selections, indexPods(made)))
  const changed = sharedPods(selectionsWithAddedLabels(selections, analysis.podsInQuestion))
  const dependent = (all: ReadonlyMap<string, Shared>, holds: (first: Pod) => Truth): readonly Finding[] =>
    [...all].flatMap(([key, shared]) => {
      if (certain.has(key)) return []
      return sharedFinding(shared).flatMap((one) => asFarAs(holds(shared.first), one))
    })
  return [
    ...[...certain.values()].flatMap(sharedFinding),
    ...dependent(perhaps, isMade),
    ...dependent(changed, (first) => {
      const givers = [...new Set(first.labelGivers?.values())].join(', ')
      return openOn(`the labels of ${podText(first)}`, `${givers} may set labels of the pod`)
    }),
  ]
}

/** What is found about pools. */
export const poolRule: Rule = { codes: ['KLM306'], find: poolFindings }

/** The sets of pools that share pods, by what selects each of these. */
function sharedPods(byPod: ReadonlyMap<Pod, readonly Selection[]>): ReadonlyMap<string, Shared> {
  const shared = new Map<string, Shared>()
  // Pods in the same selections are in the same pools, however many of those there are: their names are joined once for all.
  const bySelections = new Map<string, Shared>()
  for (const [pod, selections] of byPod) {
    const key = selections.map(({ number }) => number).join(' ')
    const found = getOrCreate(bySelections, key, () => {
      const names = new Set(selections.flatMap(({ pools }) => [...pools]))
      const sorted = [...names].toSorted(compareBytes)
      const pools = sorted.map((name) => ({ kind: POOL_KIND, namespace: pod.namespace, name }))
      return getOrCreate(shared, JSON.stringify([pod.namespace, sorted]), () => ({
        pools,
        first: pod,
        pods: new NameSummary(),
        count: new PodCount(),
      }))
    })
    found.pods.add(podText(pod))
    found.count.add(pod)
  }
  return shared
}

function sharedFinding({ pools: [first, ...others], pods, count }: Shared): readonly Finding[] {
  return first === undefined || others.length === 0
    ? []
    : [
        finding('KLM306', {
          subject: first,
          related: others,
          summary: `${count.text()} in ${others.length + 1} pools: ${[first, ...others].map(({ name }) => name).join(', ')}`,
          evidence: [`seen in ${pods.text()}`],
        }),
      ]
}

/** The selections that choose each pod that more than one pool selects: of a hundred thousand pods, hardly any. */
function* selectionsOfPods(
  all: readonly Selection[],
  pods: PodIndex,
): Steps<ReadonlyMap<Pod, readonly Selection[]>> {
  const several = new Map<Pod, Selection[]>()
  // One namespace after the other: a map of all pods at once would be the largest.
  for (const ofNamespace of Map.groupBy(all, ({ namespace }) => namespace).values()) {
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
  all: readonly Selection[],
  pods: readonly Pod[],
): ReadonlyMap<Pod, readonly Selection[]> {
  const several = new Map<Pod, readonly Selection[]>()
  const changed = pods.filter(({ labelGivers }) => labelGivers !== undefined)
  const inNamespace = Map.groupBy(changed.length === 0 ? [] : all, ({ namespace }) => namespace)
  for (const pod of changed) {
    const possible = (inNamespace.get(pod.namespace) ?? []).filter(({ labels }) => mayHave(pod, labels))
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

function mayHave(pod: Pod, asked: PoolLabels): boolean {
  return [...asked].every(([key, value]) => carriesLabel(pod, key, value) !== NO)
}

function selectionsOf(analysis: Analysis): readonly Selection[] {
  const selections = new Map<string, Selection>()
  for (const { selector, meta } of analysis.snapshot.pools.read) {
    if (!selector.ok) continue
    const { namespace } = meta
    const { labels } = selector
    getOrCreate(selections, JSON.stringify([namespace, [...labels]]), () => ({
      number: selections.size,
      namespace,
      labels,
      pools: new Set(),
    })).pools.add(meta.name)
  }
  return [...selections.values()]
}
