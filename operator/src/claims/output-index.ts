// What is known of every ClusterSPIFFEID: whose it is, and what it claims.
import type { Claim, Ownership } from '@kleym/shared/core/decide/index.ts'
import type { CachedOutput } from '../caches/cached-output.ts'
import { Members } from './members.ts'

/** A ClusterSPIFFEID that was judged. */
export interface OwnedOutput {
  readonly output: CachedOutput
  readonly ownership: Ownership
  readonly claims: readonly Claim[]
}

/** Judged ClusterSPIFFEIDs by name, and the names of all, judged or not, by the binding that their annotation names. */
export class OutputIndex {
  readonly #outputs = new Map<string, OwnedOutput>()
  readonly #byBinding = new Members()

  get(name: string): OwnedOutput | undefined {
    return this.#outputs.get(name)
  }

  /** Sets what is known of an output; undefined where it is gone. */
  set(name: string, now: OwnedOutput | undefined): void {
    if (now === undefined) this.#outputs.delete(name)
    else this.#outputs.set(name, now)
  }

  /** An output names another binding than before; undefined: none. */
  renamed(name: string, before: string | undefined, now: string | undefined): void {
    this.#byBinding.move(name, before, now)
  }

  /** The names of the outputs whose annotation names a binding; a live view. */
  naming(bindingKey: string): Iterable<string> {
    return this.#byBinding.of(bindingKey)
  }

  /** The outputs that name a binding and are its own, or are orphans; terminating ones included. */
  of(bindingKey: string, kind: 'ours' | 'orphan'): readonly OwnedOutput[] {
    return this.#namingThat(bindingKey, ({ ownership }) => ownership.kind === kind)
  }

  /** The outputs that another install of kleym has made for a binding. */
  ofOthers(bindingKey: string): readonly OwnedOutput[] {
    return this.#namingThat(
      bindingKey,
      ({ ownership }) => ownership.kind === 'foreign' && ownership.install !== undefined,
    )
  }

  #namingThat(bindingKey: string, isWanted: (one: OwnedOutput) => boolean): readonly OwnedOutput[] {
    return [...this.naming(bindingKey)].flatMap((name) => {
      const found = this.#outputs.get(name)
      return found !== undefined && isWanted(found) ? [found] : []
    })
  }
}
