// Which of the things that could not be read keep kleym from saying that nothing gives an ID, or that no container holds it.
import { parseIdentity } from '../compile/identity-path.ts'
import type { UnknownReason } from '../unknown-reason.ts'
import {
  OBJECTIVE_KINDS,
  POOL_KINDS,
  qualifiedKind,
  BINDING,
  CLUSTER_SPIFFE_ID,
  CLUSTER_STATIC_ENTRY,
} from '../kinds.ts'
import type { Snapshot } from '../snapshot/snapshot.ts'
import type { IdentitySource } from './identity-sources.ts'

type Reading = Pick<Snapshot, 'gaps' | 'namespacesRead'>

const REGISTRATION_KINDS: readonly string[] = [
  qualifiedKind(CLUSTER_SPIFFE_ID),
  qualifiedKind(CLUSTER_STATIC_ENTRY),
]
const BINDINGS = qualifiedKind(BINDING)
const BINDING_KINDS: readonly string[] = [
  BINDINGS,
  ...POOL_KINDS.map(qualifiedKind),
  ...OBJECTIVE_KINDS.map(qualifiedKind),
]

/** Why there may be a registration that kleym has not read. */
export function registrationGap({ gaps }: Reading): UnknownReason | undefined {
  return firstGap(gaps, REGISTRATION_KINDS)
}

/** Why there may be an object that gives the ID, although none was read. */
export function objectGap(reading: Reading, spiffeId: string): UnknownReason | undefined {
  const gap = registrationGap(reading)
  if (gap !== undefined) return gap
  const namespace = parseIdentity(spiffeId)?.namespace
  // No binding gives an ID of another form.
  if (namespace === undefined) return undefined
  if (reading.namespacesRead?.has(namespace) === false)
    return { verb: 'list', what: BINDINGS, namespace, cause: 'not given' }
  return firstGap(reading.gaps, BINDING_KINDS)
}

/** Why there may be a pod that holds the ID, although none was read; the pods of a binding are in its own namespace. */
export function podGap(
  { gaps, namespacesRead }: Reading,
  spiffeId: string,
  identitySources: readonly IdentitySource[],
): UnknownReason | undefined {
  const gap = firstGap(gaps, ['Pod'])
  if (gap !== undefined || namespacesRead === undefined) return gap
  const namespace = identitySources.every(({ binding }) => binding !== undefined)
    ? parseIdentity(spiffeId)?.namespace
    : undefined
  if (namespace === undefined) return { verb: 'list', what: 'Pod', cause: 'not given' }
  return namespacesRead.has(namespace)
    ? undefined
    : { verb: 'list', what: 'Pod', namespace, cause: 'not given' }
}

/** Whether all pods of a namespace are there. */
export function knowsPodsIn({ gaps, namespacesRead }: Reading, namespace: string): boolean {
  return firstGap(gaps, ['Pod']) === undefined && namespacesRead?.has(namespace) !== false
}

function firstGap(gaps: Reading['gaps'], kinds: readonly string[]): UnknownReason | undefined {
  return kinds.map((kind) => gaps.get(kind)).find((gap) => gap !== undefined) ?? gaps.get('*')
}
