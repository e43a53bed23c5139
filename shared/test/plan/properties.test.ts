// What must hold for every input: its order does not matter, the plan comes to an end, and then no two bindings share a
// container.
import { planOnce } from '@kleym/testing/at-once.ts'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { leastSeen, runs } from '@kleym/testing/runs.ts'
import { liveClaims } from '../../src/core/decide/collide/claim.ts'
import { relationOf } from '../../src/core/decide/collide/claim-index.ts'
import { meet } from '../collide/meet.ts'
import { podLabelsOf } from '../../src/core/decide/compile/identity.ts'
import type { JsonRecord } from '../../src/core/base/json.ts'
import type { LiveOutput } from '../../src/core/decide/plan/plan.ts'
import { nextStatus, verdictOf } from '../../src/core/decide/plan/status.ts'
import type { Config } from '../../src/core/decide/settings/config.ts'
import { CONFIG, manifestOf, settledCluster, type SettledCluster } from '@kleym/testing/manifests.ts'
import { randomCluster } from '@kleym/testing/random-bindings.ts'

const RUNS = runs(150)

/** The status that the operator would write for every binding. */
function said(judgements: SettledCluster['settled']['judgements']): unknown {
  return [...judgements].map(([key, judgement]) => [key, judgement.state, verdictOf(judgement)])
}

/** Everything that is made of a cluster, as bytes. */
function bytesOf({ settled, compiled }: SettledCluster): string {
  const actions = [settled.first.actions, settled.changes].map((list) =>
    list.map((action) =>
      action.kind === 'delete'
        ? ['delete', action.binding, action.live.object.meta.name, action.because]
        : [action.kind, action.binding, action.output, action.kind === 'update' ? action.drift : []],
    ),
  )
  const judgements = [settled.first.judgements, settled.judgements].map((map) =>
    [...map].map(([key, judgement]) => [key, judgement.state, verdictOf(judgement)]),
  )
  const results = compiled.map(({ binding: { key }, result }) => [key, result])
  return JSON.stringify([
    results,
    judgements,
    actions,
    settled.outputs.map(({ object }) => manifestOf(object)),
  ])
}

/** Pairs of outputs of different owners that provably give one container two identities of one mode. */
function sharing(outputs: readonly LiveOutput[]): readonly string[] {
  const claims = outputs.flatMap(({ object, ownership }) =>
    ownership.kind === 'ours' ? liveClaims(object, ownership.binding) : [],
  )
  return claims.flatMap((one, at) =>
    claims
      .slice(at + 1)
      .filter((other) => other.owner !== one.owner && meet(one, other))
      .map((other) => `${one.owner} and ${other.owner}`),
  )
}

describe('random clusters', () => {
  test('permuting the input changes no byte, nor does compiling twice', () => {
    const shuffled = randomCluster.chain(({ inputs, outputs }) => {
      const objects = [...inputs, ...outputs]
      const unique = [...new Map(objects.map((one) => [JSON.stringify(nameOf(one)), one])).values()]
      return fc.record({
        unique: fc.constant(unique),
        permuted: fc.shuffledSubarray(unique, { minLength: unique.length }),
      })
    })
    fc.assert(
      fc.property(shuffled, ({ unique, permuted }) => {
        const expected = bytesOf(settledCluster(unique))
        expect(bytesOf(settledCluster(permuted))).toBe(expected)
        expect(bytesOf(settledCluster(unique))).toBe(expected)
      }),
      { numRuns: RUNS },
    )
  })

  test('settle comes to an end, and then no two bindings share a container', () => {
    fc.assert(
      fc.property(randomCluster, ({ inputs, outputs }) => {
        const { settled } = settledCluster([...inputs, ...outputs])
        expect(settled.atRest).toBe(true)
        const standing = settled.outputs.filter(({ object }) => object.meta.deletedAt === undefined)
        expect(sharing(standing)).toEqual([])
      }),
      { numRuns: RUNS },
    )
  })

  test('another pass over what settle leaves has nothing to do, and says the same of every binding', () => {
    let onlyCreated = 0
    fc.assert(
      fc.property(randomCluster, fc.boolean(), ({ inputs, outputs }, fresh) => {
        const { settled, compiled } = settledCluster(fresh ? inputs : [...inputs, ...outputs])
        if (settled.changes.length > 0 && settled.changes.every(({ kind }) => kind === 'create'))
          onlyCreated++
        const confirmed = planOnce(compiled, settled.outputs, 'known')
        expect(confirmed.actions).toEqual([])
        expect(said(confirmed.judgements)).toEqual(said(settled.judgements))
      }),
      { numRuns: 2 * RUNS },
    )
    expect(onlyCreated).toBeGreaterThan(leastSeen(15))
  })

  test('two Ready bindings of one mode that gives out containers or variants share no pod', () => {
    const seen = { PerObjective: 0, PerVariant: 0 }
    fc.assert(
      fc.property(randomCluster, ({ inputs, outputs }) => {
        const { settled } = settledCluster([...inputs, ...outputs])
        for (const pass of [settled.first, settled]) {
          const ready = [...pass.judgements.values()].flatMap((judgement) =>
            judgement.state === 'ready' && judgement.resolved.identity.mode !== 'PoolOnly'
              ? [judgement.resolved.identity]
              : [],
          )
          for (const { mode } of ready) if (mode !== 'PoolOnly') seen[mode]++
          const both = ready.flatMap((one, at) =>
            ready
              .slice(at + 1)
              .filter(
                (other) =>
                  one.namespace === other.namespace &&
                  one.serviceAccountName === other.serviceAccountName &&
                  one.mode === other.mode &&
                  one.containerName === other.containerName &&
                  relationOf(podLabelsOf(one), podLabelsOf(other)) !== undefined,
              ),
          )
          expect(both).toEqual([])
        }
      }),
      { numRuns: 2 * RUNS },
    )
    expect(Math.min(seen.PerObjective, seen.PerVariant)).toBeGreaterThan(leastSeen(15))
  })

  test('without a binding of a variant the label key of the install changes no byte, nor does having none', () => {
    const keys = fc.constantFrom(undefined, 'llm-d.ai/role', 'tier', 'app')
    fc.assert(
      fc.property(randomCluster, keys, ({ inputs, outputs }, key) => {
        const objects = [...inputs.filter((one) => modeOf(one) !== 'PerVariant'), ...outputs]
        const { variantLabelKey: _, ...without } = CONFIG
        const config: Config = key === undefined ? without : { ...CONFIG, variantLabelKey: key }
        const one = settledCluster(objects)
        const other = settledCluster(objects, { config })
        expect(bytesOf(other)).toBe(bytesOf(one))
        expect(statusesOf(other, config)).toBe(statusesOf(one, CONFIG))
      }),
      { numRuns: RUNS },
    )
  })

  test('what settle leaves is settled: a second time changes nothing', () => {
    fc.assert(
      fc.property(randomCluster, ({ inputs, outputs }) => {
        const once = settledCluster([...inputs, ...outputs])
        const settledOutputs = once.settled.outputs.map(({ object }) => manifestOf(object))
        const twice = settledCluster([...inputs, ...settledOutputs])
        expect(twice.settled.changes).toEqual([])
        expect(twice.settled.first.actions).toEqual([])
      }),
      { numRuns: RUNS },
    )
  })

  test('there is one output for each ready binding, under its own name', () => {
    fc.assert(
      fc.property(randomCluster, ({ inputs, outputs }) => {
        const { settled } = settledCluster([...inputs, ...outputs])
        const names = new Set(settled.outputs.map(({ object }) => object.meta.name))
        const ready = [...settled.judgements.values()].flatMap((judgement) =>
          judgement.state === 'ready' ? [judgement.resolved.output.metadata.name] : [],
        )
        expect(new Set(ready).size).toBe(ready.length)
        expect(ready.filter((name) => !names.has(name))).toEqual([])
      }),
      { numRuns: RUNS },
    )
  })
})

function modeOf({ spec }: JsonRecord): unknown {
  return Object(spec).mode
}

/** The statuses that the operator would write, as bytes. */
function statusesOf({ settled }: SettledCluster, config: Config): string {
  const context = { config, generation: 1, now: '2026-01-01T00:00:00Z', inForceReason: undefined }
  return JSON.stringify(
    [...settled.judgements].map(([key, judgement]) => [
      key,
      nextStatus(undefined, judgement, { ...context, inForce: undefined }),
    ]),
  )
}

function nameOf(object: JsonRecord): unknown {
  const { metadata, kind, apiVersion } = object
  const { name, namespace } = Object(metadata)
  return [apiVersion, kind, namespace, name]
}
