// The list of all resources has every one of them: what is looked up by name is not found otherwise.
import { expect, test } from 'vitest'
import { isRecord } from '@kleym/shared/core/base/json.ts'
import * as resources from '@kleym/shared/kube/resources.ts'

test('RESOURCES has every resource of the module, each name once', () => {
  const exported = Object.values(resources)
    .flat()
    .filter((value) => isRecord(value) && 'plural' in value)
  expect(new Set(resources.RESOURCES)).toEqual(new Set(exported))
  const names = resources.RESOURCES.map(resources.resourceName)
  expect(new Set(names).size).toBe(names.length)
})
