// Which objects of kinds that kleym does not read make pods, and in which namespaces. Where an object names the maker as its
// owner, the files show what was made: it is read as what it is. Where a kind may have no namespace, an object that names none
// may make its pods in any (docs/reading-files.md, "Kinds that hold pods").
import { namespacedName } from '../model/namespaced-name.ts'
import { listAt, stringAt, type JsonRecord } from '../base/json.ts'
import { kindOf, POOL_KIND, kindKey } from '../model/kinds.ts'
import { expanded, isReadByMakers, scaledBy } from '../model/objects/known-makers.ts'
import { readPodMaker, type PodMaker } from '../model/objects/pod-makers.ts'
import { keyOfNames, objectKey } from '../model/objects/object-key.ts'
import type { RawObject } from '../model/objects/raw.ts'
import { compareBytes } from '../base/text/bytes.ts'
import type { UnknownReason } from '../model/unknown-reason.ts'

/** What known controllers make of the objects that are there. */
export interface Expanded {
  /** What they make; an object that is there already is left out. */
  readonly made: readonly RawObject[]
  /** The objects that it is made of: they make nothing else. */
  readonly of: ReadonlySet<RawObject>
}

/** What is made of objects whose kinds are known, where nothing names them as its owner: then that is what was made. */
export function expandedIn(objects: readonly RawObject[]): Expanded {
  const candidates = objects.filter(({ isUnread }) => isUnread === true)
  if (candidates.length === 0) return { made: [], of: new Set() }
  const owners = ownersIn(objects)
  const others = objects.filter(({ value }) => {
    const kind = kindOf(value)
    return kind.kind === POOL_KIND || isReadByMakers(kind)
  })
  const of = new Map<RawObject, readonly RawObject[]>()
  for (const raw of candidates) {
    const made = owners.has(objectKey(raw.value)) ? undefined : expanded(raw, others)
    if (made !== undefined) of.set(raw, made)
  }
  const there = new Set(objects.map(({ value }) => objectKey(value)))
  const made = [...of.values()]
    .flat()
    .filter((raw) => raw.made?.by !== undefined || !there.has(objectKey(raw.value)))
  return { made, of: new Set(of.keys()) }
}

/** The objects, with a mark on those whose pods an autoscaler among them counts. */
export function withScale(objects: readonly RawObject[]): readonly RawObject[] {
  const scaled = new Set(
    objects.flatMap(({ value, isUnread }) => {
      const target = isUnread === true ? scaledBy(value) : undefined
      return target === undefined ? [] : keyOfNames(target.kind, target.namespace, target.name)
    }),
  )
  if (scaled.size === 0) return objects
  return objects.map((raw) =>
    scaled.has(objectKey(raw.value)) ? { ...raw, made: { ...raw.made, isScaled: true } } : raw,
  )
}

/** The makers, without those whose pods are shown. */
export interface PodMakersFound {
  /** In byte order of namespace, name and kind. */
  readonly makers: readonly PodMaker[]
  /** Why pods may be anywhere that could not be asked about: there are too many. */
  readonly unlisted: UnknownReason | undefined
}

/** The most pods that are asked about because nothing tells in which namespace they will be. */
const ANYWHERE_MAX = 20_000

/** The makers among objects, without those that are `known`; `namespaces` are those that anything is known of. */
export function podMakersIn(
  objects: readonly RawObject[],
  namespaces: readonly string[],
  known: Expanded['of'],
): PodMakersFound {
  const found = objects.flatMap((raw) => (known.has(raw) ? [] : (readPodMaker(raw) ?? [])))
  if (found.length === 0) return { makers: found, unlisted: undefined }
  const owners = ownersIn(objects)
  const read = new Set(objects.map(({ value }) => objectKey(value)))
  const own = found.filter(
    ({ takesFrom: from, namespace }) =>
      from === undefined || !read.has(keyOfNames(from.kind, namespace, from.name)),
  )
  const open = own.filter(
    ({ anywhere, kind, namespace, name }) =>
      anywhere.length > 0 || !owners.has(keyOfNames(kind, namespace, name)),
  )
  const { makers, unlisted } = withPodsAnywhere(open, namespaces, owners)
  return {
    makers: makers.toSorted(
      (a, b) =>
        compareBytes(a.namespace, b.namespace) ||
        compareBytes(a.name, b.name) ||
        compareBytes(a.kind, b.kind),
    ),
    unlisted,
  }
}

/** Why something of what a controller makes is not known. */
export function madeBy(
  { kind, namespace, name }: Pick<PodMaker, 'kind' | 'namespace' | 'name'>,
  what: string,
): UnknownReason {
  const maker = namespace === '' ? name : namespacedName(namespace, name)
  return {
    verb: 'read',
    what: `${what} that ${kind} ${maker} makes`,
    cause: 'not given',
    fix: 'give them with -f (kubectl get -o yaml)',
  }
}

/** The makers with their pods in each namespace where they may be, but where an owner shows them. */
function withPodsAnywhere(
  makers: readonly PodMaker[],
  namespaces: readonly string[],
  owners: ReadonlySet<string>,
): PodMakersFound {
  let count = 0
  let unlisted: UnknownReason | undefined
  const spread = makers.flatMap((maker) => {
    const { kind, name, anywhere } = maker
    if (anywhere.length === 0) return [maker]
    const all = new Set(maker.namespace === '' ? namespaces : [maker.namespace, ...namespaces])
    const possible = [...all].filter((namespace) => !owners.has(keyOfNames(kind, namespace, name)))
    count += anywhere.length * possible.length
    if (count > ANYWHERE_MAX) {
      unlisted ??= madeBy(maker, 'the pods')
      return [maker]
    }
    const pods = possible.flatMap((namespace) => anywhere.map((pod) => ({ ...pod, namespace })))
    return [{ ...maker, pods: [...maker.pods, ...pods] }]
  })
  return { makers: spread, unlisted }
}

function ownersIn(objects: readonly RawObject[]): ReadonlySet<string> {
  return new Set(objects.flatMap(({ value }) => ownersOf(value)))
}

function ownersOf(value: JsonRecord): readonly string[] {
  return listAt(value, 'metadata', 'ownerReferences').map((owner) => {
    return keyOfNames(kindKey(owner), namespaceOf(value), stringAt(owner, 'name') ?? '')
  })
}

function namespaceOf(value: JsonRecord): string {
  return stringAt(value, 'metadata', 'namespace') ?? ''
}
