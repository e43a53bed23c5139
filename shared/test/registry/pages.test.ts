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
