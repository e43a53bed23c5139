// How much a watch keeps of a cluster, which may be hostile and may grow for as long as the watch lasts: the same as any other answer
// keeps, and then it ends with a line that says so (docs/reliability.md, "What the plugin takes in").
import { dig, isRecord, type JsonRecord } from '@kleym/shared/core/base/json.ts'
import { BINDINGS } from '@kleym/shared/kube/resources.ts'
import type { Resource } from '@kleym/shared/kube/api.ts'
import type { Cached, StoreChange } from '@kleym/shared/kube/store.ts'
import { sizeOf } from '@kleym/shared/core/base/value-size.ts'
import { KEPT_MAX, overLimit } from '../../../cluster/kept-size.ts'
import { KleymError } from '../../../io/errors.ts'

/** What one feed keeps. */
interface Kept {
  objects: number
  /** In its store, as `sizeOf` counts. */
  stored: number
  /** Of a list that is not in the store yet. */
  listed: number
  readonly isBindings: boolean
}

/** Counts for one feed. */
export interface FeedIntake {
  /** A list begins, or begins anew: nothing of the one before is on its way to the store any more. */
  readonly listBegins: () => void
  /** An object was read from `raw`, on its way to the store. */
  readonly read: (object: Cached, raw: JsonRecord) => void
  /** The store has changed. */
  readonly changed: (change: StoreChange<Cached>) => void
  /** The feed has stopped for good, and what it kept is given up. */
  readonly end: () => void
}

/** Counts what all feeds of a watch keep together. */
export class Intake {
  readonly #onFull: (error: KleymError) => void
  readonly #feeds = new Set<Kept>()
  readonly #sizes = new WeakMap<Cached, number>()

  /** `onFull` hears of it each time that more is kept than may be. */
  constructor(onFull: (error: KleymError) => void) {
    this.#onFull = onFull
  }

  /** Begins to count for a feed. */
  of({ kind }: Resource): FeedIntake {
    const kept: Kept = { objects: 0, stored: 0, listed: 0, isBindings: kind === BINDINGS.kind }
    this.#feeds.add(kept)
    const count = (object: Cached, sign: 1 | -1): void => {
      kept.objects += sign
      kept.stored += sign * (this.#sizes.get(object) ?? 0)
    }
    return {
      listBegins: () => {
        kept.listed = 0
      },
      read: (object, raw) => {
        const size = sizeOf(withoutManagedFields(raw))
        this.#sizes.set(object, size)
        kept.listed += size
        this.#check()
      },
      changed: (change) => {
        kept.listed = 0
        if (change.kind !== 'added') count(change.before, -1)
        if (change.kind !== 'removed') count(change.now, 1)
        this.#check()
      },
      end: () => void this.#feeds.delete(kept),
    }
  }

  #check(): void {
    const feeds = [...this.#feeds]
    const sum = (of: (kept: Kept) => number): number => feeds.reduce((total, kept) => total + of(kept), 0)
    const why =
      overLimit(
        'objects',
        sum(({ objects }) => objects),
      ) ??
      overLimit(
        'bindings',
        sum(({ objects, isBindings }) => (isBindings ? objects : 0)),
      ) ??
      (sum(({ stored, listed }) => stored + listed) > KEPT_MAX
        ? `what a watch keeps of it is more than ${KEPT_MAX / 1024 / 1024} MiB`
        : undefined)
    if (why === undefined) return
    this.#onFull(
      new KleymError('input', {
        what: 'cannot watch so much of the cluster',
        why,
        fix: 'watch one namespace with -n',
      }),
    )
  }
}

/** No reader keeps them. */
function withoutManagedFields(raw: JsonRecord): JsonRecord {
  const metadata = dig(raw, 'metadata')
  return isRecord(metadata) ? { ...raw, metadata: { ...metadata, managedFields: undefined } } : raw
}
