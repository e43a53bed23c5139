// Which of several objects that ask for the same entry gets it: the oldest, then the one not being deleted, then the
// smaller UID. Source: SCM v0.7.0, pkg/spireentry/reconciler.go, objectCmp (docs/spire-facts.md §3).
import type { ObjectMeta } from '../../model/objects/meta.ts'
import { compareBytes } from '../../base/text/bytes.ts'

/** The facts of an object by which SCM orders objects. Times are milliseconds since 1970. */
export interface Precedence {
  /** `not created`: no API server stores it yet, so it will be the newest; undefined: not known. */
  readonly created: number | 'not created' | undefined
  /** Undefined: it is not being deleted; `NaN`: it is, at a time that is not known. */
  readonly deleted: number | undefined
  readonly uid: string | undefined
}

/** Reads the precedence of an object from its metadata. */
export function precedenceOf(meta: ObjectMeta): Precedence {
  return {
    created: meta.createdAt === undefined ? unwrittenCreation(meta) : timeOf(meta.createdAt),
    deleted: meta.deletedAt === undefined ? undefined : (timeOf(meta.deletedAt) ?? Number.NaN),
    uid: meta.uid,
  }
}

/** Which of two objects SCM prefers; `unknown` where the order depends on a fact that is not known yet. */
export function preferred(left: Precedence, right: Precedence): 'left' | 'right' | 'unknown' {
  if (left.created !== right.created) return olderOf(left.created, right.created)
  if (left.created === undefined || left.created === 'not created') return 'unknown'
  if (left.deleted !== right.deleted) return lessDeletedOf(left.deleted, right.deleted)
  if (left.uid === undefined || right.uid === undefined) return 'unknown'
  const order = compareBytes(left.uid, right.uid)
  return order < 0 ? 'left' : order > 0 ? 'right' : 'unknown'
}

function olderOf(left: Precedence['created'], right: Precedence['created']): 'left' | 'right' | 'unknown' {
  if (left === undefined || right === undefined) return 'unknown'
  if (left === 'not created') return 'right'
  if (right === 'not created') return 'left'
  return left < right ? 'left' : 'right'
}

function lessDeletedOf(left: number | undefined, right: number | undefined): 'left' | 'right' | 'unknown' {
  if (left === undefined) return 'left'
  if (right === undefined) return 'right'
  if (Number.isNaN(left) || Number.isNaN(right)) return 'unknown'
  return left > right ? 'left' : 'right'
}

function unwrittenCreation(meta: ObjectMeta): 'not created' | undefined {
  return meta.uid === undefined ? 'not created' : undefined
}

function timeOf(text: string): number | undefined {
  const time = Date.parse(text)
  return Number.isNaN(time) ? undefined : time
}
