// Decides single bindings among all others, and reserves what a decided write will claim (docs/contract.md §6). Nothing here
// waits for anything: a decision and its reservation are one step.
import {
  liveClaims,
  type Claim,
  decide,
  type Decision,
  type Judgement,
  type LiveOutput,
} from '@kleym/shared/core/decide/index.ts'
import { namespaceWritten, type NamespacedName } from '@kleym/shared/core/model/namespaced-name.ts'
import type { ClusterSpiffeId } from '@kleym/shared/core/model/objects/clusterspiffeid.ts'
import type { CachedBinding } from '../caches/cached-binding.ts'
import type { Caches } from '../caches/caches.ts'
import { outputView } from '../caches/output-view.ts'
import type { ClaimRegister } from './claim-register.ts'
import type { Compiler } from './compiler.ts'
import type { Indexes } from './indexes.ts'
import type { MissingRef } from './missing-refs.ts'
import type { OwnedOutput } from './output-index.ts'

export interface LedgerOptions {
  readonly caches: Pick<Caches, 'bindings' | 'outputs'>
  readonly compiler: Compiler
  readonly indexes: Indexes
  readonly register: ClaimRegister
}

/** A decision, and the binding's own outputs that it was made by. */
export type OwnDecision = Decision & { readonly own: readonly LiveOutput[] }

/** What a binding comes to now, or what has to be known first. */
export type Evaluation =
  | ({ readonly kind: 'decided' } & OwnDecision)
  /** A cache is still to be filled, or a peer is about to be decided. */
  | { readonly kind: 'waits' }
  /** The refusal rests on references that a live read must still look for. */
  | ({ readonly kind: 'unverified'; readonly refs: readonly MissingRef[] } & OwnDecision)

/** A write that is decided and not yet seen: what it claims stays claimed until it is released. */
export interface Reservation {
  /** The name of the output that is written. */
  readonly output: string
  /** To be called when the outcome is known and in the cache, or a live read was made after the write was given up. */
  release(): void
}

export class Ledger {
  readonly #options: LedgerOptions

  constructor(options: LedgerOptions) {
    this.#options = options
  }

  /** What the binding of a key comes to, from everything that is known now. `indexes.workIn` comes before it. */
  evaluate(key: string): Evaluation {
    const { caches, compiler, indexes, register } = this.#options
    indexes.finish(namespaceWritten(key))
    const indexed = indexes.bindings.get(key)
    const binding = caches.bindings.store.get(key)
    if (binding === undefined || indexed === undefined || indexed.waits) return { kind: 'waits' }
    if (caches.outputs.syncState.kind === 'waiting') return { kind: 'waits' }
    // Each output is parsed once: the one that holds the name is mostly the binding's own.
    const own = indexes.outputs.of(key, 'ours').map(liveOutput)
    const holderOf = (name: string): LiveOutput | undefined =>
      own.find(({ object }) => object.meta.name === name) ?? liveOutputOf(indexes.holder(name))
    const ofOthers = indexes.outputs.ofOthers(key).map(liveOutput)
    const candidate = { compiled: compiler.compiled(binding), claim: indexed.claim, own, ofOthers }
    const decision = { ...decide(candidate, holderOf, register.index), own }
    if (this.#waitsForPending(decision)) return { kind: 'waits' }
    const refs = indexed.unverified
    // It is there by now, and is about to be taken in.
    if (refs.some((ref) => indexes.isHeld(ref))) return { kind: 'waits' }
    return refs.length === 0 ? { kind: 'decided', ...decision } : { kind: 'unverified', refs, ...decision }
  }

  /** What a binding that is being deleted comes to; no cache but that of bindings decides it. */
  leaving(binding: CachedBinding): Judgement {
    return { state: 'deleting', compiled: this.#options.compiler.compiled(binding) }
  }

  /** The outputs that are a binding's own, terminating ones included. */
  ownOutputs(key: string): readonly OwnedOutput[] {
    this.#options.indexes.finishBinding(key)
    return this.#options.indexes.outputs.of(key, 'ours')
  }

  /** The outputs whose annotation names this key and that belong to no binding there is, as far as the cache knows. */
  orphans(key: string): readonly OwnedOutput[] {
    this.#options.indexes.finishBinding(key)
    return this.#options.indexes.outputs.of(key, 'orphan')
  }

  /** Claims what a write of the binding's output will claim, from now until it is released. */
  reserve(key: string, output: string): Reservation {
    const { indexes } = this.#options
    const declared = indexes.bindings.get(key)?.claim
    const claims: readonly Claim[] =
      declared === undefined ? [] : [{ ...declared, basis: 'reserved', output }]
    return this.#claimed(output, claims)
  }

  /**
   * Claims what an object says that a binding's write has left behind, from now until it is released: without our
   * annotations the cache would take it for a foreign one, which claims nothing.
   */
  reserveAnswer(key: NamespacedName, answer: ClusterSpiffeId): Reservation {
    return this.#claimed(answer.meta.name, liveClaims(answer, key))
  }

  #claimed(output: string, claims: readonly Claim[]): Reservation {
    const { register } = this.#options
    register.replace([], claims)
    let released = false
    return {
      output,
      release: () => {
        if (released) return
        released = true
        register.replace(claims, [])
      },
    }
  }

  /** A peer that will be decided any moment is waited for silently: it is not worth a status. */
  #waitsForPending({ judgement }: Decision): boolean {
    const { bindings } = this.#options.indexes
    return (
      judgement.state === 'waiting' &&
      judgement.peers.some(({ claim }) => bindings.get(claim.owner)?.isPending === true)
    )
  }
}

function liveOutput({ output, ownership }: OwnedOutput): LiveOutput {
  return { object: outputView(output), ownership }
}

function liveOutputOf(found: OwnedOutput | undefined): LiveOutput | undefined {
  return found && liveOutput(found)
}
