// Bindings of a namespace that has no room for all of their outputs (docs/contract.md §8, "Quiet and fair").
import { expect, test } from 'vitest'
import { analyse } from '../../src/core/analysis/states/analysis.ts'
import { deploymentSettings, mergeSettings } from '../../src/core/analysis/settings/operator-settings.ts'
import { readScmSettings } from '../../src/core/model/objects/scm-config.ts'
import { readSnapshot } from '../../src/core/snapshot/snapshot.ts'
import type { JsonRecord } from '../../src/core/base/json.ts'
import { findingsOf } from '@kleym/testing/at-once.ts'
import { binding, CONFIG, pool } from '@kleym/testing/manifests.ts'

const EVIDENCE = { trustDomain: 'example.org', className: '', clusterSpiffeIdClasses: [] }
const { settings: SCM } = readScmSettings(undefined, 'a test', EVIDENCE)

function boundTo(name: string, status?: JsonRecord): readonly JsonRecord[] {
  const spec = { mode: 'PoolOnly', poolRef: { name }, objectiveRef: undefined, containerName: undefined }
  return [
    pool({ name, namespace: 'team-a', labels: { app: name } }),
    binding({ name, namespace: 'team-a', spec, status }),
  ]
}

function snapshotOf(objects: readonly JsonRecord[]) {
  return readSnapshot({ objects: objects.map((value) => ({ value })) })
}

/** What bindings come to, in byte order, if the namespace has room for so many. */
function statesOf(objects: readonly JsonRecord[], bindingsPerNamespace?: number): readonly string[] {
  const config = { ...CONFIG, ...(bindingsPerNamespace !== undefined && { bindingsPerNamespace }) }
  const { settled } = analyse(snapshotOf(objects), config, SCM)
  return [...settled.judgements.values()].map(({ state }) => state)
}

const THREE = ['a', 'b', 'c'].flatMap((name) => boundTo(name))

test('all are ready if there is room for them, or no limit', () => {
  for (const most of [undefined, 0, 3]) expect(statesOf(THREE, most)).toEqual(['ready', 'ready', 'ready'])
})

test('which of them get an output is not known if there is none', () => {
  expect(statesOf(THREE, 2)).toEqual(['undetermined', 'undetermined', 'undetermined'])
  const analysis = analyse(snapshotOf(THREE), { ...CONFIG, bindingsPerNamespace: 2 }, SCM)
  const { settled } = analysis
  expect(settled.outputs).toEqual([])
  const found = findingsOf(analysis).filter(({ code }) => code === 'KLM511')
  expect(found).toHaveLength(3)
  for (const { fix } of found) expect(fix).toContain('higher --bindings-per-namespace')
  expect([...settled.undecided.values()].flat()).toMatchObject([
    { binding: 'team-a/a' },
    { binding: 'team-a/b' },
    { binding: 'team-a/c' },
  ])
})

test('one whose output a status names keeps its place, and one that is refused needs none', () => {
  const named = boundTo('a', { clusterSPIFFEID: { name: 'kleym-a', uid: 'u' } })
  const refused = binding({ name: 'x', namespace: 'team-a', spec: { poolRef: { name: 'none' } } })
  expect(statesOf([...named, ...boundTo('b'), refused], 2)).toEqual(['ready', 'ready', 'refused'])
  expect(statesOf([...named, ...boundTo('b'), refused], 1)).toEqual(['ready', 'undetermined', 'refused'])
})

test('without a flag there is room for 1,000', () => {
  const many = Array.from({ length: 1001 }, (_, at) => boundTo(`b${at}`)).flat()
  expect(new Set(statesOf(many))).toEqual(new Set(['undetermined']))
  expect(new Set(statesOf(many, 1001))).toEqual(new Set(['ready']))
})

test.each([
  ['5', 5],
  ['0', 0],
  ['$(LIMIT)', 1],
  ['many', 1],
])('--bindings-per-namespace=%s of the operator is %s', (written, expected) => {
  const args = ['--trust-domain=example.org', '--clusterspiffeid-class-name=spire']
  const container = { name: 'operator', args: [...args, `--bindings-per-namespace=${written}`] }
  const spec = { template: { spec: { containers: [container] } } }
  const deployment = { value: { kind: 'Deployment', metadata: { name: 'kleym', namespace: 'k' }, spec } }
  expect(mergeSettings(deploymentSettings([deployment])).config.bindingsPerNamespace).toBe(expected)
})
