// Compiles single bindings from the caches, and says how far the result may be believed.
import { compile, type Compiled, type Config, declaredClaim } from '@kleym/shared/core/decide/index.ts'
import { objectKey } from '@kleym/shared/kube/store.ts'
import { readyOf } from '@kleym/shared/core/model/objects/binding.ts'
import type { CachedBinding } from '../caches/cached-binding.ts'
import type { IndexedBinding } from './binding-index.ts'
import { Compilations } from './compilations.ts'
import type { SeenReferences } from './held-references.ts'
import { ConfirmedAbsences, type MissingRef } from './missing-refs.ts'
import { CacheReferences } from './references.ts'

export interface CompilerOptions {
  readonly seen: SeenReferences
  readonly config: Config
}

export class Compiler {
  readonly #options: CompilerOptions
  readonly #absences = new ConfirmedAbsences()
  readonly #compilations = new Compilations()
  /** Bindings whose missing references a live read could not look for. */
  readonly #unverifiable = new Set<string>()

  constructor(options: CompilerOptions) {
    this.#options = options
  }

  /** What the binding was last compiled to, compiled again where that is not kept. */
  compiled(binding: CachedBinding): Compiled {
    return this.#compilations.of(binding) ?? this.#compile(binding, this.#references())
  }

  /** Compiles a binding after one of its facts changed. */
  recompile(binding: CachedBinding): IndexedBinding {
    const references = this.#references()
    const compiled = this.#compile(binding, references)
    const { result } = compiled
    const unverified = references.unverified(result)
    if (unverified.length === 0) this.#unverifiable.delete(binding.key)
    const isOpen = unverified.length > 0 && !isInStatus(binding, result)
    // A check that decides before it reads a cache does not wait for it.
    const waits = result.kind === 'undetermined' && references.waits
    return {
      claim: declaredClaim(isOpen ? asUndetermined(compiled) : compiled),
      renderedName: result.kind === 'resolved' ? result.output.metadata.name : undefined,
      poolKey: binding.poolRef.ok ? siblingKey(binding, binding.poolRef.value) : undefined,
      objectiveKey: binding.objectiveRef.ok ? siblingKey(binding, binding.objectiveRef.value) : undefined,
      waits,
      unverified,
      isPending: waits || (isOpen && !this.#unverifiable.has(binding.key)),
    }
  }

  /** The binding is gone. */
  forget(key: string): void {
    this.#unverifiable.delete(key)
  }

  /** The live reads of a binding's missing references have failed: its peers no longer wait for them silently. */
  markUnverifiable(key: string): void {
    this.#unverifiable.add(key)
  }

  /** A live read has said that the object is not there. */
  confirmAbsent(ref: MissingRef): void {
    this.#absences.add(ref)
  }

  /** A watch or a read has shown the object. */
  confirmPresent(ref: MissingRef): void {
    this.#absences.remove(ref)
  }

  #references(): CacheReferences {
    return new CacheReferences({ seen: this.#options.seen, absences: this.#absences })
  }

  #compile(binding: CachedBinding, references: CacheReferences): Compiled {
    const compiled = compile(binding, references, this.#options.config)
    this.#compilations.keep(binding, compiled)
    return compiled
  }
}

/** A refusal that may not hold: until that is known, the binding claims as one that cannot be decided. */
function asUndetermined(compiled: Compiled): Compiled {
  const { result } = compiled
  if (result.kind !== 'refused') return compiled
  const why = { verb: 'get', what: 'what the binding names', cause: 'not given' } as const
  return { ...compiled, result: { kind: 'undetermined', check: result.check, why } }
}

/** The status holds this very refusal for this generation: an earlier live read has said so (docs/contract.md §8). */
function isInStatus(binding: CachedBinding, result: Compiled['result']): boolean {
  if (result.kind !== 'refused') return false
  const ready = readyOf({ status: binding.readStatus() })
  return (
    ready?.status === 'False' &&
    ready.reason === result.reason &&
    ready.observedGeneration === binding.meta.generation
  )
}

/** The key of an object in the binding's namespace. */
function siblingKey({ meta }: CachedBinding, ref: { readonly name: string } | undefined): string | undefined {
  return ref === undefined ? undefined : objectKey({ namespace: meta.namespace, name: ref.name })
}
