// How much work it is to say who names an ID that changes: the answers themselves are tested where a person asks.
import { expect, test } from 'vitest'
import { consumersOf } from '../../src/core/answers/rename/consumers.ts'
import type {
  NamedBy,
  Naming,
  ResolvedPolicy,
  ResolvedRule,
} from '../../src/core/analysis/policies/resolution.ts'
import { NAMES_FILE_KIND } from '../../src/core/model/naming/names-outside.ts'
import type { RuleSource } from '../../src/core/model/objects/access-rule.ts'
import { namespacedName } from '../../src/core/model/namespaced-name.ts'

const [OLD, NEW] = ['spiffe://example.org/old', 'spiffe://example.org/new']

/** How often the names of a file are looked at that all are the old ID, each in a list of its own. */
function looksAt(names: number): number {
  let looks = 0
  const source = (at: number): RuleSource =>
    new Proxy(
      { kind: 'SPIFFE', field: `[${at}].bound_claims.sub[0]`, spiffeId: OLD },
      {
        get(target, key): unknown {
          looks += 1
          return Reflect.get(target, key)
        },
      },
    )
  const rules = Array.from({ length: names }, (_, at): ResolvedRule => ({
    at,
    name: `#${at}`,
    sources: [{ source: source(at), text: OLD, resolution: { state: 'unbounded', text: '' } }],
    asks: 'not read',
    authorization: undefined,
    mentioned: [],
    notes: [],
  }))
  const policy: ResolvedPolicy = {
    key: namespacedName('', 'roles.json'),
    kind: NAMES_FILE_KIND,
    namespace: '',
    name: 'roles.json',
    apiVersion: 'kleym.sonda.red/v1',
    isInterpreted: true,
    isNamesAlone: true,
    targets: [],
    action: undefined,
    rules,
    notes: [],
    problems: [],
  }
  const namings = rules.flatMap((rule) =>
    rule.sources.map((one): Naming => ({ way: 'exactly', policy, rule, source: one })),
  )
  const namedBy = (ids: readonly string[]): NamedBy => ({
    knowledge: { state: 'known' },
    namings: ids.includes(OLD) ? namings : [],
    mentions: [],
    inTexts: [],
    uninterpreted: [],
    asksDiffer: false,
  })
  const policies = { knowledge: { state: 'known' } as const, list: [policy], mentioning: [], namedBy }
  const { edits } = consumersOf(policies, [{ oldId: OLD, newId: NEW }])
  expect(edits).toHaveLength(names)
  return looks
}

test('the work grows with the names, not with their square', () => {
  const [few, many] = [looksAt(50), looksAt(500)]
  expect(many).toBeLessThanOrEqual(10 * few)
})
