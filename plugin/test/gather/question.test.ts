// Which namespaces an answer takes.
import { expect, test } from 'vitest'
import type { RawObject } from '@kleym/shared/core/model/objects/raw.ts'
import { namespacesToRead, type Question } from '../../src/gather/question.ts'
import type { ObjectName } from '../../src/sources/kind-name.ts'

const file = (namespace: string): RawObject => ({ value: { metadata: { name: 'x', namespace } } })
const gone = (kind: string, namespace?: string): ObjectName => ({
  kind,
  group: undefined,
  namespace,
  name: 'x',
})
const ALL = undefined

interface Case {
  readonly says: string
  readonly question?: Partial<Question>
  /** Null: no namespace is in force. */
  readonly inForce?: string | null
  readonly files?: readonly RawObject[]
  readonly without?: readonly ObjectName[]
  readonly reads: readonly string[] | undefined
}

const IIB = 'InferenceIdentityBinding'
const CASES: readonly Case[] = [
  { says: 'the current namespace', reads: ['team-a'] },
  { says: 'all with -A', question: { allNamespaces: true }, reads: ALL },
  { says: 'all with -A, whatever is named', question: { allNamespaces: true, named: ['b'] }, reads: ALL },
  { says: 'all where there is no current one', inForce: null, reads: ALL },
  { says: 'those that are named, sorted and once', question: { named: ['c', 'b', 'c'] }, reads: ['b', 'c'] },
  {
    says: 'the current one beside a named one',
    question: { named: ['b', undefined] },
    reads: ['b', 'team-a'],
  },
  { says: 'four', question: { named: ['a', 'b', 'c', 'd'] }, reads: ['a', 'b', 'c', 'd'] },
  { says: 'all in place of five', question: { named: ['a', 'b', 'c', 'd', 'e'] }, reads: ALL },
  { says: 'those of files too', files: [file('b'), file('b')], reads: ['b', 'team-a'] },
  { says: 'no other one for a file without a namespace', files: [file('')], reads: ['team-a'] },
  { says: 'those of what is left out too', without: [gone(IIB, 'b'), gone('Pod')], reads: ['b', 'team-a'] },
  {
    says: 'those of the files alone where it is about them',
    question: { aboutFiles: true },
    files: [file('b')],
    reads: ['b'],
  },
  { says: 'the current one where there are no files', question: { aboutFiles: true }, reads: ['team-a'] },
  {
    says: 'all where it is about a file without a namespace',
    question: { aboutFiles: true },
    files: [file('b'), file('')],
    reads: ALL,
  },
  {
    says: 'those of the files and of what is left out',
    question: { aboutFiles: true },
    files: [file('b')],
    without: [gone(IIB)],
    reads: ['b', 'team-a'],
  },
  ...['ClusterSPIFFEID', 'ClusterStaticEntry', 'Namespace', 'Node'].map((kind) => ({
    says: `all where it is about a ${kind} that is left out`,
    question: { aboutFiles: true },
    without: [gone(kind)],
    reads: ALL,
  })),
  {
    says: 'no other one for a ClusterSPIFFEID that is left out',
    without: [gone('ClusterSPIFFEID')],
    reads: ['team-a'],
  },
]

test.each(CASES)('$says', ({ question = {}, inForce = 'team-a', files = [], without = [], reads }) => {
  const asked = { allNamespaces: false, named: [undefined], ...question }
  expect(namespacesToRead(asked, inForce ?? undefined, { files, without })).toEqual(reads)
})
