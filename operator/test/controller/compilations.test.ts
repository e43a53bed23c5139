// Which compilations are kept, and for how long.
import { expect, test } from 'vitest'
import { compile, type Compiled } from '@kleym/shared/core/compile/compile.ts'
import type { References } from '@kleym/shared/core/compile/references.ts'
import { readBinding } from '@kleym/shared/core/objects/binding.ts'
import { binding, CONFIG } from '@kleym/testing/manifests.ts'
import { Compilations } from '../../src/controller/compilations.ts'

const NOTHING: References = {
  pool: () => ({ state: 'absent' }),
  objective: () => ({ state: 'absent' }),
}

function compiled(name: string): Compiled {
  return compile(readBinding({ value: binding({ name }) }, 'live'), NOTHING, CONFIG)
}

test('what was kept of a binding is there for that very binding', () => {
  const kept = new Compilations()
  const one = compiled('a')
  kept.keep(one)
  expect(kept.of(one.binding)).toBe(one)
})

test('what was kept of an earlier version of a binding is not there for a later one', () => {
  const kept = new Compilations()
  kept.keep(compiled('a'))
  expect(kept.of(compiled('a').binding)).toBeUndefined()
})

test('the latest are kept, and the one that was kept last is among them', () => {
  const kept = new Compilations()
  const all = Array.from({ length: 100 }, (_, at) => compiled(`a-${at}`))
  for (const one of all) kept.keep(one)
  const left = all.filter((one) => kept.of(one.binding) !== undefined)
  expect(left).toEqual(all.slice(-16))
})

test('what is kept anew counts as the latest', () => {
  const kept = new Compilations()
  const first = compiled('first')
  kept.keep(first)
  for (let at = 0; at < 15; at++) kept.keep(compiled(`a-${at}`))
  kept.keep(first)
  kept.keep(compiled('last'))
  expect(kept.of(first.binding)).toBe(first)
})
