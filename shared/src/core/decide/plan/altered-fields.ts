// What makes an object another than the one that was proven safe (docs/contract.md §8): a mutating webhook or policy may widen
// what was sent, and what is live may be older. Other differences (labels, other annotations, `ttl`, `jwtTtl`, `hint`,
// `fallback`) are drift alone.
import type { Output } from '../compile/output.ts'
import { isRecord, deepEqual } from '../../base/json.ts'
import { ANNOTATION_BINDING, ANNOTATION_BINDING_UID } from '../../model/names.ts'
import type { ClusterSpiffeId } from '../../model/objects/clusterspiffeid.ts'

/** Fields that must come back as they were sent. */
const AS_SENT = [
  'spiffeIDTemplate',
  'namespaceSelector',
  'podSelector',
  'workloadSelectorTemplates',
  'className',
] as const
/** Fields that kleym never sends, and that widen what an identity may do. */
const NEVER_SENT = [
  'admin',
  'downstream',
  'dnsNameTemplates',
  'autoPopulateDNSNames',
  'federatesWith',
] as const

/** Fields that widen what is live, whatever it claims: who else is looked at, and what an identity may do. */
const WIDENING: ReadonlySet<AlteredField> = new Set<AlteredField>([
  '.spec.namespaceSelector',
  ...NEVER_SENT.map((field) => `.spec.${field}` as const),
])

/** The annotations that say whose an output is. */
const PROVEN_ANNOTATIONS = [ANNOTATION_BINDING, ANNOTATION_BINDING_UID] as const

/** Where an answer is not what was sent, as a path: a closed set, so that the same answer gives the same message. */
export type AlteredField =
  | '.metadata.name'
  | '.metadata.annotations'
  | `.spec.${(typeof AS_SENT)[number] | (typeof NEVER_SENT)[number]}`

/** Whether a path is one of the fields that must come back as they were sent. */
export function isProvenField(path: string): boolean {
  return AS_SENT.some((field) => path === `.spec.${field}`)
}

/** The fields in which `answer` is not what was proven of `sent`, in a fixed order; empty where it may stay. */
export function alteredFields(
  { meta, rawSpec }: Pick<ClusterSpiffeId, 'meta' | 'rawSpec'>,
  sent: Output,
): readonly AlteredField[] {
  const fields: AlteredField[] = []
  // An object of another name could not be found again.
  if (meta.name !== sent.metadata.name) fields.push('.metadata.name')
  if (PROVEN_ANNOTATIONS.some((key) => meta.annotations.get(key) !== sent.metadata.annotations[key])) {
    fields.push('.metadata.annotations')
  }
  const found = new Map(Object.entries(rawSpec))
  for (const field of AS_SENT) {
    const isSame = deepEqual(setValue(found.get(field)), setValue(sent.spec[field]))
    if (!isSame) fields.push(`.spec.${field}`)
  }
  for (const field of NEVER_SENT) {
    if (setValue(found.get(field)) !== undefined) fields.push(`.spec.${field}`)
  }
  return fields
}

/** Whether what is live is all that is proven of `wanted` now: to leave it in force is safe. */
export function isAsProven(live: Pick<ClusterSpiffeId, 'meta' | 'rawSpec'>, wanted: Output): boolean {
  return alteredFields(live, wanted).length === 0
}

/** Whether what is live is wider than `wanted` in a way that its claim does not show. */
export function isWidened(live: Pick<ClusterSpiffeId, 'meta' | 'rawSpec'>, wanted: Output): boolean {
  return alteredFields(live, wanted).some((field) => WIDENING.has(field))
}

/** Whether what is live lacks a field that is proven of `wanted`, or all that is in it. */
export function hasLost({ rawSpec }: Pick<ClusterSpiffeId, 'rawSpec'>, wanted: Output): boolean {
  const found = new Map(Object.entries(rawSpec))
  return AS_SENT.some((field) => !isNothing(wanted.spec[field]) && isNothing(found.get(field)))
}

function isNothing(value: unknown): boolean {
  return setValue(value) === undefined || (isRecord(value) && Object.keys(value).length === 0)
}

/** The message of `ManagedOutputApplyFailed` for an altered output. */
export function alteredMessage(fields: readonly AlteredField[]): string {
  return `a mutating webhook or policy changes ${fields.join(', ')} of the ClusterSPIFFEID: it is not left in force`
}

/** A field's value; undefined where Go reads the same zero value as from a field that is not there. */
function setValue(value: unknown): unknown {
  const isZero =
    value === null || value === false || value === '' || (Array.isArray(value) && value.length === 0)
  return isZero ? undefined : value
}
