// `docs/reference/identity-test.md`: every field of an IdentityTest, from the schema that reads it.
import { identityTestJsonSchema } from '../plugin/src/answers/test/kind-schema.ts'
import { isRecord, listAt, own, stringAt, type JsonRecord } from '../shared/src/core/base/json.ts'
import { recordAt } from '../shared/src/core/model/objects/pod.ts'

const NOTE =
  '<!-- Generated from shared/src/core/answers/identity-tests/schema.ts by `npm run generate`; do not edit. -->'

/** What stands in several places, once: where it is found first, and what its section is called. */
const SHARED = [
  { heading: 'Containers', path: ['spec', 'containers', '*', 'subject'] },
  { heading: 'Label selector', path: ['spec', 'containers', '*', 'subject', 'podSelector'] },
  { heading: 'Identity', path: ['spec', 'containers', '*', 'holds', 'exactly', '*'] },
] as const

/** `docs/reference/identity-test.md`: a table of fields for each list, and one for each shape that stands in several places. */
export function identityTestPage(): string {
  const root = identityTestJsonSchema()
  const shapes = SHARED.map(({ heading, path }) => ({ heading, text: shapeText(nodeAt(root, path)) }))
  const table = (node: JsonRecord): readonly string[] => [
    '| field | what it takes | |',
    '|---|---|---|',
    ...fieldRows(node, '', shapes),
    '',
  ]
  const lists = Object.keys(recordAt(nodeAt(root, ['spec']), 'properties'))
  return [
    NOTE,
    '# IdentityTest\n',
    `${stringAt(root, 'description') ?? ''} What it is for, with examples: [identity tests](../identity-tests.md).`,
    'For editors: [its JSON Schema](schemas/test.kleym.sonda.red/identitytest_v1alpha1.json).\n',
    'A field that is not here is an error, and so is a list without items. **Bold** fields are required.\n',
    '## The object\n',
    '| field | what it takes | |',
    '|---|---|---|',
    ...['apiVersion', 'kind', 'metadata'].flatMap((name) => rowsOf(root, name, '', shapes)),
    ...lists.flatMap((name) => [
      `| spec.${name} | [list](#spec${name}) | ${stringAt(nodeAt(root, ['spec', name]), 'description') ?? ''} |`,
    ]),
    '',
    ...lists.flatMap((name) => [`## spec.${name}\n`, ...table(nodeAt(root, ['spec', name, '*']))]),
    ...SHARED.flatMap(({ heading, path }) => {
      const node = nodeAt(root, path)
      const mapping = listAt(node, 'anyOf').find((one) => stringAt(one, 'type') === 'object')
      return [
        `## ${heading}\n`,
        ...(isRecord(mapping) ? ['A SPIFFE ID, or a mapping:\n'] : []),
        ...table(isRecord(mapping) ? mapping : node),
      ]
    }),
  ].join('\n')
}

interface Shape {
  readonly heading: string
  readonly text: string
}

/** `*` stands for the items of a list. */
function nodeAt(root: JsonRecord, path: readonly string[]): JsonRecord {
  return path.reduce<JsonRecord>(
    (node, key) => (key === '*' ? recordAt(node, 'items') : recordAt(recordAt(node, 'properties'), key)),
    root,
  )
}

/** A shape without what is said of it: that differs from place to place. */
function shapeText(node: JsonRecord): string {
  const { description: _, ...shape } = node
  return JSON.stringify(shape)
}

function fieldRows(node: JsonRecord, prefix: string, shapes: readonly Shape[]): readonly string[] {
  return Object.keys(recordAt(node, 'properties')).flatMap((name) => rowsOf(node, name, prefix, shapes))
}

function rowsOf(node: JsonRecord, name: string, prefix: string, shapes: readonly Shape[]): readonly string[] {
  const field = recordAt(recordAt(node, 'properties'), name)
  const isRequired = listAt(node, 'required').includes(name)
  const path = `${prefix}${name}`
  const shown = isRequired ? `**${path}**` : path
  const row = `| ${shown} | ${typeText(field, shapes)} | ${stringAt(field, 'description') ?? ''} |`
  const isInline = own(field, 'type') === 'object' && sharedLink(field, shapes) === undefined
  return isInline ? [row, ...fieldRows(field, `${path}.`, shapes)] : [row]
}

function typeText(node: JsonRecord, shapes: readonly Shape[]): string {
  const shared = sharedLink(node, shapes)
  if (shared !== undefined) return shared
  const constant = own(node, 'const')
  if (constant !== undefined)
    return `\`${typeof constant === 'string' ? constant : JSON.stringify(constant)}\``
  const choices = listAt(node, 'enum')
  if (choices.length > 8) return `a [condition reason](reasons.md)`
  if (choices.length > 0) return choices.map((one) => `\`${String(one)}\``).join(', ')
  const type = stringAt(node, 'type') ?? ''
  if (type === 'array') return `list of ${typeText(recordAt(node, 'items'), shapes)}`
  if (type === 'object') return Object.hasOwn(node, 'properties') ? 'mapping' : 'mapping of strings'
  return type === 'boolean' ? 'true or false' : type === 'integer' ? 'whole number' : type
}

function sharedLink(node: JsonRecord, shapes: readonly Shape[]): string | undefined {
  const found = shapes.find(({ text }) => text === shapeText(node))
  return found === undefined
    ? undefined
    : `[${found.heading.toLowerCase()}](#${found.heading.toLowerCase().replaceAll(' ', '-')})`
}
