// Which of two objects SCM prefers (docs/spire-facts.md §3), and when a fact that is not known leaves that open.
import { expect, test } from 'vitest'
import { preferred, type Precedence } from '../../src/core/predict/spire/precedence.ts'

const OBJECT: Precedence = { created: 100, deleted: undefined, uid: 'b' }
const MIRRORED = { left: 'right', right: 'left', unknown: 'unknown' } as const

test.each<[string, Partial<Precedence>, Partial<Precedence>, 'left' | 'right' | 'unknown']>([
  ['the older one, whatever else', { created: 99, deleted: 1, uid: 'z' }, {}, 'left'],
  ['any that is there to one that is not created yet', {}, { created: 'not created' }, 'left'],
  [
    'neither of two that are not created yet',
    { created: 'not created' },
    { created: 'not created' },
    'unknown',
  ],
  ['neither where one creation is not known', { created: undefined }, {}, 'unknown'],
  ['neither where no creation is known', { created: undefined }, { created: undefined }, 'unknown'],
  ['the one that is not being deleted', {}, { deleted: 50, uid: 'a' }, 'left'],
  ['of two that are being deleted, the later one', { deleted: 60 }, { deleted: 50, uid: 'a' }, 'left'],
  ['neither where one deletion is not known', { deleted: Number.NaN }, { deleted: 50 }, 'unknown'],
  ['the smaller UID', { uid: 'a' }, {}, 'left'],
  ['neither of equal UIDs', {}, {}, 'unknown'],
  ['neither where one UID is not known', { uid: undefined }, {}, 'unknown'],
  ['neither where no UID is known', { uid: undefined }, { uid: undefined }, 'unknown'],
])('SCM prefers %s', (_, left, right, which) => {
  expect(preferred({ ...OBJECT, ...left }, { ...OBJECT, ...right })).toBe(which)
  expect(preferred({ ...OBJECT, ...right }, { ...OBJECT, ...left })).toBe(MIRRORED[which])
})
