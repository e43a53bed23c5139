// The bindings, outputs and claims of the whole cluster, indexed, and kept up with the caches (docs/contract.md §6). A change
// is only noted when it comes in; all of them are worked in at once before the next decision, which so sees the caches as
// they are, without waiting for anything.
import type { Claim } from '@kleym/shared/core/collide/claim.ts'
import type { Lookup } from '@kleym/shared/core/compile/references.ts'
import { judgeOwnership, type OwningBinding } from '@kleym/shared/core/plan/ownership.ts'
import { claimsOfOutput } from '@kleym/shared/core/plan/plan.ts'
import type { FollowedKind } from '@kleym/shared/kube/followed-kind.ts'
import { objectKey, type Cached, type StoreChange } from '@kleym/shared/kube/store.ts'
import type { CachedBinding } from '../caches/cached-binding.ts'
import type { CachedOutput } from '../caches/cached-output.ts'
import type { Caches } from '../caches/caches.ts'
import { outputView } from '../caches/output-view.ts'
import { hasOurs } from '../caches/kept-finalizers.ts'
import type { KeptMeta } from '../caches/kept-meta.ts'
import { BindingIndex, type IndexedBinding } from './binding-index.ts'
import type { ClaimRegister } from './claim-register.ts'
import type { Compiler } from './compiler.ts'
import type { MissingRef } from './missing-refs.ts'
import { OutputIndex, type OwnedOutput } from './output-index.ts'

export interface IndexesOptions {
  readonly caches: Caches
  readonly compiler: Compiler
  readonly register: ClaimRegister
  /** Asks for a binding's key to be reconciled soon. */
  readonly wake: (key: string) => void
}

/**
 * How many bindings are compiled, or outputs judged, without letting anything else run. Each may wake thousands of peers,
 * so that even one takes up to a millisecond.
 */
const SLICE = 50

export class Indexes {
  readonly bindings = new BindingIndex()
  readonly outputs = new OutputIndex()
  readonly #options: IndexesOptions
  /** What has changed since the last decision. */
  readonly #staleBindings = new Set<string>()
  readonly #staleOutputs = new Set<string>()

  constructor(options: IndexesOptions) {
    this.#options = options
    const { caches } = options
    caches.bindings.store.subscribe((change) => this.#bindingChanged(change))
    caches.bindings.onSyncState(() => this.#markAllOutputsStale())
    caches.outputs.store.subscribe((change) => this.#outputChanged(change))
    caches.outputs.onSyncState(() => this.wakeAll())
    for (const [group, cache] of caches.pools) {
      this.#followRefs('pool', cache, (ref) => ({ kind: 'pool', group, ...ref }))
    }
    for (const [group, cache] of caches.objectives) {
      this.#followRefs('objective', cache, (ref) => ({ kind: 'objective', group, ...ref }))
    }
  }

  /**
   * Does in slices what `bringUpToDate` would do in one go. After a start all bindings are new, and one change of a pool
   * concerns every binding that names it: compiling thousands at once would keep the Lease from being renewed.
   */
  async workInSlices(pause: () => Promise<unknown>): Promise<void> {
    // Bindings first, for the same reason as below.
    await this.#inSlices(this.#staleBindings, (key) => this.#refreshBinding(key), pause)
    await this.#inSlices(this.#staleOutputs, (name) => this.#refreshOutput(name), pause)
  }

  /** What comes in meanwhile is for the next decision: there need be no end of it. */
  async #inSlices(
    stale: Set<string>,
    refresh: (key: string) => void,
    pause: () => Promise<unknown>,
  ): Promise<void> {
    let left = stale.size
    for (const key of stale) {
      if (left === 0) return
      left -= 1
      stale.delete(key)
      refresh(key)
      if (left % SLICE === 0 && left > 0) await pause()
    }
  }

  /** Works in what has changed. To be called before anything is read for a decision. */
  bringUpToDate(): void {
    // Compiling can make outputs stale, by a new rendered name; judging outputs makes nothing else stale.
    for (const key of this.#staleBindings) this.#refreshBinding(key)
    this.#staleBindings.clear()
    for (const name of this.#staleOutputs) this.#refreshOutput(name)
    this.#staleOutputs.clear()
  }

  /**
   * Wakes every binding, and every key that an output names: it may be an orphan. Nothing is compiled or judged for it, so
   * that this takes a microsecond for each.
   */
  wakeAll(): void {
    const { caches, wake } = this.#options
    for (const binding of caches.bindings.store.values()) wake(binding.key)
    for (const { bindingKey } of caches.outputs.store.values()) if (bindingKey !== undefined) wake(bindingKey)
  }

  /** The live reads of a binding's missing references have failed: bindings that wait for it may say so. */
  markUnverifiable(key: string): void {
    this.#options.compiler.markUnverifiable(key)
    this.#staleBindings.add(key)
  }

  /** A live read has said that the object is not there. */
  confirmAbsent(ref: MissingRef): void {
    this.#options.compiler.confirmAbsent(ref)
    this.#recompile(this.bindings.naming(ref.kind, objectKey(ref)))
  }

  #bindingChanged(change: StoreChange<CachedBinding>): void {
    const { key } = change.kind === 'removed' ? change.before : change.now
    if (change.kind === 'updated' && !mayChangeBindingDecision(change.before, change.now)) {
      this.#statusChanged(key)
      return
    }
    this.#staleBindings.add(key)
    this.#options.wake(key)
  }

  /**
   * A status decides whose an output is where the output's name does not, and whether a refusal is verified; nothing else.
   * It wakes no binding, so the peers of what such an output claims must hear of it now.
   */
  #statusChanged(key: string): void {
    const indexed = this.bindings.get(key)
    for (const name of this.outputs.naming(key)) {
      if (name !== indexed?.renderedName) this.#refreshOutput(name)
    }
    if (indexed?.unverified.length !== 0) this.#staleBindings.add(key)
  }

  #outputChanged(change: StoreChange<CachedOutput>): void {
    const { wake } = this.#options
    const object = change.kind === 'removed' ? change.before : change.now
    this.#staleOutputs.add(object.meta.name)
    // A person may remove the annotation, or make it name another binding: both are concerned.
    for (const { bindingKey } of change.kind === 'updated' ? [change.before, change.now] : [object]) {
      if (bindingKey !== undefined) wake(bindingKey)
    }
    const renderer = this.bindings.rendering(object.meta.name)
    if (renderer !== undefined) wake(renderer)
    // It names no binding and may claim all the same: its peers must hear of it now, as no decision may follow.
    else if (object.isWhole && object.bindingKey === undefined) this.#refreshOutput(object.meta.name)
  }

  /** Pools and objectives wake exactly the bindings that name them. */
  #followRefs<T extends Cached & { readonly meta: KeptMeta }>(
    kind: MissingRef['kind'],
    cache: FollowedKind<T>,
    refOf: (ref: { readonly namespace: string; readonly name: string }) => MissingRef,
  ): void {
    cache.store.subscribe((change) => {
      const { meta } = change.kind === 'removed' ? change.before : change.now
      this.#options.compiler.confirmPresent(refOf({ namespace: meta.namespace, name: meta.name }))
      if (change.kind === 'updated' && !mayChangeDecision(change.before.meta, change.now.meta)) return
      this.#recompile(this.bindings.naming(kind, objectKey(meta)))
    })
    cache.onSyncState(() => {
      for (const refKey of this.bindings.refKeys(kind)) this.#recompile(this.bindings.naming(kind, refKey))
    })
  }

  #recompile(keys: Iterable<string>): void {
    for (const key of keys) {
      this.#staleBindings.add(key)
      this.#options.wake(key)
    }
  }

  #markAllOutputsStale(): void {
    for (const name of this.outputs.names()) this.#staleOutputs.add(name)
    this.wakeAll()
  }

  #refreshBinding(key: string): void {
    const { caches, compiler, register } = this.#options
    const before = this.bindings.get(key)
    const binding = caches.bindings.store.get(key)
    const now = binding && this.#withSharedClaim(compiler.recompile(binding), before)
    if (now === undefined) compiler.forget(key)
    this.bindings.set(key, now)
    register.replace(claimsOf(before), claimsOf(now))
    // The same claim, but peers no longer wait for it silently.
    if (before?.isPending === true && now?.isPending === false) {
      for (const claim of claimsOf(now)) register.wakePeers(claim)
    }
    for (const name of this.outputs.naming(key)) this.#staleOutputs.add(name)
  }

  #withSharedClaim(now: IndexedBinding, before: IndexedBinding | undefined): IndexedBinding {
    if (now.claim === undefined) return now
    return { ...now, claim: this.#options.register.shared(now.claim, before?.claim) }
  }

  #refreshOutput(name: string): void {
    const { caches, register } = this.#options
    const before = this.outputs.get(name)
    const output = caches.outputs.store.get(name)
    const now = output && this.#judge(output, before)
    this.outputs.set(name, now)
    register.replace(before?.claims ?? [], now?.claims ?? [])
  }

  #judge(output: CachedOutput, before: OwnedOutput | undefined): OwnedOutput {
    const object = outputView(output)
    const ownership = judgeOwnership(object, {
      binding: (key) => this.#bindingLookup(key),
      renderedName: (key) => this.bindings.get(key)?.renderedName,
      recordedOutput: (key) => this.#options.caches.bindings.store.get(key)?.readStatus()?.clusterSPIFFEID,
    })
    const claims = claimsOfOutput({ object, ownership }).map((claim, at) =>
      this.#options.register.shared(claim, before?.claims[at]),
    )
    return { output, ownership, claims }
  }

  /** A binding that the cache does not hold counts as gone here: nothing is deleted for it without a live read. */
  #bindingLookup(key: string): Lookup<OwningBinding> {
    const { syncState, store, resource } = this.#options.caches.bindings
    const binding = store.get(key)
    if (binding !== undefined) return { state: 'found', object: binding }
    switch (syncState.kind) {
      case 'synced':
        return { state: 'absent' }
      case 'absent':
        return { state: 'kind absent' }
      case 'unknown':
        return { state: 'unknown', why: syncState.why }
      case 'waiting':
        return { state: 'unknown', why: { verb: 'list', what: resource.kind, cause: 'not given' } }
    }
  }
}

/** Whether a change of a binding may change a decision: that others put on or take off finalizers of theirs does not. */
function mayChangeBindingDecision(before: CachedBinding, now: CachedBinding): boolean {
  return mayChangeDecision(before.meta, now.meta) || hasOurs(before.finalizers) !== hasOurs(now.finalizers)
}

/** Whether a change of an object's metadata may change a decision: any other one wakes no binding. */
function mayChangeDecision(before: KeptMeta, now: KeptMeta): boolean {
  return (
    before.uid !== now.uid ||
    before.generation !== now.generation ||
    now.generation === undefined ||
    before.deletedAt !== now.deletedAt
  )
}

function claimsOf(binding: IndexedBinding | undefined): readonly Claim[] {
  return binding?.claim === undefined ? [] : [binding.claim]
}
