// docs/contract.md §6 and §8: the writes that are due, and where they lead.
import { keysOf } from '../../src/core/base/json.ts'
import { FLAWS, objectsOfFlaw } from '@kleym/testing/flaws.ts'
import { describe, expect, test } from 'vitest'
import type { JsonRecord } from '../../src/core/base/json.ts'
import type { Action } from '../../src/core/decide/plan/plan.ts'
import {
  FORBIDDEN,
  binding,
  estate,
  got,
  judgementOf,
  live,
  manifestOf,
  objective,
  orphanOf,
  outputOf,
  pool,
  poolOnly,
  reasonOf,
  settledCluster,
  type SettledCluster,
} from '@kleym/testing/manifests.ts'

const OUTPUT = outputOf(estate(binding()))
const NAME = OUTPUT.metadata.name
const DELETED_AT = '2026-01-01T00:00:00Z'

function text(action: Action): string {
  return action.kind === 'delete'
    ? `delete ${action.live.object.meta.name}`
    : `${action.kind} ${action.output.metadata.name}`
}
const firstOf = (one: SettledCluster): readonly string[] => one.settled.first.actions.map(text)
const changesOf = (one: SettledCluster): readonly string[] => one.settled.changes.map(text)
const driftIn = (one: SettledCluster): unknown => {
  const [action] = one.settled.changes
  return action?.kind === 'update' ? action.drift : action?.kind
}

describe('one binding', () => {
  test.each<[string, readonly JsonRecord[], readonly string[]]>([
    ['without output: create', [binding()], [`create ${NAME}`]],
    ['with its output: nothing', [binding(), live(OUTPUT)], []],
    [
      'with a drifted output: update',
      [binding(), live(OUTPUT, { spec: { admin: true } })],
      [`update ${NAME}`],
    ],
    ['deleting: delete', [binding({ deletedAt: DELETED_AT }), live(OUTPUT)], [`delete ${NAME}`]],
    [
      'deleting, output terminating: nothing',
      [binding({ deletedAt: DELETED_AT }), live(OUTPUT, { deletedAt: DELETED_AT })],
      [],
    ],
    ['deleting without output: nothing', [binding({ deletedAt: DELETED_AT })], []],
    [
      'terminating output is never updated',
      [binding(), live(OUTPUT, { deletedAt: DELETED_AT, spec: { admin: true } })],
      [],
    ],
    [
      'refused with a terminating output: nothing',
      [binding({ spec: { mode: 'x' } }), live(OUTPUT, { deletedAt: DELETED_AT })],
      [],
    ],
    ['refused without output: nothing', [binding({ spec: { mode: 'x' } })], []],
  ])('%s', (_name, objects, expected) => {
    const one = settledCluster(estate(...objects))
    expect(firstOf(one)).toEqual(expected)
    expect(changesOf(one)).toEqual(expected)
    expect(one.settled.atRest).toBe(true)
  })

  test('waits for its own terminating output', () => {
    const one = settledCluster(estate(binding(), live(OUTPUT, { deletedAt: DELETED_AT })))
    expect(judgementOf(one)).toMatchObject({
      state: 'waiting',
      waitsFor: [`ClusterSPIFFEID ${NAME}, which is being deleted`],
    })
  })

  test('with a new SPIFFE ID: the new output is created first, then the old one deleted', () => {
    const edited = binding({ spec: { objectiveRef: { name: 'batch' } } })
    const objects = estate(objective({ name: 'batch' }), edited)
    const next = outputOf(objects).metadata.name
    const one = settledCluster([...objects, live(OUTPUT)])
    expect(firstOf(one)).toEqual([`create ${next}`, `delete ${NAME}`])
    expect(one.settled.outputs.map(({ object }) => object.meta.name)).toEqual([next])
  })

  test('with another container: the output is updated in place', () => {
    expect(
      driftIn(settledCluster(estate(binding({ spec: { containerName: 'lora' } }), live(OUTPUT)))),
    ).toEqual(['.spec.workloadSelectorTemplates'])
  })
})

describe('every refusal withdraws the output', () => {
  const flaws = keysOf(FLAWS)
    .filter((check) => check !== 'output')
    .map((check) => [check, FLAWS[check].reason, objectsOfFlaw(FLAWS[check])] as const)
  const unexpected = estate(poolOnly({ spec: { containerName: 'vllm' } }))
  const refused = [...flaws, ['container', 'UnexpectedContainerName', unexpected] as const]
  test.each(refused)('%s: %s', (_, reason, objects) => {
    const one = settledCluster([...objects, live(OUTPUT)])
    expect(reasonOf(one)).toBe(reason)
    expect(changesOf(one)).toEqual([`delete ${NAME}`])
    const [action] = one.settled.changes
    expect(action?.kind === 'delete' && action.because).toBe(`its binding is refused (${reason})`)
  })

  test('not knowing withdraws nothing, not even a drifted output', () => {
    const gaps = { 'InferencePool.inference.networking.k8s.io': FORBIDDEN }
    const one = settledCluster([objective(), binding(), live(OUTPUT, { spec: { admin: true } })], { gaps })
    expect(changesOf(one)).toEqual([])
  })
})

describe('several bindings', () => {
  const containers = ['vllm', 'lora', 'proxy']
  /** Bindings that each hold the container of their number and now declare that of the next. */
  const rotation = (count: number): SettledCluster => {
    const names = containers.slice(0, count)
    const declaring = (shift: number): JsonRecord[] =>
      names.map((name, at) =>
        binding({ name, spec: { objectiveRef: { name }, containerName: got(names[(at + shift) % count]) } }),
      )
    const objects = [pool(), ...names.map((name) => objective({ name }))]
    const before = [...objects, ...declaring(0)]
    const outputs = names.map((name) => live(outputOf(before, `team-a/${name}`)))
    return settledCluster([...objects, ...declaring(1), ...outputs])
  }

  test.each([2, 3])('%i bindings that rotate their containers all get them', (count) => {
    const one = rotation(count)
    expect([...one.settled.first.judgements.values()].map(({ state }) => state)).toEqual(
      Array(count).fill('waiting'),
    )
    expect(one.settled.first.actions.map(({ kind }) => kind)).toEqual(Array(count).fill('delete'))
    expect([...one.settled.judgements.values()].map(({ state }) => state)).toEqual(Array(count).fill('ready'))
    expect(one.settled.changes.map(({ kind }) => kind)).toEqual(Array(count).fill('update'))
    expect(one.settled.atRest).toBe(true)
  })

  test('a waiting binding keeps an output that still says what it declares, drift beside it included', () => {
    const orphan = orphanOf(OUTPUT, 'team-a/gone', { deletedAt: DELETED_AT })
    const one = settledCluster(estate(binding(), live(OUTPUT, { spec: { ttl: '1h' } }), orphan))
    expect(reasonOf(one)).toBe('WaitingForPeer')
    expect(changesOf(one)).toEqual([])
  })

  test.each<[string, JsonRecord]>([
    ['is an admin of SPIRE', { admin: true }],
    ['is for a server downstream', { downstream: true }],
    ['has names of its own', { dnsNameTemplates: ['other.example.org'] }],
    ['is federated', { federatesWith: ['other.org'] }],
    ['looks at every namespace', { namespaceSelector: {} }],
  ])('a waiting binding loses an output that %s, which no claim shows', (_name, spec) => {
    const orphan = orphanOf(OUTPUT, 'team-a/gone', { deletedAt: DELETED_AT })
    const one = settledCluster(estate(binding(), live(OUTPUT, { spec }), orphan))
    expect(reasonOf(one)).toBe('WaitingForPeer')
    expect(changesOf(one)).toEqual([`delete ${NAME}`])
  })

  test.each<[string, JsonRecord]>([
    ['another container', { containerName: 'lora' }],
    ['another service account', { serviceAccountName: 'other' }],
    ['another SPIFFE ID', { objectiveRef: { name: 'batch' } }],
    ['PoolOnly now', { mode: 'PoolOnly', containerName: undefined, objectiveRef: undefined }],
  ])('a waiting binding loses an output that says %s', (_name, was) => {
    const before = binding({ spec: was })
    const objects = [pool(), objective(), objective({ name: 'batch' })]
    const old = live(outputOf([...objects, before]))
    const orphan = orphanOf(OUTPUT, 'team-a/gone', { deletedAt: DELETED_AT })
    const one = settledCluster([...objects, binding(), old, orphan])
    expect(reasonOf(one)).toBe('WaitingForPeer')
    expect(one.settled.changes.map(({ kind }) => kind)).toEqual(['delete'])
  })

  test('a waiting binding loses an output that says the labels that its pool had before', () => {
    const old = live(outputOf([pool({ labels: { app: 'before' } }), objective(), binding()]))
    const orphan = orphanOf(OUTPUT, 'team-a/gone', { deletedAt: DELETED_AT })
    const one = settledCluster(estate(binding(), old, orphan))
    expect(reasonOf(one)).toBe('WaitingForPeer')
    expect(changesOf(one)).toEqual([`delete ${NAME}`])
  })

  test('a collision withdraws both outputs; when one goes, the other comes back', () => {
    const peer = binding({ name: 'peer' })
    const peers = live(outputOf(estate(peer), 'team-a/peer'))
    const both = settledCluster(estate(binding(), peer, live(OUTPUT), peers))
    expect(both.settled.outputs).toEqual([])
    const after = settledCluster(
      estate(binding(), ...both.settled.outputs.map(({ object }) => manifestOf(object))),
    )
    expect(changesOf(after)).toEqual([`create ${NAME}`])
  })

  test('an orphan is removed, and then who waited for it is served', () => {
    const one = settledCluster(estate(binding(), orphanOf(OUTPUT, 'team-a/gone')))
    expect(firstOf(one)).toEqual([`delete ${outputNameOfGone()}`])
    expect(one.settled.judgements.get('team-a/llama')?.state).toBe('ready')
    expect(one.settled.outputs.map(({ object }) => object.meta.name)).toEqual([NAME])
  })

  test('the output of a binding that wants another container is no collision, and goes first', () => {
    const mover = binding({ spec: { containerName: 'lora' } })
    const one = settledCluster(estate(mover, binding({ name: 'next' }), live(OUTPUT)))
    expect(reasonOf(one, 'team-a/next')).toBe('WaitingForPeer')
    expect(reasonOf(one)).toBe('Reconciled')
    expect([...one.settled.judgements.values()].map(({ state }) => state)).toEqual(['ready', 'ready'])
  })

  test('two passes over a settled cluster change nothing', () => {
    const one = rotation(3)
    const manifests = one.settled.outputs.map(({ object }) => manifestOf(object))
    const bindings = one.snapshot.bindings.read.map(({ meta, ...rest }) =>
      binding({
        name: meta.name,
        spec: {
          objectiveRef: { name: meta.name },
          containerName: rest.containerName.ok ? rest.containerName.value : '',
        },
      }),
    )
    const again = settledCluster([
      pool(),
      ...containers.map((name) => objective({ name })),
      ...bindings,
      ...manifests,
    ])
    expect(again.settled.first.actions).toEqual([])
    expect(again.settled.changes).toEqual([])
  })
})

function outputNameOfGone(): string {
  const orphan = got(settledCluster([orphanOf(OUTPUT, 'team-a/gone')]).live[0])
  return orphan.object.meta.name
}
