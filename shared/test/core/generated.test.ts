// Generated files are what their one source says now, and the CRD has the shape that the contract promises (§2).
import { readFile, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { generatedFiles } from '../../../scripts/generate.ts'
import { dig } from '../../src/core/json.ts'
import { bindingCrd } from '../../src/core/objects/crd.ts'
import { FINDING_CODES } from '../../src/core/registry/findings.ts'
import { REASON_NAMES } from '../../src/core/registry/reasons.ts'

const ROOT = join(import.meta.dirname, '../../..')

const FILES = await generatedFiles(ROOT)

describe('generated files', () => {
  test.each([...FILES])('%s is up to date (npm run generate)', async (path, content) => {
    expect(await readFile(join(ROOT, path), 'utf8')).toBe(content)
  })

  test('docs/findings holds a page for every code and nothing else', async () => {
    const pages = await readdir(join(ROOT, 'docs/findings'))
    expect(pages.toSorted()).toEqual([...FINDING_CODES.map((code) => `${code}.md`), 'README.md'].toSorted())
  })
})

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

  test('prints MODE POOL OBJECTIVE READY REASON IN-FORCE SPIFFE-ID AGE', () => {
    const columns = dig(only, 'additionalPrinterColumns')
    const names = Array.isArray(columns)
      ? columns.map((column) => String(dig(column, 'name')).toUpperCase())
      : []
    expect(names.join(' ')).toBe('MODE POOL OBJECTIVE READY REASON IN-FORCE SPIFFE-ID AGE')
  })

  test('has the status fields of the contract, and a status subresource', () => {
    const status = dig(dig(only, 'schema', 'openAPIV3Schema'), 'properties', 'status', 'properties')
    expect(Object.keys(Object(status))).toEqual([
      'observedGeneration',
      'conditions',
      'trustDomain',
      'clusterSPIFFEIDClassName',
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

test('the registry holds the reasons of the contract, and no other', () => {
  expect(REASON_NAMES).toEqual([
    'Reconciled',
    'Undetermined',
    'WaitingForPeer',
    'InvalidPoolRef',
    'TargetPoolNotFound',
    'AmbiguousPoolRef',
    'InferencePoolCRDMissing',
    'InvalidObjectiveRef',
    'TargetObjectiveNotFound',
    'InferenceObjectiveCRDMissing',
    'InvalidPoolSelector',
    'UnsafeSelector',
    'IdentityCollision',
    'UnsupportedMode',
    'MissingObjectiveRef',
    'InvalidServiceAccountName',
    'InvalidContainerName',
    'UnexpectedContainerName',
    'InvalidSPIFFEID',
    'MissingTrustDomain',
    'ClusterSPIFFEIDCRDMissing',
    'OutputNotOwned',
    'ManagedOutputApplyFailed',
  ])
})
