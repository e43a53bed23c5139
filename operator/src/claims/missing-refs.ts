// References to objects that no cache holds. A cache that does not hold a name proves nothing: the operator believes that an
// object is missing only after a live read has said so (docs/contract.md §8).
import { namespacedName } from '@kleym/shared/core/model/namespaced-name.ts'
import type { ObjectiveGroup, PoolGroup } from '@kleym/shared/core/model/kinds.ts'

/** A name that the cache of a kind does not hold. */
export type MissingRef = { readonly namespace: string; readonly name: string } & (
  | { readonly kind: 'pool'; readonly group: PoolGroup }
  | { readonly kind: 'objective'; readonly group: ObjectiveGroup }
)

/** How many absences are remembered; the oldest are forgotten first, and read again when they are needed. */
const CONFIRMED_MAX = 20_000

/** What live reads have said is not there, until an object of that name shows up. */
export class ConfirmedAbsences {
  readonly #confirmed = new Set<string>()

  has(ref: MissingRef): boolean {
    return this.#confirmed.has(keyOf(ref))
  }

  add(ref: MissingRef): void {
    this.#confirmed.add(keyOf(ref))
    const [oldest] = this.#confirmed
    if (this.#confirmed.size > CONFIRMED_MAX && oldest !== undefined) this.#confirmed.delete(oldest)
  }

  /** A watch or a read has shown an object of that name. */
  remove(ref: MissingRef): void {
    this.#confirmed.delete(keyOf(ref))
  }
}

function keyOf({ kind, group, namespace, name }: MissingRef): string {
  return `${kind} ${group} ${namespacedName(namespace, name)}`
}
