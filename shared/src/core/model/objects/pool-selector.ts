// Decodes the selector of a pool by the pool's group, never by its shape (docs/contract.md §4.3): the x-k8s group has a flat
// string map, in which a label may be called `matchLabels`. Nothing is trimmed or repaired. A selector may be as large as an
// object of the API server, 1.5 MB, and is decoded once per version of the pool: what is kept of it is bounded.
import { isRecord, typeName } from '../../base/json.ts'
import { FLAT_SELECTOR_GROUP, type PoolGroup } from '../kinds.ts'
import { MESSAGE_BYTES, POOL_LABELS_MAX } from '../names.ts'
import { byteLength, compareBytes, copyOfStart } from '../../base/text/bytes.ts'
import { labelValueProblem, qualifiedNameProblem } from '../../base/text/kubernetes.ts'

/** Pool labels in byte order of their keys. */
export type PoolLabels = ReadonlyMap<string, string>

/** A label of a pool as SPIRE selects it, and the field that it comes from. */
export interface PodLabelSelector {
  readonly selector: string
  readonly field: string
}

/** A decoded selector, or what is wrong with it. */
export type PoolSelector =
  | {
      readonly ok: true
      readonly labels: PoolLabels
      /** The same labels as selectors, in byte order: rendered once for all bindings that name the pool. */
      readonly selectors: readonly PodLabelSelector[]
    }
  | {
      readonly ok: false
      readonly reason: 'InvalidPoolSelector' | 'UnsafeSelector'
      /** Sentences that name the field, in a total order: as many as fill the message of a condition, then `and more`. */
      readonly problems: readonly string[]
    }

const PATH = '.spec.selector'
/** More sentences than a message holds: the shortest, about an unknown key, has 35 bytes. */
const NAMED_MAX = 32

/** Decodes `.spec.selector` of a pool. */
export function decodePoolSelector(group: PoolGroup, selector: unknown): PoolSelector {
  if (selector === undefined || selector === null) return invalid([`${PATH} is missing`])
  if (!isRecord(selector)) return invalid([`${PATH} is ${typeName(selector)}, not a mapping`])
  const expressions = Object.hasOwn(selector, 'matchExpressions') ? selector['matchExpressions'] : undefined
  // An empty list or null selects as none does.
  if (expressions === null || (Array.isArray(expressions) && expressions.length === 0)) {
    const others = Object.entries(selector).filter(([key]) => key !== 'matchExpressions')
    return decodePoolSelector(group, Object.fromEntries(others))
  }
  const flat = group === FLAT_SELECTOR_GROUP && !isRecord(selector['matchLabels'])
  if (expressions !== undefined && !(flat && typeof expressions === 'string')) {
    return { ok: false, reason: 'UnsafeSelector', problems: describeExpressions(expressions) }
  }
  if (flat) return decodeLabels(selector, PATH)
  const stray = firstInOrder(selector, (key) => key !== 'matchLabels')
  if (stray.length > 0) {
    return invalid(upToMessage(stray, (key) => `${PATH} has the unknown key ${quoted(key)}`))
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
  const keys = Object.keys(record)
  if (keys.length === 0) return invalid([`${path} is empty: it would select every pod of the namespace`])
  if (keys.length > POOL_LABELS_MAX) {
    return invalid([`${path} has ${keys.length} labels; ${POOL_LABELS_MAX} is the most`])
  }
  keys.sort(compareBytes)
  const labels = new Map<string, string>()
  const problems = upToMessage(keys, (key) => {
    const value = record[key]
    const problem = labelProblem(key, value)
    if (problem !== undefined) return `${path}[${quoted(key)}] ${problem}`
    if (typeof value === 'string') labels.set(key, value)
    return undefined
  })
  if (problems.length > 0) return invalid(problems)
  const selectors = [...labels].map(([key, value]) => ({
    selector: podLabelSelector(key, value),
    field: `${path}[${JSON.stringify(key)}]`,
  }))
  selectors.sort((a, b) => compareBytes(a.selector, b.selector))
  return { ok: true, labels, selectors }
}

/** The workload selector of a pod label. */
export function podLabelSelector(key: string, value: string): string {
  return `k8s:pod-label:${key}:${value}`
}

/** The first keys in byte order that `isWanted`: more than fill a message, and never a sorted list of all. */
function firstInOrder(
  record: Readonly<Record<string, unknown>>,
  isWanted: (key: string) => boolean,
): readonly string[] {
  const first: string[] = []
  for (const key in record) {
    if (!Object.hasOwn(record, key) || !isWanted(key)) continue
    const last = first.at(-1)
    if (first.length === NAMED_MAX && last !== undefined && compareBytes(key, last) >= 0) continue
    const at = first.findIndex((other) => compareBytes(key, other) < 0)
    first.splice(at === -1 ? first.length : at, 0, key)
    if (first.length > NAMED_MAX) first.pop()
  }
  return first
}

/** The problems of the keys, in their order, until they fill a message. */
function upToMessage(
  keys: readonly string[],
  problemOf: (key: string) => string | undefined,
): readonly string[] {
  const problems: string[] = []
  let bytes = 0
  for (const key of keys) {
    if (bytes >= MESSAGE_BYTES) return [...problems, 'and more']
    const problem = problemOf(key)
    if (problem === undefined) continue
    problems.push(problem)
    bytes += byteLength(problem)
  }
  return problems
}

/** A text in quotes. Of one that alone fills a message, its begin. */
function quoted(text: string): string {
  return text.length <= MESSAGE_BYTES ? JSON.stringify(text) : `${JSON.stringify(cut(text))}…`
}

function cut(text: string): string {
  return copyOfStart(text, MESSAGE_BYTES)
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
  return expressions
    .slice(0, 10)
    .map((item, at) => `${PATH}.matchExpressions[${at}]: ${describeExpression(item)}`)
}

function describeExpression(item: unknown): string {
  if (!isRecord(item)) return typeName(item)
  const { key, operator, values } = item
  const texts = Array.isArray(values) ? values.filter((value) => typeof value === 'string') : []
  const listed = upToMessage(texts, cut).join(', ')
  const words = [key, operator].flatMap((word) => (typeof word === 'string' ? [cut(word)] : [])).join(' ')
  return listed === '' ? words : `${words} (${listed})`
}

function invalid(problems: readonly string[]): PoolSelector {
  return { ok: false, reason: 'InvalidPoolSelector', problems }
}
