// What selects a pod, asked after another pod that shares all but one of the things that selectors read.
import { expect, test } from 'vitest'
import type { LabelSelector } from '../../src/core/model/objects/label-selector.ts'
import { namespaceNamed, readPod, type Pod } from '../../src/core/model/objects/pod.ts'
import { CandidateIndex } from '../../src/core/predict/spire/candidate-index.ts'
import { pod } from './estate.ts'

const FIRST = readPod({ value: pod('llama-0') })

const OTHERS: readonly (readonly [shares: string, other: Pod])[] = [
  ['all', { ...FIRST, name: 'llama-1' }],
  ['all but the namespace', { ...FIRST, namespace: 'team-b' }],
  ['all but the labels', { ...FIRST, labels: new Map([['app', 'other']]) }],
  ['all but the labels of unknown value', { ...FIRST, unknownLabels: new Set(['role']) }],
  ['all but the labels that it may carry', { ...FIRST, possibleLabels: new Set(['role']) }],
]

test.each(OTHERS)('a pod that shares %s has its own answer', (_, other) => {
  const used = newIndex()
  expect(names(used, FIRST)).toEqual(['app yes', 'team-a yes'])
  expect(names(used, other)).toEqual(names(newIndex(), other))
  expect(names(used, FIRST)).toEqual(['app yes', 'team-a yes'])
})

function newIndex(): CandidateIndex<Selecting> {
  const namespaces = ['team-a', 'team-b'].map((name) => namespaceNamed(name, new Map(), true))
  return new CandidateIndex(
    [
      { name: 'app', namespaceSelector: undefined, podSelector: labelled('app', 'llama') },
      { name: 'role', namespaceSelector: undefined, podSelector: labelled('role', 'decode') },
      {
        name: 'team-a',
        namespaceSelector: labelled('kubernetes.io/metadata.name', 'team-a'),
        podSelector: undefined,
      },
    ],
    namespaces,
    [FIRST],
  )
}

interface Selecting {
  readonly name: string
  readonly namespaceSelector: LabelSelector | undefined
  readonly podSelector: LabelSelector | undefined
}

function labelled(key: string, value: string): LabelSelector {
  return { matchLabels: new Map([[key, value]]), matchExpressions: [] }
}

function names(index: CandidateIndex<Selecting>, subject: Pod): readonly string[] {
  return index
    .selecting(subject)
    .map(({ object, uncertain }) => `${object.name} ${uncertain === undefined ? 'yes' : 'perhaps'}`)
    .toSorted()
}
