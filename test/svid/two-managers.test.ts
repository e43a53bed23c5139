// Two SPIRE Controller Managers of two classes on one SPIRE server, both with SCM 0.7's filter by class name, one of them with a
// label selector too: an output is in force under the SCM that its class and labels lead to, and makes no entry under the other.
// Whose an entry is shows its ID, which begins with the prefix of the SCM that has made it.
import { llamaPod, serviceAccount } from './build-cluster.ts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { stringAt, type JsonRecord } from '../../shared/src/core/base/json.ts'
import type { ControlPlane } from '../control-plane/control-plane.ts'
import { bindingId, conditionOf, estate, outputsOf, poolOnly, untilReason } from '../control-plane/objects.ts'
import {
  startOperator,
  startOperatorPlane,
  whileDown,
  type RunningOperator,
} from '../control-plane/operator.ts'
import { until } from '@kleym/testing/wait.ts'
import { csid } from './clusterspiffeid.ts'
import { CLASS, startSpire, type Spire } from './spire.ts'

const OTHER_CLASS = 'other-class'
const CLASS_LABEL = 'spire.spiffe.io/class-name'
/** Sees what has the class `CLASS`, its label, and `tier: gold`. */
const GOLD = {
  entryIDPrefix: 'gold',
  filterByClassName: true,
  clusterSPIFFEIDLabelSelector: { tier: 'gold' },
}
/** Sees what has the class `OTHER_CLASS` and its label. */
const OTHER = { entryIDPrefix: 'other', className: OTHER_CLASS, filterByClassName: true }
/** Later than the minute that the operator gives SCM before it says anything but `Registered`. */
const PATIENCE_MS = 120_000

let cp: ControlPlane
let spire: Spire
let operator: RunningOperator
beforeAll(async () => {
  cp = await startOperatorPlane()
  spire = await startSpire(cp, GOLD)
  await spire.another('scm-other', OTHER)
  await cp.apply([
    { apiVersion: 'v1', kind: 'Node', metadata: { name: 'gpu-1' } },
    ...['first', 'second', 'third'].flatMap(tenant),
    csid(
      'of-the-other',
      {
        spiffeIDTemplate: 'spiffe://example.org/another/{{ .PodMeta.Namespace }}',
        className: OTHER_CLASS,
      },
      { labels: { [CLASS_LABEL]: OTHER_CLASS } },
    ),
  ])
})
afterAll(() => cp?.stop())

/** A namespace with a pool and a pod of it on a node. */
function tenant(space: string): readonly JsonRecord[] {
  return [...estate(space), serviceAccount(space, 'llama'), llamaPod(space, 'llama-0')]
}

/** Waits until the operator says this of the binding of a namespace; returns the condition `InForce`. */
async function said(space: string, reason: string): Promise<JsonRecord> {
  return until(
    async () => {
      const condition = conditionOf(await cp.admin.get(bindingId(space, 'llm')), 'InForce')
      expect(stringAt(condition, 'reason')).toBe(reason)
      return condition
    },
    `InForce of ${space}/llm to say ${reason}`,
    PATIENCE_MS,
  )
}

/** `<prefix of the SCM> <path of the SPIFFE ID>` of all entries, sorted. */
async function held(): Promise<readonly string[]> {
  return (await spire.entries())
    .map(
      ({ entryId, spiffeId }) => `${entryId.split('.')[0]} ${spiffeId.replace('spiffe://example.org', '')}`,
    )
    .toSorted()
}

/** Waits for whole passes of both, and for these entries. */
async function untilHeld(wanted: readonly string[]): Promise<void> {
  await until(
    async () => {
      expect(await held()).toEqual(wanted)
      return true
    },
    `the entries ${wanted.join(', ')}`,
    PATIENCE_MS,
  )
  await spire.settled()
  expect(await held()).toEqual(wanted)
}

const OTHERS_OWN = ['first', 'second', 'third'].map((space) => `other /another/${space}`)
/** Once the first tenant has a second pod. */
const WITH_SECOND_POD = ['other /another/first', ...OTHERS_OWN]

test('an output with the class and the label is in force under the SCM of that class, and makes no entry under the other', async () => {
  operator = await startOperator(cp, {
    flags: [`--clusterspiffeid-class-name=${CLASS}`, '--output-label=tier=gold'],
  })
  await operator.leads()
  await cp.apply([poolOnly('first', 'llm')])
  await untilReason(cp, 'first', 'llm', 'Reconciled')
  expect(stringAt(await said('first', 'Registered'), 'status')).toBe('True')
  await untilHeld(['gold /ns/first/pool/llama', ...OTHERS_OWN])
})

test('a class that moves to the other SCM takes the identities with it, and nothing of them is left behind', async () => {
  operator = await whileDown(cp, operator, () => cp.apply([poolOnly('second', 'llm')]), {
    flags: [`--clusterspiffeid-class-name=${OTHER_CLASS}`],
  })
  await untilReason(cp, 'second', 'llm', 'Reconciled')
  expect(stringAt(await said('second', 'Registered'), 'status')).toBe('True')
  await until(async () => {
    const [output] = await outputsOf(cp, 'first', 'llm')
    return stringAt(output, 'spec', 'className') === OTHER_CLASS
  }, 'the output of first/llm to have the other class')
  // The other SCM comes to other counters: the same ones would be taken for those of before, for a minute.
  await cp.apply([llamaPod('first', 'llama-1')])
  expect(stringAt(await said('first', 'Registered'), 'status')).toBe('True')
  await untilHeld([
    ...WITH_SECOND_POD,
    ...['first', 'first', 'second'].map((space) => `other /ns/${space}/pool/llama`),
  ])
})

test('an output with the class and without the label that its SCM selects is in force nowhere, and the operator says so', async () => {
  operator = await whileDown(cp, operator, () => cp.apply([poolOnly('third', 'llm')]), {
    flags: [`--clusterspiffeid-class-name=${CLASS}`],
  })
  await untilReason(cp, 'third', 'llm', 'Reconciled')
  expect(stringAt(await said('third', 'NotHandled'), 'status')).toBe('Unknown')
  await untilHeld(WITH_SECOND_POD)
})

test('with that label it is in force, and all the others with it', async () => {
  operator = await whileDown(cp, operator, async () => undefined, {
    flags: [`--clusterspiffeid-class-name=${CLASS}`, '--output-label=tier=gold'],
  })
  expect(stringAt(await said('third', 'Registered'), 'status')).toBe('True')
  await untilHeld([
    ...['first', 'first', 'second', 'third'].map((space) => `gold /ns/${space}/pool/llama`),
    ...WITH_SECOND_POD,
  ])
})
