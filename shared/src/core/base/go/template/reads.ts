// The very fields and map entries that a template may read, from its text alone. `mentionsOf` says what must be kept for a template,
// and stops at the names of fields; here a label or an annotation is distinguished from the others of its map. It errs on the safe side.
import type { Command, Operand, Pipe, TemplateNode } from './ast.ts'
import { fromByteText } from './byte-text.ts'
import { OBJECTS, sourceOf } from './mentions.ts'

/**
 * The names of fields and the keys of maps from the root to what is read, with all that is below it: `PodMeta`, `Labels`, `app`; `ITEM`
 * for an item of a list. The empty path is everything.
 */
export type ReadPath = readonly string[]

/** What a template may read; nothing where Go refuses it, and everything where that cannot be told. */
export function readsOf(template: string): readonly ReadPath[] {
  if (!template.includes('{{')) return []
  const parsed = sourceOf(template)
  if (parsed === 'syntax error') return []
  if (parsed === 'unclear') return [[]]
  const reads = new Reads()
  reads.nodes(parsed.main, [], new Map([['$', []]]))
  return reads.paths
}

/** Where a value stands; undefined for one that is made of values that count as read already. */
type Place = ReadPath | undefined

/** Which place each variable stands for. */
type Variables = Map<string, Place>

class Reads {
  readonly paths: ReadPath[] = []

  nodes(nodes: readonly TemplateNode[], dot: Place, variables: Variables): void {
    for (const node of nodes) this.#node(node, dot, variables)
  }

  #node(node: TemplateNode, dot: Place, variables: Variables): void {
    switch (node.kind) {
      case 'text':
      case 'break':
      case 'continue':
        return
      case 'action': {
        const place = this.#pipe(node.pipe, dot, variables)
        if (node.pipe.declared.length === 0) this.#read(place)
        return
      }
      // A definition reads nothing but what it is given.
      case 'template':
        if (node.pipe !== undefined) this.#read(this.#pipe(node.pipe, dot, variables))
        return
      case 'range': {
        const inner = new Map(variables)
        this.#read(this.#pipe(node.pipe, dot, inner))
        for (const name of node.pipe.declared) inner.set(name, undefined)
        this.nodes(node.list, undefined, inner)
        this.nodes(node.otherwise ?? [], dot, new Map(inner))
        return
      }
      case 'if':
      case 'with': {
        const inner = new Map(variables)
        const place = this.#pipe(node.pipe, dot, inner)
        if (place === undefined || !isAlwaysThere(place)) this.#read(place)
        this.nodes(node.list, node.kind === 'with' ? place : dot, new Map(inner))
        this.nodes(node.otherwise ?? [], dot, inner)
      }
    }
  }

  #pipe({ commands, declared, assigns }: Pipe, dot: Place, variables: Variables): Place {
    let place: Place
    for (const [at, command] of commands.entries()) {
      // What is piped on is an argument of a function.
      if (at > 0) this.#read(place)
      place = this.#command(command, dot, variables)
    }
    // Another value of a variable may reach places where it still stands for the previous one.
    if (assigns) this.#read(place)
    for (const name of declared) variables.set(name, assigns ? undefined : place)
    return place
  }

  #command({ first, args }: Command, dot: Place, variables: Variables): Place {
    const [of, ...keys] = args
    if (of === undefined) return this.#operand(first, dot, variables)
    if (first.kind === 'function' && first.name === 'index' && keys.length > 0) {
      const names = keys.flatMap((key) => nameOf(key) ?? [])
      const place = names.length === keys.length ? this.#operand(of, dot, variables) : undefined
      if (place !== undefined) return [...place, ...names]
    }
    for (const operand of [first, ...args]) this.#read(this.#operand(operand, dot, variables))
    return undefined
  }

  #operand(operand: Operand, dot: Place, variables: Variables): Place {
    switch (operand.kind) {
      case 'dot':
        return dot
      case 'field':
        return below(dot, operand.names)
      case 'variable':
        return below(variables.get(operand.name), operand.names)
      case 'chain':
        return below(this.#operand(operand.of, dot, variables), operand.names)
      case 'pipe':
        return this.#pipe(operand.pipe, dot, variables)
      case 'nil':
      case 'bool':
      case 'string':
      case 'number':
      case 'function':
        return undefined
    }
  }

  #read(place: Place): void {
    if (place !== undefined) this.paths.push(place)
  }
}

/** An item of a list, whichever. */
export const ITEM = '[]'

function nameOf(key: Operand): string | undefined {
  if (key.kind === 'number') return ITEM
  return key.kind === 'string' ? fromByteText(key.text).text : undefined
}

function below(place: Place, names: readonly string[]): Place {
  return place === undefined ? undefined : [...place, ...names.map((name) => fromByteText(name).text)]
}

/** The root and the objects in it are never empty: to ask whether they are there reads nothing of them. */
function isAlwaysThere(place: ReadPath): boolean {
  return place.length === 0 || (place.length === 1 && OBJECTS.has(place[0] ?? ''))
}
