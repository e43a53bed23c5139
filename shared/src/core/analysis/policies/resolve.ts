// One source of a rule against everything that gives and holds identities. The order of the questions matters: what is
// certain first (a container holds it, an object gives it), then what may be, and only where nothing may be is an ID dangling.
import { namespacedName } from '../../model/namespaced-name.ts'
import type { ClientPattern, IdMatcher, RuleSource } from '../../model/objects/access-rule.ts'
import { sourceText, type EntrySource } from '../../predict/index.ts'
import { parseSpiffeId, parsedIdProblem, pathIn, trustDomainIn } from '../../model/spiffe-id.ts'
import { compareBytes, distinct } from '../../base/text/bytes.ts'
import { IdentitySources, type IdentitySource } from './identity-sources.ts'
import type { PolicyContext } from './policy-context.ts'
import { getOrCreate } from '../../base/get-or-create.ts'
import { canonicalText } from '../../base/json.ts'
import { SCHEME } from '../../model/ids-in-text.ts'
import {
  exactId,
  MatcherIndex,
  SHORT,
  patternMatches,
  patternMatchesRendered,
} from '../../model/naming/id-matcher.ts'
import { lazy } from '../../base/lazy.ts'
import { unknownReasonText, type UnknownReason } from '../../model/unknown-reason.ts'
import { heldBy, type HolderIndex, type IdentityHolders, type Wanted } from './holders.ts'
import { NearMisses } from './near-misses.ts'
import type { Declarer, Resolution } from './resolution.ts'
import { knowsPodsIn, objectGap, patternGap, podGap } from './gaps.ts'
import { unmetClaimsByPath, type UnmetClaim } from './unmet-claims.ts'
import * as say from './resolution-text.ts'

type PatternSource = Extract<RuleSource, { kind: 'pattern' }>

/** What every source is resolved with, made once for all policies. */
export class Resolver {
  readonly #context: PolicyContext
  readonly #identitySources: IdentitySources
  readonly #held: HolderIndex
  readonly #ours: ReadonlySet<string>
  /** Outputs that kleym must still create or update, by `sourceText`. */
  readonly #pending: ReadonlySet<string>
  #near: NearMisses | undefined
  #allGiven: ReadonlyMap<string, IdentitySource> | undefined
  /** The IDs that are given, in byte order. */
  readonly #taken = lazy(() => this.#takenBy([...this.#given()].toSorted(([a], [b]) => compareBytes(a, b))))
  readonly #patterns: MatcherIndex<string> | undefined
  /** Many policies have the same pattern. */
  readonly #resolvedPatterns = new Map<string, Resolution>()
  readonly #longLists = new WeakMap<readonly IdMatcher[], number>()
  #longListCount = 0
  /** The IDs that hold a placeholder, and what gives each. */
  readonly #unfinished = lazy(() =>
    this.#takenBy([...this.#held.unfinished, ...this.#identitySources.withoutTrustDomain()]),
  )
  readonly #perhapsRendered = lazy(() => this.#takenBy([...this.#held.perhapsRendered]))
  readonly #unmetClaims = lazy(() => unmetClaimsByPath(this.#context))
  readonly #openClaims = lazy(() => [...this.#unmetClaims().values()].flat().filter(({ isOpen }) => isOpen))

  constructor(context: PolicyContext, sources: readonly RuleSource[]) {
    this.#context = context
    this.#ours = trustDomainsOf(context)
    this.#identitySources = new IdentitySources(context)
    this.#pending = new Set(
      [...context.unwritten].map((name) => sourceText({ kind: 'ClusterSPIFFEID', name })),
    )
    const wanted = askedOfPods(sources, this.#ours)
    this.#patterns = wanted.patterns
    this.#held = heldBy(context, wanted)
  }

  resolve(source: RuleSource): Resolution {
    switch (source.kind) {
      case 'SPIFFE':
        return this.#resolveId(source.spiffeId)
      case 'service account':
        return this.#resolveAccount(source.namespace, source.name)
      case 'unbounded':
        return { state: 'unbounded', text: say.unbounded(source.why) }
      case 'type mismatch': {
        const { type, filled } = source
        return { state: 'type mismatch', type, filled, text: say.mismatch(type, filled) }
      }
      case 'not SPIFFE':
        return { state: 'not SPIFFE', type: source.type, text: say.notSpiffe(source.type) }
      case 'pattern':
        return getOrCreate(this.#resolvedPatterns, this.#patternKey(source), () =>
          this.#resolvePattern(source),
        )
      case 'dead': {
        const { standsFor, instead } = source
        const holders = instead === undefined ? [] : (this.#held.byId.get(idMeant(instead))?.holders ?? [])
        return { state: 'dead', standsFor, instead, text: say.dead(standsFor, instead, holders) }
      }
      case 'unreadable':
        return {
          state: 'unreadable',
          where: source.field,
          why: source.why,
          text: `${source.field} ${source.why}`,
        }
    }
  }

  /** Every ID that something gives: literally, or for a pod that is there. */
  givenIds(): Iterable<string> {
    return this.#given().keys()
  }

  #resolveId(spiffeId: string): Resolution {
    const holding = this.#held.byId.get(spiffeId)
    const identitySources = this.#sourcesOf(spiffeId, holding)
    if (holding !== undefined && holding.holders.length > 0) {
      const declarers = identitySources.map((identitySource) => declarerOf(identitySource, holding))
      const [one] = holding.perhaps.values()
      const why = one && say.notCertain(one, 'it to others')
      return {
        state: 'resolved',
        spiffeId,
        holders: holding.holders,
        declarers,
        perhaps: { holders: holding.perhapsHolders, sources: new Set(holding.perhaps.keys()), why },
        text: say.withOthers(say.resolved(holding.holders, declarers, this.#pending), why),
      }
    }
    if (this.#ours.size === 0) return this.#withoutTrustDomain(spiffeId)
    if (isForeign(spiffeId, this.#ours)) return this.#foreign(spiffeId, trustDomainIn(spiffeId))
    return (
      this.#open(spiffeId, identitySources, holding) ??
      this.#unheldOrDangling(spiffeId, identitySources, holding)
    )
  }

  #unheldOrDangling(
    spiffeId: string,
    identitySources: readonly IdentitySource[],
    holding: IdentityHolders | undefined,
  ): Resolution {
    if (identitySources.length > 0) {
      const declarers = identitySources.map((identitySource) => declarerOf(identitySource, holding))
      return { state: 'unheld', spiffeId, declarers, text: say.unheld(declarers) }
    }
    const never = parsedIdProblem(parseSpiffeId(spiffeId))
    const wantedBy = this.#unmetClaimsOn(spiffeId).map(({ binding, why }) => ({ binding, why }))
    const nearMisses = this.#nearMisses().of(spiffeId)
    const text = say.dangling({ never, wantedBy, nearMisses })
    return { state: 'dangling', spiffeId, nearMisses, wantedBy, never, text }
  }

  /** What keeps kleym from saying that no container holds the ID, or that nothing gives it. */
  #open(
    spiffeId: string,
    identitySources: readonly IdentitySource[],
    holding: IdentityHolders | undefined,
  ): Resolution | undefined {
    const unknown = (
      because: Extract<Resolution, { state: 'unknown' }>['because'],
      perhaps: readonly EntrySource[],
      text: string,
    ): Resolution => ({ state: 'unknown', spiffeId, because, perhaps, text })
    const path = pathIn(spiffeId)
    if (path === '/spire' || path.startsWith('/spire/')) return unknown('spire', [], say.SPIRE_OWN)
    const [perhaps] = holding?.perhaps.values() ?? []
    if (perhaps !== undefined)
      return unknown(
        'prediction',
        [...(holding?.perhaps.values() ?? [])].map(({ source }) => source),
        say.notCertain(perhaps),
      )
    const unsettled = identitySources.find(({ open }) => open !== undefined)
    if (unsettled !== undefined)
      return unknown(
        'prediction',
        [unsettled.source],
        say.notCertain({ source: unsettled.source, why: unsettled.open ?? '' }),
      )
    const gap = this.#gapOf(spiffeId, identitySources)
    if (gap !== undefined)
      return unknown(
        'gap',
        identitySources.map(({ source }) => source),
        say.notRead(gap, identitySources),
      )
    const undetermined = this.#unmetClaimsOn(spiffeId).find(({ isOpen }) => isOpen)
    if (undetermined !== undefined)
      return unknown('prediction', [], say.undetermined(undetermined.binding, undetermined.why))
    const renderers = this.#identitySources.perhaps(spiffeId).map(({ source }) => source)
    const unfollowed = renderers.find((source) => this.#held.unfollowed.has(sourceText(source)))
    if (unfollowed !== undefined) return unknown('prediction', renderers, say.notFollowed(unfollowed))
    const [renderer] = renderers
    if (renderer === undefined) return undefined
    // For which pods a template is rendered is known only where all pods are.
    const unseen = podGap(this.#context.base.snapshot, spiffeId, [])
    if (unseen !== undefined) return unknown('gap', renderers, say.notRead(unseen, []))
    return identitySources.length > 0 ? undefined : unknown('template', renderers, say.mayRender(renderer))
  }

  /** What could not be read and may hold what gives the ID, or who holds it. */
  #gapOf(spiffeId: string, identitySources: readonly IdentitySource[]): UnknownReason | undefined {
    const { snapshot } = this.#context.base
    // What certainly reaches no container does so whatever pods there are; another object may give the ID as well.
    const needsPods = identitySources.some(({ never }) => never === undefined)
    return (
      objectGap(snapshot, spiffeId) ?? (needsPods ? podGap(snapshot, spiffeId, identitySources) : undefined)
    )
  }

  #withoutTrustDomain(spiffeId: string): Resolution {
    const path = pathIn(spiffeId)
    const identitySources = this.#identitySources.withPath(path)
    return {
      state: 'unknown',
      spiffeId,
      because: 'trust domain',
      perhaps: identitySources.map(({ source }) => source),
      text: say.trustDomainUnknown(identitySources),
    }
  }

  #foreign(spiffeId: string, trustDomain: string): Resolution {
    const federatedBy = this.#identitySources.federatingWith(trustDomain)
    const nearMisses = this.#nearMisses().of(spiffeId)
    // Who else federates is not known where ClusterSPIFFEIDs are not.
    const gap = this.#context.base.snapshot.rest.registrations()
    return {
      state: 'foreign',
      spiffeId,
      trustDomain,
      federatedBy,
      nearMisses,
      text: say.foreign({ trustDomain, federatedBy, nearMisses, gap }),
    }
  }

  /** Equal for equal patterns of short lists. A long one is known by itself: its text would be written for each value beside it. */
  #patternKey({ pattern: { all, none, like }, perhaps }: PatternSource): string {
    const keyOf = (list: readonly IdMatcher[]): unknown => {
      if (list.length <= SHORT) return list
      const number = this.#longLists.get(list) ?? this.#longListCount++
      this.#longLists.set(list, number)
      return number
    }
    return canonicalText([all.map(keyOf), none.map(keyOf), like, perhaps])
  }

  /** What it takes in of all that is given here; whether that is all is another question. */
  #resolvePattern({ pattern, perhaps }: PatternSource): Resolution {
    const given = this.#given()
    const [matchers = []] = pattern.all
    const finished = this.#taken()(matchers).filter(([id]) => patternMatches(pattern, id))
    const unfinished = this.#unfinished()(matchers).filter(
      ([id]) => patternMatchesRendered(pattern, id) === 'yes',
    )
    const spiffeIds = distinct([...finished, ...unfinished].map(([id]) => id))
    const further = perhaps === undefined ? [] : this.#mayTakeIn(pattern, perhaps.matchers)
    const exact = exactId(pattern.all[0]?.[0] ?? [])
    // One ID of another trust domain, and nothing here has its path: it is what it says, or names nobody here.
    if (perhaps !== undefined && spiffeIds.length + further.length === 0 && exact !== undefined)
      return this.#foreign(exact, trustDomainIn(exact))
    if (spiffeIds.length === 0 && perhaps !== undefined) {
      const ids = further.map(([id]) => id)
      return {
        state: 'unknown',
        spiffeId: '',
        because: perhaps.because,
        perhaps: further.map(([, source]) => source),
        mayMean: { spiffeIds: ids, holders: ids.flatMap((id) => this.#held.byId.get(id)?.holders ?? []) },
        text: say.knownInPart(perhaps.why, ids),
      }
    }
    const holdings = spiffeIds.flatMap((id) => this.#held.byId.get(id) ?? [])
    const holders = holdings.flatMap((one) => one.holders)
    const bindings = distinct(spiffeIds.flatMap((id) => given.get(id)?.binding ?? []))
    const open = perhaps?.why ?? this.#patternGap(pattern, holdings, new Set(spiffeIds))
    return {
      state: 'pattern',
      spiffeIds,
      holders,
      bindings,
      open,
      text: say.pattern(spiffeIds, holders, open),
    }
  }

  /** The IDs that a pattern may take in besides, if its first list were these matchers, and what gives each. */
  #mayTakeIn(
    { all: [, ...others], none }: ClientPattern,
    matchers: readonly IdMatcher[],
  ): readonly (readonly [spiffeId: string, source: EntrySource])[] {
    const pattern = { all: [matchers, ...others], none }
    return [
      ...this.#taken()(matchers).flatMap(([id, { source }]) =>
        patternMatches(pattern, id) ? [[id, source] as const] : [],
      ),
      ...this.#unfinished()(matchers).filter(([id]) => patternMatchesRendered(pattern, id) !== 'no'),
    ]
  }

  /** Why a pattern may take in IDs, or containers that hold them, beside those that are known. */
  #patternGap(
    pattern: ClientPattern,
    holdings: readonly IdentityHolders[],
    taken: ReadonlySet<string>,
  ): string | undefined {
    const { snapshot } = this.#context.base
    const gap = snapshot.rest.registrations() ?? patternGap(snapshot)
    if (gap !== undefined) return unknownReasonText(gap)
    const [perhaps] = holdings.flatMap((one) => [...one.perhaps.values()])
    if (perhaps !== undefined) return say.notCertain(perhaps)
    const [matchers = []] = pattern.all
    for (const [id, one] of this.#perhapsRendered()(matchers))
      if (!taken.has(id) && patternMatchesRendered(pattern, id) !== 'no') return say.notCertain(one, id)
    const [unfollowed] = this.#held.unfollowed
    if (unfollowed !== undefined) return say.mayGiveOthers(unfollowed)
    const unfinished = this.#unfinished()(matchers).find(
      ([id]) => patternMatchesRendered(pattern, id) === 'perhaps',
    )
    if (unfinished !== undefined) return say.gives(...unfinished)
    const [undecided] = this.#openClaims()
    return undecided === undefined ? undefined : say.undetermined(undecided.binding, undecided.why)
  }

  /** Finds which of some IDs may be taken in by one of some matchers of patterns, in their order. Each ID may hold placeholders. */
  #takenBy<T>(ids: readonly (readonly [string, T])[]): (matchers: readonly IdMatcher[]) => typeof ids {
    const taken = new Map<string, number[]>()
    ids.forEach(([id], at) => {
      for (const key of this.#patterns?.mayTake(id) ?? []) getOrCreate(taken, key, () => []).push(at)
    })
    return (matchers) => {
      const lists = matchers.flatMap((one) => [taken.get(matcherKey(one)) ?? []])
      const places = lists.length === 1 ? lists.flat() : [...new Set(lists.flat())].toSorted((a, b) => a - b)
      return places.flatMap((at) => (ids[at] === undefined ? [] : [ids[at]]))
    }
  }

  #resolveAccount(namespace: string, name: string): Resolution {
    const key = namespacedName(namespace, name)
    const isKnown = knowsPodsIn(this.#context.base.snapshot, namespace)
    const found = this.#held.podsOfAccount.get(key) ?? []
    const [trustDomain] = this.#ours
    const spiffeId = trustDomain === undefined ? undefined : say.accountId(trustDomain, namespace, name)
    const holding = spiffeId === undefined ? undefined : this.#held.byId.get(spiffeId)
    const gap = this.#context.base.snapshot.rest.registrations()
    const [perhaps] = holding?.perhaps.values() ?? []
    const resolution = {
      state: 'service account' as const,
      namespace,
      name,
      pods: isKnown ? found : undefined,
      kleymIds: [...(this.#held.kleymIdsOfAccount.get(key) ?? [])].toSorted(compareBytes),
      spiffeId,
      holders: holding?.holders ?? [],
      open:
        gap !== undefined
          ? say.holdingNotRead(gap)
          : perhaps === undefined
            ? undefined
            : say.notCertain(perhaps),
    }
    return { ...resolution, text: say.serviceAccount(resolution, found) }
  }

  /** What gives the ID: literally, or for a pod that is there. */
  #sourcesOf(spiffeId: string, holding: IdentityHolders | undefined): readonly IdentitySource[] {
    const literally = this.#identitySources.literally(spiffeId)
    const met = (holding?.holders ?? []).map(({ source }) => source)
    const rendered = this.#held.rendered.get(spiffeId)
    if (rendered !== undefined) met.push(rendered)
    if (literally.length + met.length === 0) return literally
    const identitySources = new Map(
      literally.map((identitySource) => [sourceText(identitySource.source), identitySource]),
    )
    for (const source of met) {
      const identitySource = this.#identitySources.of(source)
      if (identitySource !== undefined && !identitySources.has(sourceText(source)))
        identitySources.set(sourceText(source), identitySource)
    }
    return [...identitySources.values()].toSorted((a, b) =>
      compareBytes(sourceText(a.source), sourceText(b.source)),
    )
  }

  #nearMisses(): NearMisses {
    this.#near ??= new NearMisses(this.#given())
    return this.#near
  }

  #given(): ReadonlyMap<string, IdentitySource> {
    if (this.#allGiven !== undefined) return this.#allGiven
    const given = new Map<string, IdentitySource>()
    for (const [id, source] of this.#held.rendered) {
      const identitySource = this.#identitySources.of(source)
      if (identitySource !== undefined) given.set(id, identitySource)
    }
    for (const [id, [identitySource]] of this.#identitySources.literals())
      if (identitySource !== undefined) given.set(id, identitySource)
    this.#allGiven = given
    return given
  }

  /** Bindings that ask for the ID, by the path that they would give it. */
  #unmetClaimsOn(spiffeId: string): readonly UnmetClaim[] {
    return this.#unmetClaims().get(pathIn(spiffeId)) ?? []
  }
}

/** The trust domains that are ours: SCM's, and kleym's. */
export function trustDomainsOf({ base }: PolicyContext): ReadonlySet<string> {
  const { config, settings } = base
  const ours = new Set<string>()
  if (settings.trustDomain !== undefined) ours.add(settings.trustDomain)
  if (config.trustDomain.kind === 'set') ours.add(config.trustDomain.value)
  return ours
}

/** Whether an ID is in a trust domain that is none of ours. */
export function isForeign(spiffeId: string, ours: ReadonlySet<string>): boolean {
  const trustDomain = trustDomainIn(spiffeId)
  return !ours.has(trustDomain) && !ours.has(trustDomain.toLowerCase())
}

function askedOfPods(
  sources: readonly RuleSource[],
  ours: ReadonlySet<string>,
): Wanted & { readonly patterns?: MatcherIndex<string> } {
  const [trustDomain] = ours
  const spiffeIds = new Set<string>()
  const accounts = new Set<string>()
  const matchers = new Map<string, IdMatcher>()
  for (const source of sources) {
    if (source.kind === 'pattern')
      for (const matcher of [...(source.pattern.all[0] ?? []), ...(source.perhaps?.matchers ?? [])])
        matchers.set(matcherKey(matcher), matcher)
    if (source.kind === 'SPIFFE') spiffeIds.add(source.spiffeId)
    if (source.kind === 'dead' && source.instead !== undefined) spiffeIds.add(idMeant(source.instead))
    if (source.kind !== 'service account') continue
    accounts.add(namespacedName(source.namespace, source.name))
    if (trustDomain !== undefined) spiffeIds.add(say.accountId(trustDomain, source.namespace, source.name))
  }
  const patterns = [...matchers].map(([item, matcher]) => ({ matcher, item }))
  return { spiffeIds, accounts, ...(patterns.length > 0 && { patterns: new MatcherIndex(patterns) }) }
}

function matcherKey(matcher: IdMatcher): string {
  return JSON.stringify(matcher)
}

/** The ID of a name in the form that its reader wants: Istio writes the scheme itself. */
function idMeant(instead: string): string {
  return instead.startsWith(SCHEME) ? instead : `${SCHEME}${instead}`
}

function declarerOf(
  { source, binding, pool, never }: IdentitySource,
  holding: IdentityHolders | undefined,
): Declarer {
  const isHeld = holding?.holders.some((holder) => sourceText(holder.source) === sourceText(source)) === true
  const why = isHeld
    ? undefined
    : (never ?? holding?.missed.get(sourceText(source)) ?? say.SELECTS_NONE[source.kind])
  return { source, binding, pool, why }
}
