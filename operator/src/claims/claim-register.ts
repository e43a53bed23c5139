// All claims of bindings, outputs and writes in flight, and who has to be decided again when one changes.
import {
  type Claim,
  ClaimIndex,
  relationOf,
  type ClaimGroup,
  claimantsOf,
  groupsNear,
} from '@kleym/shared/core/decide/index.ts'
import { getOrCreate } from '@kleym/shared/core/base/get-or-create.ts'
import type { PoolLabels } from '@kleym/shared/core/model/objects/pool-selector.ts'

export interface ClaimRegisterOptions {
  /** Asks for a binding's key to be reconciled soon. */
  readonly wake: (key: string) => void
  /** Hears of claims in a namespace that have changed: `wakeTouched` is to be called for it. */
  readonly onTouched: (namespace: string) => void
}

/** A place in the index where claims have changed: one of them, and whose they all are; undefined: several owners'. */
interface Touched {
  readonly claim: Claim
  readonly by: string | undefined
}

export class ClaimRegister {
  /** The claims, for decisions. */
  readonly index = new ClaimIndex()
  readonly #options: ClaimRegisterOptions
  /** By namespace and place in the index, a claim there whose peers are to be woken. */
  readonly #touched = new Map<string, Map<string, Touched>>()

  constructor(options: ClaimRegisterOptions) {
    this.#options = options
  }

  /**
   * The claim as it is to be registered: `before` where it says the same, as the index holds objects; else with the very
   * labels of its group in the index, which it would otherwise hold once more.
   */
  shared(claim: Claim, before: Claim | undefined): Claim {
    if (isSameClaim(claim, before)) return before
    const labels = this.index.groupOf(claim)?.labels
    return labels === undefined ? claim : { ...claim, labels }
  }

  /** Replaces claims. Who is to hear of it is noted: `wakeTouched` wakes each once, however many claims changed beside it. */
  replace(before: readonly Claim[], now: readonly Claim[]): void {
    if (before.length === now.length && before.every((claim, at) => claim === now[at])) return
    for (const claim of before) {
      this.touch(claim)
      this.index.remove(claim)
    }
    for (const claim of now) {
      this.index.add(claim)
      this.touch(claim)
    }
  }

  /** Notes that the owners of the claims that meet this one are to be decided again, but for its own. */
  touch(claim: Claim): void {
    const touched = getOrCreate(this.#touched, claim.namespace, () => new Map<string, Touched>())
    const place = this.index.placeOf(claim)
    const before = touched.get(place)
    const isOne = before === undefined || before.by === claim.owner
    touched.set(place, { claim, by: isOne ? claim.owner : undefined })
    this.#options.onTouched(claim.namespace)
  }

  /** Whether anybody is to be woken for claims in a namespace. */
  isTouched(namespace: string): boolean {
    return this.#touched.has(namespace)
  }

  /** Wakes who was noted in a namespace, each once. Yields after each place and each label set that was looked at. */
  *wakeTouched(namespace: string): Generator<undefined, void> {
    const touched = this.#touched.get(namespace) ?? new Map<string, Touched>()
    this.#touched.delete(namespace)
    /** Each label set, and who of it was not woken. */
    const woken = new Map<ClaimGroup, string | undefined>()
    for (const { claim, by } of touched.values()) {
      for (const group of groupsNear(this.index, claim)) {
        const isFirst = !woken.has(group)
        const left = woken.get(group)
        if (isFirst) {
          for (const owner of claimantsOf(group)) if (owner !== by) this.#options.wake(owner)
          woken.set(group, by)
        } else if (left !== undefined && left !== by) {
          if (left !== '') this.#options.wake(left)
          woken.set(group, undefined)
        }
        yield
      }
      yield
    }
  }
}

function isSameClaim(left: Claim, right: Claim | undefined): right is Claim {
  return (
    right !== undefined &&
    left.basis === right.basis &&
    left.owner === right.owner &&
    left.output === right.output &&
    left.namespace === right.namespace &&
    left.serviceAccountName === right.serviceAccountName &&
    left.containerName === right.containerName &&
    left.spiffeId === right.spiffeId &&
    isSameSet(left.labels, right.labels)
  )
}

function isSameSet(left: PoolLabels, right: PoolLabels): boolean {
  return left === right || relationOf(left, right) === 'SamePods'
}
