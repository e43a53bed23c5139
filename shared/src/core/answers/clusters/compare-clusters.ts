// Compares several clusters: SPIFFE IDs that two of them give, with the sources and the policies that name these IDs; the trust
// domains with which each cluster federates; and the pools that it imports. Clusters of one trust domain share its IDs: no peer
// can tell their workloads apart.
import { groupsBy, onceBy, type Group } from '../../base/groups.ts'
import type { Analysis, Naming } from '../../analysis/index.ts'
import { policyName } from '../../analysis/index.ts'
import { finding, notCertain, relationshipsOf, type Finding } from '../../findings/index.ts'
import { getOrCreate } from '../../base/get-or-create.ts'
import { counted, NameSummary } from '../../base/text/counted.ts'
import { mayMeet } from '../../base/go/template/mentions.ts'
import { beginningWith, compareBytes, compareKeys } from '../../base/text/bytes.ts'
import type { Drive } from '../../base/steps.ts'
import {
  federatedWith,
  foreignDomains,
  NODE_UID,
  POD_UID,
  sourceText,
  type EntrySource,
} from '../../predict/index.ts'
import { POOL_GROUPS, POOL_IMPORT, qualifiedKind } from '../../model/kinds.ts'
import type { UnknownReason } from '../../model/unknown-reason.ts'
import { referencesIn } from '../../snapshot/index.ts'
import { subjectText } from '../../model/objects/subject.ts'
import { givenIds, hasHole, isCertain, type GivenIds, type Giver } from './given-ids.ts'

/** A cluster, under the name that the question has for it. */
export interface NamedCluster {
  readonly name: string
  readonly analysis: Analysis
}

/** What gives an ID in one of the clusters. */
export interface GivenIn {
  readonly cluster: string
  readonly givers: readonly Giver[]
}

/** A rule of a policy that names an ID. */
export interface NamingPolicy {
  readonly cluster: string
  /** `AuthorizationPolicy team-a/allow`. */
  readonly policy: string
  readonly way: Naming['way']
}

/** An ID that more than one cluster gives, or may give. */
export interface SharedId {
  readonly spiffeId: string
  readonly in: readonly GivenIn[]
  readonly namedBy: readonly NamingPolicy[]
  /** Whether two of the clusters certainly give it. */
  readonly isCertain: boolean
}

/** A trust domain whose bundle the registrations of a cluster ask for. */
export interface Federation {
  readonly trustDomain: string
  /** By `sourceText`. */
  readonly by: readonly string[]
  /** Whether a ClusterFederatedTrustDomain that SCM handles declares it; undefined: not known. */
  readonly isDeclared: boolean | undefined
  /** Those of the other clusters that are of that trust domain. */
  readonly clusters: readonly string[]
}

/** A pool that a cluster imports: it has no pods there, and its bindings stand where it is exported. */
export interface ImportedPool {
  /** `team-a/llama`. */
  readonly pool: string
  /** By its status, under names that need not be those of the question. */
  readonly exportedBy: readonly string[]
  /** Those of the other clusters that have a pool of that name, and the IDs of its bindings there. */
  readonly foundIn: readonly { readonly cluster: string; readonly spiffeIds: readonly string[] }[]
  /** Those of the other clusters that may have it: their pools were not read. */
  readonly perhapsIn: readonly string[]
}

/** One of the clusters. */
export interface ComparedCluster {
  readonly name: string
  /** Undefined: not known, and then no ID of its bindings can be compared. */
  readonly trustDomain: string | undefined
  /** How many IDs it gives. */
  readonly ids: number
  /** What may give an ID of another of the clusters, since kleym cannot tell which it gives; by `sourceText`, in byte order. */
  readonly unfollowed: readonly string[]
  readonly federations: readonly Federation[]
  /** Undefined: they could not be listed. */
  readonly imports: readonly ImportedPool[] | undefined
  /** Why they could not; of files without any it is not asked. */
  readonly importsUnread: UnknownReason | undefined
}

/** Several clusters, compared. */
export interface ClustersComparison {
  readonly clusters: readonly ComparedCluster[]
  /** In byte order of the IDs. */
  readonly shared: readonly SharedId[]
}

/** Compares clusters; there are two at least. */
export function compareClusters(clusters: readonly NamedCluster[], drive: Drive): ClustersComparison {
  const given = clusters.map(({ name, analysis }) => ({ name, ...drive(givenIds(analysis.settled)) }))
  const shared = sharedIds(given).map((one) => ({ ...one, namedBy: policiesNaming(one.spiffeId, clusters) }))
  return {
    shared,
    clusters: clusters.map((one, at) => ({
      name: one.name,
      trustDomain: trustDomainOf(one),
      ids: given[at]?.ids.size ?? 0,
      unfollowed: isAlone(one, clusters) ? [] : [...(given[at]?.unfollowed ?? [])].toSorted(compareBytes),
      federations: federationsOf(one, clusters),
      imports: importsOf(one, clusters),
      importsUnread: one.analysis.snapshot.rest.of(qualifiedKind(POOL_IMPORT)),
    })),
  }
}

/** kleym's trust domain, else SCM's: both are needed to compare all IDs. */
export function trustDomainOf({
  analysis: { config, settings },
}: Pick<NamedCluster, 'analysis'>): string | undefined {
  return config.trustDomain.kind === 'set' ? config.trustDomain.value : settings.trustDomain
}

/** The trust domains of kleym and of SCM: one that is set wrong does not hide what the other gives. */
function domainsOf(one: NamedCluster): ReadonlySet<string | undefined> {
  const own = trustDomainOf(one)
  return new Set([own, one.analysis.settings.trustDomain ?? own])
}

/** Whether no other cluster may be of a trust domain of this one: SCM gives IDs of its own alone. */
function isAlone(one: NamedCluster, clusters: readonly NamedCluster[]): boolean {
  const own = domainsOf(one)
  return clusters.every((other) => {
    const theirs = domainsOf(other)
    return other === one || (!own.has(undefined) && !theirs.has(undefined) && own.isDisjointFrom(theirs))
  })
}

function sharedIds(
  clusters: readonly { readonly name: string; readonly ids: GivenIds }[],
): readonly Omit<SharedId, 'namedBy'>[] {
  const all = new Map<string, GivenIn[]>()
  for (const { name, ids } of clusters)
    for (const [spiffeId, givers] of ids) getOrCreate(all, spiffeId, () => []).push({ cluster: name, givers })
  addThoseThatMayBecome(all)
  return [...all]
    .filter(([, list]) => list.length > 1)
    .toSorted(compareKeys)
    .map(([spiffeId, list]) => ({
      spiffeId,
      in: list,
      isCertain: list.filter(({ givers }) => givers.some(isCertain)).length > 1,
    }))
}

/**
 * Adds to each ID the clusters that give an ID with an unknown part, if it may become this ID. A UID belongs to one cluster
 * only.
 */
function addThoseThatMayBecome(all: ReadonlyMap<string, GivenIn[]>): void {
  const sorted = [...all.keys()].toSorted(compareBytes)
  const open = sorted.filter((id) => hasHole(id) && !id.includes(POD_UID) && !id.includes(NODE_UID))
  const before = new Map(open.map((id) => [id, [...(all.get(id) ?? [])]]))
  for (const [pattern, given] of before) {
    const start = pattern.slice(0, pattern.indexOf('<'))
    for (const id of beginningWith(start, sorted)) {
      const list = all.get(id)
      if (id === pattern || list === undefined || !mayMeet(pattern, id)) continue
      list.push(...given.filter(({ cluster }) => list.every((one) => one.cluster !== cluster)))
    }
  }
}

function policiesNaming(spiffeId: string, clusters: readonly NamedCluster[]): readonly NamingPolicy[] {
  return clusters.flatMap(({ name, analysis }) => {
    const { namings, mentions, inTexts } = analysis.settled.policies().namedBy([spiffeId], [])
    const rules = [
      ...namings.filter(({ way }) => way !== 'unbounded'),
      ...[...mentions, ...inTexts].map(({ policy }) => ({ policy, way: 'perhaps' as const })),
    ]
    const named = rules.map(({ policy, way }) => ({
      cluster: name,
      policy: `${policy.kind} ${policyName(policy)}`,
      way,
    }))
    return onceBy(named, ({ policy }) => policy)
  })
}

function federationsOf(
  { name, analysis }: NamedCluster,
  clusters: readonly NamedCluster[],
): readonly Federation[] {
  const { settings, settled } = analysis
  const asking = new Map<string, Set<string>>()
  const add = (source: EntrySource, domains: readonly string[]): void => {
    for (const domain of foreignDomains(federatedWith(domains), settings))
      getOrCreate(asking, domain, () => new Set()).add(sourceText(source))
  }
  for (const { object } of settled.outputs)
    add({ kind: 'ClusterSPIFFEID', name: object.meta.name }, object.spec.federatesWith)
  for (const { source, entry } of settled.prediction().staticEntries())
    add(source, entry?.federatesWith ?? [])
  const relationshipWith = relationshipsOf(analysis)
  return [...asking].toSorted(compareKeys).map(([trustDomain, by]) => ({
    trustDomain,
    by: [...by].toSorted(compareBytes),
    isDeclared: isDeclared(relationshipWith(trustDomain).state),
    clusters: clusters
      .filter((one) => one.name !== name && trustDomainOf(one) === trustDomain)
      .map((one) => one.name),
  }))
}

function isDeclared(state: ReturnType<ReturnType<typeof relationshipsOf>>['state']): boolean | undefined {
  return state === 'unknown' ? undefined : state === 'declared'
}

function importsOf(
  { name, analysis }: NamedCluster,
  clusters: readonly NamedCluster[],
): readonly ImportedPool[] | undefined {
  const others = clusters.filter((one) => one.name !== name)
  return analysis.snapshot.poolImports?.map(({ meta, exportedBy }) => ({
    pool: `${meta.namespace}/${meta.name}`,
    exportedBy,
    perhapsIn: others.filter((one) => hasPool(one, meta) === undefined).map((one) => one.name),
    foundIn: others
      .filter((one) => hasPool(one, meta) === true)
      .map((one) => {
        const { namespace, name: poolName } = meta
        const keys = new Set<string>(
          one.analysis.compiled
            .map(({ binding }) => binding)
            .filter(
              (binding) =>
                binding.meta.namespace === namespace &&
                binding.poolRef.ok &&
                binding.poolRef.value.name === poolName,
            )
            .map(({ key }) => key),
        )
        const ids = one.analysis.settled.outputs.flatMap(({ object, ownership }) =>
          ownership.kind === 'ours' && keys.has(ownership.binding) ? [object.spec.spiffeIDTemplate] : [],
        )
        return { cluster: one.name, spiffeIds: ids.toSorted(compareBytes) }
      }),
  }))
}

/** Whether a cluster has a pool of that name; undefined: its pools were not read. */
function hasPool(
  { analysis }: NamedCluster,
  { namespace, name }: { readonly namespace: string; readonly name: string },
): boolean | undefined {
  const references = referencesIn(analysis.snapshot)
  const states = new Set(POOL_GROUPS.map((group) => references.pool(group, namespace, name).state))
  if (states.has('found')) return true
  return states.has('unknown') ? undefined : false
}

/** The findings of a comparison: one for all IDs that the same objects give in the same clusters. */
export function clusterFindings({ shared }: ClustersComparison): readonly Finding[] {
  const groups = groupsBy(shared, (one) =>
    JSON.stringify([
      one.isCertain,
      one.in.map(({ cluster, givers }) => [cluster, givers.map(({ text }) => text)]),
    ]),
  )
  return groups.flatMap((group) => findingOf(group) ?? [])
}

function findingOf(group: Group<SharedId>): Finding | undefined {
  const [first] = group
  const [subject, ...related] = distinctSubjects(first)
  if (subject === undefined) return undefined
  const ids = new NameSummary()
  for (const { spiffeId } of group) ids.add(spiffeId)
  const names = listText(first.in.map(({ cluster }) => cluster))
  const what =
    group.length === 1
      ? `${first.spiffeId} ${first.isCertain ? 'is' : 'may be'} given`
      : `${group.length} SPIFFE IDs ${first.isCertain ? 'are' : 'may be'} given`
  const named = [
    ...new Set(
      group.flatMap(({ namedBy }) => namedBy.map(({ cluster, policy }) => `${cluster}: ${policy} names it`)),
    ),
  ].toSorted(compareBytes)
  const one = finding('KLM309', {
    subject,
    related,
    summary: `${what} in clusters ${names}`,
    evidence: [
      ...(group.length === 1 ? [] : [ids.text()]),
      ...first.in.flatMap(({ cluster, givers }) =>
        givers.map((giver) => `${cluster}: ${giverText(giver, group.length === 1)}`),
      ),
      ...named.slice(0, NAMED_MAX),
      ...(named.length > NAMED_MAX ? [`and ${named.length - NAMED_MAX} more policies`] : []),
    ],
  })
  return first.isCertain
    ? one
    : notCertain(one, ['which identities containers hold'], 'depends: one of the clusters may not give it')
}

const NAMED_MAX = 10

/** What gives an ID in a cluster, and to how many containers. */
function giverText({ text, containers, perhaps }: Giver, withCounts = true): string {
  if (!withCounts) return text
  const held = containers === 0 && perhaps > 0 ? '' : `, held by ${counted(containers, 'container')}`
  const open = perhaps === 0 ? '' : `, perhaps by ${counted(perhaps, 'container')}`
  return `${text}${held}${open}`
}

function distinctSubjects(one: SharedId | undefined): readonly Giver['subject'][] {
  const all = one?.in.flatMap(({ givers }) => givers.map(({ subject }) => subject)) ?? []
  return onceBy(all, subjectText)
}

function listText(names: readonly string[]): string {
  return `${names.slice(0, -1).join(', ')} and ${names.at(-1) ?? ''}`
}
