// What `diff` exits with where a finding of before tells of more than it did.
import { expect, test } from 'vitest'
import { inProcess, type Ran } from '../../support/in-process.ts'
import { workspace } from '../../support/workspace.ts'
import { binding, objective, pool } from '@kleym/testing/manifests.ts'
import { listAt, stringAt, type JsonRecord } from '@kleym/shared/core/base/json.ts'

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

test('a field that a binding does not have is a new error behind twenty others too', async () => {
  const twenty = Array.from({ length: 20 }, (_, at) => `note${at}`)
  const ran = await diffOf(withFields(...twenty), withFields(...twenty, 'remark'))
  expect(newFindingsIn(ran)).toEqual([['KLM550', expect.any(String)]])
  expect(ran.stdout).toContain('and 1 more')
  expect(ran.code).toBe(1)
  const same = await diffOf(withFields(...twenty, 'remark'), withFields(...twenty, 'remark'))
  expect(newFindingsIn(same)).toEqual([])
})

function withNames(...names: readonly unknown[]): readonly JsonRecord[] {
  const registration = {
    apiVersion: 'spire.spiffe.io/v1alpha1',
    kind: 'ClusterSPIFFEID',
    metadata: { name: 'other' },
    spec: { spiffeIDTemplate: 'spiffe://example.org/other', dnsNameTemplates: names },
  }
  return [pool(), objective(), binding({ uid: '' }), registration]
}

test('a wrong entry of a list is no news where it stands elsewhere in the list, and a second one is', async () => {
  for (const names of [
    ['a', 7],
    ['b', 'a', 7],
  ])
    expect(newFindingsIn(await diffOf(withNames(7, 'a'), withNames(...names)))).toEqual([])
  const second = await diffOf(withNames(7, 'a'), withNames(7, 'a', 8))
  expect(newFindingsIn(second)).toEqual([['KLM421', expect.stringContaining('[2]')]])
})

function withScm(settings: JsonRecord): readonly JsonRecord[] {
  const config = {
    apiVersion: 'spire.spiffe.io/v1alpha1',
    kind: 'ControllerManagerConfig',
    metadata: { name: 'scm' },
    clusterName: 'prod',
    trustDomain: 'example.org',
    ignoreNamespaces: ['('],
    ...settings,
  }
  return [pool(), objective(), binding({ uid: '' }), config]
}

test('a second fault of the configuration of SCM is a new error beside the first', async () => {
  const ran = await diffOf(withScm({}), withScm({ parentIDTemplate: 'spiffe://{{ .Foo' }))
  expect(newFindingsIn(ran).filter((one) => String(one).startsWith('KLM414'))).toHaveLength(1)
  expect(newFindingsIn(await diffOf(withScm({}), withScm({})))).toEqual([])
})

test('where the files are all there is, two bindings that refuse each other are new, and named', async () => {
  const all = list([pool(), objective(), binding({ uid: '' }), binding({ uid: '', name: 'twin' })])
  const folder = await workspace({ 'all.json': all })
  const settings = ['--trust-domain', 'example.org', '--clusterspiffeid-class-name', 'c']
  const { code, stdout } = await inProcess(['diff', '--offline', '-f', 'all.json', ...settings], folder)
  expect(stdout).toMatch(/^✗ .*KLM301/s)
  expect(stdout).toMatch(/new: 1 error +fixed: none +unchanged: none/)
  expect(code).toBe(1)
})
