// Pools without bindings, for which bindings are suggested.
import { analysing, type Analysis } from '@kleym/shared/core/analysis/states/analysis.ts'
import type { RawObject } from '@kleym/shared/core/model/objects/raw.ts'
import { driveAtOnce } from '@kleym/shared/core/base/steps.ts'
import { suggesting } from '@kleym/shared/core/answers/suggest/suggest.ts'
import { numbered, range } from './made-up-clusters.ts'
import { nodeObject, objectiveObject, podObject, poolObject } from './objects.ts'

/** Pools with two pods each, a hundred of a namespace; a third has no objective, a third one, a third two that cannot both be had. */
export function poolsWithoutBindings(count: number): readonly RawObject[] {
  return [nodeObject('node'), ...range(count).flatMap(poolAt)]
}

function poolAt(at: number): readonly RawObject[] {
  const namespace = numbered('team', Math.floor(at / 100))
  const name = numbered('pool', at)
  const labels = { app: 'vllm', model: name }
  return [
    poolObject(namespace, name, labels),
    ...range(at % 3).map((which) => objectiveObject(namespace, `${name}-${which}`, name)),
    ...range(2).map((which) =>
      podObject({ namespace, name: `${name}-${which}`, labels, node: 'node', containers: ['vllm'] }),
    ),
  ]
}

/** How many bindings are suggested for all pools. */
export function suggestionsText(analysis: Analysis): string {
  const { config, settings } = analysis
  const everything = { isPool: () => true, isObjective: undefined, isPod: undefined }
  const { pools } = driveAtOnce(
    suggesting(analysis, everything, {
      analyse: (snapshot) => analysing(snapshot, config, settings),
      drive: driveAtOnce,
    }),
  )
  return `${pools.reduce((sum, { suggested }) => sum + suggested.length, 0)} bindings`
}
