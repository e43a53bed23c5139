// Generated tests against single edits: whatever edit changes what a container holds makes one of them fail, and whatever edit
// changes nothing breaks none.
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { leastSeen, runs } from '@kleym/testing/runs.ts'
import { analysisOf, tenants } from '@kleym/testing/random-tenants.ts'
import type { Analysis } from '../../src/core/analysis/states/analysis.ts'
import { containerVerdicts, isHeld, isPossible } from '../../src/core/predict/spire/registration.ts'
import { onceScheduledOn } from '../../src/core/model/objects/unscheduled.ts'
import { EDITED_KINDS, editsOf } from './edits.ts'
import { generatedFor, outcomesOfGenerated } from './run-test.ts'

const SEED = 20_261_122
const WORLDS = runs(2_200)
/** Of worlds in which something cannot be known; all of the others are edited. */
const OPEN_WORLDS = 60
const EDITS_PER_WORLD = 14
/** Edits that change what a container holds; the rest change nothing, or what is not certain. */
const LEAST_CHANGING = leastSeen(1_400)

/** What each container holds for certain, and (second) all that it may hold, by `namespace/pod/container`; read off the prediction. */
function holdings(analysis: Analysis): {
  readonly certain: ReadonlyMap<string, string>
  readonly all: ReadonlyMap<string, string>
  readonly isKnown: boolean
} {
  const prediction = analysis.settled.prediction()
  const onceScheduled = onceScheduledOn(analysis.snapshot.nodes)
  const certain = new Map<string, string>()
  const all = new Map<string, string>()
  let isKnown = true
  for (const pod of analysis.podsInQuestion) {
    for (const container of pod.containers) {
      const registrations = containerVerdicts(prediction, pod, container)
      // What a pod that waits for a node will hold is as open as a registration that depends.
      const later = onceScheduled(pod).flatMap((one) => containerVerdicts(prediction, one, container))
      const open = [
        ...registrations.filter((one) => isPossible(one) && !isHeld(one)),
        ...later.filter((one) => isPossible(one) || isHeld(one)),
      ]
      if (open.length > 0) isKnown = false
      const key = `${pod.namespace}/${pod.ref.name}/${container.name}`
      const idsOf = (list: typeof registrations): string =>
        [...new Set(list.map(({ spiffeId }) => spiffeId ?? '?'))].toSorted().join(' ')
      const issued = idsOf(registrations.filter(isHeld))
      if (issued !== '') certain.set(key, issued)
      all.set(key, `${issued} + ${idsOf(open)}`)
    }
  }
  return { certain, all, isKnown }
}

function isSame(left: ReadonlyMap<string, string>, right: ReadonlyMap<string, string>): boolean {
  return left.size === right.size && [...left].every(([key, value]) => right.get(key) === value)
}

test('every edit that changes what a container holds makes a generated test fail, and no other does', () => {
  const changing = new Map<string, number>()
  let quiet = 0
  let open = 0
  const wrong: string[] = []
  for (const [at, world] of fc.sample(tenants, { seed: SEED, numRuns: WORLDS }).entries()) {
    const before = analysisOf(world)
    const held = holdings(before)
    if (!held.isKnown && ++open > OPEN_WORLDS) continue
    const generated = generatedFor(before)
    const own = outcomesOfGenerated(generated, before).filter(({ state }) => state !== 'passed')
    // What cannot be known at all cannot be pinned: `--generate` says so.
    if (own.length > 0 && held.isKnown) wrong.push(`world ${at}: ${JSON.stringify(own[0])}`)
    for (const [number, { kind, objects }] of editsOf(world, SEED + at, EDITS_PER_WORLD).entries()) {
      const after = analysisOf(objects)
      const now = holdings(after)
      const broken = outcomesOfGenerated(generated, after).filter(({ state }) => state !== 'passed')
      const name = `world ${at}, edit ${number} of a ${kind}`
      if (isSame(held.all, now.all)) {
        quiet++
        if (broken.length > own.length) wrong.push(`${name} changes nothing: ${JSON.stringify(broken[0])}`)
      } else if (held.isKnown && !isSame(held.certain, now.certain)) {
        changing.set(kind, (changing.get(kind) ?? 0) + 1)
        const hasFailed = broken.some(({ state }) => state === 'failed')
        const isEnough = now.isKnown ? hasFailed : broken.length > 0
        if (!isEnough) wrong.push(`${name} is not seen`)
      }
    }
  }
  const sum = [...changing.values()].reduce((total, count) => total + count, 0)
  expect(wrong.slice(0, 5)).toEqual([])
  expect(sum).toBeGreaterThanOrEqual(LEAST_CHANGING)
  expect(quiet).toBeGreaterThan(leastSeen(1_000))
  // Nodes decide about static entries and templates alone, and those are rare.
  expect(EDITED_KINDS.filter((kind) => kind !== 'Node' && (changing.get(kind) ?? 0) < leastSeen(10))).toEqual(
    [],
  )
})
