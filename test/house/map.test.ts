// The map of the code names only what is there, so that a recipe never leads astray.
import { expect, test } from 'vitest'
import { TRACKED, textOf } from './files.ts'

test('every path in docs/architecture.md exists', () => {
  const paths = [
    ...textOf('docs/architecture.md').matchAll(
      /`((?:shared|operator|plugin|testing|scripts|charts|test|bench|docs)\/[\w./-]*\w)\/?`/g,
    ),
  ].map(([, path = '']) => path)
  expect(paths.length).toBeGreaterThan(50)
  expect(paths.filter((path) => !TRACKED.some((one) => one === path || one.startsWith(`${path}/`)))).toEqual(
    [],
  )
})

test('every file that docs/architecture.md names by its name alone exists', () => {
  const names = [
    ...textOf('docs/architecture.md').matchAll(/(?<![\w./<-])([\w-]+\.(?:test\.ts|ts|tpl|yaml|json))\b/g),
  ].map(([, name = '']) => name)
  expect(names.length).toBeGreaterThan(20)
  expect(names.filter((name) => !TRACKED.some((one) => one.endsWith(`/${name}`) || one === name))).toEqual([])
})
