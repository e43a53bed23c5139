// docs/contract.md §6: which outputs and bindings a binding waits for, and which it does not.
import { describe, expect, test } from 'vitest'
import {
  binding,
  estate,
  FORBIDDEN,
  judgementOf,
  live,
  orphanOf,
  outputOf,
  perVariant,
  poolOnly,
  reasonOf,
  settledCluster,
} from '@kleym/testing/manifests.ts'
import type { Output } from '../../src/core/decide/compile/output.ts'
import type { JsonRecord } from '../../src/core/base/json.ts'
import { ANNOTATION_BINDING } from '../../src/core/model/names.ts'
import { NARROW, tenant } from '../collide/claims.ts'

const STRIPPED = { [ANNOTATION_BINDING]: undefined }

/** The spec of an output without the selectors that begin so. */
function without(
  { spec }: Output,
  prefix: string,
): { readonly workloadSelectorTemplates: readonly string[] } {
  const { workloadSelectorTemplates } = spec
  return { workloadSelectorTemplates: workloadSelectorTemplates.filter((text) => !text.startsWith(prefix)) }
}

describe('a binding waits', () => {
  const outputA = outputOf(estate(binding()))
  const peer = binding({ name: 'peer' })

  test.each<[string, readonly JsonRecord[], string]>([
    [
      'for the output of a deleting binding',
      [binding({ deletedAt: '2026-01-01T00:00:00Z' }), live(outputA)],
      `ClusterSPIFFEID ${outputA.metadata.name}, of binding team-a/llama, which claims the same container`,
    ],
    [
      'for the output of an edited binding',
      [binding({ spec: { containerName: 'lora' } }), live(outputA)],
      `ClusterSPIFFEID ${outputA.metadata.name}, of binding`,
    ],
    [
      'for the output of a refused binding',
      [binding({ spec: { mode: 'Both' } }), live(outputA)],
      `ClusterSPIFFEID ${outputA.metadata.name}, of binding`,
    ],
    [
      'for an output that is terminating',
      [binding({ spec: { containerName: 'lora' } }), live(outputA, { deletedAt: '2026-01-01T00:00:00Z' })],
      `ClusterSPIFFEID ${outputA.metadata.name}, of binding`,
    ],
    ['for an orphan', [orphanOf(outputA, 'team-a/gone')], 'an orphan, which claims the same container'],
    [
      'for what has a name of kleym and no annotations, as a webhook may leave it',
      [binding({ spec: { containerName: 'lora' } }), live(outputA, { annotations: STRIPPED })],
      "which claims the same container and has a name of kleym's, but is not kleym's: delete it",
    ],
  ])('%s', (_name, others, sentence) => {
    const judgement = judgementOf(settledCluster(estate(peer, ...others)), 'team-a/peer')
    expect(judgement).toMatchObject({ state: 'waiting' })
    expect(judgement.state === 'waiting' ? judgement.waitsFor.join() : '').toContain(sentence)
  })

  test('for a binding whose own checks end unknown after its pool was read', () => {
    const spec = { objectiveRef: { name: 'unread', group: 'inference.networking.x-k8s.io' } }
    const gaps = { 'InferenceObjective.inference.networking.x-k8s.io': FORBIDDEN }
    const one = settledCluster(estate(peer, binding({ spec })), { gaps })
    expect(reasonOf(one)).toBe('Undetermined')
    expect(judgementOf(one, 'team-a/peer')).toMatchObject({
      state: 'waiting',
      waitsFor: ['binding team-a/llama, whose own checks cannot be decided'],
    })
  })

  test('not for what is foreign and holds its own name: that refuses it', () => {
    const one = settledCluster(estate(binding(), live(outputA, { annotations: STRIPPED })))
    expect(reasonOf(one)).toBe('OutputNotOwned')
  })

  test.each(['kleym-team-a-copy', 'llama-objective-0123456789abcdef0123', 'kleym-0123456789abcdef012'])(
    'not for what is foreign and has a name of its own, %s',
    (name) => {
      const other = live(outputA, { name, annotations: STRIPPED })
      expect(judgementOf(settledCluster(estate(peer, other)), 'team-a/peer')).toMatchObject({
        state: 'ready',
      })
    },
  )

  test('not for a binding whose pool could not be read', () => {
    const gaps = { 'InferencePool.inference.networking.x-k8s.io': FORBIDDEN }
    const named = binding({
      name: 'peer',
      spec: { poolRef: { name: 'llama', group: 'inference.networking.k8s.io' } },
    })
    expect(reasonOf(settledCluster(estate(named, binding()), { gaps }), 'team-a/peer')).toBe('Reconciled')
  })

  test('not for a foreign output', () => {
    const foreign = live(outputA, { name: 'not-ours' })
    expect(reasonOf(settledCluster(estate(peer, foreign)), 'team-a/peer')).toBe('Reconciled')
  })

  test('not for an object of a name like ours that has no container and another ID: nobody would repair it', () => {
    const spec = {
      ...without(outputA, 'k8s:container-name:'),
      spiffeIDTemplate: 'spiffe://example.org/hand/made',
    }
    const shaped = live(outputA, {
      name: 'kleym-team-a-hand-made-0123456789abcdef0123',
      annotations: { 'kleym.sonda.red/binding': undefined },
      spec,
    })
    expect(reasonOf(settledCluster(estate(peer, shaped)), 'team-a/peer')).toBe('Reconciled')
  })

  test('not for an own output', () => {
    expect(reasonOf(settledCluster(estate(binding(), live(outputA))))).toBe('Reconciled')
  })

  test.each([
    [
      'an output whose pod selector a user has narrowed',
      { podSelector: { matchLabels: { app: 'llama', hand: 'made' } } },
    ],
    ['an output whose pod selector a user has emptied', { podSelector: {} }],
    [
      'an output to which a user has added a selector',
      { workloadSelectorTemplates: [...outputA.spec.workloadSelectorTemplates, 'unix:uid:0'] },
    ],
    [
      'an output from which a user has removed the pod labels',
      { workloadSelectorTemplates: ['k8s:container-name:vllm', 'k8s:ns:team-a', 'k8s:sa:runner'] },
    ],
    ['an output from which a user has removed the service account', without(outputA, 'k8s:sa:')],
    ['an output from which a user has removed the namespace', without(outputA, 'k8s:ns:')],
    ['an output from which a user has removed the container', without(outputA, 'k8s:container-name:')],
    [
      'an output whose SPIFFE ID a user has changed and whose container a user has removed',
      { ...without(outputA, 'k8s:container-name:'), spiffeIDTemplate: 'spiffe://example.org/hand/made' },
    ],
  ])('for %s', (_name, spec) => {
    const orphan = orphanOf(outputA, 'team-a/gone', { spec })
    expect(reasonOf(settledCluster(estate(peer, orphan)), 'team-a/peer')).toBe('WaitingForPeer')
  })

  test.each([
    ['narrowed', { app: 'llama', hand: 'made' }],
    ['turned to other pods', { app: 'other' }],
  ])('for what an output selects, when a user has %s its pod selector', (_name, matchLabels) => {
    // The entry lands on the nodes of the chosen pods, and there its selectors alone decide.
    const orphan = orphanOf(outputA, 'team-a/gone', { spec: { podSelector: { matchLabels } } })
    expect(reasonOf(settledCluster([...tenant('peer', NARROW), orphan]), 'team-a/peer')).toBe(
      'WaitingForPeer',
    )
  })

  test.each([
    ['backwards', { zone: 'b', region: 'eu', app: 'llama' }],
    ['each in another place', { zone: 'b', app: 'llama', region: 'eu' }],
  ])('for an output whose labels somebody has written in another order: %s', (_, matchLabels) => {
    const labels = { app: 'llama', region: 'eu', zone: 'b' }
    const output = outputOf(tenant('llama', labels))
    const spec = {
      podSelector: { matchLabels },
      workloadSelectorTemplates: output.spec.workloadSelectorTemplates.toReversed(),
    }
    const one = settledCluster([...tenant('peer', labels), orphanOf(output, 'team-a/gone', { spec })])
    expect(reasonOf(one, 'team-a/peer')).toBe('WaitingForPeer')
  })

  test.each<[string, Readonly<Record<string, string>>, readonly string[]]>([
    ['as declared keeps its own output', { app: 'llama', region: 'eu' }, []],
    ['for another value withdraws it', { app: 'llama', region: 'us' }, ['delete']],
    ['for another value of the first label withdraws it', { app: 'lama', region: 'eu' }, ['delete']],
    ['for one label less withdraws it', { app: 'llama' }, ['delete']],
    ['for one label more withdraws it', { app: 'llama', region: 'eu', tier: 'a' }, ['delete']],
  ])('for the output of another, and %s', (_, labels, kinds) => {
    const own = tenant('llama', NARROW)
    const orphan = orphanOf(outputOf(own), 'team-a/gone')
    const { settled } = settledCluster([...own, live(outputOf(tenant('llama', labels))), orphan])
    expect(settled.first.judgements.get('team-a/llama')).toMatchObject({ state: 'waiting' })
    expect(settled.first.actions.flatMap((one) => (one.binding === 'team-a/llama' ? one.kind : []))).toEqual(
      kinds,
    )
  })

  test.each(['k8s:sa:batch', 'k8s:ns:team-b'])('not for an output with another selector, %s', (text) => {
    const kept = without(outputA, text.slice(0, 'k8s:sa:'.length)).workloadSelectorTemplates
    const orphan = orphanOf(outputA, 'team-a/gone', { spec: { workloadSelectorTemplates: [...kept, text] } })
    expect(reasonOf(settledCluster(estate(peer, orphan)), 'team-a/peer')).toBe('Reconciled')
  })

  test('not for the output of a pool, which has no container selector', () => {
    const orphan = orphanOf(outputOf(estate(poolOnly())), 'team-a/gone')
    expect(reasonOf(settledCluster(estate(peer, orphan)), 'team-a/peer')).toBe('Reconciled')
  })

  test('not for a lost container of an output, if the binding is on the pods of a variant', () => {
    const orphan = orphanOf(outputA, 'team-a/gone', { spec: without(outputA, 'k8s:container-name:') })
    const one = settledCluster(estate(perVariant({ name: 'peer' }), orphan))
    expect(reasonOf(one, 'team-a/peer')).toBe('Reconciled')
  })

  test('while the output of a peer on another container has lost its container, and keeps its own output', () => {
    const lora = binding({ name: 'peer', spec: { containerName: 'lora' } })
    const outputB = outputOf(estate(lora), 'team-a/peer')
    const lost = live(outputA, { spec: without(outputA, 'k8s:container-name:') })
    const { settled } = settledCluster(estate(binding(), lora, lost, live(outputB)))
    expect(settled.first.judgements.get('team-a/peer')).toMatchObject({ state: 'waiting' })
    expect(settled.first.actions).toMatchObject([{ kind: 'update', binding: 'team-a/llama' }])
    expect([...settled.judgements.values()].map(({ state }) => state)).toEqual(['ready', 'ready'])
  })

  test('for each other no longer than it takes to withdraw two outputs that have lost their containers', () => {
    const lora = binding({ name: 'peer', spec: { containerName: 'lora' } })
    const lost = [outputA, outputOf(estate(lora), 'team-a/peer')].map((output) =>
      live(output, { spec: without(output, 'k8s:container-name:') }),
    )
    const { settled } = settledCluster(estate(binding(), lora, ...lost))
    expect(settled.first.actions.map(({ kind }) => kind)).toEqual(['delete', 'delete'])
    expect([...settled.judgements.values()].map(({ state }) => state)).toEqual(['ready', 'ready'])
  })

  test('for what an output chooses and selects together', () => {
    const spec = { podSelector: { matchLabels: { app: 'llama', hand: 'made' } } }
    const orphan = orphanOf(outputA, 'team-a/gone', { spec })
    expect(reasonOf(settledCluster([...tenant('peer', { hand: 'made' }), orphan]), 'team-a/peer')).toBe(
      'WaitingForPeer',
    )
  })

  test('a live output of a collision partner does not turn the collision into a wait', () => {
    expect(reasonOf(settledCluster(estate(peer, binding(), live(outputA))), 'team-a/peer')).toBe(
      'IdentityCollision',
    )
  })
})
