// docs/contract.md §5: the rendered ClusterSPIFFEID, whole, and the rules of its name, labels and hint.
import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { hintOf, labelValue, nameFromItself, outputName } from '../../src/core/decide/compile/output.ts'
import { isDns1123Label, labelValueProblem } from '../../src/core/base/text/kubernetes.ts'
import { CONFIG, binding, estate, objective, outputOf, pool, poolOnly } from '@kleym/testing/manifests.ts'

const ID = 'spiffe://example.org/ns/team-a/objective/chat'
const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex')
const nameOf = (namespace: string, name: string): string =>
  outputName(namespace, name, 'objective', `spiffe://example.org/ns/${namespace}/objective/chat`)

describe('the whole output', () => {
  const labels = { app: 'llama', 'llm-d.ai/role': 'decode' }
  const objects = [pool({ labels }), objective(), binding(), poolOnly({ name: 'whole', uid: '' })]

  test.each([
    ['of a PerObjective binding', 'team-a/llama', 'output-per-objective.json'],
    ['of a PoolOnly manifest, which has no UID', 'team-a/whole', 'output-pool-only.json'],
  ])('%s', async (_name, key, file) => {
    const text = `${JSON.stringify(outputOf(objects, key), null, 2)}\n`
    await expect(text).toMatchFileSnapshot(`golden/${file}`)
  })

  test('has a class only when one is configured', () => {
    const classy = outputOf(objects, 'team-a/llama', { config: { ...CONFIG, className: 'tenant' } })
    const plain = outputOf(objects, 'team-a/llama')
    expect(classy).toEqual({
      ...plain,
      metadata: {
        ...plain.metadata,
        labels: { ...plain.metadata.labels, 'spire.spiffe.io/class-name': 'tenant' },
      },
      spec: { ...plain.spec, className: 'tenant' },
    })
    expect(Object.keys(plain.spec)).toEqual([
      'spiffeIDTemplate',
      'namespaceSelector',
      'podSelector',
      'workloadSelectorTemplates',
      'fallback',
      'hint',
    ])
  })

  test('has no class label for a class that is no label value', () => {
    const className = 'c'.repeat(64)
    const { metadata, spec } = outputOf(objects, 'team-a/llama', { config: { ...CONFIG, className } })
    expect(metadata).toEqual(outputOf(objects, 'team-a/llama').metadata)
    expect(spec.className).toBe(className)
  })

  test('has the labels of --output-label, and lists their keys', () => {
    const outputLabels = new Map([
      ['tier', 'gold'],
      ['example.org/team', ''],
    ])
    const labelled = outputOf(objects, 'team-a/llama', { config: { ...CONFIG, outputLabels } })
    const plain = outputOf(objects, 'team-a/llama')
    expect(labelled.metadata.labels).toEqual({
      ...plain.metadata.labels,
      tier: 'gold',
      'example.org/team': '',
    })
    expect(labelled.metadata.annotations).toEqual({
      ...plain.metadata.annotations,
      'kleym.sonda.red/output-labels': 'example.org/team,tier',
    })
    expect(labelled.metadata.name).toBe(plain.metadata.name)
  })

  test('depends on nothing but its inputs, in any order', () => {
    expect(JSON.stringify(outputOf(objects.toReversed()))).toBe(JSON.stringify(outputOf(objects)))
  })
})

describe('the name', () => {
  test('ends in the first 20 hex digits of SHA-256 over binding, line feed and SPIFFE ID', () => {
    const hash = hashOf(`team-a/llama\n${ID}`).slice(0, 20)
    expect(nameOf('team-a', 'llama')).toBe(`kleym-team-a-llama-objective-${hash}`)
    expect(outputName('team-a', 'llama', 'pool', ID)).toBe(`kleym-team-a-llama-pool-${hash}`)
  })

  // The base of a name: what stands before `-objective-<20 digits>`; 63 - 31 = 32 characters at most.
  test.each([
    ['runs of other characters become one dash', 'a', 'x..y__z', 'kleym-a-x-y-z'],
    ['dots become dashes', 'a', 'x.y', 'kleym-a-x-y'],
    ['a dash at the end of the base goes', 'a', 'x.', 'kleym-a-x'],
    ['32 characters stay whole', 'a', 'x'.repeat(24), `kleym-a-${'x'.repeat(24)}`],
    ['the 33rd is cut', 'a', 'x'.repeat(25), `kleym-a-${'x'.repeat(24)}`],
    ['a dash where the cut falls goes', 'a', `${'x'.repeat(23)}-y`, `kleym-a-${'x'.repeat(23)}`],
    [
      'a run of dots where the cut falls is one dash first',
      'a',
      `${'x'.repeat(22)}...yz`,
      `kleym-a-${'x'.repeat(22)}-y`,
    ],
  ])('%s', (_name, namespace, name, base) => {
    expect(nameOf(namespace, name).slice(0, -'-objective-'.length - 20)).toBe(base)
  })

  test.each([
    ['team-a', 'llama'],
    ['n'.repeat(63), 'b'.repeat(253)],
    ['a', 'x.y.z'],
    ['a', `${'x.'.repeat(126)}x`],
    ['0', '0'],
  ])('of %s/%s is a DNS-1123 label', (namespace, name) => {
    expect(isDns1123Label(nameOf(namespace, name))).toBe(true)
  })

  test.each([
    ['bindings team-a/llama and team/a-llama', ['team-a', 'llama'], ['team', 'a-llama']],
    ['x.y and x-y-57cccf61 in one namespace', ['a', 'x.y'], ['a', 'x-y-57cccf61']],
    ['x.y and x-y', ['a', 'x.y'], ['a', 'x-y']],
    ['names equal after the cut', ['a', 'x'.repeat(30)], ['a', 'x'.repeat(31)]],
    [
      '253-character names that differ at the end',
      ['a', `${'x'.repeat(252)}a`],
      ['a', `${'x'.repeat(252)}b`],
    ],
  ] as const)('%s never share a name', (_name, [nsA, a], [nsB, b]) => {
    // Even with one SPIFFE ID for both, which namespaces rule out.
    expect(outputName(nsA, a, 'objective', ID)).not.toBe(outputName(nsB, b, 'objective', ID))
    expect(nameOf(nsA, a)).not.toBe(nameOf(nsB, b))
  })

  test('changes with the SPIFFE ID', () => {
    expect(outputName('team-a', 'llama', 'objective', `${ID}2`)).not.toBe(nameOf('team-a', 'llama'))
  })
})

describe('the name by the annotation and template of an object and template', () => {
  test.each([
    ['is the rendered one for an objective', 'team-a/llama', ID, nameOf('team-a', 'llama')],
    [
      'is the rendered one for a pool',
      'team-a/llama',
      'spiffe://example.org/ns/team-a/pool/llama',
      outputName('team-a', 'llama', 'pool', 'spiffe://example.org/ns/team-a/pool/llama'),
    ],
    ['is none when the template is of another namespace', 'team-b/llama', ID, undefined],
    [
      'is none when the template is no literal',
      'team-a/llama',
      'spiffe://{{.TrustDomain}}/ns/team-a/objective/chat',
      undefined,
    ],
    [
      'is none when the path is not one of kleym',
      'team-a/llama',
      'spiffe://example.org/ns/team-a/sa/default',
      undefined,
    ],
    ['is none when the path goes on', 'team-a/llama', `${ID}/more`, undefined],
    ['is none when the annotation is no key', 'llama', ID, undefined],
    ['is none when the annotation has two slashes', 'team-a/llama/x', ID, undefined],
    ['is none for empty texts', '', '', undefined],
    ['is none when the annotation names no binding', 'team-a/', ID, undefined],
    ['is none when the annotation names what is no name', 'team-a/..', ID, undefined],
    [
      'is none when the annotation names no namespace',
      '/llama',
      'spiffe://example.org/ns//pool/x',
      undefined,
    ],
  ])('%s', (_name, key, template, expected) => {
    expect(nameFromItself(key, template)).toBe(expected)
  })
})

describe('labels and hint', () => {
  test.each([
    [63, 'b'.repeat(63)],
    [64, `${'b'.repeat(54)}-${hashOf('b'.repeat(64)).slice(0, 8)}`],
    [253, `${'b'.repeat(54)}-${hashOf('b'.repeat(253)).slice(0, 8)}`],
  ])('a name of %i characters as a label value', (length, expected) => {
    expect(labelValue('b'.repeat(length))).toBe(expected)
    expect(labelValueProblem(expected)).toBeUndefined()
  })

  test('a label value stays legal where the cut falls on a dot', () => {
    expect(labelValueProblem(labelValue(`${'b'.repeat(53)}.${'c'.repeat(20)}`))).toBeUndefined()
  })

  test.each([
    [255, 'b'.repeat(255)],
    [256, `${'b'.repeat(246)}-${hashOf('b'.repeat(256)).slice(0, 8)}`],
    [317, `${'b'.repeat(246)}-${hashOf('b'.repeat(317)).slice(0, 8)}`],
  ])('a key of %i bytes as a hint', (length, expected) => {
    expect(hintOf('b'.repeat(length))).toBe(expected)
    expect(Buffer.byteLength(expected)).toBeLessThanOrEqual(255)
  })

  test('a long binding keeps its whole key in the annotation', () => {
    const name = 'b'.repeat(253)
    const { metadata, spec } = outputOf(estate(binding({ name })), `team-a/${name}`)
    expect(metadata.annotations['kleym.sonda.red/binding']).toBe(`team-a/${name}`)
    expect(metadata.labels['kleym.sonda.red/binding-name']).toHaveLength(63)
    expect(spec.hint).toHaveLength(255)
  })
})
