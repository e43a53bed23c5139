// Findings about access policies: whom a rule names, what does not take effect as it is written, and which identities
// no policy names. None of them says what becomes of a request, and none changes what is said of a binding.
import { present } from '../../base/present.ts'
import { POLICY_KINDS } from '../../model/kinds.ts'
import { subjectOfKey, bindingSubject, type Subject } from '../../model/objects/subject.ts'
import { splitNamespacedName } from '../../model/namespaced-name.ts'
import {
  type Analysis,
  heldBy,
  type Policies,
  type NoteKind,
  type PolicyNote,
  type Resolution,
  type ResolutionState,
  type ResolvedPolicy,
  type ResolvedRule,
  type ResolvedSource,
  isForeign,
  trustDomainsOf,
  declaredPath,
} from '../../analysis/index.ts'
import { TRUST_DOMAIN_FLAG, TRUST_DOMAIN_PLACEHOLDER } from '../../decide/index.ts'
import { mayGive } from '../../base/go/template/mentions.ts'
import { pathIn } from '../../model/spiffe-id.ts'
import type { UnknownReason } from '../../model/unknown-reason.ts'
import { FINDING_CODES, isOfPolicies, type FindingCode } from '../registry/findings.ts'
import { finding, type Finding } from '../finding/finding.ts'
import { ruleAtOnce, type Rule } from '../finding/rule.ts'
import { counted } from '../../base/text/counted.ts'

/** A policy as a subject. */
export function policySubject({
  kind,
  namespace,
  name,
}: Pick<ResolvedPolicy, 'kind' | 'namespace' | 'name'>): Subject {
  return { kind, namespace, name }
}

/** The kind of a policy's rule among the related subjects. */
export const RULE_KIND = 'Rule'

/** The findings of all policies; none where there is no policy. Of some bindings alone: those that may be about them. */
export function policyFindings(analysis: Analysis, bindings?: ReadonlySet<string>): readonly Finding[] {
  const { accessPolicies, mentioning } = analysis.snapshot
  if (!accessPolicies.isAnyRead && !mentioning.isAnyRead) return []
  const policies = analysis.settled.policies()
  if (bindings !== undefined)
    return [
      ...rulesNaming(analysis, policies, bindings).flatMap(([policy, rule]) => sourceFindings(policy, rule)),
      ...unnamed(analysis, policies, bindings),
    ]
  return [
    ...policies.list.flatMap((policy) =>
      present(
        uninterpreted(policy),
        ineffective(policy, undefined, policy.notes),
        ...policy.rules.flatMap((rule) => [
          ...sourceFindings(policy, rule),
          ...wide(analysis, policy, rule),
          ineffective(policy, rule, rule.notes),
          ...replaced(policy, rule, rule.notes),
        ]),
      ),
    ),
    ...policies.mentioning.flatMap((one) => mentioned(one) ?? []),
    ...unnamed(analysis, policies),
  ]
}

/** What is found about policies. Of a source whose subjects rest on a setting, anything may be found. */
export const policyRule: Rule = ruleAtOnce(FINDING_CODES.filter(isOfPolicies), policyFindings, {
  alone: POLICY_KINDS,
  more: (_, { policies = [] }) =>
    unknownSources(policies).flatMap(({ because }) => SETTINGS_OF_NAMES[because] ?? []),
})

type UnknownSource = Extract<Resolution, { readonly state: 'unknown' }>

/**
 * Without the trust domain, kleym does not know whether an ID is one of ours. Without the trust domain of the mesh, it does not
 * know what cluster.local means.
 */
const SETTINGS_OF_NAMES: Readonly<Partial<Record<UnknownSource['because'], UnknownReason>>> = {
  'trust domain': {
    verb: 'read',
    what: "kleym's trust domain",
    cause: 'not given',
    fix: `pass ${TRUST_DOMAIN_FLAG}`,
  },
  mesh: {
    verb: 'read',
    what: "the trust domain of Istio's mesh",
    cause: 'not given',
    fix: 'give ConfigMap istio with -f',
  },
}

/** The sources of policies whose subjects are unknown. */
export function unknownSources(policies: readonly ResolvedPolicy[]): readonly UnknownSource[] {
  return policies
    .flatMap(({ rules }) => rules.flatMap(({ sources }) => sources.map(({ resolution }) => resolution)))
    .filter((one) => one.state === 'unknown')
}

/**
 * The rules whose sources may bring a finding about some bindings: those that name an ID which one of them asks for or
 * gives, unless a container holds it or it is of another trust domain. Sources are resolved for these alone.
 */
function rulesNaming(
  analysis: Analysis,
  { list }: Policies,
  bindings: ReadonlySet<string>,
): readonly (readonly [ResolvedPolicy, ResolvedRule])[] {
  const isTheirs = idsOf(analysis, bindings)
  const named = list
    .flatMap(({ rules }) => rules.flatMap(({ sources }) => sources.flatMap(idNamed)))
    .filter((spiffeId) => isTheirs(spiffeId))
  if (named.length === 0) return []
  const { byId } = heldBy(analysis.settled, { spiffeIds: new Set(named), accounts: new Set() })
  const ours = trustDomainsOf(analysis.settled)
  const isHeld = (spiffeId: string): boolean => (byId.get(spiffeId)?.holders ?? []).length > 0
  const open = new Set(named.filter((spiffeId) => !isHeld(spiffeId) && !isForeign(spiffeId, ours)))
  return list.flatMap((policy) =>
    policy.rules
      .filter(({ sources }) => sources.flatMap(idNamed).some((spiffeId) => open.has(spiffeId)))
      .map((rule) => [policy, rule] as const),
  )
}

function idNamed({ source }: ResolvedSource): readonly string[] {
  return source.kind === 'SPIFFE' ? [source.spiffeId] : []
}

/** Whether some bindings ask for an ID, or may give it: an output may give another one than its binding asks for. */
function idsOf(
  { compiled, settled }: Analysis,
  bindings: ReadonlySet<string>,
): (spiffeId: string) => boolean {
  const paths = new Set(
    compiled.flatMap(({ binding }) => (bindings.has(binding.key) ? (declaredPath(binding) ?? []) : [])),
  )
  const templates = settled.outputs.flatMap(({ object, ownership }) =>
    ownership.kind === 'ours' && bindings.has(ownership.binding) ? [object.spec.spiffeIDTemplate] : [],
  )
  return (spiffeId) =>
    paths.has(pathIn(spiffeId)) || templates.some((template) => mayGive(template, [spiffeId]))
}

/** What each state of a source is reported as; the others are no findings. */
const CODES: Readonly<Partial<Record<ResolutionState, FindingCode>>> = {
  dangling: 'KLM601',
  'type mismatch': 'KLM602',
  unbounded: 'KLM603',
  unheld: 'KLM605',
  dead: 'KLM610',
}

/** One finding per code for all sources of a rule. The evidence of one source does not repeat its name, which the summary has. */
function sourceFindings(policy: ResolvedPolicy, rule: ResolvedRule): readonly Finding[] {
  const coded = rule.sources.flatMap((source) => {
    const code = codeOf(source.resolution)
    return code === undefined ? [] : [{ code, source }]
  })
  return [...Map.groupBy(coded, ({ code }) => code)].map(([code, found]) => {
    const sources = found.map(({ source }) => source)
    return finding(code, {
      subject: policySubject(policy),
      related: [ruleSubject(policy, rule), ...new Map(sources.flatMap(relatedTo)).values()],
      summary: `rule ${rule.name} names ${namedText(sources)}`,
      evidence:
        sources.length === 1 ? sources.map(({ resolution }) => resolution.text) : sources.map(evidenceOf),
      parts: new Map(sources.map(({ text }) => [text, text])),
    })
  })
}

/** A wildcard that takes in the IDs of bindings of several namespaces; who is left out is meant to be many. */
function wide(analysis: Analysis, policy: ResolvedPolicy, rule: ResolvedRule): readonly Finding[] {
  return rule.sources.flatMap(({ source, text, resolution }) => {
    if (resolution.state !== 'pattern' || source.isExcluded === true) return []
    const ready = resolution.bindings.filter((key) => analysis.settled.judgements.get(key)?.state === 'ready')
    const namespaces = [...new Set(ready.map((key) => splitNamespacedName(key).namespace))]
    if (namespaces.length < 2) return []
    return finding('KLM611', {
      subject: policySubject(policy),
      related: [ruleSubject(policy, rule), ...ready.map(subjectOfKey)],
      summary: `rule ${rule.name} names ${text}, which takes in IDs of bindings in ${counted(namespaces.length, 'namespace')}`,
      evidence: ready.slice(0, WIDE_SHOWN).map((key) => `binding ${key}`),
      parts: new Map(namespaces.map((namespace) => [namespace, namespace])),
    })
  })
}

/** So many bindings are named of a pattern; all are among its related objects. */
const WIDE_SHOWN = 10

/** The IDs in the strings of one object that nothing gives. */
function mentioned(policy: ResolvedPolicy): Finding | undefined {
  const dangling = policy.rules.flatMap((rule) =>
    rule.sources.flatMap(({ text, resolution }) =>
      resolution.state === 'dangling' ? [{ at: rule.name, text, why: resolution.text }] : [],
    ),
  )
  const ids = [...new Set(dangling.map(({ text }) => text))]
  const [first] = ids
  if (first === undefined) return undefined
  return finding('KLM612', {
    subject: policySubject(policy),
    summary: `it mentions ${first}${ids.length === 1 ? '' : ` and ${counted(ids.length - 1, 'other')}`}`,
    evidence: dangling.map(({ at, text, why }) => `${at}: ${text}: ${why}`),
    parts: new Map(ids.map((id) => [id, id])),
  })
}

function codeOf(resolution: Resolution): FindingCode | undefined {
  if (resolution.state !== 'service account') return CODES[resolution.state]
  return resolution.kleymIds.length > 0 ? 'KLM606' : undefined
}

function namedText([first, ...others]: readonly ResolvedSource[]): string {
  const more = others.length === 0 ? '' : ` and ${counted(others.length, 'other')}`
  return `${first?.text ?? 'no source'}${more}`
}

function evidenceOf({ text, resolution }: ResolvedSource): string {
  return text === 'any principal' ? resolution.text : `${text}: ${resolution.text}`
}

/** The bindings that have to do with an ID: those that give it or ask for it. Near misses are evidence alone. */
function relatedTo({ resolution }: ResolvedSource): readonly (readonly [string, Subject])[] {
  const keys =
    resolution.state === 'unheld'
      ? resolution.declarers.flatMap(({ binding }) => binding ?? [])
      : resolution.state === 'dangling'
        ? resolution.wantedBy.map(({ binding }) => binding)
        : []
  return keys.map((key) => [key, subjectOfKey(key)])
}

function ruleSubject({ namespace, name }: ResolvedPolicy, rule: ResolvedRule): Subject {
  return { kind: RULE_KIND, namespace, name: `${name}/${rule.name}` }
}

/** `rule replaced` has a code of its own. */
type Ineffective = Exclude<NoteKind, 'rule replaced'>

/**
 * What to do about each kind of note. A status is written anew only for a policy that is created anew
 * (docs/gaie-facts.md trap 20).
 */
const FIXES: Readonly<Record<Ineffective, string>> = {
  'not accepted':
    'See the conditions in .status.ancestors; if there is none, see whether a controller looks after the target.',
  stale:
    'Wait for the controller; if the conditions stay as they are, delete the policy and create it again.',
  'former target': 'Only a policy that is deleted and created again loses a former target from its status.',
  'over the limit': 'Put the rules of this target into fewer policies.',
  'no action': 'Write .spec.action.',
  'no rules': 'Write the rules that are meant, or delete the policy.',
  'nothing asked':
    'Name the MCP methods that are meant. If any request is meant, leave the authorization out.',
  'section ignored': 'Leave sectionName out, or give the section a Gateway of its own.',
  'other trust domain':
    'If the identity that SPIRE signs is meant, write its whole ID, with its trust domain.',
  'member ignored': 'Leave out the member that does not count.',
  'no mTLS': 'Set the mode of the PeerAuthentication to STRICT or PERMISSIVE.',
}

function ineffective(
  policy: ResolvedPolicy,
  rule: ResolvedRule | undefined,
  notes: readonly PolicyNote[],
): Finding | undefined {
  const own = notes.filter(
    (note): note is PolicyNote & { readonly kind: Ineffective } => note.kind !== 'rule replaced',
  )
  const [first, ...others] = own
  if (first === undefined) return undefined
  const who = rule === undefined ? 'the policy' : `rule ${rule.name}`
  const isOne = others.length === 0
  return finding('KLM607', {
    subject: policySubject(policy),
    related: rule === undefined ? [] : [ruleSubject(policy, rule)],
    summary: isOne
      ? `${who}: ${first.text}`
      : `${who}: ${own.length} reasons why it may not take effect as it is written`,
    evidence: isOne ? [first.source] : own.map(({ text, source }) => `${text}: ${source}`),
    parts: new Map(own.map((note) => [partKey(note), note.text])),
    fix: [...new Set(own.map(({ kind }) => FIXES[kind]))].join(' '),
  })
}

/** Generations and numbers of rules change without anything being new. */
function partKey({ kind, text }: PolicyNote): string {
  return kind === 'stale' || kind === 'over the limit' ? text.replaceAll(/\d+/g, '0') : text
}

function replaced(
  policy: ResolvedPolicy,
  rule: ResolvedRule,
  notes: readonly PolicyNote[],
): readonly Finding[] {
  return notes
    .filter(({ kind }) => kind === 'rule replaced')
    .map(({ text, source, by }) => {
      const name = by === undefined ? '' : splitNamespacedName(by).name
      return finding('KLM608', {
        subject: policySubject(policy),
        related: [ruleSubject(policy, rule), { ...policySubject(policy), name }],
        summary: text,
        evidence: [source],
      })
    })
}

function uninterpreted(policy: ResolvedPolicy): Finding | undefined {
  const unread = policy.rules.flatMap((rule) =>
    rule.sources
      .filter(({ resolution }) => resolution.state === 'unreadable')
      .map(({ resolution }) => `rule ${rule.name}: ${resolution.text}`),
  )
  const [first, ...evidence] = [...policy.problems, ...unread]
  if (first === undefined) return undefined
  const more = evidence.length === 0 ? '' : `, and ${counted(evidence.length, 'other thing')}`
  return finding('KLM609', {
    subject: policySubject(policy),
    summary: `${first}${more}`,
    evidence,
    parts: new Map([first, ...evidence].map((text) => [text, text])),
  })
}

/** That no policy names an identity is said only where all policies are known and understood. */
function unnamed(analysis: Analysis, policies: Policies, bindings?: ReadonlySet<string>): readonly Finding[] {
  if (policies.knowledge.state !== 'known' || policies.list.every(({ isNamesAlone }) => isNamesAlone))
    return []
  // A policy that names any principal, or may, names all of them.
  const unbounded = policies.namedBy([], [])
  if (unbounded.namings.length > 0 || unbounded.uninterpreted.length > 0) return []
  return analysis.compiled.flatMap(({ binding, result }) => {
    if (bindings?.has(binding.key) === false) return []
    if (result.kind !== 'resolved' || analysis.settled.judgements.get(binding.key)?.state !== 'ready')
      return []
    const { spiffeId, serviceAccountName } = result.identity
    if (spiffeId.includes(TRUST_DOMAIN_PLACEHOLDER)) return []
    const { namespace } = binding.meta
    const { namings, mentions } = policies.namedBy([spiffeId], [{ namespace, serviceAccountName }])
    if (namings.length + mentions.length > 0) return []
    return finding('KLM604', {
      subject: bindingSubject(binding),
      summary: `${counted(policies.list.length, 'access policy')} read, and none names ${spiffeId}`,
    })
  })
}
