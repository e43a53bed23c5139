// Whom an AuthorizationPolicy names is what istiod compiles it to, for random policies (test/go-oracle/istio/policies.go).
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { patternMatches } from '../../src/core/model/naming/id-matcher.ts'
import { istioSources, type MeshTrust } from '../../src/core/model/naming/istio-source.ts'
import { matchesRule, names } from './matches-rule.ts'

const [FIRST = '[]', ...OTHERS] = readFileSync(
  join(import.meta.dirname, 'vectors/istio-policies.jsonl'),
  'utf8',
)
  .trimEnd()
  .split('\n')

const IDS = z.array(z.string()).parse(JSON.parse(FIRST))

/** The mesh; the rule; for each ID whether its principals match it; what istiod compares with, for each principal. */
const vectorSchema = z.tuple([
  z.tuple([z.string()], z.string()),
  z.unknown(),
  z.string(),
  z.record(z.string(), z.array(z.string())),
])

const POLICIES = OTHERS.map((text) => {
  const [[trustDomain, ...aliases], rule, matched, compared] = vectorSchema.parse(JSON.parse(text))
  const mesh: MeshTrust = { trustDomain, aliases }
  return { mesh, rule, matched, compared, sources: istioSources(rule, 0, 'team-a', mesh) }
})

/** What istiod compares with, with `*` for any text. */
function plain(compared: string): string {
  return compared
    .replace(/^prefix (.*)$/, '$1*')
    .replace(/^regex spiffe:\/\/\.\*(.*)$/, (_, rest: string) => `spiffe://*${rest.replaceAll('\\', '')}`)
}

describe('random policies', () => {
  test('match the IDs that istiod matches', () => {
    const wrong = POLICIES.flatMap(({ mesh, rule, matched, sources }) => {
      const found = IDS.map((id) => (matchesRule(rule, sources, id) ? '1' : '0')).join('')
      return found === matched ? [] : [{ mesh, rule, found, matched }]
    })
    expect(wrong).toEqual([])
    expect(POLICIES.length).toBeGreaterThanOrEqual(2000)
  })

  test('a pattern with what stands beside it takes in no ID that istiod does not match', () => {
    const wrong = POLICIES.flatMap(({ mesh, rule, matched, sources }) =>
      sources.flatMap((source) =>
        source.kind === 'pattern' && source.isExcluded !== true && source.field.includes('.from[')
          ? IDS.flatMap((id, at) =>
              patternMatches(source.pattern, id) && matched[at] !== '1' ? [{ mesh, rule, id }] : [],
            )
          : [],
      ),
    )
    expect(wrong).toEqual([])
  })

  test('a principal that is called dead stands for what istiod compares with, which no ID is equal to', () => {
    const dead = POLICIES.flatMap(({ compared, sources }) =>
      sources.flatMap((source) => {
        const [first] = source.kind === 'dead' ? (compared[source.written] ?? []) : []
        return source.kind === 'dead' && first !== undefined ? [{ ...source, first }] : []
      }),
    )
    expect(dead.map(({ standsFor }) => standsFor)).toEqual(dead.map(({ first }) => plain(first)))
    expect(dead.filter(({ first }) => IDS.includes(first))).toEqual([])
    expect(dead.length).toBeGreaterThan(200)
  })

  test('what is certain without the trust domain of the mesh is so with each', () => {
    const wrong = POLICIES.flatMap(({ mesh, rule, sources }) => {
      // Of an alias that is a pattern itself Istio makes a name with two wildcards, which matches nothing.
      if (mesh.aliases.some((one) => one.includes('*'))) return []
      return istioSources(rule, 0, 'team-a', undefined).flatMap((source, at) => {
        const same = sources[at]
        const isKept = same !== undefined && IDS.every((id) => !names(source, id) || names(same, id))
        return isKept && (source.kind !== 'dead' || same.kind === 'dead') ? [] : [{ mesh, source, same }]
      })
    })
    expect(wrong).toEqual([])
  })
})
