// Finds what SCM is set to in a cluster. It may run in any namespace: the workloads that run it say in which. Where they are
// not looked for, or may not be listed, the namespaces are tried in which it usually is. ConfigMaps of other namespaces are
// never read: there are many, and they are none of our business.
import { mayHoldScmConfig } from '@kleym/shared/core/model/subject-groups.ts'
import type { OutputSettings } from '@kleym/shared/core/decide/index.ts'
import {
  scmContainers,
  scmContainersOf,
  SCM_WORKLOAD_KINDS,
  acts,
  scmInstances,
  deploymentSettings,
} from '@kleym/shared/core/analysis/index.ts'
import { isRecord } from '@kleym/shared/core/base/json.ts'
import type { RawObject } from '@kleym/shared/core/model/objects/raw.ts'
import type { UnknownReason } from '@kleym/shared/core/model/unknown-reason.ts'
import { CONFIG_MAPS, NAMESPACES, WORKLOADS } from '@kleym/shared/kube/resources.ts'
import { scmConfigsIn } from '../sources/scm-config.ts'
import type { ClusterReader } from './reader.ts'
import { withoutManagedFields } from './trim.ts'

/** Where SCM is looked for. */
export interface ScmQuestion {
  /** The namespaces that its ConfigMap is usually in, or those that were given; none: it is not looked for. */
  readonly scmNamespaces: readonly string[]
  /** Whether the namespaces were given, so that it is nowhere else. */
  readonly isScmNamespaceGiven?: boolean | undefined
  /** What the command line says of kleym's outputs; a setting that it does not give is the operator's. */
  readonly output?: GivenOutput | undefined
}

/** Class and labels of kleym's outputs where the command line gives them. */
export interface GivenOutput {
  readonly className: string | undefined
  readonly outputLabels: ReadonlyMap<string, string> | undefined
}

/** What was found. */
export interface ScmFound {
  /** ConfigMaps that hold a configuration of SCM. */
  readonly configMaps: readonly RawObject[]
  /** The workloads that run SCM; undefined: not looked for, or not to be had. */
  readonly workloads: readonly RawObject[] | undefined
  readonly unread: readonly UnknownReason[]
}

const NOTHING: ScmFound = { configMaps: [], workloads: undefined, unread: [] }

/** Looks for all of them: by the workloads of the whole cluster, which have been read, or are listed. */
export async function findEveryScm(
  reader: ClusterReader,
  question: ScmQuestion,
  known?: readonly RawObject[],
): Promise<ScmFound> {
  const { scmNamespaces, isScmNamespaceGiven } = question
  if (scmNamespaces.length === 0) return NOTHING
  if (isScmNamespaceGiven === true) return usual(reader, scmNamespaces)
  const workloads = known === undefined ? await listWorkloads(reader) : known.filter(runsScm)
  const found = await whereItRuns(reader, workloads)
  if (found !== undefined) return found
  // Of what was read for another purpose some may be missing: that none runs SCM would be a guess.
  return { ...(await usual(reader, scmNamespaces)), workloads: known === undefined ? workloads : undefined }
}

/**
 * Looks for the one that acts on kleym's output, first where SCM usually is: a user who asks about one namespace of a large
 * cluster need not list the workloads of all.
 */
export async function findOurScm(
  reader: ClusterReader,
  { scmNamespaces, isScmNamespaceGiven, output }: ScmQuestion,
  operators: readonly RawObject[],
): Promise<ScmFound> {
  if (scmNamespaces.length === 0) return NOTHING
  const found = await usual(reader, scmNamespaces)
  if (isScmNamespaceGiven === true) return found
  const config = outputSettingsOf(output, operators)
  const isFound = found.configMaps.length > 0
  if (isFound && (config === undefined || (await isActedOn(found.configMaps, config)))) return found
  const workloads = await listWorkloads(reader)
  return (await whereItRuns(reader, workloads)) ?? { ...found, workloads }
}

/** The ConfigMaps of every namespace in which a workload runs SCM; undefined where none does. */
async function whereItRuns(
  reader: ClusterReader,
  workloads: readonly RawObject[] | undefined,
): Promise<ScmFound | undefined> {
  const spaces = namespacesOf(workloads ?? [])
  if (spaces.length === 0) return undefined
  const reads = await Promise.all(spaces.map((namespace) => configMapsIn(reader, namespace)))
  return {
    configMaps: reads.flatMap(({ configMaps }) => configMaps),
    workloads,
    unread: reads.flatMap(({ unread }) => unread),
  }
}

/** What kleym gives to its outputs: as the command line says, else the operator's Deployment; undefined where neither tells the class. */
function outputSettingsOf(
  given: GivenOutput | undefined,
  operators: readonly RawObject[],
): OutputSettings | undefined {
  const sources = [...(given === undefined ? [] : [given]), ...deploymentSettings(operators)]
  const className = sources.map((one) => one.className).find((one) => one !== undefined)
  const outputLabels = sources.map((one) => one.outputLabels).find((one) => one !== undefined)
  return className === undefined
    ? undefined
    : { className, ...(outputLabels !== undefined && { outputLabels }) }
}

async function isActedOn(configMaps: readonly RawObject[], config: OutputSettings): Promise<boolean> {
  const evidence = { trustDomain: undefined, className: config.className, clusterSpiffeIdClasses: [] }
  return scmInstances(await scmConfigsIn(configMaps), [], config, evidence).some(acts)
}

/** One namespace after the other: the first that has one is usually the only one. */
async function usual(reader: ClusterReader, namespaces: readonly string[]): Promise<ScmFound> {
  const unread: UnknownReason[] = []
  for (const namespace of namespaces) {
    const read = await configMapsIn(reader, namespace)
    if (read.unread.length > 0 && !(await mayExist(reader, namespace))) continue
    unread.push(...read.unread)
    if (read.configMaps.length > 0) return { configMaps: read.configMaps, workloads: undefined, unread }
  }
  return { ...NOTHING, unread }
}

/** A list in a namespace that is not there is refused to a user without a right in it: that hides nothing. */
async function mayExist(reader: ClusterReader, namespace: string): Promise<boolean> {
  const reading = await reader.get(NAMESPACES, namespace)
  return reading.state !== 'read' || reading.objects.length > 0
}

async function configMapsIn(
  reader: ClusterReader,
  namespace: string,
): Promise<Pick<ScmFound, 'configMaps' | 'unread'>> {
  const trim = withoutManagedFields({ status: true })
  const reading = await reader.read({ resource: CONFIG_MAPS, namespaces: [namespace], trim })
  return {
    configMaps: reading.state === 'absent' ? [] : reading.objects.filter(holdsScmConfig),
    unread: reading.state === 'unknown' ? [reading.why] : [],
  }
}

function holdsScmConfig({ value }: RawObject): boolean {
  const data = value['data']
  return (
    isRecord(data) && Object.values(data).some((text) => typeof text === 'string' && mayHoldScmConfig(text))
  )
}

/** Undefined where one of the kinds cannot be listed: that none runs it would then be a guess. */
async function listWorkloads(reader: ClusterReader): Promise<readonly RawObject[] | undefined> {
  const kinds = WORKLOADS.filter(({ kind }) => SCM_WORKLOAD_KINDS.includes(kind))
  const trim = withoutManagedFields({ status: false })
  const readings = await Promise.all(kinds.map((resource) => reader.read({ resource, trim })))
  return readings.every((reading) => reading.state === 'read')
    ? readings.flatMap(({ objects }) => objects).filter(runsScm)
    : undefined
}

function runsScm({ value }: RawObject): boolean {
  return scmContainers(value).length > 0
}

/** The namespaces of those that act on this cluster. */
function namespacesOf(workloads: readonly RawObject[]): readonly string[] {
  const here = scmContainersOf(workloads.map(({ value }) => value)).filter((one) => !one.isForOtherCluster)
  return [...new Set(here.map(({ workload }) => workload.namespace))]
}
