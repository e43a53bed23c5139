// What of an answer to a POST or PUT makes the object another than the one that was proven safe (docs/contract.md §8): a
// mutating webhook or policy may widen what was sent. Other differences (labels, `ttl`, `jwtTtl`, `hint`, `fallback`) are
// drift alone.
import type { Output } from '../compile/output.ts'
import type { ClusterSpiffeId } from '../objects/clusterspiffeid.ts'
import { deepEqual } from './drift.ts'

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

/** Where an answer is not what was sent, as a path: a closed set, so that the same answer gives the same message. */
export type AlteredField =
  | '.metadata.name'
  | '.metadata.annotations'
  | `.spec.${(typeof AS_SENT)[number] | (typeof NEVER_SENT)[number]}`

/** The fields in which `answer` is not what was proven of `sent`, in a fixed order; empty where it may stay. */
export function alteredFields(
  { meta, rawSpec }: Pick<ClusterSpiffeId, 'meta' | 'rawSpec'>,
  sent: Output,
): readonly AlteredField[] {
  const fields: AlteredField[] = []
  // An object of another name could not be found again.
  if (meta.name !== sent.metadata.name) fields.push('.metadata.name')
  const annotations = Object.entries(sent.metadata.annotations)
  if (annotations.some(([key, value]) => meta.annotations.get(key) !== value)) {
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
