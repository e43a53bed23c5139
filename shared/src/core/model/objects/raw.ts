// An object as it came from a cluster or a file, not validated.
import type { JsonRecord } from '../../base/json.ts'
import type { PolicyRule } from './access-rule.ts'
import type { AppliedRecord } from './applied.ts'

/** The place in a file where an object stands. */
export interface Origin {
  readonly file: string
  /** The document's number in the file, from 1. */
  readonly document: number
  /** The line on which the document begins, from 1. */
  readonly line: number
}

/** What a policy or a webhook may do to pods and Namespaces. */
export interface PodChange {
  /** How a person calls it: `ClusterPolicy.kyverno.io add-team`. */
  readonly by: string
  /** Whether it may mount the Workload API. */
  readonly mountsWorkloadApi: boolean
  /** The text of the fields that it sets, if it may set labels or annotations. */
  readonly labelText?: string
  /** The names of containers that it may add. */
  readonly containers?: readonly string[]
  /** The namespaces of the pods that it changes; absent: any. */
  readonly namespaces?: ReadonlySet<string>
  /** What it changes alone, if not both. */
  readonly alone?: 'pods' | 'namespaces'
}

/** An object that another is made of; its kind is qualified. */
export interface MadeBy {
  readonly kind: string
  readonly namespace: string
  readonly name: string
}

/** What is known of an object by others: that a controller will make it, or scales it. */
export interface Made {
  /** The object that it is made of, if it has no name of its own; the kind is qualified. */
  readonly by?: MadeBy
  /** Which of the pods of that object: a role. */
  readonly part?: string
  /** The direct owner of the pods. */
  readonly owner?: { readonly kind: string; readonly name: string | undefined }
  /** Keys of labels that its pods carry with a value that is not known. */
  readonly unknownLabels?: readonly string[]
  /** Keys of labels that its pods may carry. */
  readonly possibleLabels?: readonly string[]
  /** Another object says how many of its pods there are. */
  readonly isScaled?: true
}

/** A mapping that should be a Kubernetes object. */
export interface RawObject {
  readonly value: JsonRecord
  /** Where it stands, for an object from a file. */
  readonly origin?: Origin
  /** It is not applied yet: from a file, and no dump of a live object. */
  readonly isManifest?: true
  /** Of a manifest of a live Namespace: labels and annotations that it does not give, and that the live one may keep. */
  readonly perhapsKept?: ReadonlyMap<string, string>
  /** Of a live object: what applies have recorded in it. */
  readonly applied?: AppliedRecord
  /** Of a kind that kleym does not read, and kept because it makes pods. */
  readonly isUnread?: true
  /** It names no namespace, and its kind may be one without: the pods that it makes may be in any. */
  readonly mayBeAnywhere?: true
  /** What other objects say of it, or that a controller will make it of one. */
  readonly made?: Made
  /** What it may do to pods when they are made: a policy or a webhook; nothing else of it is kept. */
  readonly podChange?: PodChange
  /** The SPIFFE IDs in its strings, where nothing else of it is kept. */
  readonly mentions?: readonly PolicyRule[]
  /** Whom it names, for what is no object: a file of names. */
  readonly names?: readonly PolicyRule[]
}

/** An object that a controller makes; `made` says what its own fields cannot. */
export type MadeObject = Pick<RawObject, 'value' | 'made'>
