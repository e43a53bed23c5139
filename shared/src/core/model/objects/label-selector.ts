// Kubernetes label selectors as an object declares them. Matching is in `spire/label-match.ts`.
import { isRecord, listAt, own, stringAt, typeName } from '../../base/json.ts'
import { readStringList } from './meta.ts'

/** One item of `matchExpressions`. */
export interface LabelRequirement {
  readonly key: string
  /** `In`, `NotIn`, `Exists` or `DoesNotExist`; anything else makes the selector invalid. */
  readonly operator: string
  readonly values: readonly string[]
}

/** A Kubernetes label selector; its parts are combined by AND. */
export interface LabelSelector {
  readonly matchLabels: ReadonlyMap<string, string>
  readonly matchExpressions: readonly LabelRequirement[]
}

/** Reads a LabelSelector; undefined where there is none. Values of a wrong type go to `problem`, named by `path`. */
export function readLabelSelector(
  value: unknown,
  path: string,
  problem: (text: string) => void,
): LabelSelector | undefined {
  if (value === undefined || value === null) return undefined
  if (!isRecord(value)) {
    problem(`${path} is ${typeName(value)}, not a mapping`)
    return undefined
  }
  const matchLabels = new Map<string, string>()
  const labels = own(value, 'matchLabels')
  if (isRecord(labels)) {
    for (const [key, label] of Object.entries(labels)) {
      if (typeof label === 'string') matchLabels.set(key, label)
      // The API server drops a null.
      else if (label !== null)
        problem(`${path}.matchLabels[${JSON.stringify(key)}] is ${typeName(label)}, not a string`)
    }
  } else if (labels !== undefined && labels !== null) {
    problem(`${path}.matchLabels is ${typeName(labels)}, not a mapping`)
  }
  const expressions = own(value, 'matchExpressions')
  if (expressions !== undefined && expressions !== null && !Array.isArray(expressions)) {
    problem(`${path}.matchExpressions is ${typeName(expressions)}, not a list`)
  }
  const matchExpressions = listAt(value, 'matchExpressions').map((item, at) => {
    if (!isRecord(item)) problem(`${path}.matchExpressions[${at}] is ${typeName(item)}, not a mapping`)
    return {
      key: stringAt(item, 'key') ?? '',
      operator: stringAt(item, 'operator') ?? '',
      values: readStringList(own(item, 'values')),
    }
  })
  return { matchLabels, matchExpressions }
}
