// The data that SCM's templates see: SCM v0.7.0, pkg/spireentry/entries.go, templateData. What is not known yet of a
// pod that does not exist, or of a node that nobody described, stands in it as `Open`.
import { Placeholder } from '../go/template/placeholder.ts'
import type { GoObject, TemplateData } from '../go/template/template.ts'
import { isRecord, own, type JsonRecord } from '../json.ts'
import type { Node, Pod } from '../objects/pod.ts'
import type { ScmSettings } from '../objects/scm-settings.ts'
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
  /** It exists, or will, and nobody knows more than perhaps its name. */
  | { readonly kind: 'open'; readonly name: string | undefined }

/** What every template sees: the settings of SCM. */
export function settingsData(settings: ScmSettings): TemplateData {
  return {
    trustDomain: settings.trustDomain ?? open(TRUST_DOMAIN),
    clusterName: settings.clusterName ?? open(CLUSTER_NAME),
    clusterDomain: settings.clusterDomain ?? open(CLUSTER_DOMAIN),
  }
}

/** What the parent ID template sees: the node, and no pod. */
export function nodeData(base: TemplateData, found: PodNode): TemplateData {
  return { ...base, nodeMeta: nodeMeta(found), nodeSpec: nodeSpec(found) }
}

/** What the templates of a ClusterSPIFFEID see. */
export function podData(node: TemplateData, pod: Pod): TemplateData {
  return { ...node, podMeta: podMeta(pod), podSpec: podSpec(pod) }
}

function nodeMeta(found: PodNode): GoObject {
  if (found.kind === 'open') {
    const value = { name: found.name ?? open(NODE_NAME), uid: open(NODE_UID) }
    return { value, complete: false }
  }
  const { node } = found
  if (node.uid !== undefined) return { value: node.metadata, complete: true }
  return { value: { ...node.metadata, name: node.name, uid: open(NODE_UID) }, complete: false }
}

function nodeSpec(found: PodNode): GoObject {
  return found.kind === 'open'
    ? { value: {}, complete: false }
    : { value: found.node.spec, complete: found.node.uid !== undefined }
}

function podMeta(pod: Pod): GoObject {
  if (pod.exists) return { value: pod.metadata, complete: true }
  const value = {
    ...pod.metadata,
    namespace: pod.namespace,
    name: pod.name ?? open(POD_NAME),
    uid: pod.uid ?? open(POD_UID),
    labels: openLabels(pod),
  }
  return { value, complete: false }
}

function openLabels(pod: Pod): JsonRecord {
  const written = own(pod.metadata, 'labels')
  const labels: [string, unknown][] = isRecord(written) ? Object.entries(written) : []
  labels.push(...pod.labels)
  for (const key of pod.openLabels) labels.push([key, open(labelFact(key))])
  for (const key of pod.possibleLabels) labels.push([key, new Placeholder(bare(labelFact(key)), true)])
  return Object.fromEntries(labels)
}

function podSpec(pod: Pod): GoObject {
  if (pod.exists) return { value: pod.spec, complete: true }
  const value = {
    ...pod.spec,
    serviceAccountName: pod.serviceAccountName,
    nodeName: pod.nodeName ?? open(NODE_NAME),
  }
  return { value, complete: false }
}

function open(fact: string): Placeholder {
  return new Placeholder(bare(fact))
}

/** `Open` puts the angle brackets round the name itself. */
function bare(fact: string): string {
  return fact.slice(1, -1)
}
