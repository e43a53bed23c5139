// YAML as it is printed.
import { parse as parseYaml } from 'yaml'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { runs } from '@kleym/testing/runs.ts'
import { toYaml } from '../../src/output/yaml.ts'
import { DANGEROUS_CHARACTERS, hostileText } from '../support/hostile-text.ts'

describe('YAML', () => {
  test('is safe to look at and means the same', async () => {
    await fc.assert(
      fc.asyncProperty(hostileText, hostileText, async (key, text) => {
        const yaml = await toYaml(Object.fromEntries([[key, [text]]]))
        expect(yaml).not.toMatch(DANGEROUS_CHARACTERS)
        expect(yaml).not.toMatch(/^\s*(?:[-?] )*::/m)
        expect(yaml).not.toMatch(/##\[|##vso\[/)
        expect(parseYaml(yaml, { uniqueKeys: false })).toEqual(
          Object.fromEntries([[key.toWellFormed(), [text.toWellFormed()]]]),
        )
      }),
      { numRuns: runs(100) },
    )
  })

  test('quotes what a YAML 1.1 reader would take for a boolean or a number', async () => {
    expect(await toYaml({ a: 'yes', b: 'on', c: '017', d: 'text' })).toBe(
      'a: "yes"\nb: "on"\nc: "017"\nd: text\n',
    )
  })

  test('repeats an object that stands twice instead of pointing to it', async () => {
    const one = { x: 1 }
    expect(await toYaml([one, one])).toBe('- x: 1\n- x: 1\n')
  })
})
