// What must hold for every input: order does not matter, rest is reached, nobody shares a container, nothing crashes.
import { namespacedName } from '../../src/core/namespaced-name.ts'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { liveClaims } from '../../src/core/collide/claim.ts'
import { indexClaims, relationOf } from '../../src/core/collide/claim-index.ts'
import type { Claim } from '../../src/core/collide/claim.ts'
import { collisionMessage, collisionOf, waitsOf } from '../../src/core/collide/conflict.ts'
import { outputName } from '../../src/core/compile/output.ts'
import type { JsonRecord } from '../../src/core/json.ts'
import { planOnce, type LiveOutput } from '../../src/core/plan/plan.ts'
import { verdictOf } from '../../src/core/plan/status.ts'
import { isDns1123Label } from '../../src/core/text/kubernetes.ts'
import { manifestOf, world, type World } from './build.ts'
import { randomWorld } from './worlds.ts'

const RUNS = 150

/** What the operator would say of every binding. */
function said(judgements: World['settled']['judgements']): unknown {
  return [...judgements].map(([key, judgement]) => [key, judgement.state, verdictOf(judgement)])
}

/** Everything that a world comes to, as bytes. */
function bytesOf({ settled, compiled }: World): string {
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

/** Pairs of outputs of different owners that provably give one container two PerObjective identities. */
export function sharing(outputs: readonly LiveOutput[]): readonly string[] {
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

function meet(one: Claim, other: Claim): boolean {
  return (
    one.namespace === other.namespace &&
    one.serviceAccountName === other.serviceAccountName &&
    one.containerName === other.containerName &&
    relationOf(one.labels, other.labels) !== undefined
  )
}

describe('random worlds', () => {
  test('permuting the input changes no byte, nor does compiling twice', () => {
    const shuffled = randomWorld.chain(({ wishes, leftovers }) => {
      const objects = [...wishes, ...leftovers]
      const unique = [...new Map(objects.map((one) => [JSON.stringify(nameOf(one)), one])).values()]
      return fc.record({
        unique: fc.constant(unique),
        permuted: fc.shuffledSubarray(unique, { minLength: unique.length }),
      })
    })
    fc.assert(
      fc.property(shuffled, ({ unique, permuted }) => {
        const expected = bytesOf(world(unique))
        expect(bytesOf(world(permuted))).toBe(expected)
        expect(bytesOf(world(unique))).toBe(expected)
      }),
      { numRuns: RUNS },
    )
  })

  test('settle reaches rest, and afterwards nobody shares a container', () => {
    fc.assert(
      fc.property(randomWorld, ({ wishes, leftovers }) => {
        const { settled } = world([...wishes, ...leftovers])
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
      fc.property(randomWorld, fc.boolean(), ({ wishes, leftovers }, fresh) => {
        const { settled, compiled } = world(fresh ? wishes : [...wishes, ...leftovers])
        if (settled.changes.length > 0 && settled.changes.every(({ kind }) => kind === 'create'))
          onlyCreated++
        const confirmed = planOnce(compiled, settled.outputs)
        expect(confirmed.actions).toEqual([])
        expect(said(confirmed.judgements)).toEqual(said(settled.judgements))
      }),
      { numRuns: 2 * RUNS },
    )
    expect(onlyCreated).toBeGreaterThan(RUNS / 10)
  })

  test('two bindings that are both Ready and PerObjective share no pod on one container', () => {
    fc.assert(
      fc.property(randomWorld, ({ wishes, leftovers }) => {
        const { settled } = world([...wishes, ...leftovers])
        for (const pass of [settled.first, settled]) {
          const ready = [...pass.judgements.values()].flatMap((judgement) =>
            judgement.state === 'ready' && judgement.resolved.identity.mode === 'PerObjective'
              ? [judgement.resolved.identity]
              : [],
          )
          const both = ready.flatMap((one, at) =>
            ready
              .slice(at + 1)
              .filter(
                (other) =>
                  one.namespace === other.namespace &&
                  one.serviceAccountName === other.serviceAccountName &&
                  one.containerName === other.containerName &&
                  relationOf(one.poolLabels, other.poolLabels) !== undefined,
              ),
          )
          expect(both).toEqual([])
        }
      }),
      { numRuns: RUNS },
    )
  })

  test('what settle leaves is settled: a second time changes nothing', () => {
    fc.assert(
      fc.property(randomWorld, ({ wishes, leftovers }) => {
        const once = world([...wishes, ...leftovers])
        const outputs = once.settled.outputs.map(({ object }) => manifestOf(object))
        const twice = world([...wishes, ...outputs])
        expect(twice.settled.changes).toEqual([])
        expect(twice.settled.first.actions).toEqual([])
      }),
      { numRuns: RUNS },
    )
  })

  test('outputs of the settled world are one per ready binding, under its own name', () => {
    fc.assert(
      fc.property(randomWorld, ({ wishes, leftovers }) => {
        const { settled } = world([...wishes, ...leftovers])
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

const NAME_CHARS = fc.constantFrom('a', 'b', '0', '-', '.', 'x')
const objectName = fc
  .string({ unit: NAME_CHARS, minLength: 1, maxLength: 80 })
  .map((text) => `k${text}`.replaceAll(/[.-]+/g, (run) => run.slice(0, 1)).replace(/[.-]$/, ''))

test('names are unique per binding, and DNS-1123 labels', () => {
  const key = fc.record({
    namespace: objectName.map((name) => name.replaceAll('.', '').slice(0, 63)),
    name: objectName,
  })
  fc.assert(
    fc.property(
      fc.uniqueArray(key, { selector: (one) => `${one.namespace}/${one.name}`, maxLength: 20 }),
      (keys) => {
        const names = keys.map((one) =>
          outputName(one.namespace, one.name, 'objective', 'spiffe://example.org/x'),
        )
        expect(new Set(names).size).toBe(keys.length)
        expect(names.filter((name) => !isDns1123Label(name))).toEqual([])
      },
    ),
    { numRuns: RUNS },
  )
})

const claim: fc.Arbitrary<Claim> = fc.record({
  basis: fc.constantFrom('declared', 'declared', 'declared', 'tentative', 'live', 'reserved'),
  owner: fc.constantFrom(
    '' as const,
    ...Array.from('abcdefghijklmnopqr', (name) => namespacedName('n', name)),
  ),
  output: fc.constantFrom(undefined, 'o1', 'o2'),
  namespace: fc.constantFrom('n', 'm'),
  serviceAccountName: fc.constantFrom('s', 's', 't'),
  containerName: fc.constantFrom('c', 'c', 'd'),
  labels: fc
    .dictionary(fc.constantFrom('k', 'l', 'm', 'n"\n'), fc.constantFrom('1', '2'), { maxKeys: 4 })
    .map((labels) => new Map(Object.entries(labels).toSorted(([a], [b]) => (a < b ? -1 : 1)))),
  spiffeId: fc.constant('spiffe://example.org/x'),
})

function line(claimed: Claim, relation: unknown): string {
  return `${claimed.owner} ${claimed.basis} ${claimed.output ?? ''} ${String(relation)}`
}

function member(owner: Claim['owner']): Claim {
  return {
    basis: 'declared',
    owner,
    output: undefined,
    namespace: 'n',
    serviceAccountName: 's',
    containerName: 'c',
    labels: new Map([['k', '1']]),
    spiffeId: 'spiffe://example.org/x',
  }
}

test('a crowd in one cell names the ten that follow, in whatever order its claims came', () => {
  const owners = Array.from({ length: 30 }, (_, at) => namespacedName('n', String(at).padStart(2, '0')))
  fc.assert(
    fc.property(fc.shuffledSubarray(owners, { minLength: 15 }), fc.nat(), (crowd, pick) => {
      const own = crowd[pick % crowd.length] ?? namespacedName('n', '')
      const collision = collisionOf(indexClaims(crowd.map(member)), member(own))
      const inOrder = crowd.toSorted()
      const following = [
        ...inOrder.slice(inOrder.indexOf(own) + 1),
        ...inOrder.slice(0, inOrder.indexOf(own)),
      ]
      expect(collision?.named.map((peer) => peer.claim.owner)).toEqual(following.slice(0, 10))
    }),
    { numRuns: RUNS },
  )
})

test('the claim index agrees with a comparison of all with all', () => {
  // One declared claim per owner, as bindings make them.
  const claims = fc
    .array(claim, { maxLength: 40 })
    .map((all) =>
      all.filter(
        (one, at) =>
          one.basis !== 'declared' ||
          (one.owner !== '' &&
            all.findIndex((other) => other.basis === 'declared' && other.owner === one.owner) === at),
      ),
    )
  fc.assert(
    fc.property(claims, (all) => {
      const index = indexClaims(all)
      for (const own of all.filter(({ basis }) => basis === 'declared')) {
        const peers = all.filter((other) => other.owner !== own.owner && meet(own, other))
        const declared = peers.filter(({ basis }) => basis === 'declared')
        const collision = collisionOf(index, own)
        expect(collision?.count ?? 0).toBe(declared.length)
        expect(
          (collision?.all() ?? []).map(({ claim: other, relation }) => line(other, relation)).toSorted(),
        ).toEqual(declared.map((other) => line(other, relationOf(own.labels, other.labels))).toSorted())
        const after = (owner: string): number => (owner > own.owner ? 0 : 1)
        const inTurn = declared
          .map(({ owner }) => owner)
          .toSorted((left, right) => after(left) - after(right) || (left < right ? -1 : 1))
        expect((collision?.named ?? []).map((peer) => peer.claim.owner)).toEqual(inTurn.slice(0, 10))
        const waits = waitsOf(index, own).map(({ claim: other, relation }) => line(other, relation))
        const others = peers.filter(({ basis }) => basis !== 'declared')
        expect(waits.toSorted()).toEqual(
          others.map((other) => line(other, relationOf(own.labels, other.labels))).toSorted(),
        )
        expect(collision === undefined ? '' : collisionMessage(collision)).not.toContain('undefined')
      }
    }),
    { numRuns: 300 },
  )
})

function nameOf(object: JsonRecord): unknown {
  const { metadata, kind, apiVersion } = object
  const { name, namespace } = Object(metadata)
  return [apiVersion, kind, namespace, name]
}
