// docs/contributing/spire.md says which versions the prediction was held against, and what it leaves open: as the suites have it.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { SPIRE_SOURCES } from '../control-plane/tools.ts'
import { CAUSE_NAMES } from './causes.ts'

const PAGE = readFileSync(join(import.meta.dirname, '../../docs/contributing/spire.md'), 'utf8')

test.each(CAUSE_NAMES)('the page tells of %s', (cause) => {
  expect(PAGE).toContain(`- **${cause}**: `)
})

test.each(Object.values(SPIRE_SOURCES).map(({ name, folder }) => [name, folder]))(
  'the page names the version of %s',
  (_, folder) => {
    const mod = readFileSync(join(folder, 'go.mod'), 'utf8')
    const [, version = 'none'] = /github\.com\/spiffe\/spire(?:-controller-manager)? (v\S+)/.exec(mod) ?? []
    expect(PAGE).toContain(version)
  },
)
