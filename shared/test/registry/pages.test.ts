// Every finding code has a page with its sections.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { FINDING_CODES, findingEntry } from '../../src/core/findings/registry/findings.ts'
import { pageSections } from '../../src/core/findings/registry/pages.ts'

describe('every finding code has a page', () => {
  const docs = join(import.meta.dirname, '../../../docs/findings')

  test.each(FINDING_CODES)('%s', (code) => {
    const file = join(docs, `${code}.md`)
    expect(existsSync(file)).toBe(true)
    const page = readFileSync(file, 'utf8')
    expect(page).toContain(`# ${code}: ${findingEntry(code).title}`)
    for (const { heading, text } of pageSections(code)) expect(page).toContain(`## ${heading}\n\n${text}\n`)
  })
})

test('the good side of an example brings no Node that its bad side lacks: it has nothing to do with the fix', () => {
  const docs = join(import.meta.dirname, '../../../docs/findings')
  const stray = FINDING_CODES.filter((code) => {
    const [, bad = '', good = ''] = readFileSync(join(docs, `${code}.md`), 'utf8').split(/^## (?:Bad|Good)$/m)
    return good.includes('\nkind: Node\n') && !bad.includes('\nkind: Node\n')
  })
  expect(stray).toEqual([])
})
