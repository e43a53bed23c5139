// What `-o name` lists of a map: the pods and templates that it shows, as `who-selects` does.
import { podText } from '@kleym/shared/core/model/objects/pod-index.ts'
import { namedPods, type NamedObject } from '../../output/name.ts'
import type { MapSide } from './build.ts'
import type { MapNode } from './graph.ts'

/** The pods that are there, in their order. */
export function mapNames({ answers }: MapSide, nodes: readonly MapNode[]): readonly NamedObject[] {
  const shown = new Set(nodes.flatMap((node) => (node.kind === 'pods' ? node.pods : [])))
  return namedPods(answers.map(({ pod }) => pod).filter((pod) => shown.has(podText(pod))))
}
