// Imports what a door of the core lists straight from its files. esbuild puts a file where everything that may reach it is loaded, and
// through a door everything may reach the whole wing: `--help` took half as long again.
import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import type { Plugin } from 'esbuild'

/** An esbuild plugin. `test/house/wings.test.ts` holds that each door is a list of names and nothing else. */
export const doors: Plugin = {
  name: 'doors',
  setup(build) {
    const core = join(build.initialOptions.absWorkingDir ?? '', 'shared/src/core')
    const listed = new Map<string, ReadonlyMap<string, string>>()
    /** The files of the names that a module offers, if it is a door; else none. */
    const namesOf = (module: string): ReadonlyMap<string, string> => {
      if (basename(module) !== 'index.ts' || dirname(dirname(module)) !== core) return new Map()
      const known = listed.get(module) ?? listedIn(readFileSync(module, 'utf8'))
      listed.set(module, known)
      return known
    }
    build.onLoad({ filter: /\/(?:shared|operator|plugin)\/src\/.*\.tsx?$/ }, async ({ path }) => {
      const text = await readFile(path, 'utf8')
      const contents = text.replaceAll(IMPORT, (statement, type = '', list = '', from = '') => {
        const module = from.startsWith('.')
          ? join(dirname(path), from)
          : join(core, from.replace('@kleym/shared/core/', ''))
        const names = namesOf(module)
        if (names.size === 0) return statement
        return itemsOf(list)
          .map((item) => {
            const file = join(dirname(module), names.get(nameOf(item)) ?? '')
            return `import${type} { ${item} } from ${JSON.stringify(file)}`
          })
          .join(';')
      })
      return contents === text ? undefined : { contents, loader: path.endsWith('x') ? 'tsx' : 'ts' }
    })
  },
}

const IMPORT = /^import( type)? \{([^}]*)\} from\s'([^'\n]+)'$/gm

/** Each name that a door lists, with its file, from the folder of the door. */
export function listedIn(door: string): ReadonlyMap<string, string> {
  const statements = door.matchAll(LISTED)
  return new Map(
    [...statements].flatMap(([, names = '', from = '']) =>
      itemsOf(names).map((item) => [nameOf(item), from] as const),
    ),
  )
}

/** One line or several of a door. */
export const LISTED = /^export (?:type )?\{([^}]*)\} from\s'(\.\/[^'\n]+)'$/gm

/** What stands between the braces of an import or an export. */
export function itemsOf(list: string): readonly string[] {
  return list
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '')
}

/** The name that a module exports: `type A as B` is `A`. */
export function nameOf(item: string): string {
  return /^(?:type )?([\w$]+)/.exec(item)?.[1] ?? ''
}
