// What an object, or a file of another tool, deploys that stands elsewhere: a chart of a repository, a folder of a Git repository, a package of a
// catalog. Its fields tell it, whatever its kind is: an App of kapp, a Subscription of OLM, a Release of Crossplane and a ClusterProfile of
// Sveltos all do, and so do helmfile, skaffold, Fleet, Ansible and Pulumi. A few kinds deploy something whatever their fields say.
import { dirname, join } from 'node:path'
import {
  dig,
  isRecord,
  listAt,
  own,
  stringAt,
  textsAt,
  walk,
  type JsonRecord,
} from '@kleym/shared/core/base/json.ts'
import { kindOf, qualifiedKind, isTyped, type Kind } from '@kleym/shared/core/model/kinds.ts'
import { isUnreadKind } from '@kleym/shared/core/model/objects/pod-makers.ts'
import { isDns1123Label } from '@kleym/shared/core/base/text/kubernetes.ts'
import type { Origin } from '@kleym/shared/core/model/objects/raw.ts'

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
  /** It is put into a namespace that is filled in later; `folder`: one that is called as the folder. */
  readonly openNamespace?: boolean | 'folder'
  /** What is deployed are the folders in the folder, each by itself. */
  readonly isEach?: boolean
  /** The paths of those that are not deployed. */
  readonly excluded?: readonly string[]
  /** All folders below are deployed with it, whatever else deploys them. */
  readonly isWhole?: boolean
  /** The folder in each of those that is deployed; absent or empty: all of it. */
  readonly below?: string
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

type ObjectType = Pick<Kind, 'group' | 'kind'>

/** The kinds that deploy something whatever their fields are called, with their groups. */
const DEPLOYERS: ReadonlySet<string> = new Set([
  // https://fluxcd.io/flux/components/helm/helmreleases/, https://docs.k3s.io/helm
  'HelmRelease.helm.toolkit.fluxcd.io',
  'HelmChart.helm.cattle.io',
  // Values for a chart that the cluster brings: https://docs.rke2.io/add-ons/helm
  'HelmChartConfig.helm.cattle.io',
  // https://fluxcd.io/flux/components/kustomize/kustomizations/
  'Kustomization.kustomize.toolkit.fluxcd.io',
  // https://argo-cd.readthedocs.io/en/stable/operator-manual/applicationset/
  'Application.argoproj.io',
  'ApplicationSet.argoproj.io',
  // https://fleet.rancher.io/ref-gitrepo
  'GitRepo.fleet.cattle.io',
  // https://velero.io/docs/main/api-types/restore/, https://github.com/Azure/eno
  'Restore.velero.io',
  'Synthesizer.eno.azure.io',
])
/** Those that put a chart into their own namespace, where they name no other one. */
const OF_HELM = /^Helm(?:Release|Chart(?:Config)?)$/
/** Groups of files that no API server takes. */
const OF_TOOLS: ReadonlySet<string> = new Set(['skaffold', 'zarf.dev'])
const KUSTOMIZE = 'kustomize.config.k8s.io'
/** Sources of Flux deploy nothing by themselves: https://fluxcd.io/flux/components/source/ */
export const SOURCES_OF_FLUX = 'source.toolkit.fluxcd.io'

/** A key, as a field of an object has it and as it stands in YAML or JSON. */
interface Key {
  readonly field: RegExp
  readonly inText: RegExp
}

function key(name: string, value = ''): Key {
  return {
    field: new RegExp(`^${name}$`, 'i'),
    inText: new RegExp(`(?<![\\w./$-])["']?${name}["']?\\s*:(?!=)${value}`, 'i'),
  }
}

const CHART_NAMES = '(?:helm|remote)?_?charts?_?(?:name|ref|path|inflationgenerator)?'
const CHART = key(CHART_NAMES)
/** A chart as helm refers to one of a repository: https://helm.sh/docs/helm/helm_install/ */
const CHART_REFERENCE = key(CHART_NAMES, String.raw`\s*["']?[^\s"',{}]*/`)
/** Of Timoni, or of Terraform, where it has a repository. */
const MODULE = key('module')
const CHART_ELSEWHERE = key('(?:remotechart|chartpath)')
const REPOSITORY = key(
  '(?:(?:(?:helm|chart|project)_?)*repo(?:sitory)?_?(?:url|ref|opts|name)?|url|git(?:repo(?:sitory)?)?|source(?:ref)?|oci)',
)
const PLACE = key('(?:paths?|subpath|dir(?:ectory)?|ref|branch|commit|tag|revision|targetrevision)')
/** What images have none of, whose repository is no address either. */
const PLACE_OF_GIT = key('(?:branch|commit)')
const PACKAGE = key('package(?:name|ref)')
const FOLDER = key('(?:.*path|dir(?:ectory)?)')
/** A value that is the address of YAML. */
const ADDRESS_IN_TEXT = /[:,[-][ \t\n]*["']?[a-z][a-z0-9+]*:\/\/[^\s"'#]+\.ya?ml["']?[ \t\r]*(?:[,}\]]|$)/m
const OTHERS = key('(?:sourceNamespace|channel|fetch|oci|upstream)')

/** The keys by which SPIRE's chart makes registrations, and others like it: https://github.com/spiffe/helm-charts-hardened */
export const KEYS_OF_REGISTRATIONS =
  /\bcluster_?(?:[Ss](?:PIFFE|piffe)_?(?:ID|[Ii]d)s?|[Ss]tatic_?[Ee]ntr(?:y|ies))\b/

/** The key of an entry: https://github.com/spiffe/spire/blob/v1.15.3/doc/spire_server.md#json-object-for--data; and of kinds that stand for one. */
export const KEY_OF_ENTRY = /^spiffe_?id$/i
const ENTRY = key('spiffe_?id')

const OF_GARDEN = /^(?:Deploy|Module)$/
/** Kubernetes' own groups, as Pulumi calls them, and what of them has pods. */
const OF_KUBERNETES =
  /^(?:core|apps|autoscaling|batch|policy|(?:rbac\.authorization|networking|storage|scheduling|apiextensions|admissionregistration)\.k8s\.io)$/
const OF_PODS = /^(?:Pod|Deployment|StatefulSet|DaemonSet|ReplicaSet|Job|CronJob)(?:Patch|List)?$/
/** https://docs.ansible.com/ansible/latest/collections/kubernetes/core/k8s_module.html */
const TASK_OF_ANSIBLE = /(?:^|\.)k8s$/
/** YAML that is fetched, and folders of repositories: https://github.com/kubernetes-sigs/kustomize/blob/master/examples/remoteBuild.md */
const ADDRESS_OF_MANIFESTS =
  /^[a-z][a-z0-9+]*:[:/]\S+\.ya?ml(?:[?#]\S*)?$|^(?:[a-z][a-z0-9+]*:[:/]+)*[\w.@:-]+\.[a-z]+(?::\d+)?\/\S*?(?:\/\/\w|[?&]ref=)/
/** The fields by which an object has such an address; and by which no file of a tool has one. */
const OF_MANIFESTS = /^(?:files|kustomizations|manifests?|rawYaml|paths?|urls?)$/i
const NO_ADDRESS = /^\$|schema/i

/** What hides a key from a look at the text: an escape, or a key with a mark before it. */
const HIDDEN_KEY = /\\[xuU]|^[ \t]*(?:- +)*\? /m
/** What holds no place of what is deployed: labels may be called like one, and values are for what is deployed. */
const NOT_LOOKED_INTO = /labels$|^(?:annotations|generators|values|valuesObject)$/i

/** Whether an object of a kind may deploy something, by its text. */
export function mayDeploy(type: ObjectType, text: () => string): boolean {
  const isKnown =
    DEPLOYERS.has(qualifiedKind(type)) || type.group === SOURCES_OF_FLUX || OF_TOOLS.has(type.group)
  return isKnown || (isOfOthers(type) && mayFetch(text()))
}

/** Whether the text of an object may have the keys by which it says that it fetches something, or makes registrations. */
export function mayFetch(text: string): boolean {
  const isFolder = REPOSITORY.inText.test(text) && PLACE.inText.test(text)
  return (
    HIDDEN_KEY.test(text) ||
    namesChart(text) ||
    isFolder ||
    ADDRESS_IN_TEXT.test(text) ||
    KEYS_OF_REGISTRATIONS.test(text) ||
    [PACKAGE, OTHERS, ENTRY].some(({ inText }) => inText.test(text))
  )
}

/** Whether a text names a chart that is elsewhere. */
export function namesChart(text: string): boolean {
  const isOfRepository =
    REPOSITORY.inText.test(text) && [CHART, MODULE].some(({ inText }) => inText.test(text))
  return isOfRepository || [CHART_REFERENCE, CHART_ELSEWHERE].some(({ inText }) => inText.test(text))
}

/** Kinds of the API server make nothing that they fetch, and what makes pods of its own is looked at for these. */
export function isOfOthers({ group, kind }: ObjectType): boolean {
  const isBuiltIn = /^(?:apps|autoscaling|batch|extensions|policy)?$/.test(group) || group.endsWith('.k8s.io')
  return !isBuiltIn && !isUnreadKind({ group, kind })
}

/** What holds for all that stands below a place. */
interface Scope {
  readonly namespace: string | undefined
  readonly openNamespace?: boolean | 'folder'
  readonly release: string | undefined
  readonly values: ReleaseValues | undefined
}

/** Everything that the fields of a document name to be fetched. */
export function fetchedBy(value: unknown, origin: Origin): readonly Deployed[] {
  const { kind, group } = kindOf(value)
  const isObject = isTyped(value)
  if (isObject && (group === SOURCES_OF_FLUX || (!isOfOthers({ group, kind }) && group !== KUSTOMIZE)))
    return []
  const template = dig(value, 'spec', 'template')
  const isTemplate = isObject && isRecord(own(template, 'spec'))
  const name = isTemplate ? stringAt(template, 'metadata', 'name') : stringAt(value, 'metadata', 'name')
  const reading = new Reading({
    isObject,
    isOfTool:
      OF_TOOLS.has(group) ||
      (!isObject && ['openapi', 'asyncapi', 'swagger'].every((one) => own(value, one) === undefined)),
    isDeployer: DEPLOYERS.has(qualifiedKind({ group, kind })),
    isKustomization: group === KUSTOMIZE,
    namespace: stringAt(value, 'metadata', 'namespace') ?? '',
    // Paths count from the file of another tool, and from the top of a repository in an object.
    folder: isObject && group !== 'skaffold' ? undefined : dirname(origin.file),
    generated: generatedBy(dig(value, 'spec', 'generators')),
  })
  const scope = {
    namespace: undefined,
    ...(OF_HELM.test(kind) && namespaceIn(stringAt(value, 'metadata', 'namespace'))),
    release: isObject ? plain(releaseOf(kind, name, value)) : undefined,
    values: isTemplate ? undefined : NO_VALUES,
  }
  const { metadata: _, status: __, ...fields } = isRecord(value) ? value : {}
  const found = reading.all(isTemplate ? own(template, 'spec') : isRecord(value) ? fields : value, scope)
  return isObject || found.length > 0 ? found : changesOfFleet(value, origin)
}

/** The paths that generators of Git give, also within others: https://argo-cd.readthedocs.io/en/stable/operator-manual/applicationset/Generators-Matrix/ */
function generatedBy(generators: unknown): Generated {
  const paths: string[] = []
  const excluded: string[] = []
  walk(generators, (one) => {
    for (const at of [...listAt(one, 'git', 'directories'), ...listAt(one, 'git', 'files')])
      (own(at, 'exclude') === true ? excluded : paths).push(...[stringAt(at, 'path') ?? []].flat())
    return true
  })
  return { paths, excluded }
}

/** Flux puts the namespace before the name: https://fluxcd.io/flux/components/helm/helmreleases/#release-name */
function releaseOf(kind: string, name: string | undefined, value: unknown): string | undefined {
  const target = stringAt(value, 'spec', 'targetNamespace')
  return kind === 'HelmRelease' && target && name ? `${target}-${name}` : name
}

interface Document {
  /** Whether it has an apiVersion and a kind. */
  readonly isObject: boolean
  /** Whether it is a file of a tool, and no object that a cluster takes. */
  readonly isOfTool: boolean
  /** Whether it deploys something whatever its fields are called. */
  readonly isDeployer: boolean
  readonly isKustomization: boolean
  readonly namespace: string
  readonly folder: string | undefined
  readonly generated: Generated
}

/** The paths that generators give, and those that they leave out. */
interface Generated {
  readonly paths: readonly string[]
  readonly excluded: readonly string[]
}

class Reading {
  readonly #document: Document
  readonly #found: Deployed[] = []

  constructor(document: Document) {
    this.#document = document
  }

  all(value: unknown, scope: Scope): readonly Deployed[] {
    const { isObject, isDeployer, folder } = this.#document
    this.#visit(value, scope, '', true)
    if (isDeployer && this.#found.length === 0) this.#found.push(this.#scopeIn(own(value, 'spec'), scope))
    if (isObject) return this.#found
    // https://docs.garden.io/reference/action-types/deploy
    if (OF_GARDEN.test(stringAt(value, 'kind') ?? '')) this.#found.push({ chart: stringAt(value, 'type') })
    this.#found.push(...this.#listedIn(value, scope), ...this.#resourcesIn(value, scope))
    // https://helmfile.readthedocs.io/en/latest/#configuration
    const included = folder === undefined ? [] : [...textsAt(value, 'helmfiles'), ...textsAt(value, 'bases')]
    // https://helm.sh/docs/topics/charts/#the-chartyaml-file, whatever the file is called
    const required = own(value, 'version') === undefined ? [] : listAt(value, 'dependencies')
    for (const chart of [...included, ...required.flatMap((one) => stringAt(one, 'name') ?? [])])
      this.#found.push({ chart })
    return this.#found
  }

  /**
   * What kluctl, DevSpace and werf list: https://kluctl.io/docs/kluctl/deployments/,
   * https://www.devspace.sh/docs/configuration/deployments/, https://werf.io/docs/v2/reference/werf_yaml.html
   */
  #listedIn(value: unknown, scope: Scope): readonly Deployed[] {
    const isOfDevSpace = /^v\d/.test(stringAt(value, 'version') ?? '')
    const lists = ['deployments', 'includes', ...(isOfDevSpace ? ['dependencies'] : [])].map((field) =>
      own(value, field),
    )
    return lists.flatMap(entriesOf).flatMap(([name, one]) => {
      const helm = own(one, 'helm')
      const at = { ...scope, ...namespaceIn(stringAt(one, 'namespace')) }
      if (isNamed(own(one, 'git')) || isNamed(own(one, 'oci'))) return [{ ...at, chart: name }]
      // Without a chart it is DevSpace's own: https://www.devspace.sh/component-chart/docs/introduction
      return isRecord(helm) && valueOf(helm, CHART) === undefined ? [{ ...at, chart: 'component-chart' }] : []
    })
  }

  /** https://www.pulumi.com/registry/packages/kubernetes/, in YAML: `kubernetes:apps/v1:Deployment`. */
  #resourcesIn(value: unknown, scope: Scope): readonly Deployed[] {
    return entriesOf(own(value, 'resources')).flatMap(([, one]) => {
      const type = stringAt(one, 'type') ?? ''
      const [, group = '', kind = ''] = /^kubernetes:([^:/]*)[^:]*:(\w+)/.exec(type) ?? []
      const isIdle = OF_KUBERNETES.test(group) && !OF_PODS.test(kind)
      return kind === '' || isIdle ? [] : [{ ...scope, chart: type }]
    })
  }

  #visit(value: unknown, outer: Scope, under: string, isRoot = false): void {
    if (Array.isArray(value)) for (const one of value as readonly unknown[]) this.#visit(one, outer, under)
    // https://helmfile.readthedocs.io/en/latest/#configuration
    if (!isRecord(value) || own(value, 'installed') === false) return
    const helm = own(value, 'helm')
    const fields = isRecord(helm) ? { ...value, ...helm } : value
    const scope = this.#scopeIn(fields, outer, isRoot)
    this.#found.push(...this.#manifestsIn(fields, scope, under))
    const found =
      this.#chartIn(fields, scope, under) ??
      (this.#document.isObject ? this.#placeIn(fields, scope) : undefined)
    if (found === undefined) {
      for (const [name, one] of Object.entries(fields))
        if (!NOT_LOOKED_INTO.test(name)) this.#visit(one, scope, name)
    } else this.#found.push(...found)
  }

  #scopeIn(given: unknown, outer: Scope, isRoot = false): Scope {
    const fields = isRecord(given) ? given : {}
    const named = ['targetNamespace', 'releaseNamespace', 'release_namespace'].map((field) =>
      textOf(own(fields, field)),
    )
    const ofRoot = isRoot ? [stringAt(fields, 'namespace'), stringAt(fields, 'defaultNamespace')] : []
    const target = own(fields, 'destination')
    const written = isRecord(target)
      ? (stringAt(target, 'namespace') ?? '')
      : [...named, ...ofRoot].find((one) => one !== undefined)
    return {
      ...outer,
      ...namespaceIn(written),
      release: stringAt(fields, 'releaseName') ?? outer.release,
      values: outer.values && this.#valuesIn(fields, outer.values, isRoot),
    }
  }

  /** What the fields give beside what holds already; undefined where some of it stands elsewhere. */
  #valuesIn(fields: JsonRecord, outer: ReleaseValues, isRoot: boolean): ReleaseValues | undefined {
    const [ofHelm, ofArgo] = [textsAt(fields, 'valuesFiles'), textsAt(fields, 'valueFiles')]
    const isUnknown = isSet(fields, UNKNOWN_VALUES) || isSet(own(fields, 'helmDefaults'), UNKNOWN_VALUES)
    if (isUnknown || ofArgo.some((one) => one.startsWith('$'))) return undefined
    // At the top of a helmfile they are for its own templates.
    if (isRoot && !this.#document.isObject && valueOf(fields, CHART) === undefined) return outer
    const { folder } = this.#document
    const [values, object] = [own(fields, 'values'), own(fields, 'valuesObject')]
    const listed = Array.isArray(values) ? (values as readonly unknown[]) : [values]
    const files = [...ofHelm, ...textsAt(fields, 'values')]
    const inline = [object, ...listed].filter(
      (one): one is JsonRecord | string => isRecord(one) || (one === values && typeof one === 'string'),
    )
    // https://argo-cd.readthedocs.io/en/stable/user-guide/helm/
    const set = listAt(fields, 'parameters').map(
      (one) =>
        `${stringAt(one, 'name') ?? ''}=${(stringAt(one, 'value') ?? '').replaceAll(',', String.raw`\,`)}`,
    )
    const placed = files.map((path) => (folder === undefined ? path : join(folder, path)))
    return {
      files: [...outer.files, ...placed, ...ofArgo],
      ofChart: outer.ofChart || ofArgo.length > 0,
      inline: [...outer.inline, ...inline],
      set: [...outer.set, ...set],
    }
  }

  #chartIn(fields: JsonRecord, scope: Scope, under: string): readonly Deployed[] | undefined {
    const { isDeployer, isObject, isKustomization, folder } = this.#document
    const [chart, repository, name] = [
      valueOf(fields, CHART) ?? valuesOf(fields, MODULE).find(isRecord),
      valueOf(fields, REPOSITORY),
      stringAt(fields, 'name'),
    ]
    const at = { ...scope, ...namespaceIn(stringAt(fields, 'namespace')) }
    const found = textOf(chart)
    const isListed = CHART.field.test(under) && name !== undefined && (isNamed(repository) || isKustomization)
    if (found === undefined) {
      const isReference =
        isRecord(chart) && (isNamed(repository) || isNamed(valueOf(chart, REPOSITORY)) || isLocation(chart))
      if (isReference) return [{ ...at, chart: nameOf(chart), repository: textOf(repository) }]
      return isListed ? [{ ...at, chart: name }] : undefined
    }
    const isPath = own(fields, 'chartPath') !== undefined || found.startsWith('.')
    const isElsewhere =
      isNamed(repository) || valueOf(fields, CHART_ELSEWHERE) !== undefined || found.includes('/')
    if (found === '' || !(isElsewhere || isDeployer || (!isObject && name !== undefined))) return undefined
    const release = isDeployer ? scope.release : (stringAt(fields, 'releaseName') ?? name ?? scope.release)
    // A chart of a Git repository is a folder of it.
    const source = isRecord(repository) ? this.#sourceOf(repository) : undefined
    if (source !== undefined) return [{ ...at, release, path: found, repository: source }]
    if (folder !== undefined && isPath) return [{ ...at, release, path: `./${join(folder, found)}` }]
    return [{ ...at, release, chart: found, repository: textOf(repository) }]
  }

  /** Manifests at an address, and those that a task of Ansible applies. */
  #manifestsIn(fields: JsonRecord, scope: Scope, under: string): readonly Deployed[] {
    const at = { ...scope, ...namespaceIn(stringAt(fields, 'namespace')) }
    if (TASK_OF_ANSIBLE.test(under) && own(fields, 'state') !== 'absent') {
      const given = ['src', 'template', 'definition'].flatMap((field) => [own(fields, field)].flat())
      const paths = given.flatMap((one) => textOf(own(one, 'path') ?? one) ?? [])
      return paths.filter((one) => !one.includes('kind:')).map((one) => ({ ...at, path: pathOfTask(one) }))
    }
    const { isOfTool } = this.#document
    return Object.entries(fields).flatMap(([name, value]) => {
      const isLookedAt = isOfTool ? !NO_ADDRESS.test(name) : OF_MANIFESTS.test(name)
      const isRepository = isOfTool && REPOSITORY.field.test(name)
      return [isLookedAt ? value : undefined].flat().flatMap((one) => {
        const text = textOf(one) ?? ''
        const isAddress = ADDRESS_OF_MANIFESTS.test(text) || (isRepository && text.startsWith('oci://'))
        return isAddress ? [{ ...at, chart: text }] : []
      })
    })
  }

  #placeIn(fields: JsonRecord, scope: Scope): readonly Deployed[] | undefined {
    const { isDeployer } = this.#document
    const repositories = valuesOf(fields, REPOSITORY)
    const repository = repositories.find(isLocation) ?? repositories[0]
    const path = textOf(valueOf(fields, FOLDER))
    // What is taken of it may stand in a mapping beside it.
    const hasPlace = isNamed(valueOf(fields, PLACE)) || repositories.some((one) => textsOf(one, PLACE))
    const isOfGit = typeof repository === 'string' && textsOf(fields, PLACE_OF_GIT)
    const isElsewhere = isNamed(repository) && (isLocation(repository) || isOfGit)
    if (isDeployer ? isElsewhere || path !== undefined : isElsewhere && hasPlace) {
      // A source of values alone, of Argo CD.
      if (isDeployer && path === undefined && stringAt(fields, 'ref') !== undefined) return []
      const paths = isDeployer ? textsAt(fields, 'paths') : []
      const source = isRecord(repository) ? this.#sourceOf(repository) : plain(textOf(repository))
      const places = paths.length > 0 ? paths.map((one) => ({ path: one })) : this.#generatedFrom(path)
      return places.map(({ path: one, ...more }) => ({
        ...scope,
        ...more,
        path: one,
        repository: source,
        // https://argo-cd.readthedocs.io/en/stable/user-guide/directory/
        isWhole: dig(fields, 'directory', 'recurse') === true,
        changes: isDeployer ? changesIn(fields, one) : undefined,
      }))
    }
    const image = stringAt(fields, 'oci', 'image')
    if (image !== undefined) return [{ ...scope, chart: image }]
    const named = valueOf(fields, PACKAGE) ?? (isNamed(repository) ? own(fields, 'package') : undefined)
    if (isNamed(named)) return [{ ...scope, chart: nameOf(named) }]
    // A catalog of OLM, a channel of Open Cluster Management, what an App of kapp is made of.
    if (isNamed(own(fields, 'source')) && isNamed(own(fields, 'sourceNamespace')))
      return [{ ...scope, chart: textOf(own(fields, 'name')) }]
    const channel = textOf(own(fields, 'channel'))
    if (channel?.includes('/') === true) return [{ ...scope, chart: channel }]
    return Array.isArray(own(fields, 'fetch')) ? [scope] : undefined
  }

  /** The folders that a path means in which generators fill in something, as far as they are plain. */
  #generatedFrom(
    path: string | undefined,
  ): readonly Pick<Deployed, 'path' | 'isEach' | 'below' | 'excluded'>[] {
    if (path?.includes('{{') !== true) return [{ path }]
    const folder = plainPart(path)
    const [filled = '', ...rest] = path.slice(folder.length).split('/')
    const below = plainPart(rest.filter((name) => name !== '').join('/'))
    if (folder !== '') return [{ path: folder, isEach: NAME_OF_FOLDER.test(filled), below }]
    const { paths, excluded } = this.#document.generated
    const given = paths.flatMap((one) => {
      const plainly = plainPart(one)
      return plainly === '' ? [] : [{ path: plainly, isEach: one === `${plainly}*`, below, excluded }]
    })
    return given.length > 0 ? given : [{ path: undefined }]
  }

  /** The source of Flux that an object refers to. */
  #sourceOf(reference: JsonRecord): string | undefined {
    const kind = stringAt(reference, 'kind') ?? 'GitRepository'
    if (kind === 'HelmRepository') return undefined
    const namespace = stringAt(reference, 'namespace') ?? this.#document.namespace
    return sourceKey(kind, namespace, stringAt(reference, 'name') ?? '')
  }
}

/** A path as far as it is plain, without the folder of a role before it. */
function pathOfTask(path: string): string {
  const below = path.replace(/^\{\{[^{}]*\}\}(?=\/)/, '.')
  return plainPart(below) || below
}

/** The folder with which a path begins in which something is filled in. */
function plainPart(path: string): string {
  return path.replace(/[^/]*(?:\{\{|[*?[]).*$/s, '')
}

/** How a source of Flux is called. */
export function sourceKey(kind: string, namespace: string, name: string): string {
  return `${kind} ${namespace}/${name}`
}

const NO_VALUES: ReleaseValues = { files: [], ofChart: false, inline: [], set: [] }
/** The fields that give values which stand elsewhere, or change what helm prints. */
const UNKNOWN_VALUES = [
  'valuesFrom',
  'valuesContent',
  'fileParameters',
  'postRenderer',
  'postRenderers',
  'inherit',
  'hooks',
  'secrets',
  'set',
  'setValues',
  'overrides',
  'jsonPatches',
  'transformers',
  'strategicMergePatches',
] as const
/** The fields by which a deployer of a folder makes more of it than what stands there. */
const CHANGES = [
  'plugin',
  'patches',
  // Of versions before v1: https://fluxcd.io/flux/components/kustomize/api/v1beta2/
  'patchesStrategicMerge',
  'patchesJson6902',
  'targetNamespace',
  'namePrefix',
  'nameSuffix',
  'components',
  'commonMetadata',
] as const

/** The fields of a `fleet.yaml` that change no object in its folder: https://fleet.rancher.io/ref-fleet-yaml */
const IDLE_OF_FLEET =
  /^(?:name|labels|annotations|dependsOn|paused|rolloutStrategy|diff|ignore|keepResources|deleteNamespace|correctDrift|namespaceAnnotations|bundleDeploymentTemplates)$/

/** What a `fleet.yaml` makes of the folder in which it stands. */
function changesOfFleet(value: unknown, { file }: Origin): readonly Deployed[] {
  if (!/(?:^|[/\\])fleet\.ya?ml$/.test(file) || !isRecord(value)) return []
  // It is for objects that name none.
  const { defaultNamespace, ...others } = value
  const field = Object.keys(others).find((name) => !IDLE_OF_FLEET.test(name))
  const of = { path: `./${dirname(file)}`, ...namespaceIn(textOf(defaultNamespace)) }
  if (field !== undefined) return [{ ...of, changes: `${file} with ${field}` }]
  return of.namespace === undefined ? [] : [of]
}

function changesIn(fields: JsonRecord, path = ''): string | undefined {
  const kustomize = own(fields, 'kustomize')
  const others = isRecord(kustomize) ? Object.keys(kustomize) : []
  const changed =
    CHANGES.find((field) => isSet(fields, [field])) ??
    others.find((one) => one !== 'images' && one !== 'version')
  return changed && `${path} with ${changed}`
}

function isSet(value: unknown, fields: readonly string[]): boolean {
  return fields.some((field) => {
    const one = own(value, field)
    return one !== undefined && one !== null && one !== '' && !(Array.isArray(one) && one.length === 0)
  })
}

/** What a list or a mapping has, by its name. */
function entriesOf(value: unknown): readonly (readonly [name: string, value: unknown])[] {
  return Array.isArray(value)
    ? (value as readonly unknown[]).map((one) => [stringAt(one, 'name') ?? '', one] as const)
    : isRecord(value)
      ? Object.entries(value)
      : []
}

/** What a field says of the namespace of what is deployed; undefined where it is absent. */
function namespaceIn(written: string | undefined): Pick<Scope, 'namespace' | 'openNamespace'> | undefined {
  if (written === undefined) return undefined
  const namespace = written === '' || isDns1123Label(written) ? written : undefined
  const openNamespace = namespace === undefined && (NAME_OF_FOLDER.test(written) ? 'folder' : true)
  return { namespace: namespace || undefined, openNamespace }
}

/** https://argo-cd.readthedocs.io/en/stable/operator-manual/applicationset/Generators-Git/ */
const NAME_OF_FOLDER = /^\{\{-?\s*\.?path\.basename(?:Normalized)?\s*-?\}\}$/

/** Undefined for what is not filled in yet. */
function plain(text: string | undefined): string | undefined {
  return text?.includes('{{') === true ? undefined : text
}

function valueOf(fields: JsonRecord, asked: Key): unknown {
  return valuesOf(fields, asked)[0]
}

function valuesOf(fields: JsonRecord, { field }: Key): readonly unknown[] {
  return Object.entries(fields).flatMap(([name, value]) => (field.test(name) ? [value] : []))
}

/** Whether a mapping has a text at such a key. */
function textsOf(value: unknown, asked: Key): boolean {
  return isRecord(value) && textOf(valueOf(value, asked)) !== undefined
}

/** A name, or a reference to an object by its name. */
function isNamed(value: unknown): boolean {
  return typeof value === 'string' ? value !== '' : isRecord(value) || Array.isArray(value)
}

/** The address of a repository, or an object that has it. */
function isLocation(value: unknown): boolean {
  return typeof value === 'string'
    ? /^(?:[a-z]+(?:\+[a-z]+)?:\/\/|[\w.-]+@[\w.-]+:)/.test(value)
    : typeof own(value, 'kind') === 'string' && typeof own(value, 'name') === 'string'
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

function nameOf(value: unknown): string | undefined {
  const [name] = [value, own(value, 'name'), own(value, 'refName')].flatMap((one) => textOf(one) ?? [])
  return name
}
