// What the API server does first with a manifest, before anything else sees the object: a field that its CRD does not know is
// pruned, or refused by kubectl's strict validation; a value of another type is refused. kleym would else show what is left
// of the object as if that had been meant. The table of fields: `crd-fields.ts`.
import { isRecord, own, stringAt, typeName, type JsonRecord } from '../../base/json.ts'
import { compareBytes } from '../../base/text/bytes.ts'
import { sha256Hex } from '../../base/text/sha256.ts'
import { nearest } from '../../base/text/suggest.ts'
import { objectShapeOf, type FieldShape, type ObjectShape } from './crd-fields.ts'
import type { RawObject } from './raw.ts'

/** What the API server drops of an object: a field that its CRD does not have, or a null among labels. */
export interface DroppedField {
  /** As in messages: `.spec.namespaceSelector.matchNames`. */
  readonly path: string
  /** Whether it is dropped because it is null, in a mapping that may have any keys. */
  readonly isNull: boolean
  /** The fields of the same mapping that are nearest, best first. */
  readonly near: readonly string[]
}

/** Faults of one sort: the first of them, in the order of the manifest, and what the others are. */
export interface FaultList<Fault> {
  readonly first: readonly Fault[]
  readonly more: number
  /** The same for the same others, wherever in their lists they stand; empty where there are no others. */
  readonly moreDigest: string
}

/** A manifest that the API server does not take as it is. */
export interface ManifestFault {
  readonly kind: ObjectShape['kind']
  readonly namespace: string
  readonly name: string
  readonly dropped: FaultList<DroppedField>
  /** Why the API server refuses it, as sentences about fields; empty where it takes it. */
  readonly refusals: FaultList<string>
  /** Why it refuses it whatever the fields say: a sentence. */
  readonly whyNoPlace?: string
}

/** More of one object than a person reads. */
const FAULTS_MAX = 20
/** The longest key that a message repeats. */
const KEY_SHOWN = 100

/**
 * What the API server does not take of a manifest; undefined where it takes all, and for kinds that are not in the table. `whyNoPlace`: why
 * it takes no new object where this one is to be.
 */
export function manifestFault({ value }: RawObject, whyNoPlace?: string): ManifestFault | undefined {
  const object = objectShapeOf(stringAt(value, 'apiVersion') ?? '', stringAt(value, 'kind') ?? '')
  if (object === undefined) return undefined
  const found: Faults = { dropped: [], refusals: [] }
  checkAt('', value, object.shape, found)
  if (found.dropped.length === 0 && found.refusals.length === 0 && whyNoPlace === undefined) return undefined
  return {
    kind: object.kind,
    namespace: stringAt(value, 'metadata', 'namespace') ?? '',
    name: stringAt(value, 'metadata', 'name') ?? stringAt(value, 'metadata', 'generateName') ?? '',
    dropped: listOf(found.dropped, ({ path, isNull }) => `${path} ${isNull}`),
    refusals: listOf(found.refusals, (text) => text),
    ...(whyNoPlace !== undefined && { whyNoPlace }),
  }
}

function listOf<Fault>(all: readonly Fault[], textOf: (fault: Fault) => string): FaultList<Fault> {
  const others = all.slice(FAULTS_MAX)
  const texts = others.map((one) => withoutPlaces(textOf(one))).toSorted(compareBytes)
  return {
    first: all.slice(0, FAULTS_MAX),
    more: others.length,
    moreDigest: others.length === 0 ? '' : sha256Hex(texts.join('\n')),
  }
}

/** A text about a field without the places in lists: `.spec.dnsNameTemplates[]`. */
export function withoutPlaces(text: string): string {
  return text.replaceAll(/\[\d+\]/g, '[]')
}

/** Why the API server refuses a manifest; undefined where it takes it, and for an object that is in a cluster. */
export function refusalOf(raw: RawObject): string | undefined {
  return raw.isManifest === true ? manifestFault(raw)?.refusals.first[0] : undefined
}

interface Faults {
  readonly dropped: DroppedField[]
  readonly refusals: string[]
}

function checkAt(path: string, value: unknown, shape: FieldShape, found: Faults): void {
  if (shape === 'any') return
  if (typeof shape === 'string') {
    if (!isOfType(value, shape))
      found.refusals.push(`${path} is ${typeName(value)}, not ${TYPE_TEXTS[shape]}`)
  } else if ('items' in shape) {
    if (!Array.isArray(value)) found.refusals.push(`${path} is ${typeName(value)}, not a list`)
    else for (const [at, item] of value.entries()) checkAt(`${path}[${at}]`, item, shape.items, found)
  } else if (!isRecord(value)) {
    found.refusals.push(`${path} is ${typeName(value)}, not a mapping`)
  } else if ('values' in shape) {
    for (const [key, item] of Object.entries(value)) {
      if (typeof item === 'string' && shape.values === 'string') continue
      const place = `${path}[${JSON.stringify(key.slice(0, KEY_SHOWN))}]`
      if (item === null) found.dropped.push({ path: place, isNull: true, near: [] })
      else checkAt(place, item, shape.values, found)
    }
  } else checkFields(path, value, shape, found)
}

/** A null at a field counts as absent: the API server drops it before it validates. */
function checkFields(
  path: string,
  value: JsonRecord,
  { fields, required = [] }: Extract<FieldShape, { readonly fields: unknown }>,
  found: Faults,
): void {
  for (const [key, item] of Object.entries(value)) {
    const field = Object.hasOwn(fields, key) ? fields[key] : undefined
    if (field === undefined) {
      const near = found.dropped.length < FAULTS_MAX ? nearest(key, Object.keys(fields)) : []
      found.dropped.push({ path: `${path}.${key.slice(0, KEY_SHOWN)}`, isNull: false, near })
      // A string is by far the most that is looked at: its place is written down only where it is wrong.
    } else if (item !== null && !(typeof item === 'string' && field === 'string'))
      checkAt(`${path}.${key}`, item, field, found)
  }
  for (const key of required)
    if ((own(value, key) ?? null) === null) found.refusals.push(`${path}.${key} is missing`)
}

const TYPE_TEXTS = { string: 'a string', boolean: 'true or false', integer: 'a whole number' } as const

function isOfType(value: unknown, type: keyof typeof TYPE_TEXTS): boolean {
  return type === 'integer' ? Number.isInteger(value) : typeof value === type
}
