// Objects that deploy what is not among the files: of Flux, Argo CD, k3s, Fleet, helmfile, skaffold, kustomize, the charts
// that a chart depends on, and whatever says by its fields that it fetches something. What they make may be anything: cluster-scoped, or in the namespace that they name. What they take from
// a folder of the tree is dismissed: the tree is read anyway. A chart that names other namespaces by itself is beyond this
// (docs/offline.md, "Whole trees").
import { dirname, join } from 'node:path'
import { getOrCreate } from '@kleym/shared/core/get-or-create.ts'
import { dig, isRecord, listAt, own, stringAt, type JsonRecord } from '@kleym/shared/core/json.ts'
import {
  CLUSTER_SPIFFE_ID,
  CLUSTER_STATIC_ENTRY,
  groupOfApiVersion,
  qualifiedKind,
} from '@kleym/shared/core/kinds.ts'
import { ANNOTATION_BINDING, CLUSTER_SPIFFE_ID_KIND } from '@kleym/shared/core/names.ts'
import type { Origin, RawObject } from '@kleym/shared/core/objects/raw.ts'
import { readMeta } from '@kleym/shared/core/objects/meta.ts'
import { isUnreadKind } from '@kleym/shared/core/objects/pod-makers.ts'
import { kindKey } from '@kleym/shared/core/snapshot/snapshot.ts'
import type { Opaque } from './door.ts'
import { fetchedBy, mayFetch } from './fetching.ts'
import { placeText, type ProblemReach } from './problem.ts'
import type { WantedKind } from './wanted-kind.ts'

/** Something that deploys, as a document says it. */
export interface Deploying {
  readonly origin: Origin
  /** `HelmRelease podinfo`; the name of the file, where it is no object. */
  readonly name: string
  readonly deployed: readonly Deployed[]
}

/** One thing that an object deploys. */
export interface Deployed {
  /** A chart by its name or address. */
  readonly chart?: string | undefined
  /** A folder, from the top of a repository. */
  readonly path?: string | undefined
  /** The repository: its address, or the source of Flux that has it. Undefined: that of the files. */
  readonly repository?: string | undefined
  /** Undefined: any. */
  readonly namespace?: string | undefined
  readonly release?: string | undefined
  /** What a chart is rendered with. Undefined: nothing that the files tell. */
  readonly values?: ReleaseValues | undefined
  /** What is deployed of a folder is more than what stands there: a patch, another namespace, a plugin. */
  readonly changes?: string | undefined
}

/** What a release is rendered with, the later over the earlier. */
export interface ReleaseValues {
  /** From the top of the repository, or (`ofChart`) from the chart. */
  readonly files: readonly string[]
  readonly ofChart: boolean
  /** As objects, or as the text of YAML. */
  readonly inline: readonly (JsonRecord | string)[]
  /** `name=value`. */
  readonly set: readonly string[]
}

/** The files as a part of a repository. */
export interface OwnTree {
  /** The folder that has this path from the top of some repository; undefined where none has. */
  readonly folderAt: (path: string) => string | undefined
  /** Whether a repository is the one that the files are from. */
  readonly isOwn: (repository: string | undefined) => boolean
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

/** The values by which SPIRE's chart makes registrations, in whatever chart it is: https://github.com/spiffe/helm-charts-hardened */
const OF_VALUES: ReadonlyMap<string, string> = new Map([
  ['clusterSPIFFEIDs', CLUSTER_SPIFFE_ID_KIND],
  ['clusterStaticEntries', CLUSTER_STATIC_ENTRY.kind],
])
/** How deep values are looked through. */
const VALUES_DEPTH = 12

/** That a document is values of a chart of SPIRE, told by their keys; a switch of SCM's configuration is none. */
function valuesOfSpire(value: JsonRecord): string | undefined {
  const find = (here: unknown, depth: number): string | undefined => {
    if (!isRecord(here) || depth > VALUES_DEPTH) return undefined
    for (const [key, one] of Object.entries(here)) {
      if (OF_VALUES.has(key) && isRecord(one)) return key
      const found = find(one, depth + 1)
      if (found !== undefined) return found
    }
    return undefined
  }
  return stringAt(value, 'kind') === undefined ? find(value, 0) : undefined
}

/** What a document deploys; undefined where it deploys nothing. */
export function deploying(value: JsonRecord, origin: Origin): Deploying | undefined {
  const name = [stringAt(value, 'kind'), stringAt(value, 'metadata', 'name')].filter(Boolean).join(' ')
  const found = deployedBy(value, origin).filter(({ chart }) => nameOf(chart) !== SPIRES_CRDS)
  const key = found.length === 0 ? valuesOfSpire(value) : undefined
  const deployed = key === undefined ? found : [{ chart: 'spire', values: ofKey(key) }]
  return deployed.length === 0 ? undefined : { origin, name: name === '' ? origin.file : name, deployed }
}

/** Values by themselves, told by a key of theirs. */
function ofKey(key: string): ReleaseValues {
  return { files: [], ofChart: false, inline: [key], set: [] }
}

/** The folder of the files that something is deployed from; undefined: it is elsewhere. */
export function folderOf(
  { chart, path, repository }: Deployed,
  { folderAt, isOwn }: OwnTree,
): string | undefined {
  // A chart is a folder if it is written as one: `spiffe/spire` is a chart of the repository `spiffe`.
  const folder = path ?? (chart?.startsWith('.') === true ? chart : undefined)
  return folder === undefined || !isOwn(repository) ? undefined : folderAt(folder)
}

/** Those that deploy what is not among the files, unless what they make is shown by objects. */
export function deployersOf(
  all: readonly Deploying[],
  tree: OwnTree,
  wanted: readonly WantedKind[],
): readonly Opaque[] {
  return all.flatMap(({ origin, name, deployed }) => {
    const elsewhere = deployed.filter((one) => folderOf(one, tree) === undefined || one.changes !== undefined)
    if (elsewhere.length === 0) return []
    const [key] = elsewhere[0]?.values?.inline ?? []
    const isValues = elsewhere[0]?.release === undefined && typeof key === 'string'
    const namespaces = new Set(elsewhere.map(({ namespace }) => namespace || undefined))
    const names = elsewhere.map(({ chart, path, changes }) => changes ?? chart ?? path ?? '')
    const shown = [...new Set(names.filter((one) => one !== ''))].slice(0, NAMES_SHOWN)
    const of = shown.length === 0 ? '' : `: ${shown.join(', ')}`
    return [
      {
        kind: 'not rendered' as const,
        where: placeText(origin),
        ...(isValues
          ? {
              what: `${name} holds values of SPIRE's chart, which is not rendered: ${key}`,
              alike: "files hold values of SPIRE's chart, which is not rendered",
              why: 'the chart makes registrations of them, and none is among the files',
              fix: 'add what it renders: helm template, with the values that are in use',
              reach: everythingIn(wanted, undefined).filter(({ kind }) => SPIRES.has(kind)),
            }
          : {
              what: `${name} deploys what is not among the files${of}`,
              alike: 'objects deploy what is not among the files',
              why: 'what it makes may be of any kind',
              fix: 'add what it makes, with the values that are in use: helm template, or kubectl kustomize',
              reach: [...namespaces].flatMap((namespace) => everythingIn(wanted, namespace)),
            }),
        isShownBy: (objects: readonly RawObject[]) => isShown(elsewhere, objects),
      },
    ]
  })
}

/** How many charts or folders a message names. */
const NAMES_SHOWN = 3

/** Helm's own label: https://helm.sh/docs/chart_best_practices/labels/ */
const MANAGED_BY = 'app.kubernetes.io/managed-by'
const SPIRES: ReadonlySet<string> = new Set([CLUSTER_SPIFFE_ID, CLUSTER_STATIC_ENTRY].map(qualifiedKind))
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
  const known = MADE.get(objects)
  if (known !== undefined) return known
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
  const made = { releases, hasSpire }
  MADE.set(objects, made)
  return made
}

/**
 * Whether an object was made of each. A ClusterSPIFFEID that Helm installs, or the one fallback of an installation, is SPIRE's;
 * any other chart shows itself by the label of its release, in the namespace of that.
 */
function isShown(deployed: readonly Deployed[], objects: readonly RawObject[]): boolean {
  const { releases, hasSpire } = madeAmong(objects)
  return deployed.every(({ chart, release = '', namespace = '' }) => {
    if (hasSpire && OF_SPIRE.has(nameOf(chart))) return true
    // Manifests that Helm prints may name no namespace.
    const within = releases.get(release)
    return within !== undefined && (namespace === '' || within.has(namespace) || within.has(''))
  })
}

type Reader = (value: JsonRecord, spec: unknown, origin: Origin) => readonly Deployed[]

/** https://fluxcd.io/flux/components/source/ocirepositories/: what takes a chart of SPIRE from it may stand elsewhere. */
const chartOfSpire: Reader = (_, spec) => {
  const chart = stringAt(spec, 'url')
  return OF_SPIRE.has(nameOf(chart)) ? [{ chart }] : []
}

/** The source of Flux that an object refers to. */
function sourceOf(value: JsonRecord, reference: unknown): string | undefined {
  const kind = stringAt(reference, 'kind') ?? 'GitRepository'
  if (!isRecord(reference) || kind === 'HelmRepository') return undefined
  return sourceKey(
    kind,
    stringAt(reference, 'namespace') ?? namespaceOf(value),
    stringAt(reference, 'name') ?? '',
  )
}

function sourceKey(kind: string, namespace: string, name: string): string {
  return `${kind} ${namespace}/${name}`
}

function namespaceOf(value: JsonRecord): string {
  return stringAt(value, 'metadata', 'namespace') ?? ''
}

/** The address of a source of Flux, by how others refer to it. */
export function sourceAddress(value: JsonRecord): readonly [source: string, address: string] | undefined {
  const group = groupOfApiVersion(stringAt(value, 'apiVersion') ?? '')
  const url = stringAt(value, 'spec', 'url')
  if (group !== SOURCES_OF_FLUX || url === undefined) return undefined
  const { name } = readMeta(value)
  return [sourceKey(stringAt(value, 'kind') ?? '', namespaceOf(value), name), url]
}

const SOURCES_OF_FLUX = 'source.toolkit.fluxcd.io'

const helmRelease: Reader = (value, spec) => {
  const namespace = stringAt(spec, 'targetNamespace') ?? stringAt(value, 'metadata', 'namespace')
  const release = stringAt(spec, 'releaseName') ?? stringAt(value, 'metadata', 'name')
  const of = dig(spec, 'chart', 'spec')
  const chart = stringAt(of, 'chart') ?? stringAt(spec, 'chartRef', 'name') ?? stringAt(spec, 'chart')
  const repository = sourceOf(value, own(of, 'sourceRef'))
  const inline = own(spec, 'values')
  const values = isSet(spec, 'valuesFrom', 'postRenderers', 'valuesContent', 'set')
    ? undefined
    : { files: texts(of, 'valuesFiles'), ofChart: false, inline: isRecord(inline) ? [inline] : [], set: [] }
  // A chart of a Git repository is a folder of it.
  const place = repository === undefined ? { chart } : { path: chart, repository }
  return [{ ...place, namespace, release, values }]
}

function isSet(value: unknown, ...fields: readonly string[]): boolean {
  return fields.some((field) => {
    const one = own(value, field)
    return one !== undefined && one !== null && one !== '' && !(Array.isArray(one) && one.length === 0)
  })
}

function texts(value: unknown, field: string): readonly string[] {
  return listAt(value, field).filter((one): one is string => typeof one === 'string')
}

/** https://fluxcd.io/flux/components/kustomize/kustomizations/ */
const kustomizationOfFlux: Reader = (value, spec) => {
  const changes = ['patches', 'targetNamespace', 'namePrefix', 'nameSuffix', 'components', 'commonMetadata']
  const changed = changes.find((field) => isSet(spec, field))
  return [
    {
      path: stringAt(spec, 'path'),
      namespace: stringAt(spec, 'targetNamespace'),
      repository: sourceOf(value, own(spec, 'sourceRef')),
      changes: changed && `${stringAt(spec, 'path') ?? ''} with ${changed}`,
    },
  ]
}

/** A folder of the repository that a path with a placeholder or a wildcard begins with. */
function plainPart(path: string): string {
  return path.replace(/[^/]*(?:\{\{|[*?[]).*$/s, '')
}

/** What Argo CD renders a chart with: https://argo-cd.readthedocs.io/en/stable/user-guide/helm/ */
function valuesOfArgo(helm: unknown): ReleaseValues | undefined {
  const files = texts(helm, 'valueFiles')
  if (isSet(helm, 'fileParameters') || files.some((one) => one.startsWith('$'))) return undefined
  const [text, object] = [stringAt(helm, 'values'), own(helm, 'valuesObject')]
  const set = listAt(helm, 'parameters').map(
    (one) =>
      `${stringAt(one, 'name') ?? ''}=${(stringAt(one, 'value') ?? '').replaceAll(',', String.raw`\,`)}`,
  )
  return { files, ofChart: true, inline: isRecord(object) ? [object] : text === undefined ? [] : [text], set }
}

/** What Argo CD makes of a folder beside what stands there. */
function changesOfArgo(source: unknown, path: string): string | undefined {
  const kustomize = own(source, 'kustomize')
  const changed = isRecord(kustomize)
    ? Object.keys(kustomize).find((key) => key !== 'images' && key !== 'version')
    : undefined
  const field = isSet(source, 'plugin') ? 'plugin' : changed
  return field && `${path} with ${field}`
}

const application: Reader = (value, spec) => {
  const template = dig(spec, 'template', 'spec') ?? spec
  const namespace = plain(stringAt(template, 'destination', 'namespace'))
  const found = [own(template, 'source'), ...listAt(template, 'sources')].filter((one) => isRecord(one))
  return found.flatMap((source): readonly Deployed[] => {
    const chart = stringAt(source, 'chart')
    const path = stringAt(source, 'path')
    const repository = plain(stringAt(source, 'repoURL'))
    // A source of values alone.
    if (chart === undefined && path === undefined && own(source, 'ref') !== undefined) return []
    if (path === undefined || !path.includes('{{')) {
      const release = stringAt(source, 'helm', 'releaseName') ?? stringAt(value, 'metadata', 'name')
      const values = template === spec ? valuesOfArgo(own(source, 'helm')) : undefined
      const changes = path && changesOfArgo(source, path)
      return [{ chart, path, repository, namespace, release, values, changes }]
    }
    const folders = listAt(spec, 'generators').flatMap((one) => [
      ...listAt(one, 'git', 'directories'),
      ...listAt(one, 'git', 'files'),
    ])
    const paths = folders.flatMap((one) => plainPart(stringAt(one, 'path') ?? '') || [])
    const all = paths.length === 0 ? [plainPart(path) || undefined] : paths
    return all.map((one) => ({ path: one, repository, namespace, changes: changesOfArgo(source, one ?? '') }))
  })
}

function plain(text: string | undefined): string | undefined {
  return text?.includes('{{') === true ? undefined : text
}

/** Releases as helmfile and skaffold list them; paths count from their file. */
function releasesIn(list: readonly unknown[], { file }: Origin): readonly Deployed[] {
  return list.flatMap((one): readonly Deployed[] => {
    const local = stringAt(one, 'chartPath')
    const chart = stringAt(one, 'chart') ?? stringAt(one, 'remoteChart') ?? local
    if (chart === undefined || own(one, 'installed') === false) return []
    const at =
      local !== undefined || chart.startsWith('.') ? { path: `./${join(dirname(file), chart)}` } : { chart }
    const given = [...listAt(one, 'values'), ...listAt(one, 'valuesFiles')]
    const files = given.filter((value): value is string => typeof value === 'string')
    const isKnown = !isSet(
      one,
      'secrets',
      'set',
      'setValues',
      'overrides',
      'jsonPatches',
      'transformers',
      'strategicMergePatches',
    )
    const values = isKnown
      ? {
          files: files.map((path) => join(dirname(file), path)),
          ofChart: false,
          inline: given.filter((value) => isRecord(value)),
          set: [],
        }
      : undefined
    return [{ ...at, namespace: stringAt(one, 'namespace'), release: stringAt(one, 'name'), values }]
  })
}

/** What objects of a kind deploy, by the kind with its group: of these the fields tell more than that they fetch something. */
const DEPLOYERS: ReadonlyMap<string, Reader> = new Map<string, Reader>([
  // https://fluxcd.io/flux/components/helm/helmreleases/, https://docs.k3s.io/helm
  ['HelmRelease.helm.toolkit.fluxcd.io', helmRelease],
  ['HelmChart.helm.cattle.io', helmRelease],
  [`OCIRepository.${SOURCES_OF_FLUX}`, chartOfSpire],
  [`GitRepository.${SOURCES_OF_FLUX}`, () => []],
  ['Kustomization.kustomize.toolkit.fluxcd.io', kustomizationOfFlux],
  // https://argo-cd.readthedocs.io/en/stable/operator-manual/applicationset/
  ['Application.argoproj.io', application],
  ['ApplicationSet.argoproj.io', application],
  // https://fleet.rancher.io/ref-gitrepo
  [
    'GitRepo.fleet.cattle.io',
    (_, spec) => {
      const [paths, repository] = [texts(spec, 'paths'), stringAt(spec, 'repo')]
      return paths.length === 0 ? [{}] : paths.map((path) => ({ path, repository }))
    },
  ],
  [
    'Kustomization.kustomize.config.k8s.io',
    (value) =>
      [...listAt(value, 'helmCharts'), ...listAt(value, 'helmChartInflationGenerator')].map((one) => ({
        chart: stringAt(one, 'name') ?? stringAt(one, 'chartName'),
        namespace: stringAt(one, 'namespace') ?? stringAt(value, 'namespace'),
        release: stringAt(one, 'releaseName'),
      })),
  ],
  // https://skaffold.dev/docs/references/yaml/
  [
    'Config.skaffold',
    (value, _, origin) =>
      ['deploy', 'manifests'].flatMap((part) => releasesIn(listAt(value, part, 'helm', 'releases'), origin)),
  ],
])

/** Whether an object of a kind may deploy something, by its text. */
export function mayDeploy(type: ObjectType, text: () => string): boolean {
  return DEPLOYERS.has(qualifiedKind(type)) || (isOfOthers(type) && mayFetch(text()))
}

/** Kinds of the API server make nothing that they fetch, and what makes pods of its own is looked at for these. */
function isOfOthers({ group, kind }: ObjectType): boolean {
  const isBuiltIn = !group.includes('.') || group.endsWith('.k8s.io')
  return !isBuiltIn && !isUnreadKind({ group, kind })
}

interface ObjectType {
  readonly group: string
  readonly kind: string
}

function deployedBy(value: JsonRecord, origin: Origin): readonly Deployed[] {
  const kind = stringAt(value, 'kind')
  if (kind === undefined) return deployedByUntyped(value, origin)
  const group = groupOfApiVersion(stringAt(value, 'apiVersion') ?? '')
  const read = DEPLOYERS.get(qualifiedKind({ group, kind }))
  if (read !== undefined) return read(value, own(value, 'spec'), origin)
  const release = stringAt(value, 'metadata', 'name')
  return isOfOthers({ group, kind }) ? fetchedBy(own(value, 'spec')).map((one) => ({ ...one, release })) : []
}

/** https://fleet.rancher.io/ref-fleet-yaml */
const FLEET_FIELDS = ['defaultNamespace', 'namespace', 'targetCustomizations']

/** A helmfile, a fleet.yaml, a Chart.yaml with the charts that it depends on. */
function deployedByUntyped(value: JsonRecord, origin: Origin): readonly Deployed[] {
  const isFleet = FLEET_FIELDS.some((field) => own(value, field) !== undefined)
  const fleet = isFleet
    ? [stringAt(value, 'helm', 'chart')].flatMap((chart) =>
        chart === undefined
          ? []
          : [{ chart, namespace: stringAt(value, 'namespace') ?? stringAt(value, 'defaultNamespace') }],
      )
    : []
  const dependencies =
    own(value, 'version') === undefined
      ? []
      : listAt(value, 'dependencies').map((one) => ({ chart: stringAt(one, 'name') }))
  return [...releasesIn(listAt(value, 'releases'), origin), ...fleet, ...dependencies]
}
