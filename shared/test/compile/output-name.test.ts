// Names of outputs, whatever the binding's name (docs/contract.md §5).
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { runs } from '@kleym/testing/runs.ts'
import { outputName } from '../../src/core/decide/compile/output.ts'
import { isDns1123Label } from '../../src/core/base/text/kubernetes.ts'

const NAME_CHARS = fc.constantFrom('a', 'b', '0', '-', '.', 'x')
const objectName = fc
  .string({ unit: NAME_CHARS, minLength: 1, maxLength: 80 })
  .map((text) => `k${text}`.replaceAll(/[.-]+/g, (run) => run.slice(0, 1)).replace(/[.-]$/, ''))

test('names are unique per binding, and DNS-1123 labels', () => {
  const key = fc.record({
    namespace: objectName.map((name) => name.replaceAll('.', '').slice(0, 63)),
    name: objectName,
  })
  fc.assert(
    fc.property(
      fc.uniqueArray(key, { selector: (one) => `${one.namespace}/${one.name}`, maxLength: 20 }),
      (keys) => {
        const names = keys.map((one) =>
          outputName(one.namespace, one.name, 'objective', 'spiffe://example.org/x'),
        )
        expect(new Set(names).size).toBe(keys.length)
        expect(names.filter((name) => !isDns1123Label(name))).toEqual([])
      },
    ),
    { numRuns: runs(150) },
  )
})
