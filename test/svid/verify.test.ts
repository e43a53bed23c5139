// `verify` against the real server: nothing to report of what SCM has made of made-up estates, and after each of 300 random changes
// exactly that change, with its cause. SCM stands still while they are made, so that each stays to be seen.
// `KLEYM_SVID_SEED` asks for others.
import { until } from '@kleym/testing/wait.ts'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { runs } from '@kleym/testing/runs.ts'
import { inProcess } from '../../plugin/test/support/in-process.ts'
import { isRecord, listAt, stringAt, type JsonRecord } from '../../shared/src/core/base/json.ts'
import { startControlPlane, type ControlPlane } from '../control-plane/control-plane.ts'
import { kubectlKleym } from '../control-plane/kubectl-kleym.ts'
import { built } from '../e2e/plugin.ts'
import { build, clear, namespace, node, pod } from './build-cluster.ts'
import { csid } from './clusterspiffeid.ts'
import { objectsOf } from './compare.ts'
import { placeAll, slotName, slotOf } from './estate.ts'
import { estatesOf, randomOf } from './generator.ts'
import { CLASS, CLUSTER_SPIFFE_ID, startSpire, TRUST_DOMAIN, type HeldEntry, type Spire } from './spire.ts'

const SEED = Number(process.env['KLEYM_SVID_SEED'] ?? '20261122')
const PER_BATCH = 100
const CHANGES = runs(3) * PER_BATCH
/** Of all changes, those whose cause may be undetermined. */
const MOST_UNDETERMINED = 0.1

let cp: ControlPlane
let spire: Spire
beforeAll(async () => {
  cp = await startControlPlane({ controllers: [] })
  spire = await startSpire(cp, { entryIDPrefix: 'prod' })
})
afterAll(() => cp?.stop())

/** One difference in a line: `missing deleted spiffe://... pod p0`. */
interface Told {
  readonly kind: string
  readonly cause: string
  readonly code: string
  readonly spiffeId: string
  readonly fields: readonly string[]
}

interface Verified {
  readonly differences: readonly Told[]
  readonly findings: readonly string[]
}

/** Runs `verify` on dumps of cluster and server as they are now, made a minute ago as far as it knows. */
async function verified(): Promise<Verified> {
  const items = (await objectsOf(cp)).map(({ value }) => value)
  const files = {
    'cluster.json': { apiVersion: 'v1', kind: 'List', items },
    'scm.json': spire.config(),
  }
  for (const [name, content] of Object.entries(files))
    writeFileSync(join(cp.folder, name), JSON.stringify(content))
  writeFileSync(join(cp.folder, 'entries.json'), await spire.ask('entry', 'show', '-output', 'json'))
  writeFileSync(join(cp.folder, 'bundles.json'), await spire.ask('bundle', 'list', '-output', 'json'))
  const { stdout, stderr } = await inProcess(
    [
      ...'verify --offline -f cluster.json --entries entries.json --bundles bundles.json -o json'.split(' '),
      ...'--scm-config scm.json --trust-domain'.split(' '),
      TRUST_DOMAIN,
      '--clusterspiffeid-class-name',
      CLASS,
      '--as-of',
      new Date(Date.now() + 60_000).toISOString(),
    ],
    cp.folder,
  )
  if (stdout === '') throw new Error(stderr)
  const report: unknown = JSON.parse(stdout)
  return {
    differences: listAt(report, 'differences').filter(isRecord).map(told),
    findings: listAt(report, 'findings')
      .filter(isRecord)
      .map((one) => `${stringAt(one, 'code') ?? ''} ${stringAt(one, 'subject', 'name') ?? ''}`),
  }
}

function told(one: JsonRecord): Told {
  return {
    kind: stringAt(one, 'kind') ?? '',
    cause: stringAt(one, 'cause') ?? '',
    code: stringAt(one, 'code') ?? '',
    spiffeId: stringAt(one, 'spiffe_id') ?? '',
    fields: listAt(one, 'fields').map((field) => stringAt(field, 'field') ?? ''),
  }
}

test(`seed ${SEED}: nothing is reported of what SCM has made of generated estates`, async () => {
  await clear(cp, spire)
  const nodes = [node('n1', { zone: 'x' }), node('n2', { zone: 'y', 'topology.kubernetes.io/zone': 'y' })]
  const estates = estatesOf(SEED, 90)
  const [first = [], ...waves] = placeAll(estates)
  // The API server admits a pod only once its caches have the namespace.
  const spaces = first.filter(({ object }) => object['kind'] === 'Namespace')
  const pods = first.filter(({ object }) => object['kind'] !== 'Namespace')
  await build(cp, [[...nodes.map((object) => ({ object })), ...spaces], pods, ...waves])
  const held = await spire.settled()
  expect(held.length).toBeGreaterThan(estates.length)
  const { differences } = await verified()
  // An entry that outlived one that the server refused is named as that.
  expect(differences.filter(({ cause }) => cause !== 'kept')).toEqual([])
  expect(differences.length / held.length).toBeLessThan(0.005)
})

test('a server refuses an entry until it holds the bundle, and takes it then: verify says which of the two it is', async () => {
  await clear(cp, spire)
  const far = 'far.example'
  const id = { spiffeIDTemplate: `spiffe://${TRUST_DOMAIN}/near/{{ .PodMeta.Name }}`, federatesWith: [far] }
  await build(
    cp,
    [[node('n1'), namespace('far')], [pod('far', 'p')], [csid('near', id)]].map((wave) =>
      wave.map((object) => ({ object })),
    ),
  )
  expect(await spire.settled()).toEqual([])
  const federation = async (): Promise<readonly string[]> =>
    (await verified()).findings.filter((one) => one.startsWith('KLM81'))
  const lacking = ['KLM811 near', 'KLM812 near']
  expect(await federation()).toEqual(lacking)
  // Any bundle will do: the server asks only whether there is one.
  const path = join(cp.folder, 'far.bundle')
  writeFileSync(path, await spire.ask('bundle', 'show', '-format', 'spiffe'))
  await spire.ask('bundle', 'set', '-id', `spiffe://${far}`, '-format', 'spiffe', '-path', path)
  onTestFinished(async () => {
    const { bundles }: { bundles: unknown } = JSON.parse(await spire.ask('bundle', 'list', '-output', 'json'))
    if (JSON.stringify(bundles).includes(far))
      await spire.ask('bundle', 'delete', '-id', `spiffe://${far}`, '-mode', 'delete')
  })
  await until(async () => (await spire.entries()).length === 1, 'the entry to be taken', 60_000)
  const held = await verified()
  expect(held.differences).toEqual([])
  expect(held.findings.filter((one) => one.startsWith('KLM81'))).toEqual(['KLM812 near'])
  // With its bundle goes what federates with it; SCM asks for it again, and is refused.
  await spire.ask('bundle', 'delete', '-id', `spiffe://${far}`, '-mode', 'delete')
  expect(await spire.settled()).toEqual([])
  expect(await federation()).toEqual(lacking)
})

/** How often each pod of a slot is there before the change. */
const PODS = 3
/** SCM counts by object, and a change of one slot is no evidence in another. */
interface Slot {
  readonly name: string
  readonly entries: readonly HeldEntry[]
}

/** What a change must show: kinds, causes and how many of each; fields where it is about one. */
interface Change {
  readonly what: string
  readonly make: (slot: Slot, random: () => number) => Promise<void>
  readonly shows: readonly (readonly [kind: string, cause: string, count: number, field?: string])[]
}

function idOf(slot: string): Parameters<ControlPlane['admin']['get']>[0] {
  return { ...CLUSTER_SPIFFE_ID, name: `${slot}-c0` }
}

const SPACE_LABEL = 'kubernetes.io/metadata.name'

function scoped(slot: string, spec: JsonRecord): JsonRecord {
  return { namespaceSelector: { matchLabels: { [SPACE_LABEL]: `${slot}-v` } }, ...spec }
}

/** The flags with which an entry is written as it is. */
function flagsOf({ spiffeId, parentId, selectors, dnsNames, hint, x509SvidTtl }: HeldEntry): string[] {
  return [
    '-spiffeID',
    spiffeId,
    '-parentID',
    parentId,
    '-hint',
    hint,
    ...selectors.flatMap((one) => ['-selector', one]),
    ...dnsNames.flatMap((one) => ['-dns', one]),
    '-x509SVIDTTL',
    String(x509SvidTtl),
  ]
}

function oneOf({ entries }: Slot, random: () => number): HeldEntry {
  const entry = entries[Math.floor(random() * entries.length)]
  if (entry === undefined) throw new Error('the slot has no entry')
  return entry
}

async function edit(slot: Slot, spec: JsonRecord): Promise<void> {
  await cp.admin.patch(idOf(slot.name), { spec })
}

async function update(entry: HeldEntry, ...flags: readonly string[]): Promise<void> {
  await spire.ask('entry', 'update', '-entryID', entry.entryId, ...flagsOf(entry), ...flags)
}

/** SCM leaves entries that have not its prefix. */
async function deleteForeign(): Promise<void> {
  for (const { entryId } of await spire.entries())
    if (!entryId.startsWith('prod.')) await spire.ask('entry', 'delete', '-entryID', entryId)
}

const LACKING_BUNDLE = 'a bundle that is missing'

const MADE: readonly Change[] = [
  {
    what: 'an entry deleted',
    make: async (slot, random) =>
      void (await spire.ask('entry', 'delete', '-entryID', oneOf(slot, random).entryId)),
    shows: [['missing', 'deleted', 1]],
  },
  {
    what: 'an entry added by hand',
    make: async (slot, random) => {
      const entry = { ...oneOf(slot, random), spiffeId: `spiffe://${TRUST_DOMAIN}/hand/${slot.name}-x` }
      await spire.ask('entry', 'create', ...flagsOf(entry))
    },
    shows: [['extra', 'another registrar', 1]],
  },
  {
    what: 'a TTL edited on the server',
    make: (slot, random) => update(oneOf(slot, random), '-x509SVIDTTL', '777'),
    shows: [['different', 'edited on the server', 1, 'x509_svid_ttl']],
  },
  {
    what: 'a right given on the server',
    make: (slot, random) => update(oneOf(slot, random), '-admin'),
    shows: [['different', 'edited on the server', 1, 'admin']],
  },
  {
    what: 'SCM stopped before the TTL of the object was edited',
    make: (slot) => edit(slot, { ttl: '9m' }),
    shows: [['different', 'scm behind', PODS, 'x509_svid_ttl']],
  },
  {
    what: 'SCM stopped before the hint of the object was edited',
    make: (slot) => edit(slot, { hint: 'later' }),
    shows: [['different', 'scm behind', PODS, 'hint']],
  },
  {
    what: 'SCM stopped before the template was edited',
    make: (slot) =>
      edit(slot, { spiffeIDTemplate: `spiffe://${TRUST_DOMAIN}/new/${slot.name}-{{ .PodMeta.Name }}` }),
    shows: [
      ['missing', 'scm behind', PODS],
      ['extra', 'scm behind', PODS],
    ],
  },
  {
    what: 'SCM stopped before a pod came',
    make: async ({ name }) => void (await cp.admin.apply(pod(`${name}-v`, 'late'))),
    shows: [['missing', 'scm behind', 1]],
  },
  {
    what: 'SCM stopped before a pod went',
    make: async ({ name }, random) => {
      const path = `/api/v1/namespaces/${name}-v/pods/p${Math.floor(random() * PODS)}?gracePeriodSeconds=0`
      await cp.admin.request({ method: 'DELETE', path })
    },
    shows: [['extra', 'pod gone', 1]],
  },
  {
    what: 'SCM stopped before the object went',
    make: ({ name }) => cp.admin.delete(idOf(name)),
    shows: [['extra', 'scm behind', PODS]],
  },
  {
    what: 'SCM stopped before an object came',
    make: async ({ name }) =>
      void (await cp.admin.apply(
        csid(
          `${name}-c1`,
          scoped(name, { spiffeIDTemplate: `spiffe://${TRUST_DOMAIN}/more/${name}-{{ .PodMeta.Name }}` }),
        ),
      )),
    shows: [['missing', 'scm behind', PODS]],
  },
  {
    what: LACKING_BUNDLE,
    make: (slot) => edit(slot, { federatesWith: [`${slot.name}.far.example`] }),
    shows: [['extra', 'kept', PODS]],
  },
]

const random = randomOf(SEED)
let undetermined = 0

test.each(Array.from({ length: CHANGES / PER_BATCH }, (_, at) => at))(
  `seed ${SEED}: each of 100 random changes is reported, and nothing else (batch %i)`,
  async () => {
    await clear(cp, spire)
    const names = Array.from({ length: PER_BATCH }, (_, at) => slotName(at))
    await build(cp, [
      [node('n1'), ...names.map((name) => namespace(`${name}-v`))].map((object) => ({ object })),
      names.flatMap((name) =>
        Array.from({ length: PODS }, (_, at) => ({ object: pod(`${name}-v`, `p${at}`) })),
      ),
      names.map((name) => ({
        object: csid(
          `${name}-c0`,
          scoped(name, {
            spiffeIDTemplate: `spiffe://${TRUST_DOMAIN}/ns/${name}-{{ .PodMeta.Name }}`,
            hint: 'a',
          }),
        ),
      })),
    ])
    const bySlot = Map.groupBy(
      await spire.settled(),
      ({ spiffeId }) => slotOf(spiffeId.replace('/ns', '')) ?? -1,
    )
    expect((await verified()).differences).toEqual([])
    await spire.scm().signal('SIGSTOP')
    const changes = names.map((name, at): readonly [Slot, Change] => {
      const change = MADE[Math.floor(random() * MADE.length)]
      if (change === undefined) throw new Error('there are changes')
      return [{ name, entries: bySlot.get(at) ?? [] }, change]
    })
    // A test that fails in between leaves SCM running for the next.
    onTestFinished(async () => {
      await spire.scm().signal('SIGCONT')
      await deleteForeign()
    })
    for (const [slot, change] of changes) await change.make(slot, random)
    const { differences, findings } = await verified()
    const toldBySlot = Map.groupBy(differences, ({ spiffeId }) => /s\d{3}-/.exec(spiffeId)?.[0] ?? '')
    const lacking = changes.filter(([, { what }]) => what === LACKING_BUNDLE)
    expect(findings.filter((one) => one.startsWith('KLM811')).toSorted()).toEqual(
      lacking.map(([{ name }]) => `KLM811 ${name}-c0`).toSorted(),
    )
    for (const [{ name }, { what, shows }] of changes) {
      const here = toldBySlot.get(`${name}-`) ?? []
      const text = `${what} in ${name}: ${JSON.stringify(here)}`
      const wanted = shows.flatMap(([kind, cause, count, field]) =>
        Array.from({ length: count }, () => `${kind} ${field ?? ''} ${cause}`),
      )
      const got = here.map(({ kind, cause, fields }) => [kind, fields.join(','), cause] as const)
      expect({ text, told: got.map(([kind, fields]) => `${kind} ${fields}`).toSorted() }).toEqual({
        text,
        told: wanted.map((one) => one.split(' ').slice(0, 2).join(' ')).toSorted(),
      })
      if (got.some(([, , cause]) => cause === 'undetermined')) undetermined++
      const wrong = got
        .filter(([, , cause]) => cause !== 'undetermined')
        .map((one) => one.join(' '))
        .filter((one) => !wanted.includes(one))
      expect({ text, wrong }).toEqual({ text, wrong: [] })
    }
  },
)

test('live, with the shipped plugin and a dump on stdin: nothing, each change while SCM stands still, and nothing again', async () => {
  await clear(cp, spire)
  await build(cp, [
    [node('n1'), namespace('live')].map((object) => ({ object })),
    ['p0', 'p1'].map((name) => ({ object: pod('live', name) })),
    ['one', 'two'].map((name) => ({
      object: csid(name, {
        namespaceSelector: { matchLabels: { [SPACE_LABEL]: 'live' } },
        spiffeIDTemplate: `spiffe://${TRUST_DOMAIN}/${name}/{{ .PodMeta.Name }}`,
      }),
    })),
  ])
  const held = await spire.settled()
  expect(held).toHaveLength(4)
  expect(await liveDifferences()).toEqual([])
  onTestFinished(() => spire.scm().signal('SIGCONT'))
  await spire.scm().signal('SIGSTOP')
  const deleted = held.find(({ spiffeId }) => spiffeId.endsWith('/one/p0'))
  await spire.ask('entry', 'delete', '-entryID', deleted?.entryId ?? '')
  await cp.admin.patch({ ...CLUSTER_SPIFFE_ID, name: 'two' }, { spec: { hint: 'later' } })
  expect(await liveDifferences()).toEqual([
    'different scm behind /two/p0',
    'different scm behind /two/p1',
    'missing deleted /one/p0',
  ])
  await spire.scm().signal('SIGCONT')
  await spire.settled()
  expect(await liveDifferences()).toEqual([])
})

/** What the executable that ships says of this cluster, as `kind cause path`, sorted. */
async function liveDifferences(): Promise<readonly string[]> {
  await built()
  writeFileSync(join(cp.folder, 'scm.json'), JSON.stringify(spire.config()))
  const args = 'verify --entries - -o json --scm-config scm.json --clusterspiffeid-class-name'.split(' ')
  // The pods are so young that a difference would be one of time.
  const later = new Date(Date.now() + 60_000).toISOString()
  const { stdout, stderr } = await kubectlKleym(
    cp,
    [...args, CLASS, '--trust-domain', TRUST_DOMAIN, '--as-of', later],
    { stdin: await spire.ask('entry', 'show', '-output', 'json') },
  )
  if (stdout === '') throw new Error(stderr)
  return listAt(JSON.parse(stdout), 'differences')
    .filter(isRecord)
    .map(told)
    .map(
      ({ kind, cause, spiffeId }) => `${kind} ${cause} ${spiffeId.slice(`spiffe://${TRUST_DOMAIN}`.length)}`,
    )
    .toSorted()
}

test('the cause is undetermined in at most one change of ten', () => {
  process.stdout.write(`seed ${SEED}: ${CHANGES} changes, ${undetermined} of an undetermined cause\n`)
  expect(undetermined / CHANGES).toBeLessThanOrEqual(MOST_UNDETERMINED)
})
