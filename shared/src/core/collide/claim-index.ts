// Which claims meet: the same namespace, service account and container, and label sets that are equal or contain one
// another (contract §6). Claims with equal labels share a cell, and a cell finds its relatives through one designated
// label each, so that thousands of claims cost neither a comparison of all with all nor a list of all pairs.
import { getOrCreate } from '../get-or-create.ts'
import { compareBytes } from '../text/bytes.ts'
import type { PoolLabels } from '../compile/pool-selector.ts'
import { ANY, type Claim } from './claim.ts'

/**
 * How the pods of one claim stand to another's: the same, or all pods of the one are among the pods of the other. Fewer
 * labels choose more pods: `{app: llama}` Contains `{app: llama, region: eu}`.
 */
export type Relation = 'SamePods' | 'Contains' | 'ContainedBy'

/** Claims with one namespace, service account, container and label set, in byte order of their owners. */
export interface ClaimGroup {
  readonly labels: PoolLabels
  readonly claims: readonly Claim[]
  /** The declared ones among them. */
  readonly declared: readonly Claim[]
  /** The cells that share pods with this one, itself first. */
  readonly overlapping: readonly { readonly relation: Relation; readonly cell: ClaimGroup }[]
}

/** The declared claims of a cell and its relatives. */
export interface PeerRows {
  readonly rows: readonly PeerRow[]
  /** How many claims there are in all rows. */
  readonly count: number
}

/** Declared claims that stand to the cell in one way, in byte order of their owners. */
export interface PeerRow {
  readonly relation: Relation
  readonly claims: readonly Claim[]
}

interface OpenCell extends ClaimGroup {
  readonly group: Group
  /** The label under which larger label sets look for it; empty for the empty set. */
  designated: string
  claims: Claim[]
  declared: Claim[]
  overlapping: { readonly relation: Relation; readonly cell: OpenCell }[]
}

/** The cells of one namespace, service account and container; mostly there is one. */
interface Group {
  readonly key: string
  readonly cells: Map<string, OpenCell>
  /** How a second cell finds its relatives; undefined before there was one. */
  kin: Kin | undefined
  /** Merged rows, until a claim of the group comes or goes. */
  rows: Map<OpenCell, PeerRows> | undefined
}

interface Kin {
  /** The cells that have a label. */
  readonly holders: Map<string, Set<OpenCell>>
  /** The cells that stand under a label: each under one of its own. */
  readonly designated: Map<string, Set<OpenCell>>
}

/** Claims that come and go: a snapshot's all at once, the operator's one by one. */
export class ClaimIndex {
  readonly #groups = new Map<string, Group>()
  // Who asks about a claim mostly holds the very object that was indexed: that spares writing its labels down again.
  readonly #cellOfClaim = new Map<Claim, OpenCell>()
  #loose: Claim[] = []

  /** Live claims on any service account or namespace: too few to be worth a cell. */
  get wildcardClaims(): readonly Claim[] {
    return this.#loose
  }

  /** All cells, in a total order. */
  get cells(): readonly ClaimGroup[] {
    return [...this.#groups.values()]
      .toSorted((a, b) => compareBytes(a.key, b.key))
      .flatMap(({ cells }) => [...cells].toSorted(([a], [b]) => compareBytes(a, b)).map(([, cell]) => cell))
  }

  /** Takes a claim in; the same object only once. */
  add(claim: Claim): void {
    if (isLoose(claim)) {
      this.#loose = withClaim(this.#loose, claim)
      return
    }
    const key = groupKey(claim)
    const group = getOrCreate(this.#groups, key, () => openGroup(key))
    const { labels } = claim
    const cell = getOrCreate(group.cells, labelsKey(labels), () => openCell(group, labels))
    cell.claims = withClaim(cell.claims, claim)
    if (claim.basis === 'declared') cell.declared = withClaim(cell.declared, claim)
    this.#cellOfClaim.set(claim, cell)
    group.rows = undefined
  }

  /** Takes out a claim that `add` took in. */
  remove(claim: Claim): void {
    if (isLoose(claim)) {
      withdraw(this.#loose, claim)
      return
    }
    const cell = this.#cellOfClaim.get(claim)
    if (cell === undefined) return
    this.#cellOfClaim.delete(claim)
    withdraw(cell.claims, claim)
    if (claim.basis === 'declared') withdraw(cell.declared, claim)
    cell.group.rows = undefined
    if (cell.claims.length > 0) return
    closeCell(cell)
    if (cell.group.cells.size === 0) this.#groups.delete(cell.group.key)
  }

  /** The cell of a claim, by value; undefined where no claim with its labels is there. */
  cellOf(claim: Claim): ClaimGroup | undefined {
    return this.#openCellOf(claim)
  }

  /** The declared claims that a claim of this value meets, itself included; worked out once for each cell. */
  rowsOf(claim: Claim): PeerRows | undefined {
    const cell = this.#openCellOf(claim)
    if (cell === undefined) return undefined
    // A cell without relatives has one row, which is at hand.
    if (cell.overlapping.length === 1) return peerRowsOf(cell)
    cell.group.rows ??= new Map()
    return getOrCreate(cell.group.rows, cell, () => peerRowsOf(cell))
  }

  #openCellOf(claim: Claim): OpenCell | undefined {
    return (
      this.#cellOfClaim.get(claim) ?? this.#groups.get(groupKey(claim))?.cells.get(labelsKey(claim.labels))
    )
  }
}

/** Indexes claims, which may come in any order. */
export function indexClaims(claims: Iterable<Claim>): ClaimIndex {
  const index = new ClaimIndex()
  // In order, so that each is inserted at the end of its cell.
  for (const claim of [...claims].toSorted(compareClaims)) index.add(claim)
  return index
}

/**
 * Each declared claim of the cell will go through the rows. Where the cell has many claims and many relatives, as a wide
 * label set over thousands of narrow ones, relatives of one relation are merged into one row.
 */
function peerRowsOf(cell: OpenCell): PeerRows {
  const rows = cell.overlapping.map(({ relation, cell: relative }) => ({
    relation,
    claims: relative.declared,
  }))
  const count = rows.reduce((sum, { claims }) => sum + claims.length, 0)
  if (count > cell.declared.length * rows.length) return { rows, count }
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

function openGroup(key: string): Group {
  return { key, cells: new Map(), kin: undefined, rows: undefined }
}

/** Opens a cell and links it with every cell of the group of which one label set contains the other. */
function openCell(group: Group, labels: PoolLabels): OpenCell {
  const cell: OpenCell = { group, labels, designated: '', claims: [], declared: [], overlapping: [] }
  cell.overlapping = [{ relation: 'SamePods', cell }]
  if (group.cells.size === 0) return cell
  const kin = (group.kin ??= kinOf(group))
  const labelKeys = labelKeysOf(labels)
  const rarest = rarestOf(kin, labelKeys)
  // Whatever contains this label set has all of its labels, the rarest too.
  const larger = rarest === undefined ? group.cells.values() : (kin.holders.get(rarest) ?? [])
  for (const other of larger) if (isProperSubset(labels, other.labels)) link(cell, other)
  // Whatever this label set contains stands under one of its labels.
  for (const key of [...labelKeys, '']) {
    for (const other of kin.designated.get(key) ?? []) {
      if (isProperSubset(other.labels, labels)) link(other, cell)
    }
  }
  enter(kin, cell)
  return cell
}

/** The first cells of a group, once there is a second to find them. */
function kinOf({ cells }: Group): Kin {
  const kin: Kin = { holders: new Map(), designated: new Map() }
  for (const cell of cells.values()) enter(kin, cell)
  return kin
}

function enter(kin: Kin, cell: OpenCell): void {
  const labelKeys = labelKeysOf(cell.labels)
  cell.designated = rarestOf(kin, labelKeys) ?? ''
  for (const key of labelKeys) getOrCreate(kin.holders, key, newSet).add(cell)
  getOrCreate(kin.designated, cell.designated, newSet).add(cell)
}

function closeCell(cell: OpenCell): void {
  const { group } = cell
  for (const { cell: relative } of cell.overlapping) {
    if (relative !== cell) relative.overlapping = relative.overlapping.filter((one) => one.cell !== cell)
  }
  if (group.kin !== undefined) {
    for (const key of labelKeysOf(cell.labels)) dropFrom(group.kin.holders, key, cell)
    dropFrom(group.kin.designated, cell.designated, cell)
  }
  group.cells.delete(labelsKey(cell.labels))
}

function link(smaller: OpenCell, larger: OpenCell): void {
  larger.overlapping.push({ relation: 'ContainedBy', cell: smaller })
  smaller.overlapping.push({ relation: 'Contains', cell: larger })
}

function rarestOf(kin: Kin, labelKeys: readonly string[]): string | undefined {
  const holders = (key: string): number => kin.holders.get(key)?.size ?? 0
  return labelKeys.reduce<string | undefined>(
    (best, key) => (best === undefined || holders(key) < holders(best) ? key : best),
    undefined,
  )
}

function newSet(): Set<OpenCell> {
  return new Set()
}

function dropFrom(sets: Map<string, Set<OpenCell>>, key: string, cell: OpenCell): void {
  const set = sets.get(key)
  set?.delete(cell)
  if (set?.size === 0) sets.delete(key)
}

function isLoose(claim: Claim): boolean {
  return claim.namespace === ANY || claim.serviceAccountName === ANY
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

function groupKey(claim: Claim): string {
  return JSON.stringify([claim.namespace, claim.serviceAccountName, claim.containerName])
}

/** Each label as a text, which is not kept: most cells are the only one of their group, and nobody asks for it again. */
function labelKeysOf(labels: PoolLabels): readonly string[] {
  // Neither a label key nor a label value holds a colon or a line feed where kleym made it; a hand-made live output may
  // hold anything, hence JSON.
  return [...labels].map((label) => JSON.stringify(label))
}

function labelsKey(labels: PoolLabels): string {
  return labelKeysOf(labels).join('\n')
}
