// The report of `map`: what it is limited to, what a change gives and takes, and that what is empty, forbidden or unknown
// stands in it.
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { isRecord, listAt, own, stringAt, type JsonRecord } from '@kleym/shared/core/base/json.ts'
import { ESTATE_FLAGS, PROJECT_ROOT } from '../../support/estate.ts'
import { inProcess } from '../../support/in-process.ts'
import { requireValidReport } from '../../support/report-check.ts'
import { workspace } from '../../support/workspace.ts'

interface Mapped {
  readonly report: JsonRecord
  readonly nodes: readonly JsonRecord[]
  readonly edges: readonly JsonRecord[]
  readonly code: number
}

async function mapOf(args: readonly string[], cwd: string = PROJECT_ROOT): Promise<Mapped> {
  const { stdout, code } = await inProcess(['map', ...args, '-o', 'json'], cwd)
  requireValidReport(stdout)
  const report: unknown = JSON.parse(stdout)
  if (!isRecord(report)) throw new Error('no report')
  return {
    report,
    nodes: listAt(report, 'nodes').filter(isRecord),
    edges: listAt(report, 'edges').filter(isRecord),
    code,
  }
}

function idsOf({ nodes }: Mapped, kind: string): readonly string[] {
  return nodes.filter((node) => node['kind'] === kind).map((node) => String(node['id']))
}

function nodeOf({ nodes }: Mapped, id: string): JsonRecord | undefined {
  return nodes.find((node) => node['id'] === id)
}

/** A workload and all that it takes for its container to hold an identity. */
const world = (count: number): string => `apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  replicas: ${count}
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {serviceAccountName: web, containers: [{name: web, image: web}]}
---
apiVersion: v1
kind: Namespace
metadata: {name: shop}
---
apiVersion: spire.spiffe.io/v1alpha1
kind: ClusterSPIFFEID
metadata: {name: all}
spec: {spiffeIDTemplate: "spiffe://example.org/all"}
---
apiVersion: spire.spiffe.io/v1alpha1
kind: ControllerManagerConfig
trustDomain: example.org
clusterName: prod
watchClassless: true
`

describe('every map', () => {
  test.each([
    ['of everything', ['-A', ...ESTATE_FLAGS]],
    ['of a namespace', ['-n', 'team-a', ...ESTATE_FLAGS]],
    ['of labels', ['-A', '-l', 'app=llama', ...ESTATE_FLAGS]],
    ['of an ID', ['-A', '--spiffe-id', 'spiffe://example.org/ns/team-a/objective/chat', ...ESTATE_FLAGS]],
    [
      'of a change',
      ['--offline', '--compare', 'examples/pull-request/base', '-R', '-f', 'examples/pull-request/head'],
    ],
  ])('%s: each id stands once, and whatever names one names one that is there', async (_, args) => {
    const map = await mapOf(args)
    const ids = map.nodes.map((node) => String(node['id']))
    expect(new Set(ids).size).toBe(ids.length)
    const known = new Set(ids)
    const named = [
      ...map.nodes.flatMap((node) => stringAt(node, 'parent') ?? []),
      ...map.edges.flatMap((edge) => [String(edge['from']), String(edge['to'])]),
    ]
    expect(named.filter((id) => !known.has(id))).toEqual([])
    expect(map.edges.length).toBeGreaterThan(0)
  })
})

describe('it is limited', () => {
  test('to a namespace, with the ClusterSPIFFEIDs that select its pods and the policies that name its identities', async () => {
    const map = await mapOf(['-n', 'team-a', ...ESTATE_FLAGS])
    expect(idsOf(map, 'binding')).toEqual([
      'binding/team-a/chat',
      'binding/team-a/embed',
      'binding/team-a/sql-lora',
    ])
    expect(idsOf(map, 'policy')).toContain('policy/XAccessPolicy/agents/tools')
    expect(idsOf(map, 'ClusterSPIFFEID').toSorted()).toEqual([
      'ClusterSPIFFEID/default',
      'ClusterSPIFFEID/legacy-ml',
    ])
  })

  test('to pods with labels', async () => {
    const map = await mapOf(['-A', '-l', 'app=embed', ...ESTATE_FLAGS])
    const pods = map.nodes.filter((node) => node['kind'] === 'pods').flatMap((node) => listAt(node, 'pods'))
    expect(pods).toEqual(['pod team-a/embed-dpbwpfs-clb52'])
    expect(idsOf(map, 'binding')).toEqual(['binding/team-a/embed'])
  })

  test('to a SPIFFE ID, whoever holds it, asks for it or names it', async () => {
    const id = 'spiffe://example.org/ns/team-a/objective/chat'
    const map = await mapOf(['-A', '--spiffe-id', id, ...ESTATE_FLAGS])
    expect(idsOf(map, 'identity')).toContain(`identity/${id}`)
    expect(nodeOf(map, `identity/${id}`)).toMatchObject({ state: 'held', holders: 3 })
    expect(idsOf(map, 'binding')).toEqual(['binding/team-a/chat'])
    expect(map.edges.some((edge) => edge['kind'] === 'names' && edge['to'] === `identity/${id}`)).toBe(true)
  })

  test('to a SPIFFE ID that nobody holds', async () => {
    const id = 'spiffe://example.org/ns/team-a/objective/nothing'
    const map = await mapOf(['-A', '--spiffe-id', id, ...ESTATE_FLAGS])
    expect(nodeOf(map, `identity/${id}`)).toMatchObject({ holders: 0 })
  })
})

/** A replica of a StatefulSet. */
function replica(name: string, labels: JsonRecord): JsonRecord {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      namespace: 'shop',
      uid: name,
      labels,
      ownerReferences: [
        { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'web', uid: 'w', controller: true },
      ],
    },
    spec: { serviceAccountName: 'web', nodeName: 'n', containers: [{ name: 'main' }] },
  }
}

test('replicas of one workload that are alike are one box, and those that differ are not', async () => {
  const canary = {
    apiVersion: 'spire.spiffe.io/v1alpha1',
    kind: 'ClusterSPIFFEID',
    metadata: { name: 'canary', uid: 'c', creationTimestamp: '2026-01-01T00:00:00Z' },
    spec: {
      spiffeIDTemplate: 'spiffe://example.org/canary',
      podSelector: { matchLabels: { canary: 'yes' } },
    },
  }
  const items = [replica('web-0', {}), replica('web-1', {}), replica('web-2', { canary: 'yes' }), canary]
  const cwd = await workspace({ 'a.json': JSON.stringify({ apiVersion: 'v1', kind: 'List', items }) })
  const map = await mapOf(['--offline', '-f', '.'], cwd)
  const boxes = map.nodes.filter((node) => node['kind'] === 'pods')
  expect(boxes.map((node) => listAt(node, 'pods'))).toEqual([
    ['pod shop/web-0', 'pod shop/web-1'],
    ['pod shop/web-2'],
  ])
  expect(new Set(boxes.map((node) => node['parent']))).toEqual(new Set(['workload/shop/StatefulSet/web']))
})

/** The manifest of a pod. */
function podText(name: string): string {
  return `---\napiVersion: v1\nkind: Pod\nmetadata: {name: ${name}, namespace: shop}\nspec: {containers: [{name: main}]}\n`
}

/** The manifest of a policy whose one rule names one ID. */
function policyText(name: string, id: string): string {
  const rule = `{name: one, source: {type: SPIFFE, spiffe: "spiffe://example.org/${id}"}}`
  const spec = `{targetRefs: [{group: gateway.networking.k8s.io, kind: Gateway, name: tools}], action: Allow, rules: [${rule}]}`
  return `---\napiVersion: agentic.networking.x-k8s.io/v1alpha1\nkind: XAccessPolicy\nmetadata: {name: ${name}, namespace: shop}\nspec: ${spec}\n`
}

describe('what a change gives and takes', () => {
  test('is what diff says', async () => {
    const files = ['-R', '-f', 'examples/pull-request/head']
    const map = await mapOf(['--offline', '--compare', 'examples/pull-request/base', ...files])
    const { stdout } = await inProcess(
      ['diff', '--offline', '--base', 'examples/pull-request/base', ...files, '-o', 'json'],
      PROJECT_ROOT,
    )
    const effect = own(JSON.parse(stdout), 'effect')
    const lost = listAt(effect, 'lost').flatMap((one) =>
      listAt(one, 'containers').map(
        (holder) => `${stringAt(holder, 'container')} ${stringAt(one, 'spiffeID')}`,
      ),
    )
    const removed = map.edges.filter((edge) => edge['kind'] === 'holds' && edge['change'] === 'removed')
    expect(lost.length).toBeGreaterThan(0)
    expect(
      removed.map(
        ({ from, to }) =>
          `${String(nodeOf(map, String(from))?.['label'])} ${String(to).slice('identity/'.length)}`,
      ),
    ).toEqual(lost)
    expect(nodeOf(map, 'binding/team-c/web-search')).toMatchObject({ change: 'added' })
    expect(nodeOf(map, 'binding/team-c/tagging')).toMatchObject({ change: 'removed' })
    // What is lost is not held.
    expect(nodeOf(map, 'identity/spiffe://example.org/ns/team-c/objective/tagging')).toMatchObject({
      state: 'unheld',
      change: 'removed',
    })
  })

  test('a pod that goes stands there with what it held, and counts nowhere', async () => {
    const given =
      '---\napiVersion: spire.spiffe.io/v1alpha1\nkind: ClusterSPIFFEID\nmetadata: {name: all}\nspec: {spiffeIDTemplate: "spiffe://example.org/all"}\n'
    const scm =
      'apiVersion: spire.spiffe.io/v1alpha1\nkind: ControllerManagerConfig\ntrustDomain: example.org\nclusterName: prod\nwatchClassless: true\n'
    const cwd = await workspace({
      'base/a.yaml': podText('stays') + podText('goes') + given,
      'head/a.yaml': podText('stays') + podText('comes') + given,
      'scm.yaml': scm,
    })
    const map = await mapOf(
      [
        '--offline',
        '--compare',
        'base',
        '-f',
        'head',
        '--scm-config',
        'scm.yaml',
        '--trust-domain',
        'example.org',
      ],
      cwd,
    )
    const changes = map.nodes
      .filter((node) => node['kind'] === 'pods')
      .map((node) => [node['label'], node['change']])
    expect(changes).toEqual([
      ['comes', 'added'],
      ['stays', null],
      ['goes', 'removed'],
    ])
    expect(nodeOf(map, 'namespace/shop')).toMatchObject({ pods: 2 })
    expect(nodeOf(map, 'identity/spiffe://example.org/all')).toMatchObject({ holders: 2, change: 'changed' })
  })

  test.each([
    ['that asks for no pods any more is uncertain, and so is the answer', 0, 4],
    ['that asks for more pods is as it was', 3, 0],
  ])('a workload %s', async (_, replicas, wanted) => {
    const cwd = await workspace({ 'base/a.yaml': world(2), 'head/a.yaml': world(replicas) })
    const given = ['--trust-domain', 'example.org', '--clusterspiffeid-class-name', '']
    const { nodes, code } = await mapOf(['--offline', '--compare', 'base', '-f', 'head', ...given], cwd)
    expect(nodes.some(({ change }) => change === 'uncertain')).toBe(wanted === 4)
    expect(code).toBe(wanted)
  })

  test('a policy that goes, comes or names others says so, and one that is as it was does not', async () => {
    const cwd = await workspace({
      'base/a.yaml':
        podText('main') + policyText('goes', 'a') + policyText('moves', 'a') + policyText('stays', 'a'),
      'head/a.yaml':
        podText('main') + policyText('comes', 'a') + policyText('moves', 'b') + policyText('stays', 'a'),
    })
    const given = ['--trust-domain', 'example.org', '--clusterspiffeid-class-name', 'kleym']
    const map = await mapOf(['--offline', '--compare', 'base', '-f', 'head', ...given], cwd)
    const changes = map.nodes
      .filter((node) => node['kind'] === 'policy')
      .map((node) => [node['label'], node['change']])
    expect(changes).toEqual([
      ['comes', 'added'],
      ['moves', 'changed'],
      ['stays', null],
      ['goes', 'removed'],
    ])
    // What the one that goes named is still drawn.
    expect(map.edges).toContainEqual(
      expect.objectContaining({ kind: 'names', from: 'policy/XAccessPolicy/shop/goes', rule: 'one' }),
    )
    const alone = await mapOf(['--offline', '-f', 'head', ...given], cwd)
    expect(alone.nodes.filter((node) => node['kind'] === 'policy' && node['change'] !== null)).toEqual([])
  })

  test.each([
    ['beside a cluster', ['--compare', 'base', '-f', 'head'], 'add --offline'],
    [
      'beside --live',
      ['--offline', '--live', 'x', '--compare', 'base', '-f', 'head'],
      'leave one of them out',
    ],
    ['alone', ['--offline', '--live', 'x', '--compare', 'base'], 'leave one of them out'],
    ['twice from stdin', ['--offline', '--compare', '-', '-f', '-'], 'write - once'],
  ])('--compare %s is refused, with what to do', async (_, args, fix) => {
    const { code, stderr } = await inProcess(['map', ...args], PROJECT_ROOT)
    expect(code).toBe(2)
    expect(stderr).toContain(fix)
  })
})

/** What becomes of the first container. */
function stateOf({ nodes }: Mapped): unknown {
  return nodes.find((node) => node['kind'] === 'container')?.['state']
}

describe('what is not known stands in it', () => {
  const POD =
    'apiVersion: v1\nkind: Pod\nmetadata: {name: web, namespace: shop, uid: u}\nspec: {nodeName: n, containers: [{name: main}]}\n'

  test('a document that cannot be read: a box of its own, and no container is said to have none', async () => {
    const cwd = await workspace({ 'pod.yaml': POD, 'broken.yaml': 'kind: [\n' })
    const map = await mapOf(['--offline', '-f', '.'], cwd)
    expect(map.code).toBe(4)
    expect(map.nodes.filter((node) => node['kind'] === 'gap').map((node) => node['why'])).toEqual([
      expect.stringContaining('broken.yaml'),
    ])
    expect(map.nodes.find((node) => node['kind'] === 'container')).toMatchObject({ state: 'undetermined' })
  })

  test('settings that were not given: the same container is undetermined beside a registration', async () => {
    const other = `---
apiVersion: spire.spiffe.io/v1alpha1
kind: ClusterSPIFFEID
metadata: {name: other}
spec: {spiffeIDTemplate: "spiffe://example.org/x", podSelector: {matchLabels: {a: b}}}
`
    const args = ['--offline', '--strict', '-f', '.']
    const alone = await mapOf(args, await workspace({ 'pod.yaml': POD }))
    const beside = await mapOf(args, await workspace({ 'pod.yaml': POD + other }))
    expect([stateOf(alone), stateOf(beside)]).toEqual(['none', 'undetermined'])
  })

  test('a namespace without a pod is there, and says so', async () => {
    const map = await mapOf(['-A', ...ESTATE_FLAGS])
    expect(nodeOf(map, 'namespace/kube-system')).toMatchObject({ pods: 0, containers: {} })
    const { stdout } = await inProcess(['map', '-A', ...ESTATE_FLAGS], PROJECT_ROOT)
    expect(stdout).toMatch(/kube-system +0 pods +no container/)
  })

  test('a policy that kleym cannot interpret is there as one', async () => {
    const map = await mapOf(['-A', ...ESTATE_FLAGS])
    const open = map.nodes.filter((node) => node['kind'] === 'policy' && node['isInterpreted'] === false)
    expect(open.length).toBeGreaterThan(0)
  })
})

describe('as a drawing', () => {
  test.each(['mermaid', 'dot'])(
    '%s draws namespaces alone beyond what it can, and says so',
    async (format) => {
      const { stdout } = await inProcess(['map', '-A', ...ESTATE_FLAGS, '-o', format], PROJECT_ROOT)
      expect(stdout).toMatch(/are more than \d+: only\b/)
      expect(stdout).toContain('Namespace team-a')
      expect(stdout).not.toContain('subgraph')
    },
  )

  test('Graphviz gets quoted strings alone: backslashes, quotes, ampersands and brackets are text', async () => {
    const evil = String.raw`a"b\N\"&amp;]`
    const items = [
      {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name: 'web', namespace: 'shop', uid: 'u' },
        spec: { serviceAccountName: 'x', containers: [{ name: evil }] },
      },
    ]
    const cwd = await workspace({ 'a.json': JSON.stringify({ apiVersion: 'v1', kind: 'List', items }) })
    const { stdout } = await inProcess(['map', '--offline', '-f', 'a.json', '-o', 'dot'], cwd)
    expect(stdout).toContain(String.raw`a\"b\\N\\\"&amp;amp;] is not`)
    for (const row of stdout.split('\n').filter((text) => text.includes('label='))) {
      const quoted = row.replaceAll(/"(?:[^"\\]|\\.)*"/g, '""')
      expect(quoted).toMatch(/^ +(?:n\d+ \[label=""|label=""|n\d+ -> n\d+)/)
    }
  })

  test.each(['who-selects', 'policies', 'diff'])(
    '%s makes no page, and says which command does',
    async (command) => {
      const files = ['--offline', '-f', join(PROJECT_ROOT, 'examples/estate/team-a')]
      const { code, stderr } = await inProcess([command, ...files, '-o', 'html'], PROJECT_ROOT)
      expect(code).toBe(2)
      expect(stderr).toContain('kubectl kleym map -o html')
    },
  )
})
