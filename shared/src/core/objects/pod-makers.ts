// Objects of kinds that kleym does not read, and whose controllers make pods: a pod template is read generically wherever one
// stands in such an object, and a few kinds are known to make pods or pools without one. What they make is *perhaps*, never
// certain: another controller may add labels, containers and a service account (docs/offline.md, "Kinds that hold pods").
import { IDENTITY_TEST_GROUP, IDENTITY_TEST_KIND } from '../names.ts'
import { isRecord, listAt, own, stringAt, type JsonRecord } from '../json.ts'
import { groupOfApiVersion, qualifiedKind } from '../kinds.ts'
import { readMeta, readStringMap } from './meta.ts'
import { NODE_COPIED_LABELS, readContainers, recordAt, type Container, type Pod } from './pod.ts'
import type { RawObject } from './raw.ts'

/** A kind that is known to make pods, with no template to read. */
export interface UnreadKind {
  readonly group: string
  readonly kind: string
  /** Whether it makes InferencePools, and objectives with them, too. */
  readonly makesPools: boolean
  /** What says so. */
  readonly source: string
}

const KSERVE = 'serving.kserve.io'
const KAITO = 'kaito.sh'
const KTHENA = 'workload.serving.volcano.sh'
const SANDBOX = 'extensions.agents.x-k8s.io'

/** Known kinds whose pods, labels and service accounts are made up by their controllers. */
export const UNREAD_KINDS: readonly UnreadKind[] = [
  {
    group: KSERVE,
    kind: 'LLMInferenceService',
    makesPools: true,
    source: 'https://kserve.github.io/website/docs/concepts/architecture/control-plane-llmisvc',
  },
  {
    group: KSERVE,
    kind: 'InferenceService',
    makesPools: false,
    source: 'https://github.com/kserve/kserve',
  },
  {
    group: KSERVE,
    kind: 'InferenceGraph',
    makesPools: false,
    source: 'https://github.com/kserve/kserve',
  },
  {
    group: KAITO,
    kind: 'Workspace',
    makesPools: true,
    source: 'https://kaito-project.github.io/kaito/docs/gateway-api-inference-extension',
  },
  {
    group: KAITO,
    kind: 'InferenceSet',
    makesPools: true,
    source: 'https://kaito-project.github.io/kaito/docs/next/gateway-api-inference-extension',
  },
  {
    group: 'production-stack.vllm.ai',
    kind: 'VLLMRuntime',
    makesPools: false,
    source: 'https://docs.vllm.ai/projects/production-stack/en/latest/deployment/crd.html',
  },
  {
    group: KTHENA,
    kind: 'ModelServing',
    makesPools: false,
    source: 'https://docs.vllm.ai/en/v0.32.0/deployment/integrations/kthena/',
  },
  {
    group: KTHENA,
    kind: 'ModelBooster',
    makesPools: false,
    source: 'https://github.com/volcano-sh/kthena/tree/main/examples/model-booster',
  },
  {
    group: 'nvidia.com',
    kind: 'DynamoGraphDeployment',
    makesPools: true,
    source: 'https://docs.nvidia.com/dynamo/v1.4.0/reference/api/kubernetes/dynamo-graph-deployment.md',
  },
  {
    group: 'apps.nvidia.com',
    kind: 'NIMService',
    makesPools: true,
    source: 'https://docs.nvidia.com/nim-operator/2.0.1/service.html',
  },
  {
    group: SANDBOX,
    kind: 'SandboxClaim',
    makesPools: false,
    source: 'https://agent-sandbox.sigs.k8s.io/docs/',
  },
  {
    group: SANDBOX,
    kind: 'SandboxWarmPool',
    makesPools: false,
    source: 'https://agent-sandbox.sigs.k8s.io/docs/',
  },
  {
    group: 'argoproj.io',
    kind: 'Workflow',
    makesPools: false,
    source: 'https://argo-workflows.readthedocs.io/en/latest/fields/',
  },
  {
    group: 'argoproj.io',
    kind: 'CronWorkflow',
    makesPools: false,
    source: 'https://argo-workflows.readthedocs.io/en/latest/fields/',
  },
  {
    group: 'tekton.dev',
    kind: 'TaskRun',
    makesPools: false,
    source: 'https://tekton.dev/docs/pipelines/taskruns/',
  },
  {
    group: 'tekton.dev',
    kind: 'PipelineRun',
    makesPools: false,
    source: 'https://tekton.dev/docs/pipelines/pipelineruns/',
  },
  {
    group: 'sparkoperator.k8s.io',
    kind: 'SparkApplication',
    makesPools: false,
    source: 'https://www.kubeflow.org/docs/components/spark-operator/user-guide/using-sparkapplication/',
  },
  {
    group: 'sparkoperator.k8s.io',
    kind: 'ScheduledSparkApplication',
    makesPools: false,
    source: 'https://www.kubeflow.org/docs/components/spark-operator/user-guide/using-sparkapplication/',
  },
]

/** Kinds that hold a pod template, or something like one, and make no pods of it by themselves. */
const NO_MAKERS: ReadonlySet<string> = new Set([
  'PodTemplate',
  'CustomResourceDefinition.apiextensions.k8s.io',
  'ControllerRevision.apps',
  `ServingRuntime.${KSERVE}`,
  `ClusterServingRuntime.${KSERVE}`,
  `LLMInferenceServiceConfig.${KSERVE}`,
  `SandboxTemplate.${SANDBOX}`,
  'TrainingRuntime.trainer.kubeflow.org',
  'ClusterTrainingRuntime.trainer.kubeflow.org',
  `${IDENTITY_TEST_KIND}.${IDENTITY_TEST_GROUP}`,
])

/** Groups of policies, which hold patterns and patches of pods. */
const POLICY_GROUPS: ReadonlySet<string> = new Set([
  'kyverno.io',
  'policies.kyverno.io',
  'templates.gatekeeper.sh',
  'constraints.gatekeeper.sh',
  'mutations.gatekeeper.sh',
])

/**
 * Groups whose kinds that make pods all have a namespace, by their CRDs: an object of them that names none goes to the one in
 * force, like any other.
 */
const NAMESPACED_GROUPS: ReadonlySet<string> = new Set([
  ...UNREAD_KINDS.map(({ group }) => group),
  // https://github.com/argoproj/argo-rollouts, https://github.com/argoproj/argo-workflows
  'argoproj.io',
  // https://github.com/ray-project/kuberay
  'ray.io',
  // https://github.com/knative/serving
  'serving.knative.dev',
  // https://github.com/kubernetes-sigs/jobset
  'jobset.x-k8s.io',
  // https://github.com/kubernetes-sigs/agent-sandbox
  'agents.x-k8s.io',
  // https://github.com/kubeflow/trainer
  'kubeflow.org',
  'trainer.kubeflow.org',
  // https://github.com/prometheus-operator/prometheus-operator
  'monitoring.coreos.com',
])

/** Whether every object of a kind has a namespace, as far as that is known without its CRD. */
export function isKnownNamespaced({ group }: ObjectKind): boolean {
  return NAMESPACED_GROUPS.has(group)
}

/** An object whose controller makes pods that are not certain. */
export interface PodMaker {
  /** The kind with its group: `Rollout.argoproj.io`. */
  readonly kind: string
  readonly namespace: string
  readonly name: string
  readonly makesPools: boolean
  /** The workload whose template it takes, where it has none of its own: what that makes is known where it is read. */
  readonly takesFrom: { readonly kind: string; readonly name: string } | undefined
  /** One for each template; if there is none to read, one about which nothing is known. */
  readonly pods: readonly Pod[]
  /**
   * Those whose namespace is unknown, beside `pods`: the maker may have none, or is a holder of objects that name
   * none. The namespace of each is that of the maker.
   */
  readonly anywhere: readonly Pod[]
}

/** The name of a container that is not known. */
export const UNKNOWN_CONTAINER = '<container>'

/** The most templates that are read of one object. */
const TEMPLATES_MAX = 64
/** How deep templates are looked for; those of real kinds stand within twelve levels. */
const DEPTH_MAX = 40

/** Whether an object makes pods, as far as can be told of one whose kind is not read. */
export function isPodMaker(value: JsonRecord): boolean {
  const kind = kindOf(value)
  if (unreadKind(kind) !== undefined || workloadOf(kind, value) !== undefined) return true
  return mayMakePods(kind) && templatesIn(value).length > 0
}

/**
 * Whether an object of a kind that is not read may make pods, by the text of it in YAML, which is not parsed: a pod spec has a
 * key `containers`, which is in the text unless an escape hides it.
 */
export function mayMakePodsByText(kind: ObjectKind, text: string): boolean {
  if (unreadKind(kind) !== undefined) return true
  return mayMakePods(kind) && (text.includes('containers') || /\\[xuU]/.test(text))
}

/** What an object of a kind that is not read makes; undefined for one that makes no pods. Never throws. */
export function readPodMaker(raw: RawObject): PodMaker | undefined {
  if (raw.isUnread !== true || !isPodMaker(raw.value)) return undefined
  const kind = kindOf(raw.value)
  const unread = unreadKind(kind)
  const { namespace, name } = readMeta(raw.value)
  const base = { kind: qualifiedKind(kind), namespace, name }
  const takesFrom = workloadOf(kind, raw.value)
  const templates = unread === undefined && takesFrom === undefined ? templatesIn(raw.value) : [NOTHING_KNOWN]
  // Which of several templates it is matters to people; of one alone it does not.
  const pods = templates.map((template) =>
    podOf(raw, base, templates.length === 1 ? { ...template, part: '' } : template),
  )
  const isPlacedElsewhere = raw.mayBeAnywhere === true || DEPLOYERS.has(base.kind)
  const isOpen = (template: FoundTemplate | undefined): boolean =>
    template?.namespace === undefined && (isPlacedElsewhere || template?.isHeld === true)
  return {
    ...base,
    takesFrom,
    makesPools: unread?.makesPools === true,
    pods: pods.filter((_, at) => !isOpen(templates[at])),
    anywhere: pods.filter((_, at) => isOpen(templates[at])),
  }
}

/** Kinds whose controllers put what they hold into a namespace that another field names, or another object. */
const DEPLOYERS: ReadonlySet<string> = new Set([
  'HelmRelease.helm.toolkit.fluxcd.io',
  'HelmChart.helm.cattle.io',
  'Application.argoproj.io',
  'ApplicationSet.argoproj.io',
])

interface ObjectKind {
  readonly group: string
  readonly kind: string
}

function kindOf(value: JsonRecord): ObjectKind {
  return {
    group: groupOfApiVersion(stringAt(value, 'apiVersion') ?? ''),
    kind: stringAt(value, 'kind') ?? '',
  }
}

function unreadKind({ group, kind }: ObjectKind): UnreadKind | undefined {
  return UNREAD_KINDS.find((one) => one.kind === kind && one.group === group)
}

/** A Rollout takes the template of a Deployment: https://argo-rollouts.readthedocs.io/en/stable/migrating/ */
function workloadOf({ group, kind }: ObjectKind, value: JsonRecord): PodMaker['takesFrom'] {
  if (kind !== 'Rollout' || group !== 'argoproj.io') return undefined
  const ref = own(own(value, 'spec'), 'workloadRef')
  const name = stringAt(ref, 'name') ?? ''
  const refKind = {
    group: groupOfApiVersion(stringAt(ref, 'apiVersion') ?? ''),
    kind: stringAt(ref, 'kind') ?? '',
  }
  return name === '' ? undefined : { kind: qualifiedKind(refKind), name }
}

function mayMakePods(kind: ObjectKind): boolean {
  return !NO_MAKERS.has(qualifiedKind(kind)) && !POLICY_GROUPS.has(kind.group)
}

/** A pod spec that was found in an object, and the metadata beside it. */
interface FoundTemplate {
  /** Where it stands: `spec.headGroupSpec.template`; empty where nothing is known. */
  readonly part: string
  readonly metadata: JsonRecord
  readonly spec: JsonRecord | undefined
  /** That of an object within the object (`ManifestWork`) in which it stands; undefined: the object's own. */
  readonly namespace: string | undefined
  /** Whether it stands in an object within the object. */
  readonly isHeld: boolean
}

const NOTHING_KNOWN: FoundTemplate = {
  part: '',
  metadata: {},
  spec: undefined,
  namespace: undefined,
  isHeld: false,
}

/** Every pod spec in an object, in its order; those within a pod spec are no templates. */
function templatesIn(value: JsonRecord): readonly FoundTemplate[] {
  const found: FoundTemplate[] = []
  const visit = (
    here: unknown,
    path: readonly string[],
    { holder, within }: { readonly holder?: JsonRecord; readonly within?: Held | undefined },
  ): void => {
    if (found.length >= TEMPLATES_MAX || path.length > DEPTH_MAX) return
    if (Array.isArray(here)) {
      for (const [at, item] of here.entries()) visit(item, [...path, String(at)], { within })
    } else if (isRecord(here)) {
      if (isPodSpec(here)) found.push(templateAt(path, holder, here, within))
      else {
        const held = isObject(here) ? { namespace: namespaceOfObject(here) ?? within?.namespace } : within
        for (const [key, item] of Object.entries(here))
          visit(item, [...path, key], { holder: here, within: held })
      }
    }
  }
  for (const [key, item] of Object.entries(value))
    if (key !== 'metadata' && key !== 'status') visit(item, [key], {})
  // Of those that are not read nothing is known.
  return found.length < TEMPLATES_MAX ? found : [...found, NOTHING_KNOWN]
}

/** The object within an object in which something stands. */
interface Held {
  readonly namespace: string | undefined
}

function isObject(value: JsonRecord): boolean {
  return typeof own(value, 'apiVersion') === 'string' && typeof own(value, 'kind') === 'string'
}

function namespaceOfObject(value: JsonRecord): string | undefined {
  return stringAt(value, 'metadata', 'namespace') || undefined
}

/** A spec has the metadata of its template beside it; a pod spec that stands under another key has none. */
function templateAt(
  path: readonly string[],
  holder: JsonRecord | undefined,
  spec: JsonRecord,
  within: Held | undefined,
): FoundTemplate {
  const isTemplate = path.at(-1) === 'spec' && holder !== undefined
  const part = (isTemplate ? path.slice(0, -1) : path).join('.')
  return {
    part,
    metadata: isTemplate ? recordAt(holder, 'metadata') : {},
    spec,
    namespace: within?.namespace,
    isHeld: within !== undefined,
  }
}

/** Whether a mapping has containers as a pod spec has them: some kinds leave the name or the image to their controller. */
function isPodSpec(value: JsonRecord): boolean {
  const containers = listAt(value, 'containers')
  return (
    containers.length > 0 &&
    containers.every(
      (one) =>
        typeof own(one, 'image') === 'string' || (typeof own(one, 'name') === 'string' && isRecord(one)),
    )
  )
}

function podOf(
  raw: RawObject,
  { kind, namespace, name }: Pick<PodMaker, 'kind' | 'namespace' | 'name'>,
  { part, metadata, spec, namespace: within }: FoundTemplate,
): Pod {
  const labels = readStringMap(own(metadata, 'labels'))
  const named = spec === undefined ? undefined : stringAt(spec, 'serviceAccountName') || undefined
  return {
    ref: { kind, namespace, name },
    part,
    exists: false,
    namespace: within ?? namespace,
    name: undefined,
    uid: undefined,
    labels,
    unknownLabels: new Set(),
    possibleLabels: new Set(NODE_COPIED_LABELS.filter((label) => !labels.has(label))),
    serviceAccountName: named ?? '',
    nodeName: undefined,
    containers: spec === undefined ? [unnamed('regular')] : readContainers(spec).map(withName),
    metadata,
    spec: spec ?? {},
    status: {},
    owner: undefined,
    origin: raw.origin,
    perhaps: {
      why:
        spec === undefined
          ? 'what its controller makes cannot be read from it'
          : 'kleym does not know what its controller makes of the template',
      knowsAccount: named !== undefined,
    },
  }
}

function unnamed(role: Container['role']): Container {
  return { name: UNKNOWN_CONTAINER, role, image: undefined }
}

function withName(container: Container): Container {
  return container.name === '' ? { ...container, name: UNKNOWN_CONTAINER } : container
}
