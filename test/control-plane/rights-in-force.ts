// Rights in force: the authorizer of the API server hears of roles and their bindings through watches, a moment after they
// are written, and a request that comes sooner is judged by what was there before.
import { randomUUID } from 'node:crypto'
import { stringAt, dig, type JsonRecord } from '../../shared/src/core/base/json.ts'
import { idOf, type Rest } from './rest.ts'
import { until } from '@kleym/testing/wait.ts'

const GROUP = 'rbac.authorization.k8s.io'
const KINDS = new Set(['Role', 'RoleBinding', 'ClusterRole', 'ClusterRoleBinding'])
/** A group of which nothing is served: rights on it change nothing. */
const MARKED_GROUP = 'marker.kleym.test'
const NAMESPACE = 'default'

/** Whether an object gives rights. */
export function givesRights(object: JsonRecord): boolean {
  const kind = stringAt(object, 'kind')
  return (
    kind !== undefined && KINDS.has(kind) && stringAt(object, 'apiVersion')?.startsWith(`${GROUP}/`) === true
  )
}

/**
 * Waits until every role and binding that was written before the call is what requests are judged by. Each kind has a
 * watch, which is in order: what is written now is heard of last, so an object of each kind is, and asked about.
 */
export async function rightsInForce(admin: Rest): Promise<void> {
  const name = `marker-${randomUUID()}`
  const marker = [...pair(name), ...pair(name, NAMESPACE)]
  for (const object of marker) await admin.apply(object)
  await until(
    async () => (await allowed(admin, name)) && allowed(admin, name, NAMESPACE),
    'rights to be in force',
  )
  for (const object of marker) await admin.delete(idOf(object))
}

/** A role and its binding, in the cluster or in a namespace; the right is on another resource in each. */
function pair(name: string, namespace?: string): readonly JsonRecord[] {
  const apiVersion = `${GROUP}/v1`
  const metadata = { name, ...(namespace === undefined ? {} : { namespace }) }
  const prefix = namespace === undefined ? 'Cluster' : ''
  return [
    {
      apiVersion,
      kind: `${prefix}Role`,
      metadata,
      rules: [{ apiGroups: [MARKED_GROUP], resources: [markedIn(namespace)], verbs: ['get'] }],
    },
    {
      apiVersion,
      kind: `${prefix}RoleBinding`,
      metadata,
      roleRef: { apiGroup: GROUP, kind: `${prefix}Role`, name },
      subjects: [{ apiGroup: GROUP, kind: 'User', name }],
    },
  ]
}

function markedIn(namespace: string | undefined): string {
  return namespace === undefined ? 'clusters' : 'namespaces'
}

async function allowed(admin: Rest, user: string, namespace?: string): Promise<boolean> {
  const resource = { group: MARKED_GROUP, resource: markedIn(namespace), verb: 'get' }
  const answer = await admin.request({
    method: 'POST',
    path: '/apis/authorization.k8s.io/v1/subjectaccessreviews',
    body: {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SubjectAccessReview',
      spec: { user, resourceAttributes: { ...resource, ...(namespace === undefined ? {} : { namespace }) } },
    },
  })
  return dig(answer.body, 'status', 'allowed') === true
}
