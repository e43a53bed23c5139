// The objects that controllers of serving stacks make, before they exist: a table of kinds whose pods follow from the object for
// certain (`EXPANDED`), and of kinds that tell a part of it (`CARRIED`). What is not in a table stays *perhaps* (pod-makers.ts).
// docs/compatibility.md ("Serving stacks") says which versions were read, and what is not known.
import { dig, isRecord, keysOf, listAt, own, recordsAt, stringAt, type JsonRecord } from '../../base/json.ts'
import { kindOf, qualifiedKind, kindKey } from '../kinds.ts'
import { llmInferenceService, CONFIG_KIND } from './kserve.ts'
import { readMeta, readStringMap, type ObjectMeta } from './meta.ts'
import type { Made, MadeBy, MadeObject, RawObject } from './raw.ts'

/** Undefined: not certain from what is there. */
type Expand = (
  object: JsonRecord,
  meta: ObjectMeta,
  others: readonly RawObject[],
) => readonly MadeObject[] | undefined

/** Kinds whose pods and pools follow from the object, with what says so. */
const EXPANDED: Readonly<Record<string, { readonly source: string; readonly expand: Expand }>> = {
  'LLMInferenceService.serving.kserve.io': {
    source: 'https://github.com/kserve/kserve/tree/v0.20.0/pkg/controller/v1alpha2/llmisvc',
    expand: llmInferenceService,
  },
  'DisaggregatedSet.disaggregatedset.x-k8s.io': {
    source: 'https://github.com/kubernetes-sigs/lws/tree/v0.10.0/pkg/controllers/disaggregatedset',
    expand: disaggregatedSet,
  },
  'StormService.orchestration.aibrix.ai': {
    source: 'https://github.com/vllm-project/aibrix/tree/v0.7.0/pkg/controller/stormservice',
    expand: (object, meta) =>
      roleSet(object, meta, {
        set: own(own(object, 'spec'), 'template'),
        known: { [STORM_SERVICE]: meta.name },
        unknown: [ROLE_SET],
      }),
  },
  'RoleSet.orchestration.aibrix.ai': {
    source: 'https://github.com/vllm-project/aibrix/tree/v0.7.0/pkg/controller/roleset',
    expand: (object, meta) =>
      roleSet(object, meta, {
        set: object,
        known: { [ROLE_SET]: meta.name, [STORM_SERVICE]: meta.labels.get(STORM_SERVICE) ?? '' },
        unknown: [],
      }),
  },
  'PodSet.orchestration.aibrix.ai': {
    source: 'https://github.com/vllm-project/aibrix/tree/v0.7.0/pkg/controller/podset',
    expand: podSet,
  },
}

/** What a controller makes of an object of a known kind; undefined: that is not certain. Never throws. */
export function expanded(raw: RawObject, others: readonly RawObject[]): readonly RawObject[] | undefined {
  const kind = kindKey(raw.value)
  const meta = readMeta(raw.value)
  const known = EXPANDED[kind]
  if (raw.isUnread !== true || known === undefined || meta.name === '' || raw.mayBeAnywhere === true)
    return undefined
  return known
    .expand(raw.value, meta, others)
    ?.map((made) => ({ ...made, ...(raw.origin !== undefined && { origin: raw.origin }) }))
}

/** Kinds that say how many pods another object has. */
const SCALERS: ReadonlySet<string> = new Set(['HorizontalPodAutoscaler.autoscaling', 'ScaledObject.keda.sh'])

/** The kinds of these tables whose objects all have a namespace. */
export const NAMESPACED_KINDS: readonly string[] = [...keysOf(EXPANDED), ...SCALERS]

/** Whether an object is read because what others make depends on it. */
export function isReadByMakers(kind: { readonly group: string; readonly kind: string }): boolean {
  return qualifiedKind(kind) === CONFIG_KIND || SCALERS.has(qualifiedKind(kind))
}

/** The object whose pods an autoscaler counts; undefined for any other object. */
export function scaledBy(object: JsonRecord): MadeBy | undefined {
  if (!SCALERS.has(kindKey(object))) return undefined
  const target = own(own(object, 'spec'), 'scaleTargetRef')
  const apiVersion = stringAt(target, 'apiVersion') ?? 'apps/v1'
  const kind = qualifiedKind(kindOf({ apiVersion, kind: stringAt(target, 'kind') ?? 'Deployment' }))
  return { kind, namespace: readMeta(object).namespace, name: stringAt(target, 'name') ?? '' }
}

/** Pods of an object whose own template is not to be read, as far as they are known: they may have more containers. */
export interface Carried {
  /** Which of several; empty for one alone. */
  readonly part: string
  readonly labels: Readonly<Record<string, string>>
  /** Keys of all other labels that they may carry; undefined: they may carry any. */
  readonly possibleLabels?: readonly string[]
  /** Undefined: not known. */
  readonly serviceAccountName: string | undefined
  readonly containers: readonly string[]
}

type Carry = (object: JsonRecord, meta: ObjectMeta) => readonly Carried[]

/** A Gateway of another class is of another controller. */
const GATEWAY_CLASSES: ReadonlySet<string> = new Set(['kgateway', 'agentgateway'])

/** Kinds that tell a part of what their pods carry. What says so stands in `SOURCES` of pod-makers.ts. */
const CARRIED: Readonly<Record<string, Carry>> = {
  'LLMInferenceService.serving.kserve.io': (_, { name }) => [
    pods({ 'app.kubernetes.io/name': name, 'app.kubernetes.io/part-of': 'llminferenceservice' }),
  ],
  'Workspace.kaito.sh': (_, { name }) => [pods({ 'kaito.sh/workspace': name })],
  'NIMService.apps.nvidia.com': (object, { name }) => [
    // With several nodes, a LeaderWorkerSet of another name makes them.
    pods(dig(object, 'spec', 'multiNode') === undefined ? { app: name } : {}, name, [`${name}-ctr`]),
  ],
  'DynamoGraphDeployment.nvidia.com': dynamoGraph,
  'Cluster.postgresql.cnpg.io': (object, { name, labels }) => [
    {
      ...pods({ 'cnpg.io/cluster': name }, stringAt(object, 'spec', 'serviceAccountName') || name),
      possibleLabels: [
        ...RECOMMENDED,
        ...['instanceName', 'instanceRole', 'podRole', 'jobRole'].map((key) => `cnpg.io/${key}`),
        'postgresql',
        'role',
        ...labels.keys(),
        ...readStringMap(dig(object, 'spec', 'inheritedMetadata', 'labels')).keys(),
      ],
    },
  ],
  'OpenTelemetryCollector.opentelemetry.io': (object, { namespace, name, labels }) =>
    // A sidecar is added to the pods of others (sidecars.ts).
    stringAt(object, 'spec', 'mode') === 'sidecar'
      ? []
      : [
          {
            ...pods(
              {
                'app.kubernetes.io/managed-by': 'opentelemetry-operator',
                'app.kubernetes.io/part-of': 'opentelemetry',
                ...(`${namespace}.${name}`.length <= 63 && {
                  'app.kubernetes.io/instance': `${namespace}.${name}`,
                }),
              },
              dig(object, 'spec', 'targetAllocator', 'enabled') === true
                ? undefined
                : stringAt(object, 'spec', 'serviceAccount') || `${name}-collector`,
              ['otc-container'],
            ),
            possibleLabels: [...RECOMMENDED, ...labels.keys()],
          },
        ],
  'Gateway.gateway.networking.k8s.io': (object, { name }) =>
    GATEWAY_CLASSES.has(stringAt(object, 'spec', 'gatewayClassName') ?? '')
      ? gatewayPods(name, own(own(object, 'spec'), 'infrastructure'))
      : [],
}

/** Its parameters may say anything of the Deployment of a Gateway. */
function gatewayPods(name: string, infrastructure: unknown): readonly Carried[] {
  const labels = { 'gateway.networking.k8s.io/gateway-name': name }
  if (own(infrastructure, 'parametersRef') !== undefined) return [pods(labels)]
  const given = readStringMap(own(infrastructure, 'labels')).keys()
  const ofClass = ['gateway.networking.k8s.io/gateway-class-name', 'kgateway']
  return [{ ...pods(labels, name), possibleLabels: [...RECOMMENDED, ...ofClass, ...given] }]
}

/** https://kubernetes.io/docs/concepts/overview/working-with-objects/common-labels/ */
const RECOMMENDED = ['name', 'instance', 'version', 'component', 'part-of', 'managed-by'].map(
  (key) => `app.kubernetes.io/${key}`,
)

/** The kinds of `CARRIED`. */
export const CARRIED_KINDS: readonly string[] = keysOf(CARRIED)

/** What is known of the pods of an object whose controller shows no template; undefined: nothing. */
export function carriedBy(object: JsonRecord): readonly Carried[] | undefined {
  return CARRIED[kindKey(object)]?.(object, readMeta(object))
}

function pods(
  labels: Carried['labels'],
  serviceAccountName?: string,
  containers: readonly string[] = [],
  part = '',
): Carried {
  return { part, labels, serviceAccountName, containers }
}

/** Components stand in a mapping by name (v1alpha1), or in a list (v1beta1). */
function dynamoGraph(object: JsonRecord, { name: graph }: ObjectMeta): readonly Carried[] {
  const services = Object.entries(recordOf(dig(object, 'spec', 'services')))
  const listed = listAt(object, 'spec', 'components').map(
    (one) => [stringAt(one, 'name') ?? '', one] as const,
  )
  const components = [...services, ...listed]
  if (components.length === 0) return [pods({ 'nvidia.com/dynamo-graph-deployment-name': graph })]
  return components.map(([name, component]) => {
    // From a subtype, versions make different types.
    const type = stringAt(component, 'subComponentType') === undefined && stringAt(component, 'componentType')
    const spec = own(component, 'extraPodSpec') ?? dig(component, 'podTemplate', 'spec')
    return pods(
      {
        'nvidia.com/dynamo-graph-deployment-name': graph,
        ...(name !== '' && { 'nvidia.com/dynamo-component': name }),
        ...(typeof type === 'string' && { 'nvidia.com/dynamo-component-type': type }),
      },
      stringAt(spec, 'serviceAccountName'),
      [],
      name,
    )
  })
}

const DISAGGREGATED = 'disaggregatedset.x-k8s.io'

/** A LeaderWorkerSet for each role; the name has a revision in it. */
function disaggregatedSet(object: JsonRecord, meta: ObjectMeta): readonly MadeObject[] {
  return recordsAt(object, 'spec', 'roles').map((role) => {
    const name = stringAt(role, 'name') ?? ''
    const spec = recordOf(own(role, 'spec'))
    const group = recordOf(own(spec, 'leaderWorkerTemplate'))
    const labels = { [`${DISAGGREGATED}/name`]: meta.name, [`${DISAGGREGATED}/role`]: name }
    const leader = own(group, 'leaderTemplate')
    return {
      value: {
        apiVersion: 'leaderworkerset.x-k8s.io/v1',
        kind: 'LeaderWorkerSet',
        metadata: { namespace: meta.namespace },
        spec: {
          ...spec,
          leaderWorkerTemplate: {
            ...group,
            workerTemplate: withLabels(own(group, 'workerTemplate'), labels),
            ...(isRecord(leader) && { leaderTemplate: withLabels(leader, labels) }),
          },
        },
      },
      made: {
        by: refOf(object, meta),
        part: name,
        // `app` holds the slice in some versions.
        unknownLabels: [`${DISAGGREGATED}/revision`, 'app'],
        possibleLabels: [`${DISAGGREGATED}/slice`],
      },
    }
  })
}

const ROLE_SET = 'roleset-name'
const STORM_SERVICE = 'storm-service-name'
const STORM = 'stormservice.orchestration.aibrix.ai'

/** Labels that some versions, or some settings of a role, give to its pods. */
const OF_ROLE = [
  `${STORM}/role-replica-index`,
  `${STORM}/role-revision`,
  `${STORM}/role-revision-name`,
  `${STORM}/podset-name`,
  `${STORM}/pod-group-index`,
  'scheduling.x-k8s.io/pod-group',
  'scheduling.k8s.io/group-name',
  'godel.bytedance.com/pod-group-name',
]
/** Labels of a RoleSet that its pods inherit. */
const INHERITED: ReadonlySet<string> = new Set(['name', 'previous-owner'])
/** Asks for a container of AIBrix's runtime. */
const RUNTIME_ANNOTATION = `${STORM}/sidecar-injection`

/** The pods of each role, made without a workload between. */
function roleSet(
  object: JsonRecord,
  meta: ObjectMeta,
  { set, known, unknown }: { set: unknown; known: Record<string, string>; unknown: readonly string[] },
): readonly MadeObject[] | undefined {
  if (meta.annotations.has(RUNTIME_ANNOTATION)) return undefined
  const inherited = [...readStringMap(dig(set, 'metadata', 'labels'))].filter(([key]) => INHERITED.has(key))
  return recordsAt(set, 'spec', 'roles').map((role) => {
    const name = stringAt(role, 'name') ?? ''
    const labels = { ...known, 'role-name': name, ...Object.fromEntries(inherited) }
    if (Number(own(role, 'podGroupSize') ?? 1) > 1) return podsOfGroup(object, meta, role, { known, unknown })
    return podsOfTemplate(object, meta, withLabels(own(role, 'template'), labels), {
      part: name,
      owner: { kind: 'RoleSet', name: known[ROLE_SET] },
      unknownLabels: [...unknown, 'role-template-hash'],
      possibleLabels: OF_ROLE,
    })
  })
}

/** With several pods for each replica of a role, a PodSet makes them: what its template carries stays. */
function podsOfGroup(
  object: JsonRecord,
  meta: ObjectMeta,
  role: JsonRecord,
  { known, unknown }: { known: Record<string, string>; unknown: readonly string[] },
): MadeObject {
  const name = stringAt(role, 'name') ?? ''
  const template = recordOf(own(role, 'template'))
  const written = Object.fromEntries(readStringMap(dig(template, 'metadata', 'labels')))
  return podsOfTemplate(object, meta, withLabels(template, { ...known, 'role-name': name, ...written }), {
    part: name,
    owner: { kind: 'PodSet', name: undefined },
    unknownLabels: [
      ...[...unknown, 'role-template-hash'].filter((label) => !Object.hasOwn(written, label)),
      `${STORM}/podset-name`,
      `${STORM}/pod-group-index`,
    ],
    possibleLabels: OF_ROLE,
  })
}

function podSet(object: JsonRecord, meta: ObjectMeta): readonly MadeObject[] {
  const template = recordOf(dig(object, 'spec', 'template'))
  const written = Object.fromEntries(readStringMap(dig(template, 'metadata', 'labels')))
  const labels = { ...Object.fromEntries(meta.labels), ...written, [`${STORM}/podset-name`]: meta.name }
  return [
    podsOfTemplate(object, meta, withLabels(template, labels), {
      part: '',
      owner: { kind: 'PodSet', name: meta.name },
      unknownLabels: [`${STORM}/pod-group-index`],
    }),
  ]
}

/** Pods that a controller makes by itself: a ReplicaSet adds nothing to its template either. */
function podsOfTemplate(
  object: JsonRecord,
  meta: ObjectMeta,
  template: JsonRecord,
  made: Omit<Made, 'by'>,
): MadeObject {
  return {
    value: {
      apiVersion: 'apps/v1',
      kind: 'ReplicaSet',
      metadata: { namespace: meta.namespace },
      spec: { template },
    },
    made: { by: refOf(object, meta), ...made },
  }
}

function withLabels(template: unknown, labels: Readonly<Record<string, string>>): JsonRecord {
  const metadata = recordOf(own(template, 'metadata'))
  return {
    ...recordOf(template),
    metadata: { ...metadata, labels: { ...recordOf(own(metadata, 'labels')), ...labels } },
  }
}

function recordOf(value: unknown): JsonRecord {
  return isRecord(value) ? value : {}
}

function refOf(object: JsonRecord, { namespace, name }: ObjectMeta): MadeBy {
  return { kind: kindKey(object), namespace, name }
}
