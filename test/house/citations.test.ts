// Every citation in a comment, a test's name or a page of ours resolves within the repository.
import { describe, expect, test } from 'vitest'
import { citationsOf } from './citations.ts'
import { TRACKED, textOf, withEnding } from './files.ts'
import { headingsOf, pointsOf, withoutCode } from './markdown.ts'

/** What people write; recorded answers, vectors, CRDs and locks are not. */
const WRITTEN = withEnding('ts', 'tsx', 'mjs', 'go', 'yaml', 'yml', 'tpl', 'txt', 'sh', 'Dockerfile').filter(
  (path) => !/(?:^|\/)(?:golden|vectors|crds)\/|^test\/house\//.test(path),
)
const PAGES = withEnding('md')

/** The points and headings of a page; undefined where there is no such page. */
function targetsOf(page: string): ReadonlySet<string> | undefined {
  if (!TRACKED.includes(page)) return undefined
  const text = textOf(page)
  return new Set([...pointsOf(text), ...headingsOf(text).map((heading) => JSON.stringify(heading))])
}

const TARGETS = new Map(PAGES.map((page) => [page, targetsOf(page)]))

/** What of a file leads nowhere. */
function problemsOf(path: string, text: string): readonly string[] {
  const isPage = path.endsWith('.md')
  const { citations, dangling } = citationsOf(text, { isPage })
  return [
    ...dangling.map((excerpt) => `${path}: names no page: ${excerpt}`),
    ...citations.flatMap(({ page, point, excerpt }) => {
      // Tests say `docs/x.md` where any page will do.
      if (point === undefined && /(?:^|\/)test\//.test(path)) return []
      const target = page === '' ? path : page
      const targets = TARGETS.get(target)
      if (targets === undefined) return [`${path}: there is no ${target}: ${excerpt}`]
      return point === undefined || targets.has(point)
        ? []
        : [`${path}: ${target} has no ${point}: ${excerpt}`]
    }),
  ]
}

/** A page without its links and its code. */
function unlinked(text: string): string {
  return withoutCode(text).replaceAll(/\[[^\]]*\](?:\([^)]*\)|\[[^\]]*\])/g, '')
}

test('there are citations to look at', () => {
  expect(WRITTEN.length).toBeGreaterThan(400)
  expect(TARGETS.get('docs/spire-facts.md')).toContain('§11.9')
})

test('every citation in a source or a test resolves', () => {
  expect(WRITTEN.flatMap((path) => problemsOf(path, textOf(path)))).toEqual([])
})

test('every citation in a page resolves', () => {
  // What is linked is the business of `links.test.ts`; a page that numbers nothing cites others by their whole path.
  expect(PAGES.flatMap((path) => problemsOf(path, unlinked(textOf(path))))).toEqual([])
})

describe('how a citation is read', () => {
  const head = '// Held by docs/spire-facts.md §1.\n'
  test.each<[string, string, readonly string[]]>([
    ['one point', '// docs/contract.md §6', ['docs/contract.md §6']],
    ['a point of a section', '(docs/contract.md §4.3)', ['docs/contract.md §4.3']],
    ['several', '// docs/contract.md §2 and §7', ['docs/contract.md §2', 'docs/contract.md §7']],
    ['a range', '// docs/contract.md §6 to §8', [6, 7, 8].map((at) => `docs/contract.md §${at}`)],
    ['a range of points', '// docs/x.md §11.4-6', [4, 5, 6].map((at) => `docs/x.md §11.${at}`)],
    ['a heading', '// docs/x.md, "Running it".', ['docs/x.md "Running it"']],
    ['a heading of a section', '// docs/x.md §8, "Deletion"', ['docs/x.md §8', 'docs/x.md "Deletion"']],
    ['over two lines', '// see docs/x.md §3,\n// §11.1', ['docs/x.md §3', 'docs/x.md §11.1']],
    [
      'traps',
      '// docs/x.md §4 and traps 1 to 3, 15',
      ['§4', ...[1, 2, 3, 15].map((at) => `trap ${at}`)].map((one) => `docs/x.md ${one}`),
    ],
    ['a page alone', '// docs/x.md says so; 15 s', ['docs/x.md undefined']],
    ['no number of a sentence', '// docs/x.md §6, 15 s later', ['docs/x.md §6']],
    [
      'bare, where the head names the page',
      `${head}test('§11.9, trap 8: x')`,
      ['docs/spire-facts.md §1', 'docs/spire-facts.md §11.9', 'docs/spire-facts.md trap 8'],
    ],
    ['a standard', '// RFC 5891 §4.2.3.1, counted in bytes', []],
  ])('%s', (_, text, cited) => {
    const { citations, dangling } = citationsOf(text)
    expect(citations.map(({ page, point }) => `${page} ${point}`)).toEqual(cited)
    expect(dangling).toEqual([])
  })

  test.each([
    '// (contract §6)',
    '// Contract §2: each rule',
    '// of the contract (§7), once',
    '// facts/spire.md §11.9',
    '// each line of B3 of the facts sheet',
    '// (facts: GAIE tags v0.1 to v1.6)',
    '// (plugin.md, "Output")',
    '// (runtime "Process")',
    '// (spec "Commands")',
    '// the name that §5 renders',
  ])('%s names no page', (text) => {
    expect(citationsOf(text).dangling).not.toEqual([])
  })
})
