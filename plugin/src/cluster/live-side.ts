// The state of a cluster as a command reads it: lists side by side in two rounds, since what is kept of pods follows
// from the templates that there are (docs/cluster.md, "What is read").
import type { JsonRecord } from '@kleym/shared/core/base/json.ts'
import { unknownReasonText, type UnknownReason } from '@kleym/shared/core/model/unknown-reason.ts'
import { mentionsOf } from '@kleym/shared/core/base/go/template/mentions.ts'
import {
  readClusterSpiffeIdSpec,
  type ClusterSpiffeIdSpec,
} from '@kleym/shared/core/model/objects/clusterspiffeid.ts'
import { compareBytes } from '@kleym/shared/core/base/text/bytes.ts'
import { namespaceNamed, readNamespace } from '@kleym/shared/core/model/objects/pod.ts'
import type { RawObject } from '@kleym/shared/core/model/objects/raw.ts'
import { matchSelector } from '@kleym/shared/core/model/objects/label-match.ts'
import { NO } from '@kleym/shared/core/model/truth/truth.ts'
import type { Resource } from '@kleym/shared/kube/api.ts'
import {
  BINDINGS,
  CLUSTER_SPIFFE_IDS,
  CLUSTER_STATIC_ENTRIES,
  CONFIG_MAPS,
  DEPLOYMENTS,
  ENDPOINTS,
  FEDERATED_TRUST_DOMAINS,
  NAMESPACES,
  NODES,
  OBJECTIVES,
  PODS,
  POOL_IMPORTS,
  POOLS,
  REPLICA_SETS,
  resourceName,
  WORKLOADS,
} from '@kleym/shared/kube/resources.ts'
import { objectKey } from '@kleym/shared/core/model/objects/object-key.ts'
import { readMesh, readPolicies, type PolicyQuestion } from './policies.ts'
import type { ClusterReader, ListRequest, Reading } from './reader.ts'
import { findEveryScm, findOurScm, type ScmFound, type ScmQuestion } from './scm.ts'
import { isFinishedJob } from '@kleym/shared/core/model/objects/workload.ts'
import { mentionRules } from '@kleym/shared/core/model/naming/named-in.ts'
import { idsTrim, keepingApplied, podTrim, withoutManagedFields } from './trim.ts'

/** What stands for the live side of an answer. */
export interface LiveSide {
  /** A caller that has no more use for them may empty the list, to give the memory back. */
  readonly objects: RawObject[]
  /** The operator's Deployments, which tell its settings; undefined where they could not be looked for. */
  readonly operatorDeployments: readonly RawObject[] | undefined
  /** The workloads that run SCM; undefined where they were not looked for, or could not be had. */
  readonly scmWorkloads?: readonly RawObject[] | undefined
  readonly gaps: ReadonlyMap<string, UnknownReason>
  readonly absentKinds: ReadonlySet<string>
  readonly listedKinds: ReadonlySet<string>
  /** Undefined: all. */
  readonly namespacesRead: ReadonlySet<string> | undefined
  /** What was looked for to be more exact, and could not be had. */
  readonly unverifiedRefs: readonly UnknownReason[]
}

/** What is to be read. */
export interface LiveQuestion extends ScmQuestion {
  /** Undefined: all. */
  readonly namespaces: readonly string[] | undefined
  /** A kind of workload that the question names; else what makes no more pods is left out. */
  readonly kind: string | undefined
  /** Whether the answer tells who names an identity. */
  readonly policies: boolean
  /** Whether it tells so of objects of other programs too. */
  readonly names: boolean
  /** Whether it looks for IDs in ConfigMaps too. */
  readonly configMaps?: boolean
  /** Whether the answer tells which relationships with other trust domains are declared. */
  readonly federation: boolean
  /** Whether the answer tells which pools the cluster imports from others. */
  readonly imports?: boolean
  /** Objects of files, whose templates count too. */
  readonly files: readonly RawObject[]
}

/** The label by which the operator's Deployment is found in whatever namespace it is. */
export const OPERATOR_LABEL = 'app.kubernetes.io/name=kleym'

/**
 * Objects per page where the question is about a few namespaces: the kinds without a namespace then come in one piece,
 * so that one binding stays within 20 requests on a large cluster. All of everything comes in smaller pieces, for memory.
 */
const NARROW_PAGE = 10_000

/** All of an object but the bookkeeping. */
export const WHOLE = withoutManagedFields({ status: true })
/** The same, without what controllers report. */
export const WITHOUT_STATUS = withoutManagedFields({ status: false })
/** Reads what a question needs. Throws a KleymError only where the cluster cannot be reached at all. */
export async function readLiveSide(reader: ClusterReader, question: LiveQuestion): Promise<LiveSide> {
  const { namespaces, kind, policies, names, federation, files } = question
  await reader.open()
  const side = new LiveSideReader(kind)
  const limit = namespaces === undefined ? undefined : NARROW_PAGE
  const inFiles = new Set(files.map(({ value }) => objectKey(value)))
  const isInFiles = (object: JsonRecord): boolean => inFiles.size > 0 && inFiles.has(objectKey(object))
  const read = async ({ trim = WHOLE, ...want }: ListRequest): Promise<void> =>
    side.add(want.resource, await reader.read({ ...want, trim: keepingApplied(trim, isInFiles), limit }))
  const [operator] = await Promise.all([
    readOperators(reader),
    ...[BINDINGS, ...POOLS, ...OBJECTIVES].map((resource) => read({ resource, namespaces, trim: WHOLE })),
    // Its status holds what SCM has counted.
    read({ resource: CLUSTER_SPIFFE_IDS, trim: WHOLE }),
    read({ resource: CLUSTER_STATIC_ENTRIES, trim: WITHOUT_STATUS }),
    ...(federation ? [read({ resource: FEDERATED_TRUST_DOMAINS, trim: WITHOUT_STATUS })] : []),
    ...(question.imports === true ? [read({ resource: POOL_IMPORTS, namespaces, trim: WHOLE })] : []),
    read({ resource: NODES, trim: WITHOUT_STATUS }),
    readNamespaces(reader, namespaces, side),
    ...(policies ? [addPolicies(reader, { namespaces, limit, names, isInFiles }, side)] : []),
    ...(question.configMaps === true ? [addConfigMaps(reader, side)] : []),
  ])
  const addScm = (found: ScmFound): void => side.addScm(found)
  const needs = needsOf([...side.objects, ...files], namespaces)
  await Promise.all([
    read({ resource: PODS, namespaces, trim: podTrim(needs) }),
    ...[...WORKLOADS, ...(kind === REPLICA_SETS.kind ? [REPLICA_SETS] : [])].map((resource) =>
      read({ resource, namespaces, trim: WHOLE }),
    ),
    ...(needs.services ? [read({ resource: ENDPOINTS, namespaces, trim: WHOLE })] : []),
    ...(namespaces === undefined ? [] : [findOurScm(reader, question, objectsOf(operator)).then(addScm)]),
  ])
  if (namespaces === undefined) addScm(await findEveryScm(reader, question, side.objects))
  return side.finish(operator, namespaces)
}

/** The operator's Deployments, wherever they are. */
export function readOperators(reader: ClusterReader): Promise<Reading> {
  return reader.read({ resource: DEPLOYMENTS, labelSelector: OPERATOR_LABEL, trim: WHOLE })
}

function objectsOf(reading: Reading): readonly RawObject[] {
  return reading.state === 'read' ? reading.objects : []
}

async function addPolicies(
  reader: ClusterReader,
  question: PolicyQuestion,
  side: LiveSideReader,
): Promise<void> {
  const readings = await readPolicies(reader, question)
  for (const { resource, reading } of readings) side.add(resource, reading)
  const mesh = await readMesh(reader, readings)
  if (mesh !== undefined) side.addDetail(mesh)
}

/** Of the ConfigMaps of the cluster nothing is kept but the IDs in them: other readers look for settings in whole ones. */
async function addConfigMaps(reader: ClusterReader, side: LiveSideReader): Promise<void> {
  const reading = await reader.read({ resource: CONFIG_MAPS, trim: idsTrim })
  if (reading.state === 'absent') return
  const objects = reading.objects.flatMap(({ value }): readonly RawObject[] => {
    const { data: _, binaryData: __, ...rest } = value
    const mentions = mentionRules(value)
    return mentions.length === 0 ? [] : [{ value: rest, mentions }]
  })
  side.add(CONFIG_MAPS, { ...reading, objects }, false)
}

/** Namespaces by name where there are few: a user of one team's namespace may often not list them all. */
async function readNamespaces(
  reader: ClusterReader,
  namespaces: readonly string[] | undefined,
  side: LiveSideReader,
): Promise<void> {
  if (namespaces === undefined) {
    // Whole: the bookkeeping of applies tells which labels the next one keeps.
    side.add(NAMESPACES, await reader.read({ resource: NAMESPACES }))
    return
  }
  for (const reading of await Promise.all(namespaces.map((name) => reader.get(NAMESPACES, name, undefined))))
    side.add(NAMESPACES, reading, false)
}

interface Needs {
  readonly mentions: ReadonlySet<string>
  readonly images: boolean
  readonly services: boolean
}

/** What the ClusterSPIFFEIDs and static entries that there are read of pods in these namespaces. */
function needsOf(objects: readonly RawObject[], namespaces: readonly string[] | undefined): Needs {
  const specs = objects
    .filter(({ value }) => value['kind'] === CLUSTER_SPIFFE_IDS.kind)
    .map(readClusterSpiffeIdSpec)
  const templates = new Set(specs.flatMap(templatesOf))
  const statics = objects.filter(({ value }) => value['kind'] === CLUSTER_STATIC_ENTRIES.kind)
  const selectors = [...templates, ...statics.map(({ value }) => JSON.stringify(value))]
  return {
    mentions: new Set([...templates].flatMap((template) => [...mentionsOf(template)])),
    images: selectors.some((text) => /image/i.test(text)),
    services: specs.some((spec) => spec.autoPopulateDNSNames && mayReach(spec, objects, namespaces)),
  }
}

/** Whether pods of these namespaces may be selected; the usual one with DNS names of Services is about SPIRE's own. */
function mayReach(
  { namespaceSelector }: ClusterSpiffeIdSpec,
  objects: readonly RawObject[],
  namespaces: readonly string[] | undefined,
): boolean {
  if (namespaces === undefined) return true
  const described = objects.filter(({ value }) => value['kind'] === NAMESPACES.kind).map(readNamespace)
  return namespaces.some((name) => {
    const known = described.filter((one) => one.name === name)
    return (known.length === 0 ? [namespaceNamed(name, new Map(), false)] : known).some(
      (namespace) => matchSelector(namespaceSelector, namespace) !== NO,
    )
  })
}

function templatesOf(spec: ClusterSpiffeIdSpec): readonly string[] {
  return [spec.spiffeIDTemplate, ...spec.dnsNameTemplates, ...spec.workloadSelectorTemplates]
}

/** Collects readings. */
export class LiveSideReader {
  readonly objects: RawObject[] = []
  readonly unverifiedRefs: UnknownReason[] = []
  #scmWorkloads: readonly RawObject[] | undefined
  readonly #kind: string | undefined
  readonly #gaps = new Map<string, UnknownReason>()
  readonly #absent = new Set<string>()
  readonly #listed = new Set<string>()

  constructor(kind: string | undefined) {
    this.#kind = kind
  }

  add(resource: Resource, reading: Reading, whole = true): void {
    const kind = resourceName(resource)
    if (reading.state === 'absent') this.#absent.add(kind)
    else
      for (const object of reading.objects)
        if (this.#kind === 'Job' || !isFinishedJob(object.value)) this.objects.push(object)
    if (reading.state === 'unknown') this.#gaps.set(kind, reading.why)
    if (reading.state === 'read' && whole) this.#listed.add(kind)
  }

  /** Objects that make an answer more exact. A failure to read them is reported, and is no gap. */
  addDetail(reading: Reading): void {
    if (reading.state !== 'absent') this.objects.push(...reading.objects)
    if (reading.state === 'unknown') this.unverifiedRefs.push(reading.why)
  }

  addScm({ configMaps, workloads, unread }: ScmFound): void {
    this.objects.push(...configMaps)
    this.unverifiedRefs.push(...unread)
    this.#scmWorkloads = workloads
  }

  finish(operator: Reading, namespaces: readonly string[] | undefined): LiveSide {
    if (operator.state === 'unknown') this.unverifiedRefs.push(operator.why)
    return {
      objects: this.objects,
      operatorDeployments: operator.state === 'read' ? operator.objects : undefined,
      scmWorkloads: this.#scmWorkloads,
      gaps: new Map([...this.#gaps].toSorted(([a], [b]) => compareBytes(a, b))),
      absentKinds: this.#absent,
      listedKinds: this.#listed,
      namespacesRead: namespaces === undefined ? undefined : new Set(namespaces),
      unverifiedRefs: this.unverifiedRefs.toSorted((a, b) =>
        compareBytes(unknownReasonText(a), unknownReasonText(b)),
      ),
    }
  }
}
