// The same object in several places of the files. Equal ones are one object; of different ones the first is kept, and what
// is said of that object alone is in doubt.
import { mayHoldScmConfig } from '@kleym/shared/core/model/subject-groups.ts'
import { deepEqual } from '@kleym/shared/core/base/json.ts'
import { kindOf, kindKey } from '@kleym/shared/core/model/kinds.ts'
import { namespacedName } from '@kleym/shared/core/model/namespaced-name.ts'
import { readObjectVersion } from '@kleym/shared/core/model/objects/meta.ts'
import type { RawObject } from '@kleym/shared/core/model/objects/raw.ts'
import { compareBytes } from '@kleym/shared/core/base/text/bytes.ts'
import { counted } from '@kleym/shared/core/base/text/counted.ts'
import { objectKey } from '@kleym/shared/core/model/objects/object-key.ts'
import type { InputProblem } from './problem.ts'

/**
 * So many different ones are kept of an object; a file can have a hundred thousand, and what is said of them is the same. The others are
 * not compared, and counted though they may be equal to one of these.
 */
const VARIANTS_MAX = 5

/** The places of an object. */
interface Places {
  readonly variants: RawObject[]
  /** Further ones, beyond those. */
  more: number
  last: RawObject
  /** Whether one after the first is used. */
  isUsed: boolean
}

/** The objects, each once, and a problem for each that differs from one before it. */
export function withoutDuplicates(objects: readonly RawObject[]): {
  readonly objects: readonly RawObject[]
  readonly problems: readonly InputProblem[]
} {
  const places = new Map<string, Places>()
  const kept = objects.filter((object) => {
    const key = keyOf(object)
    if (key === undefined) return true
    const known = places.get(key)
    if (known === undefined) {
      places.set(key, { variants: [object], more: 0, last: object, isUsed: false })
      return true
    }
    if (known.variants.length === VARIANTS_MAX) known.more++
    else if (!known.variants.some((one) => deepEqual(one.value, object.value))) known.variants.push(object)
    known.isUsed ||= isUsed(object)
    if (isAppliedAfter(object, known.last)) known.last = object
    return false
  })
  const problems = [...places.values()].flatMap((known) =>
    known.variants.length > 1 ? (problemOf(known) ?? []) : [],
  )
  return { objects: kept, problems }
}

/** Group, kind, namespace and name; undefined for an object whose name the API server will make, and where only mentions are kept. */
function keyOf({ value, mentions }: RawObject): string | undefined {
  if (mentions !== undefined) return undefined
  return readObjectVersion(value).name === '' ? undefined : objectKey(value)
}

/** Whether kubectl reads a file after another one: it goes through folders name by name, whatever is in them. */
function isAppliedAfter({ origin: left }: RawObject, { origin: right }: RawObject): boolean {
  if (left === undefined || right === undefined) return false
  if (left.file === right.file) return left.line >= right.line
  const [names, others] = [left.file.split('/'), right.file.split('/')]
  const at = names.findIndex((name, depth) => name !== others[depth])
  return compareBytes(names[at] ?? '', others[at] ?? '') > 0
}

function problemOf({ variants, more, last, isUsed: isLaterUsed }: Places): InputProblem | undefined {
  const [first] = variants
  if (first === undefined || !(isLaterUsed || isUsed(first))) return undefined
  const { namespace, name } = readObjectVersion(first.value)
  const times = variants.length + more
  const subject = `${kindOf(first.value).kind} ${namespace === '' ? name : namespacedName(namespace, name)}`
  return {
    kind: 'duplicate',
    subject,
    alike: 'objects are defined more than once in the files',
    what: `${subject} is defined ${times === 2 ? 'twice' : `${times} times`} in the files`,
    where: `${variants.map(originText).join(' and ')}${more === 0 ? '' : ` and ${counted(more, 'other place')}`}`,
    why: `they differ, and only one can be meant: kubectl apply -R would leave that of ${originText(last)}`,
    fix: 'remove one of them, or give fewer files; the answer is about the first one',
    reach: [{ kind: kindKey(first.value), namespace: namespace === '' ? undefined : namespace, name }],
  }
}

/** A ConfigMap is read for SCM's configuration alone. */
function isUsed({ value }: RawObject): boolean {
  return value['kind'] !== 'ConfigMap' || mayHoldScmConfig(JSON.stringify(value))
}

function originText({ origin }: RawObject): string {
  return origin === undefined ? 'an unknown place' : `${origin.file}:${origin.line}`
}
