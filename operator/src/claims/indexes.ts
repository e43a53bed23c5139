// The bindings, outputs and claims of the whole cluster, indexed, and kept up with the caches (docs/contract.md §6). A change
// is only noted when it comes in, for the namespaces whose decisions it may concern, and worked in before the next decision
// there. Claims meet only within a namespace, so no namespace waits for another's changes, but for its turn.
import {
  type Claim,
  judgeOwnership,
  type OwningBinding,
  claimsOfOutput,
} from '@kleym/shared/core/decide/index.ts'
import type { Lookup } from '@kleym/shared/core/model/objects/lookup.ts'
import { namespacedName } from '@kleym/shared/core/model/namespaced-name.ts'
import type { Clock } from '@kleym/shared/kube/clock.ts'
import { objectKey, type Cached, type StoreChange } from '@kleym/shared/kube/store.ts'
import type { CachedBinding } from '../caches/cached-binding.ts'
import type { CachedOutput } from '../caches/cached-output.ts'
import type { CachedObjective, CachedPool } from '../caches/cached-reference.ts'
import type { Caches } from '../caches/caches.ts'
import { outputView } from '../caches/output-view.ts'
import { hasOurs } from '../caches/kept-finalizers.ts'
import type { KeptMeta } from '../caches/kept-meta.ts'
import { BindingIndex, type IndexedBinding } from './binding-index.ts'
import type { ClaimRegister } from './claim-register.ts'
import type { Installs } from './installs.ts'
import type { Compiler } from './compiler.ts'
import { Rests, type SeenKind, type SeenReferences } from './held-references.ts'
import type { MissingRef } from './missing-refs.ts'
import { OutputIndex, type OwnedOutput } from './output-index.ts'
import { Stale, type StaleThing } from './stale.ts'

export interface IndexesOptions {
  readonly caches: Caches
  readonly seen: SeenReferences
  readonly clock: Clock
  readonly compiler: Compiler
  readonly register: ClaimRegister
  readonly installs: Pick<Installs, 'isOther'>
  /** Asks for a binding's key to be reconciled soon. */
  readonly wake: (key: string) => void
  /** Lets timers and I/O have their turn. */
  readonly pause: () => Promise<unknown>
}

/** How many bindings are compiled, outputs judged, or label sets woken, without letting anything else run. */
export const SLICE = 50
/** How long such a slice goes on at most, but for the one that is at work then, in milliseconds: code that has just started is slow. */
export const SLICE_MS = 10

export class Indexes {
  readonly bindings = new BindingIndex()
  readonly outputs = new OutputIndex()
  readonly #options: IndexesOptions
  readonly #stale = new Stale()
  readonly #rests: Rests
  /** The work in slices that is under way, by namespace. */
  readonly #passes = new Map<string, Promise<void>>()
  /** The namespaces whose claims have changed, and whose bindings are woken for it in slices. No decision waits for that. */
  readonly #wakings = new Set<string>()
  /** The end of the slices that were asked for: each waits for those before it, whatever their namespaces. */
  #lastSlice: Promise<unknown> = Promise.resolve()

  constructor(options: IndexesOptions) {
    this.#options = options
    const { caches, seen, clock } = options
    this.#rests = new Rests(clock, (namespace) => this.#wakeHeld(namespace))
    caches.bindings.store.subscribe((change) => this.#bindingChanged(change))
    caches.bindings.onSyncState(() => this.#markAllOutputsStale())
    caches.outputs.store.subscribe((change) => this.#outputChanged(change))
    caches.outputs.onSyncState(() => this.wakeAll())
    for (const [group, kind] of seen.pools) {
      this.#followRefs('pool', kind, (ref) => ({ kind: 'pool', group, ...ref }))
    }
    for (const [group, kind] of seen.objectives) {
      this.#followRefs('objective', kind, (ref) => ({ kind: 'objective', group, ...ref }))
    }
  }

  /** Works in everything that a decision of a namespace needs, at once where that is little. To be called before each. */
  async workIn(namespace: string): Promise<void> {
    this.#takeIn(namespace)
    while (this.isBehind(namespace)) {
      const running = this.#passes.get(namespace) ?? this.#begin(namespace)
      await running
    }
    this.finish(namespace)
  }

  /** Whether more is to be worked in than is done at once: then `workIn` is needed before a decision. */
  isBehind(namespace: string): boolean {
    return this.#stale.sizeOf(namespace) > SLICE
  }

  /** Works in what has changed since `workIn`, at once, so that a decision sees all of it. */
  finish(namespace: string): void {
    for (let next = this.#stale.take(namespace); next !== undefined; next = this.#stale.take(namespace)) {
      this.#refresh(next)
    }
    if (!this.#passes.has(namespace) && !this.#wakings.has(namespace)) this.#rests.ended(namespace)
  }

  /** Works in what concerns one binding and its outputs alone. */
  finishBinding(key: string): void {
    if (this.#stale.dropBinding(key)) this.#refreshBinding(key)
    for (const name of this.outputs.naming(key)) if (this.#stale.dropOutput(name)) this.#refreshOutput(name)
  }

  /** Claims in a namespace have changed: wakes the bindings whose claims meet them, in slices. */
  wakePeers(namespace: string): void {
    if (this.#wakings.has(namespace)) return
    this.#wakings.add(namespace)
    void this.#wakeTouched(namespace)
  }

  /** Whether work in slices is under way, or bindings are yet to be woken. */
  get isBusy(): boolean {
    return this.#passes.size > 0 || this.#wakings.size > 0
  }

  /** What holds a name, if anything does. */
  holder(name: string): OwnedOutput | undefined {
    if (this.#stale.dropOutput(name)) this.#refreshOutput(name)
    const judged = this.outputs.get(name)
    if (judged !== undefined) return judged
    // Most ClusterSPIFFEIDs of others are never asked for.
    const output = this.#options.caches.outputs.store.get(name)
    return output && this.#judge(output, undefined)
  }

  /** Whether a change of a reference is yet to be taken in. */
  isHeld(ref: MissingRef): boolean {
    return this.#seenKind(ref)?.isHeld(ref) === true
  }

  #begin(namespace: string): Promise<void> {
    const pass = this.#pass(namespace).finally(() => {
      this.#passes.delete(namespace)
    })
    this.#passes.set(namespace, pass)
    return pass
  }

  /** What comes in meanwhile is worked in too: changes of references, which concern many, are held. */
  async #pass(namespace: string): Promise<void> {
    await this.#nextSlice()
    const spend = this.#inSlices()
    for (let next = this.#stale.take(namespace); next !== undefined; next = this.#stale.take(namespace)) {
      this.#refresh(next)
      await spend()
    }
  }

  /** A pass changes the claims of many beside each other: each of their peers is woken once, after it. */
  async #wakeTouched(namespace: string): Promise<void> {
    const { register } = this.#options
    while (register.isTouched(namespace)) {
      await this.#nextSlice()
      await this.#passes.get(namespace)
      const spend = this.#inSlices()
      for (const _ of register.wakeTouched(namespace)) await spend()
      if (!this.#passes.has(namespace)) this.#rests.ended(namespace)
    }
    this.#wakings.delete(namespace)
  }

  /** A slice begins now. To be awaited after each step of the work: resolves at once within a slice. */
  #inSlices(): () => Promise<unknown> {
    const { clock } = this.#options
    let left = SLICE
    let until = clock.monotonicMs() + SLICE_MS
    return async () => {
      left -= 1
      if (left > 0 && clock.monotonicMs() < until) return
      await this.#nextSlice()
      left = SLICE
      until = clock.monotonicMs() + SLICE_MS
    }
  }

  /** Resolves after timers and I/O had their turn, and the slices that were asked for before: one runs in each turn. */
  #nextSlice(): Promise<unknown> {
    this.#lastSlice = this.#lastSlice.then(this.#options.pause)
    return this.#lastSlice
  }

  #refresh({ kind, key }: StaleThing): void {
    if (kind === 'binding') this.#refreshBinding(key)
    else this.#refreshOutput(key)
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
    this.#stale.addBinding(key)
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
    // A replica that stands by works nothing in: of what has come and gone nothing was made, and nothing is kept.
    if (change.kind === 'removed' && this.bindings.get(key) === undefined) this.#stale.dropBinding(key)
    else this.#stale.addBinding(key)
    this.#options.wake(key)
  }

  /**
   * A status decides whose an output is where the output's name does not, and whether a refusal is verified; nothing else.
   * It wakes no binding, so the peers of what such an output claims must hear of it now.
   */
  #statusChanged(key: string): void {
    const indexed = this.bindings.get(key)
    // It is yet to be compiled, and its outputs are judged with that: a replica that stands by does neither.
    if (indexed === undefined) return
    for (const name of this.outputs.naming(key)) {
      if (name === indexed.renderedName) continue
      this.#stale.dropOutput(name)
      this.#refreshOutput(name)
    }
    if (indexed.unverified.length > 0) this.#stale.addBinding(key)
  }

  #outputChanged(change: StoreChange<CachedOutput>): void {
    const { wake } = this.#options
    const before = change.kind === 'added' ? undefined : change.before
    const now = change.kind === 'removed' ? undefined : change.now
    const latest = change.kind === 'removed' ? change.before : change.now
    const { name } = latest.meta
    this.outputs.renamed(name, before?.bindingKey, now?.bindingKey)
    const isJudged = this.outputs.get(name) !== undefined
    if (!isJudged && before?.isWhole === true) this.#stale.forgetOutput(name, before.namespaces)
    this.#markOutput(name, isJudged ? [before, now] : [now])
    // A person may remove the annotation, or make it name another binding: both are concerned.
    for (const key of new Set([before?.bindingKey, now?.bindingKey])) if (key !== undefined) wake(key)
    const renderer = this.bindings.rendering(name)
    if (renderer !== undefined) wake(renderer)
    // It names no binding and may claim all the same: its peers must hear of it now, as no decision may follow.
    else if (latest.isWhole && latest.bindingKey === undefined) {
      this.#stale.dropOutput(name)
      this.#refreshOutput(name)
    }
  }

  /** An output is to be judged before the decisions that it may concern. One of others that claims nothing concerns none. */
  #markOutput(name: string, versions: readonly (CachedOutput | undefined)[]): void {
    const named = versions.flatMap((version) => (version?.isWhole === true ? version.namespaces : []))
    const claimed = this.outputs.get(name)?.claims.map(({ namespace }) => namespace) ?? []
    this.#stale.addOutput(name, new Set([...named, ...claimed]))
  }

  /** Pools and objectives wake exactly the bindings that name them, when they are taken in. */
  #followRefs<T extends Cached & { readonly meta: KeptMeta }>(
    kind: MissingRef['kind'],
    seen: SeenKind<T>,
    refOf: (ref: { readonly namespace: string; readonly name: string }) => MissingRef,
  ): void {
    const { cache } = seen
    cache.store.subscribe((change) => {
      const { meta } = change.kind === 'removed' ? change.before : change.now
      this.#options.compiler.confirmPresent(refOf({ namespace: meta.namespace, name: meta.name }))
      if (change.kind === 'updated' && !mayChangeDecision(change.before.meta, change.now.meta)) return
      // Bindings that are yet to be compiled see it as it is by then.
      const [first] = this.bindings.naming(kind, objectKey(meta))
      if (first === undefined) return
      seen.hold(meta, change.kind === 'added' ? undefined : change.before)
      if (!this.#rests.isResting(meta.namespace)) this.#wakeHeld(meta.namespace)
    })
    cache.onSyncState(() => {
      seen.clear()
      for (const refKey of this.bindings.refKeys(kind)) this.#recompile(this.bindings.naming(kind, refKey))
    })
  }

  /** Takes in what has changed of a namespace's references, unless the last changes are still worked in, or it rests from that. */
  #takeIn(namespace: string): void {
    if (!this.#rests.isOver(namespace)) return
    let isAny = false
    for (const [kind, seen] of this.#seenKinds()) {
      for (const refKey of seen.takeIn(namespace)) {
        isAny = true
        this.#recompile(this.bindings.naming(kind, refKey))
      }
    }
    if (isAny) this.#rests.began(namespace)
  }

  /**
   * Wakes a key of the namespace that is no binding's: with its turn, what is held is taken in. The key of a binding waits for
   * its worker, and the API server may take half a minute for a write.
   */
  #wakeHeld(namespace: string): void {
    const isAny = [...this.#seenKinds()].some(([, seen]) => seen.holdsOf(namespace))
    if (isAny) this.#options.wake(namespacedName(namespace, ''))
  }

  *#seenKinds(): Generator<[MissingRef['kind'], SeenKind<CachedPool> | SeenKind<CachedObjective>]> {
    const { pools, objectives } = this.#options.seen
    for (const seen of pools.values()) yield ['pool', seen]
    for (const seen of objectives.values()) yield ['objective', seen]
  }

  #seenKind(ref: MissingRef): SeenKind<CachedPool> | SeenKind<CachedObjective> | undefined {
    const { pools, objectives } = this.#options.seen
    return ref.kind === 'pool' ? pools.get(ref.group) : objectives.get(ref.group)
  }

  #recompile(keys: Iterable<string>): void {
    for (const key of keys) {
      this.#stale.addBinding(key)
      this.#options.wake(key)
    }
  }

  #markAllOutputsStale(): void {
    for (const output of this.#options.caches.outputs.store.values()) {
      if (output.isWhole) this.#markOutput(output.meta.name, [output])
    }
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
      for (const claim of claimsOf(now)) register.touch(claim)
    }
    for (const name of this.outputs.naming(key)) this.#markOutput(name, [caches.outputs.store.get(name)])
  }

  #withSharedClaim(now: IndexedBinding, before: IndexedBinding | undefined): IndexedBinding {
    if (now.claim === undefined) return now
    return { ...now, claim: this.#options.register.shared(now.claim, before?.claim) }
  }

  #refreshOutput(name: string): void {
    const { caches, register } = this.#options
    const before = this.outputs.get(name)
    const output = caches.outputs.store.get(name)
    // What it is depends on what the binding renders that it names, which may be of a namespace with much to work in.
    const key = output?.bindingKey
    if (key !== undefined && this.#stale.dropBinding(key)) {
      this.#refreshBinding(key)
      this.#stale.dropOutput(name)
    }
    const now = output && this.#judge(output, before)
    this.outputs.set(name, now)
    register.replace(before?.claims ?? [], now?.claims ?? [])
  }

  #judge(output: CachedOutput, before: OwnedOutput | undefined): OwnedOutput {
    const object = outputView(output)
    const ownership = judgeOwnership(object, {
      binding: (key) => this.#bindingLookup(key),
      isOtherInstall: (install) => this.#options.installs.isOther(install),
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
