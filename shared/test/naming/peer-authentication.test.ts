// Where mTLS is off no name of an AuthorizationPolicy matches: a note of the policy, and nothing about whom it names.
import { describe, expect, test } from 'vitest'
import { analysisOf } from '@kleym/testing/random-tenants.ts'
import type { JsonRecord } from '../../src/core/base/json.ts'

function peer(namespace: string, mode: string | undefined, selector?: JsonRecord): JsonRecord {
  return {
    apiVersion: 'security.istio.io/v1',
    kind: 'PeerAuthentication',
    metadata: { name: `peers-${mode ?? 'unset'}`, namespace },
    spec: {
      ...(mode !== undefined && { mtls: { mode } }),
      ...(selector !== undefined && { selector }),
    },
  }
}

const POLICY: JsonRecord = {
  apiVersion: 'security.istio.io/v1',
  kind: 'AuthorizationPolicy',
  metadata: { name: 'callers', namespace: 'web' },
  spec: { rules: [{ from: [{ source: { principals: ['example.org/ns/team-a/pool/llama'] } }] }] },
}
const RULE = { from: [{ source: { principals: ['example.org/a'] } }] }

function notes(...objects: readonly JsonRecord[]): readonly string[] {
  const { list } = analysisOf([POLICY, ...objects]).settled.policies()
  return list.flatMap((one) => one.notes.map(({ text }) => text))
}

describe('a note', () => {
  test.each([
    ['of the namespace', [peer('web', 'DISABLE')], ['PeerAuthentication web/peers-DISABLE turns mTLS off']],
    [
      'of the mesh',
      [peer('istio-system', 'DISABLE')],
      ['PeerAuthentication istio-system/peers-DISABLE turns mTLS off'],
    ],
    [
      'of the mesh, where that of the namespace says nothing',
      [peer('istio-system', 'DISABLE'), peer('web', undefined)],
      ['PeerAuthentication istio-system/peers-DISABLE turns mTLS off'],
    ],
    [
      'of some pods',
      [peer('web', 'DISABLE', { matchLabels: { app: 'x' } })],
      ['PeerAuthentication web/peers-DISABLE turns mTLS off for some pods'],
    ],
    [
      'none where the namespace turns it on again',
      [peer('istio-system', 'DISABLE'), peer('web', 'STRICT')],
      [],
    ],
    ['none of another namespace', [peer('team-a', 'DISABLE')], []],
    ['none of some pods of the mesh', [peer('istio-system', 'DISABLE', {})], []],
    ['none of a mode that lets certificates through', [peer('web', 'PERMISSIVE')], []],
    ['none of what cannot be read', [{ ...peer('web', 'DISABLE'), spec: { mtls: 'DISABLE' } }], []],
  ] as const)('%s', (_, objects, texts) => {
    expect(notes(...objects)).toEqual(texts)
  })
})

test('it names nobody, and is no policy', () => {
  const { list } = analysisOf([
    peer('web', 'DISABLE'),
    { ...POLICY, spec: { rules: [RULE] } },
  ]).settled.policies()
  expect(list.map(({ kind }) => kind)).toEqual(['AuthorizationPolicy'])
})
