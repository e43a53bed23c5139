// How the operator may write at all (docs/contract.md §8, "How it is written"), as rules that hold for every entry of the API
// server's audit log. A suite reads its whole log at its end and expects no sentence.
import { dig, own, stringAt, deepEqual } from '../../shared/src/core/base/json.ts'
import { judgedVersion, patchesFinalizerAlone } from '@kleym/testing/finalizer-patch-rule.ts'
import { WRITE_VERBS, type AuditEvent } from './audit.ts'
import type { ControlPlane } from './control-plane.ts'
import { uidOf } from './in-force.ts'
import { OPERATOR, OPERATOR_B } from './operator-access.ts'

/** `altered`: the UIDs of outputs that came back other than they were sent. */
type Rule = (event: AuditEvent, altered: ReadonlySet<string>) => string | undefined

/** By `verb resource subresource`: what a write of that sort must carry. No other sort is allowed. */
const RULES: ReadonlyMap<string, readonly Rule[]> = new Map([
  ['create clusterspiffeids', [hasFieldManager]],
  ['update clusterspiffeids', [hasFieldManager, namesWhatItJudged]],
  ['delete clusterspiffeids', [hasPreconditions]],
  ['patch inferenceidentitybindings', [hasFieldManager, namesWhatItJudged, patchesFinalizersAlone]],
  ['update inferenceidentitybindings status', [hasFieldManager, namesWhatItJudged]],
  ['create events', []],
  ['create leases', []],
  ['update leases', []],
])

/** One sentence for each write of an operator so far that breaks a rule; the writes themselves for further questions. */
export async function judgeWrites(
  cp: ControlPlane,
): Promise<{ readonly writes: readonly AuditEvent[]; readonly broken: readonly string[] }> {
  const all = await cp.audit({ verbs: WRITE_VERBS })
  const writes = all.filter(({ user }) => user === OPERATOR || user === OPERATOR_B)
  const altered = new Set(writes.filter(cameBackAltered).map(({ responseObject }) => uidOf(responseObject)))
  return { writes, broken: writes.flatMap((write) => judge(write, altered)) }
}

/** `verb resource subresource` of a write. */
export function sortOf({ verb, resource, subresource }: AuditEvent): string {
  return `${verb} ${resource} ${subresource}`.trim()
}

function judge(event: AuditEvent, altered: ReadonlySet<string>): readonly string[] {
  // Before anything of a request is read it is refused where its kind is not served, or by a server that has just been
  // started and does not know its users' rights yet.
  if (event.requestObject === undefined && event.status >= 400) return []
  const sort = sortOf(event)
  const rules = RULES.get(sort)
  const broken =
    rules === undefined ? ['is no write that kleym makes'] : rules.map((rule) => rule(event, altered))
  return broken.flatMap((why) =>
    why === undefined ? [] : [`${sort} ${event.namespace}/${event.name} ${why}`],
  )
}

function hasFieldManager({ uri }: AuditEvent): string | undefined {
  return /[?&]fieldManager=kleym-operator(&|$)/.test(uri) ? undefined : 'is not under kleym-operator'
}

function namesWhatItJudged({ requestObject }: AuditEvent): string | undefined {
  const { uid, resourceVersion } = judgedVersion(requestObject)
  return uid !== '' && resourceVersion !== ''
    ? undefined
    : 'does not name the UID and resource version that were judged'
}

function cameBackAltered({ resource, verb, status, requestObject, responseObject }: AuditEvent): boolean {
  if (resource !== 'clusterspiffeids' || verb === 'delete' || status >= 300) return false
  return (
    !deepEqual(own(requestObject, 'spec'), own(responseObject, 'spec')) ||
    !deepEqual(dig(requestObject, 'metadata', 'annotations'), dig(responseObject, 'metadata', 'annotations'))
  )
}

/** An output that came back altered goes in whatever version it is, by its UID (docs/contract.md §8). */
function hasPreconditions({ requestObject }: AuditEvent, altered: ReadonlySet<string>): string | undefined {
  if (altered.has(stringAt(requestObject, 'preconditions', 'uid') ?? '')) return undefined
  return holdsBoth(own(requestObject, 'preconditions')) ? undefined : 'lacks a precondition'
}

function holdsBoth(value: unknown): boolean {
  return [stringAt(value, 'uid'), stringAt(value, 'resourceVersion')].every((text) => (text ?? '') !== '')
}

function patchesFinalizersAlone({ requestObject }: AuditEvent): string | undefined {
  return patchesFinalizerAlone(requestObject) ? undefined : 'changes more than the finalizer of kleym'
}
