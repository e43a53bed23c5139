// Documents of kinds that no answer reads are not parsed: what is skipped so is what full parsing would skip.
import { isRecord, stringAt } from '@kleym/shared/core/base/json.ts'
import { isPodMaker } from '@kleym/shared/core/model/objects/pod-makers.ts'
import { expect, test } from 'vitest'
import { readVectors, textAt } from '../../../shared/test/go/vectors.ts'
import { WANTED_KINDS } from '../../src/gather/wanted-kinds.ts'
import { splitDocuments } from '../../src/sources/document.ts'
import { parse } from '../../src/sources/load.ts'
import { unreadTypes } from '../../src/sources/unread.ts'

const unreadType = unreadTypes({ wanted: WANTED_KINDS })
const typed = (apiVersion: string, kind: string, more = ''): string =>
  `apiVersion: ${apiVersion}\nkind: ${kind}\nmetadata:\n  name: a\n${more}`

test.each<[string, string]>([
  [
    'a CRD, whatever its schema has',
    typed('apiextensions.k8s.io/v1', 'CustomResourceDefinition', 'spec: {containers: []}\n'),
  ],
  [
    'a role in flow style',
    typed('rbac.authorization.k8s.io/v1', 'ClusterRole', 'rules: [{verbs: ["get"]}]\n'),
  ],
  ['a document that does not parse', typed('v1', 'Service', 'spec:\n  a: [\n')],
])('%s is not read', (_, text) => {
  expect(unreadType(text)).toMatchObject({ kind: expect.any(String) })
})

test.each<[string, string]>([
  ['a kind that answers use', typed('v1', 'Pod')],
  ['a kind that is nearly one', typed('v1', 'Pods')],
  ["a version that kleym's group does not have", typed('kleym.sonda.red/v1', 'InferenceIdentityBinding')],
  ['a list', typed('v1', 'ServiceList')],
  [
    'a pod template in an object of any kind',
    typed('x.io/v1', 'Thing', 'spec:\n  containers: [{name: a}]\n'),
  ],
  [
    'a pod template behind an escape',
    typed('x.io/v1', 'Thing', 'spec: {"c\\x6fntainers": [{"name": "a"}]}\n'),
  ],
  ['a kind that makes pods without a template', typed('kaito.sh/v1', 'Workspace')],
  ['a chart that is installed', typed('helm.toolkit.fluxcd.io/v2', 'HelmRelease')],
  [
    'a policy that may mount the Workload API',
    typed('kyverno.io/v1', 'ClusterPolicy', 'spec: {mutate: {driver: csi.spiffe.io}}\n'),
  ],
  ['a template', typed('v1', '{{ .kind }}')],
  ['a type that goes on below', 'apiVersion: v1\nkind: Service\n  x\n'],
])('%s is read', (_, text) => {
  expect(unreadType(text)).toBeUndefined()
})

test('no document that kubectl takes is of another kind than its text says', async () => {
  const wrong: unknown[] = []
  let skipped = 0
  for (const row of readVectors('yaml.jsonl'))
    for (const { text } of splitDocuments(textAt(row, 0))) {
      const type = unreadType(text)
      if (type === undefined) continue
      skipped++
      const { documents } = await parse('f.yaml', new TextEncoder().encode(text))
      // One without a kind is no object: kubectl takes none.
      const objects = documents.map(({ value }) => value).filter((one) => isRecord(one) && 'kind' in one)
      for (const value of objects) {
        const isSame = ['kind', 'apiVersion'].every(
          (field) => stringAt(value, field) === Reflect.get(type, field),
        )
        if (!isSame || (isRecord(value) && isPodMaker(value))) wrong.push({ text, type, value })
      }
    }
  expect(wrong).toEqual([])
  expect(skipped).toBeGreaterThan(100)
})
