// The CRD has the shape that docs/contract.md §2 promises.
import { describe, expect, test } from 'vitest'
import { dig } from '../../src/core/base/json.ts'
import { bindingCrd } from '../../src/core/model/objects/crd.ts'

describe('the CRD', () => {
  const version = dig(bindingCrd(), 'spec', 'versions')
  const only: unknown = Array.isArray(version) && version.length === 1 ? version[0] : undefined

  test('is namespaced, with the short name iib and the category kleym', () => {
    expect(bindingCrd()).toMatchObject({
      metadata: { name: 'inferenceidentitybindings.kleym.sonda.red' },
      spec: {
        group: 'kleym.sonda.red',
        scope: 'Namespaced',
        names: {
          kind: 'InferenceIdentityBinding',
          plural: 'inferenceidentitybindings',
          shortNames: ['iib'],
          categories: ['kleym'],
        },
      },
    })
  })

  test('prints MODE POOL OBJECTIVE READY REASON IN-FORCE SPIFFE-ID AGE, and with -o wide VARIANT', () => {
    const columns = dig(only, 'additionalPrinterColumns')
    const names = Array.isArray(columns)
      ? columns.map((column) => String(dig(column, 'name')).toUpperCase())
      : []
    expect(names.join(' ')).toBe('MODE POOL OBJECTIVE READY REASON IN-FORCE SPIFFE-ID AGE VARIANT')
    expect(Array.isArray(columns) ? columns.at(-1) : undefined).toMatchObject({ priority: 1 })
  })

  test('has the status fields of the contract, and a status subresource', () => {
    const status = dig(dig(only, 'schema', 'openAPIV3Schema'), 'properties', 'status', 'properties')
    expect(Object.keys(Object(status))).toEqual([
      'observedGeneration',
      'conditions',
      'trustDomain',
      'clusterSPIFFEIDClassName',
      'variantLabelKey',
      'computedSpiffeIDs',
      'renderedSelectors',
      'conflicts',
      'clusterSPIFFEID',
    ])
    expect(only).toMatchObject({
      name: 'v1alpha1',
      served: true,
      storage: true,
      subresources: { status: {} },
    })
    expect(dig(status, 'conditions')).toMatchObject({
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['type'],
    })
  })
})
