// Which claims meet: the same namespace, service account and container, and label sets that are equal or contain one
// another (docs/contract.md §6). Claims with equal labels share a group. Which groups overlap is found at the first question,
// through one label of each: a list of all overlaps would be as long as the square of the claims (2,500 wide label sets and
// 2,500 narrow ones have 6.25 million), and what is kept here is linear in the claims.
import { getOrCreate } from '../../base/get-or-create.ts'
import { compareBytes, compareKeys } from '../../base/text/bytes.ts'
import type { PoolLabels } from '../../model/objects/pool-selector.ts'
import { ANY, type Claim } from './claim.ts'

/**
 * How the pods of one claim stand to another's: the same, or all pods of the one are among the pods of the other. Fewer
 * labels choose more pods: `{app: llama}` Contains `{app: llama, region: eu}`.
 */
export type Relation = 'SamePods' | 'Contains' | 'ContainedBy'

/** A group that shares pods with another; `relation` is how the other's pods stand to this one's. */
export interface Overlap<Group> {
  readonly relation: Relation
  readonly group: Group
}

/** Claims with one namespace, service account, container and label set, in byte order of their owners. */
export interface ClaimGroup {
  readonly labels: PoolLabels
  readonly claims: readonly Claim[]
  /** The declared ones among them. */
  readonly declared: readonly Claim[]
}

/** The declared claims of a group and of those that it overlaps. */
export interface PeerRows {
  readonly rows: readonly PeerRow[]
  /** How many claims there are in all rows. */
  readonly count: number
}

/** Declared claims whose pods stand in one relation to a group's, in byte order of their owners. */
export interface PeerRow {
  readonly relation: Relation
  readonly claims: readonly Claim[]
}

interface MutableClaimGroup extends ClaimGroup {
  readonly container: ClaimedContainer
  /** The label under which larger label sets look for it: its rarest when it was added; empty for the empty set. */
  indexLabel: string
  claims: Claim[]
  declared: Claim[]
}

/** The groups of one namespace, service account and container; mostly there is one. */
interface ClaimedContainer {
  readonly key: string
  readonly groups: Map<string, MutableClaimGroup>
  /** How a further group finds those that it overlaps; undefined until there is a second group. */
  labelIndex: LabelIndex | undefined
  /** Rows of groups that have many claims themselves, until a claim of the container is added or removed. */
  rows: Map<MutableClaimGroup, PeerRows> | undefined
  /** The latest answer, until a group is added or removed: one decision asks for the same group more than once. */
  latest: { readonly group: MutableClaimGroup; readonly overlaps: readonly MutableOverlap[] } | undefined
}

type MutableOverlap = Overlap<MutableClaimGroup>

/**
 * Rows are kept where they hold at most this many claims for each declared claim of their group, so that all kept rows
 * together are linear in the claims. Other rows are found anew for each question.
 */
const KEPT_PER_CLAIM = 128

/** The groups of a container by their labels, each label as `labelKeysOf` writes it. */
interface LabelIndex {
  /** Every group under each of its labels. */
  readonly byLabel: Map<string, Groups>
  /** Every group under one of its labels, `indexLabel`. */
  readonly byIndexLabel: Map<string, Groups>
}

/** Most labels have one group, and a set of one takes 300 bytes. */
type Groups = MutableClaimGroup | Set<MutableClaimGroup>

/** Claims that come and go: a snapshot's all at once, the operator's one by one. */
export class ClaimIndex {
  readonly #containers = new Map<string, ClaimedContainer>()
  // A caller that asks about a claim mostly holds the very object that was indexed: this spares serialising its labels.
  readonly #groupOfClaim = new Map<Claim, MutableClaimGroup>()
  readonly #labelsKeys = new WeakMap<PoolLabels, string>()
  #wildcardClaims: Claim[] = []

  /** Live claims on any namespace, service account or container: too few to be worth an index. */
  get wildcardClaims(): readonly Claim[] {
    return this.#wildcardClaims
  }

  /** All groups, in a total order. */
  get groups(): readonly ClaimGroup[] {
    return [...this.#containers.values()]
      .toSorted((a, b) => compareBytes(a.key, b.key))
      .flatMap(({ groups }) => [...groups].toSorted(compareKeys).map(([, group]) => group))
  }

  /** All groups, unsorted: sorting takes most of the time of a walk over all groups. */
  *unsorted(): Iterable<ClaimGroup> {
    for (const { groups } of this.#containers.values()) yield* groups.values()
  }

  /** Adds a claim; the same object only once. */
  add(claim: Claim): void {
    if (isWildcard(claim)) {
      this.#wildcardClaims = withClaim(this.#wildcardClaims, claim)
      return
    }
    const key = containerKey(claim)
    const container = getOrCreate(this.#containers, key, () => newContainer(key))
    const { labels } = claim
    const group = getOrCreate(container.groups, this.#labelsKey(labels), () => addGroup(container, labels))
    group.claims = withClaim(group.claims, claim)
    if (claim.basis === 'declared') group.declared = withClaim(group.declared, claim)
    this.#groupOfClaim.set(claim, group)
    container.rows = undefined
  }

  /** Removes a claim that was added, by the same object. */
  remove(claim: Claim): void {
    if (isWildcard(claim)) {
      withdraw(this.#wildcardClaims, claim)
      return
    }
    const group = this.#groupOfClaim.get(claim)
    if (group === undefined) return
    this.#groupOfClaim.delete(claim)
    withdraw(group.claims, claim)
    if (claim.basis === 'declared') withdraw(group.declared, claim)
    group.container.rows = undefined
    if (group.claims.length > 0) return
    removeGroup(group)
    if (group.container.groups.size === 0) this.#containers.delete(group.container.key)
  }

  /** The group of a claim, by value; undefined where no claim of its container has its labels. */
  groupOf(claim: Claim): ClaimGroup | undefined {
    return this.#mutableGroupOf(claim)
  }

  /** The groups that a claim of this value meets, whether or not one of its labels is in the index. */
  meeting(claim: Claim): readonly ClaimGroup[] {
    const container = this.#containers.get(containerKey(claim))
    if (container === undefined) return []
    const { labels } = claim
    const group = container.groups.get(this.#labelsKey(labels))
    if (group !== undefined) return overlapsOf(group).map((overlap) => overlap.group)
    if (container.labelIndex === undefined)
      return [...container.groups.values()].filter((other) => relationOf(labels, other.labels) !== undefined)
    // The first that is found is the group itself, which is not there.
    const absent: MutableClaimGroup = { container, labels, indexLabel: '', claims: [], declared: [] }
    return findOverlaps(absent, container.labelIndex)
      .slice(1)
      .map((overlap) => overlap.group)
  }

  /** Names the container and label set of a claim. */
  placeOf(claim: Claim): string {
    return `${containerKey(claim)}\n${this.#labelsKey(claim.labels)}`
  }

  /** The groups that share pods with that of a claim, its own first; empty where `groupOf` finds none. */
  overlapsOf(claim: Claim): readonly Overlap<ClaimGroup>[] {
    const group = this.#mutableGroupOf(claim)
    return group === undefined ? [] : overlapsOf(group)
  }

  /** The declared claims that a claim of this value meets, itself included. Not to be kept: they are many. */
  rowsOf(claim: Claim): PeerRows | undefined {
    const group = this.#mutableGroupOf(claim)
    if (group === undefined) return undefined
    const { container } = group
    const kept = container.rows?.get(group)
    if (kept !== undefined) return kept
    const rows = plainRowsOf(group)
    // A group that overlaps no other has one row, which needs no merging.
    if (rows.rows.length === 1 || rows.count > KEPT_PER_CLAIM * group.declared.length) return rows
    const merged = mergedRows(group, rows)
    container.rows ??= new Map()
    container.rows.set(group, merged)
    return merged
  }

  /** Of the bindings of a pool, all have the same labels: their text is put together once. */
  #labelsKey(labels: PoolLabels): string {
    return getOrCreate(this.#labelsKeys, labels, () => labelsKey(labels))
  }

  #mutableGroupOf(claim: Claim): MutableClaimGroup | undefined {
    return (
      this.#groupOfClaim.get(claim) ??
      this.#containers.get(containerKey(claim))?.groups.get(this.#labelsKey(claim.labels))
    )
  }
}

/** Indexes claims, which may come in any order. */
export function indexClaims(claims: Iterable<Claim>): ClaimIndex {
  const index = new ClaimIndex()
  // In order, so that each is inserted at the end of its group.
  for (const claim of [...claims].toSorted(compareClaims)) index.add(claim)
  return index
}

/** A row for each group that overlaps this one. */
function plainRowsOf(group: MutableClaimGroup): PeerRows {
  const rows = overlapsOf(group).map(({ relation, group: other }) => ({ relation, claims: other.declared }))
  return { rows, count: rows.reduce((sum, { claims }) => sum + claims.length, 0) }
}

/**
 * Each declared claim of the group will go through its rows: where it has many claims and overlaps many groups, as a wide
 * label set over thousands of narrow ones, the groups of one relation are merged into one row.
 */
function mergedRows(group: MutableClaimGroup, { rows, count }: PeerRows): PeerRows {
  if (count > group.declared.length * rows.length) return { rows, count }
  const byRelation = Map.groupBy(rows, ({ relation }) => relation)
  const merged = [...byRelation].map(([relation, alike]) => ({
    relation,
    claims: alike.flatMap(({ claims }) => claims).toSorted(compareClaims),
  }))
  return { rows: merged, count }
}

/** How the pods of one label set stand to another's; undefined when nothing is provable from the labels. */
export function relationOf(own: PoolLabels, other: PoolLabels): Relation | undefined {
  if (own.size === other.size) return isSubset(own, other) ? 'SamePods' : undefined
  if (own.size < other.size) return isSubset(own, other) ? 'Contains' : undefined
  return isSubset(other, own) ? 'ContainedBy' : undefined
}

function newContainer(key: string): ClaimedContainer {
  return { key, groups: new Map(), labelIndex: undefined, rows: undefined, latest: undefined }
}

function addGroup(container: ClaimedContainer, labels: PoolLabels): MutableClaimGroup {
  const group: MutableClaimGroup = { container, labels, indexLabel: '', claims: [], declared: [] }
  container.latest = undefined
  if (container.groups.size > 0) indexGroup((container.labelIndex ??= labelIndexOf(container)), group)
  return group
}

/** The groups of the container that share pods with this one: itself, those that it contains, those that contain it. */
function overlapsOf(group: MutableClaimGroup): readonly MutableOverlap[] {
  const { container } = group
  if (container.labelIndex === undefined) return [{ relation: 'SamePods', group }]
  if (container.latest?.group === group) return container.latest.overlaps
  const overlaps = findOverlaps(group, container.labelIndex)
  container.latest = { group, overlaps }
  return overlaps
}

function findOverlaps(group: MutableClaimGroup, index: LabelIndex): readonly MutableOverlap[] {
  const { container, labels } = group
  const overlaps: MutableOverlap[] = [{ relation: 'SamePods', group }]
  const labelKeys = labelKeysOf(labels)
  const rarest = rarestOf(index, labelKeys)
  // Whatever contains this label set has all of its labels, the rarest too.
  const larger = rarest === undefined ? container.groups.values() : groupsUnder(index.byLabel, rarest)
  for (const other of larger) {
    if (isProperSubset(labels, other.labels)) overlaps.push({ relation: 'Contains', group: other })
  }
  // Whatever this label set contains stands under one of its labels.
  for (const key of [...labelKeys, '']) {
    for (const other of groupsUnder(index.byIndexLabel, key)) {
      if (isProperSubset(other.labels, labels)) overlaps.push({ relation: 'ContainedBy', group: other })
    }
  }
  return overlaps
}

/** Indexes the groups that a container has when its second one is added. */
function labelIndexOf({ groups }: ClaimedContainer): LabelIndex {
  const index: LabelIndex = { byLabel: new Map(), byIndexLabel: new Map() }
  for (const group of groups.values()) indexGroup(index, group)
  return index
}

function indexGroup(index: LabelIndex, group: MutableClaimGroup): void {
  const labelKeys = labelKeysOf(group.labels)
  group.indexLabel = rarestOf(index, labelKeys) ?? ''
  for (const key of labelKeys) putUnder(index.byLabel, key, group)
  putUnder(index.byIndexLabel, group.indexLabel, group)
}

function removeGroup(group: MutableClaimGroup): void {
  const { container } = group
  container.latest = undefined
  if (container.labelIndex !== undefined) {
    for (const key of labelKeysOf(group.labels)) dropFrom(container.labelIndex.byLabel, key, group)
    dropFrom(container.labelIndex.byIndexLabel, group.indexLabel, group)
  }
  container.groups.delete(labelsKey(group.labels))
}

function rarestOf(index: LabelIndex, labelKeys: readonly string[]): string | undefined {
  const holders = (key: string): number => {
    const groups = index.byLabel.get(key)
    return groups instanceof Set ? groups.size : Number(groups !== undefined)
  }
  return labelKeys.reduce<string | undefined>(
    (best, key) => (best === undefined || holders(key) < holders(best) ? key : best),
    undefined,
  )
}

function groupsUnder(index: ReadonlyMap<string, Groups>, key: string): Iterable<MutableClaimGroup> {
  const groups = index.get(key)
  return groups === undefined ? [] : groups instanceof Set ? groups : [groups]
}

function putUnder(index: Map<string, Groups>, key: string, group: MutableClaimGroup): void {
  const groups = index.get(key)
  if (groups instanceof Set) groups.add(group)
  else index.set(key, groups === undefined ? group : new Set([groups, group]))
}

function dropFrom(index: Map<string, Groups>, key: string, group: MutableClaimGroup): void {
  const groups = index.get(key)
  if (groups instanceof Set) groups.delete(group)
  if (groups === group || (groups instanceof Set && groups.size === 0)) index.delete(key)
}

/** Whether a claim is on any namespace, service account or container. */
export function isWildcard({ namespace, serviceAccountName, containerName }: Claim): boolean {
  return namespace === ANY || serviceAccountName === ANY || containerName === ANY
}

/** Up to how many claims a list is copied for one more. */
const FEW = 8

/**
 * The sorted list with one more claim, which mostly belongs at the end. A short list is copied to its very length: one that
 * grows in place has room for 17 from the first on, and most lists have one claim or two.
 */
function withClaim(claims: Claim[], claim: Claim): Claim[] {
  const last = claims.at(-1)
  const at = last === undefined || compareClaims(last, claim) <= 0 ? claims.length : placeOf(claims, claim)
  if (claims.length < FEW) return claims.toSpliced(at, 0, claim)
  claims.splice(at, 0, claim)
  return claims
}

function withdraw(claims: Claim[], claim: Claim): void {
  for (let at = placeOf(claims, claim); at < claims.length; at++) {
    if (claims[at] !== claim) continue
    claims.splice(at, 1)
    return
  }
}

/** The place of the first claim that is not before this one. */
function placeOf(claims: readonly Claim[], claim: Claim): number {
  let low = 0
  let high = claims.length
  while (low < high) {
    const middle = (low + high) >> 1
    const found = claims[middle]
    if (found !== undefined && compareClaims(found, claim) < 0) low = middle + 1
    else high = middle
  }
  return low
}

/** A total order of claims: owner, then output, then basis. */
export function compareClaims(left: Claim, right: Claim): number {
  return (
    compareBytes(left.owner, right.owner) ||
    compareBytes(left.output ?? '', right.output ?? '') ||
    compareBytes(left.basis, right.basis)
  )
}

function isProperSubset(smaller: PoolLabels, larger: PoolLabels): boolean {
  return smaller.size < larger.size && isSubset(smaller, larger)
}

function isSubset(smaller: PoolLabels, larger: PoolLabels): boolean {
  for (const [key, value] of smaller) if (larger.get(key) !== value) return false
  return true
}

/** The claims on all containers of a variant's pods have `null` for the container, which no name is written as. */
function containerKey(claim: Claim): string {
  return JSON.stringify([claim.namespace, claim.serviceAccountName, claim.containerName])
}

/** Each label as a text. The texts are not kept: most containers have one group, which never reads them again. */
function labelKeysOf(labels: PoolLabels): readonly string[] {
  // Neither a label key nor a label value holds a colon or a line feed where kleym made it; a hand-made live output may
  // hold anything, hence JSON.
  return [...labels].map((label) => JSON.stringify(label))
}

function labelsKey(labels: PoolLabels): string {
  return labelKeysOf(labels).join('\n')
}
