// What a cluster has of the objects that files change and no list of an answer brings: what says how SPIRE and kleym run, and the CRDs of
// kinds that answers read. A comparison with a cluster asks for it as one with a base of files finds it there.
import { kindKey, RIGHTS_GROUP, kindOf, qualifiedKind } from '@kleym/shared/core/model/kinds.ts'
import {
  accountsConcerned,
  mayTakeRights,
  RIGHTS_KINDS,
} from '@kleym/shared/core/model/objects/account-rights.ts'
import { readMeta } from '@kleym/shared/core/model/objects/meta.ts'
import { keyOfNames, objectKey } from '@kleym/shared/core/model/objects/object-key.ts'
import type { RawObject } from '@kleym/shared/core/model/objects/raw.ts'
import {
  objectsAsked,
  PART_KINDS,
  spireMakeup,
  type ObjectAsked,
  type UnreadParts,
} from '@kleym/shared/core/model/objects/spire-makeup.ts'
import type { UnknownReason } from '@kleym/shared/core/model/unknown-reason.ts'
import { nameOf, type CounterpartReader } from '../cluster/counterparts.ts'
import type { LiveSide } from '../cluster/live-side.ts'
import { CRD, scopeOfCrd, type KindScope } from '../sources/crd-scopes.ts'
import type { DesiredState } from '../sources/load.ts'
import { overlay } from './overlay.ts'
import { versionsUsed } from './taken-away.ts'
import { WANTED_KINDS } from './wanted-kinds.ts'

/** What was read. */
export interface LiveInstall {
  /** Of kinds that answers read. */
  readonly objects: readonly RawObject[]
  /** Of `PART_KINDS`. */
  readonly beside: readonly RawObject[]
  readonly definedKinds: readonly KindScope[]
  /** What could not be read, by kind and name. */
  readonly unread: UnreadParts
  /** Why CRDs could not be read, by their kinds. */
  readonly unreadKinds: ReadonlyMap<string, UnknownReason>
  /** Whether the files may take a right away from an account, in whichever namespace. */
  readonly mayTakeRights: boolean
}

/** Nothing was asked for. */
export const NOTHING_LIVE: LiveInstall = {
  objects: [],
  beside: [],
  definedKinds: [],
  unread: new Map(),
  unreadKinds: new Map(),
  mayTakeRights: false,
}

type Files = Pick<DesiredState, 'objects' | 'beside' | 'definedKinds'>
type Reads = Pick<CounterpartReader, 'read' | 'readAll'>

/** Reads what a comparison with the files asks for beside `side`; `isAll`: that is of all namespaces. */
export async function readLiveInstall(
  reads: Reads,
  side: LiveSide,
  files: Files,
  isAll: boolean,
): Promise<LiveInstall> {
  const live = [...side.objects, ...(side.operatorDeployments ?? []), ...(side.scmWorkloads ?? [])]
  const mayBeAsked = [
    ...objectsAsked({ live, isAll, files: files.objects, beside: files.beside }),
    ...neverListed(files.objects, side),
  ]
  const crds = crdsAsked(files, live)
  if (mayBeAsked.length + crds.size === 0) return NOTHING_LIVE
  const there = new Set(live.map(({ value }) => objectKey(value)))
  const asked = mayBeAsked.filter(
    ({ kind, namespace, name }) => !there.has(keyOfNames(kind, namespace, name)),
  )
  const [found, ofKinds] = await Promise.all([reads.read(asked), reads.read([...crds.keys()])])
  const [beside, objects] = [true, false].map((isPart) =>
    found.objects.filter(({ value }) => PART_KINDS.has(kindKey(value)) === isPart),
  )
  const edited = rightsEdited(beside ?? [], files.beside)
  // Who had them, and who else gives them, a reading of a few namespaces does not tell.
  const rights = isAll && edited.length > 0 ? await reads.readAll(RIGHTS_KINDS) : undefined
  const others = beside?.filter(({ value }) => kindOf(value).group !== RIGHTS_GROUP) ?? []
  return {
    objects: objects ?? [],
    beside: rights === undefined ? (beside ?? []) : [...others, ...rights.objects],
    definedKinds: ofKinds.objects.flatMap(({ value }) => scopeOfCrd(value) ?? []),
    unread: new Map([...found.unread, ...(rights?.unread ?? [])]),
    unreadKinds: new Map(
      [...crds].flatMap(([one, kind]) => {
        const why = ofKinds.unread.get(nameOf(one))
        return why === undefined ? [] : [[kind, why] as const]
      }),
    ),
    mayTakeRights: edited.length > 0 && (isAll || (await mayConcernParts(reads, edited, side))),
  }
}

/** The same of a dump: it may be one of other kinds alone, and what it holds of no kind is not known. */
export function installOfDump(dump: Files, files: Files): LiveInstall {
  const { objects, beside } = files
  const asked = objectsAsked({ live: dump.objects, isAll: true, files: objects, beside })
  const all = asked.length === 0 ? [] : [...dump.objects, ...dump.beside]
  const kinds = new Set(all.map(({ value }) => kindKey(value)))
  const crds = dump.definedKinds.length > 0 ? [] : crdsAsked(files, dump.objects).values()
  return {
    ...NOTHING_LIVE,
    definedKinds: dump.definedKinds,
    unread: new Map(
      asked.flatMap((one) => (kinds.has(one.kind) ? [] : [[nameOf(one), notInDump(one.kind)] as const])),
    ),
    unreadKinds: new Map([...crds].map((kind) => [kind, notInDump(CRD)])),
  }
}

function notInDump(what: string): UnknownReason {
  return { verb: 'list', what, cause: 'not given', fix: 'give a dump that holds it (--live)' }
}

/** Whether rights may be taken from an account that a part of SPIRE runs under, or the operator: in the namespaces that were read, or in others. */
async function mayConcernParts(
  reads: Reads,
  edited: readonly RawObject[],
  { objects, namespacesRead = new Set() }: LiveSide,
): Promise<boolean> {
  const namespaces = [...new Set(edited.map(({ value }) => readMeta(value).namespace))]
  if (namespaces.includes('')) return true
  const bindings = await reads.readAll([`RoleBinding.${RIGHTS_GROUP}`], namespaces)
  const accounts = accountsConcerned(edited, bindings.objects)
  if (bindings.unread.size > 0 || accounts === undefined) return true
  const { rights } = spireMakeup(objects, [])
  return [...accounts].some((one) => rights.has(one) || !namespacesRead.has(one.split('/', 1)[0] ?? ''))
}

/** Objects of the files of kinds that answers read, and that no list of the cluster was made for. */
function neverListed(
  files: readonly RawObject[],
  { listedKinds, absentKinds, gaps }: LiveSide,
): readonly ObjectAsked[] {
  const unlisted = new Set(
    WANTED_KINDS.filter(({ isNameless }) => isNameless !== true)
      .map(qualifiedKind)
      // Of ConfigMaps only some count.
      .filter(
        (kind) => kind !== 'ConfigMap' && !listedKinds.has(kind) && !absentKinds.has(kind) && !gaps.has(kind),
      ),
  )
  return files.flatMap(({ value }) => {
    const { namespace, name } = readMeta(value)
    const kind = kindKey(value)
    return unlisted.has(kind) && name !== '' ? [{ kind, namespace, name }] : []
  })
}

/** The CRDs of the files whose kinds answers rest on, each with its kind. */
function crdsAsked({ objects, definedKinds }: Files, live: readonly RawObject[]): Map<ObjectAsked, string> {
  const parsed = definedKinds.filter(({ parts }) => parts !== undefined)
  if (parsed.length === 0) return new Map()
  const used = versionsUsed([...live, ...objects])
  return new Map(
    parsed.flatMap(({ kind, name = '' }) =>
      used.has(kind) && name !== '' ? [[{ kind: CRD, namespace: '', name }, kind] as const] : [],
    ),
  )
}

/** The live roles and bindings from which the files may take a right away. */
function rightsEdited(live: readonly RawObject[], files: readonly RawObject[]): readonly RawObject[] {
  const rights = live.filter(({ value }) => RIGHTS_KINDS.includes(kindKey(value)))
  if (rights.length === 0) return []
  const after = new Map(overlay(rights, files).objects.map(({ value }) => [objectKey(value), value]))
  return rights.filter(({ value }) => mayTakeRights(value, after.get(objectKey(value)) ?? value))
}
