// Which installs of kleym have made the outputs that are there (docs/contract.md §8), and whether the Go implementation has
// (docs/upstream.md). Two that do not know each other, with Leases of different names, would undo each other's writes for ever: the one
// that has nothing here yet stands by.
import type { CachedOutput } from '../caches/cached-output.ts'
import type { Caches } from '../caches/caches.ts'
import { GO_IMPLEMENTATION } from '@kleym/shared/core/decide/index.ts'
import type { Log } from '../telemetry/log.ts'

export interface InstallsOptions {
  readonly caches: Pick<Caches, 'outputs'>
  /** Namespace and name of this install's Lease; undefined where it marks nothing. */
  readonly install: string | undefined
  /** The installs whose outputs count as ours. */
  readonly takeOver: ReadonlySet<string>
  readonly log: Log
  /** This install stands by no longer. */
  readonly onFree: () => void
}

export class Installs {
  readonly #options: InstallsOptions
  /** How many outputs each other install has here. */
  readonly #others = new Map<string, number>()
  /** How many are ours, those without a mark included. */
  #own = 0

  constructor(options: InstallsOptions) {
    this.#options = options
    options.caches.outputs.store.subscribe((change) => {
      const stoodBy = this.standsBy
      if (change.kind !== 'added') this.#count(change.before, -1)
      if (change.kind !== 'removed') this.#count(change.now, 1)
      if (stoodBy && !this.standsBy) options.onFree()
    })
  }

  /** Whether an install is another one than this, and not taken over. */
  isOther(install: string): boolean {
    const own = this.#options.install
    if (install === GO_IMPLEMENTATION) return true
    return own !== undefined && install !== own && !this.#options.takeOver.has(install)
  }

  /** The other installs that have outputs here, in the order in which they were seen. */
  get others(): readonly string[] {
    return [...this.#others.keys()]
  }

  /** Why this install is not ready, and what to do; undefined if no other has outputs here. */
  get problem(): string | undefined {
    if (this.#others.size === 0) return undefined
    return this.others.map((other) => `outputs of ${other} are here: ${wayOut(other)}`).join('; ')
  }

  /** Whether others have outputs here and this install has none: then it writes nothing. */
  get standsBy(): boolean {
    return this.#others.size > 0 && this.#own === 0
  }

  #count(output: CachedOutput, change: 1 | -1): void {
    const { install, bindingKey, meta } = output
    if (bindingKey === undefined && install === undefined) return
    if (install === undefined || !this.isOther(install)) {
      this.#own += change
      return
    }
    const count = (this.#others.get(install) ?? 0) + change
    if (count === 1 && change === 1)
      this.#options.log.warn('another install of kleym has outputs here; they are left alone', {
        install,
        clusterSPIFFEID: meta.name,
        fix: wayOut(install),
      })
    if (count === 0) this.#others.delete(install)
    else this.#others.set(install, count)
  }
}

function wayOut(install: string): string {
  return install === GO_IMPLEMENTATION
    ? 'remove its operator, then what it has left: kubectl kleym status lists that'
    : `uninstall it, or start this one with --take-over=${install}`
}
