// The reasons of `Ready`, in their order (docs/contract.md §7).
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { REASON_NAMES } from '../../src/core/decide/reasons/reasons.ts'

const CONTRACT = readFileSync(join(import.meta.dirname, '../../../docs/contract.md'), 'utf8')

test('the registry holds the reasons of the contract, and no other', () => {
  const rows = [...CONTRACT.matchAll(/^\| `(\w+)(?:=\w+)?` \| (`.*) \|$/gm)]
  const decided = rows.filter(([, condition]) => condition !== 'InForce')
  const reasons = decided.flatMap(([, , named = '']) => [...named.matchAll(/`(\w+)`/g)].map(([, one]) => one))
  expect(REASON_NAMES).toEqual(reasons)
})
