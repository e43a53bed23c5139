// docs/contract.md §8, "Whose object is it", row by row.
import { describe, expect, test } from 'vitest'
import { outputName } from '../../src/core/decide/compile/output.ts'
import type { JsonRecord } from '../../src/core/base/json.ts'
import {
  ANNOTATION_BINDING,
  ANNOTATION_BINDING_UID,
  ANNOTATION_GO_CLAIM,
} from '../../src/core/model/names.ts'
import type { OutputsKnown } from '../../src/core/decide/plan/plan.ts'
import { settle } from '@kleym/testing/at-once.ts'
import {
  FORBIDDEN,
  binding,
  estate,
  got,
  judgementOf,
  live,
  orphanOf,
  outputOf,
  poolOnly,
  reasonOf,
  settledCluster,
  type SettledClusterOptions,
} from '@kleym/testing/manifests.ts'

const OUTPUT = outputOf(estate(binding()))
const NAME = OUTPUT.metadata.name
const OLD_ID = 'spiffe://example.org/ns/team-a/objective/before'
const OLD_NAME = outputName('team-a', 'llama', 'objective', OLD_ID)
const BINDINGS = 'InferenceIdentityBinding.kleym.sonda.red'
const recorded = (name: string, uid: string): JsonRecord =>
  binding({ status: { clusterSPIFFEID: { name, uid } } })

describe('ownership', () => {
  test.each<[string, readonly JsonRecord[], string, (string | undefined)?, SettledClusterOptions?]>([
    ['what the binding renders now is ours', [binding(), live(OUTPUT)], 'ours'],
    [
      'what it rendered before, by its own template, is ours',
      [binding(), live(OUTPUT, { name: OLD_NAME, spec: { spiffeIDTemplate: OLD_ID } })],
      'ours',
    ],
    [
      'a hand-edited template under the name that is rendered now is ours',
      [binding(), live(OUTPUT, { spec: { spiffeIDTemplate: 'spiffe://evil' } })],
      'ours',
    ],
    [
      'a hand-edited template is ours by the recorded name and UID, though the binding renders another',
      [
        recorded(OLD_NAME, 'u1'),
        live(OUTPUT, { name: OLD_NAME, uid: 'u1', spec: { spiffeIDTemplate: 'spiffe://evil' } }),
      ],
      'ours',
    ],
    [
      'the recorded name under another UID is foreign',
      [
        recorded(OLD_NAME, 'u1'),
        live(OUTPUT, { name: OLD_NAME, uid: 'u2', spec: { spiffeIDTemplate: 'spiffe://evil' } }),
      ],
      'foreign',
      'its name is not one that kleym gives',
    ],
    [
      'the recorded UID under another name is foreign',
      [recorded(OLD_NAME, 'u1'), live(OUTPUT, { name: 'copy', uid: 'u1' })],
      'foreign',
    ],
    [
      'a recorded object of another binding UID is foreign',
      [
        recorded(OLD_NAME, 'u1'),
        live(OUTPUT, {
          name: OLD_NAME,
          uid: 'u1',
          annotations: { [ANNOTATION_BINDING_UID]: 'another' },
          spec: { spiffeIDTemplate: 'spiffe://evil' },
        }),
      ],
      'foreign',
      'it names another UID of binding team-a/llama',
    ],
    [
      'a refused binding still owns what its own template names',
      [binding({ spec: { mode: 'Both' } }), live(OUTPUT)],
      'ours',
    ],
    [
      'labels prove nothing, nor does their absence',
      [
        binding(),
        live(OUTPUT, {
          labels: { 'kleym.sonda.red/managed-by': undefined, 'kleym.sonda.red/binding-name': 'other' },
        }),
      ],
      'ours',
    ],
    [
      'a hand-made copy under another name is foreign',
      [binding(), live(OUTPUT, { name: 'copy-of-llama' })],
      'foreign',
      'its name is not one that kleym gives',
    ],
    [
      'one that the Go implementation has made is foreign',
      [
        binding(),
        live(OUTPUT, { annotations: { [ANNOTATION_BINDING]: undefined, [ANNOTATION_GO_CLAIM]: '6b8f' } }),
      ],
      'foreign',
      'the Go implementation of the same API group has made it',
    ],
    [
      'without the UID annotation it is foreign',
      [binding(), live(OUTPUT, { annotations: { [ANNOTATION_BINDING_UID]: undefined } })],
      'foreign',
      `it has no annotation ${ANNOTATION_BINDING_UID}`,
    ],
    [
      'with an empty UID annotation it is foreign',
      [binding(), live(OUTPUT, { annotations: { [ANNOTATION_BINDING_UID]: '' } })],
      'foreign',
    ],
    [
      'without the binding annotation it is foreign, whatever its labels',
      [binding(), live(OUTPUT, { annotations: { [ANNOTATION_BINDING]: undefined } })],
      'foreign',
      `it has no annotation ${ANNOTATION_BINDING}`,
    ],
    [
      'with the annotation of another binding it is foreign',
      [
        binding(),
        binding({ name: 'other' }),
        live(OUTPUT, {
          annotations: {
            [ANNOTATION_BINDING]: 'team-a/other',
            [ANNOTATION_BINDING_UID]: 'uid-of-team-a-other',
          },
        }),
      ],
      'foreign',
    ],
    ['of a binding that is gone it is an orphan', [live(OUTPUT)], 'orphan', 'binding team-a/llama is gone'],
    [
      'of a binding that is gone it is an orphan without the UID annotation, too',
      [live(OUTPUT, { annotations: { [ANNOTATION_BINDING_UID]: undefined } })],
      'orphan',
    ],
    [
      'of a binding that was made again it is an orphan',
      [binding({ uid: 'made-again' }), live(OUTPUT)],
      'orphan',
      'binding team-a/llama lives under another UID',
    ],
    [
      'of a restored backup it is an orphan, though the status records it',
      [
        {
          ...recorded(NAME, `uid-of-${NAME}`),
          metadata: { name: 'llama', namespace: 'team-a', uid: 'restored' },
        },
        live(OUTPUT),
      ],
      'orphan',
      'another UID',
    ],
    [
      'a copy whose binding is gone is foreign',
      [live(OUTPUT, { name: 'copy' })],
      'foreign',
      'its name is not the one that kleym gives',
    ],
    [
      'a copy of a binding that was made again is foreign',
      [binding({ uid: 'made-again' }), live(OUTPUT, { name: 'copy' })],
      'foreign',
    ],
    [
      'an annotation that is no key is foreign',
      [live(OUTPUT, { annotations: { [ANNOTATION_BINDING]: 'llama' } })],
      'foreign',
    ],
    [
      'when bindings cannot be read it is unknown',
      [live(OUTPUT)],
      'unknown',
      undefined,
      { gaps: { [BINDINGS]: FORBIDDEN } },
    ],
    [
      'when the kind of bindings is not there nothing is an orphan',
      [live(OUTPUT)],
      'foreign',
      'the kind of bindings is not there',
      { absentKinds: [BINDINGS] },
    ],
    ['a manifest without a UID owns what has its name', [binding({ uid: '' }), live(OUTPUT)], 'ours'],
    [
      'a manifest without a UID does not own a copy',
      [binding({ uid: '' }), live(OUTPUT, { name: 'copy' })],
      'foreign',
    ],
  ])('%s', (_name, objects, kind, why, options) => {
    const { ownership } = got(settledCluster(estate(...objects), options).live[0])
    expect(ownership.kind).toBe(kind)
    expect(JSON.stringify(ownership)).toContain(why ?? '')
  })

  test('only a manifest is taken on trust', () => {
    expect(ownershipBeside(binding({ uid: '' }))).toMatchObject({ assumed: true })
    expect(ownershipBeside(binding())).toMatchObject({ assumed: false })
  })
})

describe('what follows', () => {
  test.each<[string, readonly JsonRecord[], string, readonly string[]]>([
    [
      'a foreign object under the name is never touched',
      [live(OUTPUT, { annotations: { [ANNOTATION_BINDING]: undefined } }), binding()],
      'OutputNotOwned',
      [],
    ],
    [
      'a stripped UID annotation is never adopted',
      [live(OUTPUT, { annotations: { [ANNOTATION_BINDING_UID]: undefined } }), binding()],
      'OutputNotOwned',
      [],
    ],
    [
      'an orphan under the name is waited for and deleted',
      [live(OUTPUT), binding({ uid: 'made-again' })],
      'WaitingForPeer',
      ['delete'],
    ],
    [
      'a terminating orphan is waited for and left alone',
      [live(OUTPUT, { deletedAt: '2026-01-01T00:00:00Z' }), binding({ uid: 'made-again' })],
      'WaitingForPeer',
      [],
    ],
    [
      'a copy beside the output is left alone',
      [live(OUTPUT), live(OUTPUT, { name: 'copy' }), binding()],
      'Reconciled',
      [],
    ],
    [
      'an old name of ours is retired',
      [live(OUTPUT), live(OUTPUT, { name: OLD_NAME, spec: { spiffeIDTemplate: OLD_ID } }), binding()],
      'Reconciled',
      ['delete'],
    ],
    [
      'an orphan that claims the container is waited for under any name',
      [orphanOf(OUTPUT, 'team-a/gone'), binding()],
      'WaitingForPeer',
      ['delete'],
    ],
  ])('%s', (_name, objects, reason, actions) => {
    const one = settledCluster(estate(...objects))
    expect(reasonOf(one)).toBe(reason)
    expect(one.settled.first.actions.map(({ kind }) => kind)).toEqual(actions)
  })

  test('an orphan that holds the name of a PoolOnly binding is waited for too', () => {
    const manifest = poolOnly({ uid: 'made-again' })
    const output = outputOf(estate(poolOnly()))
    const one = settledCluster(estate(manifest, live(output)))
    expect(judgementOf(one)).toMatchObject({
      state: 'waiting',
      waitsFor: [`ClusterSPIFFEID ${output.metadata.name}, an orphan that holds the name`],
    })
    expect(one.settled.judgements.get('team-a/llama')?.state).toBe('ready')
  })

  test('an object of ours whose owner cannot be read is left alone', () => {
    const one = settledCluster(estate(live(OUTPUT)), { gaps: { [BINDINGS]: FORBIDDEN } })
    expect(one.settled.first.actions).toEqual([])
  })

  test('an object that holds the name and names a binding that cannot be read is left alone, and refuses nobody', () => {
    const output = outputOf(estate(poolOnly()))
    const holder = live(output, { annotations: { [ANNOTATION_BINDING]: 'team-b/unread' } })
    const one = settledCluster(estate(poolOnly(), holder), { gaps: { [BINDINGS]: FORBIDDEN } })
    expect(judgementOf(one)).toMatchObject({ state: 'undetermined', check: 'output', why: FORBIDDEN })
    expect(one.settled.first.actions).toEqual([])
  })

  test.each<[string, OutputsKnown]>([
    ['cannot all be read', FORBIDDEN],
    ['are not served', 'not served'],
  ])('where ClusterSPIFFEIDs %s an orphan is left alone, and nothing is ready in the end', (_name, known) => {
    const { compiled, live: outputs } = settledCluster(estate(orphanOf(OUTPUT, 'team-a/gone'), binding()))
    const { changes, judgements } = settle(compiled, outputs, known)
    expect(changes).toEqual([])
    expect([...judgements.values()].map(({ state }) => state)).toEqual([
      known === 'not served' ? 'refused' : 'undetermined',
    ])
  })

  test('OutputNotOwned says which object and why, and withdraws other outputs of the binding', () => {
    const old = live(OUTPUT, { name: OLD_NAME, spec: { spiffeIDTemplate: OLD_ID } })
    const foreign = live(OUTPUT, { annotations: { [ANNOTATION_BINDING]: undefined } })
    const one = settledCluster(estate(binding(), old, foreign))
    expect(judgementOf(one)).toMatchObject({
      check: 'output',
      message: `ClusterSPIFFEID ${NAME} exists and is not kleym's: it has no annotation ${ANNOTATION_BINDING}; delete it if no workload needs it`,
    })
    expect(one.settled.outputs.map(({ object }) => object.meta.name)).toEqual([NAME])
  })
})

function ownershipBeside(manifest: JsonRecord): unknown {
  return settledCluster(estate(manifest, live(OUTPUT))).live[0]?.ownership
}
