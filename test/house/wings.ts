// The wings of the core: which of them knows which, and that each is entered by its door.
import { itemsOf, LISTED, listedIn, nameOf } from '../../scripts/build/doors.ts'
import type { Graph } from './modules.ts'

/** The wings below one, and whether it is entered by its `index.ts` alone. */
export interface Wing {
  readonly knows: ReadonlySet<string>
  readonly hasDoor: boolean
}

const CORE = 'shared/src/core/'

/** The wings of a table of Markdown: `| wing | what stands in it | wings that it knows | door or open |`. */
export function wingsOf(table: string): ReadonlyMap<string, Wing> {
  return new Map(
    [...table.matchAll(/^\| `(\w+)` +\|[^|\n]+\|([^|\n]*)\| (door|open) +\|$/gm)].map(
      ([, wing = '', knows = '', kind]) => [
        wing,
        { knows: new Set(knows.match(/\w+/g)), hasDoor: kind === 'door' },
      ],
    ),
  )
}

/** The wing in which a file of the core stands; undefined for any other file. */
export function wingOf(path: string): string | undefined {
  return path.startsWith(CORE) ? path.slice(CORE.length).split('/')[0] : undefined
}

/** The file that a wing is entered by. */
export function doorOf(wing: string): string {
  return `${CORE}${wing}/index.ts`
}

/** The imports that the wings do not allow, as `file -> file`. */
export function trespasses(graph: Graph, wings: ReadonlyMap<string, Wing>): readonly string[] {
  const isAllowed = (importer: string, target: string): boolean => {
    const [from, to] = [wingOf(importer), wingOf(target)]
    if (to === undefined) return true
    if (from === to) return target !== doorOf(to)
    const isKnown = from === undefined || wings.get(from)?.knows.has(to) === true
    return isKnown && (wings.get(to)?.hasDoor !== true || target === doorOf(to))
  }
  return [...graph].flatMap(([importer, targets]) =>
    [...targets].filter((target) => !isAllowed(importer, target)).map((target) => `${importer} -> ${target}`),
  )
}

/** What a door lists: each name, with the file of its wing. Undefined if it does anything else. */
export function listedBy(door: string): ReadonlyMap<string, string> | undefined {
  const rest = door.replaceAll(LISTED, '').replaceAll(/^\/\/.*$/gm, '')
  return rest.trim() === '' ? listedIn(door) : undefined
}

/** The names that a file imports through a door, whichever it is. */
export function takenByDoor(text: string): readonly string[] {
  return [...text.matchAll(/\{([^}]*)\} from\s'[^'\n]*\/index\.ts'/g)].flatMap(([, names = '']) =>
    itemsOf(names).map(nameOf),
  )
}
