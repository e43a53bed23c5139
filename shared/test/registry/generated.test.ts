// Generated files are what their one source says now.
import { readFile, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { generatedFiles } from '../../../scripts/generate.ts'
import { FINDING_CODES } from '../../src/core/findings/registry/findings.ts'

const ROOT = join(import.meta.dirname, '../../..')

const FILES = await generatedFiles(ROOT)

describe('generated files', () => {
  test.each([...FILES])('%s is up to date (npm run generate)', async (path, content) => {
    expect(await readFile(join(ROOT, path), 'utf8')).toBe(content)
  })

  test('docs/findings holds a page for every code and nothing else', async () => {
    const pages = await readdir(join(ROOT, 'docs/findings'))
    expect(pages.toSorted()).toEqual([...FINDING_CODES.map((code) => `${code}.md`), 'README.md'].toSorted())
  })
})
