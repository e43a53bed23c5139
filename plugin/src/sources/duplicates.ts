// The same object in several places of the files. Equal ones are one object; of different ones the first is kept, and what
// is said of that object alone is in doubt.
import { mayHoldScmConfig } from '@kleym/shared/core/findings/subject-groups.ts'
import { isRecord, stringAt } from '@kleym/shared/core/json.ts'
import { groupOfApiVersion, qualifiedKind } from '@kleym/shared/core/kinds.ts'
import { namespacedName } from '@kleym/shared/core/namespaced-name.ts'
import type { RawObject } from '@kleym/shared/core/objects/raw.ts'
import { compareBytes } from '@kleym/shared/core/text/bytes.ts'
import type { InputProblem } from './problem.ts'

/** The objects, each once, and a problem for each that differs from one before it. */
export function withoutDuplicates(objects: readonly RawObject[]): {
  readonly objects: readonly RawObject[]
  readonly problems: readonly InputProblem[]
} {
  const places = new Map<string, { variants: RawObject[]; last: RawObject }>()
  const kept = objects.filter((object) => {
    const key = keyOf(object)
    if (key === undefined) return true
    const known = places.get(key)
    if (known === undefined) {
      places.set(key, { variants: [object], last: object })
      return true
    }
    if (!known.variants.some((one) => isEqual(one.value, object.value))) known.variants.push(object)
    if (isAppliedAfter(object, known.last)) known.last = object
    return false
  })
  const problems = [...places.values()].flatMap(({ variants, last }) =>
    variants.length > 1 ? problemOf(variants, last) : [],
  )
  return { objects: kept, problems }
}

/** Group, kind, namespace and name; undefined for an object whose name the API server will make. */
function keyOf({ value }: RawObject): string | undefined {
  const name = stringAt(value, 'metadata', 'name') ?? ''
  if (name === '') return undefined
  const group = groupOfApiVersion(stringAt(value, 'apiVersion') ?? '')
  const namespace = stringAt(value, 'metadata', 'namespace') ?? ''
  return JSON.stringify([group, stringAt(value, 'kind') ?? '', namespace, name])
}

/** Whether kubectl reads a file after another one: it goes through folders name by name, whatever is in them. */
function isAppliedAfter({ origin: left }: RawObject, { origin: right }: RawObject): boolean {
  if (left === undefined || right === undefined) return false
  if (left.file === right.file) return left.line >= right.line
  const [names, others] = [left.file.split('/'), right.file.split('/')]
  const at = names.findIndex((name, depth) => name !== others[depth])
  return compareBytes(names[at] ?? '', others[at] ?? '') > 0
}

function problemOf(variants: readonly RawObject[], last: RawObject): readonly InputProblem[] {
  const [first] = variants
  if (first === undefined || !isUsed(variants)) return []
  const kind = stringAt(first.value, 'kind') ?? ''
  const group = groupOfApiVersion(stringAt(first.value, 'apiVersion') ?? '')
  const namespace = stringAt(first.value, 'metadata', 'namespace') ?? ''
  const name = stringAt(first.value, 'metadata', 'name') ?? ''
  return [
    {
      kind: 'duplicate',
      what: `${kind} ${namespace === '' ? name : namespacedName(namespace, name)} is defined ${timesText(variants.length)} in the files`,
      where: variants.map(originText).join(' and '),
      why: `they differ, and only one can be meant: kubectl apply -R would leave that of ${originText(last)}`,
      fix: 'remove one of them, or give fewer files; the answer is about the first one',
      reach: [
        { kind: qualifiedKind({ group, kind }), namespace: namespace === '' ? undefined : namespace, name },
      ],
    },
  ]
}

/** A ConfigMap is read for SCM's configuration alone. */
function isUsed(variants: readonly RawObject[]): boolean {
  return variants.some(
    ({ value }) => value['kind'] !== 'ConfigMap' || mayHoldScmConfig(JSON.stringify(value)),
  )
}

function timesText(count: number): string {
  return count === 2 ? 'twice' : `${count} times`
}

function originText({ origin }: RawObject): string {
  return origin === undefined ? 'an unknown place' : `${origin.file}:${origin.line}`
}

/** Whether two values are the same; the order of keys does not count. Their depth is bounded by what the readers take. */
function isEqual(left: unknown, right: unknown): boolean {
  if (left === right) return true
  if (Array.isArray(left) && Array.isArray(right))
    return left.length === right.length && left.every((one, at) => isEqual(one, right[at]))
  if (!isRecord(left) || !isRecord(right)) return false
  const keys = Object.keys(left)
  return (
    keys.length === Object.keys(right).length &&
    keys.every((key) => Object.hasOwn(right, key) && isEqual(left[key], right[key]))
  )
}
