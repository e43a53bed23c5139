// Which claims meet: the same namespace, service account and container, and label sets that are equal or contain one
// another (contract §6). Claims with equal labels share a cell, and a cell finds its relatives through one designated
// label each, so that thousands of claims cost neither a comparison of all with all nor a list of all pairs.
import { entryOf } from '../entry.ts'
import { compareBytes } from '../text/bytes.ts'
import type { PoolLabels } from '../compile/pool-selector.ts'
import { ANY, type Claim } from './claim.ts'

/**
 * How the pods of one claim stand to another's: the same, or all pods of the one are among the pods of the other. Fewer
 * labels choose more pods: `{app: llama}` Contains `{app: llama, region: eu}`.
 */
export type Relation = 'SamePods' | 'Contains' | 'ContainedBy'

/** Claims with one namespace, service account, container and label set, in byte order of their owners. */
export interface Cell {
  readonly labels: PoolLabels
  readonly claims: readonly Claim[]
  /** The declared ones among them. */
  readonly declared: readonly Claim[]
  /** The cells that share pods with this one, itself first. */
  readonly relatives: readonly { readonly relation: Relation; readonly cell: Cell }[]
}

/** An immutable index over claims. */
export interface ClaimIndex {
  /** All cells, in a total order. */
  readonly cells: readonly Cell[]
  /** Live claims on any service account or namespace: too few to be worth a cell. */
  readonly loose: readonly Claim[]
  /** The cell of a claim, by value. */
  cellOf(claim: Claim): Cell | undefined
  /** The declared claims that the claims of a cell meet, itself included; worked out once for each cell. */
  rowsOf(cell: Cell): PeerRows
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

interface OpenCell extends Cell {
  /** Its labels as `labelKey` writes them. */
  readonly labelKeys: readonly string[]
  readonly claims: Claim[]
  readonly declared: Claim[]
  readonly relatives: { relation: Relation; cell: Cell }[]
}

/** Builds the index. Claims may come in any order. */
export function indexClaims(claims: Iterable<Claim>): ClaimIndex {
  const groups = new Map<string, Map<string, OpenCell>>()
  // Who asks about a claim mostly holds the very object that was indexed: that spares writing its labels down again.
  const byClaim = new Map<Claim, OpenCell>()
  const loose: Claim[] = []
  for (const claim of claims) {
    if (claim.namespace === ANY || claim.serviceAccountName === ANY) {
      loose.push(claim)
      continue
    }
    const cells = entryOf(groups, groupKey(claim), () => new Map<string, OpenCell>())
    const labelKeys = labelKeysOf(claim.labels)
    const cell = entryOf(cells, labelKeys.join('\n'), () => openCell(claim.labels, labelKeys))
    cell.claims.push(claim)
    byClaim.set(claim, cell)
  }
  for (const cells of groups.values()) {
    for (const cell of cells.values()) {
      cell.claims.sort(compareClaims)
      for (const claim of cell.claims) if (claim.basis === 'declared') cell.declared.push(claim)
      cell.relatives.push({ relation: 'SamePods', cell })
    }
    relate([...cells.values()])
  }
  const rows = new Map<Cell, PeerRows>()
  return {
    cells: [...groups]
      .toSorted(([a], [b]) => compareBytes(a, b))
      .flatMap(([, cells]) => [...cells].toSorted(([a], [b]) => compareBytes(a, b)).map(([, cell]) => cell)),
    loose: loose.toSorted(compareClaims),
    cellOf: (claim) =>
      byClaim.get(claim) ?? groups.get(groupKey(claim))?.get(labelKeysOf(claim.labels).join('\n')),
    rowsOf: (cell) => entryOf(rows, cell, () => peerRowsOf(cell)),
  }
}

/**
 * Each declared claim of the cell will go through the rows. Where the cell has many claims and many relatives, as a wide
 * label set over thousands of narrow ones, relatives of one relation are merged into one row.
 */
function peerRowsOf(cell: Cell): PeerRows {
  const rows = cell.relatives.map(({ relation, cell: relative }) => ({ relation, claims: relative.declared }))
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

function openCell(labels: PoolLabels, labelKeys: readonly string[]): OpenCell {
  return { labels, labelKeys, claims: [], declared: [], relatives: [] }
}

/** A total order of claims: owner, then output, then basis. */
export function compareClaims(left: Claim, right: Claim): number {
  return (
    compareBytes(left.owner, right.owner) ||
    compareBytes(left.output ?? '', right.output ?? '') ||
    compareBytes(left.basis, right.basis)
  )
}

/** Links every two cells of one group of which one label set contains the other. */
function relate(cells: readonly OpenCell[]): void {
  if (cells.length < 2) return
  const frequency = new Map<string, number>()
  for (const cell of cells) {
    for (const key of cell.labelKeys) frequency.set(key, (frequency.get(key) ?? 0) + 1)
  }
  // A cell stands under its rarest label: every label set that contains it has that label too.
  const designated = new Map<string, OpenCell[]>()
  for (const cell of cells) {
    const rarest = cell.labelKeys.reduce<string | undefined>(
      (best, key) =>
        best === undefined || (frequency.get(key) ?? 0) < (frequency.get(best) ?? 0) ? key : best,
      undefined,
    )
    entryOf(designated, rarest ?? '', () => []).push(cell)
  }
  for (const larger of cells) {
    for (const key of [...larger.labelKeys, '']) {
      for (const smaller of designated.get(key) ?? []) {
        if (smaller.labels.size >= larger.labels.size || !isSubset(smaller.labels, larger.labels)) continue
        larger.relatives.push({ relation: 'ContainedBy', cell: smaller })
        smaller.relatives.push({ relation: 'Contains', cell: larger })
      }
    }
  }
}

function isSubset(smaller: PoolLabels, larger: PoolLabels): boolean {
  for (const [key, value] of smaller) if (larger.get(key) !== value) return false
  return true
}

function groupKey(claim: Claim): string {
  return JSON.stringify([claim.namespace, claim.serviceAccountName, claim.containerName])
}

function labelKeysOf(labels: PoolLabels): readonly string[] {
  return [...labels].map(labelKey)
}

function labelKey([key, value]: readonly [string, string]): string {
  // Neither a label key nor a label value holds a colon or a line feed where kleym made it; a hand-made live output may
  // hold anything, hence JSON.
  return JSON.stringify([key, value])
}
