// Every resource that kleym reads or writes, and the REST path of each.
// Paths: https://kubernetes.io/docs/reference/using-api/api-concepts/#resource-uris
import {
  ACCESS_POLICY_KIND,
  BINDING,
  CLUSTER_SPIFFE_ID,
  CLUSTER_STATIC_ENTRY,
  FEDERATED_TRUST_DOMAIN,
  OBJECTIVE_KINDS,
  NAMING_KINDS,
  OLD_ACCESS_POLICIES,
  POOL_IMPORT,
  POOL_KINDS,
  qualifiedKind,
  type Kind,
} from '../core/model/kinds.ts'
import type { Resource } from './api.ts'
import { ConnectionError } from './errors.ts'

function namespaced(kind: Kind): Resource {
  return { ...kind, namespaced: true }
}

/** Pools, the preferred kind first; in the order of the core's POOL_KINDS. */
export const POOLS: readonly Resource[] = POOL_KINDS.map(namespaced)
/** Objectives, the preferred kind first; in the order of the core's OBJECTIVE_KINDS. */
export const OBJECTIVES: readonly Resource[] = OBJECTIVE_KINDS.map(namespaced)

export const BINDINGS: Resource = namespaced(BINDING)
export const CLUSTER_SPIFFE_IDS: Resource = { ...CLUSTER_SPIFFE_ID, namespaced: false }
export const CLUSTER_STATIC_ENTRIES: Resource = { ...CLUSTER_STATIC_ENTRY, namespaced: false }
export const FEDERATED_TRUST_DOMAINS: Resource = { ...FEDERATED_TRUST_DOMAIN, namespaced: false }
export const POOL_IMPORTS: Resource = namespaced(POOL_IMPORT)
/** In the version that kleym interprets; a cluster may serve another one alone. */
export const ACCESS_POLICIES: Resource = namespaced(ACCESS_POLICY_KIND)
/** Under their earlier names; in the order of the core's OLD_ACCESS_POLICIES. */
export const EARLIER_ACCESS_POLICIES: readonly Resource[] = OLD_ACCESS_POLICIES.map(namespaced)
/** Objects of other programs that name identities; in the order of the core's NAMING_KINDS. */
export const NAMING_RESOURCES: readonly Resource[] = NAMING_KINDS.map(namespaced)
export const CRDS: Resource = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  plural: 'customresourcedefinitions',
  kind: 'CustomResourceDefinition',
  namespaced: false,
}
export const EVENTS: Resource = {
  group: 'events.k8s.io',
  version: 'v1',
  plural: 'events',
  kind: 'Event',
  namespaced: true,
}
export const LEASES: Resource = {
  group: 'coordination.k8s.io',
  version: 'v1',
  plural: 'leases',
  kind: 'Lease',
  namespaced: true,
}
export const TOKEN_REVIEWS: Resource = {
  group: 'authentication.k8s.io',
  version: 'v1',
  plural: 'tokenreviews',
  kind: 'TokenReview',
  namespaced: false,
}
export const SUBJECT_ACCESS_REVIEWS: Resource = {
  group: 'authorization.k8s.io',
  version: 'v1',
  plural: 'subjectaccessreviews',
  kind: 'SubjectAccessReview',
  namespaced: false,
}
export const SELF_SUBJECT_ACCESS_REVIEWS: Resource = {
  group: 'authorization.k8s.io',
  version: 'v1',
  plural: 'selfsubjectaccessreviews',
  kind: 'SelfSubjectAccessReview',
  namespaced: false,
}
export const PODS: Resource = { group: '', version: 'v1', plural: 'pods', kind: 'Pod', namespaced: true }
export const NAMESPACES: Resource = {
  group: '',
  version: 'v1',
  plural: 'namespaces',
  kind: 'Namespace',
  namespaced: false,
}
export const NODES: Resource = { group: '', version: 'v1', plural: 'nodes', kind: 'Node', namespaced: false }
export const ENDPOINTS: Resource = {
  group: '',
  version: 'v1',
  plural: 'endpoints',
  kind: 'Endpoints',
  namespaced: true,
}
export const CONFIG_MAPS: Resource = {
  group: '',
  version: 'v1',
  plural: 'configmaps',
  kind: 'ConfigMap',
  namespaced: true,
}
export const DEPLOYMENTS: Resource = {
  group: 'apps',
  version: 'v1',
  plural: 'deployments',
  kind: 'Deployment',
  namespaced: true,
}
export const REPLICA_SETS: Resource = {
  group: 'apps',
  version: 'v1',
  plural: 'replicasets',
  kind: 'ReplicaSet',
  namespaced: true,
}
/** What makes pods from templates. ReplicaSets are left out: old ones of a Deployment stand for pods that are gone. */
export const WORKLOADS: readonly Resource[] = [
  DEPLOYMENTS,
  { group: 'apps', version: 'v1', plural: 'statefulsets', kind: 'StatefulSet', namespaced: true },
  { group: 'apps', version: 'v1', plural: 'daemonsets', kind: 'DaemonSet', namespaced: true },
  { group: 'batch', version: 'v1', plural: 'jobs', kind: 'Job', namespaced: true },
  { group: 'batch', version: 'v1', plural: 'cronjobs', kind: 'CronJob', namespaced: true },
  {
    group: 'leaderworkerset.x-k8s.io',
    version: 'v1',
    plural: 'leaderworkersets',
    kind: 'LeaderWorkerSet',
    namespaced: true,
  },
]

/** Those that answers are about. */
export const SUBJECTS: readonly Resource[] = [
  BINDINGS,
  CLUSTER_SPIFFE_IDS,
  CLUSTER_STATIC_ENTRIES,
  FEDERATED_TRUST_DOMAINS,
  POOL_IMPORTS,
  ...POOLS,
  ...OBJECTIVES,
  PODS,
  REPLICA_SETS,
  ...WORKLOADS,
  NAMESPACES,
  NODES,
  ENDPOINTS,
  CONFIG_MAPS,
  ACCESS_POLICIES,
  ...EARLIER_ACCESS_POLICIES,
  ...NAMING_RESOURCES,
  CRDS,
]

/** All of them. */
export const RESOURCES: readonly Resource[] = [
  ...SUBJECTS,
  EVENTS,
  LEASES,
  TOKEN_REVIEWS,
  SUBJECT_ACCESS_REVIEWS,
  SELF_SUBJECT_ACCESS_REVIEWS,
]

/** `InferencePool.inference.networking.k8s.io`, or `Pod` for the core group: a resource as users name it. */
export function resourceName(resource: Resource): string {
  return qualifiedKind(resource)
}

/** Where the group version of a resource is discovered: `/apis/spire.spiffe.io/v1alpha1`, `/api/v1`. */
export function groupVersionPath(resource: Pick<Resource, 'group' | 'version'>): string {
  return resource.group === '' ? `/api/${resource.version}` : `/apis/${resource.group}/${resource.version}`
}

export interface PathParts {
  readonly namespace?: string | undefined
  readonly name?: string | undefined
  readonly subresource?: string | undefined
}

/**
 * The REST path of a collection, an object or a subresource; `namespace` is left out of a cluster-scoped one. Throws a
 * ConnectionError (malformed, never sent) for a name that would lead elsewhere.
 */
export function resourcePath(resource: Resource, { namespace, name, subresource }: PathParts = {}): string {
  const parts = [groupVersionPath(resource)]
  if (resource.namespaced && namespace !== undefined)
    parts.push('namespaces', segment(resource, 'namespace', namespace))
  parts.push(resource.plural)
  if (name !== undefined) parts.push(segment(resource, 'name', name))
  if (subresource !== undefined) parts.push(segment(resource, 'subresource', subresource))
  return parts.join('/')
}

/** The API server's own rule (apimachinery's IsValidPathSegmentName); what passes is encoded all the same. */
function segment(resource: Resource, what: string, text: string): string {
  if (text === '' || text === '.' || text === '..' || /[/%]/.test(text) || !text.isWellFormed())
    throw new ConnectionError(
      'malformed',
      `cannot address a ${resourceName(resource)}: its ${what} ${JSON.stringify(text)} cannot stand in a path`,
      { neverSent: true },
    )
  return encodeURIComponent(text)
}
