// The mutants of `npm run mutants` keep up with the sources that they break.
import { expect, test } from 'vitest'
import { MUTANTS } from '../../scripts/mutants/list.ts'
import { textOf } from './files.ts'

test('the text that a mutant changes stands in its file once', () => {
  expect(MUTANTS.length).toBeGreaterThan(100)
  const stale = MUTANTS.filter(({ file, find }) => textOf(file).split(find).length !== 2)
  expect(stale.map(({ breaks, file }) => `${breaks} (${file})`)).toEqual([])
})

test('no two mutants of a file break the same rule', () => {
  const rules = MUTANTS.map(({ breaks, file }) => `${breaks} (${file})`)
  expect(rules.filter((rule, at) => rules.indexOf(rule) !== at)).toEqual([])
})
