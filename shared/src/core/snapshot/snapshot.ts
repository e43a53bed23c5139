// One consistent picture of everything that an answer uses, made from raw objects (files now, a cluster's lists later).
// What could not be read is recorded, so that `absent` is never said of something that was not looked for.
import { byNamespaceAndName, namespaceWritten } from '../model/namespaced-name.ts'
import { stringAt, type JsonRecord } from '../base/json.ts'
import type { UnknownReason } from '../model/unknown-reason.ts'
import {
  ACCESS_POLICY_KIND,
  LLM_D_GROUP,
  OBJECTIVE_KINDS,
  POLICY_KINDS,
  POOL_KINDS,
  qualifiedKind,
  type Kind,
  type ObjectiveGroup,
  BINDING,
  CLUSTER_SPIFFE_ID,
  CLUSTER_STATIC_ENTRY,
  FEDERATED_TRUST_DOMAIN,
  POOL_IMPORT,
  POOL_KIND,
  OBJECTIVE_KIND,
  OPENSHIFT_AGENT,
  kindKey,
} from '../model/kinds.ts'
import { ISTIO_NAMESPACE, meshTrustIn, type MeshTrust } from '../model/naming/istio-source.ts'
import { mentionRules, namedIn, NAMING_KIND_NAMES } from '../model/naming/named-in.ts'
import { PEER_AUTHENTICATION, withoutMtls } from '../model/naming/peer-authentication.ts'
import { readMeta } from '../model/objects/meta.ts'
import { policyOfNames, readAccessPolicy, type AccessPolicy } from '../model/objects/access-policy.ts'
import { valueOf, readBinding, type Binding } from '../model/objects/binding.ts'
import {
  readClusterSpiffeId,
  type ClusterSpiffeId,
  type Lifecycle,
} from '../model/objects/clusterspiffeid.ts'
import {
  readFederatedTrustDomain,
  type FederatedTrustDomain,
} from '../model/objects/federated-trust-domain.ts'
import { readObjective, readPool, type Objective, type Pool } from '../model/objects/inference.ts'
import {
  namespaceNamed,
  readEndpoints,
  readNamespace,
  readNode,
  podReader,
  whyTakesNothing,
  withinNamespace,
  type Endpoints,
  type Namespace,
  type Node,
  type Pod,
} from '../model/objects/pod.ts'
import { CRD_FIELDS } from '../model/objects/crd-fields.ts'
import { manifestFault, type ManifestFault } from '../model/objects/manifest-check.ts'
import { readPoolImport, type PoolImport } from '../model/objects/pool-import.ts'
import type { RawObject } from '../model/objects/raw.ts'
import { readClusterStaticEntry, type ClusterStaticEntry } from '../model/objects/static-entry.ts'
import type { PodMaker } from '../model/objects/pod-makers.ts'
import { configuredRights, type ConfiguredRight } from '../model/objects/configured-rights.ts'
import { agentNodesIn, type AgentNodes } from '../model/objects/agent-nodes.ts'
import { spireMakeup, type SpireMakeup, type UnreadParts } from '../model/objects/spire-makeup.ts'
import { spireSetup, type SpireSetup } from '../model/objects/spire-setup.ts'
import { agentConfigsIn, attestedBy } from '../model/objects/agent-config.ts'
import { AdmissionLabels, keysNamedBy } from '../model/objects/admission-labels.ts'
import { containersAskedFor, INJECTION_KEYS, withInjected } from '../model/objects/sidecars.ts'
import { isWorkload, readWorkloadPods } from '../model/objects/workload.ts'
import { labelsAskedFor, metadataRead, namespaceLabelsAskedFor, numbersAskedFor } from './labels-asked-for.ts'
import type { ReadKeys } from './pod-reads.ts'
import type { Lookup, References } from '../model/objects/lookup.ts'
import { expandedIn, madeBy, podMakersIn, withScale } from './pod-makers-in.ts'
import { KindListing } from './listing.ts'
import { Rest, type Gaps, type UnreadObjects } from './rest.ts'
import { driveAtOnce, type Steps } from '../base/steps.ts'
import { compareBytes, compareKeys } from '../base/text/bytes.ts'

/** Everything that an answer uses, read. */
export interface Snapshot {
  /** In byte order of `namespace/name`, like every list here. */
  readonly bindings: KindListing<Binding>
  readonly pools: KindListing<Pool>
  readonly objectives: KindListing<Objective>
  /** The groups whose objectives a cluster serves, or that have any. */
  readonly objectiveGroups: ReadonlySet<ObjectiveGroup>
  readonly clusterSpiffeIds: KindListing<ClusterSpiffeId>
  readonly staticEntries: KindListing<ClusterStaticEntry>
  /** Of every group and version, those that kleym does not interpret included; and objects of others that name identities. */
  readonly accessPolicies: KindListing<AccessPolicy>
  /** The objects in which a SPIFFE ID stands in any other string; empty where the answer does not ask for them. */
  readonly mentioning: KindListing<AccessPolicy>
  /** Whether that is all of them. */
  readonly accessPoliciesKnown: PolicyKnowledge
  /** Those that were given, and those that anything is in; of the latter the labels are not known. */
  readonly namespaces: KindListing<Namespace>
  /** Undefined where nodes are not known: none was given, or they could not be listed. */
  readonly nodes: readonly Node[] | undefined
  /** Pods that exist, or that a manifest describes. */
  readonly pods: KindListing<Pod>
  /** Whether a cluster was asked for its pods; else there may be others than those that are given. */
  readonly arePodsListed: boolean
  /** The pods that workloads will make, one per template. */
  readonly templates: KindListing<Pod>
  /** Pods and templates that no controller and no apply will make any more, each with why (`over`). No answer is about them. */
  readonly over: readonly Pod[]
  /** Objects of kinds that are not read, and that make pods or pools; left out if what they made is here. */
  readonly podMakers: readonly PodMaker[]
  /** Whether a policy or a webhook among the files may mount the Workload API in pods. */
  readonly mayMountWorkloadApi: boolean
  /** The rights that configurations of SPIRE among the files give to IDs. */
  readonly configuredRights: readonly ConfiguredRight[]
  /** How SPIRE's own parts among the files are set up. */
  readonly spireSetup: SpireSetup
  /** What these parts are made of, and kleym's operator. */
  readonly spireMakeup: SpireMakeup
  /** On which nodes SPIRE's agents run, as their own objects show it. */
  readonly agentNodes: AgentNodes
  /** What the API server does not take of manifests, by kind, namespace and name. */
  readonly manifestFaults: readonly ManifestFault[]
  readonly federatedTrustDomains: KindListing<FederatedTrustDomain>
  /** Undefined where they are not known: none was given, they could not be listed, or the answer does not ask for them. */
  readonly poolImports: readonly PoolImport[] | undefined
  /** Undefined where they are not known. */
  readonly endpoints: readonly Endpoints[] | undefined
  /** What may be there that is not here. */
  readonly rest: Rest
  /** The kinds that the API server says it does not serve, qualified. */
  readonly absentKinds: ReadonlySet<string>
  /** The namespaces that were looked into; undefined: all of them. */
  readonly namespacesRead: ReadonlySet<string> | undefined
}

/** Whether policies are known. `absent`: the kind is not served. `not given`: files only, and none of them a policy. */
export type PolicyKnowledge =
  | { readonly state: 'absent' }
  | { readonly state: 'not given' }
  /** Some may be there all the same; the policies that are there were read nevertheless. */
  | { readonly state: 'unknown'; readonly why: UnknownReason }
  /** `isInPart`: kinds of other programs that name identities were not asked for. */
  | { readonly state: 'known'; readonly isInPart?: true }

/** What a snapshot is made from. */
export interface SnapshotSource {
  readonly objects: readonly RawObject[]
  /** Objects of kinds that no answer reads, and that say how SPIRE and kleym run (`PART_KINDS`). */
  readonly beside?: readonly RawObject[]
  /** Of the state before a change: what of that, and of ConfigMaps, a comparison asks for and could not be read. */
  readonly unreadBeside?: UnreadParts
  /** Why the cluster may hold objects that are not here. */
  readonly gaps?: Gaps
  /** What documents that could not be read may hold; a gap of a whole kind is not repeated here. */
  readonly unread?: readonly UnreadObjects[]
  readonly absentKinds?: ReadonlySet<string>
  /** The kinds that were read whole, so that none here means that there is none; qualified. */
  readonly listedKinds?: ReadonlySet<string>
  readonly namespacesRead?: ReadonlySet<string>
  /**
   * The namespaces that are in question: bindings, pods, pools and objectives of others are left out, as if only these
   * had been looked into. All else stays.
   */
  readonly onlyNamespaces?: ReadonlySet<string>
  /** Whether the answer asks for the SPIFFE IDs in any string of any object. */
  readonly asksForMentions?: boolean
}

const FEDERATION = qualifiedKind(FEDERATED_TRUST_DOMAIN)
const IMPORTS = qualifiedKind(POOL_IMPORT)

/** Reads all objects; those of other kinds are left out. Never throws, and the order of the input does not matter. */
export function readSnapshot(source: SnapshotSource): Snapshot {
  return driveAtOnce(reading(source))
}

/** The same in steps, one for each pod. */
export function* reading(source: SnapshotSource): Steps<Snapshot> {
  const { objects, gaps = new Map(), unread, absentKinds = new Set(), listedKinds, onlyNamespaces } = source
  const { namespacesRead = onlyNamespaces } = source
  const ofSource = new Rest(gaps, unread)
  const isWithin = (namespace: string): boolean => onlyNamespaces?.has(namespace) !== false
  const byKind = Map.groupBy(objects, ({ value }) => kindKey(value))
  const of = (key: string): readonly RawObject[] => byKind.get(key) ?? []
  const readAll = <T>(key: string, reader: (raw: RawObject) => T): T[] => of(key).map((raw) => reader(raw))
  const inQuestion = (key: string): readonly RawObject[] =>
    onlyNamespaces === undefined ? of(key) : of(key).filter(({ value }) => isWithin(namespaceOf(value)))
  const readWithin = <T>(key: string, reader: (raw: RawObject) => T): T[] =>
    inQuestion(key).map((raw) => reader(raw))
  const isOfScope = ({ value }: RawObject): boolean => {
    const namespace = namespaceOf(value)
    return namespace === '' || isWithin(namespace)
  }
  const readPod = podReader()
  const pods: Pod[] = []
  for (const raw of inQuestion('Pod')) {
    yield
    pods.push(readPod(raw))
  }
  const toMake = expandedIn(objects)
  const workloads = withScale([...objects, ...toMake.made]).filter(({ value }) => isWorkload(value))
  const bindings = sortByMeta(readWithin(BINDINGS, (raw) => readBinding(raw, lifecycleOf(raw))))
  const pools = sortByMeta(
    POOL_KINDS.flatMap((kind) => [
      ...readWithin(qualifiedKind(kind), (raw) => readPool(raw, kind.group)),
      ...toMake.made
        .filter(({ value }) => kindKey(value) === qualifiedKind(kind) && isWithin(namespaceOf(value)))
        .map((raw) => readPool(raw, kind.group)),
    ]),
  )
  const clusterSpiffeIds = sortByMeta(
    readAll(qualifiedKind(CLUSTER_SPIFFE_ID), (raw) => readClusterSpiffeId(raw, lifecycleOf(raw))),
  )
  const staticEntries = sortByMeta(readAll(qualifiedKind(CLUSTER_STATIC_ENTRY), readClusterStaticEntry))
  const asked = labelsAskedFor(clusterSpiffeIds, staticEntries, pools)
  const metadata = metadataRead(clusterSpiffeIds, staticEntries)
  const numbers = asked.union(numbersAskedFor(metadata.labels, clusterSpiffeIds, staticEntries))
  const made = workloads.flatMap((raw) => readWorkloadPods(raw, numbers))
  const objectives = sortByMeta(
    OBJECTIVE_KINDS.flatMap((kind) =>
      readWithin(qualifiedKind(kind), (raw) => readObjective(raw, kind.group)),
    ),
  )
  /** Objects of a kind that an answer can do without: without one of them, the kind is not known. */
  const known = <T>(kind: string, reader: (raw: RawObject) => T): readonly T[] | undefined =>
    ofSource.ofKinds([kind]) !== undefined || (of(kind).length === 0 && listedKinds?.has(kind) !== true)
      ? undefined
      : readAll(kind, reader)
  const mesh = meshTrustOf(of('ConfigMap'))
  const mtlsOff = withoutMtls(of(PEER_AUTHENTICATION).map(({ value }) => value))
  const readPolicy = (raw: RawObject, kind: string): AccessPolicy => {
    if (!NAMING_KIND_NAMES.has(kind)) return readAccessPolicy(raw)
    const policy = policyOfNames(raw, namedIn(raw.value, kind, mesh))
    const off = kind === AUTHORIZATION_POLICY ? mtlsOff(policy.meta.namespace) : undefined
    return off === undefined ? policy : { ...policy, withoutMtls: off }
  }
  const policyPairs = POLICY_KINDS.flatMap(
    (kind) => of(kind).map((raw) => [raw, readPolicy(raw, kind)] as const),
    // A DestinationRule without a name is no policy: what its names may mean leaves nothing open.
  ).filter(([, { reading: how, rules }]) => how.kind !== 'names alone' || rules.length > 0)
  const outside = objects.flatMap((raw) =>
    raw.names === undefined ? [] : [policyOfNames(raw, { targets: [], action: undefined, rules: raw.names })],
  )
  const accessPolicies = sortByMeta([...policyPairs.map(([, policy]) => policy), ...outside])
  const objectiveKinds = OBJECTIVE_KINDS.filter((kind) => of(qualifiedKind(kind)).length > 0)
  const naming = [BINDINGS, 'Pod', ...[...POOL_KINDS, ...objectiveKinds].map(qualifiedKind)]
  const named = [
    ...naming.flatMap((kind) => of(kind).map(({ value }) => namespaceOf(value))),
    ...made.map(({ namespace }) => namespace),
    ...pools.map(({ meta }) => meta.namespace),
  ]
  const podChanges = objects.flatMap(({ podChange }) => podChange ?? [])
  const ofNamespaces = new AdmissionLabels(
    podChanges.filter(({ alone }) => alone !== 'pods'),
    namespaceLabelsAskedFor(clusterSpiffeIds).union(new Set(INJECTION_KEYS)),
  )
  const keysOf = (keys: ReadKeys): ReadonlySet<string> => (keys === 'all' ? keysNamedBy(podChanges) : keys)
  const ofPods = new AdmissionLabels(
    podChanges.filter(({ alone }) => alone !== 'namespaces'),
    // By which label variants differ is a setting, which a snapshot does not have.
    asked
      .union(keysOf(metadata.labels))
      .union(
        bindings.some(({ identityBoundary: one }) => one.ok && one.value !== undefined)
          ? keysNamedBy(podChanges)
          : new Set<string>(),
      ),
    keysOf(metadata.annotations),
  )
  const given = of('Namespace').map((raw) => {
    const one = readNamespace(raw)
    return lifecycleOf(raw) === 'live' ? one : ofNamespaces.namespace(one)
  })
  const namespaces = readNamespaces(given, named, ofSource)
  const byName = new Map(namespaces.map((namespace) => [namespace.name, namespace]))
  const sidecars = containersAskedFor(
    [
      ...clusterSpiffeIds.flatMap(({ spec }) => spec.workloadSelectorTemplates),
      ...staticEntries.flatMap(({ spec }) => spec.selectors),
    ],
    bindings.map(({ containerName }) => valueOf(containerName)),
  )
  const attested = attestedBy(
    agentConfigsIn(objects),
    ofSource.part([qualifiedKind(OPENSHIFT_AGENT)]) !== undefined,
  )
  const over: Pod[] = []
  const complete = (all: readonly Pod[]): readonly Pod[] =>
    all.flatMap((one) => {
      const namespace = byName.get(one.namespace)
      const pod = withinNamespace(one, namespace)
      if (pod.over === undefined)
        return [attested(withInjected(ofPods.pod(pod), namespace, sidecars), namespace)]
      over.push(pod)
      return []
    })
  const templates = sortByRef(complete(made))
  const { makers, unlisted } = podMakersIn(objects, [...byName.keys()], toMake.of)
  const rest = unlisted === undefined ? ofSource : new Rest(new Map([...gaps, ['*', unlisted]]), unread)
  const podMakers = makers
    .filter(
      ({ namespace, pods: perhaps }) => isWithin(namespace) || perhaps.some((pod) => isWithin(pod.namespace)),
    )
    .map((maker) => ({ ...maker, pods: complete(maker.pods) }))
  const read = {
    bindings,
    pools,
    objectives,
    clusterSpiffeIds,
    staticEntries,
    accessPolicies,
    mentioning: source.asksForMentions === true ? mentioningIn(objects, new Map(policyPairs)) : [],
    federatedTrustDomains: sortByMeta(readAll(FEDERATION, readFederatedTrustDomain)),
    namespaces,
    pods: sortByRef(complete(pods)),
    templates:
      onlyNamespaces === undefined ? templates : templates.filter(({ namespace }) => isWithin(namespace)),
  }
  return {
    ...listingsOf(read, {
      rest,
      podMakers,
      namespacesRead,
      isFederationListed: listedKinds?.has(FEDERATION) === true || absentKinds.has(FEDERATION),
    }),
    // A cluster was asked for some namespaces alone, perhaps: none there says nothing about what it serves.
    objectiveGroups: new Set(
      OBJECTIVE_KINDS.filter(
        (kind) => objectiveKinds.includes(kind) || listedKinds?.has(qualifiedKind(kind)),
      ).map(({ group }) => group),
    ),
    over: over.filter(({ namespace }) => isWithin(namespace)),
    accessPoliciesKnown: policyKnowledge(source, ofSource, accessPolicies.length > 0),
    nodes: known('Node', readNode)?.toSorted((a, b) => compareBytes(a.name, b.name)),
    arePodsListed: listedKinds?.has('Pod') === true,
    podMakers,
    mayMountWorkloadApi: podChanges.some(({ mountsWorkloadApi }) => mountsWorkloadApi),
    configuredRights: of('ConfigMap').flatMap(configuredRights),
    spireSetup: spireSetup(objects),
    spireMakeup: spireMakeup(objects, source.beside ?? [], source.unreadBeside),
    agentNodes: agentNodesIn(objects),
    manifestFaults: readManifestFaults(
      FIELD_CHECKED.flatMap((key) => of(key).filter(isOfScope)),
      byName,
    ),
    poolImports: absentKinds.has(IMPORTS)
      ? []
      : known(IMPORTS, readPoolImport)?.toSorted((a, b) => byNamespaceAndName(a.meta, b.meta)),
    endpoints: known('Endpoints', readEndpoints)?.toSorted(byNamespaceAndName),
    rest,
    absentKinds,
    namespacesRead,
  }
}

/** What a snapshot has listings of. */
export type Listed = Pick<
  Snapshot,
  | 'bindings'
  | 'pools'
  | 'objectives'
  | 'clusterSpiffeIds'
  | 'staticEntries'
  | 'accessPolicies'
  | 'mentioning'
  | 'federatedTrustDomains'
  | 'namespaces'
  | 'pods'
  | 'templates'
>

type ItemOf<Listing> = Listing extends KindListing<infer Item> ? Item : never

interface WithMeta {
  readonly meta: { readonly namespace: string; readonly name: string }
}

function metaOf({ meta }: WithMeta): WithMeta['meta'] {
  return meta
}

/** The listings of what was read, each in byte order already. */
export function listingsOf(
  read: { readonly [Key in keyof Listed]: readonly ItemOf<Listed[Key]>[] },
  {
    rest,
    podMakers,
    namespacesRead,
    isFederationListed = false,
  }: Pick<Snapshot, 'rest' | 'podMakers' | 'namespacesRead'> & { readonly isFederationListed?: boolean },
): Listed {
  const whyNoneGiven: UnknownReason | undefined =
    isFederationListed || read.federatedTrustDomains.length > 0
      ? undefined
      : { verb: 'list', what: FEDERATION, cause: 'not given' }
  const clusterWide = <T extends WithMeta>(items: readonly T[], kinds: readonly string[]): KindListing<T> =>
    new KindListing(items, (at) => rest.of(kinds, at), metaOf)
  const whyOutside = (namespace: string | undefined, kind: string): UnknownReason | undefined =>
    namespace === undefined || namespacesRead?.has(namespace) !== false
      ? undefined
      : { verb: 'list', what: kind, namespace, cause: 'not given' }
  const namespaced = <T extends WithMeta>(
    items: readonly T[],
    kinds: readonly string[],
    made: (namespace?: string) => UnknownReason | undefined = () => undefined,
  ): KindListing<T> =>
    new KindListing(
      items,
      (at) => rest.of(kinds, at) ?? made(at?.namespace) ?? whyOutside(at?.namespace, kinds[0] ?? ''),
      metaOf,
    )
  const ofPods = (items: readonly Pod[]): KindListing<Pod> =>
    new KindListing(
      items,
      (at) => rest.pods(at?.namespace) ?? whyOutside(at?.namespace, 'Pod'),
      ({ namespace, ref: { name } }) => ({ namespace, name }),
    )
  return {
    bindings: namespaced(read.bindings, [BINDINGS]),
    pools: namespaced(read.pools, POOL_KINDS.map(qualifiedKind), (namespace) =>
      madeInstead({ podMakers }, POOL_KIND, namespace),
    ),
    objectives: namespaced(read.objectives, OBJECTIVE_KINDS.map(qualifiedKind), (namespace) =>
      madeInstead({ podMakers }, OBJECTIVE_KIND, namespace),
    ),
    clusterSpiffeIds: clusterWide(read.clusterSpiffeIds, [qualifiedKind(CLUSTER_SPIFFE_ID)]),
    staticEntries: clusterWide(read.staticEntries, [qualifiedKind(CLUSTER_STATIC_ENTRY)]),
    accessPolicies: clusterWide(read.accessPolicies, POLICY_KINDS),
    mentioning: clusterWide(read.mentioning, POLICY_KINDS),
    federatedTrustDomains: new KindListing(
      read.federatedTrustDomains,
      () => rest.ofKinds([FEDERATION]) ?? whyNoneGiven,
      metaOf,
    ),
    namespaces: new KindListing(
      read.namespaces,
      (at) => rest.of('Namespace', at),
      ({ name }) => ({ namespace: '', name }),
    ),
    pods: ofPods(read.pods),
    templates: ofPods(read.templates),
  }
}

const BINDINGS = qualifiedKind(BINDING)
const AUTHORIZATION_POLICY = 'AuthorizationPolicy.security.istio.io'

/** The kinds whose manifests are held against their CRDs. */
const FIELD_CHECKED: readonly string[] = [
  BINDINGS,
  ...new Set(CRD_FIELDS.map(({ kind }) => qualifiedKind(kind))),
]

function readManifestFaults(
  objects: readonly RawObject[],
  namespaces: ReadonlyMap<string, Namespace>,
): readonly ManifestFault[] {
  const whyNoPlace = (raw: RawObject): string | undefined =>
    lifecycleOf(raw) === 'live' ? undefined : whyTakesNothing(namespaces.get(namespaceOf(raw.value)))
  return objects
    .flatMap((raw) => (raw.isManifest === true ? (manifestFault(raw, whyNoPlace(raw)) ?? []) : []))
    .toSorted(
      (a, b) => compareBytes(qualifiedKind(a.kind), qualifiedKind(b.kind)) || byNamespaceAndName(a, b),
    )
}

/** The namespace as every reader here reads it. */
function namespaceOf(value: JsonRecord): string {
  return stringAt(value, 'metadata', 'namespace') ?? ''
}

/**
 * The trust domain of the mesh if a ConfigMap of Istio shows one, and several the same. One in another namespace counts for nothing: a
 * tenant may have written it.
 */
function meshTrustOf(configMaps: readonly RawObject[]): MeshTrust | undefined {
  const found = configMaps.flatMap(({ value }) => {
    const { namespace, name } = readMeta(value)
    const isOfMesh = namespace === ISTIO_NAMESPACE && /^istio(?:-|$)/.test(name)
    const text = isOfMesh ? stringAt(value, 'data', 'mesh') : undefined
    return text === undefined ? [] : [meshTrustIn(text)]
  })
  const [first] = found
  return new Set(found.map((one) => JSON.stringify(one))).size === 1 ? first : undefined
}

/** The objects whose strings hold SPIFFE IDs beside those that their kind is read for; one that stands in several files once for each. */
function mentioningIn(
  objects: readonly RawObject[],
  read: ReadonlyMap<RawObject, AccessPolicy>,
): readonly AccessPolicy[] {
  const found = objects.flatMap((raw) => {
    const rules = raw.mentions ?? mentionRules(raw.value, read.get(raw)?.rules)
    return rules.length === 0 ? [] : [policyOfNames(raw, { targets: [], action: undefined, rules })]
  })
  return found.toSorted((a, b) => compareBytes(a.kind, b.kind) || compareBytes(a.key, b.key))
}

/** Whether the policies of a source are all that there are. Files that hold none of them say nothing about policies. */
function policyKnowledge(
  { absentKinds, listedKinds }: SnapshotSource,
  rest: Rest,
  some: boolean,
): PolicyKnowledge {
  const why = some ? rest.of(POLICY_KINDS) : rest.ofKinds(POLICY_KINDS)
  if (why !== undefined) return { state: 'unknown', why }
  const isAsked = (kind: string): boolean =>
    listedKinds?.has(kind) !== false || absentKinds?.has(kind) === true
  if (some || POLICY_KINDS.some((kind) => listedKinds?.has(kind) === true))
    return { state: 'known', ...(!POLICY_KINDS.every(isAsked) && { isInPart: true }) }
  return { state: absentKinds?.has(qualifiedKind(ACCESS_POLICY_KIND)) === true ? 'absent' : 'not given' }
}

/** An object that carries a UID is in a cluster, or in a dump of one; any other is a manifest. */
export function lifecycleOf({ value }: RawObject): Lifecycle {
  return (stringAt(value, 'metadata', 'uid') ?? '') === '' ? 'to be created' : 'live'
}

/** Why a pool or an objective that is not there, in a namespace or in any, may be made by a controller; undefined: none makes such. */
function madeInstead(
  { podMakers }: Pick<Snapshot, 'podMakers'>,
  kind: string,
  namespace?: string,
): UnknownReason | undefined {
  const maker = podMakers.find(
    (one) => one.makesPools && (namespace === undefined || one.namespace === namespace),
  )
  return maker === undefined ? undefined : madeBy(maker, `the ${kind}s`)
}

/** Why there may be more objects of some kinds, qualified, than were read: they were not read, or a controller makes them; undefined: that is all. */
export function whyMoreOf(snapshot: Snapshot, kinds: readonly string[]): UnknownReason | undefined {
  const { rest, pools, objectives } = snapshot
  const isOneOf = (all: readonly Kind[]): boolean => all.some((one) => kinds.includes(qualifiedKind(one)))
  return (
    rest.of(kinds) ??
    (isOneOf(POOL_KINDS) ? pools.more() : undefined) ??
    (isOneOf(OBJECTIVE_KINDS) ? objectives.more() : undefined)
  )
}

/** Looks references up in a snapshot. */
export function referencesIn(snapshot: Snapshot): References {
  return {
    pool: lookupAmong(snapshot, POOL_KINDS, snapshot.pools),
    objective: lookupAmong(snapshot, OBJECTIVE_KINDS, snapshot.objectives),
  }
}

/** Looks up objects of kinds that differ in their groups alone. What is in no group may be made by a controller that makes such objects. */
function lookupAmong<Group extends string, T extends WithMeta & { readonly group: Group }>(
  snapshot: Snapshot,
  kinds: readonly [Kind, ...Kind[]],
  { read }: KindListing<T>,
): (group: Group, namespace: string, name: string) => Lookup<T> {
  const byKey = new Map(read.map((one) => [refKey(one.group, one.meta.namespace, one.meta.name), one]))
  const [{ kind }] = kinds
  return (group, namespace, name) => {
    const wanted = { kind: qualifiedKind({ kind, group }), namespace, name }
    const found = lookup(snapshot, byKey.get(refKey(group, namespace, name)), wanted)
    const isElsewhere = kinds.some((one) => byKey.has(refKey(one.group, namespace, name)))
    const why = found.state !== 'absent' || isElsewhere ? undefined : madeInstead(snapshot, kind, namespace)
    return why === undefined ? found : { state: 'unknown', why }
  }
}

function refKey(group: string, namespace: string, name: string): string {
  return `${group}\n${namespace}\n${name}`
}

/** Looks a binding up by a text that should be its key, such as an annotation. */
export function bindingsIn(snapshot: Snapshot): (text: string) => Lookup<Binding> {
  const bindings = new Map<string, Binding>(snapshot.bindings.read.map((binding) => [binding.key, binding]))
  return (text) => {
    const found = bindings.get(text)
    // A binding that may be other than it was read is there all the same.
    if (found !== undefined) return { state: 'found', object: found }
    return lookup<Binding>(snapshot, undefined, {
      kind: BINDINGS,
      namespace: namespaceWritten(text),
      name: undefined,
    })
  }
}

/** Whether objectives of llm-d's group are served: then its endpoint picker ignores those of the older group. */
export function servesLlmD(snapshot: Snapshot): boolean {
  return snapshot.objectiveGroups.has(LLM_D_GROUP)
}

function unknownLabels(name: string): Namespace {
  return namespaceNamed(name, new Map(), false)
}

function readNamespaces(
  given: readonly Namespace[],
  named: readonly string[],
  rest: Rest,
): readonly Namespace[] {
  const namespaces = new Map(
    given.map((one) => [
      one.name,
      rest.part(['Namespace'], { name: one.name }) === undefined ? one : unknownLabels(one.name),
    ]),
  )
  for (const name of named)
    if (name !== '' && !namespaces.has(name)) namespaces.set(name, unknownLabels(name))
  return [...namespaces.values()].toSorted((a, b) => compareBytes(a.name, b.name))
}

/** The object that a reference names. */
interface Wanted {
  /** Qualified. */
  readonly kind: string
  readonly namespace: string
  /** Undefined: whichever it may be. */
  readonly name: string | undefined
}

function lookup<T>(snapshot: Snapshot, object: T | undefined, wanted: Wanted): Lookup<T> {
  const { rest, absentKinds, namespacesRead } = snapshot
  const { kind, namespace, name } = wanted
  if (object !== undefined) {
    // It stands twice in the files.
    const doubled = rest.part([kind], wanted, (one) => one.name === name && one.namespace === namespace)
    return doubled === undefined || name === undefined
      ? { state: 'found', object }
      : { state: 'unknown', why: doubled.why }
  }
  if (absentKinds.has(kind)) return { state: 'kind absent' }
  const why = rest.of(kind, wanted)
  if (why !== undefined) return { state: 'unknown', why }
  if (namespacesRead?.has(namespace) === false)
    return { state: 'unknown', why: { verb: 'list', what: kind, namespace, cause: 'not given' } }
  return { state: 'absent' }
}

/** In byte order of namespace and name. */
export function sortByMeta<T extends WithMeta>(items: readonly T[]): readonly T[] {
  return items.toSorted((a, b) => byNamespaceAndName(a.meta, b.meta))
}

/** Those of a namespace come in this order from a cluster: a hundred thousand are gone through before they are sorted. */
function sortByRef(pods: readonly Pod[]): readonly Pod[] {
  return [...Map.groupBy(pods, ({ namespace }) => namespace)].toSorted(compareKeys).flatMap(([, own]) => {
    const isSorted = own.every((pod, at) => at === 0 || compareRefs(own[at - 1] ?? pod, pod) <= 0)
    return isSorted ? own : own.toSorted(compareRefs)
  })
}

/** Of pods of one namespace. */
function compareRefs(a: Pod, b: Pod): number {
  return (
    compareBytes(a.ref.kind, b.ref.kind) ||
    compareBytes(a.ref.name, b.ref.name) ||
    compareBytes(a.part, b.part)
  )
}
