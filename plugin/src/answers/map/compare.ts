// `map --compare`: two folders, each a whole desired state, as `diff --base` compares them. What a change gives and takes is
// what `diff` says of it, so that the two never disagree.
import {
  effectByHolder,
  effectOf,
  type EffectOptions,
  type HolderEffect,
} from '@kleym/shared/core/answers/index.ts'
import { podText, type Holder } from '@kleym/shared/core/model/objects/pod-index.ts'
import type { Analysis } from '@kleym/shared/core/analysis/index.ts'
import type { MapChange } from './graph.ts'

/** What a change does, for the boxes of a map. */
export interface MapDifference {
  /** By the text of the pod: those that are only on one side. */
  readonly pods: ReadonlyMap<string, MapChange>
  readonly effectOn: (one: Holder) => HolderEffect
  /** By binding: its verdict before and after; null where it is not there. */
  readonly verdicts: ReadonlyMap<string, { readonly before: string | null; readonly after: string | null }>
}

/** Compares two desired states once both have settled. */
export function differenceOf(before: Analysis, after: Analysis, options: EffectOptions): MapDifference {
  const effect = effectOf(before.settled, after.settled, options)
  const [had, has] = [before, after].map(
    ({ podsInQuestion }) => new Set(podsInQuestion.map((pod) => podText(pod))),
  )
  return {
    effectOn: effectByHolder(effect),
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
