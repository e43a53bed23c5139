// The pages of codes that a command finds in files, and not a rule of an analysis: the bad example shows the code, the good one
// does not.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { FOUND_CASES } from '@kleym/testing/found-cases.ts'
import { CASE_SCM } from '@kleym/testing/finding-cases.ts'
import { stringify } from 'yaml'
import { PROJECT_ROOT } from '../support/estate.ts'
import { inProcess } from '../support/in-process.ts'
import { workspace } from '../support/workspace.ts'

const SCM_CONFIG = { apiVersion: 'spire.spiffe.io/v1alpha1', kind: 'ControllerManagerConfig' }
const BY_COMMAND = FOUND_CASES.flatMap(({ by, ...one }) => (by === 'cluster' ? [] : [{ ...one, by }]))

test.each(BY_COMMAND)('$code', async ({ code, by, beside }) => {
  const page = await readFile(join(PROJECT_ROOT, `docs/findings/${code}.md`), 'utf8')
  const examples = [...page.matchAll(/^```yaml\n([^]*?)^```$/gm)].map(([, text = '']) => text)
  const shown = await Promise.all(
    examples.map(async (example) => {
      const isTest = by[0] === 'test'
      const files = {
        'all/beside.yaml': beside.map((one) => stringify(one)).join('---\n'),
        [isTest ? 'tests.yaml' : 'all/example.yaml']: example,
        'scm.yaml': stringify({ ...SCM_CONFIG, ...CASE_SCM }),
      }
      const settings = ['--trust-domain', 'example.org', '--clusterspiffeid-class-name', '']
      const flags = ['--offline', '-f', 'all', '--scm-config', 'scm.yaml', ...settings]
      const { stdout, stderr } = await inProcess([...by, ...flags], await workspace(files))
      return { has: stdout.includes(code), stderr }
    }),
  )
  expect(shown).toEqual([
    { has: true, stderr: '' },
    { has: false, stderr: '' },
  ])
})
