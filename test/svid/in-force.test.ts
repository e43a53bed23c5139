// The condition InForce (docs/contract.md §7) on the real SCM, with the filter by which SCM 0.7 sees only labelled objects: every
// reason that SCM can give, when the operator says it, and how many writes that takes.
import { llamaPod, node, serviceAccount } from './build-cluster.ts'
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { IN_FORCE_DELAY_MS } from '../../shared/src/core/decide/in-force/in-force.ts'
import { readOutputStats, reasonOfStats } from '../../shared/src/core/model/objects/output-stats.ts'
import { dig, listAt, stringAt, type JsonRecord } from '../../shared/src/core/base/json.ts'
import type { ControlPlane } from '../control-plane/control-plane.ts'
import {
  bindingId,
  conditionOf,
  estate,
  eventsOf,
  outputsOf,
  poolOnly,
  untilReason,
} from '../control-plane/objects.ts'
import { startOperator, startOperatorPlane } from '../control-plane/operator.ts'
import { ensureSpire } from '../control-plane/spire-binaries.ts'
import { until } from '@kleym/testing/wait.ts'
import { CLASS, CLUSTER_SPIFFE_ID, startSpire, TRUST_DOMAIN, type Spire } from './spire.ts'

/** How long after its cause a bad word may come at the latest, on a machine that does other work too. */
const LATEST_MS = 90_000
/** How much later than the operator a test may see counters, which shortens what it measures. */
const SEEN_LATE_MS = 3_000
/** The second bound of a wait that a test makes: later than any word that is on time. */
const PATIENCE_MS = 200_000

/** What SCM is configured with: an instance of its own prefix leaves hand-made entries alone, and they stand in its way. */
const FILTERED = {
  filterByClassName: true,
  clusterSPIFFEIDLabelSelector: { tier: 'gold' },
  entryIDPrefix: 'scm',
}

let cp: ControlPlane
let spire: Spire
beforeAll(async () => {
  cp = await startOperatorPlane()
})
afterAll(() => cp?.stop())

const UNSCHEDULED = { nodeName: undefined, schedulerName: 'none' }

/** A namespace with a pool, a service account and perhaps a pod. */
function spaceWith(name: string, pods: 'scheduled' | 'unscheduled' | 'none'): readonly JsonRecord[] {
  const there = pods === 'none' ? [] : [llamaPod(name, 'llama-0', pods === 'scheduled' ? {} : UNSCHEDULED)]
  return [...estate(name), serviceAccount(name, 'llama'), ...there]
}

async function inForce(name: string): Promise<JsonRecord | undefined> {
  return conditionOf(await cp.admin.get(bindingId(name, 'llm')), 'InForce')
}

/** Waits until `InForce` of the binding of a namespace has this reason; returns the condition. */
async function said(name: string, reason: string): Promise<JsonRecord> {
  let last: string | undefined
  return until(
    async () => {
      const condition = await inForce(name)
      last = stringAt(condition, 'reason')
      return last === reason && condition
    },
    `InForce of ${name}/llm to say ${reason}`,
    PATIENCE_MS,
  ).catch((error: unknown) => {
    throw new Error(`${String(error)}; it says ${String(last)}`)
  })
}

/** How long after SCM's counters began to say so without a break `InForce` has this reason, in milliseconds. */
async function delayOf(name: string, reason: string): Promise<number> {
  let since: number | undefined
  await until(
    async () => {
      const stats = readOutputStats(await output(name))
      const word = stats === undefined ? undefined : reasonOfStats(stats)
      since = word === reason ? (since ?? performance.now()) : undefined
      const says = stringAt(await inForce(name), 'reason')
      if (says === reason) return true
      throw new Error(`it says ${says}, and SCM's counters are ${JSON.stringify(stats)}`)
    },
    `InForce of ${name}/llm to say ${reason}`,
    PATIENCE_MS,
  )
  return performance.now() - (since ?? Number.NaN)
}

async function output(name: string): Promise<JsonRecord> {
  return until(async () => (await outputsOf(cp, name, 'llm'))[0], `the output of ${name}/llm`)
}

describe('where SCM filters by class and by a label', () => {
  const spaces = ['serving', 'empty', 'openshift-serving', 'unscheduled', 'masked', 'taken']

  test('before SCM runs, the operator gives it a minute, and then says that nothing has handled the outputs', async () => {
    await cp.apply([
      node('gpu-1'),
      ...spaceWith('serving', 'scheduled'),
      ...spaceWith('empty', 'none'),
      ...spaceWith('openshift-serving', 'scheduled'),
      ...spaceWith('unscheduled', 'unscheduled'),
      ...spaceWith('masked', 'scheduled'),
      ...spaceWith('taken', 'scheduled'),
    ])
    const operator = await startOperator(cp, {
      flags: [`--clusterspiffeid-class-name=${CLASS}`, '--output-label=tier=gold'],
    })
    await operator.leads()
    const began = performance.now()
    await cp.apply(spaces.map((name) => poolOnly(name, 'llm')))
    await Promise.all(spaces.map((name) => untilReason(cp, name, 'llm', 'Reconciled')))
    expect(stringAt(await inForce('serving'), 'reason')).toBe('Pending')
    expect(stringAt(await said('serving', 'NotHandled'), 'status')).toBe('Unknown')
    expect(performance.now() - began).toBeGreaterThan(IN_FORCE_DELAY_MS)
    const { metadata } = await output('serving')
    expect(dig(metadata, 'labels', 'spire.spiffe.io/class-name')).toBe(CLASS)
    expect(dig(metadata, 'labels', 'tier')).toBe('gold')
    expect(dig(metadata, 'annotations', 'kleym.sonda.red/output-labels')).toBe('tier')
  })

  test('SCM says each thing with its counters, good news at once and bad news after a minute', async () => {
    await occupy('masked')
    spire = await startSpire(cp, FILTERED)
    const seized = seize('taken')
    const began = performance.now()
    const cases = [
      ['empty', 'NoPods'],
      ['openshift-serving', 'NamespaceIgnored'],
      ['unscheduled', 'RenderFailed'],
      ['masked', 'Masked'],
      ['taken', 'EntriesRefused'],
    ] as const
    const delays = cases.map(([name, reason]) => delayOf(name, reason))
    expect(stringAt(await said('serving', 'Registered'), 'status')).toBe('True')
    expect(performance.now() - began).toBeLessThan(IN_FORCE_DELAY_MS)
    await seized
    for (const [at, [name]] of cases.entries()) {
      const delay = await delays[at]
      expect(delay, `the delay of ${name}`).toBeGreaterThan(IN_FORCE_DELAY_MS - SEEN_LATE_MS)
      expect(delay, `the delay of ${name}`).toBeLessThan(LATEST_MS)
      expect(stringAt(await inForce(name), 'status'), `the delay of ${name}`).toBe('False')
    }
    const entries = (await spire.entries()).map(({ spiffeId }) => spiffeId)
    expect(entries).toContain(`spiffe://${TRUST_DOMAIN}/ns/serving/pool/llama`)
    expect(entries).not.toContain(`spiffe://${TRUST_DOMAIN}/ns/empty/pool/llama`)
  })

  test('nothing is written while nothing changes, and scaling within a class writes nothing', async () => {
    const before = await versions()
    await cp.apply([llamaPod('serving', 'llama-1')])
    await until(async () => {
      const stats = dig((await output('serving'))['status'], 'stats', 'podsSelected')
      return stats === 2
    }, 'SCM to count two pods')
    await spire.settled()
    expect(await versions()).toEqual(before)
  })

  test('a binding that is refused has no output, which is said at once', async () => {
    const began = performance.now()
    await cp.apply([poolOnly('serving', 'lost', { poolRef: { name: 'no-such-pool' } })])
    await untilReason(cp, 'serving', 'lost', 'TargetPoolNotFound')
    const condition = conditionOf(await cp.admin.get(bindingId('serving', 'lost')), 'InForce')
    expect(condition).toMatchObject({ status: 'False', reason: 'NoOutput' })
    expect(performance.now() - began).toBeLessThan(IN_FORCE_DELAY_MS)
  })

  test('the way from a bad word to Registered has one event each', async () => {
    await cp.apply([llamaPod('empty', 'llama-0')])
    await said('empty', 'Registered')
    const events = await eventsOf(cp, 'empty', 'llm', 3)
    expect(events.filter((reason) => reason === 'Warning NoPods')).toHaveLength(1)
    expect(events.filter((reason) => reason === 'Normal Registered')).toHaveLength(1)
  })

  /** The version of every binding: it moves with every write. */
  async function versions(): Promise<readonly (string | undefined)[]> {
    const objects = await Promise.all(spaces.map((name) => cp.admin.get(bindingId(name, 'llm'))))
    return objects.map((object) => stringAt(object, 'metadata', 'resourceVersion'))
  }
})

/** Another's object that wants the very entries of a binding's output, and comes first: it is older by its creation. */
async function occupy(name: string): Promise<void> {
  const ours = await output(name)
  const labels = { 'spire.spiffe.io/class-name': CLASS, tier: 'gold' }
  const occupant = await cp.admin.apply({
    ...CLUSTER_SPIFFE_ID,
    metadata: { name: `a-${name}`, labels },
    spec: Object(ours['spec']),
  })
  // The operator writes the deleted one again, in a later second: ages are in whole ones, and in one the UID would decide.
  const uid = stringAt(ours, 'metadata', 'uid')
  const age = Date.parse(stringAt(occupant, 'metadata', 'creationTimestamp') ?? '')
  await until(() => Date.now() >= age + 1000, 'a later second')
  await cp.admin.delete({ ...CLUSTER_SPIFFE_ID, name: stringAt(ours, 'metadata', 'name') ?? '' })
  await until(
    async () => stringAt(await output(name), 'metadata', 'uid') !== uid,
    `a new output of ${name}/llm`,
  )
}

/** An entry made by hand that the server takes for the same as the one that SCM is going to ask for. */
async function seize(name: string): Promise<void> {
  const binaries = await ensureSpire()
  if (!binaries.available) throw new Error(binaries.why)
  const found = await until(async () => {
    const held = await spire.entries()
    return held.find(({ spiffeId }) => spiffeId === `spiffe://${TRUST_DOMAIN}/ns/${name}/pool/llama`)
  }, `the entry of ${name}/llm`)
  const socket = join(cp.folder, 'spire.sock')
  const run = promisify(execFile)
  await spire.scm().signal('SIGSTOP')
  const { stdout } = await run(binaries.programs['spire-server'], [
    'entry',
    'show',
    '-socketPath',
    socket,
    '-spiffeID',
    found.spiffeId,
    '-output',
    'json',
  ])
  const [entry] = listAt(JSON.parse(stdout), 'entries')
  const id = stringAt(entry, 'id') ?? ''
  await run(binaries.programs['spire-server'], ['entry', 'delete', '-socketPath', socket, '-entryID', id])
  const selectors = found.selectors.flatMap((selector) => ['-selector', selector])
  await run(binaries.programs['spire-server'], [
    'entry',
    'create',
    '-socketPath',
    socket,
    '-parentID',
    found.parentId,
    '-spiffeID',
    found.spiffeId,
    ...selectors,
  ])
  await spire.scm().signal('SIGCONT')
}
