// Pools and objectives that have changed and are not taken in yet. One change may concern every binding of a namespace, so the
// changes of a namespace are taken in together, and after each time it rests for as long as that took: edits that come faster
// coalesce, and no owner of a pool takes more than half of the operator's time. Until then decisions see what was there before,
// as they would through a watch that lags.
import { getOrCreate } from '@kleym/shared/core/base/get-or-create.ts'
import type { ObjectiveGroup, PoolGroup } from '@kleym/shared/core/model/kinds.ts'
import type { Clock } from '@kleym/shared/kube/clock.ts'
import type { FollowedKind } from '@kleym/shared/kube/followed-kind.ts'
import { objectKey, type Cached } from '@kleym/shared/kube/store.ts'
import type { CachedObjective, CachedPool } from '../caches/cached-reference.ts'
import type { Caches } from '../caches/caches.ts'

/** The longest rest, in milliseconds: what takes longer is slow for another reason than its size. */
const REST_MAX_MS = 10_000

/** A kind of pools or objectives as decisions see it. */
export class SeenKind<T extends Cached> {
  readonly cache: FollowedKind<T>
  /** By namespace and key, what was there before the first change that is held; undefined: nothing. */
  readonly #held = new Map<string, Map<string, T | undefined>>()

  constructor(cache: FollowedKind<T>) {
    this.cache = cache
  }

  get(ref: NameInNamespace): T | undefined {
    const key = objectKey(ref)
    const held = this.#held.get(ref.namespace)
    return held?.has(key) === true ? held.get(key) : this.cache.store.get(key)
  }

  /** Whether a change of this name is held. */
  isHeld(ref: NameInNamespace): boolean {
    return this.#held.get(ref.namespace)?.has(objectKey(ref)) === true
  }

  /** A name has changed: decisions go on seeing what was there before its first change. */
  hold(ref: NameInNamespace, before: T | undefined): void {
    const held = getOrCreate(this.#held, ref.namespace, () => new Map<string, T | undefined>())
    const key = objectKey(ref)
    if (!held.has(key)) held.set(key, before)
  }

  /** Decisions see what is there now. The keys that had changed. */
  takeIn(namespace: string): readonly string[] {
    const held = this.#held.get(namespace)
    this.#held.delete(namespace)
    return held === undefined ? [] : [...held.keys()]
  }

  /** Whether any change of a namespace is held. */
  holdsOf(namespace: string): boolean {
    return this.#held.has(namespace)
  }

  /** Decisions see what is there now, everywhere. */
  clear(): void {
    this.#held.clear()
  }
}

interface NameInNamespace {
  readonly namespace: string
  readonly name: string
}

/** Everything that bindings refer to, as decisions see it. */
export interface SeenReferences {
  readonly pools: ReadonlyMap<PoolGroup, SeenKind<CachedPool>>
  readonly objectives: ReadonlyMap<ObjectiveGroup, SeenKind<CachedObjective>>
}

/** What the caches hold, with nothing held back. */
export function seenReferences({ pools, objectives }: Pick<Caches, 'pools' | 'objectives'>): SeenReferences {
  return {
    pools: new Map([...pools].map(([group, cache]) => [group, new SeenKind(cache)])),
    objectives: new Map([...objectives].map(([group, cache]) => [group, new SeenKind(cache)])),
  }
}

/** What a namespace does with its changes: works them in since some time, or rests from that. */
type Phase = { readonly kind: 'working'; readonly sinceMs: number } | { readonly kind: 'resting' }

/** When the changes of each namespace may be taken in. */
export class Rests {
  readonly #clock: Clock
  readonly #onOver: (namespace: string) => void
  readonly #phases = new Map<string, Phase>()

  /** `onOver` hears of the end of each rest. */
  constructor(clock: Clock, onOver: (namespace: string) => void) {
    this.#clock = clock
    this.#onOver = onOver
  }

  /** Whether changes may be taken in now. */
  isOver(namespace: string): boolean {
    return !this.#phases.has(namespace)
  }

  isResting(namespace: string): boolean {
    return this.#phases.get(namespace)?.kind === 'resting'
  }

  /** The changes of a namespace are taken in. */
  began(namespace: string): void {
    this.#phases.set(namespace, { kind: 'working', sinceMs: this.#clock.monotonicMs() })
  }

  /** All of a namespace is worked in: it rests for as long as that took. */
  ended(namespace: string): void {
    const phase = this.#phases.get(namespace)
    if (phase?.kind !== 'working') return
    const tookMs = Math.min(this.#clock.monotonicMs() - phase.sinceMs, REST_MAX_MS)
    this.#phases.set(namespace, { kind: 'resting' })
    this.#clock.after(tookMs, () => {
      this.#phases.delete(namespace)
      this.#onOver(namespace)
    })
  }
}
