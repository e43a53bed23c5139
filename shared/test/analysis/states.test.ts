// The two states of an analysis. Each answers from its own data: states that were copied from one another by spread, with
// other data, kept functions that answered from the data of the original.
import { describe, expect, test } from 'vitest'
import { unchanged, type Analysis } from '../../src/core/analysis/states/analysis.ts'
import type { State } from '../../src/core/analysis/states/state.ts'
import { effectOf } from '../../src/core/answers/explain/effect.ts'
import { derivationOf } from '../../src/core/answers/explain/explanation.ts'
import { findingsOf } from '@kleym/testing/at-once.ts'
import { statusRule } from '../../src/core/findings/rules/status-rules.ts'
import { sourceText } from '../../src/core/predict/spire/prediction.ts'
import { binding, live, manifestOf, objective, outputOf, pool } from '@kleym/testing/manifests.ts'
import { analysisOf, CHAT_ID, NODE, pod, policy } from '@kleym/testing/access-policies.ts'

/** Three bindings of one pool, one on each of three containers. */
const NAMES = ['created', 'updated', 'deleted']
const BASE = [
  NODE,
  pool(),
  objective(),
  policy(),
  pod({ spec: { containers: NAMES.map((name) => ({ name })) } }),
]
const bindingOn = (name: string): ReturnType<typeof binding> =>
  binding({ name, uid: `uid-of-${name}`, spec: { containerName: name } })
const outputFor = (name: string, parts: Parameters<typeof live>[1] = {}): ReturnType<typeof live> =>
  live(outputOf([pool(), objective(), bindingOn(name)], `team-a/${name}`), parts)

/** Its pool is gone, so that its output is to be deleted. */
const LOST = binding({
  name: 'deleted',
  uid: 'uid-of-deleted',
  spec: { containerName: 'deleted', poolRef: { name: 'gone' } },
})

/** One output is to be created, one to be updated and one to be deleted. */
function analysed(): Analysis {
  return analysisOf([
    ...BASE,
    bindingOn('created'),
    bindingOn('updated'),
    LOST,
    outputFor('updated', { spec: { hint: 'edited' } }),
    outputFor('deleted'),
  ])
}

const namesOf = ({ outputs }: State): readonly string[] => outputs.map(({ object }) => object.meta.name)

test('the estate has a change of each kind', () => {
  const { changes } = analysed()
  expect(changes.all.map(({ kind, binding: key }) => `${kind} ${key}`).toSorted()).toEqual([
    'create team-a/created',
    'delete team-a/deleted',
    'update team-a/updated',
  ])
})

describe.each(['now', 'settled'] as const)('the state %s', (which) => {
  test('predicts for its own outputs, and for no other', () => {
    const state = analysed()[which]
    expect([...state.prediction().objects.keys()].toSorted()).toEqual(
      namesOf(state)
        .map((name) => sourceText({ kind: 'ClusterSPIFFEID', name }))
        .toSorted(),
    )
  })

  test('resolves policies against its own outputs', () => {
    const state = analysed()[which]
    const [named] = state.policies().list.flatMap(({ rules }) => rules.flatMap(({ sources }) => sources))
    const resolution = named?.resolution
    if (resolution?.state !== 'resolved') throw new Error(`${CHAT_ID} is ${resolution?.state}`)
    expect(resolution.declarers.map(({ source }) => source.name).toSorted()).toEqual(
      namesOf(state).toSorted(),
    )
  })

  test('works out once what it predicts and resolves', () => {
    const state = analysed()[which]
    expect(state.prediction()).toBe(state.prediction())
    expect(state.policies()).toBe(state.policies())
  })

  test('a copy of its fields answers nothing: it would answer from the data of the original', () => {
    const copy = Object.assign({}, analysed()[which])
    expect(['prediction', 'policies'].filter((name) => name in copy)).toEqual([])
  })

  test('as an unchanged analysis has no change for any binding, whichever way it is asked', () => {
    const analysis = analysed()
    const frozen = unchanged(analysis[which])
    expect([frozen.now, frozen.settled]).toEqual([analysis[which], analysis[which]])
    for (const one of analysis.snapshot.bindings.read) {
      expect(frozen.changes.of(one.key)).toEqual([])
      expect(derivationOf(frozen, one)?.withdrawn).toEqual([])
      expect(derivationOf(frozen, one)?.output?.state ?? 'up to date').toBe('up to date')
    }
    expect(frozen.changes.all).toEqual([])
    expect(statusRule.find(frozen, undefined).filter(({ code }) => code === 'KLM542')).toEqual([])
  })
})

test('the settled state is the present state of a cluster in which kleym has done it all', () => {
  const { now, settled } = analysed()
  const outputs = settled.outputs.map(({ object }) => manifestOf(object))
  const done = analysisOf([...BASE, bindingOn('created'), bindingOn('updated'), LOST, ...outputs])
  expect(done.changes.all).toEqual([])
  expect(namesOf(done.now)).toEqual(namesOf(settled))
  expect(findingsOf(done)).toEqual(findingsOf(unchanged(settled)))
  const idsGained = (before: State): readonly string[] =>
    effectOf(before, settled).gained.map(({ spiffeId }) => spiffeId)
  expect([idsGained(now), idsGained(done.now)]).toEqual([[CHAT_ID], []])
})
