// Every link between our pages leads somewhere: to a file of the repository, and to a heading of it.
import { posix } from 'node:path'
import { expect, test } from 'vitest'
import { TRACKED, textOf, withEnding } from './files.ts'
import { anchorsOf, linksOf } from './markdown.ts'

const PAGES = withEnding('md')

/** Files, and the folders that they stand in. */
const PATHS: ReadonlySet<string> = new Set(
  TRACKED.flatMap((path) => {
    const parts = path.split('/')
    return parts.map((_, at) => parts.slice(0, at + 1).join('/'))
  }),
)

test('there are pages with links to look at', () => {
  expect(PAGES.length).toBeGreaterThan(50)
  const targets = linksOf(textOf('README.md')).links.map(({ target }) => target)
  expect(targets).toContain('docs/concepts.md')
  expect(targets).toContain('docs/images/map.png')
})

/** What is wrong with a link of a page; undefined where it leads somewhere. */
function problemOf(page: string, target: string): string | undefined {
  if (/^[a-z][a-z+.-]*:/i.test(target)) return undefined
  const [file = '', anchor] = target.split('#')
  const path =
    file === '' ? page : posix.join(posix.dirname(page), decodeURIComponent(file)).replace(/\/$/, '')
  if (!PATHS.has(path)) return `${page}: ${target}: there is no ${path}`
  if (anchor === undefined || !path.endsWith('.md') || anchorsOf(textOf(path)).has(anchor)) return undefined
  return `${page}: ${target}: ${path} has no heading for it`
}

test('every relative link leads to a file, and every anchor to a heading', () => {
  const problems = PAGES.flatMap((page) => {
    const { links, broken } = linksOf(textOf(page))
    return [
      ...links.map(({ target }) => problemOf(page, target)).filter((problem) => problem !== undefined),
      ...broken.map((link) => `${page}: ${link}: nothing defines it`),
    ]
  })
  expect(problems).toEqual([])
})
