// What a real API server does first with a manifest, tried case by case: it prunes or refuses unknown fields, and refuses
// wrong types. `manifestFault` says the same of each, and its table of fields is held against the CRDs themselves.
import process from 'node:process'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { apiVersionOf, BINDING } from '../../shared/src/core/model/kinds.ts'
import {
  dig,
  isRecord,
  keysOf,
  listAt,
  own,
  stringAt,
  type JsonRecord,
} from '../../shared/src/core/base/json.ts'
import {
  bindingFields,
  CRD_FIELDS,
  type CrdFields,
  type FieldShape,
} from '../../shared/src/core/model/objects/crd-fields.ts'
import { manifestFault } from '../../shared/src/core/model/objects/manifest-check.ts'
import { startControlPlane, type ControlPlane } from './control-plane.ts'
import { CRD_NAMES } from './crds.ts'
import { chosenRelease } from './other-releases.ts'

let cp: ControlPlane
beforeAll(async () => {
  cp = await startControlPlane({ controllers: [] })
})
afterAll(() => cp?.stop())

describe('the table of fields against the CRDs', () => {
  test.each([...CRD_FIELDS, bindingFields()].map((one) => [nameOf(one), one] as const))(
    '%s',
    (_name, fields) => {
      const schema = schemaOf(fields)
      expect(differences('.spec', fields.spec, dig(schema, 'properties', 'spec'), fields)).toEqual([])
      const asksForSpec = listAt(schema, 'required').includes('spec')
      expect(asksForSpec || !fields.requiresSpec).toBe(true)
    },
  )
})

/** The schema of a kind in the version of the table, as its project ships it. */
function schemaOf({ kind }: CrdFields): unknown {
  const name = CRD_NAMES.find((one) => one === `${kind.plural}.${kind.group}`)
  if (name === undefined) throw new Error(`no CRD of ${kind.plural}.${kind.group} is at hand`)
  const version = listAt(cp.crd(name), 'spec', 'versions').find(
    (one) => stringAt(one, 'name') === kind.version,
  )
  return dig(version, 'schema', 'openAPIV3Schema')
}

function nameOf({ kind }: CrdFields): string {
  return `${kind.kind} ${apiVersionOf(kind)}`
}

/** Fields that only a release candidate had: the table knows them, the released CRD does not. */
const PRE_RELEASE = '.spec.endpointPickerRef.portNumber'

/** Fields that the table knows and that the CRDs of an older GAIE, where one is asked for, do not have yet. */
const SINCE_GAIE_1_4 =
  chosenRelease('gaie', process.env) === undefined ? [] : ['inference.networking.k8s.io .spec.appProtocol']

/** Where the shape and the CRD's schema disagree, one sentence each. */
function differences(path: string, shape: FieldShape, schema: unknown, crd: CrdFields): readonly string[] {
  if (shape === 'any') return crd.kind === BINDING ? [] : [`${path} is not looked into`]
  if (typeof shape === 'string') {
    const type = stringAt(schema, 'type')
    return type === shape ? [] : [`${path} is ${shape} in the table, ${String(type)} in the CRD`]
  }
  if ('items' in shape) return differences(`${path}[]`, shape.items, own(schema, 'items'), crd)
  if ('values' in shape)
    return differences(`${path}{}`, shape.values, own(schema, 'additionalProperties'), crd)
  const properties = own(schema, 'properties')
  const known = isRecord(properties) ? keysOf(properties) : []
  const isExpected = (name: string): boolean =>
    PRE_RELEASE === `${path}.${name}` ||
    SINCE_GAIE_1_4.includes(`${crd.kind.group} ${path}.${name}`) ||
    crd.proposed?.some((one) => `.spec.${one}` === `${path}.${name}`) === true
  const required = listAt(schema, 'required')
  return [
    ...known
      .filter((name) => !Object.hasOwn(shape.fields, name))
      .map((name) => `${path}.${name} is not in the table`),
    ...(shape.required ?? [])
      .filter((name) => !required.includes(name))
      .map((name) => `${path}.${name} is not required`),
    ...Object.entries(shape.fields).flatMap(([name, field]) => {
      if (known.includes(name)) return differences(`${path}.${name}`, field, own(properties, name), crd)
      return isExpected(name) ? [] : [`${path}.${name} is not in the CRD`]
    }),
  ]
}

const META = { name: 'x' }
const NAMESPACED = { name: 'x', namespace: 'default' }
const ID = 'spiffe://example.org/x'

function clusterSpiffeId(spec: unknown, more: JsonRecord = {}): JsonRecord {
  return { apiVersion: 'spire.spiffe.io/v1alpha1', kind: 'ClusterSPIFFEID', metadata: META, spec, ...more }
}
function staticEntry(spec: JsonRecord): JsonRecord {
  const least = { spiffeID: ID, parentID: `${ID}/parent`, selectors: ['k8s:ns:a'] }
  return {
    apiVersion: 'spire.spiffe.io/v1alpha1',
    kind: 'ClusterStaticEntry',
    metadata: META,
    spec: { ...least, ...spec },
  }
}
function pool(spec: JsonRecord): JsonRecord {
  const least = {
    selector: { matchLabels: { app: 'llama' } },
    targetPorts: [{ number: 8000 }],
    endpointPickerRef: { name: 'epp', port: { number: 9002 } },
  }
  return {
    apiVersion: 'inference.networking.k8s.io/v1',
    kind: 'InferencePool',
    metadata: NAMESPACED,
    spec: { ...least, ...spec },
  }
}
function objective(spec: unknown): JsonRecord {
  return { apiVersion: 'llm-d.ai/v1alpha2', kind: 'InferenceObjective', metadata: NAMESPACED, spec }
}
function binding(spec: JsonRecord): JsonRecord {
  const least = { mode: 'PoolOnly', poolRef: { name: 'llama' }, serviceAccountName: 'runner' }
  return {
    apiVersion: 'kleym.sonda.red/v1alpha1',
    kind: 'InferenceIdentityBinding',
    metadata: NAMESPACED,
    spec: { ...least, ...spec },
  }
}

function faultOf(object: JsonRecord): ReturnType<typeof manifestFault> {
  return manifestFault({ value: requireRecord(JSON.parse(JSON.stringify(object))) })
}

function requireRecord(value: unknown): JsonRecord {
  if (!isRecord(value)) throw new TypeError('not an object')
  return value
}

/** Whether the API server takes an object, and what it makes of it or says; nothing is stored. */
async function created(
  object: JsonRecord,
  validate: 'strict' | 'ignore',
): Promise<{ ok: boolean; said: string }> {
  const args = ['create', '--dry-run=server', `--validate=${validate}`, '-o', 'json', '-f', '-']
  const { status, stdout, stderr } = await cp.kubectl(args, { input: JSON.stringify(object) })
  return { ok: status === 0, said: status === 0 ? stdout : stderr }
}

test.each<[string, JsonRecord, string]>([
  [
    'a namespace selector by names',
    clusterSpiffeId({ spiffeIDTemplate: ID, namespaceSelector: { matchNames: ['a'] } }),
    'matchNames',
  ],
  [
    'a typo at the top of the spec',
    clusterSpiffeId({ spiffeIDTemplate: ID, podSelektor: {} }),
    'podSelektor',
  ],
  [
    'an unknown field that is null',
    clusterSpiffeId({ spiffeIDTemplate: ID, podSelektor: null }),
    'podSelektor',
  ],
  ['a field beside the spec', clusterSpiffeId({ spiffeIDTemplate: ID }, { specs: {} }), 'specs'],
  [
    'a field of a list item',
    clusterSpiffeId({
      spiffeIDTemplate: ID,
      podSelector: { matchExpressions: [{ key: 'a', operator: 'Exists', value: 'x' }] },
    }),
    'value',
  ],
  ['a static entry', staticEntry({ ttl: '1h' }), 'ttl'],
  [
    'expressions of a pool',
    pool({ selector: { matchLabels: { app: 'llama' }, matchExpressions: [] } }),
    'matchExpressions',
  ],
  ['an objective', objective({ poolRef: { name: 'llama', namespace: 'default' } }), 'namespace'],
  ['a binding', binding({ containerNames: ['vllm'] }), 'containerNames'],
  ['a reference of a binding', binding({ poolRef: { name: 'llama', namespace: 'default' } }), 'namespace'],
])(
  'an unknown field is refused by strict validation and dropped without it: %s',
  async (_what, object, field) => {
    const fault = faultOf(object)
    expect(fault?.dropped.first.map(({ path }) => path.split('.').at(-1))).toEqual([field])
    expect(fault?.refusals.first).toEqual([])
    const strict = await created(object, 'strict')
    expect(strict.ok).toBe(false)
    expect(strict.said).toContain(field)
    const loose = await created(object, 'ignore')
    expect(loose).toMatchObject({ ok: true })
    const { metadata: _, ...stored } = requireRecord(JSON.parse(loose.said))
    expect(JSON.stringify(stored)).not.toContain(`"${field}"`)
  },
)

test.each<[string, JsonRecord]>([
  ['a number where a duration belongs', clusterSpiffeId({ spiffeIDTemplate: ID, ttl: 3600 })],
  ['a string where a boolean belongs', clusterSpiffeId({ spiffeIDTemplate: ID, admin: 'true' })],
  ['no spec', clusterSpiffeId(undefined)],
  ['a spec that is null', clusterSpiffeId(null)],
  ['an empty spec', clusterSpiffeId({})],
  ['a template that is null', clusterSpiffeId({ spiffeIDTemplate: null })],
  ['a list where a mapping belongs', clusterSpiffeId({ spiffeIDTemplate: ID, podSelector: [] })],
  [
    'a number among labels',
    clusterSpiffeId({ spiffeIDTemplate: ID, podSelector: { matchLabels: { a: 1 } } }),
  ],
  ['a null in a list', clusterSpiffeId({ spiffeIDTemplate: ID, federatesWith: [null] })],
  [
    'a label of its own that is a number',
    clusterSpiffeId({ spiffeIDTemplate: ID }, { metadata: { ...META, labels: { a: 1 } } }),
  ],
  ['mappings among the selectors', staticEntry({ selectors: [{ type: 'k8s', value: 'ns:a' }] })],
  ['a static entry without selectors', staticEntry({ selectors: null })],
  ['a port that is a string', pool({ targetPorts: [{ number: '8000' }] })],
  ['a label of a pool that is a number', pool({ selector: { matchLabels: { app: 1 } } })],
  ['a priority that is a fraction', objective({ poolRef: { name: 'llama' }, priority: 1.5 })],
])('a wrong type is refused, whatever validation is asked for: %s', async (_what, object) => {
  expect(faultOf(object)?.refusals.first).not.toEqual([])
  expect(await created(object, 'ignore')).toMatchObject({ ok: false })
})

test.each<[string, JsonRecord]>([
  ['a duration that Go cannot read', clusterSpiffeId({ spiffeIDTemplate: ID, ttl: '1d' })],
  [
    'a null where a string may stand',
    clusterSpiffeId({ spiffeIDTemplate: ID, hint: null, podSelector: null }),
  ],
  ['an objective without a spec', objective(undefined)],
  ['an objective with a spec that is null', objective(null)],
  ['a pool', pool({})],
  ['a static entry', staticEntry({ hint: null })],
  ['a binding', binding({})],
])('the API server takes it, and so does kleym: %s', async (_what, object) => {
  expect(faultOf(object)).toBeUndefined()
  expect(await created(object, 'strict')).toMatchObject({ ok: true })
})

test('a null among labels is dropped, which makes a selector wider', async () => {
  const object = clusterSpiffeId({ spiffeIDTemplate: ID, podSelector: { matchLabels: { app: null } } })
  expect(faultOf(object)?.dropped.first).toEqual([
    { path: '.spec.podSelector.matchLabels["app"]', isNull: true, near: [] },
  ])
  const taken = await created(object, 'strict')
  expect(taken).toMatchObject({ ok: true })
  expect(dig(requireRecord(JSON.parse(taken.said)), 'spec', 'podSelector')).toEqual({ matchLabels: {} })
})
