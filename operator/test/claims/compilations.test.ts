// Which compilations are kept, and for how long.
import { expect, test } from 'vitest'
import { compile, type Compiled } from '@kleym/shared/core/decide/compile/compile.ts'
import type { References } from '@kleym/shared/core/model/objects/lookup.ts'
import { binding, CONFIG } from '@kleym/testing/manifests.ts'
import { cachedBinding, type CachedBinding } from '../../src/caches/cached-binding.ts'
import { Compilations } from '../../src/claims/compilations.ts'

const NOTHING: References = {
  pool: () => ({ state: 'absent' }),
  objective: () => ({ state: 'absent' }),
}

/** A version of a binding, and what it compiles to. */
interface Version {
  readonly binding: CachedBinding
  readonly compiled: Compiled
}

function versionOf(name: string): Version {
  const cached = cachedBinding(binding({ name }))
  return { binding: cached, compiled: compile(cached, NOTHING, CONFIG) }
}

function keep(kept: Compilations, version: Version): void {
  kept.keep(version.binding, version.compiled)
}

test('what was kept of a binding is there for that very binding', () => {
  const kept = new Compilations()
  const one = versionOf('a')
  keep(kept, one)
  expect(kept.of(one.binding)).toBe(one.compiled)
})

test('what was kept of an earlier version of a binding is not there for a later one', () => {
  const kept = new Compilations()
  keep(kept, versionOf('a'))
  expect(kept.of(versionOf('a').binding)).toBeUndefined()
})

test('the latest are kept, and the one that was kept last is among them', () => {
  const kept = new Compilations()
  const all = Array.from({ length: 100 }, (_, at) => versionOf(`a-${at}`))
  for (const one of all) keep(kept, one)
  const left = all.filter((one) => kept.of(one.binding) !== undefined)
  expect(left).toEqual(all.slice(-16))
})

test('what is kept anew counts as the latest', () => {
  const kept = new Compilations()
  const first = versionOf('first')
  keep(kept, first)
  for (let at = 0; at < 15; at++) keep(kept, versionOf(`a-${at}`))
  keep(kept, first)
  keep(kept, versionOf('last'))
  expect(kept.of(first.binding)).toBe(first.compiled)
})
