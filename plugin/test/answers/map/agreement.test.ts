// The map is never surer than `who-selects`: what it says of a container follows, by a second derivation, from the report of
// `who-selects` on the same files. Over generated worlds, with settings given and not given, and with documents that could
// not be read.
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { mustSee, runs, seedOf } from '@kleym/testing/runs.ts'
import { own, isRecord, listAt, stringAt, type JsonRecord } from '@kleym/shared/core/base/json.ts'
import { tenants } from '@kleym/testing/random-tenants.ts'
import { ESTATE_FLAGS, PROJECT_ROOT } from '../../support/estate.ts'
import { inProcess } from '../../support/in-process.ts'
import { requireValidReport } from '../../support/report-check.ts'
import { workspace } from '../../support/workspace.ts'

/** What a report says of one container. */
interface Said {
  readonly state: string
  /** The SPIFFE IDs that are certainly issued, sorted. */
  readonly identities: readonly string[]
  /** Whether it may get something else, or more. */
  readonly isOpen: boolean
}

async function reportOf(args: readonly string[], cwd: string): Promise<JsonRecord> {
  const { stdout } = await inProcess([...args, '-o', 'json'], cwd)
  requireValidReport(stdout)
  const report: unknown = JSON.parse(stdout)
  if (!isRecord(report)) throw new Error('no report')
  return report
}

/** Of verdicts that give nothing, the nearest to giving something. */
const NOTHING = ['refused', 'failed', 'displaced', 'masked', 'ignored', 'dead']

/** What `who-selects` says, by pod and container. */
function saidByWhoSelects(report: JsonRecord): ReadonlyMap<string, Said> {
  const isUnsettled = listAt(report, 'assumptions').length > 0
  return new Map(
    listAt(report, 'pods').flatMap((pod) =>
      listAt(pod, 'containers').map((container, at): readonly [string, Said] => {
        const key = `${stringAt(pod, 'pod')} ${at} ${stringAt(container, 'name')}`
        const registrations = listAt(container, 'registrations')
        const verdicts = new Set(registrations.map((one) => stringAt(one, 'verdict') ?? ''))
        const identities = [...new Set(listAt(container, 'identities').map(String))].toSorted()
        const isPending = verdicts.has('pending')
        const isDoubtful =
          verdicts.has('depends') || verdicts.has('unknown') || own(container, 'notRead') !== null
        const isOpen = isDoubtful || isPending || (identities.length === 0 && isUnsettled)
        const nothing = NOTHING.find((verdict) => verdicts.has(verdict)) ?? 'none'
        const without = isPending ? 'pending' : isOpen ? 'undetermined' : nothing
        const state = identities.length === 0 ? without : identities.length === 1 ? 'issued' : 'several'
        return [key, { state, identities, isOpen }]
      }),
    ),
  )
}

/** What the map says, by pod and container. */
function saidByMap(report: JsonRecord): ReadonlyMap<string, Said> {
  const nodes = listAt(report, 'nodes')
  const byId = new Map(nodes.map((node) => [stringAt(node, 'id') ?? '', node]))
  const said = new Map<string, Said>()
  for (const node of nodes) {
    if (stringAt(node, 'kind') !== 'container') continue
    const id = stringAt(node, 'id') ?? ''
    const pods = listAt(byId.get(stringAt(node, 'parent') ?? ''), 'pods')
    const at = /\/(\d+)\/[^/]*$/.exec(id)?.[1] ?? ''
    const identities = listAt(node, 'identities').map(String).toSorted()
    const held = listAt(report, 'edges')
      .filter((edge) => stringAt(edge, 'kind') === 'holds' && stringAt(edge, 'from') === id)
      .filter((edge) => own(edge, 'certain') === true)
      .map((edge) => (stringAt(edge, 'to') ?? '').slice('identity/'.length))
    // The arrows say the same as the box.
    expect(held.toSorted()).toEqual(identities)
    expect(own(node, 'count')).toBe(pods.length)
    for (const pod of pods)
      said.set(`${String(pod)} ${at} ${stringAt(node, 'name')}`, {
        state: stringAt(node, 'state') ?? '',
        identities,
        isOpen: own(node, 'open') !== null,
      })
  }
  return said
}

async function expectAgreement(flags: readonly string[], cwd: string): Promise<ReadonlyMap<string, Said>> {
  const [asked, mapped] = await Promise.all([
    reportOf(['who-selects', '-A', ...flags], cwd),
    reportOf(['map', '-A', ...flags], cwd),
  ])
  const said = saidByWhoSelects(asked)
  expect(Object.fromEntries(saidByMap(mapped))).toEqual(Object.fromEntries(said))
  return said
}

test('the estate: the same of every container', async () => {
  const said = await expectAgreement(ESTATE_FLAGS, PROJECT_ROOT)
  const states = new Set([...said.values()].map(({ state }) => state))
  // It would agree about nothing, too.
  expect([...states].toSorted()).toEqual(['issued', 'several', 'undetermined'])
  expect(said.size).toBeGreaterThan(50)
})

test('folders of the examples that leave containers without an identity', async () => {
  const cwd = PROJECT_ROOT
  const states = new Set<string>()
  for (const folder of ['examples/pull-request/head', 'examples/estate/risky', 'examples/wrong-class'])
    for (const { state } of (await expectAgreement(['--offline', '-R', '-f', folder], cwd)).values())
      states.add(state)
  expect(states).toContain('displaced')
})

/** Each run starts the program twice. */
const RUNS = runs(40)
/** Here a premise covers the settings that were not given. */
const SEED = 1_434_583_085

/** An SCM that handles objects of every class. */
const SCM = {
  apiVersion: 'spire.spiffe.io/v1alpha1',
  kind: 'ControllerManagerConfig',
  trustDomain: 'example.org',
  clusterName: 'prod',
  watchClassless: true,
}
const GIVEN = [
  '--trust-domain',
  'example.org',
  '--clusterspiffeid-class-name',
  '',
  '--scm-config',
  'scm.json',
]

test('generated worlds, with settings that were given and that were not, and with a document that cannot be read', async () => {
  const seen = new Set<string>()
  await fc.assert(
    fc.asyncProperty(
      tenants,
      fc.constantFrom([], GIVEN, GIVEN),
      fc.constantFrom(
        '',
        '',
        '---\nkind: [\n',
        '---\napiVersion: spire.spiffe.io/v1alpha1\nkind: ClusterSPIFFEID\nspec: {\n',
      ),
      async (objects, settings, broken) => {
        const cwd = await workspace({
          'world.yaml': JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects }),
          'broken.yaml': broken,
          'scm.json': JSON.stringify(SCM),
        })
        const files = ['-f', 'world.yaml', '-f', 'broken.yaml']
        const said = await expectAgreement(['--offline', ...files, ...settings], cwd)
        for (const { state } of said.values()) seen.add(state)
      },
    ),
    { numRuns: RUNS, ...seedOf(SEED) },
  )
  expect([...seen]).toEqual(expect.arrayContaining(mustSee(['issued', 'undetermined', 'none'])))
})
