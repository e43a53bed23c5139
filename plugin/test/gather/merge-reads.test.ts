// Reading all namespaces after a few must lose nothing that either reading has.
import { expect, test } from 'vitest'
import type { UnknownReason } from '@kleym/shared/core/model/unknown-reason.ts'
import type { LiveSide } from '../../src/cluster/live-side.ts'
import { OTHER_NAMESPACES, mergeReads } from '../../src/gather/merge-reads.ts'

const pod = (namespace: string): LiveSide['objects'][number] => ({
  value: { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p', namespace } },
})
const namespaceNamed = (name: string): LiveSide['objects'][number] => ({
  value: { apiVersion: 'v1', kind: 'Namespace', metadata: { name } },
})
const forbidden = (what: string): UnknownReason => ({ verb: 'list', what, cause: 'forbidden' })

function side(parts: Partial<LiveSide>): LiveSide {
  return {
    objects: [],
    operatorDeployments: undefined,
    gaps: new Map(),
    absentKinds: new Set(),
    listedKinds: new Set(),
    namespacesRead: undefined,
    unverifiedRefs: [],
    ...parts,
  }
}

const FEW = side({ objects: [pod('team-a'), namespaceNamed('team-a')], namespacesRead: new Set(['team-a']) })

test('where all could be read, that is the answer', () => {
  const everything = side({ objects: [pod('team-a'), pod('team-b')] })
  expect(mergeReads(everything, FEW)).toEqual(everything)
})

test('pods that may be listed in one namespace only stay, and the rest of everything with them', () => {
  const node = { value: { apiVersion: 'v1', kind: 'Node', metadata: { name: 'gpu-1' } } }
  const everything = side({ objects: [node], gaps: new Map([['Pod', forbidden('Pod')]]) })
  expect(mergeReads(everything, FEW)).toEqual({
    ...everything,
    objects: [node, pod('team-a')],
    gaps: new Map([[OTHER_NAMESPACES, forbidden('Pod')]]),
    namespacesRead: new Set(['team-a']),
  })
})

test('namespaces that may be read one by one cost nothing of what was read in all of them', () => {
  const everything = side({
    objects: [pod('team-a'), pod('team-b')],
    gaps: new Map([['Namespace', forbidden('Namespace')]]),
  })
  expect(mergeReads(everything, FEW)).toEqual({
    ...everything,
    objects: [pod('team-a'), pod('team-b'), namespaceNamed('team-a')],
  })
})

test('what was read of a kind that is not wholly known in either stays', () => {
  const gaps = new Map([['Pod', forbidden('Pod')]])
  const widened = mergeReads(side({ gaps }), { ...FEW, gaps })
  expect(widened.objects).toEqual([pod('team-a')])
  expect(widened.gaps).toEqual(gaps)
})

test('a kind that neither could read is not known, here as elsewhere', () => {
  const gaps = new Map([['ClusterSPIFFEID.spire.spiffe.io', forbidden('ClusterSPIFFEID.spire.spiffe.io')]])
  expect(mergeReads(side({ gaps }), { ...FEW, gaps }).gaps).toEqual(gaps)
})
