// Which palette is in force.
import { describe, expect, test } from 'vitest'
import { choosePalette, COLOURED, PLAIN } from '../../src/io/palette.ts'

describe('choosePalette', () => {
  test.each([
    ['a terminal has colours', 'auto', {}, true, true],
    ['a pipe has none', 'auto', {}, false, false],
    ['NO_COLOR turns them off', 'auto', { NO_COLOR: '1' }, true, false],
    ['an empty NO_COLOR says nothing', 'auto', { NO_COLOR: '' }, true, true],
    ['NO_COLOR beats FORCE_COLOR', 'auto', { NO_COLOR: '1', FORCE_COLOR: '1' }, true, false],
    ['FORCE_COLOR turns them on in a pipe', 'auto', { FORCE_COLOR: '1' }, false, true],
    ['FORCE_COLOR=0 turns them off', 'auto', { FORCE_COLOR: '0' }, true, false],
    ['a dumb terminal has none', 'auto', { TERM: 'dumb' }, true, false],
    ['--color always beats all', 'always', { NO_COLOR: '1', TERM: 'dumb' }, false, true],
    ['--color never beats all', 'never', { FORCE_COLOR: '1' }, true, false],
  ] as const)('%s', (_, flag, env, isTerminal, coloured) => {
    expect(choosePalette({ flag, env, isTerminal })).toBe(coloured ? COLOURED : PLAIN)
  })

  test.each([
    ['UTF-8', { LANG: 'en_GB.UTF-8' }, true, '✓ ! ✗ · → …'],
    ['no locale', {}, true, '✓ ! ✗ · → …'],
    ['the C locale', { LANG: 'C' }, true, '+ ! x - > ~'],
    ['a locale that LC_ALL overrides', { LC_ALL: 'C.utf8', LANG: 'C' }, true, '✓ ! ✗ · → …'],
    ['the console of Linux', { TERM: 'linux', LANG: 'C.UTF-8' }, true, '+ ! x - > ~'],
    ['a pipe, whatever the locale', { LANG: 'C' }, false, '✓ ! ✗ · → …'],
  ] as const)('%s', (_, env, isTerminal, shown) => {
    expect(choosePalette({ flag: 'never', env, isTerminal }).paint('ok', '✓ ! ✗ · → …')).toBe(shown)
  })
})
