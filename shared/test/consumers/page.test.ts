// docs/consumers.md says what the code knows of consumers, and what Istio answered.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { CONSUMERS } from '../../src/core/analysis/consumers/consumers.ts'

const PAGE = readFileSync(join(import.meta.dirname, '../../../docs/consumers.md'), 'utf8')

/** The rows of the table below a heading, as cells. */
function rowsBelow(heading: string): readonly (readonly string[])[] {
  const [, below = ''] = PAGE.split(`## ${heading}\n`)
  const [section = ''] = below.split('\n## ')
  const lines = section.split('\n').filter((line) => line.startsWith('| '))
  return lines.slice(1).map((line) =>
    line
      .slice(1, -1)
      .split('|')
      .map((cell) => cell.trim()),
  )
}

test('the page names each consumer, and which IDs it accepts', () => {
  const told = rowsBelow('In short').map(([name, accepts]) => ({ name, accepts }))
  expect(told).toEqual(Object.values(CONSUMERS).map(({ name, accepts }) => ({ name, accepts })))
})

test('the page says of each principal what Istio matches by it', () => {
  const vectors = readFileSync(join(import.meta.dirname, 'vectors/istio-principals.jsonl'), 'utf8')
  const answers = vectors
    .trimEnd()
    .split('\n')
    .map((line): unknown => JSON.parse(line))
  const told = rowsBelow('What a principal of Istio matches').map(([principal = '', matched = '']) => [
    'example.org',
    principal.replaceAll('`', ''),
    [matched.replaceAll('`', '')],
  ])
  expect(told).toEqual(answers)
})

test('the page names the version of Istio that was asked, and it is one in both modules', () => {
  const versions = ['test/control-plane/go/istio/go.mod', 'test/go-oracle/istio/go.mod'].map(
    (path) =>
      /istio\.io\/istio (v\S+)/.exec(readFileSync(join(import.meta.dirname, '../../..', path), 'utf8'))?.[1],
  )
  expect(new Set(versions).size).toBe(1)
  expect(PAGE).toContain(versions[0])
})
