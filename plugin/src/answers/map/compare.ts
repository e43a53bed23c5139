// `map --compare`: two folders, each a whole desired state, as `diff --base` compares them. What a change gives and takes is
// what `diff` says of it, so that the two never disagree.
import { effectOf, type EffectOptions } from '@kleym/shared/core/answers/index.ts'
import { getOrCreate } from '@kleym/shared/core/base/get-or-create.ts'
import { podText } from '@kleym/shared/core/model/objects/pod-index.ts'
import type { Analysis } from '@kleym/shared/core/analysis/index.ts'
import type { MapChange } from './graph.ts'

/** What a change does to one container. */
export interface HolderChange {
  /** SPIFFE IDs. */
  readonly gained: readonly string[]
  readonly lost: readonly string[]
  /** Whether it gains or loses one depends on what is not known. */
  readonly isUncertain: boolean
}

/** Nothing. */
export const NO_CHANGE: HolderChange = { gained: [], lost: [], isUncertain: false }

/** What a change does, for the boxes of a map. */
export interface MapDifference {
  /** By the text of the pod: those that are only on one side. */
  readonly pods: ReadonlyMap<string, MapChange>
  readonly containers: ReadonlyMap<string, HolderChange>
  /** By binding: its verdict before and after; null where it is not there. */
  readonly verdicts: ReadonlyMap<string, { readonly before: string | null; readonly after: string | null }>
}

interface Gathered {
  readonly gained: string[]
  readonly lost: string[]
  isUncertain: boolean
}

/** Compares two desired states once both have settled. */
export function differenceOf(before: Analysis, after: Analysis, options: EffectOptions): MapDifference {
  const effect = effectOf(before.settled, after.settled, options)
  const containers = new Map<string, Gathered>()
  const at = (pod: string, container: string): Gathered =>
    getOrCreate(containers, keyOf(pod, container), () => ({ gained: [], lost: [], isUncertain: false }))
  for (const { spiffeId, containers: all } of effect.gained)
    for (const { pod, container } of all) at(pod, container).gained.push(spiffeId)
  for (const { spiffeId, containers: all } of effect.lost)
    for (const { pod, container } of all) at(pod, container).lost.push(spiffeId)
  for (const { pod, container } of effect.uncertain) at(pod, container).isUncertain = true
  const [had, has] = [before, after].map(
    ({ podsInQuestion }) => new Set(podsInQuestion.map((pod) => podText(pod))),
  )
  return {
    containers,
    pods: new Map<string, MapChange>([
      ...onlyIn(had, has).map((text) => [text, 'removed'] as const),
      ...onlyIn(has, had).map((text) => [text, 'added'] as const),
    ]),
    verdicts: new Map(
      effect.verdicts.map(({ binding, before: from, after: to }) => [
        binding,
        { before: from ?? null, after: to ?? null },
      ]),
    ),
  }
}

function onlyIn(left: ReadonlySet<string> = new Set(), right: ReadonlySet<string> = new Set()): string[] {
  return [...left].filter((one) => !right.has(one))
}

/** What the change does to a container. */
export function holderChange(
  difference: MapDifference | undefined,
  pod: string,
  container: string,
): HolderChange {
  return difference?.containers.get(keyOf(pod, container)) ?? NO_CHANGE
}

function keyOf(pod: string, container: string): string {
  return `${pod}\n${container}`
}
