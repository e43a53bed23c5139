// The CustomResourceDefinition of InferenceIdentityBinding, generated from the zod schemas. zod's OpenAPI 3.0 output is
// nearly a structural schema; `structural` converts the rest and throws on any key that it does not know.
import * as z from 'zod/mini'
import { isRecord, type JsonRecord } from '../../base/json.ts'
import { BINDING } from '../kinds.ts'
import { compareBytes } from '../../base/text/bytes.ts'
import { bindingSpecSchema } from './binding-schema.ts'
import { bindingStatusSchema } from './binding-status.ts'

/** The keys that a structural schema of ours may have, in the order in which they are written. */
const KEPT = [
  'type',
  'description',
  'properties',
  'required',
  'items',
  'enum',
  'default',
  'format',
  'pattern',
  'minimum',
  'maximum',
  'minLength',
  'maxLength',
  'minItems',
  'maxItems',
  'x-kubernetes-validations',
  'x-kubernetes-list-type',
  'x-kubernetes-list-map-keys',
]

/** The CRD as a plain object, ready to be printed as YAML. Throws where a schema does not convert, which is a bug. */
export function bindingCrd(): JsonRecord {
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${BINDING.plural}.${BINDING.group}` },
    spec: {
      group: BINDING.group,
      scope: 'Namespaced',
      names: {
        kind: BINDING.kind,
        listKind: `${BINDING.kind}List`,
        plural: BINDING.plural,
        singular: BINDING.kind.toLowerCase(),
        shortNames: ['iib'],
        categories: ['kleym'],
      },
      versions: [
        {
          name: BINDING.version,
          served: true,
          storage: true,
          subresources: { status: {} },
          additionalPrinterColumns: PRINTER_COLUMNS,
          schema: {
            openAPIV3Schema: {
              type: 'object',
              description:
                'InferenceIdentityBinding asks for one SPIFFE identity for the pods of an InferencePool, for those of one role, or for one container of them on behalf of an InferenceObjective.',
              required: ['spec'],
              properties: {
                apiVersion: { type: 'string' },
                kind: { type: 'string' },
                metadata: { type: 'object' },
                spec: structural(jsonSchema(bindingSpecSchema()), 'spec'),
                status: structural(jsonSchema(bindingStatusSchema()), 'status'),
              },
            },
          },
        },
      ],
    },
  }
}

const PRINTER_COLUMNS = [
  { name: 'Mode', type: 'string', jsonPath: '.spec.mode' },
  { name: 'Pool', type: 'string', jsonPath: '.spec.poolRef.name' },
  { name: 'Objective', type: 'string', jsonPath: '.spec.objectiveRef.name' },
  { name: 'Ready', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
  { name: 'Reason', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].reason' },
  { name: 'In-Force', type: 'string', jsonPath: '.status.conditions[?(@.type=="InForce")].status' },
  { name: 'SPIFFE-ID', type: 'string', jsonPath: '.status.computedSpiffeIDs[0].spiffeID' },
  { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  { name: 'Variant', type: 'string', jsonPath: '.spec.identityBoundary.variant', priority: 1 },
]

function jsonSchema(schema: z.ZodMiniType): unknown {
  return z.toJSONSchema(schema, {
    target: 'openapi-3.0',
    io: 'input',
    cycles: 'throw',
    reused: 'inline',
    unrepresentable: 'throw',
  })
}

function structural(schema: unknown, path: string): JsonRecord {
  if (!isRecord(schema)) throw new Error(`${path}: a structural schema is a mapping`)
  const result: Record<string, unknown> = {}
  const stray = Object.keys(schema).find((key) => !KEPT.includes(key) && key !== 'additionalProperties')
  if (stray !== undefined) throw new Error(`${path}: a structural schema has no ${stray}`)
  if (schema['additionalProperties'] !== undefined && schema['additionalProperties'] !== false) {
    throw new Error(`${path}: a structural schema here has no additionalProperties`)
  }
  for (const key of KEPT) if (Object.hasOwn(schema, key)) result[key] = schema[key]
  if (result['type'] === 'integer') {
    // zod bounds integers by what a double holds; Kubernetes says so by a format.
    if (result['maximum'] === Number.MAX_SAFE_INTEGER) delete result['maximum']
    if (result['minimum'] === Number.MIN_SAFE_INTEGER) delete result['minimum']
    result['format'] = 'int64'
  }
  if (result['format'] === 'date-time') delete result['pattern']
  if (typeof result['pattern'] === 'string') result['pattern'] = result['pattern'].replaceAll('\\/', '/')
  if (Array.isArray(result['required']))
    result['required'] = result['required'].toSorted((a, b) => compareBytes(String(a), String(b)))
  if (isRecord(result['properties'])) {
    result['properties'] = Object.fromEntries(
      Object.entries(result['properties']).map(([name, value]) => [
        name,
        structural(value, `${path}.${name}`),
      ]),
    )
  }
  if (result['items'] !== undefined) result['items'] = structural(result['items'], `${path}[]`)
  return result
}
