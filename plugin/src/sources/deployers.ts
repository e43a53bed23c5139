// What deploys things that are not among the files (fetching.ts), and what happens to it. What it makes may be anything: cluster-scoped, or in
// the namespace that it names. What it takes from a folder of the tree is dismissed: the tree is read anyway. A chart that names other
// namespaces by itself is beyond this (docs/reading-files.md, "Whole trees").
import { basename, resolve } from 'node:path'
import { getOrCreate } from '@kleym/shared/core/base/get-or-create.ts'
import {
  canonicalText,
  dig,
  isRecord,
  own,
  stringAt,
  walk,
  type JsonRecord,
} from '@kleym/shared/core/base/json.ts'
import {
  CLUSTER_SPIFFE_ID,
  OPENSHIFT_AGENT,
  REGISTRATIONS,
  kindOf,
  qualifiedKind,
  kindKey,
} from '@kleym/shared/core/model/kinds.ts'
import { ANNOTATION_BINDING, CLUSTER_SPIFFE_ID_KIND } from '@kleym/shared/core/model/names.ts'
import type { Origin, RawObject } from '@kleym/shared/core/model/objects/raw.ts'
import { readMeta } from '@kleym/shared/core/model/objects/meta.ts'
import { appliedBy } from './commands.ts'
import type { Opaque } from './door.ts'
import {
  fetchedBy,
  isOfOthers,
  KEY_OF_ENTRY,
  KEYS_OF_REGISTRATIONS,
  sourceKey,
  SOURCES_OF_FLUX,
  type Deployed,
} from './fetching.ts'
import { placeText, type ProblemReach } from './problem.ts'
import type { WantedKind } from './wanted-kind.ts'

/** Something that deploys, as a document says it. */
export interface Deploying {
  readonly origin: Origin
  /** `HelmRelease podinfo`; the name of the file, where it is no object. */
  readonly name: string
  readonly deployed: readonly Deployed[]
  /** The key by which it is values of SPIRE's chart, or an object that a controller makes registrations of. */
  readonly key?: string
  /** Whether it is an object, which a controller reads. */
  readonly isObject?: boolean
  /** Of an object: how it deploys, as text. */
  readonly way?: string
  /** Of an object: whether it deploys nothing until it is resumed. */
  readonly isSuspended?: boolean
}

/** A document that deploys something, as it is once kustomizations have changed it. */
export interface MadeDeployer {
  readonly values: readonly unknown[]
  /** Whether it says something else then, which is not known. */
  readonly isChanged: boolean
}

/** What deploys something, if it is not known where and with what, and why. */
export function openly(one: Deploying, why: string): Deploying {
  const open = { namespace: undefined, openNamespace: true, values: undefined }
  return {
    ...one,
    deployed: one.deployed.map((each) => ({
      ...each,
      ...open,
      changes: `${each.path ?? each.chart ?? ''} ${why}`,
    })),
  }
}

/** Fields by which nothing else is deployed: when, for how long, which images, and which folders beside (`eachOf` has those). */
const SAME_WAY: ReadonlySet<string> = new Set([
  'interval',
  'retryInterval',
  'timeout',
  'retry',
  'wait',
  'healthChecks',
  'healthCheckExprs',
  'images',
  'info',
  'revisionHistoryLimit',
  'generators',
  'automated',
])

/** What an object says of how it deploys: which files of a folder, to which cluster, in which revision, whether at all. */
function wayOf(value: unknown): string {
  const without = (part: unknown): unknown => {
    if (Array.isArray(part)) return part.map(without)
    if (!isRecord(part)) return part
    const kept = Object.entries(part).filter(([key]) => !SAME_WAY.has(key))
    return Object.fromEntries(kept.map(([key, one]) => [key, without(one)]))
  }
  return canonicalText(without(own(value, 'spec') ?? null))
}

/** The files as a part of a repository. */
export interface OwnTree {
  /** The folder, or the manifest, that has this path from the top of some repository; undefined where none has. */
  readonly folderAt: (path: string) => string | undefined
  /** The folders that are in one. */
  readonly foldersIn: (folder: string) => readonly string[]
  /** Whether a repository is the one that the files are from. */
  readonly isOwn: (repository: string | undefined) => boolean
  /** The same if nothing shows which repository that is. */
  readonly mayBeOwn: (repository: string | undefined) => boolean
}

/** Kinds that decide nothing by themselves: a namespace that is not given has unknown labels, a node is taken to exist. */
export const DETAILS: ReadonlySet<string> = new Set(['Namespace', 'Node', 'Endpoints'])

/** Whatever there may be: of the namespaced kinds in one namespace, or in any. */
export function everythingIn(
  wanted: readonly WantedKind[],
  namespace: string | undefined,
): readonly ProblemReach[] {
  return wanted
    .filter(({ kind }) => !DETAILS.has(kind))
    .map(({ group, kind, namespaced }) => ({
      kind: qualifiedKind({ group, kind }),
      namespace: namespaced ? namespace : undefined,
      name: undefined,
      ...(kind === CLUSTER_SPIFFE_ID_KIND ? { mayBeOutput: false } : {}),
    }))
}

/**
 * The key by which something makes registrations of a document: one of SPIRE's chart, or that of an entry as `spire-server entry create -data` takes
 * it. A switch of SCM's configuration is none.
 */
function keyOfRegistrations(value: unknown): string | undefined {
  let found: string | undefined
  walk(value, (part) => {
    const names = isRecord(part) && found === undefined ? Object.keys(part) : []
    const isEntry = names.some((name) => /^selectors?$/i.test(name))
    found ??= names.find((name) =>
      KEYS_OF_REGISTRATIONS.test(name)
        ? typeof (own(part, name) ?? '') === 'object'
        : (isEntry && KEY_OF_ENTRY.test(name)) || (KEY_OF_AGENTS.test(name) && own(part, name) !== false),
    )
    return found === undefined
  })
  return found
}

/**
 * What a document deploys; undefined where it deploys nothing. The fields of a kind that is read name nothing to be fetched: what its
 * containers run may.
 */
export function deploying(value: unknown, origin: Origin, isRead = false): Deploying | undefined {
  const isOfFlux = isRecord(value) && kindOf(value).group === SOURCES_OF_FLUX
  // What takes a chart of SPIRE from a source of Flux may stand elsewhere.
  const ofSource =
    isOfFlux && OF_SPIRE.has(nameOf(stringAt(value, 'spec', 'url'))) ? [{ chart: 'spire' }] : []
  const commands = appliedBy(value).map((chart) => ({ chart }))
  const fetched = isRead ? [] : fetchedBy(value, origin)
  const found = [...fetched, ...commands, ...ofSource].filter(({ chart }) => nameOf(chart) !== SPIRES_CRDS)
  const kind = stringAt(value, 'kind')
  const makesAny = kind === undefined || (isRecord(value) && isOfOthers(kindOf(value)))
  const key =
    found.length > 0 || isRead || !makesAny ? undefined : keyOfRegistrations(own(value, 'spec') ?? value)
  if (found.length === 0 && key === undefined) return undefined
  const name = [kind, stringAt(value, 'metadata', 'name')].filter(Boolean).join(' ')
  const isObject = kind !== undefined
  return {
    origin,
    name: name || origin.file,
    // What SPIRE's chart makes of its values is shown by what it installs.
    deployed:
      key === undefined ? found : [{ chart: !isObject && KEYS_OF_REGISTRATIONS.test(key) ? 'spire' : key }],
    ...(key && { key }),
    isObject,
    ...(isObject && { way: wayOf(value), isSuspended: own(own(value, 'spec'), 'suspend') === true }),
  }
}

/** The folder of the files that something is deployed from; undefined: it is elsewhere. */
function folderOf({ chart, path, repository }: Deployed, { folderAt, isOwn }: OwnTree): string | undefined {
  // A chart is a folder if it is written as one: `spiffe/spire` is a chart of the repository `spiffe`.
  const folder = path ?? (chart?.startsWith('.') === true ? chart : undefined)
  return folder === undefined || !isOwn(repository) ? undefined : folderAt(folder)
}

/** What is deployed of each folder of the files. */
export function eachOf(
  deployed: Deployed,
  tree: OwnTree,
): readonly (Deployed & { readonly folder: string })[] {
  const folder = folderOf(deployed, tree)
  if (folder === undefined) return []
  if (deployed.isEach !== true) return [{ ...deployed, folder }]
  const isCalledAlike = deployed.openNamespace === 'folder'
  const excluded = new Set(deployed.excluded?.map((path) => tree.folderAt(path)))
  const each = tree.foldersIn(folder).filter((one) => !excluded.has(one))
  return each.map((one) => ({
    ...deployed,
    folder: resolve(one, deployed.below ?? ''),
    ...(isCalledAlike && { namespace: basename(one), openNamespace: false }),
  }))
}

/** The deployers of objects that are not among the files, unless other objects show what they made. */
export function deployersOf(
  all: readonly Deploying[],
  tree: OwnTree,
  wanted: readonly WantedKind[],
): readonly Opaque[] {
  return all.flatMap(({ origin, name, deployed, key, isObject }) => {
    const elsewhere = deployed.filter((one) => folderOf(one, tree) === undefined || one.changes !== undefined)
    if (elsewhere.length === 0) return []
    const namespaces = new Set(elsewhere.map(({ namespace }) => namespace || undefined))
    const names = elsewhere.map(({ chart, path, changes }) => changes ?? chart ?? path ?? '')
    const shown = [...new Set(names.filter((one) => one !== ''))].slice(0, NAMES_SHOWN)
    const of = shown.length === 0 ? '' : `: ${shown.join(', ')}`
    return {
      kind: 'not rendered' as const,
      where: placeText(origin),
      ...(key === undefined
        ? {
            ...wordsAbout(elsewhere, tree, { name, of }),
            reach: [...namespaces].flatMap((namespace) => everythingIn(wanted, namespace)),
          }
        : {
            ...REGISTRATIONS_BY[sortOfKey(key, isObject)](name, key),
            reach: everythingIn(wanted, undefined).filter(
              ({ kind }) => SPIRES.has(kind) || (KEY_OF_AGENTS.test(key) && kind === AGENTS),
            ),
          }),
      isShownBy: (objects: readonly RawObject[]) => isShown(elsewhere, objects),
    }
  })
}

/** What is said of something that deploys. Folders of the tree that it calls another repository's may be meant all the same. */
function wordsAbout(
  elsewhere: readonly Deployed[],
  { folderAt, isOwn }: OwnTree,
  { name, of }: { readonly name: string; readonly of: string },
): Pick<Opaque, 'what' | 'alike' | 'why' | 'fix'> {
  const add = 'add what it makes, with the values that are in use: helm template, or kubectl kustomize'
  const alike = 'objects deploy what is not among the files'
  const [first] = elsewhere
  const isHere = ({ path, repository }: Deployed): boolean =>
    path !== undefined && folderAt(path) !== undefined && !isOwn(repository)
  return first !== undefined && elsewhere.every(isHere)
    ? {
        what: `${name} deploys folders of another repository${of}`,
        alike,
        // An address may hold a password.
        why: `these files are not known to be those of ${(first.repository ?? '').replace(/\/\/[^/@]*@/, '//')}`,
        fix: `if they are, ask in a clone of it (git remote -v names it); if not, ${add}`,
      }
    : {
        what: `${name} deploys what is not among the files${of}`,
        alike,
        why: 'what it makes may be of any kind',
        fix: add,
      }
}

/** What says that an agent finds no containers: https://github.com/spiffe/helm-charts-hardened/tree/main/charts/spire/charts/spire-agent */
const KEY_OF_AGENTS = /^disable_?container_?selectors$/i

/** What is said of something by whose key registrations may be made, or agents configured. */
const REGISTRATIONS_BY = {
  entries: (name: string, key: string) => ({
    what: `${name} holds entries of a SPIRE server: ${key}`,
    alike: 'files hold entries of a SPIRE server',
    why: 'whether anything creates them is not known',
    fix: 'write them as ClusterStaticEntries, or leave it out: --exclude FILE',
  }),
  agents: (name: string, key: string) => ({
    what: `${name} holds settings of SPIRE's agents: ${key}`,
    alike: "files hold settings of SPIRE's agents",
    why: 'whether any agent has them is not known',
    fix: 'add what the chart renders: helm template, with the values that are in use',
  }),
  object: (name: string, key: string) => ({
    what: `${name} holds what its controller may make registrations of: ${key}`,
    alike: 'objects hold what their controllers may make registrations of',
    why: 'what its controller makes of it is not known',
    fix: 'add what it makes as manifests of their own',
  }),
  values: (name: string, key: string) => ({
    what: `${name} holds values of SPIRE's chart, which is not rendered: ${key}`,
    alike: "files hold values of SPIRE's chart, which is not rendered",
    why: 'the chart makes registrations of them, and none is among the files',
    fix: 'add what it renders: helm template, with the values that are in use',
  }),
} as const

function sortOfKey(key: string, isObject = false): keyof typeof REGISTRATIONS_BY {
  if (KEY_OF_ENTRY.test(key)) return 'entries'
  if (KEY_OF_AGENTS.test(key)) return 'agents'
  return isObject ? 'object' : 'values'
}

/** How many charts or folders a message names. */
const NAMES_SHOWN = 3

/** Helm's own label: https://helm.sh/docs/chart_best_practices/labels/ */
const MANAGED_BY = 'app.kubernetes.io/managed-by'
const AGENTS = qualifiedKind(OPENSHIFT_AGENT)
const SPIRES: ReadonlySet<string> = new Set(REGISTRATIONS.map(qualifiedKind))
const INSTANCE = 'app.kubernetes.io/instance'
/** The charts that install ClusterSPIFFEIDs, from whatever repository. */
const OF_SPIRE: ReadonlySet<string> = new Set(['spire', 'spire-nested'])
/** Its chart of CustomResourceDefinitions, and of nothing else. */
const SPIRES_CRDS = 'spire-crds'

/** The name of a chart, without the repository that it comes from. */
function nameOf(chart = ''): string {
  return chart.split('/').at(-1) ?? ''
}

/** What objects show of what was made: releases of Helm with their namespaces, and whether SPIRE's own registrations are there. */
interface Made {
  readonly releases: ReadonlyMap<string, ReadonlySet<string>>
  readonly hasSpire: boolean
}

/** By the objects: there may be many deployers, and many objects. */
const MADE = new WeakMap<readonly RawObject[], Made>()

function madeAmong(objects: readonly RawObject[]): Made {
  const releases = new Map<string, Set<string>>()
  let hasSpire = false
  for (const { value } of objects) {
    const { annotations, labels, namespace } = readMeta(value)
    const isHelms = labels.get(MANAGED_BY) === 'Helm'
    const release = labels.get(INSTANCE)
    if (isHelms && release !== undefined) getOrCreate(releases, release, () => new Set()).add(namespace)
    if (own(value, 'kind') === CLUSTER_SPIFFE_ID_KIND && kindKey(value) === qualifiedKind(CLUSTER_SPIFFE_ID))
      hasSpire ||=
        !annotations.has(ANNOTATION_BINDING) && (isHelms || dig(value, 'spec', 'fallback') === true)
  }
  return { releases, hasSpire }
}

/**
 * Whether an object was made of each. A ClusterSPIFFEID that Helm installs, or the one fallback of an installation, is SPIRE's;
 * any other chart shows itself by the label of its release, in the namespace of that.
 */
function isShown(deployed: readonly Deployed[], objects: readonly RawObject[]): boolean {
  const { releases, hasSpire } = getOrCreate(MADE, objects, () => madeAmong(objects))
  return deployed.every(({ chart, release = '', namespace = '' }) => {
    if (hasSpire && OF_SPIRE.has(nameOf(chart))) return true
    // Manifests that Helm prints may name no namespace.
    const within = releases.get(release)
    return within !== undefined && (namespace === '' || within.has(namespace) || within.has(''))
  })
}

/** The address of a source of Flux, by how others refer to it. */
export function sourceAddress(value: JsonRecord): readonly [source: string, address: string] | undefined {
  const url = stringAt(value, 'spec', 'url')
  const { kind, group } = kindOf(value)
  if (group !== SOURCES_OF_FLUX || url === undefined) return undefined
  const { name, namespace } = readMeta(value)
  return [sourceKey(kind, namespace, name), url]
}
