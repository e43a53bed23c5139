// Default identities that containers lose (KLM402, KLM418), where something that was not read or decided may give them back.
import { expect, test } from 'vitest'
import { DEFAULT, foreign, pod, world } from '@kleym/testing/finding-cases.ts'
import { analysisOf } from '@kleym/testing/random-tenants.ts'
import { findingsOf } from '@kleym/testing/at-once.ts'

/** The lost defaults that are found while kinds may not be read: the code, its severity, and on how much it depends. */
function lossesWithout(...forbidden: readonly string[]): unknown {
  const narrow = foreign('narrow', {
    spiffeIDTemplate: 'spiffe://example.org/narrow',
    workloadSelectorTemplates: ['k8s:container-name:vllm'],
  })
  return findingsOf(analysisOf(world(pod(), DEFAULT, narrow), { forbidden }))
    .filter(({ code }) => code === 'KLM402' || code === 'KLM418')
    .map(({ code, dependsOn }) => [code, dependsOn?.length ?? 0])
}

test('a lost default is certain if everything was read that gives an identity', () => {
  expect(lossesWithout()).toEqual([
    ['KLM402', 0],
    ['KLM418', 0],
  ])
})

test.each([
  'ClusterSPIFFEID.spire.spiffe.io',
  'ClusterStaticEntry.spire.spiffe.io',
  'InferenceIdentityBinding.kleym.sonda.red',
])('a %s that was not read may give it back, or another one', (kind) => {
  expect(lossesWithout(kind)).toEqual([
    ['KLM402', 1],
    ['KLM418', 1],
  ])
})
