// Objects of kinds that kleym does not read, and whose controllers make pods: a pod template is read generically wherever one
// stands in such an object, and a few kinds are known to make pods or pools without one. What they make is *perhaps*, never
// certain: another controller may add labels, containers and a service account (docs/reading-files.md, "Kinds that hold pods").
import { IDENTITY_TEST_GROUP, IDENTITY_TEST_KIND } from '../names.ts'
import {
  canonicalText,
  isRecord,
  keysOf,
  listAt,
  own,
  stringAt,
  walk,
  type JsonRecord,
} from '../../base/json.ts'
import { isTyped, kindKey, kindOf, qualifiedKind } from '../kinds.ts'
import { isDns1123Label, isDns1123Subdomain, labelValueProblem } from '../../base/text/kubernetes.ts'
import { carriedBy, NAMESPACED_KINDS, type Carried } from './known-makers.ts'
import { calledName, readMeta, readStringMap } from './meta.ts'
import { makesNoPods } from './no-pods.ts'
import {
  podOfTemplate,
  readContainers,
  recordAt,
  selectorLabelsOf,
  UNKNOWN_CONTAINER,
  type Container,
  type Pod,
} from './pod.ts'
import type { RawObject } from './raw.ts'
import { KINDS_WITH_PODS } from './workload.ts'

/**
 * What the controllers of known kinds make of their objects, with the source; `*` is every other kind of a group. Any other
 * kind is assumed to make pods of the templates in the object, or without a template, and may be cluster-scoped.
 */
const SOURCES = {
  /** Pods, without a template to read, and InferencePools with objectives. */
  'pods and pools': {
    'LLMInferenceService.serving.kserve.io':
      'https://kserve.github.io/website/docs/concepts/architecture/control-plane-llmisvc',
    'Workspace.kaito.sh': 'https://kaito-project.github.io/kaito/docs/gateway-api-inference-extension',
    'InferenceSet.kaito.sh':
      'https://kaito-project.github.io/kaito/docs/next/gateway-api-inference-extension',
    'DynamoGraphDeployment.nvidia.com':
      'https://docs.nvidia.com/dynamo/v1.4.0/reference/api/kubernetes/dynamo-graph-deployment.md',
    'NIMService.apps.nvidia.com': 'https://docs.nvidia.com/nim-operator/2.0.1/service.html',
  },
  pods: {
    'InferenceService.serving.kserve.io': 'https://github.com/kserve/kserve',
    'InferenceGraph.serving.kserve.io': 'https://github.com/kserve/kserve',
    'VLLMRuntime.production-stack.vllm.ai':
      'https://docs.vllm.ai/projects/production-stack/en/latest/deployment/crd.html',
    'ModelServing.workload.serving.volcano.sh':
      'https://docs.vllm.ai/en/v0.32.0/deployment/integrations/kthena/',
    'ModelBooster.workload.serving.volcano.sh':
      'https://github.com/volcano-sh/kthena/tree/main/examples/model-booster',
    'Cluster.postgresql.cnpg.io': 'https://github.com/cloudnative-pg/cloudnative-pg/tree/main/pkg/specs',
    'OpenTelemetryCollector.opentelemetry.io':
      'https://github.com/open-telemetry/opentelemetry-operator/tree/main/internal/manifests',
    'Gateway.gateway.networking.k8s.io':
      'https://github.com/kgateway-dev/kgateway/tree/main/pkg/kgateway/helm',
    'Prometheus.monitoring.coreos.com': 'https://prometheus-operator.dev/docs/api-reference/api/',
    'PrometheusAgent.monitoring.coreos.com': 'https://prometheus-operator.dev/docs/api-reference/api/',
    'Alertmanager.monitoring.coreos.com': 'https://prometheus-operator.dev/docs/api-reference/api/',
    'ThanosRuler.monitoring.coreos.com': 'https://prometheus-operator.dev/docs/api-reference/api/',
    'SandboxClaim.extensions.agents.x-k8s.io': 'https://agent-sandbox.sigs.k8s.io/docs/',
    'SandboxWarmPool.extensions.agents.x-k8s.io': 'https://agent-sandbox.sigs.k8s.io/docs/',
    'Workflow.argoproj.io': 'https://argo-workflows.readthedocs.io/en/latest/fields/',
    'CronWorkflow.argoproj.io': 'https://argo-workflows.readthedocs.io/en/latest/fields/',
    'TaskRun.tekton.dev': 'https://tekton.dev/docs/pipelines/taskruns/',
    'PipelineRun.tekton.dev': 'https://tekton.dev/docs/pipelines/pipelineruns/',
    'SparkApplication.sparkoperator.k8s.io':
      'https://www.kubeflow.org/docs/components/spark-operator/user-guide/using-sparkapplication/',
    'ScheduledSparkApplication.sparkoperator.k8s.io':
      'https://www.kubeflow.org/docs/components/spark-operator/user-guide/using-sparkapplication/',
  },
  /** Groups whose kinds that hold templates all have a namespace, by their CRDs. */
  'pods of templates': {
    '*.ray.io': 'https://github.com/ray-project/kuberay',
    '*.serving.knative.dev': 'https://github.com/knative/serving',
    '*.jobset.x-k8s.io': 'https://github.com/kubernetes-sigs/jobset',
    '*.agents.x-k8s.io': 'https://github.com/kubernetes-sigs/agent-sandbox',
    '*.kubeflow.org': 'https://github.com/kubeflow/trainer',
    '*.trainer.kubeflow.org': 'https://github.com/kubeflow/trainer',
  },
  /** What they hold, in a namespace that another field names, or another object. */
  'objects elsewhere': {
    'HelmRelease.helm.toolkit.fluxcd.io': 'https://fluxcd.io/flux/components/helm/helmreleases/',
    'HelmChart.helm.cattle.io': 'https://github.com/k3s-io/helm-controller',
    'Application.argoproj.io': 'https://argo-cd.readthedocs.io/en/stable/operator-manual/declarative-setup/',
    'ApplicationSet.argoproj.io': 'https://argo-cd.readthedocs.io/en/stable/user-guide/application-set/',
  },
  /** What stands below `generate`; beside it there are patterns and patches. */
  'what they generate': {
    '*.kyverno.io': 'https://kyverno.io/docs/policy-types/cluster-policy/generate/',
    '*.policies.kyverno.io': 'https://kyverno.io/docs/policy-types/',
  },
  /** They hold a pod template, or something like one (the patterns and patches of policies), and no pod is made of it. */
  nothing: {
    PodTemplate: 'https://kubernetes.io/docs/reference/kubernetes-api/',
    'CustomResourceDefinition.apiextensions.k8s.io': 'https://kubernetes.io/docs/reference/kubernetes-api/',
    'ControllerRevision.apps': 'https://kubernetes.io/docs/reference/kubernetes-api/',
    'ServingRuntime.serving.kserve.io': 'https://github.com/kserve/kserve',
    'ClusterServingRuntime.serving.kserve.io': 'https://github.com/kserve/kserve',
    'LLMInferenceServiceConfig.serving.kserve.io': 'https://github.com/kserve/kserve',
    'SandboxTemplate.extensions.agents.x-k8s.io': 'https://agent-sandbox.sigs.k8s.io/docs/',
    'TrainingRuntime.trainer.kubeflow.org': 'https://github.com/kubeflow/trainer',
    'ClusterTrainingRuntime.trainer.kubeflow.org': 'https://github.com/kubeflow/trainer',
    [`${IDENTITY_TEST_KIND}.${IDENTITY_TEST_GROUP}`]: 'docs/reference/identity-test.md',
    '*.templates.gatekeeper.sh': 'https://open-policy-agent.github.io/gatekeeper/website/docs/howto/',
    '*.constraints.gatekeeper.sh': 'https://open-policy-agent.github.io/gatekeeper/website/docs/howto/',
    '*.mutations.gatekeeper.sh': 'https://open-policy-agent.github.io/gatekeeper/website/docs/mutation/',
  },
} as const satisfies Readonly<Record<string, Readonly<Record<string, string>>>>

const MAKES: ReadonlyMap<string, keyof typeof SOURCES> = new Map(
  keysOf(SOURCES).flatMap((makes) => Object.keys(SOURCES[makes]).map((kind) => [kind, makes] as const)),
)

/** What is made of an object of a kind; undefined where that is not known. */
function madeOf({ group, kind }: ObjectKind): keyof typeof SOURCES | undefined {
  return MAKES.get(qualifiedKind({ group, kind })) ?? MAKES.get(`*.${group}`)
}

/** Whether pods, labels and service accounts of a kind are made up by its controller, with no template to read. */
export function isUnreadKind(kind: ObjectKind): boolean {
  const makes = madeOf(kind)
  return makes === 'pods' || makes === 'pods and pools'
}

/** The names of such kinds, each with its group, by whether they make InferencePools, and objectives with them, too. */
export const UNREAD_KINDS = {
  withPools: keysOf(SOURCES['pods and pools']),
  withoutPools: keysOf(SOURCES.pods),
} as const

const NAMESPACED_GROUPS: ReadonlySet<string> = new Set(
  [
    ...UNREAD_KINDS.withPools,
    ...UNREAD_KINDS.withoutPools,
    ...keysOf(SOURCES['pods of templates']),
    ...NAMESPACED_KINDS,
  ].map((name) => name.slice(name.indexOf('.') + 1)),
)

/**
 * Whether a kind that makes pods is known to be namespaced, without its CRD. An object of it without a namespace is then in the
 * current one.
 */
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
  /**
   * The workload whose template it uses, if it has none of its own. The pods of that workload are known if the workload is
   * read.
   */
  readonly takesFrom: { readonly kind: string; readonly name: string } | undefined
  /** One for each template; if there is none to read, one about which nothing is known. */
  readonly pods: readonly Pod[]
  /**
   * Those whose namespace is unknown, beside `pods`: the maker may have none, or is a holder of objects that name
   * none. The namespace of each is that of the maker.
   */
  readonly anywhere: readonly Pod[]
}

/** The most templates that are read of one object. */
const TEMPLATES_MAX = 64
/** How deep templates are looked for; those of real kinds stand within twelve levels. */
const DEPTH_MAX = 40

/**
 * Whether an object makes pods, as far as can be told of one whose kind is not read. `areUnseenShown`: pods that nothing in the object shows
 * are among what is given, as in a dump of a cluster.
 */
export function isPodMaker(value: JsonRecord, { areUnseenShown = false } = {}): boolean {
  const kind = kindOf(value)
  if (isUnreadKind(kind)) return carriedBy(value)?.length !== 0
  if (workloadOf(kind, value) !== undefined) return true
  if (!areUnseenShown && mayMakeUnseenPods(kind)) return true
  return mayMakePods(kind) && templatesIn(value).length > 0
}

/**
 * Whether an object of a kind that is not read may make pods, by the text of it in YAML, which is not parsed: a pod spec has a
 * key `containers`, which is in the text unless an escape hides it. With an empty text: whether every object of the kind may.
 */
export function mayMakePodsByText(kind: ObjectKind, text: string): boolean {
  if (isUnreadKind(kind) || mayMakeUnseenPods(kind)) return true
  if (madeOf(kind) === 'what they generate' && !text.includes(GENERATE)) return false
  return mayMakePods(kind) && (text.includes('containers') || /\\[xuU]/.test(text))
}

/** What an object of a kind that is not read makes; undefined for one that makes no pods. Never throws. */
export function readPodMaker(raw: RawObject): PodMaker | undefined {
  if (raw.isUnread !== true || !isPodMaker(raw.value)) return undefined
  const kind = kindOf(raw.value)
  const isUnread = isUnreadKind(kind)
  const { namespace } = readMeta(raw.value)
  const base = { kind: qualifiedKind(kind), namespace, name: calledName(own(raw.value, 'metadata')) }
  const takesFrom = workloadOf(kind, raw.value)
  const templates = isUnread
    ? (carriedBy(raw.value)?.map(templateOf) ?? [NOTHING_KNOWN])
    : takesFrom === undefined
      ? orUnseen(templatesIn(raw.value), raw.value)
      : [NOTHING_KNOWN]
  // Which of several templates it is matters to people; of one alone it does not.
  const pods = templates.map((template) =>
    podOf(raw, base, templates.length === 1 ? { ...template, part: '' } : template),
  )
  const isPlacedElsewhere = raw.mayBeAnywhere === true || madeOf(kind) === 'objects elsewhere'
  const isOpen = (template: FoundTemplate | undefined): boolean =>
    template?.namespace === undefined && (isPlacedElsewhere || template?.isHeld === true)
  return {
    ...base,
    takesFrom,
    makesPools: madeOf(kind) === 'pods and pools',
    pods: pods.filter((_, at) => !isOpen(templates[at])),
    anywhere: pods.filter((_, at) => isOpen(templates[at])),
  }
}

/** The templates; without any, pods that are not known at all, in the object's own namespace and in each that its fields name. */
function orUnseen(templates: readonly FoundTemplate[], value: JsonRecord): readonly FoundTemplate[] {
  if (templates.length > 0) return templates
  const itsOwn = readMeta(value).namespace
  const named = namespacesNamedIn(value).filter((namespace) => namespace !== itsOwn)
  return [NOTHING_KNOWN, ...named.map((namespace) => ({ ...NOTHING_KNOWN, part: namespace, namespace }))]
}

/** A field that names namespaces: `targetNamespace`, `includedNamespaces`. */
const NAMESPACE_FIELD = /namespaces?$/i

function namespacesNamedIn(value: JsonRecord): readonly string[] {
  const found = new Set<string>()
  const visit = (here: unknown, depth: number, isNamed: boolean): void => {
    if (typeof here === 'string') {
      if (isNamed && isDns1123Label(here) && found.size < TEMPLATES_MAX) found.add(here)
    } else if (depth > DEPTH_MAX) return
    else if (Array.isArray(here)) for (const one of here as readonly unknown[]) visit(one, depth + 1, isNamed)
    else if (isRecord(here))
      for (const [key, one] of Object.entries(here)) visit(one, depth + 1, NAMESPACE_FIELD.test(key))
  }
  const { metadata: _, status: __, ...fields } = value
  visit(fields, 0, false)
  return [...found]
}

interface ObjectKind {
  readonly group: string
  readonly kind: string
}

/** A Rollout takes the template of a Deployment: https://argo-rollouts.readthedocs.io/en/stable/migrating/ */
function workloadOf({ group, kind }: ObjectKind, value: JsonRecord): PodMaker['takesFrom'] {
  if (kind !== 'Rollout' || group !== 'argoproj.io') return undefined
  const ref = own(own(value, 'spec'), 'workloadRef')
  const name = stringAt(ref, 'name') ?? ''
  return name === '' ? undefined : { kind: kindKey(ref), name }
}

function mayMakePods(kind: ObjectKind): boolean {
  return madeOf(kind) !== 'nothing'
}

/** Whether nothing is known of a kind that rules out pods which nothing in its objects shows. */
function mayMakeUnseenPods(kind: ObjectKind): boolean {
  return madeOf(kind) === undefined && !makesNoPods(kind)
}

/** The key of what a policy of Kyverno makes. */
const GENERATE = 'generate'

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
  /** Whether the template is in the object, and not put together from what is known about the kind. */
  readonly isRead: boolean
  /** Keys of all labels that are possible beside those in it; undefined: any. */
  readonly possibleLabels?: readonly string[] | undefined
}

const NOTHING_KNOWN: FoundTemplate = {
  part: '',
  metadata: {},
  spec: undefined,
  namespace: undefined,
  isHeld: false,
  isRead: false,
}

/** What is known of pods, as a template. */
function templateOf({
  part,
  labels,
  possibleLabels,
  serviceAccountName,
  containers,
}: Carried): FoundTemplate {
  const unknown = { name: UNKNOWN_CONTAINER }
  return {
    ...NOTHING_KNOWN,
    part,
    metadata: { labels },
    spec: {
      ...(serviceAccountName !== undefined && { serviceAccountName }),
      containers: [...containers.map((name) => ({ name })), unknown],
    },
    isRead: false,
    possibleLabels: possibleLabels?.filter((key) => !Object.hasOwn(labels, key)),
  }
}

/** Every pod spec in an object, in its order; those within a pod spec are no templates. */
function templatesIn(value: JsonRecord): readonly FoundTemplate[] {
  const found: FoundTemplate[] = []
  const isPolicy = madeOf(kindOf(value)) === 'what they generate'
  const visit = (
    here: unknown,
    path: readonly string[],
    { holder, within }: { readonly holder?: JsonRecord; readonly within?: EnclosingObject | undefined },
  ): void => {
    if (found.length >= TEMPLATES_MAX || path.length > DEPTH_MAX) return
    if (Array.isArray(here)) {
      for (const [at, item] of here.entries()) visit(item, [...path, String(at)], { within })
    } else if (isRecord(here)) {
      if (isPodSpec(here)) {
        if (!isPolicy || path.includes(GENERATE)) found.push(templateAt(path, holder, here, within))
      } else if (isPolicy && (isCloneOfPods(here) || isComputed(path, here)))
        found.push({ ...NOTHING_KNOWN, isHeld: true })
      else {
        const held = isTyped(here) ? { namespace: namespaceOfObject(here) ?? within?.namespace } : within
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

/**
 * Whether a rule copies an object that may make pods, and that is not among its fields:
 * https://kyverno.io/docs/policy-types/cluster-policy/generate/#clone-source
 */
function isCloneOfPods(rule: JsonRecord): boolean {
  const list = own(rule, 'cloneList')
  const kinds = listAt(list, 'kinds').flatMap((one) => {
    const [kind = '', version = '', group = ''] = typeof one === 'string' ? one.split('/').toReversed() : []
    return [kindOf({ kind, apiVersion: group === '' ? version : `${group}/${version}` })]
  })
  const all = isRecord(own(rule, 'clone')) ? [kindOf(rule), ...kinds] : kinds
  return all.some((one) => KINDS_WITH_PODS.has(qualifiedKind(one)) || !makesNoPods(one))
}

/** Whether a rule makes what an expression gives: https://kyverno.io/docs/policy-types/generating-policy/ */
function isComputed(path: readonly string[], rule: JsonRecord): boolean {
  return path.includes(GENERATE) && typeof own(rule, 'expression') === 'string'
}

/** The object within an object in which something stands. */
interface EnclosingObject {
  readonly namespace: string | undefined
}

function namespaceOfObject(value: JsonRecord): string | undefined {
  return filledIn(stringAt(value, 'metadata', 'namespace'), isDns1123Label)
}

/** A text that its field can have; any other (`${NAME}`, `{{ .Values.name }}`) is filled in later, by whatever reads the template. */
function filledIn(text: string | undefined, isOne: (text: string) => boolean): string | undefined {
  return text !== undefined && isOne(text) ? text : undefined
}

/** A spec has the metadata of its template beside it; a pod spec that stands under another key has none. */
function templateAt(
  path: readonly string[],
  holder: JsonRecord | undefined,
  spec: JsonRecord,
  within: EnclosingObject | undefined,
): FoundTemplate {
  const isTemplate = path.at(-1) === 'spec' && holder !== undefined
  const part = (isTemplate ? path.slice(0, -1) : path).join('.')
  return {
    part,
    metadata: isTemplate ? recordAt(holder, 'metadata') : {},
    spec,
    namespace: within?.namespace,
    isHeld: within !== undefined,
    isRead: true,
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
  { part, metadata, spec, namespace: within, isRead, possibleLabels }: FoundTemplate,
): Pod {
  const written = readStringMap(own(metadata, 'labels'))
  const labels = new Map([...written].filter(([, value]) => labelValueProblem(value) === undefined))
  const named = filledIn(stringAt(spec, 'serviceAccountName'), isDns1123Subdomain)
  const pod = podOfTemplate({
    ref: { kind, namespace, name },
    part,
    namespace: within ?? namespace,
    labels,
    unknownLabels: new Set([...written.keys()].filter((key) => !labels.has(key))),
    serviceAccountName: named ?? '',
    containers: spec === undefined ? [unnamed('regular')] : readContainers(spec).map(withName),
    metadata,
    spec: spec ?? {},
    selectorLabels: selectorLabelsOf(raw.value),
    origin: raw.origin,
    perhaps: {
      why: isRead
        ? 'kleym does not know what its controller makes of the template'
        : 'what its controller makes cannot be read from it',
      knowsAccount: named !== undefined,
      marks: marksIn(raw.value),
      ...(possibleLabels !== undefined && { knowsLabels: true as const }),
    },
  })
  return possibleLabels === undefined
    ? pod
    : { ...pod, possibleLabels: new Set([...pod.possibleLabels, ...possibleLabels]) }
}

const MARK = /(?:labels|annotations|metadata|serviceaccount(?:name)?)$/i

/** All that an object says of labels, annotations and accounts beside its templates, as text: `canaryMetadata`, `podLabels`. */
function marksIn(value: JsonRecord): string {
  const found: unknown[] = []
  const itsOwn = new Set([own(value, 'metadata'), own(value, 'status')])
  walk(value, (part, key) => {
    if (part !== undefined && itsOwn.has(part)) return false
    if (isPodSpec(recordAt(part, 'spec'))) return false
    if (!MARK.test(key)) return true
    found.push([key, part])
    return false
  })
  return canonicalText(found)
}

function unnamed(role: Container['role']): Container {
  return { name: UNKNOWN_CONTAINER, role, image: undefined }
}

function withName(container: Container): Container {
  return isDns1123Label(container.name) ? container : { ...container, name: UNKNOWN_CONTAINER }
}
