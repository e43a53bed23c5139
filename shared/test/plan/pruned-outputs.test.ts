// What follows if the CRD of ClusterSPIFFEIDs lacks a field of an output (docs/contract.md §8): an output that is not wider without the
// field stays as it is, and anything else of the binding goes.
import { expect, test } from 'vitest'
import {
  binding,
  CONFIG,
  estate,
  judgementOf,
  live,
  outputOf,
  settledCluster,
  type OutputParts,
  type SettledClusterOptions,
} from '@kleym/testing/manifests.ts'
import { refusePruned } from '../../src/core/decide/plan/plan.ts'
import { verdictOf } from '../../src/core/decide/plan/status.ts'

const OPTIONS: SettledClusterOptions = { config: { ...CONFIG, className: 'spire' } }
const OBJECTS = estate(binding())
const OUTPUT = outputOf(OBJECTS, 'team-a/llama', OPTIONS)
const { name } = OUTPUT.metadata
/** Of the same binding, under the name that its output had with another ID. */
const EARLIER: OutputParts = { name: 'kleym-team-a-llama-earlier', uid: 'earlier' }

/** What follows for a binding with these live outputs, if the CRD drops `fields`. */
function refused(outputs: readonly OutputParts[], fields: readonly string[], isSafe: boolean): unknown {
  const one = settledCluster([...OBJECTS, ...outputs.map((parts) => live(OUTPUT, parts))], OPTIONS)
  const judgement = judgementOf(settledCluster(OBJECTS, OPTIONS))
  if (judgement.state !== 'ready') throw new Error(judgement.state)
  const { judgement: after, actions } = refusePruned(judgement, one.live, { fields, isSafe })
  const { reason, message } = verdictOf(after) ?? {}
  return {
    reason,
    message,
    deleted: actions.map((action) => action.kind === 'delete' && action.live.object.meta.name),
  }
}

const CLASS = ['.spec.className']
const WITHOUT_CLASS: OutputParts = { spec: { className: undefined } }

test.each<[string, readonly OutputParts[], string]>([
  ['none is written', [], `cannot create .spec.className of ClusterSPIFFEID ${name}: not in its CRD`],
  ['one that has it stays', [{}], `cannot update .spec.className of ClusterSPIFFEID ${name}: not in its CRD`],
  [
    'one that lacks it stays',
    [WITHOUT_CLASS],
    `cannot update .spec.className of ClusterSPIFFEID ${name}: not in its CRD`,
  ],
])('without a field that does not make an output wider, %s', (_, outputs, message) => {
  expect(refused(outputs, CLASS, true)).toEqual({ reason: 'Undetermined', message, deleted: [] })
})

test('one of another ID goes beside one that stays', () => {
  expect(refused([WITHOUT_CLASS, EARLIER], CLASS, true)).toMatchObject({
    reason: 'Undetermined',
    deleted: [EARLIER.name],
  })
})

test.each<[string, OutputParts, readonly string[], boolean]>([
  ['it makes the output wider', WITHOUT_CLASS, CLASS, false],
  [
    'the output differs in another field too',
    { spec: { className: undefined, podSelector: undefined } },
    CLASS,
    true,
  ],
  ['the output differs in another field alone', { spec: { podSelector: undefined } }, CLASS, true],
])('all outputs go where %s', (_, parts, fields, isSafe) => {
  expect(refused([parts, EARLIER], fields, isSafe)).toMatchObject({
    reason: 'ManagedOutputApplyFailed',
    deleted: [EARLIER.name, name],
  })
})
