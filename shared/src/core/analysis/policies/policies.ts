// The access policies of a snapshot, resolved against what SPIRE does in one state of it, and the
// index that answers who names an identity.
import type { IdInText } from '../../model/ids-in-text.ts'
import { namespacedName } from '../../model/namespaced-name.ts'
import { TRUST_DOMAIN_PLACEHOLDER } from '../../decide/index.ts'
import { getOrCreate } from '../../base/get-or-create.ts'
import { apiVersionOf, ACCESS_POLICY_KIND } from '../../model/kinds.ts'
import type { AccessPolicy } from '../../model/objects/access-policy.ts'
import { lazy } from '../../base/lazy.ts'
import { type PolicyRule, type RuleSource } from '../../model/objects/access-rule.ts'
import { quoted } from '../../base/text/quoted.ts'
import type { PolicyContext } from './policy-context.ts'
import { accountKey } from './holders.ts'
import { pathIn } from '../../model/spiffe-id.ts'
import { noteOf, notesOfPolicy, notesOfRule } from './notes.ts'
import { accountId } from './resolution-text.ts'
import { isForeign, Resolver, trustDomainsOf } from './resolve.ts'
import type {
  Mention,
  NamedBy,
  Naming,
  PolicyNote,
  Resolution,
  ResolvedPolicy,
  ResolvedRule,
  ResolvedSource,
} from './resolution.ts'
import type { PolicyKnowledge } from '../../snapshot/index.ts'
import {
  MatcherIndex,
  patternMatches,
  patternMatchesRendered,
  type MatcherEntry,
} from '../../model/naming/id-matcher.ts'
import { mayBecome } from '../../base/go/template/mentions.ts'
import { compareBytes } from '../../base/text/bytes.ts'
import { TargetIndex } from './targets.ts'

/** What runs under a service account: a pod is one. */
export interface Account {
  readonly namespace: string
  readonly serviceAccountName: string
}

/** The access policies of one state. */
export interface Policies {
  readonly knowledge: PolicyKnowledge
  /** In byte order of namespace and name. */
  readonly list: readonly ResolvedPolicy[]
  /** The objects in which IDs stand in any other string, in the order of kinds, namespaces and names. */
  readonly mentioning: readonly ResolvedPolicy[]
  /**
   * Which rules name one of these SPIFFE IDs exactly, or any principal, or the service account of one of these pods (those that hold the
   * identity, or may). By index; costs nothing for policies that are not concerned.
   */
  namedBy(spiffeIds: readonly string[], accounts: readonly Account[]): NamedBy
}

/** Whether an answer has anything to say about names: not where no kind of policy is there or was given, and no other object holds an ID. */
export function hasPolicies({ knowledge, mentioning }: Pick<Policies, 'knowledge' | 'mentioning'>): boolean {
  return knowledge.state === 'known' || knowledge.state === 'unknown' || mentioning.length > 0
}

/** Resolves all policies of a state, each source at its first use. */
export function resolvePolicies(context: PolicyContext): Policies {
  const { snapshot } = context.base
  const { accessPoliciesKnown: knowledge } = snapshot
  const [accessPolicies, mentions] = [snapshot.accessPolicies.read, snapshot.mentioning.read]
  if (accessPolicies.length + mentions.length === 0)
    return { knowledge, list: [], mentioning: [], namedBy: () => namedByNone(knowledge) }
  const ours = trustDomainsOf(context)
  const sources = [...accessPolicies, ...mentions].flatMap(({ rules }) =>
    rules.flatMap((rule) => rule.sources.map((source) => asInMesh(source, ours))),
  )
  const resolver = lazy(() => new Resolver(context, sources))
  const targets = lazy(() => new TargetIndex(accessPolicies))
  const means = { resolver, targets, ours }
  const list = accessPolicies.map((policy) => resolvePolicy(policy, means))
  const mentioning = mentions.map((policy) => resolvePolicy(policy, means))
  const index = lazy(() => new NamingIndex(list, mentioning, ours))
  return {
    knowledge,
    list,
    mentioning,
    namedBy: (ids, accounts) => index().namedBy(ids, accounts, knowledge),
  }
}

function namedByNone(knowledge: PolicyKnowledge): NamedBy {
  return {
    knowledge,
    namings: [],
    mentions: [],
    inTexts: [],
    uninterpreted: [],
    asksDiffer: false,
  }
}

/** What policies are resolved with. */
interface Means {
  readonly resolver: () => Resolver
  readonly targets: () => TargetIndex
  readonly ours: ReadonlySet<string>
}

function resolvePolicy(policy: AccessPolicy, means: Means): ResolvedPolicy {
  const { meta, reading, unreadable } = policy
  const notes = lazy(() => [...notesOfPolicy(policy), ...means.targets().overLimit(policy)])
  return {
    key: policy.key,
    kind: policy.kind,
    namespace: meta.namespace,
    name: meta.name,
    apiVersion: reading.kind === 'v1alpha1' ? apiVersionOf(ACCESS_POLICY_KIND) : reading.apiVersion,
    isInterpreted: reading.kind !== 'too old' && reading.kind !== 'not known',
    isNamesAlone: reading.kind === 'names alone',
    targets: policy.targets,
    action: policy.action,
    rules: policy.rules.map((rule) => resolveRule(policy, rule, means)),
    get notes() {
      return notes()
    },
    problems: [...uninterpreted(policy), ...unreadable.map(({ where, why }) => `${where} ${why}`)],
  }
}

function uninterpreted({ reading, kind }: AccessPolicy): readonly string[] {
  switch (reading.kind) {
    case 'v1alpha1':
    case 'names alone':
      return []
    case 'proposal':
      return [
        `its kind is ${kind}, and ${reading.apiVersion} calls it ${ACCESS_POLICY_KIND.kind}: its CRD serves no ${kind}`,
      ]
    case 'too old':
      return [`${reading.apiVersion} is too old to interpret`]
    case 'not known':
      return [`${reading.apiVersion} is a version that kleym does not know`]
  }
}

function resolveRule(
  policy: AccessPolicy,
  rule: PolicyRule,
  { resolver, targets, ours }: Means,
): ResolvedRule {
  const sources = rule.sources.map((source) => new SourceOnce(asInMesh(source, ours), resolver))
  return {
    at: rule.at,
    name: rule.name,
    sources,
    asks:
      policy.reading.kind === 'names alone'
        ? 'not read'
        : rule.authorization === undefined
          ? 'any request'
          : asksText(rule.authorization.types),
    authorization: rule.authorization?.text ?? rule.asksBeside,
    mentioned: rule.authorization?.mentioned ?? [],
    get notes() {
      return [
        ...targets().replaced(policy, rule),
        ...notesOfRule(rule),
        ...(policy.reading.kind === 'names alone' ? [] : sources.flatMap((one) => misplaced(one, ours))),
      ]
    },
  }
}

/** An ID of another trust domain, which may be an alias of a mesh that was not read: the same path in ours is meant then, too. */
function asInMesh(source: RuleSource, ours: ReadonlySet<string>): RuleSource {
  if (source.kind !== 'SPIFFE' || source.inMesh === undefined) return source
  if (ours.size === 0 || !isForeign(source.spiffeId, ours)) return source
  const { field, spiffeId, isExcluded, inMesh } = source
  return {
    kind: 'pattern',
    field,
    written: spiffeId,
    pattern: { all: [[[spiffeId]]], none: [] },
    perhaps: { matchers: [inMesh.matcher], because: 'mesh', why: inMesh.why },
    ...(isExcluded === true && { isExcluded }),
  }
}

/** Resolved at its first use. One text may hold a hundred thousand, so none has a function of its own. */
class SourceOnce implements ResolvedSource {
  readonly source: RuleSource
  readonly text: string
  readonly #resolver: () => Resolver
  #resolution: Resolution | undefined

  constructor(source: RuleSource, resolver: () => Resolver) {
    this.source = source
    this.text = `${source.isExcluded === true ? 'all but ' : ''}${sourceName(source)}`
    this.#resolver = resolver
  }

  get resolution(): Resolution {
    return (this.#resolution ??= this.#resolver().resolve(this.source))
  }
}

/** Types that kleym knows, as they are; any other is written by the author of the policy, and quoted. */
function asksText(types: readonly string[]): string {
  const words = types.map((type) => (type === '' ? '(no type)' : TYPES.has(type) ? type : quoted(type)))
  return words.length === 0 ? '(empty list)' : words.join(', ')
}

const TYPES: ReadonlySet<string> = new Set(['Inline', 'CEL', 'ExternalAuth'])

/** An ID of ours written in another trust domain, which is not the one that SPIRE signs. */
function misplaced(named: ResolvedSource, trustDomains: ReadonlySet<string>): readonly PolicyNote[] {
  const { source } = named
  if (source.kind !== 'SPIFFE' || !isForeign(source.spiffeId, trustDomains)) return []
  const { resolution } = named
  if (resolution.state !== 'foreign') return []
  const ours = resolution.nearMisses.find(({ how }) => how === 'trust domain')
  if (ours === undefined) return []
  const text = `${resolution.spiffeId} has the path of ${ours.spiffeId}, and its trust domain is ${resolution.trustDomain}`
  return [noteOf('other trust domain', text)]
}

function sourceName(source: RuleSource): string {
  switch (source.kind) {
    case 'SPIFFE':
      return source.spiffeId
    case 'service account':
      return `service account ${namespacedName(source.namespace, source.name)}`
    case 'unbounded':
    case 'type mismatch':
      return 'any principal'
    case 'pattern':
    case 'dead':
      return source.written
    case 'not SPIFFE':
      return source.type
    case 'unreadable':
      return 'not readable'
  }
}

class NamingIndex {
  readonly #exactly = new Map<string, Naming[]>()
  readonly #byPath = new Map<string, Naming[]>()
  readonly #unbounded: Naming[] = []
  /** Each pattern once. */
  readonly #ofPatterns: Naming[] = []
  /** What each matcher of a pattern names, and the place of the pattern among them. */
  readonly #matchers: MatcherEntry<{ readonly at: number; readonly naming: Naming }>[] = []
  readonly #patterns = lazy(() => new MatcherIndex(this.#matchers))
  readonly #byAccount = new Map<string, Naming[]>()
  readonly #byAccountId = new Map<string, Naming[]>()
  /** By the ID that a CEL text mentions, and by its path. */
  readonly #mentions = new MentionIndex()
  /** The same of the texts of other objects. */
  readonly #texts = new MentionIndex()
  readonly #uninterpreted: readonly ResolvedPolicy[]
  readonly #trustDomain: string | undefined

  constructor(
    policies: readonly ResolvedPolicy[],
    mentioning: readonly ResolvedPolicy[],
    [trustDomain]: Iterable<string>,
  ) {
    this.#trustDomain = trustDomain
    for (const policy of mentioning)
      for (const rule of policy.rules)
        for (const { source } of rule.sources)
          for (const mentioned of mentionedBy(source)) this.#texts.add({ policy, rule, mentioned })
    for (const policy of policies)
      for (const rule of policy.rules) {
        for (const source of rule.sources) this.#add(policy, rule, source)
        for (const mentioned of rule.mentioned) this.#mentions.add({ policy, rule, mentioned })
      }
    this.#uninterpreted = policies.filter(
      ({ isInterpreted, rules, problems }) =>
        !isInterpreted ||
        problems.some((problem) => problem.startsWith('.spec.rules ') || problem.startsWith('.spec ')) ||
        rules.some(({ sources }) => sources.some(({ source }) => source.kind === 'unreadable')),
    )
  }

  namedBy(spiffeIds: readonly string[], accounts: readonly Account[], knowledge: PolicyKnowledge): NamedBy {
    const ids = [...new Set(spiffeIds)]
    const exact = ids.map((id) => this.#exactly.get(id) ?? [])
    const keys = new Set(accounts.map(accountKey))
    const byAccount = new Set([
      ...[...keys].flatMap((key) => this.#byAccount.get(key) ?? []),
      ...ids.flatMap((id) => this.#byAccountId.get(id) ?? []),
    ])
    return {
      knowledge,
      namings: [
        ...exact.flat(),
        ...ids.flatMap((id) => this.#byPattern(id)),
        ...ids.flatMap((id) => this.#perhaps(id)),
        ...byAccount,
        ...this.#unbounded,
      ],
      mentions: ids.flatMap((id) => this.#mentions.of(id)),
      inTexts: ids.flatMap((id) => this.#texts.of(id)),
      uninterpreted: this.#uninterpreted,
      asksDiffer: exact.some((namings) => {
        const read = namings.filter(({ policy }) => !policy.isNamesAlone)
        return new Set(read.map(({ rule }) => rule.authorization)).size > 1
      }),
    }
  }

  /** An ID whose trust domain is not known may be any that has its path; one that holds another placeholder, any that it may become. */
  #perhaps(spiffeId: string): readonly Naming[] {
    if (spiffeId.includes(TRUST_DOMAIN_PLACEHOLDER)) return this.#byPath.get(pathIn(spiffeId)) ?? []
    return [this.#exactly, this.#byAccountId].flatMap((byId) =>
      idsThatMayBe(spiffeId, byId).flatMap((id) => (byId.get(id) ?? []).map(inPart)),
    )
  }

  #byPattern(spiffeId: string): readonly Naming[] {
    const taking = [...this.#patterns().mayTake(spiffeId)].toSorted((a, b) => a.at - b.at)
    if (spiffeId.includes('<'))
      return [...new Set(taking.map(({ at }) => at))]
        .flatMap((at) => this.#ofPatterns[at] ?? [])
        .flatMap((one) => takingInPart(one, spiffeId))
    const namings = taking.map(({ naming }) => naming)
    const found = namings.filter(({ way, source: { source } }) => {
      if (source.kind !== 'pattern') return false
      const [first, ...others] = source.pattern.all
      const named = way === 'perhaps' ? [] : [first ?? []]
      return patternMatches({ ...source.pattern, all: [...named, ...others] }, spiffeId)
    })
    return found.toSorted((a, b) => compareBytes(namingKey(a), namingKey(b)))
  }

  #add(policy: ResolvedPolicy, rule: ResolvedRule, resolved: ResolvedSource): void {
    const { source } = resolved
    const isExcluded = source.isExcluded === true
    const naming = (way: Naming['way']): Naming => ({
      way: isExcluded ? 'excluded' : way,
      policy,
      rule,
      source: resolved,
    })
    if (source.kind === 'pattern') {
      const at = this.#ofPatterns.length
      const [certain, perhaps] = [
        { at, naming: naming('pattern') },
        { at, naming: naming('perhaps') },
      ]
      this.#ofPatterns.push(certain.naming)
      for (const matcher of source.pattern.all[0] ?? []) this.#matchers.push({ matcher, item: certain })
      for (const matcher of source.perhaps?.matchers ?? []) this.#matchers.push({ matcher, item: perhaps })
    } else if (source.kind === 'SPIFFE') {
      getOrCreate(this.#exactly, source.spiffeId, () => []).push(naming('exactly'))
      const path = pathIn(source.spiffeId)
      getOrCreate(this.#byPath, path, () => []).push(naming('same path'))
    } else if (source.kind === 'unbounded' || source.kind === 'type mismatch') {
      this.#unbounded.push(naming('unbounded'))
    } else if (source.kind === 'service account') {
      const one = naming('service account')
      const key = accountKey({ namespace: source.namespace, serviceAccountName: source.name })
      getOrCreate(this.#byAccount, key, () => []).push(one)
      if (this.#trustDomain === undefined) return
      const spiffeId = accountId(this.#trustDomain, source.namespace, source.name)
      getOrCreate(this.#byAccountId, spiffeId, () => []).push(one)
    }
  }
}

/** A naming that is certain only of one of the IDs that an ID may become. */
function inPart(naming: Naming): Naming {
  return naming.way === 'excluded' ? naming : { ...naming, way: 'perhaps' }
}

/** A pattern, as it takes in an ID that is known in part. */
function takingInPart(naming: Naming, spiffeId: string): readonly Naming[] {
  const { source } = naming.source
  if (source.kind !== 'pattern') return []
  const { pattern, perhaps } = source
  const takes = patternMatchesRendered(pattern, spiffeId)
  if (takes === 'yes') return [naming]
  const others = { ...pattern, all: [perhaps?.matchers ?? [], ...pattern.all.slice(1)] }
  return takes === 'perhaps' || patternMatchesRendered(others, spiffeId) !== 'no' ? [inPart(naming)] : []
}

/** Whether a part of an ID beside its trust domain is known only when its pod runs. */
function isInPart(spiffeId: string): boolean {
  return spiffeId.includes('<') && !spiffeId.includes(TRUST_DOMAIN_PLACEHOLDER)
}

/** The IDs of an index that an ID may become, where a part of it is not known. */
function idsThatMayBe(spiffeId: string, byId: ReadonlyMap<string, unknown>): readonly string[] {
  if (!isInPart(spiffeId)) return []
  return [...byId.keys()].filter((id) => id !== spiffeId && mayBecome(spiffeId, id)).toSorted(compareBytes)
}

function namingKey({ policy, rule, source }: Naming): string {
  return JSON.stringify([policy.kind, policy.key, rule.at, source.source.field])
}

function mentionedBy(source: RuleSource): readonly IdInText[] {
  if (source.kind === 'SPIFFE') return [{ text: source.spiffeId, matcher: [source.spiffeId], isWhole: true }]
  if (source.kind !== 'pattern') return []
  const { written, perhaps } = source
  return (perhaps?.matchers ?? []).map((matcher) => ({ text: written, matcher, isWhole: false }))
}

class MentionIndex {
  readonly #whole: Mention[] = []
  readonly #byId = lazy(() => Map.groupBy(this.#whole, ({ mentioned }) => mentioned.text))
  readonly #byPath = lazy(() => Map.groupBy(this.#whole, ({ mentioned }) => pathIn(mentioned.text)))
  /** Those that are known in part. */
  readonly #allInPart: Mention[] = []
  readonly #inPart = lazy(
    () =>
      new MatcherIndex(
        this.#allInPart.map(({ mentioned: { matcher } }, item): MatcherEntry<number> => ({ matcher, item })),
      ),
  )

  add(mention: Mention): void {
    if (mention.mentioned.isWhole) this.#whole.push(mention)
    else this.#allInPart.push(mention)
  }

  /** Of an ID that is not known in part, those that it may become. */
  of(spiffeId: string): readonly Mention[] {
    const whole = spiffeId.includes(TRUST_DOMAIN_PLACEHOLDER)
      ? this.#byPath().get(pathIn(spiffeId))
      : [spiffeId, ...idsThatMayBe(spiffeId, this.#byId())].flatMap((id) => this.#byId().get(id) ?? [])
    return [...(whole ?? []), ...this.#inPartOf(spiffeId)]
  }

  #inPartOf(spiffeId: string): readonly Mention[] {
    return [...this.#inPart().mayTake(spiffeId)]
      .toSorted((a, b) => a - b)
      .flatMap((at) => this.#allInPart[at] ?? [])
      .filter(
        ({ mentioned: { matcher } }) =>
          patternMatchesRendered({ all: [[matcher]], none: [] }, spiffeId) !== 'no',
      )
  }
}
