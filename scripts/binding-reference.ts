// `docs/reference/inferenceidentitybinding.md`: every field of an InferenceIdentityBinding, from the CRD that the schemas make.
import { isRecord, listAt, own, stringAt, type JsonRecord } from '../shared/src/core/base/json.ts'
import { bindingCrd } from '../shared/src/core/model/objects/crd.ts'
import {
  DNS1123_LABEL_PATTERN,
  DNS1123_SUBDOMAIN_PATTERN,
  QUALIFIED_NAME_PATTERN,
} from '../shared/src/core/base/text/kubernetes.ts'
import { recordAt } from '../shared/src/core/model/objects/pod.ts'

const NOTE =
  '<!-- Generated from shared/src/core/model/objects/binding-schema.ts and binding-status.ts by `npm run generate`; do not edit. -->'

/** What a pattern asks for, in words. */
const PATTERNS: ReadonlyMap<string, string> = new Map([
  [DNS1123_SUBDOMAIN_PATTERN, 'DNS-1123 subdomain'],
  [DNS1123_LABEL_PATTERN, 'DNS-1123 label'],
  [`^(${DNS1123_LABEL_PATTERN.slice(1, -1)})?$`, 'DNS-1123 label'],
  [QUALIFIED_NAME_PATTERN, 'label value'],
])

/** The page. */
export function bindingPage(): string {
  const spec = recordAt(bindingCrd(), 'spec')
  const names = recordAt(spec, 'names')
  const version = listAt(spec, 'versions').find(isRecord)
  const root = recordAt(recordAt(version, 'schema'), 'openAPIV3Schema')
  const fields = recordAt(root, 'properties')
  const apiVersion = `${stringAt(spec, 'group')}/${stringAt(version, 'name')}`
  const rules = listAt(recordAt(fields, 'spec'), 'x-kubernetes-validations').map(
    (one) => `| ${stringAt(one, 'message')} | \`${(stringAt(one, 'rule') ?? '').replaceAll('|', '\\|')}\` |`,
  )
  const columns = listAt(version, 'additionalPrinterColumns').map(
    (one) =>
      `| ${stringAt(one, 'name')} | \`${stringAt(one, 'jsonPath')}\` | ${own(one, 'priority') === 1 ? 'with `-o wide`' : ''} |`,
  )
  return [
    NOTE,
    `# ${stringAt(names, 'kind')}\n`,
    `${stringAt(root, 'description')} \`apiVersion: ${apiVersion}\`, \`kind: ${stringAt(names, 'kind')}\`; namespaced; kubectl takes`,
    `\`${listAt(names, 'shortNames').join('`, `')}\` for it. What a field leads to: [the contract](../contract.md).\n`,
    '## spec\n',
    'A field that is not here is refused (by `kubectl apply`), or dropped by clients that do not ask for strict validation. **Bold** fields are',
    'required where the mapping that holds them is there.\n',
    ...table(recordAt(fields, 'spec'), 'spec'),
    '### Rules\n',
    'The API server holds them, and the operator and the plugin hold them again.\n',
    '| message | rule (CEL) |',
    '|---|---|',
    ...rules,
    '',
    '## status\n',
    'The operator writes it; a user never does. What each condition can say: [condition reasons](reasons.md).\n',
    ...table(recordAt(fields, 'status'), 'status'),
    '## What `kubectl get iib` shows\n',
    '| column | from | |',
    '|---|---|---|',
    ...columns,
    '',
  ].join('\n')
}

function table(node: JsonRecord, path: string): readonly string[] {
  return ['| field | what it takes | |', '|---|---|---|', ...rowsOf(node, path), '']
}

/** The rows of all fields below a node. */
function rowsOf(node: JsonRecord, path: string): readonly string[] {
  return Object.keys(recordAt(node, 'properties')).flatMap((name) => {
    const field = recordAt(recordAt(node, 'properties'), name)
    const at = `${path}.${name}`
    const items = recordAt(field, 'items')
    const shown = listAt(node, 'required').includes(name) ? `**${at}**` : at
    return [
      `| ${shown} | ${takes(field)} | ${stringAt(field, 'description') ?? ''} |`,
      ...rowsOf(field, at),
      ...rowsOf(items, `${at}[]`),
    ]
  })
}

/** The type of a field, with its limits and default. */
function takes(field: JsonRecord): string {
  const choices = listAt(field, 'enum').map((one) => `\`${String(one)}\``)
  const type = stringAt(field, 'type') ?? ''
  const items = recordAt(field, 'items')
  const kind =
    choices.length > 0
      ? choices.join(', ')
      : type === 'array'
        ? `list of ${stringAt(items, 'type') === 'object' ? 'mappings' : takes(items)}`
        : type === 'object'
          ? 'mapping'
          : (wordsOfPattern(field) ?? stringAt(field, 'format') ?? type)
  const limits = [
    limit(field, 'maxLength', 'at most', 'characters'),
    limit(field, 'maxItems', 'at most', 'items'),
    own(field, 'default') === undefined ? undefined : `default \`${String(own(field, 'default'))}\``,
  ].filter((one) => one !== undefined)
  return [kind, ...limits].join('; ')
}

function wordsOfPattern(field: JsonRecord): string | undefined {
  const pattern = stringAt(field, 'pattern')
  if (pattern === undefined) return undefined
  return PATTERNS.get(pattern) ?? `text that matches \`${pattern.replaceAll('|', '\\|')}\``
}

function limit(field: JsonRecord, key: string, words: string, unit: string): string | undefined {
  const value = own(field, key)
  return typeof value === 'number' ? `${words} ${value} ${unit}` : undefined
}
