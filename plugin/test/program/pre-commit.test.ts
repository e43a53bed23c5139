// .pre-commit-hooks.yaml: what pre-commit would run, in a Git repository that is not this one.
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { printedBy } from '@kleym/testing/child-process.ts'
import { listAt, stringAt } from '@kleym/shared/core/base/json.ts'
import { parse } from 'yaml'
import { EXIT } from '../../src/io/errors.ts'
import { PROJECT_ROOT } from '../support/estate.ts'
import { inProcess } from '../support/in-process.ts'

const HOOKS: readonly unknown[] = listAt(
  { hooks: parse(readFileSync(join(PROJECT_ROOT, '.pre-commit-hooks.yaml'), 'utf8')) },
  'hooks',
)
/** What `args` of the user's configuration adds. */
const ARGS: Readonly<Record<string, readonly string[]>> = { 'kleym-test': ['tests.yaml'] }

let folder = ''
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'kleym-pre-commit-'))
  printedBy('git', ['init', '-q'], { cwd: folder })
  cpSync(join(PROJECT_ROOT, 'examples/pull-request/base'), folder, { recursive: true })
  cpSync(join(PROJECT_ROOT, 'examples/identity-tests/team-c.yaml'), join(folder, 'tests.yaml'))
  printedBy('git', ['add', '-A'], { cwd: folder })
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** The exit code of each hook by its id. */
async function codes(): Promise<Readonly<Record<string, number>>> {
  const ran: Record<string, number> = {}
  for (const hook of HOOKS) {
    const [program, ...words] = (stringAt(hook, 'entry') ?? '').split(' ')
    const id = stringAt(hook, 'id') ?? ''
    expect([program, stringAt(hook, 'language')]).toEqual(['kubectl-kleym', 'system'])
    ran[id] = (await inProcess([...words, ...(ARGS[id] ?? [])], folder)).code
  }
  return ran
}

test('every hook passes on what is there, and the one that a commit breaks stops it', async () => {
  const fine = { 'kleym-explain': EXIT.ok, 'kleym-conflicts': EXIT.ok, 'kleym-test': EXIT.ok }
  expect(await codes()).toEqual(fine)

  cpSync(join(PROJECT_ROOT, 'examples/pull-request/head'), folder, { recursive: true })
  expect(await codes()).toEqual({ ...fine, 'kleym-test': EXIT.findings })

  const bindings = join(folder, 'bindings.yaml')
  const binding = readFileSync(bindings, 'utf8')
  writeFileSync(bindings, `${binding}---\n${binding.replace('name: web-search', 'name: twin')}`)
  expect(await codes()).toMatchObject({ 'kleym-explain': EXIT.findings, 'kleym-conflicts': EXIT.findings })
})
