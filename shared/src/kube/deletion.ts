// What the answer to a DELETE means. Seen on kube-apiserver 1.36.3 with custom resources: without finalizers the answer
// is a Status of Success that names the object and its UID, and the object is gone; with finalizers it is the object
// itself with deletionTimestamp, deletionGracePeriodSeconds 0 and its finalizers, again on every further DELETE. Kinds
// that the API server compiles in may answer with the deleted object although it is gone (a pod without a node).
import { dig, listAt, stringAt, type JsonRecord } from '../core/base/json.ts'
import type { DeleteOptions, Deletion } from './api.ts'

/** An object lives on while finalizers (a namespace has its own in its spec) or a grace period hold it. */
export function deletionIn(answer: JsonRecord): Deletion {
  const marked = stringAt(answer, 'metadata', 'deletionTimestamp') !== undefined
  return marked && isHeld(answer) ? { state: 'terminating', object: answer } : { state: 'gone' }
}

function isHeld(object: JsonRecord): boolean {
  const grace = dig(object, 'metadata', 'deletionGracePeriodSeconds')
  return (
    listAt(object, 'metadata', 'finalizers').length > 0 ||
    listAt(object, 'spec', 'finalizers').length > 0 ||
    (typeof grace === 'number' && grace > 0)
  )
}

/** The body of a DELETE, with its preconditions. */
export function deleteOptionsOf({ uid, resourceVersion }: DeleteOptions): JsonRecord {
  const preconditions = {
    ...(uid !== undefined && { uid }),
    ...(resourceVersion !== undefined && { resourceVersion }),
  }
  return {
    apiVersion: 'v1',
    kind: 'DeleteOptions',
    ...(Object.keys(preconditions).length > 0 && { preconditions }),
  }
}
