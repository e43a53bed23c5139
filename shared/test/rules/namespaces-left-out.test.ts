// Bindings for whose namespace, or for whose pods, SCM makes no entries (KLM409).
import { expect, test } from 'vitest'
import { pod, world } from '@kleym/testing/finding-cases.ts'
import { binding } from '@kleym/testing/manifests.ts'
import type { JsonRecord } from '../../src/core/base/json.ts'
import { findingsIn, ofFile } from './findings-in.ts'

function summaryUnder(scm: JsonRecord): string | undefined {
  const objects = world(pod(), binding()).map((value) => ofFile(value))
  return findingsIn(objects, scm).find(({ code }) => code === 'KLM409')?.summary
}

const NOT_AMONG = "namespace team-a is not among SCM's cacheNamespaces"

test.each<[cacheNamespaces: JsonRecord, summary: string | undefined]>([
  [{ 'team-b': null }, NOT_AMONG],
  [{ 'team-b': { labelSelectors: { app: 'x' } } }, NOT_AMONG],
  [{ 'team-a': null }, undefined],
  [
    { 'team-a': { labelSelectors: { spire: 'yes' } } },
    'SCM does not see 1 pod of the pool, whose labels its cacheNamespaces leave out',
  ],
  [{ 'team-a': { labelSelectors: { app: 'llama' } } }, undefined],
  [{ '': null }, undefined],
  [{}, undefined],
])('with cacheNamespaces %j', (cacheNamespaces, summary) => {
  expect(summaryUnder({ cacheNamespaces })).toBe(summary)
})

test('one namespace that is read alone leaves out all others', () => {
  expect(summaryUnder({ cacheNamespace: 'team-b' })).toBe(NOT_AMONG)
})
