// The map says what the other commands say: its finished report beside the finished reports of `who-selects`, `policies` and
// `conflicts` on the same files. Over generated worlds, with settings given and not given, and with documents that could
// not be read.
import { settingsFlags } from '@kleym/testing/settings-flags.ts'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { leastSeen, mustSee, runs, seedOf } from '@kleym/testing/runs.ts'
import { own, isRecord, listAt, stringAt, type JsonRecord } from '@kleym/shared/core/base/json.ts'
import { BINDING_KIND } from '@kleym/shared/core/model/names.ts'
import { account, foreign, NODE, pod as llama, policy, rule, spiffe } from '@kleym/testing/access-policies.ts'
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

/** What `who-selects` says first of a container that holds no identity, by its state on the map. */
const WHY_NOTHING: ReadonlyMap<string, RegExp> = new Map([
  ['refused', /holds no identity.*? is refused by the SPIRE server: /],
  ['failed', /holds no identity.*? fails to render: /],
  ['displaced', /holds no identity.*? is displaced: /],
  ['masked', /holds no identity.*? is masked: /],
  ['ignored', /holds no identity.*? is ignored: /],
  ['dead', /holds no identity.*? does not reach it: /],
  ['none', /holds no identity.*?(?:no registration selects the pod|, and is refused)/],
])

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
        const without = isPending ? 'pending' : isOpen ? 'undetermined' : 'nothing'
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

/** A rule that names an identity: its policy, its name, and how it does. */
function namedText(kind: unknown, key: unknown, ruleName: unknown, how: unknown): string {
  return [kind, key, ruleName, how].map(String).join(' | ')
}

function isRule(named: string): boolean {
  return !named.endsWith('| mentioned')
}

/** Who names the identities of a report of `who-selects`; not the rules about all clients but these, which the map does not draw. */
function namedByWhoSelects(asked: JsonRecord): ReadonlySet<string> {
  const by = own(asked, 'namedBy')
  return new Set([
    ...listAt(by, 'rules')
      .filter((one) => own(one, 'way') !== 'excluded')
      .map((one) => namedText(own(one, 'kind'), own(one, 'policy'), own(one, 'rule'), own(one, 'way'))),
    ...listAt(by, 'mentionedInCEL').map((one) =>
      namedText('XAccessPolicy', own(one, 'policy'), own(one, 'rule'), 'mentioned'),
    ),
    ...listAt(by, 'mentionedIn').map((one) => {
      const key = `${stringAt(one, 'namespace')}/${stringAt(one, 'name')}`
      return namedText(own(one, 'kind'), key, own(one, 'field'), 'mentioned')
    }),
  ])
}

/** Who names some IDs by the map: one of them itself, or the service account of one of these pods. */
function namedByMap(
  mapped: JsonRecord,
  spiffeIds: readonly string[],
  pods: ReadonlySet<string>,
): ReadonlySet<string> {
  const boxes = new Set([
    ...spiffeIds.map((id) => `identity/${id}`),
    ...listAt(mapped, 'nodes')
      .filter((node) => listAt(node, 'pods').some((text) => pods.has(String(text))))
      .map((node) => stringAt(node, 'id') ?? ''),
  ])
  return new Set(
    listAt(mapped, 'edges')
      .filter((edge) => stringAt(edge, 'kind') === 'names' && boxes.has(stringAt(edge, 'to') ?? ''))
      .map((edge) => {
        const [, kind, ...key] = (stringAt(edge, 'from') ?? '').split('/')
        return namedText(kind, key.join('/'), own(edge, 'rule'), own(edge, 'how'))
      }),
  )
}

function podsOf(asked: JsonRecord): ReadonlySet<string> {
  return new Set(listAt(asked, 'pods').map((pod) => stringAt(pod, 'pod') ?? ''))
}

/** The IDs that containers hold, or may: whether they are known but for their trust domain or not. */
function idsHeld(asked: JsonRecord): readonly string[] {
  return listAt(asked, 'pods').flatMap((pod) =>
    listAt(pod, 'containers').flatMap((container) =>
      listAt(container, 'registrations')
        .filter((one) => ['issued', 'depends', 'pending'].includes(stringAt(one, 'verdict') ?? ''))
        .flatMap((one) => stringAt(one, 'spiffeID') ?? []),
    ),
  )
}

/** More IDs of a world are not asked about: each starts the program. */
const IDS_ASKED = 5

/** The same of the identities: who holds each, who may, and who names it. Gives the ways in which they are named. */
async function expectSameIdentities(
  mapped: JsonRecord,
  flags: readonly string[],
  cwd: string,
): Promise<ReadonlySet<string>> {
  const ways = new Set<string>()
  const identities = listAt(mapped, 'nodes').filter((node) => stringAt(node, 'kind') === 'identity')
  // No flag takes an ID whose trust domain is not known.
  const whole = identities.filter((node) => !(stringAt(node, 'spiffeID') ?? '').includes('<'))
  for (const node of whole.slice(0, IDS_ASKED)) {
    const spiffeId = stringAt(node, 'spiffeID') ?? ''
    const asked = await reportOf(['who-selects', '-A', '--spiffe-id', spiffeId, ...flags], cwd)
    const pods = listAt(asked, 'pods')
    const verdicts = pods.flatMap((pod) =>
      listAt(pod, 'containers').map((one) =>
        listAt(one, 'registrations').map((each) => own(each, 'verdict')),
      ),
    )
    const holders = verdicts.filter((all) => all.includes('issued')).length
    const named = namedByWhoSelects(asked)
    expect({
      spiffeId,
      holders: own(node, 'holders'),
      // An ID that something may give is not one that nobody holds.
      isOpen: verdicts.length > holders && own(node, 'state') !== 'unheld',
      named: namedByMap(mapped, [spiffeId], podsOf(asked)),
    }).toEqual({ spiffeId, holders, isOpen: verdicts.length > holders, named })
    for (const one of named) ways.add(one.split(' | ').at(-1) ?? '')
  }
  return ways
}

/** More containers of a world are not asked about alone. */
const CONTAINERS_ASKED = 3

/** Of a container without an identity the same reason. */
async function expectSameReasons(
  said: ReadonlyMap<string, Said>,
  flags: readonly string[],
  cwd: string,
): Promise<void> {
  const without = [...said].filter(([, { state }]) => WHY_NOTHING.has(state))
  for (const [key, { state }] of without.slice(0, CONTAINERS_ASKED)) {
    const [kind = '', name = '', , container = ''] = key.split(' ')
    const args = ['who-selects', `${kind}/${name}`, '-c', container, ...flags]
    const { stdout } = await inProcess(args, cwd)
    expect(stdout.replaceAll(/\s+/g, ' ')).toMatch(WHY_NOTHING.get(state) ?? /never/)
  }
}

function nodesOf(mapped: JsonRecord, kind: string): readonly unknown[] {
  return listAt(mapped, 'nodes').filter((node) => stringAt(node, 'kind') === kind)
}

/** The lines of the map of one kind from or to a box: their other ends, with what is said of them, sorted. */
function namesFrom(mapped: JsonRecord, id: string, hows: readonly string[]): readonly string[] {
  return listAt(mapped, 'edges')
    .filter((edge) => stringAt(edge, 'kind') === 'names' && stringAt(edge, 'from') === id)
    .filter((edge) => hows.includes(stringAt(edge, 'how') ?? ''))
    .map((edge) => `${stringAt(edge, 'rule')} ${stringAt(edge, 'how')} ${stringAt(edge, 'to')}`)
    .toSorted()
}

/** The containers that certainly hold an ID by the map, as `pod container`. */
function holdersByMap(mapped: JsonRecord, spiffeId: string): ReadonlySet<string> {
  const byId = new Map(listAt(mapped, 'nodes').map((node) => [stringAt(node, 'id'), node]))
  return new Set(
    listAt(mapped, 'edges')
      .filter((edge) => stringAt(edge, 'kind') === 'holds' && own(edge, 'certain') === true)
      .filter((edge) => stringAt(edge, 'to') === `identity/${spiffeId}`)
      .flatMap((edge) => {
        const container = byId.get(stringAt(edge, 'from'))
        const pods = listAt(byId.get(stringAt(container, 'parent')), 'pods')
        return pods.map((text) => `${String(text)} ${stringAt(container, 'name')}`)
      }),
  )
}

/** The same of the access policies: which there are, whom their rules name, and who holds what they name. */
async function expectSamePolicies(mapped: JsonRecord, flags: readonly string[], cwd: string): Promise<void> {
  const asked = await reportOf(['policies', '-A', ...flags], cwd)
  const identities = nodesOf(mapped, 'identity')
  const shown = new Set(identities.map((node) => stringAt(node, 'id')))
  // `policies` lists of a pattern what is certainly given; the map draws it to what may be held, too.
  const isSure = new Set(
    identities.filter((node) => stringAt(node, 'state') === 'held').map((node) => stringAt(node, 'id')),
  )
  const boxes = new Map(nodesOf(mapped, 'policy').map((node) => [stringAt(node, 'id'), node]))
  for (const policyAsked of listAt(asked, 'policies')) {
    const id = `policy/${stringAt(policyAsked, 'kind')}/${stringAt(policyAsked, 'policy')}`
    const sourcesAsked = listAt(policyAsked, 'rules').flatMap((one) =>
      listAt(one, 'sources').map((source) => ({ rule: stringAt(one, 'name'), source })),
    )
    const named = sourcesAsked
      .filter(({ source }) => own(source, 'excluded') === false)
      .flatMap(({ rule: name, source }) => {
        const state = stringAt(source, 'state')
        const spiffeId = stringAt(source, 'spiffeID')
        if (state === 'pattern')
          return listAt(source, 'takesIn').map((each) => `${name} pattern identity/${String(each)}`)
        const isExact = state !== 'service account' && spiffeId !== undefined
        return isExact ? [`${name} exactly identity/${spiffeId}`] : []
      })
      .filter((text) => shown.has(text.slice(text.indexOf('identity/'))))
    const box = boxes.get(id)
    expect({
      id: stringAt(box, 'id'),
      isInterpreted: own(box, 'isInterpreted'),
      namesAny: own(box, 'namesAny'),
      named: namesFrom(mapped, id, ['exactly', 'pattern']).filter(
        (text) =>
          !text.includes(' pattern ') ||
          named.includes(text) ||
          isSure.has(text.slice(text.indexOf('identity/'))),
      ),
    }).toEqual({
      id,
      isInterpreted: own(policyAsked, 'interpreted'),
      namesAny: sourcesAsked.some(({ source }) =>
        ['unbounded', 'type mismatch'].includes(stringAt(source, 'state') ?? ''),
      ),
      named: [...new Set(named)].toSorted(),
    })
    for (const { source } of sourcesAsked.filter((one) => stringAt(one.source, 'state') === 'resolved')) {
      const holders = listAt(source, 'holders').flatMap((holder) =>
        listAt(holder, 'containers').map((one) => `${stringAt(holder, 'pod')} ${String(one)}`),
      )
      expect(holdersByMap(mapped, stringAt(source, 'spiffeID') ?? '')).toEqual(new Set(holders))
    }
  }
}

/** A finding without what the command adds to it. */
function findingText(finding: unknown): string {
  return JSON.stringify(['code', 'severity', 'subject', 'related', 'summary'].map((key) => own(finding, key)))
}

/** The same of what clashes: each finding stands in the map too, and on the box of its binding. Gives the codes. */
async function expectSameConflicts(
  mapped: JsonRecord,
  flags: readonly string[],
  cwd: string,
): Promise<readonly string[]> {
  const asked = await reportOf(['conflicts', '-A', ...flags], cwd)
  const boxes = nodesOf(mapped, 'binding')
  const found = listAt(asked, 'findings')
  expect(listAt(mapped, 'findings').map(findingText)).toEqual(expect.arrayContaining(found.map(findingText)))
  expect({
    bindings: boxes.length,
    refused: boxes.filter((node) => stringAt(node, 'state') === 'refused').length,
  }).toEqual({ bindings: own(asked, 'bindings'), refused: own(asked, 'refused') })
  for (const one of found.filter((each) => stringAt(each, 'subject', 'kind') === BINDING_KIND)) {
    const key = `${stringAt(one, 'subject', 'namespace')}/${stringAt(one, 'subject', 'name')}`
    const box = boxes.find((node) => stringAt(node, 'binding') === key)
    expect(listAt(box, 'findings')).toContain(stringAt(one, 'code'))
  }
  return found.flatMap((one) => stringAt(one, 'code') ?? [])
}

/** What the reports of a world say. */
interface Agreed {
  readonly said: ReadonlyMap<string, Said>
  readonly mapped: JsonRecord
}

async function expectAgreement(flags: readonly string[], cwd: string): Promise<Agreed> {
  const [asked, mapped] = await Promise.all([
    reportOf(['who-selects', '-A', ...flags], cwd),
    reportOf(['map', '-A', ...flags], cwd),
  ])
  const said = saidByMap(mapped)
  const withoutWhy = [...said].map(([key, one]): readonly [string, Said] => [
    key,
    WHY_NOTHING.has(one.state) ? { ...one, state: 'nothing' } : one,
  ])
  expect(Object.fromEntries(withoutWhy)).toEqual(Object.fromEntries(saidByWhoSelects(asked)))
  await expectSameReasons(said, flags, cwd)
  // Without --spiffe-id, `who-selects` reads no other objects that mention IDs.
  const named = [...namedByMap(mapped, idsHeld(asked), podsOf(asked))].filter(isRule)
  expect(named.toSorted()).toEqual([...namedByWhoSelects(asked)].filter(isRule).toSorted())
  return { said, mapped }
}

/** An SCM that handles objects of every class. */
const SCM = {
  apiVersion: 'spire.spiffe.io/v1alpha1',
  kind: 'ControllerManagerConfig',
  trustDomain: 'example.org',
  clusterName: 'prod',
  watchClassless: true,
}
const GIVEN = settingsFlags('', 'scm.json')

const ID = 'spiffe://example.org'

test('the estate: the same of every container', async () => {
  const { said, mapped } = await expectAgreement(ESTATE_FLAGS, PROJECT_ROOT)
  const states = new Set([...said.values()].map(({ state }) => state))
  // It would agree about nothing, too.
  expect([...states].toSorted()).toEqual(['issued', 'several', 'undetermined'])
  expect(said.size).toBeGreaterThan(50)
  await expectSameIdentities(mapped, ESTATE_FLAGS, PROJECT_ROOT)
  await expectSamePolicies(mapped, ESTATE_FLAGS, PROJECT_ROOT)
  const codes = await expectSameConflicts(mapped, ESTATE_FLAGS, PROJECT_ROOT)
  expect(new Set(codes).size).toBeGreaterThan(5)
})

test('folders of the examples that leave containers without an identity', async () => {
  const cwd = PROJECT_ROOT
  const states = new Set<string>()
  for (const folder of ['examples/pull-request/head', 'examples/estate/risky', 'examples/wrong-class'])
    for (const { state } of (await expectAgreement(['--offline', '-R', '-f', folder], cwd)).said.values())
      states.add(state)
  expect(states).toContain('dead')
})

/** A ClusterSPIFFEID that SCM handles under the settings of GIVEN. */
function registration(name: string, spec: JsonRecord): JsonRecord {
  return foreign(name, { spiffeIDTemplate: `${ID}/${name}`, ...spec })
}
const ONLY_VLLM = { workloadSelectorTemplates: ['k8s:container-name:vllm'] }

test.each<readonly [name: string, mark: string, registrations: readonly JsonRecord[]]>([
  ['one identity each', '✓', [registration('all', {})]],
  ['one with an identity and one without', '·', [registration('some', ONLY_VLLM)]],
  [
    'a fallback that gave way, for one container to nothing',
    '!',
    [registration('some', ONLY_VLLM), registration('rest', { fallback: true })],
  ],
  [
    'the same entry of two objects',
    '!',
    [registration('all', {}), registration('also', { spiffeIDTemplate: `${ID}/all` })],
  ],
  ['several identities', '!', [registration('all', {}), registration('more', {})]],
  ['an entry that SCM cannot make', '!', [registration('a b', {})]],
  ['nothing that selects the pods', '·', []],
])('the same mark before the answers: %s', async (_, mark, registrations) => {
  const cwd = await workspace({
    'world.yaml': JSON.stringify({
      apiVersion: 'v1',
      kind: 'List',
      items: [llama(), NODE, ...registrations],
    }),
    'scm.json': JSON.stringify(SCM),
  })
  const flags = ['--offline', '-f', 'world.yaml', ...GIVEN]
  await expectAgreement(flags, cwd)
  for (const command of ['who-selects', 'map']) {
    const { stdout } = await inProcess([command, '-A', ...flags], cwd)
    expect(`${command}: ${stdout.slice(0, 1)}`).toBe(`${command}: ${mark}`)
  }
})

test('an ID that a template may give which kleym does not follow: nobody is said not to hold it', async () => {
  const owner = { apiVersion: 'v1', kind: 'X', name: 'x', uid: '1', controller: true }
  const owned = llama()
  const items = [
    { ...owned, metadata: { ...Object(own(owned, 'metadata')), ownerReferences: [owner] } },
    NODE,
    registration('owners', { spiffeIDTemplate: `${ID}/of/{{ .PodMeta.OwnerReferences }}` }),
    policy({ spec: { rules: [rule(spiffe(`${ID}/of/x`)), rule(spiffe(`${ID}/on/x`))] } }),
  ]
  const cwd = await workspace({
    'world.yaml': JSON.stringify({ apiVersion: 'v1', kind: 'List', items }),
    'scm.json': JSON.stringify(SCM),
  })
  const flags = ['--offline', '-f', 'world.yaml', ...GIVEN]
  const { mapped } = await expectAgreement(flags, cwd)
  await expectSameIdentities(mapped, flags, cwd)
  const identities = listAt(mapped, 'nodes').filter((node) => stringAt(node, 'kind') === 'identity')
  expect(identities.map((node) => [stringAt(node, 'spiffeID'), stringAt(node, 'state')])).toEqual([
    [`${ID}/of/x`, 'unknown'],
    [`${ID}/on/x`, 'unheld'],
  ])
})

/** What a rule of Istio names: `cluster.local` stands for the trust domain of the mesh, which no file here tells. */
const principals = fc.constantFrom<JsonRecord>(
  { principals: ['cluster.local/ns/team-a/sa/runner', 'cluster.local/ns/team-b/sa/runner'] },
  { principals: ['cluster.local/ns/team-a/sa/other', 'cluster.local/ns/team-b/sa/*'] },
  { principals: ['example.org/ns/team-a/*'] },
  { principals: ['example.org/ns/team-b/objective/chat'] },
  { notPrincipals: ['example.org/ns/team-a/pool/llama'] },
  { namespaces: ['team-a'] },
)
const sources = fc.constantFrom(
  spiffe(`${ID}/ns/team-a/pool/llama`),
  spiffe(`${ID}/ns/team-b/objective/chat`),
  spiffe(`${ID}/nowhere`),
  account('runner', 'team-a'),
  account('other', 'team-b'),
)
/** Gives every pod the ID of its service account. */
const ACCOUNTS = foreign('accounts', {
  spiffeIDTemplate: `${ID}/ns/{{ .PodMeta.Namespace }}/sa/{{ .PodSpec.ServiceAccountName }}`,
})
/** The access policies of a world, and what gives pods the IDs of their service accounts. */
const policies = fc
  .tuple(fc.array(sources, { maxLength: 2 }), fc.array(principals, { maxLength: 2 }), fc.boolean())
  .map(([ofRules, ofMesh, hasAccounts]) => [
    ...(hasAccounts ? [ACCOUNTS] : []),
    ...ofRules.map((source, at) => policy({ name: `tools-${at}`, spec: { rules: [rule(source)] } })),
    ...ofMesh.map((source, at) => ({
      apiVersion: 'security.istio.io/v1',
      kind: 'AuthorizationPolicy',
      metadata: { name: `mesh-${at}`, namespace: 'team-a' },
      spec: { action: 'ALLOW', rules: [{ from: [{ source }] }] },
    })),
  ])

/** Each run starts the program some twelve times. */
const RUNS = runs(40)
/** Here a premise covers the settings that were not given. */
const SEED = 1_434_583_085

test('generated worlds, with settings that were given and that were not, and with a document that cannot be read', async () => {
  const seen = new Set<string>()
  const ways = new Set<string>()
  const codes = new Set<string>()
  await fc.assert(
    fc.asyncProperty(
      tenants,
      policies,
      fc.constantFrom([], GIVEN, GIVEN),
      fc.constantFrom(
        '',
        '',
        '---\nkind: [\n',
        '---\napiVersion: spire.spiffe.io/v1alpha1\nkind: ClusterSPIFFEID\nspec: {\n',
      ),
      async (objects, naming, settings, broken) => {
        const cwd = await workspace({
          'world.yaml': JSON.stringify({ apiVersion: 'v1', kind: 'List', items: [...objects, ...naming] }),
          'broken.yaml': broken,
          'scm.json': JSON.stringify(SCM),
        })
        const files = ['-f', 'world.yaml', '-f', 'broken.yaml']
        const flags = ['--offline', ...files, ...settings]
        const { said, mapped } = await expectAgreement(flags, cwd)
        for (const { state } of said.values()) seen.add(state)
        for (const way of await expectSameIdentities(mapped, flags, cwd)) ways.add(way)
        await expectSamePolicies(mapped, flags, cwd)
        for (const code of await expectSameConflicts(mapped, flags, cwd)) codes.add(code)
      },
    ),
    { numRuns: RUNS, ...seedOf(SEED) },
  )
  expect([...seen]).toEqual(expect.arrayContaining(mustSee(['issued', 'undetermined', 'none'])))
  expect(codes.size).toBeGreaterThan(leastSeen(3))
  expect([...ways]).toEqual(
    expect.arrayContaining(mustSee(['exactly', 'pattern', 'perhaps', 'service account'])),
  )
})
