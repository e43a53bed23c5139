// `policies` as machines read it, and what other reports say of access policies: what a rule names, and what became of it.
import { namespacedName } from '@kleym/shared/core/namespaced-name.ts'
import { targetText } from '@kleym/shared/core/objects/access-policy.ts'
import { podText } from '@kleym/shared/core/objects/pod-index.ts'
import type { AffectedPolicy } from '@kleym/shared/core/explain/affected-policies.ts'
import { notesOn } from '@kleym/shared/core/policies/notes.ts'
import type { Policies } from '@kleym/shared/core/policies/policies.ts'
import type {
  NamedBy,
  Naming,
  NearMiss,
  PolicyHolder,
  PolicyNote,
  Resolution,
  ResolvedPolicy,
  ResolvedRule,
  ResolvedSource,
} from '@kleym/shared/core/policies/resolution.ts'
import type { PolicyKnowledge } from '@kleym/shared/core/snapshot/policy-knowledge.ts'
import { unknownReasonText } from '@kleym/shared/core/unknown-reason.ts'
import { sourceText } from '@kleym/shared/core/spire/prediction.ts'

type Json = Readonly<Record<string, unknown>>

/** The fields of a PoliciesReport. */
export function policiesFields(
  knowledge: PolicyKnowledge,
  policies: readonly ResolvedPolicy[],
  mentioning: readonly ResolvedPolicy[],
): Json {
  return {
    ...knowledgeReport(knowledge),
    policies: policies.map(policyReport),
    mentions: mentioning.flatMap(mentionsReport),
  }
}

/** Each SPIFFE ID in a string of an object that is no policy. */
function mentionsReport({ kind, apiVersion, namespace, name, rules }: ResolvedPolicy): readonly Json[] {
  return rules.flatMap(({ sources }) =>
    sources.map((source) => ({ kind, apiVersion, namespace, name, ...sourceReport(source) })),
  )
}

/** A policy with all its rules. */
function policyReport(policy: ResolvedPolicy): Json {
  return {
    policy: policy.key,
    namespace: policy.namespace,
    name: policy.name,
    kind: policy.kind,
    apiVersion: policy.apiVersion,
    interpreted: policy.isInterpreted,
    targets: policy.targets.map(targetText),
    action: policy.action ?? null,
    rules: policy.rules.map(ruleReport),
    notes: policy.notes.map(noteReport),
    problems: policy.problems,
  }
}

function ruleReport({ at, name, sources, asks, mentioned, notes }: ResolvedRule): Json {
  return {
    at,
    name,
    asks,
    sources: sources.map(sourceReport),
    mentionedInCEL: mentioned,
    notes: notes.map(noteReport),
  }
}

function sourceReport({ source, text, resolution }: ResolvedSource): Json {
  return {
    source: text,
    field: source.field,
    excluded: source.isExcluded === true,
    ...resolutionReport(resolution),
  }
}

function noteReport({ kind, text, source, by }: PolicyNote): Json {
  return { kind, text, implementation: source, by: by ?? null }
}

/** The fields that every resolution has come first; the others are those of its state. */
function resolutionReport(resolution: Resolution): Json {
  const { state, text } = resolution
  const spiffeID =
    'spiffeId' in resolution ? (resolution.spiffeId === '' ? null : (resolution.spiffeId ?? null)) : null
  return { state, text, spiffeID, ...detailsOf(resolution) }
}

function detailsOf(resolution: Resolution): Json {
  switch (resolution.state) {
    case 'resolved':
      return { holders: resolution.holders.map(holderReport), declarers: declarersReport(resolution) }
    case 'unheld':
      return { declarers: declarersReport(resolution) }
    case 'dangling':
      return {
        nearMisses: resolution.nearMisses.map(nearMissReport),
        wantedBy: resolution.wantedBy,
        never: resolution.never ?? null,
      }
    case 'foreign':
      return {
        trustDomain: resolution.trustDomain,
        federatedBy: resolution.federatedBy.map(sourceText),
        nearMisses: resolution.nearMisses.map(nearMissReport),
      }
    case 'type mismatch':
      return { type: resolution.type, filled: resolution.filled }
    case 'service account':
      return {
        serviceAccount: namespacedName(resolution.namespace, resolution.name),
        pods: resolution.pods?.map(podText) ?? null,
        kleymIDs: resolution.kleymIds,
        holders: resolution.holders.map(holderReport),
      }
    case 'not SPIFFE':
      return { type: resolution.type }
    case 'unknown':
      return { because: resolution.because, perhaps: resolution.perhaps.map(sourceText) }
    case 'pattern':
      return {
        takesIn: resolution.spiffeIds,
        bindings: resolution.bindings,
        holders: resolution.holders.map(holderReport),
        perhapsOthers: resolution.open ?? null,
      }
    case 'dead':
      return { standsFor: resolution.standsFor, instead: resolution.instead ?? null }
    case 'unreadable':
      return { where: resolution.where, why: resolution.why }
    case 'unbounded':
      return {}
  }
}

function holderReport({ pod, containers, source }: PolicyHolder): Json {
  return { pod: podText(pod), containers, source: sourceText(source) }
}

function declarersReport({
  declarers,
}: Extract<Resolution, { readonly state: 'resolved' | 'unheld' }>): readonly Json[] {
  return declarers.map(({ source, binding, pool, why }) => ({
    source: sourceText(source),
    binding: binding ?? null,
    pool: pool ?? null,
    why: why ?? null,
  }))
}

function nearMissReport({ spiffeId, how, text, binding, source }: NearMiss): Json {
  return { spiffeID: spiffeId, how, text, binding: binding ?? null, source: sourceText(source) }
}

/** Whether policies are known: `known`, `unknown`, `absent`, `not given`, and why they are unknown. */
function knowledgeReport(knowledge: PolicyKnowledge): Json {
  return {
    policiesKnown: knowledge.state,
    policiesUnknown: knowledge.state === 'unknown' ? unknownReasonText(knowledge.why) : null,
  }
}

/** The field `accessPolicies` of a report: whether they are known, and what concerns every identity. */
export function accessPoliciesReport(policies: Policies): Json {
  const { knowledge, namings, uninterpreted } = policies.namedBy([], [])
  return {
    ...knowledgeReport(knowledge),
    unbounded: namings.map(namingReport),
    uninterpreted: uninterpreted.map(({ key, apiVersion }) => ({ policy: key, apiVersion })),
  }
}

/** The field `namedBy` of identities: the rules that name them in particular; rules that name any principal stand in `accessPolicies`. */
export function namedByReport({ namings, mentions, inTexts, asksDiffer }: NamedBy): Json {
  return {
    rules: namings.filter(({ way }) => way !== 'unbounded').map(namingReport),
    mentionedInCEL: mentions.map(({ policy, rule, spiffeId }) => ({
      policy: policy.key,
      rule: rule.name,
      spiffeID: spiffeId,
    })),
    mentionedIn: inTexts.map(({ policy, rule, spiffeId }) => ({
      kind: policy.kind,
      namespace: policy.namespace,
      name: policy.name,
      field: rule.name,
      spiffeID: spiffeId,
    })),
    asksDiffer,
  }
}

function namingReport({ way, policy, rule, source }: Naming): Json {
  return {
    policy: policy.key,
    kind: policy.kind,
    rule: rule.name,
    way,
    source: source.text,
    asks: rule.asks,
    notes: notesOn(policy, rule).map(({ kind }) => kind),
  }
}

/** One rule that a change affects. */
export function affectedReport({
  policy,
  kind,
  rule,
  spiffeId,
  change,
  before,
  after,
  instead,
}: AffectedPolicy): Json {
  const side = (one: typeof before): Json | null =>
    one === undefined ? null : { state: one.source.resolution.state, text: one.source.resolution.text }
  return {
    policy,
    kind,
    rule,
    spiffeID: spiffeId ?? null,
    change,
    before: side(before),
    after: side(after),
    instead: instead.map((one) => ({ binding: one.binding, spiffeID: one.spiffeId })),
  }
}
