// Our evaluator against Go's own text/template. The corpus and the oracle's answers are in vectors/; they are made by
// test/go-oracle/template: go run . run < corpus.json > oracle.json.
import { describe, expect, test } from 'vitest'
import { compare, readData, readVectors } from './differential.ts'

const data = readData(new URL('vectors/corpus.json', import.meta.url))
const judged = readVectors(new URL('vectors/oracle.json', import.meta.url)).map((vector) => ({
  vector,
  verdict: compare(vector, data.get(vector.data)),
}))

describe('templates that Go executed', () => {
  test.each([...new Set(judged.map(({ vector }) => vector.name ?? ''))])('%s: no answer differs', (name) => {
    const differing = judged.filter(
      ({ vector, verdict }) => vector.name === name && verdict.kind === 'different',
    )
    expect(differing).toEqual([])
  })

  test('at most one in fifty of the templates that people write is unknown', () => {
    const written = judged.filter(({ vector }) => vector.name === 'written by people')
    const unknown = written.filter(({ verdict }) => verdict.kind === 'unknown')
    expect(written.length).toBeGreaterThan(200)
    expect(unknown.length / written.length).toBeLessThan(1 / 50)
  })

  test('every unknown names its reason, and the reasons are these', () => {
    const reasons = new Set(
      judged
        .filter(({ verdict }) => verdict.kind === 'unknown')
        .map(({ verdict }) => verdict.ours.replace('unknown: ', '').split(':')[0]),
    )
    expect(reasons).toEqual(
      new Set([
        'an address',
        'an execution nested deeper than 500',
        'how Go escapes a character beyond the Latin ones',
        'method GetObjectMeta of the pod',
        'method String of the pod',
        'the text of a Go struct',
      ]),
    )
  })
})
