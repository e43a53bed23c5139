// All claims of bindings, outputs and writes in flight, and who has to be decided again when one changes.
import type { Claim } from '@kleym/shared/core/collide/claim.ts'
import { ClaimIndex } from '@kleym/shared/core/collide/claim-index.ts'
import { claimantsNear } from '@kleym/shared/core/collide/conflict.ts'

export interface ClaimRegisterOptions {
  /** Asks for a binding's key to be reconciled soon. */
  readonly wake: (key: string) => void
}

export class ClaimRegister {
  /** The claims, for decisions. */
  readonly index = new ClaimIndex()
  readonly #options: ClaimRegisterOptions

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

  /** Replaces claims, and wakes the direct peers under the old and the new ones; none where nothing has changed. */
  replace(before: readonly Claim[], now: readonly Claim[]): void {
    if (before.length === now.length && before.every((claim, at) => claim === now[at])) return
    for (const claim of before) {
      this.wakePeers(claim)
      this.index.remove(claim)
    }
    for (const claim of now) this.index.add(claim)
    for (const claim of now) this.wakePeers(claim)
  }

  /** Wakes the owners of the claims that meet this one. */
  wakePeers(claim: Claim): void {
    for (const owner of claimantsNear(this.index, claim)) {
      if (owner !== claim.owner) this.#options.wake(owner)
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
    left.labels.size === right.labels.size &&
    [...left.labels].every(([key, value]) => right.labels.get(key) === value)
  )
}
