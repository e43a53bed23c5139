// Markdown as GitHub shows it, as far as links and citations go: headings with their anchors, links, numbered points.
import { anchorOf } from '../../scripts/docs/anchors.ts'

/** A text without fenced code and code spans, with as many lines as before. */
export function withoutCode(text: string): string {
  return text
    .replaceAll(/^( *)(```|~~~)[^\n]*\n[\s\S]*?^\1\2 *$/gm, (block) => block.replaceAll(/[^\n]/g, ''))
    .replaceAll(/(`+)(?!`)[\s\S]*?[^`]\1(?!`)/g, (span) => span.replaceAll(/[^\n]/g, ''))
}

/** The headings of a page, as they are written. */
export function headingsOf(text: string): readonly string[] {
  const page = text.replaceAll(/^( *)(```|~~~)[^\n]*\n[\s\S]*?^\1\2 *$/gm, '')
  return [...page.matchAll(/^#{1,6} +(.+?) *#*$/gm)].map(([, heading = '']) => heading)
}

/** What may stand after `#` in a link to the page: GitHub's anchors of headings, and anchors that are written out. */
export function anchorsOf(text: string): ReadonlySet<string> {
  const anchors = new Set<string>()
  for (const heading of headingsOf(text)) {
    const slug = anchorOf(heading)
    let anchor = slug
    for (let count = 1; anchors.has(anchor); count++) anchor = `${slug}-${count}`
    anchors.add(anchor)
  }
  for (const [, name = ''] of text.matchAll(/<a +(?:id|name)="([^"]+)"/g)) anchors.add(name)
  return anchors
}

/** A link, by what it says and where it leads. */
export interface Link {
  readonly text: string
  readonly target: string
}

/** All links and images of a page; those in code are none. `broken` are names of links that nothing defines. */
export function linksOf(text: string): {
  readonly links: readonly Link[]
  readonly broken: readonly string[]
} {
  const page = withoutCode(text)
  const definitions = new Map(
    [...page.matchAll(/^ {0,3}\[([^\]]+)\]: *<?([^\s>]+)/gm)].map(([, name = '', target = '']) => [
      name.toLowerCase(),
      target,
    ]),
  )
  const inline = [...page.matchAll(/\[((?:[^[\]]|\[[^\]]*\])*)\]\(\s*<?([^)\s>]*)[^)]*\)/g)].map(
    ([, words = '', target = '']) => ({ text: words, target }),
  )
  // An image that is a link to another page.
  const images = inline.flatMap(({ text: words }) =>
    [...words.matchAll(/!\[([^\]]*)\]\(\s*<?([^)\s>]*)[^)]*\)/g)].map(([, alt = '', target = '']) => ({
      text: alt,
      target,
    })),
  )
  const named = [...page.matchAll(/\[((?:[^[\]])+)\]\[([^\]]*)\]/g)].map(([, words = '', name = '']) => ({
    words,
    name: (name === '' ? words : name).toLowerCase(),
  }))
  return {
    links: [
      ...inline,
      ...images,
      ...named.flatMap(({ words, name }) => {
        const target = definitions.get(name)
        return target === undefined ? [] : [{ text: words, target }]
      }),
      ...[...definitions].map(([name, target]) => ({ text: name, target })),
    ],
    broken: named
      .filter(({ name }) => !definitions.has(name))
      .map(({ words, name }) => `[${words}][${name}]`),
  }
}

/** What a page numbers: `§4`, `§4.2` (the second point of section 4), `§A1`, `trap 3`. */
export function pointsOf(text: string): ReadonlySet<string> {
  const points = new Set<string>()
  let section: string | undefined
  for (const line of withoutCode(text).split('\n')) {
    const heading = /^#{2,} +(.*)$/.exec(line)?.[1]
    const number = /^(\d+)\. /.exec(line)?.[1]
    if (heading !== undefined) {
      const name = /^§([A-Z]?\d+)\b/.exec(heading)?.[1]
      section = name === undefined ? (/^traps\b/i.test(heading) ? 'trap' : undefined) : `§${name}`
      if (name !== undefined) points.add(`§${name}`)
    } else if (number !== undefined && section !== undefined) {
      points.add(section === 'trap' ? `trap ${number}` : `${section}.${number}`)
    }
  }
  return points
}

/** What stands below a heading, up to the next of its rank or a higher one; empty where there is no such heading. */
export function sectionOf(text: string, heading: string): string {
  const lines = text.split('\n')
  const start = lines.findIndex((line) => /^#{1,6} +/.test(line) && line.replace(/^#+ +/, '') === heading)
  if (start < 0) return ''
  const rank = /^#+/.exec(lines[start] ?? '')?.[0].length ?? 0
  const length = lines.slice(start + 1).findIndex((line) => {
    const marks = /^#+(?= )/.exec(line)?.[0].length
    return marks !== undefined && marks <= rank
  })
  return lines.slice(start + 1, length < 0 ? undefined : start + 1 + length).join('\n')
}
