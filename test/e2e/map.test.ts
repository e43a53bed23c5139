// The page that the executable holds is the one that the sources make: it is bundled when the executable is built.
import { beforeAll, expect, test } from 'vitest'
import { inProcess } from '../../plugin/test/support/in-process.ts'
import { built, ESTATE, kleym, ROOT } from './plugin.ts'

beforeAll(() => built())

/** A page without the minute in which it was made. */
function withoutTime(page: string): string {
  return page.replace(/"made":"[^"]+"/, '"made":""')
}

test.each([
  ['of everything', ['map', '-A', ...ESTATE]],
  [
    'of a change',
    'map --offline --compare examples/pull-request/base -f examples/pull-request/head -R'.split(' '),
  ],
])('the page %s is the same to the byte, and holds no part that is missing', async (_, args) => {
  const line = [...args, '-o', 'html']
  const [page, here] = [await kleym(line), await inProcess(line, ROOT)]
  expect(withoutTime(page.stdout)).toBe(withoutTime(here.stdout))
  expect(page.code).toBe(here.code)
  expect(page.stdout).toMatch(/^<!doctype html>.*<\/html>\n$/s)
  expect(page.stdout).toContain(`content="default-src 'none'; script-src 'sha256-`)
  expect(page.stdout).not.toMatch(/(?:src|href)="(?!#)/)
})
