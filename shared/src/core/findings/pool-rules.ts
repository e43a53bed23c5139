// A pod in two pools, which GAIE calls unsupported and nothing prevents.
import type { Analysis } from '../analysis.ts'
import { decodePoolSelector } from '../compile/pool-selector.ts'
import { entryOf } from '../entry.ts'
import { podText } from '../objects/pod-index.ts'
import type { Pod } from '../objects/pod.ts'
import { compareBytes } from '../text/bytes.ts'
import { finding, type Finding, type Subject } from './finding.ts'
import { counted, Names } from './tally.ts'

/** One finding per set of pools that share pods. A pool that stands in both groups counts once. */
export function poolFindings(analysis: Analysis): readonly Finding[] {
  const poolsOf = new Map<Pod, Set<string>>()
  for (const pool of analysis.snapshot.pools) {
    const selector = decodePoolSelector(pool.group, pool.selector)
    if (!selector.ok) continue
    for (const pod of analysis.pods().withLabels(pool.meta.namespace, selector.labels)) {
      entryOf(poolsOf, pod, () => new Set()).add(pool.meta.name)
    }
  }
  const shared = new Map<string, { pools: readonly Subject[]; pods: Names }>()
  for (const [pod, names] of poolsOf) {
    if (names.size < 2) continue
    const sorted = [...names].toSorted(compareBytes)
    const pools = sorted.map((name) => ({ kind: 'InferencePool', namespace: pod.namespace, name }))
    entryOf(shared, JSON.stringify([pod.namespace, sorted]), () => ({ pools, pods: new Names() })).pods.add(
      podText(pod),
    )
  }
  return [...shared.values()].flatMap(({ pools: [first, ...others], pods }) =>
    first === undefined
      ? []
      : [
          finding('KLM306', {
            subject: first,
            related: others,
            summary: `${counted(pods.count, 'pod')} in ${others.length + 1} pools: ${[first, ...others].map(({ name }) => name).join(', ')}`,
            evidence: [`seen in ${pods.text()}`],
          }),
        ],
  )
}
