// JSON Schemas of kleym's kinds, at the paths that kubeconform and the CRDs catalogues look for: GROUP/KIND_VERSION.json.
// https://github.com/yannh/kubeconform#overriding-schemas-location
import { identityTestJsonSchema } from '../plugin/src/answers/test/kind-schema.ts'
import { dig, isRecord, listAt, type JsonRecord } from '../shared/src/core/base/json.ts'
import { BINDING } from '../shared/src/core/model/kinds.ts'
import { bindingCrd } from '../shared/src/core/model/objects/crd.ts'
import { recordAt } from '../shared/src/core/model/objects/pod.ts'

const FOLDER = 'docs/reference/schemas'
const DRAFT = 'http://json-schema.org/draft-07/schema#'

/** The files by their paths from the root of the project. */
export function editorSchemas(): ReadonlyMap<string, string> {
  return new Map([
    schemaFile(`${BINDING.group}/${BINDING.kind}_${BINDING.version}`, bindingJsonSchema()),
    schemaFile('test.kleym.sonda.red/IdentityTest_v1alpha1', identityTestJsonSchema()),
  ])
}

function schemaFile(path: string, schema: JsonRecord): readonly [path: string, content: string] {
  return [`${FOLDER}/${path.toLowerCase()}.json`, `${JSON.stringify(schema, null, 2)}\n`]
}

/** What the CRD says, with its kind; the CEL rules stay with the API server, which alone evaluates them. */
function bindingJsonSchema(): JsonRecord {
  const [version] = listAt(dig(bindingCrd(), 'spec'), 'versions')
  const root = recordAt(recordAt(version, 'schema'), 'openAPIV3Schema')
  const properties = {
    ...recordAt(root, 'properties'),
    apiVersion: { type: 'string', const: `${BINDING.group}/${BINDING.version}` },
    kind: { type: 'string', const: BINDING.kind },
  }
  return {
    $schema: DRAFT,
    title: BINDING.kind,
    ...closed({ ...root, properties }),
    required: ['apiVersion', 'kind', 'metadata', 'spec'],
  }
}

/** Without what only an API server reads; a field that no property names is a mistake, as for `kubectl apply`. */
function closed(schema: JsonRecord): JsonRecord {
  const kept = Object.entries(schema).filter(([key]) => !key.startsWith('x-kubernetes-'))
  const result: Record<string, unknown> = Object.fromEntries(kept)
  const { properties, items } = schema
  if (isRecord(items)) result['items'] = closed(items)
  if (!isRecord(properties)) return result
  result['properties'] = Object.fromEntries(
    Object.entries(properties).map(([name, value]) => [name, isRecord(value) ? closed(value) : value]),
  )
  return { ...result, additionalProperties: false }
}
