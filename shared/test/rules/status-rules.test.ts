// Where a cluster is not what the operator would make of it: status, output, operator.
import { describe, expect, test } from 'vitest'
import { statusRule } from '../../src/core/findings/rules/status-rules.ts'
import type { OperatorDeployment } from '../../src/core/analysis/settings/operator-deployment.ts'
import type { JsonRecord } from '../../src/core/base/json.ts'
import { live, outputOf, pool, poolOnly } from '@kleym/testing/manifests.ts'
import { analysisOf } from '@kleym/testing/random-tenants.ts'

const GROUND = [poolOnly(), pool()]
const OUTPUT = outputOf(GROUND)
const NAME = OUTPUT.metadata.name
const RUNNING: readonly OperatorDeployment[] = [operator(1, 1)]

function operator(wanted: number, available: number, name = 'op'): OperatorDeployment {
  return {
    subject: { kind: 'Deployment', namespace: 'kleym', name },
    wanted,
    available,
    isSeen: true,
    images: [],
  }
}

interface Status {
  readonly seen?: number
  readonly reason?: string
  readonly message?: string
  readonly recorded?: string
}

/** The binding as the operator has left it. */
function left({ seen = 1, reason, message = 'because', recorded }: Status): JsonRecord {
  const ready = { type: 'Ready', status: 'True', reason, message, lastTransitionTime: '2026-01-01T00:00:00Z' }
  return poolOnly({
    status: {
      observedGeneration: seen,
      conditions: reason === undefined ? [] : [ready],
      ...(recorded !== undefined && { clusterSPIFFEID: { name: recorded, uid: `uid-of-${recorded}` } }),
    },
  })
}

/** `CODE: summary` of each finding. */
function said(
  objects: readonly JsonRecord[],
  operators: readonly OperatorDeployment[] | undefined = RUNNING,
): readonly string[] {
  return statusRule.find(analysisOf(objects), operators).map(({ code, summary }) => `${code}: ${summary}`)
}

describe('the status of a binding', () => {
  const settled = live(OUTPUT)

  test.each<[string, JsonRecord, readonly string[]]>([
    ['that agrees', left({ reason: 'Reconciled', recorded: NAME }), []],
    ['that is not there', poolOnly(), ['KLM540: the operator has written no status yet']],
    [
      'about an older generation, whatever it says',
      left({ seen: 0, reason: 'Reconciled', recorded: NAME }),
      ["KLM540: the operator's status is about generation 0, and the binding is at 1"],
    ],
    ['about a newer generation than was listed', left({ seen: 2, reason: 'Reconciled', recorded: NAME }), []],
    [
      'that says something else',
      left({ reason: 'TargetPoolNotFound', recorded: NAME }),
      ["KLM541: the operator's status says TargetPoolNotFound, and it is Reconciled"],
    ],
    [
      'that says nothing of Ready',
      left({ recorded: NAME }),
      ["KLM541: the operator's status says nothing, and it is Reconciled"],
    ],
    ...['ManagedOutputApplyFailed', 'Undetermined', 'WaitingForPeer'].map(
      (reason): [string, JsonRecord, readonly string[]] => [
        `that says ${reason}, which the operator alone can know`,
        left({ reason, recorded: NAME }),
        [`KLM541: the operator says ${reason}: because`],
      ],
    ),
  ])('%s', (_says, binding, findings) => {
    expect(said([binding, pool(), settled])).toEqual(findings)
  })

  test('shows both words where they differ', () => {
    const [found] = statusRule.find(
      analysisOf([left({ reason: 'TargetPoolNotFound' }), pool(), settled]),
      RUNNING,
    )
    expect(found).toMatchObject({
      subject: { kind: 'InferenceIdentityBinding', namespace: 'team-a', name: 'llama' },
      evidence: ['status: because', `here: compiled into ClusterSPIFFEID ${NAME}`],
    })
  })

  test.each(['InferencePool.inference.networking.k8s.io', 'ClusterSPIFFEID.spire.spiffe.io'])(
    'is not compared with what is not known here, since %s may not be read',
    (kind) => {
      const objects = [left({ reason: 'Reconciled', recorded: NAME }), pool(), settled]
      const read = objects.filter((object) => !kind.startsWith(`${String(object['kind'])}.`))
      expect(statusRule.find(analysisOf(read, { forbidden: [kind] }), [])).toEqual([])
    },
  )

  test('of a binding that is being deleted is not reported', () => {
    expect(said([poolOnly({ deletedAt: '2026-01-01T00:00:00Z' }), pool()])).toEqual([])
  })
})

describe('the output of a binding', () => {
  const inStep = left({ reason: 'Reconciled', recorded: NAME })
  const refused = left({ reason: 'TargetPoolNotFound' })

  test.each<[string, readonly JsonRecord[], readonly string[]]>([
    ['is in force', [inStep, pool(), live(OUTPUT)], []],
    [
      'is gone, and the status says that it is there',
      [inStep, pool()],
      [`KLM542: ClusterSPIFFEID ${NAME} is gone, and the status says that it is in force`],
    ],
    ['must still be made', [left({ reason: 'Reconciled' }), pool()], []],
    ['is recorded under another name', [left({ reason: 'Reconciled', recorded: 'other' }), pool()], []],
    [
      'was changed',
      [inStep, pool(), live(OUTPUT, { spec: { podSelector: undefined, hint: 'x' } })],
      [
        `KLM542: ClusterSPIFFEID ${NAME} differs from what the binding renders in .spec.hint, .spec.podSelector`,
      ],
    ],
    [
      'is left over',
      [refused, live(OUTPUT)],
      [`KLM542: ClusterSPIFFEID ${NAME} is still there: its binding is refused (TargetPoolNotFound)`],
    ],
  ])('%s', (_says, objects, findings) => {
    expect(said(objects)).toEqual(findings)
  })

  test('is named beside the binding', () => {
    const [found] = statusRule.find(analysisOf([inStep, pool()]), RUNNING)
    expect(found).toMatchObject({
      subject: { namespace: 'team-a', name: 'llama' },
      related: [{ kind: 'ClusterSPIFFEID', namespace: '', name: NAME }],
    })
  })
})

describe('the operator', () => {
  const waiting = [...GROUND, poolOnly({ name: 'second' })]
  const withoutOperator = [left({ reason: 'Reconciled', recorded: NAME }), pool(), live(OUTPUT)]
  const about = (
    operators: readonly OperatorDeployment[] | undefined,
    objects = waiting,
  ): readonly string[] => said(objects, operators).filter((one) => one.startsWith('KLM543'))

  test.each<[string, readonly OperatorDeployment[] | undefined, readonly string[]]>([
    ['is not there', [], ['KLM543: no Deployment of the operator is there']],
    ['does not run', [operator(2, 0)], ['KLM543: none of its 2 replicas is available']],
    ['is scaled to nothing', [operator(0, 0)], ['KLM543: none of its 0 replicas is available']],
    ['runs', [operator(1, 1)], []],
    ['runs, though another does not', [operator(1, 0), operator(1, 1, 'other')], []],
    ['could not be looked for', undefined, []],
  ])('%s', (_says, operators, findings) => {
    expect(about(operators)).toEqual(findings)
  })

  test('that does not run is reported where nothing waits for it, too', () => {
    expect(about([operator(1, 0)], withoutOperator)).toEqual(['KLM543: none of its 1 replica is available'])
  })

  test('is not missed where nothing waits for it, and nothing shows that it is down', () => {
    expect(about([], withoutOperator)).toEqual([])
    expect(about([{ ...operator(1, 0), isSeen: false }], withoutOperator)).toEqual([])
  })

  test.each([
    ['1 binding waits for it', GROUND],
    ['2 bindings wait for it', waiting],
  ])('is one finding about all bindings, with how many of them wait: %s', (evidence, objects) => {
    const found = statusRule.find(analysisOf(objects), [operator(1, 0)]).find(({ code }) => code === 'KLM543')
    expect(found).toMatchObject({
      subject: { kind: 'Deployment', namespace: 'kleym', name: 'op' },
      related: [],
      evidence: [evidence],
    })
  })
})
