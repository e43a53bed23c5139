// What has changed since the last decision, by the namespaces whose decisions it may concern. Claims meet only within a
// namespace (docs/contract.md §6), so no namespace waits for what has changed in another.
import { ANY } from '@kleym/shared/core/decide/index.ts'
import { getOrCreate } from '@kleym/shared/core/base/get-or-create.ts'
import { namespaceWritten } from '@kleym/shared/core/model/namespaced-name.ts'

/** One thing to work in: a binding by its key, or an output by its name. */
export interface StaleThing {
  readonly kind: 'binding' | 'output'
  readonly key: string
}

/** What is to be worked in before a namespace's next decision. */
interface Backlog {
  readonly bindings: StaleSet
  readonly outputs: StaleSet
}

export class Stale {
  readonly #backlogs = new Map<string, Backlog>()
  /** The names in any backlog that are yet to be judged: one that concerns two namespaces is judged once. */
  readonly #outputs = new Set<string>()

  addBinding(key: string): void {
    this.#backlogOf(namespaceWritten(key)).bindings.keys.add(key)
  }

  /** An output has changed that names these namespaces or claims in them. */
  addOutput(name: string, namespaces: Iterable<string>): void {
    for (const namespace of namespaces) {
      this.#outputs.add(name)
      this.#backlogOf(namespace).outputs.keys.add(name)
    }
  }

  /** Takes a binding out; whether it was in. */
  dropBinding(key: string): boolean {
    const namespace = namespaceWritten(key)
    const wasIn = this.#backlogs.get(namespace)?.bindings.keys.delete(key) === true
    this.#dropEmpty(namespace)
    return wasIn
  }

  /** Takes an output out that nothing was made of yet, with its name in the backlogs of these namespaces. */
  forgetOutput(name: string, namespaces: Iterable<string>): void {
    this.#outputs.delete(name)
    for (const namespace of namespaces) {
      this.#backlogs.get(namespace)?.outputs.keys.delete(name)
      this.#dropEmpty(namespace)
    }
  }

  /** Takes an output out; whether it was in. */
  dropOutput(name: string): boolean {
    return this.#outputs.delete(name)
  }

  /** How much a decision of a namespace has to work in first, at most. */
  sizeOf(namespace: string): number {
    return [namespace, ANY].reduce((sum, where) => {
      const backlog = this.#backlogs.get(where)
      return backlog === undefined ? sum : sum + backlog.bindings.keys.size + backlog.outputs.keys.size
    }, 0)
  }

  /** The next thing to work in for a namespace, taken out; bindings first: compiling one makes outputs stale. */
  take(namespace: string): StaleThing | undefined {
    for (const where of [ANY, namespace]) {
      const backlog = this.#backlogs.get(where)
      if (backlog === undefined) continue
      const binding = backlog.bindings.take()
      if (binding !== undefined) return { kind: 'binding', key: binding }
      for (let name = backlog.outputs.take(); name !== undefined; name = backlog.outputs.take()) {
        if (this.#outputs.delete(name)) return { kind: 'output', key: name }
      }
      this.#backlogs.delete(where)
    }
    return undefined
  }

  #dropEmpty(namespace: string): void {
    const backlog = this.#backlogs.get(namespace)
    if (backlog?.bindings.keys.size === 0 && backlog.outputs.keys.size === 0) this.#backlogs.delete(namespace)
  }

  #backlogOf(namespace: string): Backlog {
    return getOrCreate(this.#backlogs, namespace, () => ({
      bindings: new StaleSet(),
      outputs: new StaleSet(),
    }))
  }
}

/** A set that is emptied from its front by one iterator: a new one for each entry would walk over the holes of those before. */
class StaleSet {
  readonly keys = new Set<string>()
  #walk: Iterator<string> | undefined

  take(): string | undefined {
    if (this.keys.size === 0) return undefined
    this.#walk ??= this.keys.values()
    const next = this.#walk.next()
    if (next.done === true) {
      // It ends when the set is empty, and does not see what is added later.
      this.#walk = undefined
      return this.take()
    }
    this.keys.delete(next.value)
    return next.value
  }
}
