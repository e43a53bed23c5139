// Which of the things that could not be read keep kleym from saying that nothing gives an ID, or that no container holds it.
import { parseIdentity } from '../../decide/index.ts'
import { BINDING, qualifiedKind } from '../../model/kinds.ts'
import { type Snapshot } from '../../snapshot/index.ts'
import type { UnknownReason } from '../../model/unknown-reason.ts'
import type { IdentitySource } from './identity-sources.ts'

/** How much of the cluster and of the files a snapshot shows. */
type SnapshotRead = Pick<Snapshot, 'rest' | 'namespacesRead'>

const BINDINGS = qualifiedKind(BINDING)

/** Why there may be an object that gives the ID, although none was read. */
export function objectGap(reading: SnapshotRead, spiffeId: string): UnknownReason | undefined {
  const gap = reading.rest.registrations()
  if (gap !== undefined) return gap
  const namespace = parseIdentity(spiffeId)?.namespace
  // No binding gives an ID of another form.
  if (namespace === undefined) return undefined
  if (reading.namespacesRead?.has(namespace) === false)
    return { verb: 'list', what: BINDINGS, namespace, cause: 'not given' }
  return reading.rest.bindings(namespace)
}

/** Why there may be a pod that holds the ID, although none was read; the pods of a binding are in its own namespace. */
export function podGap(
  reading: SnapshotRead,
  spiffeId: string,
  identitySources: readonly IdentitySource[],
): UnknownReason | undefined {
  const { namespacesRead } = reading
  const gap = reading.rest.pods()
  if (gap !== undefined || namespacesRead === undefined) return gap
  const namespace = identitySources.every(({ binding }) => binding !== undefined)
    ? parseIdentity(spiffeId)?.namespace
    : undefined
  if (namespace === undefined) return { verb: 'list', what: 'Pod', cause: 'not given' }
  return namespacesRead.has(namespace)
    ? undefined
    : { verb: 'list', what: 'Pod', namespace, cause: 'not given' }
}

/** Why there may be a binding or a pod in any namespace, although none was read. */
export function patternGap(reading: SnapshotRead): UnknownReason | undefined {
  if (reading.namespacesRead !== undefined) return { verb: 'list', what: BINDINGS, cause: 'not given' }
  return reading.rest.pods() ?? reading.rest.bindings()
}

/** Whether all pods of a namespace are there. */
export function knowsPodsIn(reading: SnapshotRead, namespace: string): boolean {
  return reading.rest.pods(namespace) === undefined && reading.namespacesRead?.has(namespace) !== false
}
