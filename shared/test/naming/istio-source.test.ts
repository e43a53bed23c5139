// Whom an AuthorizationPolicy names, by the forms that people write; random ones: istio-policies.test.ts.
import { describe, expect, test } from 'vitest'
import { istioSources, meshTrustIn, type MeshTrust } from '../../src/core/model/naming/istio-source.ts'

function manyValues(name: string): readonly string[] {
  return Array.from({ length: 2000 }, (_, at) => `*${name}${at}`)
}

test('what stands beside many values is one list for all of them', () => {
  const source = { principals: manyValues('p'), namespaces: manyValues('n'), notNamespaces: manyValues('x') }
  const found = istioSources({ from: [{ source }] }, 0, 'team-a', { trustDomain: 'example.org', aliases: [] })
  const lists = found.flatMap((one) =>
    one.kind === 'pattern' ? [...one.pattern.all.slice(1), ...one.pattern.none] : [],
  )
  expect(found.length).toBe(6000)
  // One beside the principals, one beside the namespaces, and what both leave out.
  expect(new Set(lists).size).toBe(3)
})

test('a line of the settings of a mesh that is nearly all blanks is read at once', () => {
  expect(meshTrustIn(`rootNamespace: x${' '.repeat(1_000_000)}y\ntrustDomain: example.org   \n`)).toEqual({
    trustDomain: 'example.org',
    aliases: [],
  })
})

describe('the forms that people write', () => {
  const MESH: MeshTrust = { trustDomain: 'example.org', aliases: [] }
  const sourceOf = (source: unknown, mesh: MeshTrust | null = MESH): unknown => {
    const [found] = istioSources({ from: [{ source }] }, 0, 'team-a', mesh ?? undefined)
    if (found === undefined) return undefined
    const { field: _, ...rest } = found
    return rest
  }

  test.each([
    [
      'the scheme, which Istio writes itself',
      'spiffe://example.org/ns/team-a/pool/llama',
      {
        kind: 'dead',
        written: 'spiffe://example.org/ns/team-a/pool/llama',
        standsFor: 'spiffe://spiffe://example.org/ns/team-a/pool/llama',
        instead: 'example.org/ns/team-a/pool/llama',
      },
    ],
    [
      'an ID',
      'example.org/ns/team-a/pool/llama',
      { kind: 'SPIFFE', spiffeId: 'spiffe://example.org/ns/team-a/pool/llama' },
    ],
    [
      'cluster.local in five parts is the trust domain of the mesh',
      'cluster.local/ns/team-a/pool/llama',
      { kind: 'SPIFFE', spiffeId: 'spiffe://example.org/ns/team-a/pool/llama' },
    ],
    [
      'cluster.local in seven parts is not',
      'cluster.local/ns/team-a/pool/llama/variant/decode',
      { kind: 'SPIFFE', spiffeId: 'spiffe://cluster.local/ns/team-a/pool/llama/variant/decode' },
    ],
  ])('%s', (_, principal, expected) => {
    expect(sourceOf({ principals: [principal] })).toEqual(expected)
  })

  test('cluster.local while the trust domain of the mesh is not known: any that has the path, perhaps', () => {
    expect(sourceOf({ principals: ['cluster.local/ns/team-a/sa/runner'] }, null)).toMatchObject({
      kind: 'pattern',
      pattern: { all: [[]] },
      perhaps: { matchers: [['spiffe://', '/ns/team-a/sa/runner']] },
    })
  })

  test('another trust domain while that of the mesh is not known: the same path in any, perhaps, if it is an alias', () => {
    expect(sourceOf({ principals: ['old.org/ns/team-a/sa/runner'] }, null)).toMatchObject({
      kind: 'SPIFFE',
      spiffeId: 'spiffe://old.org/ns/team-a/sa/runner',
      inMesh: { matcher: ['spiffe://', '/ns/team-a/sa/runner'] },
    })
    expect(sourceOf({ principals: ['old.org/ns/team-a/sa/runner'] })).not.toHaveProperty('inMesh')
    expect(sourceOf({ principals: ['old.org/ns/team-a/pool/llama/variant/x'] }, null)).not.toHaveProperty(
      'inMesh',
    )
  })

  test.each([
    [{ principals: [7] }, { kind: 'unreadable', why: 'is a number, not a string' }],
    [{ principals: 'x' }, {}],
    [null, {}],
    [{ serviceAccounts: ['*'] }, { kind: 'dead', written: 'service account *' }],
    [{ notPrincipals: ['*'] }, { kind: 'pattern', isExcluded: true }],
  ])('%j', (source, expected) => {
    const found = sourceOf(source)
    expect(found ?? {}).toMatchObject(expected)
  })

  test('a rule without a source names clients by its conditions', () => {
    const found = istioSources({ when: [{ key: 'source.namespace', values: ['team-a'] }] }, 0, 'x', MESH)
    expect(found).toMatchObject([{ written: 'namespace team-a', field: '.spec.rules[0].when[0].values[0]' }])
  })

  test.each([[undefined], [7], [[]], [{ from: 7 }], [{ from: [null], when: [null] }], [{ from: [{}] }]])(
    'no client: %j',
    (rule) => {
      expect(istioSources(rule, 0, 'team-a', MESH)).toEqual([])
    },
  )
})

describe('the trust domain in a MeshConfig', () => {
  test.each<[string, string, MeshTrust | undefined]>([
    [
      'both fields',
      'trustDomain: example.org\ntrustDomainAliases:\n- a.net\n- "b.net"\n',
      { trustDomain: 'example.org', aliases: ['a.net', 'b.net'] },
    ],
    [
      'neither: the one that Istio has by itself',
      'accessLogFile: /dev/stdout\n',
      { trustDomain: 'cluster.local', aliases: [] },
    ],
    [
      'below another field it is another one',
      'defaultConfig:\n  trustDomain: x\n',
      { trustDomain: 'cluster.local', aliases: [] },
    ],
    ['in quotes', "trustDomain: 'example.org'", { trustDomain: 'example.org', aliases: [] }],
    ['no aliases', 'trustDomainAliases: []', { trustDomain: 'cluster.local', aliases: [] }],
    ['a flow mapping is not followed', '{trustDomain: example.org}', undefined],
    ['nor a list in one line', 'trustDomainAliases: [a.net]', undefined],
    ['nor an anchor', 'trustDomain: &a example.org', undefined],
    ['nor a template', 'trustDomain: {{ .Values.td }}', undefined],
  ])('%s', (_, text, expected) => {
    expect(meshTrustIn(text)).toEqual(expected)
  })
})
