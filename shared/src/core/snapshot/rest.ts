// The rest of what was read: which objects may be there beside those of a snapshot, or may be other than they were read. A question
// about kinds is answered with the reason, or with nothing if all of them are known (docs/assumptions.md).
import {
  BINDING,
  CLUSTER_SPIFFE_ID,
  REGISTRATIONS,
  FEDERATED_TRUST_DOMAIN,
  POOL_IMPORT,
  OBJECTIVE_KINDS,
  POOL_KINDS,
  qualifiedKind,
} from '../model/kinds.ts'
import { KINDS_WITH_PODS } from '../model/objects/workload.ts'
import type { UnknownReason } from '../model/unknown-reason.ts'

/** What a document that could not be read may hold: objects of one kind, no further than the namespace and the name that it shows. */
export interface UnreadObjects {
  /** Qualified. */
  readonly kind: string
  /** Undefined: any, or none because the kind is cluster-scoped. */
  readonly namespace: string | undefined
  /** Undefined: any. */
  readonly name: string | undefined
  /** Only for ClusterSPIFFEIDs: whether it may be an output of kleym, rather than a foreign registration. */
  readonly mayBeOutput?: boolean
  readonly why: UnknownReason
}

/** What a question asks for of a kind; what it leaves out is any. */
export interface PlaceAsked {
  readonly namespace?: string | undefined
  readonly name?: string | undefined
}

/** Kinds that are not known whole, each with the reason; `*` is every kind. */
export type Gaps = ReadonlyMap<string, UnknownReason>

const CLUSTER_SPIFFE_IDS = qualifiedKind(CLUSTER_SPIFFE_ID)
const REGISTRATION_KINDS: readonly string[] = REGISTRATIONS.map(qualifiedKind)
/** A binding, and what it is resolved with. */
const BINDING_KINDS: readonly string[] = [BINDING, ...POOL_KINDS, ...OBJECTIVE_KINDS].map(qualifiedKind)

/**
 * The kinds that files leave out, as a rule: without a Namespace its labels are open, without a Node the UID and the labels of the node,
 * without a FederatedTrustDomain what SCM federates with, without an InferencePoolImport whose pools a cluster routes to. Whatever rests
 * on them says so itself, so that they leave nothing else open.
 */
const DETAILS: ReadonlySet<string> = new Set([
  'Namespace',
  'Node',
  qualifiedKind(FEDERATED_TRUST_DOMAIN),
  qualifiedKind(POOL_IMPORT),
])

/** What may be there beside what was read. */
export class Rest {
  readonly #gaps: Gaps
  readonly #parts: ReadonlyMap<string, readonly UnreadObjects[]>
  readonly isEmpty: boolean

  constructor(gaps: Gaps = new Map(), parts: Iterable<UnreadObjects> = []) {
    this.#gaps = gaps
    this.#parts = Map.groupBy(parts, ({ kind }) => kind)
    this.isEmpty = gaps.size === 0 && this.#parts.size === 0
  }

  /** The rest of several sources. */
  static of(all: readonly Rest[]): Rest {
    return new Rest(
      new Map(all.flatMap((one) => [...one.#gaps])),
      all.flatMap((one) => one.parts),
    )
  }

  /** What may stand in documents, in the order of their kinds. */
  get parts(): readonly UnreadObjects[] {
    return [...this.#parts.values()].flat()
  }

  /** Why kinds are not known whole; `*` is every kind. */
  get gaps(): Gaps {
    return this.#gaps
  }

  /** The gaps that may hide anything, in the order of their kinds. */
  get missing(): Gaps {
    return new Map([...this.#gaps].filter(([kind]) => !DETAILS.has(kind)))
  }

  /** What is unread here and not in another reading of the same sources. */
  beyond(other: Rest): Rest {
    if (this === other) return NOTHING
    const known = new Set(other.parts.map(partKey))
    return new Rest(
      new Map([...this.#gaps].filter(([kind]) => !other.#gaps.has(kind))),
      this.parts.filter((part) => !known.has(partKey(part))),
    )
  }

  /** Why there may be more objects of some kinds than were read, or other ones; anywhere, or at one place. */
  of(kinds: string | readonly string[], at?: PlaceAsked): UnknownReason | undefined {
    if (this.isEmpty) return undefined
    return this.ofKinds(typeof kinds === 'string' ? [kinds] : kinds, at) ?? this.#gaps.get('*')
  }

  /** The same, without what may hold objects of any kind. */
  ofKinds(kinds: readonly string[], at?: PlaceAsked): UnknownReason | undefined {
    const gap = kinds.map((kind) => this.#gaps.get(kind)).find((why) => why !== undefined)
    return gap ?? this.part(kinds, at)?.why
  }

  /** What a document may hold of some kinds; the first that reaches the place, and that `counts`. */
  part(
    kinds: Iterable<string>,
    { namespace, name }: PlaceAsked = {},
    counts: (part: UnreadObjects) => boolean = () => true,
  ): UnreadObjects | undefined {
    if (this.#parts.size === 0) return undefined
    for (const kind of kinds)
      for (const part of this.#parts.get(kind) ?? [])
        if (mayEqual(part.namespace, namespace) && mayEqual(part.name, name) && counts(part)) return part
    return undefined
  }

  /** Why there may be a registration that was not read; it may be for any pod. */
  registrations(): UnknownReason | undefined {
    return this.of(REGISTRATION_KINDS)
  }

  /** Why there may be a binding that was not read, or that cannot be resolved because of what was not; anywhere, or in a namespace. */
  bindings(namespace?: string): UnknownReason | undefined {
    return this.of(BINDING_KINDS, { namespace })
  }

  /** Why a pod of a namespace may get an identity from something that was not read. */
  identities(namespace: string): UnknownReason | undefined {
    return this.registrations() ?? this.bindings(namespace)
  }

  /**
   * Why files that could not be read may hold a ClusterSPIFFEID for the pods of a namespace: one in the file, or the output of
   * a binding of the namespace.
   */
  displacing(namespace: string): UnknownReason | undefined {
    const part = this.part([CLUSTER_SPIFFE_IDS]) ?? this.part(BINDING_KINDS, { namespace })
    return part?.why ?? this.#gaps.get('*')
  }

  /** Why there may be more pods than were read, or other ones; anywhere, or in a namespace. */
  pods(namespace?: string): UnknownReason | undefined {
    return this.#gaps.get('Pod') ?? this.part(KINDS_WITH_PODS, { namespace })?.why ?? this.#gaps.get('*')
  }
}

const NOTHING = new Rest()

function partKey({ kind, namespace, name }: UnreadObjects): string {
  return JSON.stringify([kind, namespace, name])
}

function mayEqual(left: string | undefined, right: string | undefined): boolean {
  return left === undefined || right === undefined || left === right
}
