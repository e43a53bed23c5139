// Citations of our own pages in code and in docs: `docs/spire-facts.md §2, §11.9-13 and traps 4 to 8`, `docs/operator.md,
// "Running it"`. A bare `§11.9` or `trap 8` is of the page that the first comment of its file cites.

/** A citation of a point or a heading of a page. */
export interface Citation {
  /** As a person finds it: the words around it. */
  readonly excerpt: string
  /** From the root. */
  readonly page: string
  /** `§4.2`, `trap 3`, or a heading in quotes; undefined where the page alone is cited. */
  readonly point: string | undefined
}

export interface CitationsFound {
  readonly citations: readonly Citation[]
  /** `§` and `trap` without a page, and forms that name no page of the repository. */
  readonly dangling: readonly string[]
}

/** A page, then what is cited of it. A heading needs a comma, as a sentence may go on with words in quotes. */
const PAGE = /(?:docs\/[\w./-]+\.md)/
const REFERENCE = /§[A-Z]?\d+(?:\.\d+)*|\btraps? \d+|, "[A-Z][^"]*"/
/** What stands between two points of one page; in `§11.9-13` and `traps 4 to 8` the second is a number alone. */
const NEXT =
  /^(?:(?:,? and |, | to |-|–)?(§[A-Z]?\d+(?:\.\d+)*|traps? \d+)|(, "[A-Z][^"]*")|(-|–| to |, | and )(\d+)(?![\w.]))/

/** Citations that nothing in the repository answers. Each is reported with the words around it. */
const FOREIGN =
  /(?<!docs\/)\b[Cc]ontract §|\b[Cc]ontract \(§|\bfacts\/[a-z]|\b[Ff]acts sheet|\(facts(?: [AB]\d|[:,] (?!readonly )(?:[a-z][\w/]* |[A-Z]{2,} ))|(?<![\w/-])(?:contract|runtime|plugin|views|ux|control-plane)\.md\b|\b(?:spec|runtime|plugin) "[A-Z]|\bspec\/[a-z]+\.md/g
/** Standards with sections of their own. */
const STANDARD = /(?:RFC \d+|FIPS [\d-]+|XML 1\.0|SARIF)[^§;]*$/

/** Everything that a file cites. */
export function citationsOf(text: string, { isPage = false } = {}): CitationsFound {
  const flat = flattened(text)
  const citations: Citation[] = []
  const taken: [number, number][] = []
  for (const found of flat.matchAll(new RegExp(PAGE, 'g'))) {
    const points = pointsAfter(flat, found.index + found[0].length)
    taken.push([found.index, points.end])
    const excerpt = around(flat, found.index)
    for (const point of points.list.length === 0 ? [undefined] : points.list)
      citations.push({ excerpt, page: found[0], point })
  }
  const home = headPage(text)
  const dangling = [...flat.matchAll(FOREIGN)].map(({ index }) => around(flat, index))
  // `trap` alone is a word like any other: bare, it counts only in a file whose head cites a page.
  for (const found of flat.matchAll(home === undefined ? /§/g : /§|\btraps? \d/g)) {
    if (taken.some(([start, end]) => found.index >= start && found.index < end)) continue
    if (STANDARD.test(flat.slice(Math.max(0, found.index - 60), found.index))) continue
    const points = pointsAfter(flat, found.index)
    taken.push([found.index, Math.max(points.end, found.index + 1)])
    const excerpt = around(flat, found.index)
    if (isPage) for (const point of points.list) citations.push({ excerpt, page: '', point })
    else if (home === undefined || points.list.length === 0) dangling.push(excerpt)
    else for (const point of points.list) citations.push({ excerpt, page: home, point })
  }
  return { citations, dangling: [...new Set(dangling)] }
}

/** The numbered page that the comment at the head of a file cites; undefined where it cites none, or several. */
export function headPage(text: string): string | undefined {
  const head = /^(?:#!.*\n)?(?:(?:\/\/|#|\{\{-? ?\/\*).*\n)+/.exec(text)?.[0] ?? ''
  const cited = new Set(
    [...flattened(head).matchAll(new RegExp(`(${PAGE.source}),? (?:${REFERENCE.source})`, 'g'))].map(
      ([, page = '']) => page,
    ),
  )
  const [page, ...others] = cited
  return others.length > 0 ? undefined : page
}

/** The points that a text names from here on, and where they end. */
function pointsAfter(flat: string, from: number): { readonly list: readonly string[]; readonly end: number } {
  const list: string[] = []
  let at = flat[from] === ' ' ? from + 1 : from
  for (;;) {
    const found = NEXT.exec(flat.slice(at, at + 120))
    if (found === null) break
    const [whole, point, heading, joint = '', number = ''] = found
    const last = list.at(-1)
    if (point === undefined && heading === undefined) {
      // A number alone goes on with what was before it: `traps 1, 2`, `§11.9-13`; after `§6, ` it is something else.
      if (last === undefined) break
      const isRange = joint !== ', ' && joint !== ' and '
      const series = last.startsWith('§')
        ? isRange
          ? between(last, number)
          : []
        : trapsUpTo(last, number, isRange)
      if (series.length === 0) break
      list.push(...series)
    } else if (heading !== undefined) list.push(heading.slice(2))
    else list.push(...pointsIn(whole, point ?? '', last))
    at += whole.length
  }
  return { list, end: list.length === 0 ? from : at }
}

/** A point, with those between it and the last one where the words say `to`. */
function pointsIn(whole: string, point: string, last: string | undefined): readonly string[] {
  const plain = point.replace(/^traps /, 'trap ')
  if (last === undefined || !/^(?: to |-|–)/.test(whole) || !/^§\d+$/.test(last)) return [plain]
  return [...between(last, plain.slice(1))]
}

/** `§2` and `5`: 3, 4, 5; `§11.9` and `13`: 11.10 to 11.13. */
function between(last: string, end: string): readonly string[] {
  const [, head = '', first = ''] = /^(§(?:[A-Z]?\d+\.)*[A-Z]?)(\d+)$/.exec(last) ?? []
  const count = Number(end) - Number(first)
  if (!(count > 0 && count < 100)) return []
  return Array.from({ length: count }, (_, at) => `${head}${Number(first) + at + 1}`)
}

function trapsUpTo(last: string, number: string, isRange: boolean): readonly string[] {
  if (!last.startsWith('trap ')) return []
  const first = Number(last.slice('trap '.length))
  if (!isRange) return [`trap ${number}`]
  return Array.from({ length: Math.max(0, Number(number) - first) }, (_, at) => `trap ${first + at + 1}`)
}

/** The text in one line, without the marks that begin the lines of a comment. */
function flattened(text: string): string {
  return text.replaceAll(/\s*\n\s*(?:\/\/ ?|\* ?(?!\/)|# ?)?/g, ' ')
}

function around(flat: string, at: number): string {
  return flat.slice(Math.max(0, at - 30), at + 60).trim()
}
