// Entries as SPIRE prints them: the shapes of its releases, and what is no entry.
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { leastSeen, runs } from '@kleym/testing/runs.ts'
import {
  readBySchema,
  readServerEntry,
  type ServerEntryReading,
} from '../../../src/core/predict/verify/read-server-entry.ts'
import { podUidOf, type ServerEntry } from '../../../src/core/predict/verify/server-entry.ts'
import { ownerOf } from '../../../src/core/predict/verify/entry-owner.ts'
import { readScmSettings } from '../../../src/core/model/objects/scm-config.ts'
import { NO_EVIDENCE } from '../estate.ts'
import { serverEntry, type Fields } from './server-entries.ts'

/** All that an entry says. */
function saidBy(entry: ServerEntry): ServerEntry {
  const { id, spiffeId, parentId, key, parts, selectors, fields, createdAt, revision } = entry
  return { id, spiffeId, parentId, key, parts, selectors, fields, createdAt, revision }
}

function told(reading: ServerEntryReading): ServerEntryReading {
  return reading.ok ? { ok: true, entry: saidBy(reading.entry) } : reading
}

test.each<[what: string, value: unknown, field: string, why: string]>([
  ['a field that is missing', { id: 'x' }, 'spiffe_id', 'it is missing'],
  ['a field of another type', { ...serverEntry(), id: 3 }, 'id', 'it is of type number, and must be string'],
  ['no object', 'text', '', 'it is of type string, and must be object'],
])('%s is named in plain words', (_, value, field, why) => {
  expect(readServerEntry(value)).toEqual({ ok: false, field, why })
})

describe('an entry of a server', () => {
  test('of SPIRE 1.15', () => {
    const reading = readServerEntry(serverEntry())
    if (!reading.ok) throw new Error(reading.why)
    const { entry } = reading
    expect(saidBy(entry)).toEqual({
      id: 'prod.1',
      spiffeId: 'spiffe://td/ns/team-a/sa/runner',
      parentId: 'spiffe://td/spire/agent/k8s_psat/c1/node-uid-1',
      key: 'spiffe://td/ns/team-a/sa/runnerspiffe://td/spire/agent/k8s_psat/c1/node-uid-1k8spod-uid:pod-uid-p',
      parts: [{ type: 'k8s', value: 'pod-uid:pod-uid-p' }],
      selectors: ['k8s:pod-uid:pod-uid-p'],
      fields: {
        dnsNames: [],
        federatesWith: [],
        hint: '',
        x509SvidTtl: 0,
        jwtSvidTtl: 0,
        admin: false,
        downstream: false,
        storeSvid: false,
        expiresAt: 0,
      },
      createdAt: 1_767_225_600,
      revision: 0,
    })
    expect(podUidOf(entry)).toBe('pod-uid-p')
  })

  test('of a release that does not know every field', () => {
    const { created_at: _, hint: __, jwt_svid_ttl: ___, revision_number: ____, ...old } = serverEntry()
    const reading = readServerEntry(old)
    expect(reading).toMatchObject({ ok: true, entry: { createdAt: undefined, revision: undefined } })
  })

  test.each<[string, Fields, string]>([
    ['an ID as text', { spiffe_id: 'spiffe://td/a' }, 'spiffe_id'],
    ['no parent', { parent_id: undefined }, 'parent_id'],
    ['a control character in an ID', { id: 'prod.\u001b[2J' }, 'id'],
    ['a control character in a path', { spiffe_id: { trust_domain: 'td', path: '/a\n' } }, 'spiffe_id.path'],
    ['selectors as texts', { selectors: ['k8s:ns:a'] }, 'selectors.0'],
    ['a TTL as text', { x509_svid_ttl: '3600' }, 'x509_svid_ttl'],
    ['a time in words', { created_at: 'yesterday' }, 'created_at'],
    [
      'too many selectors',
      { selectors: Array.from({ length: 10_001 }, () => ({ type: 'a', value: 'b' })) },
      'selectors',
    ],
  ])('%s is refused with its field', (_, fields, field) => {
    expect(readServerEntry({ ...serverEntry(), ...fields })).toMatchObject({ ok: false, field })
  })

  test.each([null, [], 'text', 3, {}])('%j is no entry', (value) => {
    expect(readServerEntry(value)).toMatchObject({ ok: false })
  })
})

describe('whose an entry is to SCM', () => {
  const JOIN_TOKEN: Fields = {
    parent_id: { trust_domain: 'td', path: '/spire/agent/join_token/7' },
    selectors: [{ type: 'spiffe_id', value: 'spiffe://td/a' }],
  }
  test.each<[string, Fields | undefined, Fields, string]>([
    ['without a prefix, every one is', {}, {}, 'scm'],
    ['but for one of a join token', {}, JOIN_TOKEN, 'another'],
    ['with a prefix, those with it', { entryIDPrefix: 'prod' }, { id: 'prod.1' }, 'scm'],
    ['and no others', { entryIDPrefix: 'prod.' }, { id: 'production.1' }, 'another'],
    ['nor those without any', { entryIDPrefix: 'prod' }, { id: '0b6f' }, 'another'],
    [
      'but those without any where it cleans up',
      { entryIDPrefix: 'prod', entryIDPrefixCleanup: '' },
      { id: '0b6f' },
      'scm',
    ],
    [
      'or of the prefix of before',
      { entryIDPrefix: 'prod', entryIDPrefixCleanup: 'old' },
      { id: 'old.1' },
      'scm',
    ],
    ['unknown where its settings were not given', undefined, {}, 'unknown'],
  ])('%s', (_, config, fields, kind) => {
    const reading = readServerEntry({ ...serverEntry(), ...fields })
    if (!reading.ok) throw new Error(reading.why)
    const given = config === undefined ? undefined : { clusterName: 'c1', trustDomain: 'td', ...config }
    const { settings } = readScmSettings(given, 'a test', NO_EVIDENCE)
    expect(ownerOf(reading.entry, settings).kind).toBe(kind)
  })
})

test('what is read without the schema is read as by it, and it refuses nothing that the other takes', () => {
  const odd = fc.constantFrom<unknown>(
    undefined,
    null,
    '',
    'a',
    '/a',
    '/a/b',
    'a..b',
    '-1',
    '7',
    '9'.repeat(20),
    'x'.repeat(65_537),
    0,
    -1,
    1.5,
    2 ** 53,
    Number.NaN,
    true,
    [],
    ['b', 'a', 'a'],
    [
      { type: 'k8s', value: 'ns:b' },
      { type: 'k8s', value: 'ns:a' },
    ],
    [{ type: 'k8s' }],
    [null],
    {},
    { trust_domain: 'td' },
    { trust_domain: 'td', path: '' },
    { trust_domain: 'TD', path: '/a' },
    { trust_domain: 'td', path: '/a\n' },
  )
  const fields = fc.constantFrom(...Object.keys(serverEntry()), 'more')
  let taken = 0
  fc.assert(
    fc.property(fc.array(fc.tuple(fields, odd), { maxLength: 2 }), (changes) => {
      const value = { ...serverEntry(), ...Object.fromEntries(changes) }
      const reading = readServerEntry(value)
      if (reading.ok) taken++
      expect(told(reading)).toEqual(told(readBySchema(value)))
    }),
    { numRuns: runs(2_000) },
  )
  expect(taken).toBeGreaterThan(leastSeen(200))
})
