// What every binding and every output claims, kept up with the caches and with our own writes in flight (contract §6). It
// is brought up to date in one go before each decision, so that a decision and its reservation are one step: nothing here
// waits for anything.
import { compile, type Compiled } from '@kleym/shared/core/compile/compile.ts'
import type { Config } from '@kleym/shared/core/compile/config.ts'
import { declaredClaim, type Claim } from '@kleym/shared/core/collide/claim.ts'
import { ClaimIndex } from '@kleym/shared/core/collide/claim-index.ts'
import { claimantsNear } from '@kleym/shared/core/collide/conflict.ts'
import { ANNOTATION_BINDING } from '@kleym/shared/core/names.ts'
import { readyOf } from '@kleym/shared/core/install/conditions.ts'
import type { Binding } from '@kleym/shared/core/objects/binding.ts'
import type { ClusterSpiffeId } from '@kleym/shared/core/objects/clusterspiffeid.ts'
import type { ObjectMeta } from '@kleym/shared/core/objects/meta.ts'
import { judgeOwnership } from '@kleym/shared/core/plan/ownership.ts'
import { claimsOfOutput, decide, type Decision, type LiveOutput } from '@kleym/shared/core/plan/plan.ts'
import type { Lookup } from '@kleym/shared/core/compile/references.ts'
import { objectKey, type Cached, type Change } from '@kleym/shared/kube/store.ts'
import { Compilations } from './compilations.ts'
import { Members } from './members.ts'
import { Absences, CacheReferences, type Missing } from './references.ts'
import type { KindCache, World } from './world.ts'

export interface LedgerOptions {
  readonly world: World
  readonly config: Config
  /** Asks for a binding's key to be reconciled soon. */
  readonly wake: (key: string) => void
}

/**
 * What is kept of a binding as it was last compiled. The rest is compiled again where it is needed: ten thousand of them
 * would fill the memory with what is looked at once.
 */
interface Entry {
  readonly claim: Claim | undefined
  /** The name of the output that it renders. */
  readonly renderedName: string | undefined
  /** `namespace/name` of the pool and of the objective that it names. */
  readonly poolKey: string | undefined
  readonly objectiveKey: string | undefined
  /** Whether a cache that it reads has yet to be filled. */
  readonly waits: boolean
  /** References that are in no cache and that no live read has looked for. */
  readonly doubts: readonly Missing[]
  /** Whether it will be known any moment what it comes to, by a first list or a live read that is under way. */
  readonly isOpen: boolean
}

/** A live output, whose it is, and what it claims. */
interface Holding extends LiveOutput {
  readonly claims: readonly Claim[]
}

/** What a binding comes to now, or what has to be known first. */
export type Outlook =
  | ({ readonly kind: 'decided' } & Decision)
  /** A cache is still to be filled. */
  | { readonly kind: 'waits' }
  /** The refusal rests on references that a live read has yet to look for. */
  | ({ readonly kind: 'doubtful'; readonly doubts: readonly Missing[] } & Decision)

/** A write that is decided and not yet seen: what it claims stays claimed until it is released. */
export interface Reservation {
  /** The name of the output that is written. */
  readonly output: string
  /** Its outcome is known and seen, or a live read has been made after it was given up. */
  release(): void
}

/** How many bindings are compiled without letting anything else run. */
const SLICE = 250

export class Ledger {
  readonly #world: World
  readonly #config: Config
  readonly #wake: (key: string) => void
  readonly #absences = new Absences()
  readonly #claims = new ClaimIndex()
  readonly #compilations = new Compilations()

  readonly #entries = new Map<string, Entry>()
  readonly #holdings = new Map<string, Holding>()
  /** Names of live outputs by the binding that their annotation names. */
  readonly #outputsByBinding = new Members()
  /** Keys of bindings by the `namespace/name` of the pool, or of the objective, that they name. */
  readonly #bindingsByPool = new Members()
  readonly #bindingsByObjective = new Members()
  /** The binding that would have an output of this name. */
  readonly #bindingByRenderedName = new Map<string, string>()

  /** Bindings whose doubts a live read could not resolve. */
  readonly #lastingDoubts = new Set<string>()

  /** What has changed since the last decision. */
  readonly #staleBindings = new Set<string>()
  readonly #staleOutputs = new Set<string>()

  constructor({ world, config, wake }: LedgerOptions) {
    this.#world = world
    this.#config = config
    this.#wake = wake
    world.bindings.store.subscribe((change) => this.#bindingChanged(change))
    world.bindings.onStanding(() => this.#outputsStale())
    world.outputs.store.subscribe((change) => this.#outputChanged(change))
    world.outputs.onStanding(() => this.wakeAll())
    for (const [group, cache] of world.pools) {
      this.#follow(cache, this.#bindingsByPool, (ref) => ({ kind: 'pool', group, ...ref }))
    }
    for (const [group, cache] of world.objectives) {
      this.#follow(cache, this.#bindingsByObjective, (ref) => ({ kind: 'objective', group, ...ref }))
    }
  }

  /**
   * Does in slices what the first decision would do in one go: after a start all bindings are new, and compiling ten
   * thousand of them at once would keep the Lease from being renewed.
   */
  async warmUp(pause: () => Promise<unknown>): Promise<void> {
    let left = this.#staleBindings.size
    for (const key of this.#staleBindings) {
      // What comes in meanwhile is for the next decision.
      if (left === 0) return
      left -= 1
      this.#staleBindings.delete(key)
      this.#refreshBinding(key)
      if (left % SLICE === 0) await pause()
    }
  }

  /** Wakes every binding, and whatever orphans there are. */
  wakeAll(): void {
    // Orphans are known once their outputs are judged.
    this.#bringUpToDate()
    for (const binding of this.#world.bindings.store.values()) this.#wake(binding.key)
    for (const key of this.#outputsByBinding.keys()) this.#wake(key)
  }

  /** What the binding of a key comes to, from everything that is known now. */
  outlook(key: string): Outlook {
    this.#bringUpToDate()
    const entry = this.#entries.get(key)
    const binding = this.#world.bindings.store.get(key)
    if (binding === undefined || entry === undefined || entry.waits) return { kind: 'waits' }
    if (this.#world.outputs.standing.kind === 'waiting') return { kind: 'waits' }
    const { claim, doubts } = entry
    const compiled = this.#compiledOf(binding)
    const own = this.#outputsOf(key, 'ours')
    const decision = decide({ compiled, claim, own }, (name) => this.#holdings.get(name), this.#claims)
    if (this.#waitsForAnOpenOne(decision)) return { kind: 'waits' }
    return doubts.length === 0 ? { kind: 'decided', ...decision } : { kind: 'doubtful', doubts, ...decision }
  }

  /** What the binding was last compiled to, where nothing has changed since. */
  #compiledOf(binding: Binding): Compiled {
    const kept = this.#compilations.of(binding)
    if (kept !== undefined) return kept
    const compiled = compile(binding, this.#references(), this.#config)
    this.#compilations.keep(compiled)
    return compiled
  }

  /** A peer that will be known any moment is waited for silently: it is not worth a status. */
  #waitsForAnOpenOne({ judgement }: Decision): boolean {
    return (
      judgement.state === 'waiting' &&
      judgement.peers.some(({ claim }) => this.#entries.get(claim.owner)?.isOpen === true)
    )
  }

  /** The live reads of a binding have failed: those who wait for it may say so. */
  doubtStays(key: string): void {
    this.#lastingDoubts.add(key)
    this.#staleBindings.add(key)
  }

  /** A live read has said that the object is not there. */
  confirmAbsent(missing: Missing): void {
    this.#absences.confirm(missing)
    const names = missing.kind === 'pool' ? this.#bindingsByPool : this.#bindingsByObjective
    this.#recompile(names.of(objectKey(missing)))
  }

  /** The live outputs of a binding, terminating ones included. */
  ownOutputs(key: string): readonly LiveOutput[] {
    return this.#outputsOf(key, 'ours')
  }

  /** The outputs whose annotation names this key and that belong to no binding there is, as far as the cache knows. */
  orphans(key: string): readonly LiveOutput[] {
    return this.#outputsOf(key, 'orphan')
  }

  /** Claims what a write of the binding's output will claim, from now until it is released. */
  reserve(key: string, output: string): Reservation {
    const declared = this.#entries.get(key)?.claim
    const claim: Claim | undefined =
      declared === undefined ? undefined : { ...declared, basis: 'reserved', output }
    this.#replaceClaims([], claim === undefined ? [] : [claim])
    let released = false
    return {
      output,
      release: () => {
        if (released) return
        released = true
        this.#replaceClaims(claim === undefined ? [] : [claim], [])
      },
    }
  }

  #outputsOf(key: string, kind: 'ours' | 'orphan'): readonly LiveOutput[] {
    this.#bringUpToDate()
    return [...this.#outputsByBinding.of(key)].flatMap((name) => {
      const holding = this.#holdings.get(name)
      return holding?.ownership.kind === kind ? [holding] : []
    })
  }

  // What has happened is only noted; the work is done once, before the next decision.

  #bindingChanged(change: Change<Binding>): void {
    const { key } = change.kind === 'removed' ? change.before : change.now
    if (change.kind === 'updated' && !matters(change.before.meta, change.now.meta)) {
      const entry = this.#entries.get(key)
      // A status decides whose an output is where its name does not, and whether a doubt has been told; nothing else. It
      // wakes nobody, so whoever waits for what such an output claims is to hear of it now.
      for (const name of this.#outputsByBinding.of(key))
        if (name !== entry?.renderedName) this.#refreshOutput(name)
      if (entry?.doubts.length !== 0) this.#staleBindings.add(key)
      return
    }
    this.#staleBindings.add(key)
    this.#wake(key)
  }

  #outputChanged(change: Change<ClusterSpiffeId>): void {
    const object = change.kind === 'removed' ? change.before : change.now
    this.#staleOutputs.add(object.meta.name)
    // A hand may take the annotation away, or make it name another binding: both are concerned.
    for (const { meta } of change.kind === 'updated' ? [change.before, change.now] : [object]) {
      const key = meta.annotations.get(ANNOTATION_BINDING)
      if (key !== undefined) this.#wake(key)
    }
    const renderer = this.#bindingByRenderedName.get(object.meta.name)
    if (renderer !== undefined) this.#wake(renderer)
  }

  /** Pools and objectives wake exactly the bindings that name them. */
  #follow<T extends Cached>(
    cache: KindCache<T>,
    names: Pick<Members, 'keys' | 'of'>,
    missing: (ref: { readonly namespace: string; readonly name: string }) => Missing,
  ): void {
    cache.store.subscribe((change) => {
      const { meta } = change.kind === 'removed' ? change.before : change.now
      this.#absences.forget(missing({ namespace: meta.namespace, name: meta.name }))
      if (change.kind === 'updated' && !matters(change.before.meta, change.now.meta)) return
      this.#recompile(names.of(objectKey(meta)))
    })
    cache.onStanding(() => {
      for (const name of names.keys()) this.#recompile(names.of(name))
    })
  }

  #recompile(keys: Iterable<string>): void {
    for (const key of keys) {
      this.#staleBindings.add(key)
      this.#wake(key)
    }
  }

  #outputsStale(): void {
    for (const name of this.#holdings.keys()) this.#staleOutputs.add(name)
    this.wakeAll()
  }

  #bringUpToDate(): void {
    // Compiling can make outputs stale, by a new rendered name; judging outputs makes nothing else stale.
    for (const key of this.#staleBindings) this.#refreshBinding(key)
    this.#staleBindings.clear()
    for (const name of this.#staleOutputs) this.#refreshOutput(name)
    this.#staleOutputs.clear()
  }

  #refreshBinding(key: string): void {
    const before = this.#entries.get(key)
    const binding = this.#world.bindings.store.get(key)
    const entry = binding === undefined ? undefined : this.#compile(binding, before?.claim)
    if (entry === undefined) {
      this.#entries.delete(key)
      this.#lastingDoubts.delete(key)
    } else this.#entries.set(key, entry)
    this.#indexNames(key, before, entry)
    this.#replaceClaims(claimsOf(before), claimsOf(entry))
    // The same claim, but no longer one to wait for silently.
    if (before?.isOpen === true && entry?.isOpen === false)
      for (const claim of claimsOf(entry)) this.#wakePeers(claim)
    for (const name of this.#outputsByBinding.of(key)) this.#staleOutputs.add(name)
  }

  /**
   * The claim as it is kept: the one from before where it says the same, as the index holds objects; else with the very
   * labels of its cell, which it would otherwise hold once more.
   */
  #kept(claim: Claim, before: Claim | undefined): Claim {
    if (sameClaim(claim, before)) return before
    const labels = this.#claims.groupOf(claim)?.labels
    return labels === undefined ? claim : { ...claim, labels }
  }

  #references(): CacheReferences {
    return new CacheReferences(this.#world, this.#absences)
  }

  #compile(binding: Binding, before: Claim | undefined): Entry {
    const references = this.#references()
    const compiled = compile(binding, references, this.#config)
    this.#compilations.keep(compiled)
    const doubts = references.doubts(compiled.result)
    if (doubts.length === 0) this.#lastingDoubts.delete(binding.key)
    const isDoubtful = doubts.length > 0 && !isToldAlready(compiled)
    // A check that decides before a cache is looked at does not wait for it.
    const waits = compiled.result.kind === 'undetermined' && references.waits
    const claim = declaredClaim(isDoubtful ? doubted(compiled) : compiled)
    return {
      claim: claim && this.#kept(claim, before),
      renderedName: compiled.result.kind === 'resolved' ? compiled.result.output.metadata.name : undefined,
      poolKey: binding.poolRef.ok ? siblingKey(binding, binding.poolRef.value) : undefined,
      objectiveKey: binding.objectiveRef.ok ? siblingKey(binding, binding.objectiveRef.value) : undefined,
      waits,
      doubts,
      isOpen: waits || (isDoubtful && !this.#lastingDoubts.has(binding.key)),
    }
  }

  #indexNames(key: string, before: Entry | undefined, now: Entry | undefined): void {
    this.#bindingsByPool.move(key, before?.poolKey, now?.poolKey)
    this.#bindingsByObjective.move(key, before?.objectiveKey, now?.objectiveKey)
    if (before?.renderedName === now?.renderedName) return
    if (before?.renderedName !== undefined) this.#bindingByRenderedName.delete(before.renderedName)
    if (now?.renderedName !== undefined) this.#bindingByRenderedName.set(now.renderedName, key)
  }

  #refreshOutput(name: string): void {
    const before = this.#holdings.get(name)
    const object = this.#world.outputs.store.get(name)
    const now = object === undefined ? undefined : this.#judge(object, before?.claims)
    if (now === undefined) this.#holdings.delete(name)
    else this.#holdings.set(name, now)
    this.#outputsByBinding.move(name, bindingNamedBy(before), bindingNamedBy(now))
    this.#replaceClaims(before?.claims ?? [], now?.claims ?? [])
  }

  #judge(object: ClusterSpiffeId, before: readonly Claim[] = []): Holding {
    // Read once: each reading parses it.
    const { meta, spec } = object
    const ownership = judgeOwnership(
      { meta, spec },
      {
        binding: (key) => this.#bindingLookup(key),
        renderedName: (key) => this.#entries.get(key)?.renderedName,
      },
    )
    const claims = claimsOfOutput({ object: { meta, spec }, ownership })
    return { object, ownership, claims: claims.map((claim, at) => this.#kept(claim, before[at])) }
  }

  /** A binding that the cache does not hold counts as gone here: nothing is deleted for it without a live read. */
  #bindingLookup(key: string): Lookup<Binding> {
    const { standing, store } = this.#world.bindings
    const object = store.get(key)
    if (object !== undefined) return { state: 'found', object }
    switch (standing.kind) {
      case 'synced':
        return { state: 'absent' }
      case 'absent':
        return { state: 'kind absent' }
      case 'unknown':
        return { state: 'unknown', why: standing.why }
      case 'waiting':
        return {
          state: 'unknown',
          why: { verb: 'list', what: this.#world.bindings.resource.kind, cause: 'not given' },
        }
    }
  }

  /** Wakes the direct peers under the old and the new claims, and nobody where nothing has changed. */
  #replaceClaims(before: readonly Claim[], now: readonly Claim[]): void {
    if (before.length === now.length && before.every((claim, at) => claim === now[at])) return
    for (const claim of before) {
      this.#wakePeers(claim)
      this.#claims.remove(claim)
    }
    for (const claim of now) this.#claims.add(claim)
    for (const claim of now) this.#wakePeers(claim)
  }

  #wakePeers(claim: Claim): void {
    for (const owner of claimantsNear(this.#claims, claim)) if (owner !== claim.owner) this.#wake(owner)
  }
}

/** Whether a change may change a decision: anything else about bindings, pools and objectives wakes nobody. */
function matters(before: ObjectMeta, now: ObjectMeta): boolean {
  return (
    before.uid !== now.uid ||
    before.generation !== now.generation ||
    now.generation === undefined ||
    before.deletedAt !== now.deletedAt ||
    before.finalizers.length !== now.finalizers.length ||
    before.finalizers.some((finalizer, at) => finalizer !== now.finalizers[at])
  )
}

/** A refusal that may not hold: until that is known, the binding claims as one that cannot be decided. */
function doubted(compiled: Compiled): Compiled {
  const { result } = compiled
  if (result.kind !== 'refused') return compiled
  const why = { verb: 'get', what: 'what the binding names', cause: 'not given' } as const
  return { ...compiled, result: { kind: 'undetermined', check: result.check, why } }
}

/** The status holds this very refusal for this generation: an earlier live read has said so (contract §8). */
function isToldAlready({ binding, result }: Compiled): boolean {
  const ready = readyOf(binding)
  return (
    result.kind === 'refused' &&
    ready?.status === 'False' &&
    ready.reason === result.reason &&
    ready.observedGeneration === binding.meta.generation
  )
}

function claimsOf(entry: Entry | undefined): readonly Claim[] {
  return entry?.claim === undefined ? [] : [entry.claim]
}

function sameClaim(left: Claim, right: Claim | undefined): right is Claim {
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

function bindingNamedBy(output: LiveOutput | undefined): string | undefined {
  if (output === undefined) return undefined
  const { object, ownership } = output
  return ownership.kind === 'foreign' ? object.meta.annotations.get(ANNOTATION_BINDING) : ownership.binding
}

/** The key of an object in the binding's namespace. */
function siblingKey({ meta }: Binding, ref: { readonly name: string } | undefined): string | undefined {
  return ref === undefined ? undefined : objectKey({ namespace: meta.namespace, name: ref.name })
}
