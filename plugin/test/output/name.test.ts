// `-o name`.
import { describe, expect, test } from 'vitest'
import { toNames } from '../../src/output/name.ts'

describe('names', () => {
  test('come as --without takes them, each once', () => {
    const pool = {
      kind: 'InferencePool',
      group: 'inference.networking.k8s.io',
      namespace: 'a',
      name: 'llama',
    }
    const output = {
      kind: 'ClusterSPIFFEID',
      group: 'spire.spiffe.io',
      namespace: '',
      name: 'x\u001b[0m\n::y',
    }
    expect(toNames([pool, output, pool, { kind: 'Pod', group: '', namespace: 'a', name: 'p' }])).toBe(
      String.raw`inferencepool.inference.networking.k8s.io/a/llama
clusterspiffeid.spire.spiffe.io/x\x1b[0m\n::y
pod/a/p
`,
    )
  })
})
