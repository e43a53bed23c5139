// The pages of the documentation site before it is built: every page has its place, and all of them are plain Markdown, which
// the forge renders alike.
import { expect, test } from 'vitest'
import {
  linkTarget,
  PAGE_GROUPS,
  pagePaths,
  siteAddress,
  sitePath,
  type Repository,
} from '../../scripts/docs/pages.ts'
import { ROOT, TRACKED, textOf, withEnding } from '../house/files.ts'
import { anchorsOf, withoutCode } from '../house/markdown.ts'

const PAGES = pagePaths(ROOT)

/** Pages of the repository that are not of the site, and why. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  'scripts/release/npm/README.md': 'the page of the npm package',
  'test/testing/src/faults/certificates/README.md': 'says what fixtures of tests are',
}

test('every page has its place in the sidebar, and no place is without a page', () => {
  const tracked = withEnding('md').filter((path) => !Object.hasOwn(ELSEWHERE, path))
  expect([...PAGES].toSorted()).toEqual([...tracked].toSorted())
})

test('no two pages have one place', () => {
  const places = PAGES.map(sitePath)
  expect(places.length).toBe(new Set(places).size)
})

test('the first group is what a newcomer reads, in order', () => {
  expect(PAGE_GROUPS[0]?.pages[0]).toBe('README.md')
})

/** What VitePress renders and the forge shows as text. */
const SITE_ONLY: readonly (readonly [what: string, pattern: RegExp])[] = [
  ['a container', /^ *:::/m],
  ['front matter', /^---\n/],
  ['a table of contents', /^\[\[toc\]\]/im],
  ['an anchor of its own', /^#+ .*\{#[^}]+\} *$/m],
  // VitePress does not give it a frame, and nothing finds the commands in it.
  ['code by indentation', /\n\n {4}\S/],
  ['an inclusion', /<!-- *@include/],
  // The forge drops an element that it does not know, and with it `<name>` for a name; the site does not build.
  ['an element outside code', /<\/?[A-Za-z][^>]*>/],
]

test.each(SITE_ONLY)('no page holds %s, which only the site would render', (_, pattern) => {
  expect(PAGES.filter((page) => pattern.test(withoutCode(textOf(page))))).toEqual([])
})

const REPOSITORY: Repository = {
  isFile: (path) => ['docs/a.md', 'docs/b/README.md', 'docs/x.json', 'LICENSE'].includes(path),
  isFolder: (path) => ['docs', 'docs/b', 'docs/c'].includes(path),
}
const KNOWN = new Set(['README.md', 'docs/a.md', 'docs/b/README.md'])

test.each([
  ['README.md', 'docs/a.md#part', '/a.md#part'],
  ['docs/a.md', '../README.md', '/index.md'],
  ['docs/a.md', 'b/', '/b/index.md'],
  ['docs/b/README.md', '../x.json', '/files/docs/x.json'],
  ['docs/a.md', '../LICENSE', '/files/LICENSE'],
  ['docs/a.md', 'c', '/c/index.md'],
  ['docs/a.md', 'gone.md', 'broken'],
  ['docs/a.md', '#part', 'elsewhere'],
  ['docs/a.md', 'https://example.org/docs/a.md', 'elsewhere'],
])('on %s, %s leads to %s', (page, target, address) => {
  const leads = linkTarget(REPOSITORY, KNOWN, page, target)
  expect(leads.kind === 'elsewhere' || leads.kind === 'broken' ? leads.kind : siteAddress(leads)).toBe(
    address,
  )
})

test('an anchor that is written out is the one that GitHub makes', () => {
  expect(anchorsOf('## 1. What a `ClusterSPIFFEID` is, [here](x.md)\n## `InForce`\n## `InForce`\n')).toEqual(
    new Set(['1-what-a-clusterspiffeid-is-here', 'inforce', 'inforce-1']),
  )
})

test('the folders that the sidebar lists are folders of pages', () => {
  const folders = PAGE_GROUPS.flatMap((group) => group.folders ?? [])
  expect(folders.length).toBeGreaterThan(2)
  for (const folder of folders) expect(TRACKED.some((path) => path.startsWith(`${folder}/`))).toBe(true)
})
