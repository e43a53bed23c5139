// Every resource that kleym reads or writes, and the REST path of each.
// Paths: https://kubernetes.io/docs/reference/using-api/api-concepts/#resource-uris
import {
  ACCESS_POLICY_KIND,
  BINDING,
  CLUSTER_SPIFFE_ID,
  CLUSTER_STATIC_ENTRY,
  FEDERATED_TRUST_DOMAIN,
  INSTALL_KINDS,
  OPENSHIFT_AGENT,
  OPENSHIFT_SCM,
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

function clusterScoped(kind: Kind): Resource {
  return { ...kind, namespaced: false }
}

function v1(group: string, kind: string, plural: string): Kind {
  return { group, version: 'v1', plural, kind }
}

/** Pools, the preferred kind first; in the order of the core's POOL_KINDS. */
export const POOLS: readonly Resource[] = POOL_KINDS.map(namespaced)
/** Objectives, the preferred kind first; in the order of the core's OBJECTIVE_KINDS. */
export const OBJECTIVES: readonly Resource[] = OBJECTIVE_KINDS.map(namespaced)

export const BINDINGS: Resource = namespaced(BINDING)
export const CLUSTER_SPIFFE_IDS: Resource = clusterScoped(CLUSTER_SPIFFE_ID)
export const CLUSTER_STATIC_ENTRIES: Resource = clusterScoped(CLUSTER_STATIC_ENTRY)
export const FEDERATED_TRUST_DOMAINS: Resource = clusterScoped(FEDERATED_TRUST_DOMAIN)
export const POOL_IMPORTS: Resource = namespaced(POOL_IMPORT)
/** In the version that kleym interprets; a cluster may serve another one alone. */
export const ACCESS_POLICIES: Resource = namespaced(ACCESS_POLICY_KIND)
/** Under their earlier names; in the order of the core's OLD_ACCESS_POLICIES. */
export const EARLIER_ACCESS_POLICIES: readonly Resource[] = OLD_ACCESS_POLICIES.map(namespaced)
/** Objects of other programs that name identities; in the order of the core's NAMING_KINDS. */
export const NAMING_RESOURCES: readonly Resource[] = NAMING_KINDS.map(namespaced)
export const CRDS = clusterScoped(
  v1('apiextensions.k8s.io', 'CustomResourceDefinition', 'customresourcedefinitions'),
)
export const EVENTS = namespaced(v1('events.k8s.io', 'Event', 'events'))
export const LEASES = namespaced(v1('coordination.k8s.io', 'Lease', 'leases'))
export const TOKEN_REVIEWS = clusterScoped(v1('authentication.k8s.io', 'TokenReview', 'tokenreviews'))
export const SUBJECT_ACCESS_REVIEWS = clusterScoped(
  v1('authorization.k8s.io', 'SubjectAccessReview', 'subjectaccessreviews'),
)
export const SELF_SUBJECT_ACCESS_REVIEWS = clusterScoped(
  v1('authorization.k8s.io', 'SelfSubjectAccessReview', 'selfsubjectaccessreviews'),
)
export const PODS = namespaced(v1('', 'Pod', 'pods'))
export const NAMESPACES = clusterScoped(v1('', 'Namespace', 'namespaces'))
export const NODES = clusterScoped(v1('', 'Node', 'nodes'))
export const ENDPOINTS = namespaced(v1('', 'Endpoints', 'endpoints'))
export const CONFIG_MAPS = namespaced(v1('', 'ConfigMap', 'configmaps'))
export const DEPLOYMENTS = namespaced(v1('apps', 'Deployment', 'deployments'))
export const REPLICA_SETS = namespaced(v1('apps', 'ReplicaSet', 'replicasets'))
/** What makes pods from templates. ReplicaSets are left out: old ones of a Deployment stand for pods that are gone. */
export const WORKLOADS: readonly Resource[] = [
  DEPLOYMENTS,
  namespaced(v1('apps', 'StatefulSet', 'statefulsets')),
  namespaced(v1('apps', 'DaemonSet', 'daemonsets')),
  namespaced(v1('batch', 'Job', 'jobs')),
  namespaced(v1('batch', 'CronJob', 'cronjobs')),
  namespaced(v1('leaderworkerset.x-k8s.io', 'LeaderWorkerSet', 'leaderworkersets')),
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
  ...INSTALL_KINDS,
  clusterScoped(OPENSHIFT_SCM),
  clusterScoped(OPENSHIFT_AGENT),
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
