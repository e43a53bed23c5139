// A parsed kustomization: its resources, the files beside it that are no objects, and the kinds that it changes.
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { agentConfigIn } from '@kleym/shared/core/model/objects/agent-config.ts'
import { configTextsOf, isOfServer } from '@kleym/shared/core/model/objects/spire-setup.ts'
import { mayHoldScmConfig } from '@kleym/shared/core/model/subject-groups.ts'
import {
  dig,
  isRecord,
  listAt,
  own,
  recordsAt,
  stringAt,
  textsAt,
  walk,
  type JsonRecord,
} from '@kleym/shared/core/base/json.ts'
import { kindsMentioned } from './kinds-in-text.ts'
import { isFolder, KUSTOMIZATION_FILES, realFile, type FoundOverlay } from './files.ts'

/** One kustomization, read. */
export interface Kustomization {
  readonly overlay: FoundOverlay
  /** Nothing is known of it. */
  readonly isUnreadable: boolean
  /** A component is built only as a part of others. */
  readonly isComponent: boolean
  /** Files and folders that it takes in, without links. */
  readonly resources: readonly string[]
  /** Files that say what to change: patches, replacements, what generators and transformers read. */
  readonly others: readonly string[]
  /** What it is built from that is not on this disk: URLs, and paths that do not exist. */
  readonly elsewhere: readonly string[]
  /** What it does with the objects that it takes in. */
  readonly changes: KustomizationChanges
  /** Why it cannot be built without the network or plugins; undefined: it can. */
  readonly refusal: string | undefined
  /** Whether it makes a ConfigMap with SCM's configuration. */
  readonly makesScmConfig: boolean
  /** Whether it makes objects whose kind nothing in it shows. */
  readonly makesAnything: boolean
}

/** How a kustomization changes what it takes in. */
export interface KustomizationChanges {
  /** The kinds whose content it changes, by their names. */
  readonly kinds: ReadonlySet<string> | 'all'
  /** Those of them that it gives more than labels and annotations. */
  readonly specs: ReadonlySet<string> | 'all'
  /** The namespace into which it puts all objects that have one. */
  readonly namespace: string | undefined
  /** It may put them in a namespace that it does not show. */
  readonly movesAnywhere: boolean
  readonly renames: boolean
}

/** Fields that may set the namespace of any object, from elsewhere than its own `namespace`. */
const MOVE_ANY = ['replacements', 'transformers', 'components'] as const

/** The most items in the lists of a kustomization; one with more counts as unreadable. */
const ITEMS_MAX = 5_000

/** The fields that give labels and annotations to any object. */
const MARK_ALL = ['labels', 'commonLabels', 'commonAnnotations'] as const

/** The fields that change any object. */
const CHANGE_ALL = [
  'vars',
  'replacements',
  'transformers',
  'components',
  'configurations',
  'openapi',
] as const

/** Reads a kustomization; `textOf` gives the text of a file that it names. An unreadable one changes everything. */
export function readKustomization(
  overlay: FoundOverlay,
  value: unknown,
  textOf: (path: string) => string | undefined,
): Kustomization | undefined {
  const isReadable = isRecord(value) && itemsIn(value) <= ITEMS_MAX
  const record = isReadable ? value : {}
  const apiVersion = stringAt(record, 'apiVersion') ?? ''
  // Others have files of that name too: Flux has a kind of that name.
  if (apiVersion !== '' && !apiVersion.startsWith('kustomize.config.k8s.io/')) return undefined
  const folder = overlay.path
  const textAt = (name: string): string | undefined => {
    const path = realPath(folder, name)
    return path && textOf(path)
  }
  const named = (...fields: readonly string[]): readonly string[] =>
    fields.flatMap((field) => textsAt(record, field))
  const elsewhere: string[] = []
  const resources = pathsOf(folder, named('resources', 'bases', 'components'), elsewhere)
  const patches = [...recordsAt(record, 'patches'), ...recordsAt(record, 'patchesJson6902')]
  const strategic = named('patchesStrategicMerge')
  const files = strategic.filter(isPath)
  const missing: string[] = []
  const otherNames = [
    ...files,
    ...[...patches, ...recordsAt(record, 'replacements')].flatMap((one) => stringAt(one, 'path') ?? []),
    ...named('generators', 'transformers', 'validators', 'configurations', 'crds').filter(isPath),
    ...[stringAt(record, 'openapi', 'path') ?? []].flat(),
    ...generatorFiles(record),
  ]
  const others = pathsOf(folder, otherNames, missing)
  const inline = strategic.filter((one) => !isPath(one))
  const specs =
    !isReadable || CHANGE_ALL.some((field) => isSet(own(record, field)))
      ? 'all'
      : changedKinds(
          [...patches, ...countedKinds(record).map((kind) => ({ target: { kind } }))],
          [...inline, ...files.flatMap((file) => textAt(file) ?? [])],
          (path) => textOf(resolve(overlay.path, path)),
        )
  return {
    overlay,
    isUnreadable: !isReadable,
    isComponent: stringAt(record, 'kind') === 'Component',
    resources,
    others,
    elsewhere,
    changes: {
      kinds: MARK_ALL.some((field) => isSet(own(record, field))) ? 'all' : specs,
      specs,
      namespace: stringAt(record, 'namespace'),
      movesAnywhere: !isReadable || MOVE_ANY.some((field) => isSet(own(record, field))),
      renames: isSet(own(record, 'namePrefix')) || isSet(own(record, 'nameSuffix')),
    },
    refusal: refusalOf(record, [...elsewhere, ...missing]),
    makesScmConfig:
      mayHoldScmConfig(JSON.stringify(record)) ||
      generatorFiles(record).some((file) => mayHoldScmConfig(textAt(file) ?? '')),
    // What a patch makes of an object may be of any kind: https://kubectl.docs.kubernetes.io/references/kustomize/kustomization/patches/
    makesAnything:
      listAt(record, 'generators').some((one) => isRecord(one) || typeof one === 'string') ||
      patches.some((one) => dig(one, 'options', 'allowKindChange') === true),
  }
}

/** The kinds whose pods `replicas` of a kustomization changes: those that it leaves without pods, and those whose pods have numbers. */
function countedKinds(record: JsonRecord): readonly string[] {
  if (!isSet(own(record, 'replicas'))) return []
  const leavesNone = listAt(record, 'replicas').some((one) => own(one, 'count') === 0)
  return leavesNone ? ['StatefulSet', 'Deployment', 'ReplicaSet'] : ['StatefulSet']
}

function itemsIn(value: unknown): number {
  let items = 0
  walk(value, (part) => {
    if (Array.isArray(part)) items += part.length
    return true
  })
  return items
}

function isSet(value: unknown): boolean {
  if (value === undefined || value === null || value === '') return false
  return Array.isArray(value) ? value.length > 0 : !isRecord(value) || Object.keys(value).length > 0
}

/** What is no path stands there itself. */
function isPath(text: string): boolean {
  return !text.includes('\n')
}

/** The files that generators of ConfigMaps and Secrets read: `path` or `key=path`. */
function generatorFiles(record: JsonRecord): readonly string[] {
  return [...recordsAt(record, 'configMapGenerator'), ...recordsAt(record, 'secretGenerator')]
    .flatMap((one) => [...textsAt(one, 'files'), ...textsAt(one, 'envs'), stringAt(one, 'env') ?? ''])
    .filter((file) => file !== '')
    .map(behindKey)
}

/** What stands behind `key=`, or all. */
function behindKey(text: string): string {
  return text.slice(text.indexOf('=') + 1)
}

/** The ConfigMaps that generators make of files and texts, where these configure a server or an agent of SPIRE. */
export function generatedConfigs(
  value: JsonRecord,
  folder: string,
  textOf: (path: string) => string | undefined,
): readonly JsonRecord[] {
  return recordsAt(value, 'configMapGenerator').flatMap((one) => {
    const literals = textsAt(one, 'literals').map((text) => [text, behindKey(text)] as const)
    const files = textsAt(one, 'files').map(
      (file) => [file, textOf(resolve(folder, behindKey(file)))] as const,
    )
    const data = Object.fromEntries([...literals, ...files])
    const metadata = { name: stringAt(one, 'name') ?? '', namespace: stringAt(value, 'namespace') ?? '' }
    const made = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data }
    const isOfSpire = agentConfigIn({ value: made }) !== undefined || configTextsOf(made).some(isOfServer)
    return isOfSpire ? [made] : []
  })
}

/** The kinds that patches are for; `all` where one does not say. */
function changedKinds(
  patches: readonly JsonRecord[],
  strategic: readonly string[],
  textOf: (path: string) => string | undefined,
): KustomizationChanges['kinds'] {
  const kinds = new Set<string>()
  for (const patch of patches) {
    const target = dig(patch, 'target')
    const kind = stringAt(target, 'kind')
    const path = stringAt(patch, 'path')
    const text = stringAt(patch, 'patch') ?? (path === undefined ? undefined : textOf(path))
    // A target without a kind is any; its kind may be a pattern.
    if (isRecord(target) && (kind === undefined || !/^[A-Za-z0-9]+$/.test(kind))) return 'all'
    if (kind !== undefined) kinds.add(kind)
    else if (!addMentioned(text, kinds)) return 'all'
  }
  return strategic.every((text) => addMentioned(text, kinds)) ? kinds : 'all'
}

function addMentioned(text: string | undefined, kinds: Set<string>): boolean {
  if (text === undefined) return false
  // Each document of a patch has the kind of what it changes.
  for (const document of text.split(/^---.*$/m)) {
    if (document.trim() === '') continue
    const mentioned = kindsMentioned(document, [])
    if (mentioned === 'anything' || mentioned.size === 0) return false
    for (const kind of mentioned) kinds.add(kind)
  }
  return true
}

/** Why building it would take more than the files that are there. */
function refusalOf(record: JsonRecord, elsewhere: readonly string[]): string | undefined {
  const [first] = elsewhere
  if (first !== undefined) return `it names ${first}, which is not on this disk`
  for (const field of ['helmCharts', 'helmChartInflationGenerator', 'helmGlobals'])
    if (isSet(own(record, field))) return `its ${field} needs helm as a plugin of kustomize`
  for (const field of ['generators', 'transformers', 'validators'])
    if (isSet(own(record, field))) return `its ${field} may be plugins`
  return undefined
}

/** A folder without a kustomization: kustomize takes in no such. */
function isBareFolder(path: string): boolean {
  return isFolder(path) && KUSTOMIZATION_FILES.values().every((name) => !existsSync(join(path, name)))
}

/** The files and folders that names in a kustomization mean, without links; `elsewhere` gets what is not there. */
function pathsOf(folder: string, names: readonly string[], elsewhere: string[]): readonly string[] {
  return names.flatMap((name) => {
    const real = realPath(folder, name)
    const isBare = real !== undefined && isBareFolder(real)
    if (real !== undefined && !isBare) return [real]
    elsewhere.push(isBare ? join(name, 'kustomization.yaml') : name)
    return []
  })
}

function realPath(folder: string, name: string): string | undefined {
  return /^[a-z][a-z0-9+.-]*:\/\//i.test(name) ? undefined : realFile(resolve(folder, name))
}
