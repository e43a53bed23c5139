// What a change takes away, and what stays needs: a Namespace takes along everything in it, a CRD every object of its kind, and no pod
// starts without its ServiceAccount. Whether a manifest that is gone deletes anything, no file says: what stays is not known.
import { getOrCreate } from '@kleym/shared/core/base/get-or-create.ts'
import { canonicalText, isRecord, stringAt } from '@kleym/shared/core/base/json.ts'
import { counted } from '@kleym/shared/core/base/text/counted.ts'
import { BINDING, CLUSTER_SPIFFE_ID, kindKey, kindOf, qualifiedKind } from '@kleym/shared/core/model/kinds.ts'
import { namespacedName } from '@kleym/shared/core/model/namespaced-name.ts'
import { readMeta } from '@kleym/shared/core/model/objects/meta.ts'
import { objectKey } from '@kleym/shared/core/model/objects/object-key.ts'
import type { Origin, RawObject } from '@kleym/shared/core/model/objects/raw.ts'
import {
  unknownReasonFix,
  unknownReasonText,
  type UnknownReason,
} from '@kleym/shared/core/model/unknown-reason.ts'
import type { KindScope } from '../sources/crd-scopes.ts'
import type { DesiredState } from '../sources/load.ts'
import type { FileRoute } from '../sources/tree.ts'
import { namesText } from '../text/names.ts'
import { annotationThatKeeps } from '../sources/as-written.ts'
import { boundedProblems, placeText, type InputProblem, type ProblemReach } from '../sources/problem.ts'

/** A problem for each object that one desired state has, another has not, and objects of that one need. */
export function takenAway(after: DesiredState, before: DesiredState | undefined): readonly InputProblem[] {
  if (before === undefined) return []
  return boundedProblems([
    ...kindsTaken(after, before.definedKinds),
    ...namespacesTaken(after, before),
    ...accountsTaken(after, before),
    ...filesRerouted(after, before),
    ...objectsKept(after, before),
  ])
}

const CLUSTER_SPIFFE_IDS = qualifiedKind(CLUSTER_SPIFFE_ID)

/** What a cluster, or a dump of it, has of CRDs that files hold too. */
export interface LiveKinds {
  readonly definedKinds: readonly KindScope[]
  /** Why a CRD could not be read, by its kind. */
  readonly unread: ReadonlyMap<string, UnknownReason>
}

/** Of files over what is live: what their CRDs take away from the live ones, or may. A CRD that no file holds stays. */
export function takenFromKinds(
  objects: readonly RawObject[],
  definedKinds: readonly KindScope[],
  live: LiveKinds,
): readonly InputProblem[] {
  const given = new Set(definedKinds.map(({ kind }) => kind))
  const taken = kindsTaken(
    { objects, definedKinds },
    live.definedKinds.filter(({ kind }) => given.has(kind)),
  )
  const unread = [...live.unread].map(([kind, why]): InputProblem => ({
    kind: 'taken away',
    what: `the change may take away something from the CRD of ${kind}`,
    where: `the CRD of ${kind}`,
    why: unknownReasonText(why),
    fix: unknownReasonFix(why),
    reach: reachOfKind(kind),
  }))
  return boundedProblems([...taken, ...unread])
}

function reachOfKind(kind: string): readonly ProblemReach[] {
  const mayBeOutput = kind === CLUSTER_SPIFFE_IDS && { mayBeOutput: true }
  return [{ kind, namespace: undefined, name: undefined, ...mayBeOutput }]
}

function kindsTaken(
  { objects, definedKinds }: Pick<DesiredState, 'objects' | 'definedKinds'>,
  before: readonly KindScope[],
): readonly InputProblem[] {
  if (before.length === 0) return []
  const [had, has] = [before, definedKinds].map(partsByKind)
  const used = versionsUsed(objects)
  return [...(had ?? [])].flatMap(([kind, { parts }]) => {
    const versions = used.get(kind)
    if (versions === undefined) return []
    const left = has?.get(kind)
    const reach = reachOfKind(kind)
    if (left === undefined)
      return problem(`the CRD of ${kind}`, undefined, {
        why: `what deletes it deletes every ${kind}, and what deletes nothing leaves them`,
        fix: 'keep its manifest',
        reach,
      })
    // Of kinds that are not read, only some CRDs were parsed.
    if (!left.isParsed) return []
    const lost = [...versions].flatMap((version) => {
      const others = left.parts.get(version) ?? []
      return (parts.get(version) ?? []).filter((one) => !others.includes(one))
    })
    return lost.slice(0, 1).map((part) =>
      problem(`${part} from the CRD of ${kind}`, undefined, {
        why: 'the API server gives no object without its version, and none a field that it has not',
        fix: 'keep what the CRD had',
        reach,
      }),
    )
  })
}

/** What CRDs have of each kind, by version. */
function partsByKind(scopes: readonly KindScope[]): ReadonlyMap<string, Defined> {
  return new Map(
    [...Map.groupBy(scopes, ({ kind }) => kind)].map(([kind, ones]) => {
      const isParsed = ones.every(({ parts }) => parts !== undefined)
      return [kind, { isParsed, parts: new Map(ones.flatMap(({ parts }) => [...(parts ?? [])])) }]
    }),
  )
}

interface Defined {
  readonly isParsed: boolean
  /** By version. */
  readonly parts: ReadonlyMap<string, readonly string[]>
}

/** The versions in which kinds are read, or written in files; kleym's ClusterSPIFFEIDs are in no file. */
export function versionsUsed(objects: readonly RawObject[]): ReadonlyMap<string, ReadonlySet<string>> {
  const used = new Map<string, Set<string>>([[CLUSTER_SPIFFE_IDS, new Set([CLUSTER_SPIFFE_ID.version])]])
  for (const { value } of objects) {
    const version = stringAt(value, 'apiVersion')?.split('/').at(-1) ?? ''
    getOrCreate(used, kindKey(value), () => new Set()).add(version)
  }
  return used
}

/** The API server deletes none of these. https://github.com/kubernetes/kubernetes/blob/v1.36.0/pkg/kubeapiserver/options/plugins.go */
const IMMORTAL: ReadonlySet<string> = new Set(['default', 'kube-system', 'kube-public'])

function namespacesTaken({ objects }: DesiredState, before: DesiredState): readonly InputProblem[] {
  const kept = new Set([...IMMORTAL, ...namespacesIn(objects).keys()])
  const gone = [...namespacesIn(before.objects)].filter(([name]) => !kept.has(name))
  if (gone.length === 0) return []
  const inside = Map.groupBy(objects, ({ value }) => readMeta(value).namespace)
  return gone.flatMap(([name, origin]) => {
    const staying = inside.get(name) ?? []
    if (staying.length === 0) return []
    const kinds = [...new Set(staying.map(({ value }) => kindKey(value)))]
    return problem(`Namespace ${name}, and not ${counted(staying.length, 'object')} in it`, origin, {
      why: 'what deletes it deletes everything in it, and what deletes nothing leaves both',
      fix: 'keep its manifest, or take away those of the objects in it too',
      reach: kinds.map((kind) => ({ kind, namespace: name, name: undefined })),
    })
  })
}

function namespacesIn(objects: readonly RawObject[]): ReadonlyMap<string, Origin | undefined> {
  return new Map(
    objects.flatMap(({ value, origin }) =>
      kindKey(value) === 'Namespace' ? [[readMeta(value).name, origin] as const] : [],
    ),
  )
}

function accountsTaken({ objects, accounts }: DesiredState, before: DesiredState): readonly InputProblem[] {
  const gone = [...before.accounts].filter(([key]) => !accounts.has(key) && !key.endsWith(`/${MADE_ALWAYS}`))
  if (gone.length === 0) return []
  const users = new Map<string, RawObject[]>(gone.map(([key]) => [key, []]))
  for (const object of objects) {
    // A binding names it, and runs under no account.
    if (kindKey(object.value) === qualifiedKind(BINDING)) continue
    const { namespace } = readMeta(object.value)
    for (const name of accountsNamed(object.value)) users.get(namespacedName(namespace, name))?.push(object)
  }
  return gone.flatMap(([key, origin]) => {
    const [first, ...others] = users.get(key) ?? []
    if (first === undefined) return []
    const more = others.length === 0 ? '' : ` and ${counted(others.length, 'other object')}`
    return problem(
      `ServiceAccount ${key}, which ${kindOf(first.value).kind} ${readMeta(first.value).name}${more} names`,
      origin,
      {
        why: 'without it no new pod starts; pods that run stay until they are replaced',
        fix: 'keep its manifest, or name another one',
        reach: [first, ...others].map(reachOf),
      },
    )
  })
}

/** Kubernetes makes it again in each namespace. */
const MADE_ALWAYS = 'default'

/** The ServiceAccounts that an object names, at any depth: a template of pods may stand in any field. */
function accountsNamed(value: unknown): ReadonlySet<string> {
  const names = new Set<string>()
  const look = (at: unknown): void => {
    if (Array.isArray(at)) for (const item of at) look(item)
    else if (isRecord(at))
      for (const [key, one] of Object.entries(at)) {
        if (typeof one !== 'string') look(one)
        else if (key === 'serviceAccountName' || key === 'serviceAccount') names.add(one)
      }
  }
  look(value)
  return names
}

/** Objects whose manifest is gone, and that an annotation of theirs may keep. */
function objectsKept({ objects }: DesiredState, before: DesiredState): readonly InputProblem[] {
  const keeping = before.objects.flatMap((one) => {
    const by = one.isManifest === true ? annotationThatKeeps(one.value) : undefined
    return by === undefined ? [] : [{ one, by }]
  })
  if (keeping.length === 0) return []
  const there = new Set(objects.map(({ value }) => objectKey(value)))
  return keeping.flatMap(({ one, by }) => {
    if (there.has(objectKey(one.value))) return []
    const { namespace, name } = readMeta(one.value)
    const called = namespace === '' ? name : namespacedName(namespace, name)
    return problem(`${kindOf(one.value).kind} ${called}, which ${by} may keep`, one.origin, {
      why: 'a tool that knows the annotation leaves the object in the cluster',
      fix: 'delete the object itself, or give both sides without it',
      reach: [reachOf(one)],
    })
  })
}

/**
 * What stands in a file that is there on both sides, and that comes into the cluster in another way: by a kustomization that takes it in, or
 * by what deploys its folder. Without one it may go; with its first one it may come.
 */
function filesRerouted({ objects, routes }: DesiredState, before: DesiredState): readonly InputProblem[] {
  // By where the objects stand: many files may be rendered to one text.
  const rerouted = new Map(
    [...routes].flatMap(([path, route]) => {
      const former = before.routes.get(path)
      const how = former && otherRoute(former, route)
      return how === undefined ? [] : route.names.map((name) => [name, how] as const)
    }),
  )
  if (rerouted.size === 0) return []
  const inFile = Map.groupBy(objects, ({ origin }) => origin?.file)
  return [...rerouted].flatMap(([name, why]) => {
    const inside = inFile.get(name)
    if (inside === undefined) return []
    return {
      kind: 'taken away' as const,
      alike: 'files come into the cluster in another way',
      what: `the change may take away or bring what ${name} holds`,
      where: name,
      why,
      fix: 'leave out the files that nothing deploys, on both sides (--exclude), or give both sides rendered',
      reach: inside.map(reachOf),
    }
  })
}

/** A sentence about the files that a change edits, and whose edit nothing applies until what deploys them is resumed. */
export function suspendedNotes(after: DesiredState, before: DesiredState | undefined): readonly string[] {
  if (before === undefined) return []
  const routes = new Map([...before.routes, ...after.routes])
  const suspended = [...routes].filter(([, { isSuspended }]) => isSuspended)
  if (suspended.length === 0) return []
  const [textBefore, textAfter] = [before, after].map(({ objects, routes: of }) => {
    const inFile = Map.groupBy(objects, ({ origin }) => origin?.file)
    return (path: string): string =>
      canonicalText(of.get(path)?.names.flatMap((name) => inFile.get(name)?.map(({ value }) => value) ?? []))
  })
  const edited = suspended.flatMap(([path]) => (textBefore?.(path) === textAfter?.(path) ? [] : [path]))
  return edited.length === 0
    ? []
    : [`what deploys ${namesText(edited)} is suspended: the edit is applied once it is resumed`]
}

/** In what a file comes into the cluster otherwise. */
function otherRoute(former: FileRoute, route: FileRoute): string | undefined {
  const [lost] = former.takenInBy.difference(route.takenInBy)
  if (lost !== undefined) return `the kustomization in ${lost} no longer takes it in`
  const [gained] = route.takenInBy
  if (former.takenInBy.size === 0 && gained !== undefined)
    return `the kustomization in ${gained} takes it in now`
  if (former.ways.size === 0 && route.ways.size > 0) return 'something deploys its folder now'
  if (route.ways.size === 0 && former.ways.size > 0) return 'nothing deploys its folder any more'
  return former.ways.isSubsetOf(route.ways) ? undefined : 'what deploys its folder does so in another way'
}

function reachOf({ value }: RawObject): ProblemReach {
  const { namespace, name } = readMeta(value)
  return { kind: kindKey(value), namespace: namespace || undefined, name: name || undefined }
}

function problem(
  taken: string,
  origin: Origin | undefined,
  rest: Pick<InputProblem, 'why' | 'fix' | 'reach'>,
): InputProblem {
  return {
    kind: 'taken away',
    what: `the change takes away ${taken}`,
    where: origin === undefined ? taken : placeText(origin),
    ...rest,
  }
}
