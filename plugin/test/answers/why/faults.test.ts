// `why` on files: for each fault the first line names the hop and the fix, with two of them the earlier one, and for healthy containers
// there is none. The same faults are brought about on real parts in test/svid/agent/why.test.ts.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { isRecord, listAt, stringAt, type JsonRecord } from '@kleym/shared/core/json.ts'
import { WHY_FAULTS, WHY_PAIRS, whyFirstLine } from '@kleym/testing/why-faults.ts'
import {
  healthySlot,
  isPod,
  objectsOfSlot,
  slotWith,
  spireObjects,
  statusOf,
  WHY_INSTALL,
  WHY_NODES,
  workloadStatus,
  type Draft,
  type DraftPod,
  type WhySlot,
} from '@kleym/testing/why-world.ts'
import { inProcess } from '../../support/in-process.ts'

const HEALTHY = 100
const OLD = '2026-01-01T00:00:00Z'
const SETTINGS = [
  '--trust-domain',
  WHY_INSTALL.trustDomain,
  '--clusterspiffeid-class-name',
  WHY_INSTALL.className,
]

let folder: string
let nextUid = 1

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'kleym-why-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** An object as an API server would dump it. */
interface Dumped {
  readonly kind: string
  readonly metadata: JsonRecord & { readonly name: string; readonly namespace?: string; readonly uid: string }
  readonly [field: string]: unknown
}

function dumped(object: Draft | DraftPod): Dumped {
  const uid = `00000000-0000-4000-8000-${String(nextUid++).padStart(12, '0')}`
  const status =
    object.kind === 'StatefulSet'
      ? workloadStatus(1)
      : isPod(object)
        ? statusOf(object, { ready: isReady(object) })
        : undefined
  return {
    ...object,
    metadata: { ...object.metadata, uid, creationTimestamp: OLD },
    ...(status && { status }),
  }
}

function isReady({ spec, metadata }: DraftPod): boolean {
  return metadata.namespace !== WHY_INSTALL.agentSpace || spec.nodeName !== WHY_NODES.notReady
}

interface World {
  readonly files: readonly string[]
  readonly objects: readonly Dumped[]
}

/** Writes what a cluster holds, and what its SPIRE server would. */
async function world(name: string, slots: readonly WhySlot[], scm: JsonRecord = {}): Promise<World> {
  const bare = [...spireObjects(), ...slots.flatMap(objectsOfSlot)]
  const spaces = bare.filter(
    (one) => one.kind === 'Namespace' && one.metadata.labels?.['tenant'] === 'yes',
  ).length
  // As SCM counts them while all is well.
  const stats = { namespacesSelected: spaces, podsSelected: 1, entriesToSet: 1 }
  const objects = bare
    .map(dumped)
    .map((one) => (one.metadata.name === 'why-entry-deleted' ? { ...one, status: { stats } } : one))
  const write = (file: string, content: unknown): void =>
    writeFileSync(join(folder, file), JSON.stringify(content))
  write(`${name}.json`, { apiVersion: 'v1', kind: 'List', items: objects })
  write(`${name}-scm.json`, {
    apiVersion: 'spire.spiffe.io/v1alpha1',
    kind: 'ControllerManagerConfig',
    clusterName: WHY_INSTALL.cluster,
    trustDomain: WHY_INSTALL.trustDomain,
    className: WHY_INSTALL.className,
    ignoreNamespaces: ['kube-system', 'ibm-.*'],
    ...scm,
  })
  const files = ['--offline', '-f', `${name}.json`, '--scm-config', `${name}-scm.json`, ...SETTINGS]
  const { stdout } = await inProcess(['who-selects', '-A', '--entries', '-o', 'spire', ...files], folder)
  const held: unknown = JSON.parse(stdout)
  // A server tells when an entry was made.
  const entries = listAt(held, 'entries')
    .filter(isRecord)
    .map((one, at) => ({ ...one, id: `prod.${at}`, created_at: '1767225600' }))
  write(`${name}-entries.json`, { entries })
  return { files, objects }
}

/** What an agent logs at DEBUG of a process of a container. */
function logOf({ pod, space }: WhySlot, container: string, objects: readonly Dumped[]): string {
  const uid = uidOf(objects, space)
  const labels = Object.entries(pod.metadata.labels).map(([key, value]) => `pod-label:${key}:${value}`)
  const values = [`ns:${space}`, 'sa:runner', `pod-uid:${uid}`, `container-name:${container}`, ...labels]
  const selectors = values.map((value) => `type:\\"k8s\\" value:\\"${value}\\"`).join(' ')
  return `time="2026-01-02T00:00:00Z" level=debug msg="PID attested to have selectors" pid=7 selectors="[${selectors}]" subsystem_name=workload_attestor\n`
}

interface Said {
  readonly line: string
  readonly broken: string | undefined
  readonly notKnown: string | undefined
  readonly code: number
}

/** Asks about a slot; the log is that of its own process unless another is given. */
async function asked(
  name: string,
  { files, objects }: World,
  slot: WhySlot,
  {
    entries = `${name}-entries.json`,
    log = logOf(slot, slot.container, objects),
  }: { readonly entries?: string; readonly log?: string | null } = {},
): Promise<Said> {
  const file = `${slot.space}.log`
  writeFileSync(join(folder, file), log ?? '')
  const args = [
    'why',
    'llama',
    '-n',
    slot.space,
    '-c',
    slot.container,
    ...(entries === '' ? [] : ['--entries', entries, '--as-of', '2026-01-03T00:00:00Z']),
    ...(log === null ? [] : ['--agent-log', file]),
    ...files,
  ]
  const text = await inProcess(args, folder, { COLUMNS: '2000' })
  const { stdout, stderr } = await inProcess([...args, '-o', 'json'], folder)
  if (stdout === '') throw new Error(stderr)
  const [chain] = listAt(JSON.parse(stdout), 'chains')
  return {
    line: text.stdout.split('\n')[0] ?? '',
    broken: stringAt(chain, 'broken'),
    notKnown: stringAt(chain, 'notKnown'),
    code: text.code,
  }
}

function entriesWithout(
  name: string,
  space: string,
  change: (one: JsonRecord) => JsonRecord | undefined,
  { objects }: World,
): string {
  const uid = uidOf(objects, space)
  const held: unknown = JSON.parse(readFileSync(join(folder, `${name}-entries.json`), 'utf8'))
  const entries = listAt(held, 'entries')
    .filter(isRecord)
    .flatMap((one) => (JSON.stringify(one).includes(uid) ? (change(one) ?? []) : one))
  const file = `${name}-${space}-entries.json`
  writeFileSync(join(folder, file), JSON.stringify({ entries }))
  return file
}

/** What differs from the healthy case of faults that no object of the slot shows. */
type Given = (name: string, world: World, slot: WhySlot) => Parameters<typeof asked>[3]

function uidOf(objects: readonly Dumped[], space: string): string {
  const pod = objects.find(({ kind, metadata }) => kind === 'Pod' && metadata.namespace === space)
  if (pod === undefined) throw new Error(`there is no pod in ${space}`)
  return pod.metadata.uid
}

const line = (level: string, message: string, fields: string): string =>
  `time="2026-01-02T00:00:00Z" level=${level} msg="${message}" ${fields}\n`

const GIVEN: Readonly<Record<string, Given>> = {
  'SCM down': (name, all, { space }) => ({ entries: entriesWithout(name, space, () => undefined, all) }),
  'entry deleted': (name, all, { space }) => ({ entries: entriesWithout(name, space, () => undefined, all) }),
  'entry changed': (name, all, { space }) => ({
    entries: entriesWithout(
      name,
      space,
      (one) => ({ ...one, selectors: [...listAt(one, 'selectors'), { type: 'k8s', value: 'sa:other' }] }),
      all,
    ),
  }),
  'no entries given': () => ({ entries: '' }),
  'no log given': () => ({ log: null }),
  'agent cannot sync': (_, { objects }, slot) => ({
    log:
      logOf(slot, 'app', objects) + line('error', 'Synchronize failed', 'error="no route to host"').repeat(2),
  }),
  'kubelet refuses the agent': () => ({
    log: line(
      'error',
      'Unable to get pod list; giving up',
      'error="dial tcp: connection refused" plugin_name=k8s',
    ),
  }),
  'container not found': (_, all, slot) => ({
    log: line(
      'error',
      'Container id not found; giving up',
      `container_id=abc pod_uid=${uidOf(all.objects, slot.space)} plugin_name=k8s`,
    ),
  }),
  'other selectors': (_, { objects }, slot) => ({ log: logOf(slot, 'proxy', objects) }),
}
/** Faults that are one of the whole installation. */
const SCM_OF: Readonly<Record<string, JsonRecord>> = {
  'label filter': { clusterSPIFFEIDLabelSelector: { managed: 'yes' } },
}

describe('one fault', () => {
  let all: World
  const slots = new Map<string, WhySlot>()
  beforeAll(async () => {
    for (const { name } of WHY_FAULTS) if (!(name in SCM_OF)) slots.set(name, slotWith(name))
    all = await world('faults', [...slots.values()])
  })
  test.each(WHY_FAULTS.map((fault) => [fault.name, fault] as const))('%s', async (name, fault) => {
    let here = all
    let file = 'faults'
    const slot = slots.get(name) ?? slotWith(name)
    if (name in SCM_OF || name === 'SCM down') {
      file = slot.space
      here = await world(file, [slot], SCM_OF[name])
      if (name === 'SCM down') {
        const down = here.objects.map((one) =>
          one.kind === 'StatefulSet' ? { ...one, status: { replicas: 1 } } : one,
        )
        writeFileSync(
          join(folder, `${file}.json`),
          JSON.stringify({ apiVersion: 'v1', kind: 'List', items: down }),
        )
      }
    }
    const said = await asked(file, here, slot, GIVEN[name]?.(file, here, slot))
    expect(said.line).toMatch(whyFirstLine(fault))
    expect(said).toMatchObject(
      fault.isNotKnown === true
        ? { broken: undefined, notKnown: fault.hop, code: 4 }
        : { broken: fault.hop, code: 1 },
    )
  })
})

describe('two faults at once: the earlier hop', () => {
  let all: World
  beforeAll(async () => {
    all = await world(
      'pairs',
      WHY_PAIRS.map((pair) => slotWith(...pair)),
    )
  })
  test.each(WHY_PAIRS)('%s and %s', async (earlier, later) => {
    const slot = slotWith(earlier, later)
    const said = await asked('pairs', all, slot, GIVEN[earlier]?.('pairs', all, slot))
    const fault = WHY_FAULTS.find(({ name }) => name === earlier)
    if (fault === undefined) throw new Error(`there is no fault ${earlier}`)
    expect(said.broken).toBe(fault.hop)
    expect(said.line).toMatch(fault.says)
  })
})

test(`no fault of ${HEALTHY} healthy containers`, async () => {
  const slots = Array.from({ length: HEALTHY }, (_, at) => healthySlot(`h${at}`))
  const all = await world('healthy', slots)
  const said: Said[] = []
  for (const slot of slots) said.push(await asked('healthy', all, slot))
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
