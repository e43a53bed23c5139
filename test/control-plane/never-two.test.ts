// That the reading of a cluster's history, which the suites of the operator rest on, finds what it looks for: outputs and a
// status by hand, without an operator.
import { createHash } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { stringAt, type JsonRecord } from '../../shared/src/core/base/json.ts'
import { ANNOTATION_BINDING, ANNOTATION_BINDING_UID } from '../../shared/src/core/model/names.ts'
import { startControlPlane, type ControlPlane } from './control-plane.ts'
import { followHistory } from './history.ts'
import { nameOf } from './in-force.ts'
import { leftWithout, toldTooEarly, twoAtOnce } from './never-two.ts'
import { binding, bindingId, namespace, outputId } from './objects.ts'

let cp: ControlPlane
beforeAll(async () => {
  cp = await startControlPlane()
})
afterAll(() => cp?.stop())

test('the history shows two outputs on one container, and a refusal that is told too early', async () => {
  const history = await followHistory(cp)
  const [first, second] = [handMade('first'), handMade('second')]
  await cp.apply([namespace('by-hand'), binding('by-hand', 'first'), first, second])
  const owner = await cp.admin.get(bindingId('by-hand', 'first'))
  const uid = { [ANNOTATION_BINDING_UID]: stringAt(owner, 'metadata', 'uid') }
  await cp.admin.patch(outputId(nameOf(first)), { metadata: { annotations: uid } })
  const ready = { type: 'Ready', status: 'False', reason: 'IdentityCollision', message: 'by hand' }
  const conditions = [{ ...ready, lastTransitionTime: '2026-01-01T00:00:00Z' }]
  await cp.admin.patch(bindingId('by-hand', 'first'), { status: { conditions } }, 'status')

  const changes = await history.changes()
  history.stop()
  // When it came, and when its annotation was changed.
  expect(twoAtOnce(changes)).toHaveLength(2)
  expect(twoAtOnce(changes)[0]).toContain('both register k8s:ns:by-hand k8s:sa:llama k8s:container-name:vllm')
  expect(toldTooEarly(changes)).toEqual([
    expect.stringContaining('by-hand/first says IdentityCollision while'),
  ])
})

test('the history shows a binding that is left without an output, and none that has another one by then', async () => {
  const history = await followHistory(cp)
  const [gone, renamed, next] = [handMade('gone'), handMade('renamed'), handMade('renamed', 'next')]
  await cp.apply([gone, renamed, next])
  for (const output of [gone, renamed]) await cp.admin.delete(outputId(nameOf(output)))
  const changes = await history.changes()
  history.stop()
  expect(leftWithout(changes, new Set(['by-hand/gone', 'by-hand/renamed']))).toEqual([
    expect.stringContaining(`by-hand/gone is left without ${nameOf(gone)}`),
  ])
  expect(leftWithout(changes, new Set())).toEqual([])
})

/** An output as kleym writes it, for a binding of namespace `by-hand`. */
function handMade(owner: string, objective = owner): JsonRecord {
  const spiffeIDTemplate = `spiffe://example.org/ns/by-hand/objective/${objective}`
  const hash = createHash('sha256').update(`by-hand/${owner}\n${spiffeIDTemplate}`).digest('hex').slice(0, 20)
  return {
    apiVersion: 'spire.spiffe.io/v1alpha1',
    kind: 'ClusterSPIFFEID',
    metadata: {
      name: `kleym-by-hand-${owner}-${hash}`,
      annotations: { [ANNOTATION_BINDING]: `by-hand/${owner}`, [ANNOTATION_BINDING_UID]: owner },
    },
    spec: {
      spiffeIDTemplate,
      podSelector: { matchLabels: { app: 'llama' } },
      workloadSelectorTemplates: [
        'k8s:ns:by-hand',
        'k8s:sa:llama',
        'k8s:pod-label:app:llama',
        'k8s:container-name:vllm',
      ],
    },
  }
}
