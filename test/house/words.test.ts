// The words that docs/contributing/words.md replaces stand nowhere else: not in output and help, not on pages, not in comments of sources.
import { expect, test } from 'vitest'
import { textOf, TRACKED } from './files.ts'

const PAGE = 'docs/contributing/words.md'

/** The wordings of the right column. */
const REPLACED: readonly string[] = [...textOf(PAGE).matchAll(/^\|[^|]*\|([^|]*)\|$/gm)].flatMap(
  ([, cell = '']) => [...cell.matchAll(/`([^`]+)`/g)].flatMap(([, words]) => words ?? []),
)

/** What people read: sources, pages, charts, manifests, and whole outputs, which sources put together. A dated text stays as it was written. */
const READ = TRACKED.filter(
  (path) =>
    /^(?:(?:plugin|operator|shared)\/src|docs|charts|scripts|examples|krew|\.github|README\.md)\b|\/golden\//.test(
      path,
    ) &&
    /\.(?:tsx?|mjs|sh|md|ya?ml|json|txt|tpl|dot|mermaid|sarif|xml)$/.test(path) &&
    !/^docs\/(?:decisions\/|CHANGELOG\.md)|(?:^|\/)package-lock\.json$/.test(path) &&
    path !== PAGE,
)

/** The replaced wordings in a text, over line breaks and the marks of comments too. */
function replacedIn(text: string): readonly string[] {
  const running = text.replaceAll(/\s+(?:(?:\/\/|\*|#|>) )?\s*/g, ' ')
  return REPLACED.filter((words) => new RegExp(`\\b${RegExp.escape(words)}\\b`, 'i').test(running))
}

test('the page lists them', () => {
  expect(REPLACED.length).toBeGreaterThan(20)
  expect(replacedIn(['a pod of', ' * which nothing is known'].join('\n'))).toEqual(['of which'])
})

test('no other file has them', () => {
  expect(READ.length).toBeGreaterThan(1000)
  const found = READ.flatMap((path) => replacedIn(textOf(path)).map((words) => `${path}: ${words}`))
  expect(found).toEqual([])
})
