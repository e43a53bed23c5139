// `why` on files: for each fault the first line names the hop and the fix, with two of them the earlier one, and for healthy containers
// there is none. The same faults are brought about on real parts in test/svid/agent/why.test.ts.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { listAt, type JsonRecord } from '@kleym/shared/core/base/json.ts'
import { BOUND_FAULTS, WHY_FAULTS, WHY_PAIRS, whyFirstLine } from '@kleym/testing/why-faults.ts'
import {
  boundSlotWith,
  healthySlot,
  slotWith,
  workloadStatus,
  type WhySlot,
} from '@kleym/testing/why-world.ts'
import {
  logLine,
  logOf,
  uidOf,
  WhyFiles,
  type WhyGiven,
  type WhySaid,
  type WhyWorld,
} from '../../support/why-files.ts'

const HEALTHY = 100

const cluster = new WhyFiles()
afterAll(() => cluster.end())

/** What differs from the healthy case of faults that no object of the slot shows. */
const GIVEN: Readonly<Record<string, (world: WhyWorld, slot: WhySlot) => WhyGiven>> = {
  'SCM down': (all, slot) => ({ entries: cluster.entriesWith(all, slot, () => undefined) }),
  'entry deleted': (all, slot) => ({ entries: cluster.entriesWith(all, slot, () => undefined) }),
  'entry changed': (all, slot) => ({
    entries: cluster.entriesWith(all, slot, (one) => ({
      ...one,
      selectors: [...listAt(one, 'selectors'), { type: 'k8s', value: 'sa:other' }],
    })),
  }),
  'no entries given': () => ({ entries: '' }),
  'no log given': () => ({ log: null }),
  'agent cannot sync': ({ objects }, slot) => ({
    log:
      logOf(slot, 'app', objects) +
      logLine('error', 'Synchronize failed', 'error="no route to host"').repeat(2),
  }),
  'kubelet refuses the agent': () => ({
    log: logLine(
      'error',
      'Unable to get pod list; giving up',
      'error="dial tcp: connection refused" plugin_name=k8s',
    ),
  }),
  'container not found': ({ objects }, slot) => ({
    log: logLine(
      'error',
      'Container id not found; giving up',
      `container_id=abc pod_uid=${uidOf(objects, slot.space)} plugin_name=k8s`,
    ),
  }),
  'other selectors': ({ objects }, slot) => ({ log: logOf(slot, 'proxy', objects) }),
}
/** Faults that are one of the whole installation. */
const SCM_OF: Readonly<Record<string, JsonRecord>> = {
  'label filter': { clusterSPIFFEIDLabelSelector: { managed: 'yes' } },
}

describe('one fault', () => {
  let all: WhyWorld
  const slots = new Map<string, WhySlot>()
  beforeAll(async () => {
    for (const { name } of WHY_FAULTS) if (!(name in SCM_OF)) slots.set(name, slotWith(name))
    all = await cluster.world('faults', [...slots.values()])
  })
  test.each(WHY_FAULTS.map((fault) => [fault.name, fault] as const))('%s', async (name, fault) => {
    let here = all
    const slot = slots.get(name) ?? slotWith(name)
    if (name in SCM_OF || name === 'SCM down') {
      here = await cluster.world(slot.space, [slot], { scm: SCM_OF[name] ?? {} })
      if (name === 'SCM down')
        cluster.writeObjects(
          here.name,
          here.objects.map((one) =>
            one.kind === 'StatefulSet' ? { ...one, status: workloadStatus(0) } : one,
          ),
        )
    }
    const said = await cluster.asked(here, slot, GIVEN[name]?.(here, slot))
    expect(said.line).toMatch(whyFirstLine(fault))
    expect(said).toMatchObject(
      fault.isNotKnown === true
        ? { broken: undefined, notKnown: fault.hop, code: 4 }
        : { broken: fault.hop, code: 1 },
    )
  })
})

describe('one fault of a pod with a binding', () => {
  let all: WhyWorld
  const slots = new Map(BOUND_FAULTS.map(({ name }) => [name, boundSlotWith(name)]))
  beforeAll(async () => {
    all = await cluster.world('bound', [...slots.values()])
  })
  test.each(BOUND_FAULTS.map((fault) => [fault.name, fault] as const))('%s', async (name, fault) => {
    const slot = slots.get(name) ?? boundSlotWith(name)
    const said = await cluster.asked(all, slot, GIVEN[name]?.(all, slot))
    expect(said.line).toMatch(whyFirstLine(fault))
    expect(said).toMatchObject(
      fault.isNotKnown === true
        ? { broken: undefined, notKnown: fault.hop, code: 4 }
        : { broken: fault.hop, code: 1 },
    )
  })
})

describe('two faults at once: the earlier hop', () => {
  let all: WhyWorld
  beforeAll(async () => {
    all = await cluster.world(
      'pairs',
      WHY_PAIRS.map((pair) => slotWith(...pair)),
    )
  })
  test.each(WHY_PAIRS)('%s and %s', async (earlier, later) => {
    const slot = slotWith(earlier, later)
    const said = await cluster.asked(all, slot, GIVEN[earlier]?.(all, slot))
    const fault = WHY_FAULTS.find(({ name }) => name === earlier)
    if (fault === undefined) throw new Error(`there is no fault ${earlier}`)
    expect(said.broken).toBe(fault.hop)
    expect(said.line).toMatch(fault.says)
  })
})

test('an entry that agents keep for an SVID store reaches no process', async () => {
  const slot = healthySlot('stored')
  const all = await cluster.world('stored', [slot])
  const entries = cluster.entriesWith(all, slot, (one) => ({ ...one, store_svid: true }))
  const said = await cluster.asked(all, slot, { entries })
  expect(said).toMatchObject({ broken: 'on the server', code: 1 })
  expect(said.line).toContain('for an SVID store')
})

test(`no fault of ${HEALTHY} healthy containers`, async () => {
  const slots = Array.from({ length: HEALTHY }, (_, at) => healthySlot(`h${at}`))
  const all = await cluster.world('healthy', slots)
  const said: WhySaid[] = []
  for (const slot of slots) said.push(await cluster.asked(all, slot))
  expect(said.map(({ line: text, code }) => `${code} ${text}`)).toEqual(
    slots.map(
      ({ space, name }) =>
        `0 ✓ container app of pod ${space}/llama holds spiffe://example.org/${name}/llama: all 8 hops are good`,
    ),
  )
})

test('a fault for every hop, at least two, and at most three that are not known', () => {
  const byHop = Map.groupBy(WHY_FAULTS, ({ hop }) => hop)
  expect([...byHop].filter(([, faults]) => faults.length < 2)).toEqual([])
  expect(byHop.size).toBe(8)
  expect(WHY_FAULTS.length).toBeGreaterThanOrEqual(25)
  expect(WHY_FAULTS.filter(({ isNotKnown }) => isNotKnown === true).length).toBeLessThanOrEqual(3)
  expect(WHY_FAULTS.filter(({ sources }) => sources.length === 0)).toEqual([])
})
