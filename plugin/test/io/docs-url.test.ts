// Where pages are, for a person who has no repository: at the address that the build was told.
import { expect, test } from 'vitest'
import { pageUrl, withLinks, withPageUrls } from '../../src/io/docs-url.ts'

const BASE = 'https://kleym.example.org/docs/'

test('a page of a sentence is the address of it, where one was configured', () => {
  const text = 'correct it; the fields are in docs/reference/identity-test.md'
  expect(withPageUrls(text, BASE)).toBe(
    'correct it; the fields are in https://kleym.example.org/docs/reference/identity-test.md',
  )
  expect(withPageUrls(text, '')).toBe(text)
  expect(withPageUrls('look into docs/ and my-docs/x.md', BASE)).toBe('look into docs/ and my-docs/x.md')
})

/** A link of a terminal (OSC 8). */
function link(url: string, text: string): string {
  return `\u001b]8;;${url}\u001b\\${text}\u001b]8;;\u001b\\`
}

test('on a terminal codes and addresses of pages are links, and nothing that a file holds is one', () => {
  const page = 'https://kleym.example.org/docs/findings/KLM201.md'
  expect(withLinks(`KLM201, more: ${page}.`, BASE)).toBe(
    `${link(page, 'KLM201')}, more: ${link(page, page)}.`,
  )
  expect(withLinks('https://evil.example.org/docs/verify.md', BASE)).toBe(
    'https://evil.example.org/docs/verify.md',
  )
  expect(withLinks('KLM201', '')).toBe('KLM201')
})

test('so is the page of a code', () => {
  expect(pageUrl('KLM201', BASE)).toBe('https://kleym.example.org/docs/findings/KLM201.md')
  expect(pageUrl('KLM201', '')).toBeUndefined()
})
