// The generated files of the chart, from its table of values.
import { stringify } from 'yaml'
import { dashboardJson } from './dashboard.ts'
import { isSection, type Json, type Schema, type Section, type Setting, type Values } from './setting.ts'
import { VALUES } from './values.ts'

const WIDTH = 110
const SOURCE = 'scripts/chart/values.ts'

/** The files that `npm run generate` writes for the chart: paths from the root of the project, and contents. */
export function chartFiles(): ReadonlyMap<string, string> {
  return new Map([
    ['charts/kleym/values.yaml', valuesYaml(VALUES)],
    ['charts/kleym/values.schema.json', `${JSON.stringify(valuesSchema(VALUES), undefined, 2)}\n`],
    ['docs/reference/chart-values.md', valuesPage(VALUES)],
    ['charts/kleym/files/dashboard.json', dashboardJson()],
  ])
}

/** values.yaml, every value under what it means. */
function valuesYaml(values: Values): string {
  return `# Generated from ${SOURCE} by \`npm run generate\`; do not edit.\n${yamlOf(values, 0)}`
}

function yamlOf(values: Values, depth: number): string {
  const indent = '  '.repeat(depth)
  return Object.entries(values)
    .map(([key, value]) => {
      const about = wrapped(value.about, WIDTH - indent.length)
        .map((line) => `${indent}# ${line}\n`)
        .join('')
      const gap = depth === 0 ? '\n' : ''
      if (isSection(value)) return `${gap}${about}${indent}${key}:\n${yamlOf(value.values, depth + 1)}`
      const lines = stringify({ [key]: value.default }, { lineWidth: 0 })
        .trimEnd()
        .split('\n')
      return gap + about + lines.map((line) => `${indent}${line}\n`).join('')
    })
    .join('')
}

function wrapped(about: string, width: number): readonly string[] {
  const lines: string[] = []
  for (const word of about.split(' ')) {
    const last = lines.at(-1)
    if (last === undefined || last.length + 1 + word.length > width) lines.push(word)
    else lines[lines.length - 1] = `${last} ${word}`
  }
  return lines
}

/** values.schema.json: closed, but for the maps whose keys are not the chart's. */
function valuesSchema(values: Values): Schema {
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'Values of the kleym chart',
    ...closed(values),
  }
}

function closed(values: Values): Schema {
  const properties = Object.entries(values).map(([key, value]): [string, Json] => [
    key,
    { description: value.about, ...(isSection(value) ? closed(value.values) : leaf(value)) },
  ])
  const required = Object.entries(values).flatMap(([key, value]) => (mayBeNull(value) ? [] : [key]))
  return { type: 'object', additionalProperties: false, required, properties: Object.fromEntries(properties) }
}

/** Helm takes a value that is null away, its default too: a map or a list is then empty, and all else has no meaning. */
export function mayBeNull(value: Setting | Section): boolean {
  return !isSection(value) && typeof value.default === 'object'
}

function leaf({ default: fallback, schema }: Setting): Schema {
  return { ...schema, default: fallback }
}

/** The reference page: one table, a row for every value. */
function valuesPage(values: Values): string {
  return [
    `<!-- Generated from ${SOURCE} by \`npm run generate\`; do not edit. -->`,
    '',
    '# Values of the chart',
    '',
    'Helm refuses what is not here (`values.schema.json` is closed); the maps that Kubernetes or you define are open. A map or a list that is `null` is empty; nothing else may be `null`.',
    '',
    '| value | default | what it is |',
    '|---|---|---|',
    ...rowsOf(values, ''),
    '',
  ].join('\n')
}

function rowsOf(values: Values, prefix: string): readonly string[] {
  return Object.entries(values).flatMap(([key, value]) => {
    const path = prefix + key
    return isSection(value)
      ? [`| **\`${path}\`** | | ${cell(value.about)} |`, ...rowsOf(value.values, `${path}.`)]
      : [`| \`${path}\` | \`${cell(JSON.stringify(value.default))}\` | ${cell(value.about)} |`]
  })
}

function cell(about: string): string {
  return about.replaceAll('|', '\\|')
}

/** Every setting with its path, e.g. `image.tag`. */
export function settingsOf(
  values: Values,
  prefix = '',
): readonly (readonly [path: string, setting: Setting])[] {
  return Object.entries(values).flatMap(([key, value]: [string, Setting | Section]) =>
    isSection(value) ? settingsOf(value.values, `${prefix}${key}.`) : [[prefix + key, value] as const],
  )
}
