// Files that are what is left of a dump that failed: what they do not hold is not known, rather than absent.
import { expect, test } from 'vitest'
import { WANTED_KINDS } from '../../src/gather/wanted-kinds.ts'
import { load } from '../support/load-files.ts'
import { workspace } from '../support/workspace.ts'

const FORBIDDEN = JSON.stringify({
  kind: 'Status',
  apiVersion: 'v1',
  status: 'Failure',
  message: 'clusterspiffeids.spire.spiffe.io is forbidden',
  reason: 'Forbidden',
  details: { group: 'spire.spiffe.io', kind: 'clusterspiffeids' },
  code: 403,
})
const ENTRIES = FORBIDDEN.replaceAll('clusterspiffeids', 'clusterstaticentries')
const list = (kind: string, apiVersion: string, more = ''): string =>
  `apiVersion: ${apiVersion}\nkind: ${kind}\nmetadata: {resourceVersion: "5", continue: abc}\nitems: []\n${more}`

test.each<[what: string, text: string, kinds: readonly string[] | undefined]>([
  ['a list that the API server refused', FORBIDDEN, ['ClusterSPIFFEID.spire.spiffe.io']],
  ['one of a plural of its own', ENTRIES, ['ClusterStaticEntry.spire.spiffe.io']],
  [
    'a refusal that names no kind',
    '{kind: Status, apiVersion: v1, status: Failure, message: Unauthorized}',
    undefined,
  ],
  ['the first page of a list', list('PodList', 'v1'), ['Pod']],
  ['the first page of a list of any kinds', list('List', 'v1'), undefined],
  [
    'the first page of a list that is called after another kind than its items',
    list('FooList', 'v1').replace('[]', '[{apiVersion: v1, kind: Pod, metadata: {name: a, namespace: b}}]'),
    ['Pod'],
  ],
  ['a table', '{kind: Table, apiVersion: meta.k8s.io/v1, columnDefinitions: [], rows: []}', undefined],
  [
    'names alone',
    '{kind: PartialObjectMetadataList, apiVersion: meta.k8s.io/v1, items: [{metadata: {name: a}}]}',
    undefined,
  ],
  ['an error of kubectl', 'error: You must be logged in to the server (Unauthorized)\n', undefined],
  [
    'an error that reads as broken YAML',
    'Error from server (Forbidden): pods is forbidden: User "x" cannot list resource "pods"\n',
    undefined,
  ],
  [
    'no connection',
    'The connection to the server localhost:8080 was refused - did you specify it?\n',
    undefined,
  ],
  [
    'an error behind the items of a list',
    'apiVersion: v1\nkind: List\nitems: []\nerror: the server does not have a resource type "x"\n',
    undefined,
  ],
])('%s is not known', async (_, text, kinds) => {
  const { problems } = await load(await workspace({ 'dump.yaml': text }), { rules: { wanted: WANTED_KINDS } })
  expect(problems).toHaveLength(1)
  expect(problems[0]?.reach?.map(({ kind }) => kind)).toEqual(kinds)
})

test.each([
  ['a refusal of what no answer reads', FORBIDDEN.replace('clusterspiffeids"', 'secrets"')],
  ['a page of what no answer reads', list('ServiceList', 'v1')],
  ['that something was done', '{kind: Status, apiVersion: v1, status: Success}'],
  ['a list that is whole', 'apiVersion: v1\nkind: PodList\nmetadata: {continue: ""}\nitems: []\n'],
  ['texts of a program', 'error: Something went wrong\ntitle: Hello\n'],
  ['that there is nothing', 'No resources found\n'],
])('%s is nothing to wonder about', async (_, text) => {
  expect(
    (await load(await workspace({ 'dump.yaml': text }), { rules: { wanted: WANTED_KINDS } })).problems,
  ).toEqual([])
})
