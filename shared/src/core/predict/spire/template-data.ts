// The data that SCM's templates read: SCM v0.7.0, pkg/spireentry/entries.go, templateData. What is not known yet of a pod
// that does not exist, or of a node that was not read, is a `Placeholder`.
import { Placeholder } from '../../base/go/template/placeholder.ts'
import type { GoObject, TemplateData } from '../../base/go/template/template.ts'
import { isRecord, own, type JsonRecord } from '../../base/json.ts'
import type { Node, Pod } from '../../model/objects/pod.ts'
import { answerOf } from '../../model/objects/pods-alike.ts'
import type { ScmSettings } from '../../model/objects/scm-settings.ts'
import {
  CLUSTER_DOMAIN,
  CLUSTER_NAME,
  labelFact,
  NODE_NAME,
  NODE_UID,
  POD_NAME,
  POD_UID,
  TRUST_DOMAIN,
} from './placeholders.ts'

/** The node that a pod runs on, as far as it is known. */
export type PodNode =
  | { readonly kind: 'known'; readonly node: Node }
  /** It exists, or will exist, and at most its name is known. */
  | { readonly kind: 'unknown'; readonly name: string | undefined }

/** The data that every template reads: the settings of SCM. */
export function settingsData(settings: ScmSettings): TemplateData {
  return {
    trustDomain: settings.trustDomain ?? placeholderFor(TRUST_DOMAIN),
    clusterName: settings.clusterName ?? placeholderFor(CLUSTER_NAME),
    clusterDomain: settings.clusterDomain ?? placeholderFor(CLUSTER_DOMAIN),
  }
}

/** With a node. */
export type NodeTemplateData = TemplateData & Required<Pick<TemplateData, 'nodeMeta' | 'nodeSpec'>>

/** The data that the parent ID template reads: the node, and no pod. */
export function nodeData(base: TemplateData, found: PodNode): NodeTemplateData {
  return { ...base, nodeMeta: nodeMeta(found), nodeSpec: nodeSpec(found) }
}

/** The data that the templates of a ClusterSPIFFEID read; `node` is that of the pod's node, asked for when a template reads it if `isLater`. */
export function podData(
  base: TemplateData,
  pod: Pod,
  { node, isLater }: { readonly node: () => NodeTemplateData; readonly isLater: boolean },
): TemplateData {
  if (!isLater) return { ...node(), podMeta: podMeta(pod), podSpec: podSpec(pod) }
  return {
    ...base,
    podMeta: podMeta(pod),
    podSpec: podSpec(pod),
    get nodeMeta() {
      return node().nodeMeta
    },
    get nodeSpec() {
      return node().nodeSpec
    },
  }
}

function nodeMeta(found: PodNode): GoObject {
  if (found.kind === 'unknown') {
    const value = {
      name: found.name ?? placeholderFor(NODE_NAME),
      uid: placeholderFor(NODE_UID),
      // An absent key of these maps would count as absent for good.
      labels: new Placeholder('node labels'),
      annotations: new Placeholder('node annotations'),
    }
    return { value, complete: false }
  }
  const { node } = found
  if (node.uid !== undefined) return { value: node.metadata, complete: true }
  return { value: { ...node.metadata, name: node.name, uid: placeholderFor(NODE_UID) }, complete: false }
}

function nodeSpec(found: PodNode): GoObject {
  return found.kind === 'unknown'
    ? { value: {}, complete: false }
    : { value: found.node.spec, complete: found.node.uid !== undefined }
}

function podMeta(pod: Pod): GoObject {
  const { exists, metadata, getsNode, annotationChoices } = pod
  const labels = (): JsonRecord => labelsWithPlaceholders(pod)
  if (exists)
    return { value: getsNode === true ? withValues(metadata, { labels }) : metadata, complete: true }
  const value = withValues(metadata, {
    namespace: () => pod.namespace,
    name: () => pod.name ?? placeholderFor(POD_NAME),
    uid: () => pod.uid ?? placeholderFor(POD_UID),
    labels,
    ...(annotationChoices && { annotations: () => annotationsWithPlaceholders(metadata, annotationChoices) }),
  })
  return { value, complete: false }
}

function annotationsWithPlaceholders(
  metadata: JsonRecord,
  choices: ReadonlyMap<string, unknown>,
): JsonRecord {
  const written = own(metadata, 'annotations')
  const changed = [...choices.keys()].map((key) => [key, new Placeholder(`annotation ${key}`, true)])
  return { ...(isRecord(written) ? written : {}), ...Object.fromEntries(changed) }
}

function labelsWithPlaceholders(pod: Pod): JsonRecord {
  const written = own(pod.metadata, 'labels')
  const labels: [string, unknown][] = isRecord(written) ? Object.entries(written) : []
  labels.push(...pod.labels)
  for (const key of pod.unknownLabels) labels.push([key, placeholderFor(labelFact(key))])
  for (const key of pod.possibleLabels)
    labels.push([key, new Placeholder(withoutBrackets(labelFact(key)), true)])
  return Object.fromEntries(labels)
}

function podSpec(pod: Pod): GoObject {
  const { exists, spec, getsNode } = pod
  const nodeName = (): unknown => pod.nodeName ?? placeholderFor(NODE_NAME)
  if (exists)
    return {
      value: getsNode === true ? withValues(spec, { nodeName }) : spec,
      complete: answerOf(pod, isSpecWhole),
    }
  const value = withValues(spec, { serviceAccountName: () => pod.serviceAccountName, nodeName })
  return { value, complete: false }
}

/**
 * Whether the spec of a pod that an API server holds has all that the API server fills in where a manifest has nothing. If not, it was
 * cut, and what it lacks may be there. Source: Kubernetes v1.36, pkg/apis/core/v1/defaults.go, SetDefaults_PodSpec.
 */
function isSpecWhole({ spec }: Pod): boolean {
  return FILLED_IN.every((field) => own(spec, field) !== undefined)
}

const FILLED_IN = [
  'restartPolicy',
  'dnsPolicy',
  'securityContext',
  'schedulerName',
  'terminationGracePeriodSeconds',
]

/** A record with other values at some keys. Each is read when a template asks for it: pods that differ in the rest may be alike otherwise. */
function withValues(record: JsonRecord, values: Readonly<Record<string, () => unknown>>): JsonRecord {
  const rest = Reflect.ownKeys(record).filter((key) => !Object.hasOwn(values, key))
  const read = [
    ...rest.map((key) => [key, () => Reflect.get(record, key)] as const),
    ...Object.entries(values),
  ]
  return Object.defineProperties(
    {},
    Object.fromEntries(read.map(([key, get]) => [key, { enumerable: true, get }])),
  )
}

function placeholderFor(fact: string): Placeholder {
  return new Placeholder(withoutBrackets(fact))
}

/** `Placeholder` adds the angle brackets itself. */
function withoutBrackets(fact: string): string {
  return fact.slice(1, -1)
}
