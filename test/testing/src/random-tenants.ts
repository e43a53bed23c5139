// Random estates of a few namespaces whose registrations reach over namespaces, for what holds of an answer about one of
// them: outputs of kleym as written and as a user has changed them, ClusterSPIFFEIDs that are not kleym's, and static entries.
import * as fc from 'fast-check'
import { analyse, type Analysis } from '@kleym/shared/core/analysis/states/analysis.ts'
import type { Config } from '@kleym/shared/core/decide/settings/config.ts'
import type { Output } from '@kleym/shared/core/decide/compile/output.ts'
import { stringAt, type JsonRecord } from '@kleym/shared/core/base/json.ts'
import type { UnknownReason } from '@kleym/shared/core/model/unknown-reason.ts'
import { DEFAULT_VARIANT_LABEL_KEY, NAMESPACE_NAME_LABEL } from '@kleym/shared/core/model/names.ts'
import { readMeta } from '@kleym/shared/core/model/objects/meta.ts'
import type { ScmSettings } from '@kleym/shared/core/model/objects/scm-settings.ts'
import { readSnapshot } from '@kleym/shared/core/snapshot/snapshot.ts'
import { binding, CONFIG, live, objective, perVariant, pool, poolOnly, settledCluster } from './manifests.ts'
import { HANDLES_EVERYTHING } from './scm-settings.ts'

/** The namespaces. */
export const TENANTS = ['team-a', 'team-b'] as const
const SPIRE = 'spire.spiffe.io/v1alpha1'
const ID = 'spiffe://example.org'
/** What every binding of these estates needs. */
const GROUND = TENANTS.flatMap((namespace) => [
  {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: namespace, uid: namespace, labels: { tier: namespace } },
  },
  pool({ namespace }),
  objective({ namespace }),
])
const NODES = ['n1', 'n2'].map((name) => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name, uid: `uid-of-${name}`, labels: { zone: name } },
  spec: {},
}))

const tenant = fc.constantFrom(...TENANTS)
/** A pool's binding, a variant's, an objective's, and one that is refused. */
const bindings = fc
  .uniqueArray(fc.tuple(tenant, fc.constantFrom('pool', 'role', 'chat', 'gone')), {
    selector: ([namespace, name]) => `${namespace}/${name}`,
    maxLength: 4,
  })
  .map((all) =>
    all.map(([namespace, name]) => {
      if (name === 'pool') return poolOnly({ namespace, name })
      if (name === 'role') return perVariant({ namespace, name })
      return binding({ namespace, name, ...(name === 'gone' && { spec: { poolRef: { name: 'none' } } }) })
    }),
  )

/** The IDs that kleym gives in these estates, and others. */
const ids = fc.constantFrom(
  ...TENANTS.flatMap((namespace) => [
    `${ID}/ns/${namespace}/pool/llama`,
    `${ID}/ns/${namespace}/objective/chat`,
    `${ID}/ns/${namespace}/pool/llama/variant/prefill`,
    `${ID}/ns/${namespace}/{{ index .PodMeta.Labels "kind" }}/llama`,
  ]),
  `${ID}/ns/{{ .PodMeta.Namespace }}/sa/{{ .PodSpec.ServiceAccountName }}`,
  `{{ index .PodMeta.Annotations "id" }}`,
  `${ID}/other`,
)
const namespaceSelector = fc.constantFrom<JsonRecord | undefined>(
  undefined,
  {},
  ...TENANTS.map((namespace) => ({ matchLabels: { [NAMESPACE_NAME_LABEL]: namespace } })),
  { matchLabels: { tier: 'team-b' } },
  { matchExpressions: [{ key: NAMESPACE_NAME_LABEL, operator: 'In', values: ['team-b'] }] },
)
const foreign = fc.record({
  spiffeIDTemplate: ids,
  namespaceSelector,
  podSelector: fc.constantFrom(undefined, { matchLabels: { app: 'llama' } }),
  fallback: fc.constantFrom(false, false, true),
  workloadSelectorTemplates: fc.constantFrom<readonly string[]>(
    [],
    [],
    [],
    ['k8s:sa:runner'],
    ['k8s:ns:team-a', 'k8s:sa:runner', 'k8s:container-name:vllm', 'k8s:pod-label:app:llama'],
    ['x:{{ slice (index .PodMeta.Annotations "cut") 0 1 }}'],
  ),
})
/** The binding that a ClusterSPIFFEID names as its owner. */
const claimed = fc.constantFrom(
  undefined,
  undefined,
  undefined,
  'team-a/pool',
  'team-b/pool',
  'team-b/nobody',
)
const foreigns = fc.array(fc.tuple(foreign, claimed), { maxLength: 3 }).map((all) =>
  all.map(([spec, owner], at) => ({
    apiVersion: SPIRE,
    kind: 'ClusterSPIFFEID',
    metadata: {
      name: `other-${at}`,
      uid: `uid-of-other-${at}`,
      creationTimestamp: '2026-01-01T00:00:00Z',
      ...(owner !== undefined && {
        annotations: { 'kleym.sonda.red/binding': owner, 'kleym.sonda.red/binding-uid': 'uid-of-nobody' },
      }),
    },
    spec,
  })),
)
const statics = fc
  .array(
    fc.record({
      spiffeID: fc.constantFrom(
        `${ID}/ns/team-a/pool/llama`,
        `${ID}/ns/team-b/objective/chat`,
        `${ID}/static`,
      ),
      parentID: fc.constantFrom(`${ID}/spire/agent/k8s_psat/prod/uid-of-n1`, `${ID}/my-own-parent`),
      selectors: fc.constantFrom(['k8s:ns:team-a'], ['k8s:ns:team-b'], ['k8s:pod-uid:uid-of-pod-0']),
    }),
    { maxLength: 1 },
  )
  .map((all) =>
    all.map((spec, at) => ({
      apiVersion: SPIRE,
      kind: 'ClusterStaticEntry',
      metadata: {
        name: `static-${at}`,
        uid: `uid-of-static-${at}`,
        creationTimestamp: '2026-01-01T00:00:00Z',
      },
      spec,
    })),
  )

const pods = fc
  .array(
    fc.record({
      namespace: tenant,
      labels: fc.constantFrom<JsonRecord>(
        { app: 'llama' },
        { app: 'llama', kind: 'pool' },
        { app: 'llama', [DEFAULT_VARIANT_LABEL_KEY]: 'prefill' },
        { app: 'other' },
      ),
      annotations: fc.constantFrom(
        { id: `${ID}/ns/team-a/pool/llama`, cut: 'plain' },
        { id: `${ID}/ns/team-b/pool/llama`, cut: 'é' },
        { id: `${ID}/mine`, cut: 'é' },
      ),
      serviceAccountName: fc.constantFrom('runner', 'runner', 'other'),
      nodeName: fc.constantFrom('n1', 'n1', 'n2', 'n3', ''),
    }),
    { minLength: 1, maxLength: 4 },
  )
  .map((all) =>
    all.map(({ namespace, labels, annotations, serviceAccountName, nodeName }, at) => ({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: `pod-${at}`, namespace, uid: `uid-of-pod-${at}`, labels, annotations },
      spec: { serviceAccountName, nodeName, containers: [{ name: 'vllm' }, { name: 'proxy' }] },
    })),
  )

/**
 * What a user has done to an output: nothing, opened it to every namespace, given it another ID or another name; or
 * deleted it too, which a finalizer holds up, so that kleym cannot repair it.
 */
const edits = fc.array(
  fc.constantFrom(
    'none',
    'none',
    'absent',
    'open',
    'open selectors',
    'other id',
    'other name',
    'going',
    'going and open',
    'going with other id',
  ),
  {
    minLength: 4,
    maxLength: 4,
  },
)
const GOING = { deletedAt: '2026-01-02T00:00:00Z' }

function edited(output: Output, edit = 'none'): readonly JsonRecord[] {
  switch (edit) {
    case 'absent':
      return []
    case 'open':
      return [live(output, { spec: { namespaceSelector: undefined } })]
    case 'open selectors': {
      const selectors = output.spec.workloadSelectorTemplates.filter((one) => !one.startsWith('k8s:ns:'))
      return [live(output, { spec: { namespaceSelector: undefined, workloadSelectorTemplates: selectors } })]
    }
    case 'other id':
      return [live(output, { spec: { spiffeIDTemplate: `${ID}/ns/team-a/pool/llama` } })]
    case 'going':
      return [live(output, GOING)]
    case 'going and open':
      return [live(output, { ...GOING, spec: { namespaceSelector: undefined } })]
    case 'going with other id':
      return [live(output, { ...GOING, spec: { spiffeIDTemplate: `${ID}/ns/team-b/pool/lama` } })]
    case 'other name':
      return [live(output, { name: 'renamed' })]
    default:
      return [live(output)]
  }
}

/** The manifests of one estate. */
export const tenants: fc.Arbitrary<readonly JsonRecord[]> = fc
  .record({ bindings, foreigns, statics, pods, edits })
  .map((drafts) => {
    const objects = [...GROUND, ...NODES, ...drafts.bindings]
    const resolved = settledCluster(objects).compiled.flatMap(({ result }) =>
      result.kind === 'resolved' ? [result.output] : [],
    )
    const outputs = resolved.flatMap((output, at) => edited(output, drafts.edits[at]))
    return [...objects, ...outputs, ...drafts.foreigns, ...drafts.statics, ...drafts.pods]
  })

/**
 * Without the pods that are bound to a node which is not there: SCM skips them until they are collected as garbage. Who
 * may not read nodes is not told so: else nothing that they ask could be answered as a whole.
 */
export function withoutLostPods(objects: readonly JsonRecord[]): readonly JsonRecord[] {
  return objects.filter((object) => object['kind'] !== 'Pod' || stringAt(object, 'spec', 'nodeName') !== 'n3')
}

/** What was left out when an estate was read. */
export interface TenantReading {
  /** Only these namespaces were read. */
  readonly namespacesRead?: ReadonlySet<string>
  /** Nothing of these kinds could be read. */
  readonly forbidden?: readonly string[]
  readonly config?: Config
  readonly settings?: ScmSettings
}

/** What the whole core makes of an estate, read like this. */
export function analysisOf(
  objects: readonly JsonRecord[],
  { namespacesRead, forbidden = [], config = CONFIG, settings = HANDLES_EVERYTHING }: TenantReading = {},
): Analysis {
  const isRead = (object: JsonRecord): boolean => {
    const { namespace, name } = readMeta(object)
    const place = object['kind'] === 'Namespace' ? name : namespace
    return (
      !forbidden.includes(String(object['kind'])) &&
      (namespacesRead === undefined || place === '' || namespacesRead.has(place))
    )
  }
  const snapshot = readSnapshot({
    objects: objects.filter(isRead).map((value) => ({ value })),
    gaps: new Map(forbidden.map((kind) => [kind, forbid(kind)])),
    listedKinds: new Set(['Node', 'Namespace', 'Pod'].filter((kind) => !forbidden.includes(kind))),
    ...(namespacesRead === undefined ? {} : { namespacesRead }),
  })
  return analyse(snapshot, config, settings)
}

function forbid(what: string): UnknownReason {
  return { verb: 'list', what, cause: 'forbidden' }
}
