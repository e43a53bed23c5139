// Which label sets of one container may overlap: a pod may carry the labels of both, though neither contains the other. Thousands of
// sets have millions of pairs. Mostly nearly all of these exclude each other by a few keys (`app`, `model`), so sets are divided
// by such keys first, and only what is left is compared pair by pair.
import { getOrCreate } from '../../base/get-or-create.ts'
import type { PoolLabels } from '../../model/objects/pool-selector.ts'
import type { Steps } from '../../base/steps.ts'
import type { ClaimGroup } from './claim-index.ts'

type Pair = readonly [ClaimGroup, ClaimGroup]

/** Whether two label sets exclude each other nowhere and contain each other neither way. */
export function mayOverlap(one: PoolLabels, other: PoolLabels): boolean {
  let shared = 0
  for (const [key, value] of one) {
    const theirs = other.get(key)
    if (theirs === undefined) continue
    if (theirs !== value) return false
    shared++
  }
  return shared < one.size && shared < other.size
}

/** What was found: so many pairs, and where there are more, for each label set one that it may overlap. */
export class OverlappingSets {
  readonly peers = new Map<ClaimGroup, ClaimGroup>()
  readonly #pairs: Pair[] = []
  readonly #pairsMax: number

  constructor(pairsMax: number) {
    this.#pairsMax = pairsMax
  }

  /** All pairs; undefined: they are more than were asked for, and only `peers` tells all. */
  get pairs(): readonly Pair[] | undefined {
    return this.#pairs.length > this.#pairsMax ? undefined : this.#pairs
  }

  /** Compares two label sets, unless nothing depends on them any more. */
  compare(one: ClaimGroup, other: ClaimGroup): void {
    const isFull = this.#pairs.length > this.#pairsMax
    if (isFull && this.peers.has(one) && this.peers.has(other)) return
    if (!mayOverlap(one.labels, other.labels)) return
    if (!isFull) this.#pairs.push([one, other])
    if (!this.peers.has(one)) this.peers.set(one, other)
    if (!this.peers.has(other)) this.peers.set(other, one)
  }
}

/** Finds those among label sets that may overlap; a step for each label set that is compared with others. */
export function* overlappingSets(groups: readonly ClaimGroup[], pairsMax: number): Steps<OverlappingSets> {
  const found = new OverlappingSets(pairsMax)
  yield* compareAmong(groups, found)
  return found
}

/** Fewer pairs are compared as they are. */
const PAIRS_FEW = 4_096
/** A key divides label sets where it excludes at least this part of their pairs: that pays for looking at all their labels. */
const EXCLUDED_LEAST = 1 / 8

function* compareAmong(groups: readonly ClaimGroup[], found: OverlappingSets): Steps<void> {
  const key = dividingKey(groups, groups)
  if (key === undefined) {
    for (let at = 0; at < groups.length; at++) {
      yield
      for (let to = at + 1; to < groups.length; to++) compareAt(groups[at], groups[to], found)
    }
    return
  }
  const { having, without, byValue } = dividedBy(key, groups)
  for (const alike of byValue.values()) yield* compareAmong(alike, found)
  yield* compareAmong(without, found)
  yield* compareBetween(without, having, found)
}

function* compareBetween(
  left: readonly ClaimGroup[],
  right: readonly ClaimGroup[],
  found: OverlappingSets,
): Steps<void> {
  const key = dividingKey(left, right)
  if (key === undefined) {
    for (const one of left) {
      yield
      for (const other of right) compareAt(one, other, found)
    }
    return
  }
  const [ours, theirs] = [dividedBy(key, left), dividedBy(key, right)]
  yield* compareBetween(ours.without, right, found)
  yield* compareBetween(ours.having, theirs.without, found)
  for (const [value, alike] of ours.byValue)
    yield* compareBetween(alike, theirs.byValue.get(value) ?? [], found)
}

function compareAt(one: ClaimGroup | undefined, other: ClaimGroup | undefined, found: OverlappingSets): void {
  if (one !== undefined && other !== undefined) found.compare(one, other)
}

interface Divided {
  readonly having: readonly ClaimGroup[]
  readonly without: readonly ClaimGroup[]
  /** Those that have the key. */
  readonly byValue: ReadonlyMap<string | undefined, readonly ClaimGroup[]>
}

/** Label sets by what they have for a key. */
function dividedBy(key: string, groups: readonly ClaimGroup[]): Divided {
  const isHaving = ({ labels }: ClaimGroup): boolean => labels.has(key)
  const having = groups.filter(isHaving)
  return {
    having,
    without: groups.filter((one) => !isHaving(one)),
    byValue: Map.groupBy(having, ({ labels }) => labels.get(key)),
  }
}

/** The key that excludes most pairs of a left and a right label set; undefined where none excludes many. */
function dividingKey(left: readonly ClaimGroup[], right: readonly ClaimGroup[]): string | undefined {
  const pairs = left.length * right.length
  if (pairs <= PAIRS_FEW) return undefined
  const ours = countedLabels(left)
  const theirs = left === right ? ours : countedLabels(right)
  let best: string | undefined
  let most = pairs * EXCLUDED_LEAST
  for (const [key, { count, ofValues }] of ours) {
    const other = theirs.get(key)
    if (other === undefined) continue
    let excluded = count * other.count
    for (const [value, having] of ofValues) excluded -= having * (other.ofValues.get(value) ?? 0)
    if (excluded <= most) continue
    most = excluded
    best = key
  }
  return best
}

interface CountedLabels {
  count: number
  readonly ofValues: Map<string, number>
}

/** How many label sets have a key, and each value of it. */
function countedLabels(groups: readonly ClaimGroup[]): ReadonlyMap<string, CountedLabels> {
  const byKey = new Map<string, CountedLabels>()
  for (const { labels } of groups) {
    for (const [key, value] of labels) {
      const counted = getOrCreate(byKey, key, () => ({ count: 0, ofValues: new Map() }))
      counted.count++
      counted.ofValues.set(value, (counted.ofValues.get(value) ?? 0) + 1)
    }
  }
  return byKey
}
