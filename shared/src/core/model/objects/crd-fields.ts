// The fields of the kinds that answers rest on, as their CRDs define them, one table per kind and version. A manifest is held
// against them before anything is made of it: the API server prunes or refuses what a CRD does not know, and refuses values
// of another type (docs/reading-files.md, "What the API server would not take").
// `test/control-plane/crd-fields.test.ts` holds this table against the CRDs themselves.
// Sources: SCM v0.7.0 (the same in v0.6.4), GAIE v1.4.0 with docs/gaie-facts.md §A2, llm-d-router v0.10.0.
import { own } from '../../base/json.ts'
import { lazy } from '../../base/lazy.ts'
import type { Schema } from '../../base/structural.ts'
import {
  apiVersionOf,
  BINDING,
  CLUSTER_SPIFFE_ID,
  CLUSTER_STATIC_ENTRY,
  OBJECTIVE_KINDS,
  POOL_KINDS,
  type Kind,
} from '../kinds.ts'
import { bindingSpecSchema } from './binding-schema.ts'

/** What may stand at a place of an object. */
export type FieldShape =
  | 'string'
  | 'boolean'
  | 'integer'
  /** Not looked into. */
  | 'any'
  /**
   * A mapping of these fields; `required` are those without which the API server refuses a registration. Of pools and
   * objectives none is listed: what kleym needs of them its own checks ask for, and the rest differs between releases.
   */
  | { readonly fields: Readonly<Record<string, FieldShape>>; readonly required?: readonly string[] }
  | { readonly items: FieldShape }
  /** A mapping with any keys. */
  | { readonly values: FieldShape }

/** The fields of one kind in one version. */
export interface CrdFields {
  readonly kind: Kind
  readonly spec: FieldShape
  /** Whether an object without `spec` is refused, and nothing else here says so. */
  readonly requiresSpec: boolean
  /** Paths below `spec` that no released CRD has and that kleym understands all the same. */
  readonly proposed?: readonly string[]
}

const STRINGS: FieldShape = { items: 'string' }
const LABELS: FieldShape = { values: 'string' }

const LABEL_SELECTOR: FieldShape = {
  fields: {
    matchLabels: LABELS,
    matchExpressions: {
      items: {
        fields: { key: 'string', operator: 'string', values: STRINGS },
        required: ['key', 'operator'],
      },
    },
  },
}

const CLUSTER_SPIFFE_ID_SPEC: FieldShape = {
  fields: {
    spiffeIDTemplate: 'string',
    ttl: 'string',
    jwtTtl: 'string',
    dnsNameTemplates: STRINGS,
    workloadSelectorTemplates: STRINGS,
    federatesWith: STRINGS,
    namespaceSelector: LABEL_SELECTOR,
    podSelector: LABEL_SELECTOR,
    admin: 'boolean',
    downstream: 'boolean',
    autoPopulateDNSNames: 'boolean',
    fallback: 'boolean',
    className: 'string',
    hint: 'string',
  },
  required: ['spiffeIDTemplate'],
}

const CLUSTER_STATIC_ENTRY_SPEC: FieldShape = {
  fields: {
    spiffeID: 'string',
    parentID: 'string',
    selectors: STRINGS,
    x509SVIDTTL: 'string',
    jwtSVIDTTL: 'string',
    dnsNames: STRINGS,
    federatesWith: STRINGS,
    hint: 'string',
    admin: 'boolean',
    downstream: 'boolean',
    storeSVID: 'boolean',
    className: 'string',
  },
  required: ['spiffeID', 'parentID', 'selectors'],
}

const REFERENCE = { group: 'string', kind: 'string', name: 'string', failureMode: 'string' } as const

/** With `endpointPickerRef.portNumber`, as v1.0.0-rc.1 has it. */
const POOL_SPEC: FieldShape = {
  fields: {
    selector: { fields: { matchLabels: LABELS } },
    targetPorts: { items: { fields: { number: 'integer' } } },
    appProtocol: 'string',
    endpointPickerRef: {
      fields: { ...REFERENCE, port: { fields: { number: 'integer' } }, portNumber: 'integer' },
    },
  },
}

const OLD_POOL_SPEC: FieldShape = {
  fields: {
    selector: LABELS,
    targetPortNumber: 'integer',
    extensionRef: { fields: { ...REFERENCE, portNumber: 'integer' } },
  },
}

const POOL_REF: FieldShape = { fields: { group: 'string', kind: 'string', name: 'string' } }
const OBJECTIVE_SPEC: FieldShape = { fields: { poolRef: POOL_REF, priority: 'integer' } }
/** With `poolRefs`, which is proposed for llm-d's objectives (docs/contract.md §4). */
const LLM_D_OBJECTIVE_SPEC: FieldShape = {
  fields: { poolRef: POOL_REF, poolRefs: 'any', priority: 'integer' },
}

const [POOL, OLD_POOL] = POOL_KINDS
const [LLM_D_OBJECTIVE, OLD_OBJECTIVE] = OBJECTIVE_KINDS

/** The kinds of others whose manifests are held against their CRDs. */
export const CRD_FIELDS: readonly CrdFields[] = [
  { kind: CLUSTER_SPIFFE_ID, spec: CLUSTER_SPIFFE_ID_SPEC, requiresSpec: true },
  { kind: CLUSTER_STATIC_ENTRY, spec: CLUSTER_STATIC_ENTRY_SPEC, requiresSpec: true },
  { kind: POOL, spec: POOL_SPEC, requiresSpec: false },
  { kind: OLD_POOL, spec: OLD_POOL_SPEC, requiresSpec: false },
  { kind: LLM_D_OBJECTIVE, spec: LLM_D_OBJECTIVE_SPEC, requiresSpec: false, proposed: ['poolRefs'] },
  { kind: OLD_OBJECTIVE, spec: OBJECTIVE_SPEC, requiresSpec: false },
]

/** `metadata` of every object, as `k8s.io/apimachinery` v1.36 decodes it. */
const METADATA_FIELDS: FieldShape = {
  fields: {
    name: 'string',
    generateName: 'string',
    namespace: 'string',
    selfLink: 'string',
    uid: 'string',
    resourceVersion: 'string',
    generation: 'integer',
    creationTimestamp: 'string',
    deletionTimestamp: 'string',
    deletionGracePeriodSeconds: 'integer',
    labels: LABELS,
    annotations: LABELS,
    ownerReferences: { items: 'any' },
    finalizers: STRINGS,
    managedFields: { items: 'any' },
  },
}

/** The fields of a binding, from the schema that its CRD is made from. Its types are judged by its own checks. */
export const bindingFields: () => CrdFields = lazy(() => ({
  kind: BINDING,
  spec: shapeOfSchema(bindingSpecSchema),
  requiresSpec: false,
}))

/** An object of a kind as a whole, to hold a manifest against. */
export interface ObjectShape {
  readonly kind: Kind
  readonly shape: FieldShape
}

/** The fields of `spec` that answers rest on and that a schema of a CRD has, as paths: `spec.podSelector.matchLabels`. */
export function fieldsDefined(schema: unknown, apiVersion: string, kind: string): readonly string[] {
  const found = [...CRD_FIELDS, bindingFields()].find(
    (one) => one.kind.kind === kind && apiVersionOf(one.kind) === apiVersion,
  )
  return found === undefined ? [] : definedIn(schema, { fields: { spec: found.spec } }, [])
}

function definedIn(schema: unknown, shape: FieldShape, path: readonly string[]): readonly string[] {
  if (typeof shape === 'string' || 'values' in shape) return []
  if ('items' in shape) return definedIn(own(schema, 'items'), shape.items, path)
  const isOpen = own(schema, 'x-kubernetes-preserve-unknown-fields') === true
  return Object.entries(shape.fields).flatMap(([name, field]) => {
    const found = own(own(schema, 'properties'), name) ?? (isOpen ? schema : undefined)
    const at = [...path, name]
    return found === undefined ? [] : [at.join('.'), ...definedIn(found, field, at)]
  })
}

/** The shape of the objects of a kind in a version; undefined for one that is not held against any. */
export function objectShapeOf(apiVersion: string, kind: string): ObjectShape | undefined {
  return shapes()
    .get(kind)
    ?.find((one) => apiVersionOf(one.kind) === apiVersion)
}

const shapes = lazy(() => Map.groupBy([...CRD_FIELDS, bindingFields()].map(shapeOf), ({ kind }) => kind.kind))

function shapeOf({ kind, spec, requiresSpec }: CrdFields): ObjectShape {
  const fields = {
    apiVersion: 'string',
    kind: 'string',
    metadata: METADATA_FIELDS,
    spec,
    status: 'any',
  } as const
  return { kind, shape: { fields, ...(requiresSpec ? { required: ['spec'] } : {}) } }
}

/** The fields of a schema; whatever is no mapping is not looked into. */
function shapeOfSchema(schema: Schema): FieldShape {
  if (schema.type !== 'object') return 'any'
  const fields = Object.entries(schema.properties).map(
    ([name, field]) => [name, shapeOfSchema(field)] as const,
  )
  return { fields: Object.fromEntries(fields) }
}
