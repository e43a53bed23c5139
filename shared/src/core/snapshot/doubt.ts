// What a document that could not be read may hold: objects of one kind, and no further than the namespace and the name that
// it shows. A kind that an API server did not list is a gap of the whole kind instead (`Snapshot.gaps`).
import type { UnknownReason } from '../model/unknown-reason.ts'

/** One or more objects that may be there, or may be other than they were read. */
export interface Doubt {
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

/** Doubts by the kind that they are about. */
export type Doubts = ReadonlyMap<string, readonly Doubt[]>

/** No doubts. */
export const NO_DOUBTS: Doubts = new Map()

/** The doubts of each kind, in their order. */
export function doubtsByKind(doubts: Iterable<Doubt>): Doubts {
  return Map.groupBy(doubts, ({ kind }) => kind)
}

/** What a question asks for of a kind; what it leaves out is any. */
export interface DoubtQuestion {
  readonly namespace?: string | undefined
  readonly name?: string | undefined
}

/** The first doubt about these kinds that reaches what is asked for. */
export function doubtAt(
  doubts: Doubts,
  kinds: readonly string[],
  { namespace, name }: DoubtQuestion = {},
): Doubt | undefined {
  if (doubts.size === 0) return undefined
  for (const kind of kinds)
    for (const doubt of doubts.get(kind) ?? [])
      if (mayEqual(doubt.namespace, namespace) && mayEqual(doubt.name, name)) return doubt
  return undefined
}

function mayEqual(left: string | undefined, right: string | undefined): boolean {
  return left === undefined || right === undefined || left === right
}
