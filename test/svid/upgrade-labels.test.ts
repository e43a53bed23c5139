// An upgrade from the version that set no class label (docs/upgrade.md), with SCM at work all along: the operator labels every
// output in place, and no entry is gone for a moment. Afterwards SCM may filter by the label.
import { llamaPod, serviceAccount } from './build-cluster.ts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { dig, stringAt, type JsonRecord } from '../../shared/src/core/base/json.ts'
import { namespace, outputs, pool, poolOnly, untilReason } from '../control-plane/objects.ts'
import type { ControlPlane } from '../control-plane/control-plane.ts'
import { startOperator, startOperatorPlane } from '../control-plane/operator.ts'
import { idOf } from '../control-plane/rest.ts'
import { until } from '@kleym/testing/wait.ts'
import { CLASS, CLUSTER_SPIFFE_ID, startSpire, type Spire } from './spire.ts'

const SPACES = ['team-a', 'team-b', 'team-c'] as const
const LABEL = 'spire.spiffe.io/class-name'

let cp: ControlPlane
let spire: Spire
beforeAll(async () => {
  cp = await startOperatorPlane()
})
afterAll(() => cp?.stop())

/** A namespace with a pool and two pods on a node. */
function tenant(space: string): readonly JsonRecord[] {
  const pods = ['llama-0', 'llama-1'].map((name) => llamaPod(space, name))
  const account = serviceAccount(space, 'llama')
  return [namespace(space), pool(space, 'llama', { app: 'llama' }), account, ...pods]
}

/** The outputs of kleym as the API server has them. */
async function ours(): Promise<readonly JsonRecord[]> {
  return (await outputs(cp)).filter((one) => dig(one, 'spec', 'className') === CLASS)
}

async function uidsOfOurs(): Promise<ReadonlySet<string | undefined>> {
  return new Set((await ours()).map((one) => stringAt(one, 'metadata', 'uid')))
}

async function entries(): Promise<readonly string[]> {
  return (await spire.entries())
    .map(({ spiffeId, selectors }) => `${spiffeId} ${selectors.join()}`)
    .toSorted()
}

test('an upgrade labels the outputs in place, and no entry is gone for a moment', async () => {
  await cp.apply([{ apiVersion: 'v1', kind: 'Node', metadata: { name: 'gpu-1' } }, ...SPACES.flatMap(tenant)])
  const flags = [`--clusterspiffeid-class-name=${CLASS}`]
  const before = await startOperator(cp, { flags })
  await before.leads()
  await cp.apply(SPACES.map((space) => poolOnly(space, 'llm')))
  await Promise.all(SPACES.map((space) => untilReason(cp, space, 'llm', 'Reconciled')))
  expect(await before.stop()).toBe('exit code 0')
  // What the version before has left: the same outputs without the label.
  for (const output of await ours())
    await cp.admin.patch(idOf({ ...output, ...CLUSTER_SPIFFE_ID }), {
      metadata: { labels: { [LABEL]: null } },
    })
  const uids = await uidsOfOurs()
  spire = await startSpire(cp)
  await spire.settled()
  const held = await entries()
  expect(held).toHaveLength(SPACES.length * 2)

  const upgrade = { isOver: false }
  let samples = 0
  const missing = new Set<string>()
  const sampling = (async () => {
    while (!upgrade.isOver || samples < 5) {
      const now = new Set(await entries())
      for (const entry of held) if (!now.has(entry)) missing.add(entry)
      samples += 1
    }
  })()
  const after = await startOperator(cp, { flags })
  await after.leads()
  await until(
    async () => (await ours()).every((one) => dig(one, 'metadata', 'labels', LABEL) === CLASS),
    'every output to have the class label',
  )
  await spire.settled()
  upgrade.isOver = true
  await sampling
  expect(samples).toBeGreaterThan(4)
  expect([...missing]).toEqual([])
  expect(await entries()).toEqual(held)
  expect(await uidsOfOurs()).toEqual(uids)

  await spire.restart({ filterByClassName: true })
  await spire.settled()
  expect(await entries()).toEqual(held)
})
