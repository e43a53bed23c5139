// Every right that the operator uses, as questions for the API server. The chart's roles give exactly these
// (test/control-plane/chart-rbac.test.ts).
import type { Resource } from '@kleym/shared/kube/api.ts'
import {
  BINDINGS,
  CLUSTER_SPIFFE_IDS,
  CRDS,
  EVENTS,
  LEASES,
  OBJECTIVES,
  POOLS,
  SUBJECT_ACCESS_REVIEWS,
  TOKEN_REVIEWS,
} from '@kleym/shared/kube/resources.ts'
import type { LeaseName } from '../election/lease.ts'
import type { Settings } from '../settings/settings.ts'

/** One thing that RBAC must allow. */
export interface RequiredRight {
  readonly verb: string
  readonly resource: Resource
  readonly subresource?: string
  /** Absent: in all namespaces, or where there are none. */
  readonly namespace?: string
  /** Absent: to any object. */
  readonly name?: string
}

const READ = ['get', 'list', 'watch']

/** What an operator with these settings asks for. `lease` is undefined where it is not elected. */
export function rightsWanted(
  { metrics }: Pick<Settings, 'metrics'>,
  lease: LeaseName | undefined,
): readonly RequiredRight[] {
  return [
    ...each([...READ, 'patch'], BINDINGS),
    { verb: 'update', resource: BINDINGS, subresource: 'status' },
    ...each([...READ, 'create', 'update', 'delete'], CLUSTER_SPIFFE_IDS),
    ...[...POOLS, ...OBJECTIVES].flatMap((resource) => each(READ, resource)),
    ...each(['list', 'watch'], CRDS),
    ...each(['create'], EVENTS),
    ...(lease === undefined ? [] : leaseRights(lease)),
    ...(metrics?.tls === undefined
      ? []
      : [TOKEN_REVIEWS, SUBJECT_ACCESS_REVIEWS].flatMap((resource) => each(['create'], resource))),
  ]
}

function each(verbs: readonly string[], resource: Resource): readonly RequiredRight[] {
  return verbs.map((verb) => ({ verb, resource }))
}

function leaseRights({ namespace, name }: LeaseName): readonly RequiredRight[] {
  return [
    // RBAC cannot tie `create` to a name.
    { verb: 'create', resource: LEASES, namespace },
    ...['get', 'update'].map((verb) => ({ verb, resource: LEASES, namespace, name })),
  ]
}

/** What a right is on, as `kubectl auth can-i` takes it: `inferenceidentitybindings.kleym.sonda.red/status`. */
export function objectText({ resource, subresource, namespace }: RequiredRight): string {
  const group = resource.group === '' ? '' : `.${resource.group}`
  const what = `${resource.plural}${group}${subresource === undefined ? '' : `/${subresource}`}`
  return `${what}${namespace === undefined ? '' : ` in namespace ${namespace}`}`
}
