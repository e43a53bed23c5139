// The operator's own output on the real SCM: the whole of examples/, every binding of it, and who is issued what in the
// end. Worked out here from docs/contract.md §5 and the cluster alone, without the code that is tested.
import { serviceAccount } from './build-cluster.ts'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { dig, digPath, isRecord, listAt, stringAt, type JsonRecord } from '../../shared/src/core/base/json.ts'
import type { ControlPlane } from '../control-plane/control-plane.ts'
import { applyEstate } from '../control-plane/examples.ts'
import { conditionOf, namespace } from '../control-plane/objects.ts'
import { startOperator, startOperatorPlane, type RunningOperator } from '../control-plane/operator.ts'
import { idOf } from '../control-plane/rest.ts'
import { runToEnd } from '@kleym/testing/child-process.ts'
import { until } from '@kleym/testing/wait.ts'
import { compare, differenceText, type Comparison } from './compare.ts'
import { CLUSTER_SPIFFE_ID, startSpire, type HeldEntry, type Spire } from './spire.ts'

/** The controller's class in the estate. */
const ESTATE_CLASS = 'spire-mgmt-spire'
/** The pod label of variants in the estate. */
const ROLE = 'llm-d.ai/role'
/** What the SPIRE chart ignores, as far as the estate has such namespaces. */
const IGNORED = /kube-system|kube-public|local-path-storage|openshift-|ibm-/
const BINDING = { apiVersion: 'kleym.sonda.red/v1alpha1', kind: 'InferenceIdentityBinding' } as const
const PLUGIN = join(import.meta.dirname, '../../dist/kubectl-kleym')
/** What a person would dump for the plugin. */
const DUMPED = [
  ['v1', 'Namespace'],
  ['v1', 'Node'],
  ['v1', 'Pod'],
  ['v1', 'Endpoints'],
  ['spire.spiffe.io/v1alpha1', 'ClusterSPIFFEID'],
  ['spire.spiffe.io/v1alpha1', 'ClusterStaticEntry'],
  [BINDING.apiVersion, BINDING.kind],
  ['inference.networking.k8s.io/v1', 'InferencePool'],
  ['inference.networking.x-k8s.io/v1alpha2', 'InferencePool'],
  ['inference.networking.x-k8s.io/v1alpha2', 'InferenceObjective'],
  ['llm-d.ai/v1alpha2', 'InferenceObjective'],
] as const
/** A tenant that has nothing to do with team-a, and labels its pods alike. */
const OTHER_TENANT = 'other-tenant'

let cp: ControlPlane
let spire: Spire
let operator: RunningOperator
let before: Comparison
let after: Comparison
beforeAll(async () => {
  cp = await startOperatorPlane()
  await applyEstate(cp)
  await cp.apply([namespace(OTHER_TENANT), serviceAccount(OTHER_TENANT, 'default')])
  await cp.apply(await otherTenantsPods())
  spire = await startSpire(cp, { className: ESTATE_CLASS })
  before = await compare(cp, spire)
  operator = await startOperator(cp, {
    flags: [`--clusterspiffeid-class-name=${ESTATE_CLASS}`, `--variant-label-key=${ROLE}`],
  })
  await operator.leads()
  await until(async () => {
    const bindings = await cp.admin.list(BINDING)
    return bindings.every((one) => conditionOf(one, 'Ready') !== undefined)
  }, 'the operator to have judged every binding')
  after = await compare(cp, spire)
})
afterAll(() => cp?.stop())

/** A pod for every shape of labels in team-a and team-b, in the other tenant's namespace. */
async function otherTenantsPods(): Promise<readonly JsonRecord[]> {
  const pods = await cp.admin.list({ apiVersion: 'v1', kind: 'Pod' })
  const shapes = pods.filter((pod) =>
    ['team-a', 'team-b'].includes(stringAt(pod, 'metadata', 'namespace') ?? ''),
  )
  return shapes.map((pod, at) => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: `like-${at}`, namespace: OTHER_TENANT, labels: dig(pod, 'metadata', 'labels') },
    spec: {
      nodeName: stringAt(pod, 'spec', 'nodeName') ?? null,
      serviceAccountName: 'default',
      containers: [{ name: 'app', image: 'app:1' }],
    },
  }))
}

test('the prediction is right before and after the operator has written its outputs', () => {
  expect(before.differences.map(differenceText)).toEqual([])
  expect(after.differences.map(differenceText)).toEqual([])
  expect(after.agreed).toBeGreaterThan(before.agreed)
})

test('nothing of the estate is left open', () => {
  expect(after.uncertain).toEqual([])
})

test('every Ready binding is issued to the pods of its pool, under its selectors, and to no other pod', async () => {
  const bindings = await readyBindings()
  expect(bindings.length).toBeGreaterThan(10)
  const promised = new Set((await Promise.all(bindings.map(promisedBy))).flat())
  const ids = new Set(bindings.map(idOfBinding))
  const issued = new Set(after.held.filter(({ spiffeId }) => ids.has(spiffeId)).map(claim))
  expect([...issued].toSorted()).toEqual([...promised].toSorted())
  expect(promised.size).toBeGreaterThan(10)
})

test('no pod of another tenant loses its default identity because of a binding', async () => {
  const pods = await cp.admin.list({ apiVersion: 'v1', kind: 'Pod' })
  const bindings = await readyBindings()
  const chosen = new Set((await Promise.all(bindings.map(podsOf))).flat().map(uidOf))
  const lost = pods.filter((pod) => holdsDefault(before, pod) && !holdsDefault(after, pod))
  expect(lost.length).toBeGreaterThan(5)
  expect(lost.filter((pod) => !chosen.has(uidOf(pod))).map(nameOf)).toEqual([])
  const others = pods.filter((pod) => stringAt(pod, 'metadata', 'namespace') === OTHER_TENANT)
  const held = others.filter((pod) => holdsDefault(before, pod))
  expect(held.length).toBeGreaterThan(3)
  expect(held.filter((pod) => !holdsDefault(after, pod)).map(nameOf)).toEqual([])
})

test('the plugin prints the same entries, from a dump of the cluster', async () => {
  const dump = join(cp.folder, 'dump')
  mkdirSync(dump)
  for (const [apiVersion, kind] of DUMPED) {
    const items = (await cp.admin.list({ apiVersion, kind })).map((item) => ({ ...item, apiVersion, kind }))
    const list = { apiVersion: 'v1', kind: 'List', items }
    // JSON is YAML.
    writeFileSync(join(dump, `${kind}-${apiVersion.replace('/', '-')}.yaml`), JSON.stringify(list))
  }
  const settings = `--scm-config=${join(cp.folder, 'scm.json')}`
  const names = ['--trust-domain=example.org', `--clusterspiffeid-class-name=${ESTATE_CLASS}`]
  // It also says what is wrong with the estate, in its exit code.
  const { stdout, stderr } = runToEnd(PLUGIN, [
    'who-selects',
    '-A',
    '--entries',
    '-o',
    'json',
    '--offline',
    '-f',
    dump,
    settings,
    ...names,
  ])
  expect(stderr).toBe('')
  const printed = listAt(JSON.parse(stdout), 'entries').filter(isRecord).map(entryLine)
  expect(printed.toSorted()).toEqual(after.held.map(heldLine).toSorted())
})

/** What the fields of an entry are to both. */
function heldLine({ spiffeId, parentId, selectors, dnsNames, hint, x509SvidTtl }: HeldEntry): string {
  return JSON.stringify([spiffeId, parentId, selectors, dnsNames, hint, x509SvidTtl])
}

function entryLine(entry: JsonRecord): string {
  const selectors = listAt(entry, 'selectors').map(
    (one) => `${stringAt(one, 'type')}:${stringAt(one, 'value')}`,
  )
  return JSON.stringify([
    stringAt(entry, 'spiffe_id'),
    stringAt(entry, 'parent_id'),
    selectors.toSorted(),
    listAt(entry, 'dns_names').map(String).toSorted(),
    stringAt(entry, 'hint'),
    entry['x509_svid_ttl'],
  ])
}

test('without the namespace selector other tenants would lose it: that is what it is for', async () => {
  expect(await operator.stop()).toBe('exit code 0')
  const outputs = (await cp.admin.list(CLUSTER_SPIFFE_ID)).filter(
    (one) => dig(one, 'metadata', 'labels', 'kleym.sonda.red/managed-by') === 'kleym',
  )
  for (const output of outputs)
    await cp.admin.patch(idOf({ ...output, ...CLUSTER_SPIFFE_ID }), { spec: { namespaceSelector: null } })
  const variant = await compare(cp, spire)
  expect(variant.differences.map(differenceText)).toEqual([])
  const others = await cp.admin.list({ apiVersion: 'v1', kind: 'Pod', namespace: OTHER_TENANT })
  const lost = others.filter((pod) => holdsDefault(after, pod) && !holdsDefault(variant, pod))
  expect(lost.length).toBeGreaterThan(3)
})

async function readyBindings(): Promise<readonly JsonRecord[]> {
  const bindings = await cp.admin.list(BINDING)
  return bindings.filter((one) => stringAt(conditionOf(one, 'Ready'), 'status') === 'True')
}

/** The pods that a binding is for: those of its namespace with the labels of its pool, and of its variant. */
async function podsOf(binding: JsonRecord): Promise<readonly JsonRecord[]> {
  const space = spaceOf(binding)
  const labels = Object.entries(await podLabels(binding))
  const pods = await cp.admin.list({ apiVersion: 'v1', kind: 'Pod', namespace: space })
  return pods.filter((pod) => labels.every(([key, value]) => dig(pod, 'metadata', 'labels', key) === value))
}

/** Where the labels of a pool stand, by its group. */
const POOLS = [
  { group: 'inference.networking.k8s.io', version: 'v1', path: ['spec', 'selector', 'matchLabels'] },
  { group: 'inference.networking.x-k8s.io', version: 'v1alpha2', path: ['spec', 'selector'] },
] as const

/** A Ready binding that names no group has one pool of that name. */
async function poolLabels(binding: JsonRecord): Promise<JsonRecord> {
  const [wanted, name] = [stringAt(binding, 'spec', 'poolRef', 'group'), poolOf(binding)]
  for (const { group, version, path } of POOLS) {
    if (wanted !== undefined && wanted !== group) continue
    const id = { apiVersion: `${group}/${version}`, kind: 'InferencePool', name, namespace: spaceOf(binding) }
    const labels = digPath(await cp.admin.get(id), path)
    if (isRecord(labels)) return labels
  }
  throw new Error(`${nameOf(binding)} is Ready and its pool has no labels`)
}

/** The labels of the pods that a binding is for. */
async function podLabels(binding: JsonRecord): Promise<JsonRecord> {
  const variant = variantOf(binding)
  return { ...(await poolLabels(binding)), ...(variant === undefined ? {} : { [ROLE]: variant }) }
}

function variantOf(binding: JsonRecord): string | undefined {
  return stringAt(binding, 'spec', 'identityBoundary', 'variant')
}

function poolOf(binding: JsonRecord): string {
  return stringAt(binding, 'spec', 'poolRef', 'name') ?? ''
}

function isPerObjective(binding: JsonRecord): boolean {
  return stringAt(binding, 'spec', 'objectiveRef', 'name') !== undefined
}

function idOfBinding(binding: JsonRecord): string {
  const space = `spiffe://example.org/ns/${spaceOf(binding)}`
  const variant = variantOf(binding)
  if (variant !== undefined) return `${space}/pool/${poolOf(binding)}/variant/${variant}`
  return isPerObjective(binding)
    ? `${space}/objective/${stringAt(binding, 'spec', 'objectiveRef', 'name')}`
    : `${space}/pool/${poolOf(binding)}`
}

/** The claims that a binding makes: one per pod of its that has a node and is not in a namespace that SCM ignores. */
async function promisedBy(binding: JsonRecord): Promise<readonly string[]> {
  if (IGNORED.test(spaceOf(binding))) return []
  const nodes = new Set((await cp.admin.list({ apiVersion: 'v1', kind: 'Node' })).map(nameOf))
  const pods = (await podsOf(binding)).filter((pod) => nodes.has(stringAt(pod, 'spec', 'nodeName') ?? ''))
  const selectors = [
    `k8s:ns:${spaceOf(binding)}`,
    `k8s:sa:${stringAt(binding, 'spec', 'serviceAccountName')}`,
    ...Object.entries(await podLabels(binding)).map(
      ([key, value]) => `k8s:pod-label:${key}:${String(value)}`,
    ),
    ...(isPerObjective(binding) ? [`k8s:container-name:${stringAt(binding, 'spec', 'containerName')}`] : []),
  ]
  return pods.map((pod) =>
    claim({
      spiffeId: idOfBinding(binding),
      selectors: [`k8s:pod-uid:${uidOf(pod)}`, ...selectors].toSorted(),
    }),
  )
}

function claim({ spiffeId, selectors }: Pick<HeldEntry, 'spiffeId' | 'selectors'>): string {
  return `${spiffeId} ${selectors.join(' ')}`
}

/** Whether the server holds an entry of the chart's ClusterSPIFFEID `default` for a pod. */
function holdsDefault({ held }: Comparison, pod: JsonRecord): boolean {
  const selector = `k8s:pod-uid:${uidOf(pod)}`
  return held.some(({ selectors, hint }) => hint === 'default' && selectors.includes(selector))
}

function uidOf(object: JsonRecord): string {
  return stringAt(object, 'metadata', 'uid') ?? ''
}

function spaceOf(object: JsonRecord): string {
  return stringAt(object, 'metadata', 'namespace') ?? ''
}

function nameOf(object: JsonRecord): string {
  const name = stringAt(object, 'metadata', 'name') ?? ''
  return spaceOf(object) === '' ? name : `${spaceOf(object)}/${name}`
}
