// An object as it came from a cluster or a file, not validated.
import type { JsonRecord } from '../json.ts'

/** The place in a file where an object stands. */
export interface Origin {
  readonly file: string
  /** The document's number in the file, from 1. */
  readonly document: number
  /** The line on which the document begins, from 1. */
  readonly line: number
}

/** A mapping that should be a Kubernetes object. */
export interface RawObject {
  readonly value: JsonRecord
  /** Where it stands, for an object from a file. */
  readonly origin?: Origin
  /** It is yet to be applied: from a file, and no dump of a live object. */
  readonly isManifest?: true
  /** Of a kind that kleym does not read, and kept because it makes pods. */
  readonly isUnread?: true
  /** It names no namespace, and its kind may be one without: the pods that it makes may be in any. */
  readonly mayBeAnywhere?: true
  /** A policy or a webhook that may mount the Workload API in pods: nothing else of it is kept. */
  readonly mayMountWorkloadApi?: true
}
