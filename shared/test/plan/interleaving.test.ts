// Passes as they run in a cluster: a plan is made, some of its actions are carried out in any order, a deletion may take
// its time, and then the next plan is made. It must end where `settle` ends, and on the way no container gets a second
// identity that it did not have at the start.
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { runs } from '@kleym/testing/runs.ts'
import { liveClaims } from '../../src/core/decide/collide/claim.ts'
import { relationOf } from '../../src/core/decide/collide/claim-index.ts'
import type { JsonRecord } from '../../src/core/base/json.ts'
import type { Action, LiveOutput } from '../../src/core/decide/plan/plan.ts'
import { got, live, manifestOf, settledCluster, type SettledCluster } from '@kleym/testing/manifests.ts'
import { randomCluster } from '@kleym/testing/random-bindings.ts'

const STEPS_MAX = 100

/** The ClusterSPIFFEIDs of a cluster, by name. */
type Cluster = Map<string, JsonRecord>

/** A stream of small numbers, repeated for ever. */
function stream(numbers: readonly number[]): (below: number) => number {
  let at = 0
  return (below) => (numbers[at++ % numbers.length] ?? 0) % below
}

function carryOut(action: Action, cluster: Cluster, lingers: boolean): void {
  if (action.kind === 'delete') {
    const { object } = action.live
    const current = cluster.get(object.meta.name)
    if (current === undefined) return
    if (lingers) cluster.set(object.meta.name, terminating(current))
    else cluster.delete(object.meta.name)
    return
  }
  const uid =
    action.kind === 'update' ? got(action.live.object.meta.uid) : `made-${action.output.metadata.name}`
  // A POST onto a name that is taken, or a PUT of what is gone, changes nothing: the next plan decides again.
  if (cluster.has(action.output.metadata.name) === (action.kind === 'create')) return
  cluster.set(action.output.metadata.name, live(action.output, { uid }))
}

function terminating(object: JsonRecord): JsonRecord {
  return { ...object, metadata: { ...Object(object['metadata']), deletionTimestamp: '2026-01-01T00:00:00Z' } }
}

/** Pairs of outputs of ours, by name, that give one container of provably common pods two identities. */
function sharing(outputs: readonly LiveOutput[]): ReadonlySet<string> {
  const claims = outputs.flatMap(({ object, ownership }) =>
    ownership.kind === 'foreign' ? [] : liveClaims(object, ''),
  )
  const pairs = claims.flatMap((one, at) =>
    claims
      .slice(at + 1)
      .filter(
        (other) =>
          one.output !== other.output &&
          one.namespace === other.namespace &&
          one.serviceAccountName === other.serviceAccountName &&
          one.containerName === other.containerName &&
          relationOf(one.labels, other.labels) !== undefined,
      )
      .map((other) => [one.output ?? '', other.output ?? ''].toSorted().join(' and ')),
  )
  return new Set(pairs)
}

/** Old and new output of one binding overlap for a moment, which the contract allows. */
function ofOneBinding(pair: string, outputs: readonly LiveOutput[]): boolean {
  const owners = pair.split(' and ').map((name) => {
    const ownership = outputs.find(({ object }) => object.meta.name === name)?.ownership
    return ownership?.kind === 'ours' ? ownership.binding : name
  })
  return new Set(owners).size === 1
}

function look(wishes: readonly JsonRecord[], cluster: Cluster): SettledCluster {
  return settledCluster([...wishes, ...cluster.values()])
}

const summary = (objects: readonly JsonRecord[]): readonly string[] =>
  objects.map(({ metadata, spec }) => JSON.stringify([Object(metadata).name, spec])).toSorted()

test('actions in any order, with deletions that linger, end where settle ends and never share anew', () => {
  const numbers = fc.array(fc.nat({ max: 11 }), { minLength: 1, maxLength: 40 })
  fc.assert(
    fc.property(randomCluster, numbers, ({ inputs, outputs }, choices) => {
      const next = stream(choices)
      const cluster: Cluster = new Map(outputs.map((one) => [String(Object(one['metadata']).name), one]))
      let now = look(inputs, cluster)
      const atStart = sharing(now.live)
      const lasting = now.live.filter(({ object }) => object.meta.deletedAt === undefined)
      const expected = settledCluster([...inputs, ...lasting.map(({ object }) => manifestOf(object))]).settled
        .outputs

      for (let step = 0; step < STEPS_MAX; step++) {
        const { actions } = now.settled.first
        const lingering = now.live.filter(({ object }) => object.meta.deletedAt !== undefined)
        if (actions.length === 0 && lingering.length === 0) break
        if (actions.length === 0 || next(4) === 0) {
          const gone = lingering[next(Math.max(lingering.length, 1))]
          if (gone !== undefined) cluster.delete(gone.object.meta.name)
        }
        const due = [...actions]
        for (let left = next(due.length + 1) || 1; left > 0 && due.length > 0; left--) {
          const [action] = due.splice(next(due.length), 1)
          carryOut(got(action), cluster, next(3) === 0)
          now = look(inputs, cluster)
          const fresh = [...sharing(now.live)].filter(
            (pair) => !atStart.has(pair) && !ofOneBinding(pair, now.live),
          )
          expect(fresh).toEqual([])
        }
        now = look(inputs, cluster)
      }

      expect(now.settled.first.actions).toEqual([])
      expect(summary([...cluster.values()])).toEqual(
        summary(expected.map(({ object }) => manifestOf(object))),
      )
    }),
    { numRuns: runs(80) },
  )
})
