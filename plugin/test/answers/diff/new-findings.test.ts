// What `diff` exits with where a finding of before tells of more than it did.
import { expect, test } from 'vitest'
import { inProcess, type Ran } from '../../support/in-process.ts'
import { workspace } from '../../support/workspace.ts'
import { binding, objective, pool } from '@kleym/testing/manifests.ts'
import { listAt, stringAt, type JsonRecord } from '@kleym/shared/core/json.ts'

function list(items: readonly JsonRecord[]): string {
  return JSON.stringify({ apiVersion: 'v1', kind: 'List', items })
}

async function diffOf(base: readonly JsonRecord[], head: readonly JsonRecord[]): Promise<Ran> {
  const folder = await workspace({ 'base/all.json': list(base), 'head/all.json': list(head) })
  const settings = ['--trust-domain', 'example.org', '--variant-label-key', 'variant']
  return inProcess(
    ['diff', '--offline', '--base', 'base', '-f', 'head', '-A', '-o', 'json', ...settings],
    folder,
  )
}

function newFindingsIn({ stdout }: Ran): readonly unknown[] {
  const report: unknown = JSON.parse(stdout)
  return listAt(report, 'effect', 'newFindings').map((one) => [
    stringAt(one, 'code'),
    stringAt(one, 'summary'),
  ])
}

function withFields(...fields: readonly string[]): readonly JsonRecord[] {
  const spec = Object.fromEntries(fields.map((field) => [field, 'x']))
  return [pool(), objective(), binding({ uid: '', spec })]
}

test('one more field that a binding does not have is a new error, whichever of them comes first', async () => {
  for (const more of ['aside', 'remark']) {
    const ran = await diffOf(withFields('note'), withFields('note', more))
    expect(newFindingsIn(ran)).toEqual([['KLM550', expect.stringContaining(`.spec.${more} `)]])
    expect(ran.code).toBe(1)
  }
})

test('one field less that a binding does not have is no news', async () => {
  const ran = await diffOf(withFields('note', 'aside'), withFields('note'))
  expect(newFindingsIn(ran)).toEqual([])
})
