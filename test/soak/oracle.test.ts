// The soak's oracle on looks that are right and on looks that are not: it must see each of them.
import { expect, test } from 'vitest'
import { outputName } from '../../shared/src/core/decide/compile/output.ts'
import type { JsonRecord } from '../../shared/src/core/base/json.ts'
import { ANNOTATION_BINDING, ANNOTATION_BINDING_UID } from '../../shared/src/core/model/names.ts'
import { binding, objective, pool } from '../control-plane/objects.ts'
import { Oracle, type Look } from './oracle.ts'

const SPACE = 'team-a'
const BOUND_MS = 60_000

function oracle(): Oracle {
  return new Oracle({ boundMs: BOUND_MS, trustDomain: 'example.org' })
}

function stored(object: JsonRecord, metadata: JsonRecord = {}): JsonRecord {
  return { ...object, metadata: { ...Object(object['metadata']), uid: 'u1', ...metadata } }
}

function output(name: string, container = 'vllm', labels: JsonRecord = { app: 'llama' }): JsonRecord {
  const spiffeIDTemplate = `spiffe://example.org/ns/${SPACE}/objective/${name}`
  return {
    metadata: {
      name: outputName(SPACE, name, 'objective', spiffeIDTemplate),
      annotations: { [ANNOTATION_BINDING]: `${SPACE}/${name}`, [ANNOTATION_BINDING_UID]: 'u1' },
    },
    spec: {
      spiffeIDTemplate,
      podSelector: { matchLabels: labels },
      workloadSelectorTemplates: [`k8s:ns:${SPACE}`, 'k8s:sa:llama', `k8s:container-name:${container}`],
    },
  }
}

const RIGHT: Look = {
  bindings: [stored(binding(SPACE, 'chat'))],
  pools: [pool(SPACE, 'llama', { app: 'llama' })],
  objectives: [objective(SPACE, 'chat', 'llama'), objective(SPACE, 'other', 'llama')],
  outputs: [output('chat')],
}

test('what is right may stay for ever', () => {
  const judge = oracle()
  for (let at = 0; at < 5; at++) judge.look(RIGHT, at * BOUND_MS)
  expect([judge.broken, judge.open, judge.looks]).toEqual([[], 0, 5])
})

const STALE: readonly { name: string; look: Partial<Look> }[] = [
  { name: 'a binding that is gone', look: { bindings: [] } },
  { name: 'a namesake', look: { bindings: [stored(binding(SPACE, 'chat'), { uid: 'u2' })] } },
  {
    name: 'a binding that is being deleted',
    look: { bindings: [stored(binding(SPACE, 'chat'), { deletionTimestamp: 'now' })] },
  },
  { name: 'a pool that is gone', look: { pools: [] } },
  { name: 'a pool with other labels', look: { pools: [pool(SPACE, 'llama', { app: 'gemma' })] } },
  {
    name: 'a pool with more labels',
    look: { pools: [pool(SPACE, 'llama', { app: 'llama', tier: 'gold' })] },
  },
  { name: 'an objective that is gone', look: { objectives: [] } },
  { name: 'an objective of another pool', look: { objectives: [objective(SPACE, 'chat', 'gemma')] } },
  {
    name: 'another container',
    look: { bindings: [stored(binding(SPACE, 'chat', { containerName: 'proxy' }))] },
  },
  {
    name: 'another service account',
    look: { bindings: [stored(binding(SPACE, 'chat', { serviceAccountName: 'gemma' }))] },
  },
  {
    name: 'another objective',
    look: { bindings: [stored(binding(SPACE, 'chat', { objectiveRef: { name: 'other' } }))] },
  },
  {
    name: 'a collision',
    look: { bindings: [stored(binding(SPACE, 'chat')), stored(binding(SPACE, 'other'))] },
  },
]

test.each(STALE)('an output of $name may stay for the stated time, and no longer', ({ look }) => {
  const judge = oracle()
  judge.look({ ...RIGHT, ...look }, 0)
  judge.look({ ...RIGHT, ...look }, BOUND_MS)
  expect(judge.broken).toEqual([])
  expect(judge.open).toBeGreaterThan(0)
  judge.look({ ...RIGHT, ...look }, BOUND_MS + 1)
  expect(judge.broken.join()).toMatch(/is in force 60 s after it should have gone/)
})

test('what is put right in between begins anew, and is measured', () => {
  const judge = oracle()
  judge.look({ ...RIGHT, pools: [] }, 0)
  judge.look(RIGHT, BOUND_MS)
  judge.look({ ...RIGHT, pools: [] }, BOUND_MS + 1_000)
  judge.look({ ...RIGHT, pools: [] }, BOUND_MS + 3_000)
  expect(judge.broken).toEqual([])
  expect(judge.stale).toEqual({ over: [BOUND_MS], longestMs: BOUND_MS })
})

test('a binding without the output that it should have is late', () => {
  const judge = oracle()
  judge.look({ ...RIGHT, outputs: [] }, 0)
  judge.look({ ...RIGHT, outputs: [] }, BOUND_MS + 1)
  expect(judge.broken).toEqual(['team-a/chat has no output 60 s after it should have one'])
  expect(judge.late.longestMs).toBe(BOUND_MS + 1)
})

test('two on one container are seen at once', () => {
  const judge = oracle()
  judge.look({ ...RIGHT, outputs: [output('chat'), output('other')] }, 0)
  expect(judge.broken.join()).toMatch(/both register k8s:ns:team-a k8s:sa:llama k8s:container-name:vllm/)
})

test('two whose pods have nothing in common are not two', () => {
  const judge = oracle()
  judge.look({ ...RIGHT, outputs: [output('chat'), output('other', 'vllm', { app: 'gemma' })] }, 0)
  expect(judge.broken).toEqual([])
})
