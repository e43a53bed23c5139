// What the operator may do, verb by verb: the service account of every suite has this and nothing more, so that a call
// too many shows as a 403.
import type { JsonRecord } from '../../shared/src/core/base/json.ts'
import type { ObjectId } from './rest.ts'

/** The user that the operators of the suites run as. */
export const OPERATOR = 'kleym-operator'
/** Another user with the same rights: a second replica that the audit log can tell from the first. */
export const OPERATOR_B = 'kleym-operator-b'
/** Where their Lease lives. */
export const OPERATOR_NAMESPACE = 'kleym-system'
export const LEASE_NAME = 'kleym-operator'
export const LEASE: ObjectId = {
  apiVersion: 'coordination.k8s.io/v1',
  kind: 'Lease',
  namespace: OPERATOR_NAMESPACE,
  name: LEASE_NAME,
}

const READ = ['get', 'list', 'watch']

const CLUSTER_RULES = [
  rule('kleym.sonda.red', 'inferenceidentitybindings', [...READ, 'patch']),
  rule('kleym.sonda.red', 'inferenceidentitybindings/status', ['update']),
  rule('spire.spiffe.io', 'clusterspiffeids', [...READ, 'create', 'update', 'delete']),
  rule('inference.networking.k8s.io', 'inferencepools', READ),
  rule('inference.networking.x-k8s.io', 'inferencepools', READ),
  rule('llm-d.ai', 'inferenceobjectives', READ),
  rule('inference.networking.x-k8s.io', 'inferenceobjectives', READ),
  rule('inference.networking.k8s.io', 'inferenceobjectives', READ),
  rule('apiextensions.k8s.io', 'customresourcedefinitions', ['list', 'watch']),
  rule('events.k8s.io', 'events', ['create']),
]

const NAMESPACE_RULES = [
  rule('coordination.k8s.io', 'leases', ['create']),
  { ...rule('coordination.k8s.io', 'leases', ['get', 'update']), resourceNames: [LEASE_NAME] },
]

/** The objects that give the operator its rights, the namespace of its Lease among them. */
export function operatorAccess(): readonly JsonRecord[] {
  const rbac = 'rbac.authorization.k8s.io'
  const subjects = [OPERATOR, OPERATOR_B].map((name) => ({ apiGroup: rbac, kind: 'User', name }))
  const metadata = { name: OPERATOR }
  const local = { name: OPERATOR, namespace: OPERATOR_NAMESPACE }
  const apiVersion = `${rbac}/v1`
  return [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: OPERATOR_NAMESPACE } },
    { apiVersion, kind: 'ClusterRole', metadata, rules: CLUSTER_RULES },
    {
      apiVersion,
      kind: 'ClusterRoleBinding',
      metadata,
      roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: OPERATOR },
      subjects,
    },
    { apiVersion, kind: 'Role', metadata: local, rules: NAMESPACE_RULES },
    {
      apiVersion,
      kind: 'RoleBinding',
      metadata: local,
      roleRef: { apiGroup: rbac, kind: 'Role', name: OPERATOR },
      subjects,
    },
  ]
}

function rule(
  apiGroup: string,
  resource: string,
  verbs: readonly string[],
): {
  readonly apiGroups: readonly string[]
  readonly resources: readonly string[]
  readonly verbs: readonly string[]
} {
  return { apiGroups: [apiGroup], resources: [resource], verbs }
}
