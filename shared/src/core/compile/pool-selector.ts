// Decodes the selector of a pool by the pool's group, never by its shape (docs/contract.md §4.3): the x-k8s group has a flat
// string map, in which a label may be called `matchLabels`. Nothing is trimmed or repaired.
import { isRecord, typeName } from '../json.ts'
import { FLAT_SELECTOR_GROUP, type PoolGroup } from '../kinds.ts'
import { POOL_LABELS_MAX } from '../names.ts'
import { compareBytes } from '../text/bytes.ts'
import { labelValueProblem, qualifiedNameProblem } from '../text/kubernetes.ts'

/** Pool labels in byte order of their keys. */
export type PoolLabels = ReadonlyMap<string, string>

/** A decoded selector, or what is wrong with it. */
export type PoolSelector =
  | {
      readonly ok: true
      readonly labels: PoolLabels
      /** The field of the pool that holds the labels. */
      readonly path: string
    }
  | {
      readonly ok: false
      readonly reason: 'InvalidPoolSelector' | 'UnsafeSelector'
      /** Sentences that name the field, in a total order. */
      readonly problems: readonly string[]
    }

const PATH = '.spec.selector'

/** Decodes `.spec.selector` of a pool. */
export function decodePoolSelector(group: PoolGroup, selector: unknown): PoolSelector {
  if (selector === undefined || selector === null) return invalid([`${PATH} is missing`])
  if (!isRecord(selector)) return invalid([`${PATH} is ${typeName(selector)}, not a mapping`])
  const flat = group === FLAT_SELECTOR_GROUP && !isRecord(selector['matchLabels'])
  const expressions = Object.hasOwn(selector, 'matchExpressions') ? selector['matchExpressions'] : undefined
  if (expressions !== undefined && !(flat && typeof expressions === 'string')) {
    return { ok: false, reason: 'UnsafeSelector', problems: describeExpressions(expressions) }
  }
  if (flat) return decodeLabels(selector, PATH)
  const stray = Object.keys(selector).filter((key) => key !== 'matchLabels')
  if (stray.length > 0) {
    return invalid(
      stray.toSorted(compareBytes).map((key) => `${PATH} has the unknown key ${JSON.stringify(key)}`),
    )
  }
  const labels = Object.hasOwn(selector, 'matchLabels') ? selector['matchLabels'] : undefined
  if (labels === undefined || labels === null) return invalid([`${PATH}.matchLabels is missing`])
  if (!isRecord(labels)) return invalid([`${PATH}.matchLabels is ${typeName(labels)}, not a mapping`])
  return decodeLabels(labels, `${PATH}.matchLabels`)
}

/** Whether both were decoded, to the same labels. */
export function sameSelection(left: PoolSelector, right: PoolSelector): boolean {
  if (!left.ok || !right.ok || left.labels.size !== right.labels.size) return false
  for (const [key, value] of left.labels) if (right.labels.get(key) !== value) return false
  return true
}

function decodeLabels(record: Readonly<Record<string, unknown>>, path: string): PoolSelector {
  const keys = Object.keys(record).toSorted(compareBytes)
  if (keys.length === 0) return invalid([`${path} is empty: it would select every pod of the namespace`])
  if (keys.length > POOL_LABELS_MAX) {
    return invalid([`${path} has ${keys.length} labels; ${POOL_LABELS_MAX} is the most`])
  }
  const labels = new Map<string, string>()
  const problems: string[] = []
  for (const key of keys) {
    const value = record[key]
    const problem = labelProblem(key, value)
    if (problem !== undefined) problems.push(`${path}[${JSON.stringify(key)}] ${problem}`)
    else if (typeof value === 'string') labels.set(key, value)
  }
  return problems.length > 0 ? invalid(problems) : { ok: true, labels, path }
}

function labelProblem(key: string, value: unknown): string | undefined {
  const keyProblem = qualifiedNameProblem(key)
  if (keyProblem !== undefined) return `is no label key: ${keyProblem}`
  if (typeof value !== 'string') return `is ${typeName(value)}, not a string`
  if (value === '') return 'is empty'
  if (value.trim() !== value) return 'is padded with blanks'
  const valueProblem = labelValueProblem(value)
  return valueProblem === undefined ? undefined : `is no label value: ${valueProblem}`
}

function describeExpressions(expressions: unknown): readonly string[] {
  if (!Array.isArray(expressions)) return [`${PATH}.matchExpressions is ${typeName(expressions)}`]
  if (expressions.length === 0) return [`${PATH}.matchExpressions is set`]
  return expressions
    .slice(0, 10)
    .map((item, at) => `${PATH}.matchExpressions[${at}]: ${describeExpression(item)}`)
}

function describeExpression(item: unknown): string {
  if (!isRecord(item)) return typeName(item)
  const { key, operator, values } = item
  const listed = Array.isArray(values) ? values.filter((value) => typeof value === 'string').join(', ') : ''
  const words = [key, operator].filter((word) => typeof word === 'string').join(' ')
  return listed === '' ? words : `${words} (${listed})`
}

function invalid(problems: readonly string[]): PoolSelector {
  return { ok: false, reason: 'InvalidPoolSelector', problems }
}
