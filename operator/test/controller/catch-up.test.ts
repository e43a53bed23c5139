// What a new leader does before its first write: every cache that is followed comes from a list that began after it led,
// and nothing that cannot be listed keeps it from leading.
import { describe, expect, test } from 'vitest'
import type { JsonRecord } from '@kleym/shared/core/json.ts'
import type { Api, Listing, Resource } from '@kleym/shared/kube/api.ts'
import { ApiError } from '@kleym/shared/kube/errors.ts'
import { BINDINGS, CLUSTER_SPIFFE_IDS, OBJECTIVES, POOLS } from '@kleym/shared/kube/resources.ts'
import { FakeClock } from '../../../shared/test/kube/fake-clock.ts'
import { Kinds } from '../../src/controller/kinds.ts'
import { createWorld, type World } from '../../src/controller/world.ts'
import { settled } from '../fake-time.ts'
import { keptLog } from '../log-lines.ts'

const ALL = [BINDINGS, CLUSTER_SPIFFE_IDS, ...POOLS, ...OBJECTIVES]

/** What the lists of a kind come to, one after the other; the last one goes on for ever. `never`: no answer comes. */
type Answer = readonly string[] | 'never' | 'forbidden'

interface Plan {
  /** By the plural and group of the kind; a kind without a plan has nothing in it. */
  readonly lists?: ReadonlyMap<Resource, readonly Promise<Answer>[]>
  readonly absent?: readonly Resource[]
}

/** Kinds on an API server that answers as planned. */
function follow({ lists = new Map(), absent = [] }: Plan): { kinds: Kinds; world: World; begun: Resource[] } {
  const world = createWorld({ onError: fail })
  const begun: Resource[] = []
  const unused = async (): Promise<never> => fail(new Error('nobody but lists and watches'))
  const pages: Api['pages'] = async function* (resource) {
    const plan = lists.get(resource) ?? [Promise.resolve([])]
    const at = begun.filter((each) => each === resource).length
    begun.push(resource)
    const answer = await (plan[at] ?? plan.at(-1))
    if (answer === 'forbidden') throw forbidden()
    if (answer === 'never' || answer === undefined) await new Promise(() => {})
    else yield listing(answer, at)
  }
  const kinds = new Kinds({
    api: {
      pages,
      watch: async function* (_resource, { signal }) {
        await new Promise<void>((resolve) => signal?.addEventListener('abort', () => resolve()))
        yield* []
      },
      raw: async (_method, path) => ({
        groups: [],
        resources: ALL.filter(
          (resource) => !absent.includes(resource) && path === `/apis/${resource.group}/${resource.version}`,
        ).map(({ plural, kind }) => ({ name: plural, kind })),
      }),
      get: unused,
      list: unused,
      create: unused,
      update: unused,
      patch: unused,
      delete: unused,
    },
    world,
    clock: new FakeClock(),
    random: () => 0.5,
    log: keptLog().log,
    onError: fail,
    onRecovered: () => {},
  })
  return { kinds, world, begun }
}

function fail(error: unknown): never {
  throw error
}

function listing(names: readonly string[], at: number): Listing {
  return { items: names.map((name) => objectOf(name, at)), resourceVersion: String(100 + 10 * at) }
}

function objectOf(name: string, at: number): JsonRecord {
  return { metadata: { namespace: 'team', name, uid: `uid-${name}`, resourceVersion: String(95 + 10 * at) } }
}

function forbidden(): ApiError {
  return new ApiError({ status: 403, reason: 'Forbidden', message: 'no' })
}

function answers(...each: readonly Answer[]): readonly Promise<Answer>[] {
  return each.map((answer) => Promise.resolve(answer))
}

function namesIn(world: World): readonly string[] {
  return [...world.bindings.store.values()].map(({ meta }) => meta.name)
}

describe('catching up', () => {
  test('lists what is followed again, and takes out what is gone', async () => {
    const { kinds, world } = follow({
      lists: new Map([[BINDINGS, answers(['gone', 'chat'], ['chat', 'new'])]]),
    })
    await kinds.start()
    await settled()
    expect(namesIn(world)).toEqual(['gone', 'chat'])
    await kinds.catchUp()
    expect(namesIn(world)).toEqual(['chat', 'new'])
    await kinds.stop()
  })

  test('a first list that began before it never comes in: another one does', async () => {
    const before = Promise.withResolvers<Answer>()
    const { kinds, world } = follow({
      lists: new Map([[BINDINGS, [before.promise, ...answers(['chat'])]]]),
    })
    await kinds.start()
    await settled()
    expect(world.bindings.standing.kind).toBe('waiting')
    await kinds.catchUp()
    before.resolve(['gone', 'chat'])
    await settled()
    expect(world.bindings.standing.kind).toBe('synced')
    expect(namesIn(world)).toEqual(['chat'])
    await kinds.stop()
  })

  test('a first list that comes in while the other kinds are listed is not believed either', async () => {
    const before = Promise.withResolvers<Answer>()
    const others = Promise.withResolvers<Answer>()
    const { kinds, world } = follow({
      lists: new Map([
        [BINDINGS, [before.promise, ...answers(['chat'])]],
        [CLUSTER_SPIFFE_IDS, [...answers([]), others.promise]],
      ]),
    })
    await kinds.start()
    await settled()
    const caughtUp = kinds.catchUp()
    before.resolve(['gone', 'chat'])
    await settled()
    expect(namesIn(world)).toEqual(['gone', 'chat'])
    others.resolve([])
    await caughtUp
    await settled()
    expect(namesIn(world)).toEqual(['chat'])
    await kinds.stop()
  })

  interface Case {
    readonly name: string
    readonly plan: Plan
    readonly standing: string
  }
  const cases: readonly Case[] = [
    { name: 'is not served', plan: { absent: [BINDINGS] }, standing: 'absent' },
    {
      name: 'may not be listed',
      plan: { lists: new Map([[BINDINGS, answers('forbidden')]]) },
      standing: 'unknown',
    },
    {
      name: 'nobody answers for',
      plan: { lists: new Map([[BINDINGS, answers('never')]]) },
      standing: 'waiting',
    },
  ]
  test.each(cases)('does not wait for a kind that $name', async ({ plan, standing }) => {
    const { kinds, world } = follow(plan)
    await kinds.start()
    await settled()
    expect(world.bindings.standing.kind).toBe(standing)
    const outcome = await Promise.race([
      kinds.catchUp().then(() => 'caught up'),
      settled().then(() => 'hangs'),
    ])
    expect(outcome).toBe('caught up')
    await settled()
    expect(world.bindings.standing.kind).toBe(standing)
  })

  test('rejects where a list of what is followed fails, and begins no list anew until all of those are in', async () => {
    const { kinds, begun } = follow({
      lists: new Map([
        [BINDINGS, answers('never')],
        [CLUSTER_SPIFFE_IDS, answers([], 'forbidden', [])],
      ]),
    })
    await kinds.start()
    await settled()
    const listsOfBindings = (): number => begun.filter((each) => each === BINDINGS).length
    await expect(kinds.catchUp()).rejects.toThrow('no')
    expect(listsOfBindings()).toBe(1)
    await kinds.catchUp()
    await settled()
    expect(listsOfBindings()).toBe(2)
  })
})
