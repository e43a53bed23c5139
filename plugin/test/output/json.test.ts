// JSON as it is printed.
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { runs } from '@kleym/testing/runs.ts'
import { report, toJson } from '../../src/output/json.ts'
import { DANGEROUS_CHARACTERS, hostileText } from '../support/hostile-text.ts'

describe('JSON', () => {
  test('begins with apiVersion and kind, and keeps the order of keys', () => {
    expect(toJson(report('Explanation', { z: 1, a: [] }))).toBe(
      '{\n  "apiVersion": "kleym.sonda.red/report/v1alpha1",\n  "kind": "Explanation",\n  "z": 1,\n  "a": []\n}\n',
    )
  })

  test('is safe to look at and means the same', () => {
    fc.assert(
      fc.property(hostileText, hostileText, (key, text) => {
        const value = Object.fromEntries([[key, [text]]])
        const json = toJson(value)
        expect(json).not.toMatch(DANGEROUS_CHARACTERS)
        expect(json).not.toMatch(/^\s*::/m)
        expect(json).not.toMatch(/##\[|##vso\[/)
        expect(JSON.parse(json)).toEqual(value)
      }),
      { numRuns: runs(100) },
    )
  })
})
