// Which policies a change affects: rules that name an ID which the change removes, gives to others, or brings about.
import {
  type State,
  isOpenSource,
  policyName,
  type Declarer,
  type Resolution,
  type ResolvedPolicy,
  type ResolvedRule,
  type ResolvedSource,
} from '../../analysis/index.ts'
import { lazy } from '../../base/lazy.ts'
import { said, saidKey } from '../../model/naming/named-in.ts'
import { podText } from '../../model/objects/pod-index.ts'
import { sourceText } from '../../predict/index.ts'
import { compareKeys, distinct } from '../../base/text/bytes.ts'

/** One source of one rule whose resolution changes; undefined on the side where the rule or the source is not there. */
export interface AffectedPolicy {
  /** `namespace/name`, or the name of what is in no namespace. */
  readonly policy: string
  readonly kind: string
  /** It is no policy: an ID stands in a string of it, and `rule` is that string. */
  readonly isMention: boolean
  readonly namespace: string
  readonly name: string
  readonly rule: string
  /** The ID that the rule names; undefined for a source that names none. */
  readonly spiffeId: string | undefined
  readonly before: Affected | undefined
  readonly after: Affected | undefined
  /**
   * `lost`: it was held, or given, and is no more. `gained`: the other way round. `moved`: it is held, and other objects
   * give it or other containers hold it. `otherwise`: another change of the answer. `perhaps`: whether it changes is not known. `rule`: the rule itself
   * comes, goes or changes.
   */
  readonly change: PolicyChange
  /** For an ID that is lost: what the bindings that gave it give after the change. */
  readonly instead: readonly { readonly binding: string; readonly spiffeId: string }[]
}

/** The changes, in the order in which answers show them. */
export const POLICY_CHANGES = ['lost', 'gained', 'moved', 'otherwise', 'perhaps', 'rule'] as const
export type PolicyChange = (typeof POLICY_CHANGES)[number]

/** A source of a rule, and what it resolves to in one of the two states. */
export interface Affected {
  readonly policy: ResolvedPolicy
  readonly rule: ResolvedRule
  readonly source: ResolvedSource
}

/**
 * Compares two states, of one snapshot or of two: what is lost first, and then in the order of policies, rules and
 * sources. What else is said of an ID (near misses, who federates) may differ without an entry here.
 */
export function affectedPolicies(before: State, after: State): readonly AffectedPolicy[] {
  const had = sourcesOf(before)
  const has = sourcesOf(after)
  const mentioning = new Set([before, after].flatMap((state) => state.policies().mentioning))
  const gives = lazy(() => givenIn(after))
  const affected: (readonly [place: string, one: AffectedPolicy])[] = []
  for (const key of new Set(had.keys()).union(has)) {
    const [left, right] = [had.get(key), has.get(key)]
    const one = right ?? left
    const change = changeOf(left, right)
    if (one === undefined || change === undefined) continue
    const { policy, rule, source } = one
    const isMention = mentioning.has(policy)
    if (isMention && change === 'rule' && !matters(left, right)) continue
    const affectedOne: AffectedPolicy = {
      policy: policyName(policy),
      kind: policy.kind,
      isMention,
      namespace: policy.namespace,
      name: policy.name,
      rule: rule.name,
      // It is empty where it is not known which ID is meant.
      spiffeId: ('spiffeId' in source.resolution && source.resolution.spiffeId) || undefined,
      before: left,
      after: right,
      change,
      instead: change === 'lost' && left !== undefined ? insteadOf(left, gives()) : [],
    }
    affected.push([JSON.stringify([...placeOf(policy, rule), said(source.source)]), affectedOne])
  }
  const inOrder = affected.toSorted(compareKeys).map(([, one]) => one)
  const byChange = Map.groupBy(inOrder, ({ change }) => change)
  return POLICY_CHANGES.flatMap((change) => byChange.get(change) ?? [])
}

/** A string that is added or removed matters if it names an ID that something gives, or a similar one. */
function matters(left: Affected | undefined, right: Affected | undefined): boolean {
  const [before, after] = [left?.source.resolution, right?.source.resolution]
  return (
    before?.state === 'resolved' ||
    before?.state === 'unheld' ||
    after?.state === 'dangling' ||
    (after?.state === 'foreign' && after.nearMisses.length > 0)
  )
}

/** What bindings give, in their order, by the key of the binding. */
type Gives = ReadonlyMap<string, readonly { readonly at: number; readonly spiffeId: string }[]>

function givenIn({ base }: State): Gives {
  const given = base.compiled.flatMap(({ binding: { key }, result }, at) =>
    result.kind === 'resolved' ? [{ key, at, spiffeId: result.identity.spiffeId }] : [],
  )
  return Map.groupBy(given, ({ key }) => key)
}

function insteadOf({ source: { resolution } }: Affected, gives: Gives): AffectedPolicy['instead'] {
  if (!('declarers' in resolution)) return []
  const declarers = new Set(resolution.declarers.flatMap(({ binding }) => binding ?? []))
  return [...declarers]
    .flatMap((binding) => (gives.get(binding) ?? []).map(({ at, spiffeId }) => ({ at, binding, spiffeId })))
    .filter(({ spiffeId }) => spiffeId !== resolution.spiffeId)
    .toSorted((a, b) => a.at - b.at)
    .map(({ binding, spiffeId }) => ({ binding, spiffeId }))
}

/** Every source by its identity across states: its policy, the name of its rule, and its content. */
function sourcesOf(state: State): ReadonlyMap<string, Affected> {
  const sources = new Map<string, Affected>()
  const { list, mentioning } = state.policies()
  for (const policy of [...list, ...mentioning]) {
    for (const rule of policy.rules) {
      const place = JSON.stringify(placeOf(policy, rule))
      for (const source of rule.sources)
        sources.set(`${place}${saidKey(source.source)}`, { policy, rule, source })
    }
  }
  return sources
}

function placeOf({ namespace, name, kind }: ResolvedPolicy, rule: ResolvedRule): readonly string[] {
  return [namespace, name, kind, rule.name]
}

function changeOf(left: Affected | undefined, right: Affected | undefined): PolicyChange | undefined {
  if (left === undefined || right === undefined) return 'rule'
  const [before, after] = [left.source.resolution, right.source.resolution]
  const [had, has] = [strength(before), strength(after)]
  if (had !== undefined && has !== undefined && had !== has) return has < had ? 'lost' : 'gained'
  if (isOpenSource(before) !== isOpenSource(after) || doubt(before) !== doubt(after)) return 'perhaps'
  if (before.state !== after.state) return 'otherwise'
  if (fingerprint(before) === fingerprint(after))
    return mayHold(before) === mayHold(after) ? undefined : 'perhaps'
  return isOpenSource(before) || !(hasMore(before, after) || hasMore(after, before)) ? 'perhaps' : 'moved'
}

/** Whether something gives or holds the ID on one side that does not on the other, and not even perhaps. */
function hasMore(one: Resolution, other: Resolution): boolean {
  if (one.state !== 'resolved' || other.state !== 'resolved') return true
  const sources = new Set(other.declarers.map(declarerText))
  const holders = new Set(holdersOf(other))
  return (
    one.declarers.some(
      (each) => !sources.has(declarerText(each)) && !other.perhaps.sources.has(sourceText(each.source)),
    ) || holdersOf(one).some((each) => !holders.has(each) && !other.perhaps.holders.has(each))
  )
}

function declarerText({ source, binding, pool }: Declarer): string {
  return JSON.stringify([binding ?? sourceText(source), pool ?? ''])
}

function holdersOf(resolution: Resolution): readonly string[] {
  const holding = resolution.state === 'unknown' ? resolution.mayMean : resolution
  if (holding === undefined || !('holders' in holding)) return []
  return holding.holders.flatMap(({ pod, containers }) => containers.map((name) => `${podText(pod)} ${name}`))
}

/** How much of an identity is behind a name; undefined where that is not known, or no question. */
function strength(resolution: Resolution): number | undefined {
  switch (resolution.state) {
    case 'dangling':
      return 0
    case 'unheld':
      return 1
    case 'resolved':
      return 2
    case 'service account':
      if (resolution.holders.length > 0) return 2
      return resolution.pods === undefined || resolution.open !== undefined ? undefined : 0
    case 'unknown':
      // A template may give it one day; now nothing does, and that is certain.
      return resolution.because === 'template' ? 0 : undefined
    case 'pattern':
      if (resolution.open !== undefined) return undefined
      return resolution.holders.length > 0 ? 2 : resolution.spiffeIds.length > 0 ? 1 : 0
    case 'dead':
      return 0
    case 'foreign':
    case 'type mismatch':
    case 'not SPIFFE':
    case 'unbounded':
    case 'unreadable':
      return undefined
  }
}

/** What keeps an answer open: where it is another thing afterwards, the change may well have done it. */
function doubt(resolution: Resolution): string {
  return resolution.state === 'unknown'
    ? JSON.stringify([resolution.because, ...resolution.perhaps.map(sourceText)])
    : ''
}

/** Who may hold an ID beside those that do, as a text. */
function mayHold(resolution: Resolution): string {
  return resolution.state === 'resolved' ? JSON.stringify([...resolution.perhaps.holders]) : ''
}

/** What gives the identity, and who holds it. What gives one that nobody holds depends on pods that are registered in vain. */
function fingerprint(resolution: Resolution): string {
  const declarers =
    resolution.state === 'resolved'
      ? resolution.declarers.map(declarerText)
      : resolution.state === 'unknown'
        ? (resolution.mayMean?.spiffeIds ?? [])
        : 'spiffeIds' in resolution
          ? resolution.spiffeIds
          : []
  return JSON.stringify([declarers, distinct(holdersOf(resolution))])
}
