import * as fc from 'fast-check'
import { isRecord, own, stringAt } from '@kleym/shared/core/base/json.ts'
import { describe, expect, test } from 'vitest'
import { leastSeen, runs } from '@kleym/testing/runs.ts'
import { kindsMentioned, plainTypeOf, type PlainType } from '../../src/sources/kinds-in-text.ts'
import { parse } from '../../src/sources/load.ts'

const KINDS = ['InferencePool', 'ClusterSPIFFEID', 'Deployment', 'Pod']

describe('what a document says plainly', () => {
  test.each<[string, string, Partial<PlainType>]>([
    [
      'type, namespace and name',
      'apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\n  namespace: x\nspec: {}\n',
      { kind: 'Pod', apiVersion: 'v1', namespace: 'x', name: 'a', isMetadataPlain: true },
    ],
    [
      'quotes, comments, a beginning, and CRLF',
      '---\r\n# c\r\napiVersion: "apps/v1" # c\r\nkind: \'Deployment\'\r\n',
      { kind: 'Deployment', apiVersion: 'apps/v1' },
    ],
    [
      'a text that does not parse',
      'apiVersion: v1\nkind: Pod\nspec:\n  a: [\n',
      { kind: 'Pod', isMetadataPlain: false },
    ],
    [
      'no namespace is certain where metadata is plain',
      'apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\n  labels:\n    namespace: x\n',
      { namespace: undefined, name: 'a', isMetadataPlain: true },
    ],
    [
      'metadata in brackets, with a placeholder',
      'apiVersion: v1\nkind: Pod\nmetadata: {name: ${A}, namespace: x, labels: {namespace: y}}\n',
      { isMetadataPlain: true, namespace: 'x', name: undefined },
    ],
    [
      'metadata in brackets is not plain where its namespace is filled in',
      'apiVersion: v1\nkind: Pod\nmetadata: {name: a, namespace: "{{ .x }}"}\n',
      { isMetadataPlain: false },
    ],
    [
      'a name that may go on below hides what follows',
      'apiVersion: v1\nkind: Pod\nmetadata:\n  name: "a\n  namespace: x"\n',
      { isMetadataPlain: false },
    ],
    [
      'a placeholder is no name, and hides no namespace',
      'apiVersion: v1\nkind: Pod\nmetadata:\n  name: ${A}\n  namespace: x\n',
      { name: undefined, namespace: 'x', isMetadataPlain: true },
    ],
  ])('%s', (_, text, type) => {
    expect(plainTypeOf(text)).toMatchObject(type)
  })

  test.each<[string, string]>([
    ['a kind that goes on below', 'apiVersion: v1\nkind: Pod\n  more\n'],
    ['a kind that is no text', 'apiVersion: v1\nkind: yes\n'],
    ['a kind with a hash in it', 'apiVersion: v1\nkind: Pod#x\n'],
    ['a kind twice', 'apiVersion: v1\nkind: Pod\nkind: Secret\n'],
    ['a kind in quotes beside it', 'apiVersion: v1\nkind: Pod\n"kind": Secret\n'],
    ['a merge key', '<<: *a\napiVersion: v1\nkind: Pod\n'],
    ['a document that is indented', '  a: "\nkind: Secret\napiVersion: v1\n  "\n  kind: Pod\n'],
    ['the end of the document', 'kind: Pod\napiVersion: v1\n...\nkind: Secret\n'],
    ['a line break of YAML 1.1', 'apiVersion: v1\nkind: Pod\na: b\u2028kind: Secret\n'],
    ['a template', '{{ if .x }}\napiVersion: v1\nkind: Pod\n{{ end }}\n'],
    ['no kind', 'apiVersion: v1\nname: x\n'],
  ])('nothing: %s', (_, text) => {
    expect(plainTypeOf(text)).toBeUndefined()
  })

  test('is what parsing finds, wherever the text parses', async () => {
    const outcomes = { plain: 0, parsed: 0 }
    await fc.assert(
      fc.asyncProperty(documentText(), async (text) => {
        const type = plainTypeOf(text)
        const { documents, faults } = await parse('f.yaml', new TextEncoder().encode(text))
        const [value] = documents.map((one) => one.value)
        if (faults.length === 0 && isRecord(value)) outcomes.parsed++
        if (type === undefined || faults.length > 0) return
        outcomes.plain++
        expect({ kind: own(value, 'kind'), apiVersion: own(value, 'apiVersion') }).toEqual({
          kind: type.kind,
          apiVersion: type.apiVersion,
        })
        if (!type.isMetadataPlain) return
        expect(stringAt(value, 'metadata', 'namespace')).toBe(type.namespace)
        expect(type.name ?? stringAt(value, 'metadata', 'name')).toBe(stringAt(value, 'metadata', 'name'))
      }),
      { numRuns: runs(3_000) },
    )
    // The generator must reach what the property is about.
    expect(outcomes.plain).toBeGreaterThan(leastSeen(100))
    expect(outcomes.parsed).toBeGreaterThan(leastSeen(200))
  })
})

describe('what a text may hold', () => {
  test.each<[string, string, readonly string[] | 'anything']>([
    ['the kind at the top', 'kind: Deployment\nspec: [\n', ['Deployment']],
    ['not what is named below it', 'kind: HTTPRoute\nspec:\n  - kind: InferencePool\n  {{\n', ['HTTPRoute']],
    [
      'both kinds of a condition',
      '{{ if .x }}\nkind: Pod\n{{ else }}\nkind: Job\n{{ end }}\n',
      ['Pod', 'Job'],
    ],
    ['the items of a list', 'kind: List\nitems:\n- kind: Pod\n  {{\n', ['List', 'Pod']],
    ['a typed list', 'kind: InferencePoolList\nitems: [\n', ['InferencePoolList', 'InferencePool']],
    ['JSON', '{"kind": "Pod", "spec": [', ['Pod']],
    ['a kind that is only named', '# makes a ClusterSPIFFEID\n{{ include "x" . }}\n', ['ClusterSPIFFEID']],
    ['a common word is no kind', 'Deployment of a Pod {\n', []],
    ['a kind that is filled in', 'kind: {{ .kind }}\n', 'anything'],
    ['a kind that is not written out', 'kind: [\n', 'anything'],
    ['a kind by its escapes', '"\\x6bind": Pod\n', 'anything'],
    ['a kind from elsewhere', '<<: *a\n', 'anything'],
    ['nothing', 'a: {\n', []],
    [
      'each of one line of JSON',
      '{"kind":"List","items":[{"kind":"Pod"},{"kind":"Job"',
      ['List', 'Pod', 'Job'],
    ],
    [
      'a byte-order mark before the first kind',
      '---\n\ufeffkind: &a Pod\u2029a: b\u2029--- #\u0085kind: Job\n',
      'anything',
    ],
    ['what is indented behind a separator', '\n---\n  kind: Pod\nkind: Service\n', ['Pod', 'Service']],
  ])('%s', (_, text, kinds) => {
    const found = kindsMentioned(text, KINDS)
    expect(found === 'anything' ? found : [...found]).toEqual(kinds)
  })

  test('is at least what parsing finds, wherever the text parses', async () => {
    await fc.assert(
      fc.asyncProperty(documentText(), async (text) => {
        const { documents, faults } = await parse('f.yaml', new TextEncoder().encode(text))
        const kind = documents.map(({ value }) => own(value, 'kind'))[0]
        if (faults.length > 0 || typeof kind !== 'string' || !KINDS.includes(kind)) return
        const found = kindsMentioned(text, KINDS)
        expect(found === 'anything' || found.has(kind)).toBe(true)
      }),
      { numRuns: runs(3_000) },
    )
  })
})

/** Documents of lines as manifests have them, and of lines that make their types less plain. */
function documentText(): fc.Arbitrary<string> {
  const line = fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom(...PLAIN_LINES) },
    { weight: 1, arbitrary: fc.constantFrom(...ODD_LINES) },
  )
  const begin = fc.constantFrom('', '---\n', '# c\n', '--- # c\n')
  const breaks = fc.constantFrom('\n', '\n', '\r\n')
  return fc
    .tuple(begin, fc.constantFrom(...HEADS), fc.array(line, { minLength: 1, maxLength: 7 }), breaks)
    .map(([first, head, lines, between]) => first + [...head, ...lines].join(between) + between)
}

const HEADS: readonly (readonly string[])[] = [
  [],
  ['apiVersion: v1', 'kind: Pod'],
  ['apiVersion: v1', 'kind: InferencePool', 'metadata:', '  name: a'],
  ['kind: "Deployment"', 'metadata:', '  namespace: x', 'apiVersion: apps/v1'],
]
const PLAIN_LINES = [
  'kind: Pod',
  'kind: InferencePool',
  'kind: "Deployment"',
  'apiVersion: v1',
  'apiVersion: apps/v1 # c',
  'metadata:',
  '  name: a',
  '  namespace: x',
  '  labels:',
  '    namespace: y',
  'spec:',
  '  a: b',
  '  - c',
  '',
  '# kind: Job',
]
const ODD_LINES = [
  '"kind": Job',
  "'kind': Job",
  '"\\x6bind": Pod',
  '? kind',
  ': Pod',
  '<<: {kind: Pod}',
  'kind:',
  '  Pod',
  'kind: >-',
  'kind: |',
  'a: "',
  'b"',
  "a: 'x",
  "  y'",
  'kind: ~',
  'kind: on',
  'kind: Pod # c',
  'kind: Pod#c',
  '- kind: Pod',
  '{kind: Pod}',
  'metadata: {name: a, namespace: x}',
  '  "namespace": z',
  '  namespace:',
  '   w',
  '...',
  '&a kind: Pod',
  '!!str kind: Pod',
  '  kind: Job',
  '\tkind: Pod',
]
