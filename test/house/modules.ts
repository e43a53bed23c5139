// Which module imports which, and which types it exports, read from the text alone: oxfmt writes every import and export
// in one of a few forms, and `modules.test.ts` holds that each of them is seen.
import { posix } from 'node:path'

/** Which file imports which. */
export type Graph = ReadonlyMap<string, ReadonlySet<string>>

/** What a module imports: values, types, `import()` in code and in types, and what it exports from elsewhere. */
export function specifiersOf(text: string): readonly string[] {
  const found = withoutComments(text).matchAll(/\b(?:from\s+|import\s*(?:\(\s*)?)'([^'\n]+)'/g)
  return [...new Set([...found].map(([, specifier = '']) => specifier))]
}

/** The path of an imported module from the root; undefined for a package that is not of this repository. */
export function resolveImport(
  importer: string,
  specifier: string,
  known: ReadonlySet<string>,
): string | undefined {
  if (specifier.startsWith('.')) return posix.join(posix.dirname(importer), specifier)
  const [, workspace = '', rest = ''] = /^@kleym\/([^/]+)\/(.+)$/.exec(specifier) ?? []
  return [`${workspace}/src/${rest}`, `${workspace}/${rest}`].find((path) => known.has(path))
}

/** The imports of some files among themselves. */
export function graphOf(paths: readonly string[], read: (path: string) => string): Graph {
  const known = new Set(paths)
  const targetsOf = (path: string): readonly string[] =>
    specifiersOf(read(path)).flatMap((specifier) => {
      const target = resolveImport(path, specifier, known)
      return target !== undefined && known.has(target) ? [target] : []
    })
  return new Map(paths.map((path) => [path, new Set(targetsOf(path))]))
}

/** The names under which a module exports types of its own: interfaces, aliases, classes and enums, renamed ones too. */
export function exportedTypesOf(text: string): readonly string[] {
  const code = withoutComments(text)
  const declaration =
    /^export\s+(?:default\s+)?(?:declare\s+)?(?:abstract\s+)?(?:const\s+)?(?:interface|type|class|enum)\s+([A-Za-z_$][\w$]*)/gm
  const declared = [...code.matchAll(declaration)].map(([, name = '']) => name)
  return [...new Set([...declared, ...listedTypesOf(code)])]
}

/** `export type { A }`, `export { type A, B as C }`: what is only passed on under its own name is no second one. */
function listedTypesOf(code: string): readonly string[] {
  const local = new Set(
    [...code.matchAll(/^(?:declare\s+)?(?:abstract\s+)?(?:interface|type|class|enum)\s+([\w$]+)/gm)].map(
      ([, name = '']) => name,
    ),
  )
  return [...code.matchAll(/^export\s+(type\s+)?\{([^}]*)\}(\s*from\b)?/gm)].flatMap(
    ([, onlyTypes, list = '', from]) =>
      list
        .split(',')
        .map((item) => /^\s*(type\s+)?([\w$]+)(?:\s+as\s+([\w$]+))?\s*$/.exec(item))
        .filter((item) => item !== null)
        .filter(
          ([, isType, name = '', alias]) =>
            (from === undefined && local.has(name)) ||
            (alias !== undefined && alias !== name && (isType ?? onlyTypes) !== undefined),
        )
        .map(([, , name = '', alias]) => alias ?? name),
  )
}

/** Oxfmt puts a comment on lines of its own, or behind code, where no import stands any more. */
function withoutComments(text: string): string {
  return text.replaceAll(/^\s*(?:\/\/|\/\*|\*).*$/gm, '')
}

/** Of each file that is part of one, its shortest circle, written from file to file and back; each circle once. */
export function circlesOf(graph: Graph): readonly string[] {
  const circles = new Map<string, string>()
  for (const knot of knotsOf(graph)) {
    for (const start of [...knot].toSorted()) {
      const circle = wayBack(graph, start, knot) ?? []
      const files = [...new Set(circle)].toSorted().join(' ')
      if (!circles.has(files)) circles.set(files, circle.join(' -> '))
    }
  }
  return [...circles.values()]
}

/** The shortest way from a file back to itself. */
function wayBack(graph: Graph, start: string, within: ReadonlySet<string>): readonly string[] | undefined {
  const ways: (readonly string[])[] = [[start]]
  const seen = new Set<string>()
  for (let way = ways.shift(); way !== undefined; way = ways.shift()) {
    for (const next of graph.get(way.at(-1) ?? '') ?? []) {
      if (next === start) return [...way, start]
      if (!within.has(next) || seen.has(next)) continue
      seen.add(next)
      ways.push([...way, next])
    }
  }
  return undefined
}

/** The sets of files of which each reaches each other (Tarjan), and files that import themselves. */
function knotsOf(graph: Graph): readonly ReadonlySet<string>[] {
  const knots: ReadonlySet<string>[] = []
  const order = new Map<string, number>()
  const low = new Map<string, number>()
  const stack: string[] = []
  const onStack = new Set<string>()
  const visit = (node: string): void => {
    order.set(node, order.size)
    low.set(node, order.get(node) ?? 0)
    stack.push(node)
    onStack.add(node)
    for (const next of graph.get(node) ?? []) {
      if (!order.has(next)) visit(next)
      if (onStack.has(next)) low.set(node, Math.min(low.get(node) ?? 0, low.get(next) ?? 0))
    }
    if (low.get(node) !== order.get(node)) return
    const knot = new Set(stack.splice(stack.indexOf(node)))
    for (const one of knot) onStack.delete(one)
    if (knot.size > 1 || graph.get(node)?.has(node) === true) knots.push(knot)
  }
  for (const node of graph.keys()) if (!order.has(node)) visit(node)
  return knots
}

/** Two folders of which each imports the other, with an import for each way. */
export interface FolderPair {
  /** In byte order. */
  readonly folders: readonly [string, string]
  /** `file -> file`, one for each way. */
  readonly examples: readonly string[]
}

/** The folders that import one another; a file belongs to the folder in which it stands. */
export function mutualFolders(graph: Graph): readonly FolderPair[] {
  const imports = new Map<string, string>()
  for (const [importer, targets] of graph) {
    for (const target of targets) {
      const key = JSON.stringify([posix.dirname(importer), posix.dirname(target)])
      if (posix.dirname(importer) !== posix.dirname(target) && !imports.has(key))
        imports.set(key, `${importer} -> ${target}`)
    }
  }
  return [...imports].flatMap(([key, there]) => {
    const [from = '', to = '']: string[] = JSON.parse(key)
    const back = imports.get(JSON.stringify([to, from]))
    return from < to && back !== undefined ? [{ folders: [from, to], examples: [there, back] }] : []
  })
}
