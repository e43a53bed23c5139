// Every SPIFFE ID in any string of any object is found, with where it stands; nothing of a Secret is shown beside.
import { kindKey } from '../../src/core/model/kinds.ts'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { describe, expect, test, vi } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { runs, seedOf } from '@kleym/testing/runs.ts'
import { idsInText } from '../../src/core/model/ids-in-text.ts'
import { mentionRules, MENTIONS_MAX, namedIn } from '../../src/core/model/naming/named-in.ts'
import { isRecord, stringAt, type JsonRecord } from '../../src/core/base/json.ts'

const ID = 'spiffe://example.org/ns/team-a/pool/llama'
const configMap = (data: JsonRecord): JsonRecord => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'a' },
  data,
})
const secret = (data: JsonRecord): JsonRecord => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: 'a' },
  data,
})

const base64 = (text: string): string => Buffer.from(text).toString('base64')

/** Where IDs stand: `.data.a spiffe://…`. */
function found(object: JsonRecord): readonly string[] {
  return mentionRules(object).flatMap(({ sources }) =>
    sources.map(
      (one) =>
        `${one.field} ${one.kind === 'SPIFFE' ? one.spiffeId : one.kind === 'pattern' ? `(${one.written})` : ''}`,
    ),
  )
}

function matchersOf(text: string) {
  return idsInText(text).map(({ matcher }) => matcher)
}

describe('in a text', () => {
  test.each([
    [ID, [ID]],
    [`exact: "${ID}"`, [ID]],
    [`--allow=${ID},${ID}-2`, [ID, `${ID}-2`]],
    [`It is ${ID}.`, [ID]],
    [`${ID}/`, [`(${ID}/*)`]],
    [`${ID}/*`, [`(${ID}/*)`]],
    [`${ID}.*`, [`(${ID}*)`]],
    [`${ID}?`, [`(${ID.slice(0, -1)}*)`]],
    ['spiffe://example.org/ns/{{ .ns }}/sa/x', ['(spiffe://example.org/ns/*/sa/x)']],
    ['spiffe://example.org/a{{ if .b }}/b{{ end }}', ['(spiffe://example.org/a*)']],
    ['spiffe://$(TD)/ns/a', ['(spiffe://*/ns/a)']],
    ['spiffe://${TD}/ns/$ns/sa/%s', ['(spiffe://*/ns/*/sa/*)']],
    ['spiffe://{{ .id }}', []],
    ['SPIFFE://Example.org/ns/A', ['(spiffe://example.org/ns/A)']],
    ['spiffe://{{ .TrustDomain }}/spire/agent/k8s_psat/{{ .ClusterName }}/{{ .NodeMeta.UID }}', []],
    [String.raw`spiffe://example\.org/ns/.*`, ['(spiffe://example*org/ns/*)']],
    [String.raw`^spiffe://example.org/(a|b)/c$`, ['(spiffe://example.org/*/c)']],
    [`^${ID}$`, [ID]],
    [`^${ID}`, [`(${ID}*)`]],
    [`<id>${ID}</id>`, [ID]],
    [`https://example.org/who?id=${encodeURIComponent(ID)}&x=%2F`, [ID]],
    [`id=${encodeURIComponent(ID).toLowerCase()}`, [ID]],
    [JSON.stringify({ id: ID }).replaceAll('/', String.raw`\/`), [ID]],
    [String.raw`^spiffe:\/\/example.org\/ns\/team-a\/pool\/.*`, ['(spiffe://example.org/ns/team-a/pool/*)']],
    [`sub.startsWith("${ID}")`, [`(${ID}*)`]],
    [String.raw`startswith(input.id, \"spiffe://example.org\")`, ['(spiffe://example.org*)']],
    [`matches(sub, '^${ID}$')`, [ID]],
    [`f(sub == "${ID}", id(x) in ["a", "${ID}"])`, [ID, ID]],
    [`callers (${ID}, and others)`, [ID]],
    [`prefix: "${ID}"`, [`(${ID}*)`]],
    [`--id-prefix=${ID}`, [`(${ID}*)`]],
    [`a|${ID}|spiffe://example.org/b`, [`(${ID}*)`, '(spiffe://example.org/b*)']],
    [`(${ID}|b)`, [`(${ID}*)`]],
    [`^(${ID}|spiffe://example.org/b)$`, [ID, 'spiffe://example.org/b']],
    [`^(?:${ID}|spiffe://example.org/b.c)$`, [ID, '(spiffe://example.org/b.c)']],
    [`^${ID}.b$`, [`(${ID}.b)`]],
    [`"regex": "${ID}"`, [`(${ID}*)`]],
    [`patterns: ["spiffe://example.org/b", "${ID}"]`, ['(spiffe://example.org/b*)', `(${ID}*)`]],
    [`id =~ "${ID}"`, [`(${ID}*)`]],
    [`id ~ /${ID.replaceAll('/', String.raw`\/`)}/`, [`(${ID}*)`]],
    [`global: ${ID}`, [ID]],
    ['spiffe://example.org', []],
    ['a URI like spiffe://, and no more', []],
    ['spiffe://spiffe://example.org/a', ['spiffe://example.org/a']],
    ['', []],
  ])('%s', (text, expected) => {
    expect(idsInText(text).map((one) => (one.isWhole ? one.text : `(${one.text})`))).toEqual(expected)
  })

  test('a long text of beginnings takes no longer than it is long', () => {
    const text = 'spiffe://'.repeat(200_000)
    expect(idsInText(text)).toEqual([])
    expect(idsInText('(spiffe://a/b,'.repeat(50_000))).toHaveLength(50_000)
    expect(idsInText(`spiffe://a/b${'{c}/'.repeat(50_000)}`)).toMatchObject([{ isWhole: false }])
  })

  test('of a field whose name says that it is a prefix or a pattern', () => {
    const fields = ['id-prefix', 'regex', 'safeRegex', 'id_regexp', 'contains', 'glob', 're2', 'idPattern']
    for (const field of fields) expect(found(configMap({ [field]: ID }))).toEqual([`.data.${field} (${ID}*)`])
    expect(found(configMap({ prefixes: [ID] }))).toEqual([`.data.prefixes[0] (${ID}*)`])
    for (const field of ['globals', 'containers', 'preferred'])
      expect(found(configMap({ [field]: ID }))).toEqual([`.data.${field} ${ID}`])
  })

  test('in a regular expression a full stop of the path is any character', () => {
    expect(matchersOf('^spiffe://example.org/ns/a/pool/b.c$')).toEqual([
      ['spiffe://example.org/ns/a/pool/b', 'c'],
    ])
    expect(matchersOf('regex: spiffe://example.org/ns/a.b/pool/c*d.')).toEqual([
      ['spiffe://example.org/ns/a', 'b/pool/', 'd', ''],
    ])
    expect(matchersOf('id: spiffe://example.org/ns/a/pool/b.c')).toEqual([
      ['spiffe://example.org/ns/a/pool/b.c'],
    ])
  })
})

describe('compared as a word beside it says', () => {
  test.each([
    [{ type: 'Exact', value: ID }, [`.spec.id.value ${ID}`]],
    [{ type: 'Prefix', value: ID }, [`.spec.id.value (${ID}*)`]],
    [{ matchType: 'STARTS_WITH', value: ID }, [`.spec.id.value (${ID}*)`]],
    [{ type: 'RegularExpression', value: ID }, [`.spec.id.value (${ID}*)`]],
    [{ type: 'StringRegex', value: ID }, [`.spec.id.value (${ID}*)`]],
    [{ operator: 'StartsWith', values: [ID] }, [`.spec.id.values[0] (${ID}*)`]],
    [{ note: 'no prefix', value: ID }, [`.spec.id.value ${ID}`]],
    [{ regex: '.*/pool/llama' }, ['.spec.id.regex (*/pool/llama)']],
    [{ cel: 'id.matches(".*/pool/llama$")' }, ['.spec.id.cel (*/pool/llama)']],
    [{ type: 'Suffix', value: '/pool/llama' }, ['.spec.id.value (*/pool/llama)']],
    [{ type: 'Suffix', value: ID }, [`.spec.id.value ${ID}`]],
    [{ type: 'Exact', value: '/pool/llama' }, []],
    [{ suffix: '/pool/llama' }, ['.spec.id.suffix (*/pool/llama)']],
    [{ rego: 'endswith(x, "/pool/llama")' }, ['.spec.id.rego (*/pool/llama)']],
    [{ path: '/pool/llama' }, []],
  ])('%j', (id, expected) => {
    expect(found({ apiVersion: 'x/v1', kind: 'X', metadata: { name: 'a' }, spec: { id } })).toEqual(expected)
  })
})

test('full stops within an ID are looked at once', () => {
  const text = `see spiffe://a/b${'.'.repeat(1_000_000)}x, and spiffe://a/c.`
  expect(idsInText(text).map((one) => one.text.length)).toEqual(['spiffe://a/b'.length + 1_000_001, 12])
})

describe('in an object', () => {
  test('with the path of the string', () => {
    const env = { containers: [{ env: [{}, { name: 'PEER', value: ID }], args: [`--peer=${ID}`] }] }
    expect(
      found({
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name: 'a', annotations: { 'x/y': ID } },
        spec: env,
      }),
    ).toEqual([
      `.metadata.annotations["x/y"] ${ID}`,
      `.spec.containers[0].env[1].value ${ID}`,
      `.spec.containers[0].args[0] ${ID}`,
    ])
  })

  test('in the Base64 of a ConfigMap', () => {
    const encoded = { ...configMap({}), binaryData: { a: base64(`allow ${ID}`), b: ID } }
    expect(found(encoded)).toEqual([`.binaryData.a ${ID}`, `.binaryData.b ${ID}`])
  })

  test('of a Secret whole IDs alone, decoded', () => {
    for (const before of ['', 'x', 'xy'])
      expect(found(secret({ a: base64(`${before}password=hunter2 ${ID} ${ID}/*`) }))).toEqual([
        `.data.a ${ID}`,
        '.data.a (a part of a SPIFFE ID)',
      ])
    expect(found(secret({ a: '!!! not Base64 c3BpZmZlOi8v' }))).toEqual([])
  })

  test.each(['ClusterSPIFFEID', 'ClusterStaticEntry', 'InferenceIdentityBinding', 'XAccessPolicy'])(
    'not what a %s gives or another reader reads',
    (kind) => {
      expect(found({ apiVersion: 'x/v1', kind, metadata: { name: 'a' }, spec: { id: ID } })).toEqual([])
    },
  )

  test('the path of an ID of kleym alone, and no other', () => {
    const data = {
      a: '/ns/team-a/pool/llama',
      b: `x=ns/a/objective/b; ${ID}`,
      c: '/pool/llama',
      d: '/ns/a/sa/b',
      e: 'spiffe://{{ .td }}/ns/a/pool/b',
    }
    expect(found(configMap(data))).toEqual([
      '.data.a (*/ns/team-a/pool/llama)',
      `.data.b ${ID}`,
      '.data.b (*ns/a/objective/b)',
      '.data.e (spiffe://*/ns/a/pool/b)',
    ])
  })

  test('not what a status tells', () => {
    expect(found({ ...configMap({}), status: { id: ID } })).toEqual([])
  })

  test('more strings than anybody reads are cut', () => {
    const data = Object.fromEntries(Array.from({ length: MENTIONS_MAX + 10 }, (_, at) => [`k${at}`, ID]))
    expect(mentionRules(configMap(data))).toHaveLength(MENTIONS_MAX)
  })

  test('one character or segment that changes anywhere is another ID, or none', () => {
    const at = fc.integer({ min: 'spiffe://'.length, max: ID.length - 1 })
    const text = fc.constantFrom('a', 'z', '0', '.', '-', '_', '/', 'A', '*', '{')
    fc.assert(
      fc.property(at, text, (position, character) => {
        const changed = `${ID.slice(0, position)}${character}${ID.slice(position + 1)}`
        const isSame = found(configMap({ a: changed })).join() === `.data.a ${ID}`
        expect(isSame).toBe(changed === ID)
      }),
      { numRuns: runs(1000), ...seedOf(4) },
    )
  })
})

test('IDs are told apart by themselves, each with all lines in which it stands', () => {
  const numbers = Array.from({ length: 1000 }, (_, at) => at)
  const lines = numbers.flatMap((at) => [`a: spiffe://example.org/x${at}`, `b: spiffe://example.org/x${at}`])
  const config = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'c' },
    data: { a: lines.join('\n') },
  }
  const stringify = vi.spyOn(JSON, 'stringify')
  const [rule] = mentionRules(config)
  const texts = stringify.mock.calls.length
  stringify.mockRestore()
  expect(texts).toBeLessThan(10)
  expect(rule?.sources).toHaveLength(numbers.length)
  expect(rule?.sources[7]).toMatchObject({
    kind: 'SPIFFE',
    spiffeId: 'spiffe://example.org/x7',
    around: ['a: \0', 'b: \0'],
  })
})

describe('by the readers of kinds', () => {
  const tls = { subjectAltNames: [ID, 'www.example.org', 'spiffe://Example.org/x'] }
  test.each<[string, string, unknown, readonly string[]]>([
    [
      'DestinationRule',
      'networking.istio.io/v1',
      { trafficPolicy: { tls }, subsets: [{ trafficPolicy: { tls } }] },
      ['SPIFFE', 'dead', 'SPIFFE', 'dead'],
    ],
    ['ServiceEntry', 'networking.istio.io/v1beta1', tls, ['SPIFFE', 'dead']],
    [
      'BackendTLSPolicy',
      'gateway.networking.k8s.io/v1',
      {
        validation: {
          subjectAltNames: [
            { type: 'URI', uri: ID },
            { type: 'Hostname', hostname: 'a' },
          ],
        },
      },
      ['SPIFFE'],
    ],
    [
      'MeshTLSAuthentication',
      'policy.linkerd.io/v1alpha1',
      { identities: [ID, '*', 'a.ns.serviceaccount.identity.linkerd.cluster.local'] },
      ['SPIFFE', 'pattern'],
    ],
    [
      'AgentgatewayPolicy',
      'agentgateway.dev/v1alpha1',
      { backend: { tls: { verifySubjectAltNames: [ID] } } },
      ['SPIFFE'],
    ],
    [
      'AuthorizationPolicy',
      'security.istio.io/v1',
      { rules: [{ to: [] }, { from: [{ source: { principals: ['*'] } }] }] },
      ['pattern'],
    ],
  ])('%s', (kind, apiVersion, spec, expected) => {
    const value = { apiVersion, kind, metadata: { name: 'a', namespace: 'team-a' }, spec }
    const { rules } = namedIn(value, kindKey(value), undefined)
    expect(rules.flatMap(({ sources }) => sources.map((one) => one.kind))).toEqual(expected)
    // What a reader reads is no mention besides.
    const mentioned = mentionRules(value, rules).flatMap(({ sources }) => sources)
    expect(mentioned).toEqual([])
  })

  test.each([undefined, null, 7, 'x', [], {}, { rules: 7 }, { rules: [7, null, { from: 'x' }] }])(
    'a broken spec: %j',
    (spec) => {
      for (const kind of [
        'AuthorizationPolicy.security.istio.io',
        'DestinationRule.networking.istio.io',
        'Other',
      ])
        expect(namedIn({ kind: 'x', spec }, kind, undefined).rules).toEqual([])
    },
  )
})

/** The files of a folder, with those below it. */
function filesBelow(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.yaml'))
    .map((name) => join(folder, name))
}

test('in the examples, as many as a search in the text finds', () => {
  const folder = join(import.meta.dirname, '../../../examples')
  let count = 0
  for (const file of filesBelow(folder)) {
    for (const document of parseAllDocuments(readFileSync(file, 'utf8'))) {
      const value: unknown = document.toJS()
      if (!isRecord(value)) continue
      const { status: _, ...rest } = value
      const isRead = mentionRules({ ...value, kind: 'Other' })
      const sources = isRead.flatMap((one) => one.sources)
      const whole = sources.flatMap((one) => (one.kind === 'SPIFFE' ? one.spiffeId : []))
      const parts = sources.flatMap((one) => (one.kind === 'pattern' ? one.written : []))
      const text = JSON.stringify(rest)
      const search = [...text.matchAll(/spiffe:\/\/[A-Za-z0-9._-]+(?:\/[A-Za-z0-9._-]+)+/g)].map(
        ([one]) => one,
      )
      const missed = search.filter(
        (one) => ![...whole, ...parts].some((id) => one.startsWith(id.replace(/\/?\*.*$/, ''))),
      )
      expect({ file, kind: stringAt(value, 'kind'), missed }).toMatchObject({ missed: [] })
      count += search.length
    }
  }
  expect(count).toBeGreaterThan(50)
})
