// The schemas of `policies`, and of what other reports say about access policies: what a rule names, and what became of it.
import * as z from 'zod'
import type { Affected, AffectedPolicy } from '@kleym/shared/core/explain/affected-policies.ts'
import { namespacedName } from '@kleym/shared/core/namespaced-name.ts'
import { targetText } from '@kleym/shared/core/objects/access-policy.ts'
import { notesOn } from '@kleym/shared/core/policies/notes.ts'
import type { Policies } from '@kleym/shared/core/policies/policies.ts'
import {
  NOTE_KINDS,
  type Mention,
  type NamedBy,
  type Naming,
  type NearMiss,
  type PolicyNote,
  type Resolution,
  type ResolvedPolicy,
  type ResolvedRule,
  type ResolvedSource,
} from '@kleym/shared/core/policies/resolution.ts'
import type { PolicyKnowledge } from '@kleym/shared/core/snapshot/policy-knowledge.ts'
import { unknownReasonText } from '@kleym/shared/core/unknown-reason.ts'
import {
  bindingKeySchema,
  count,
  list,
  made,
  orNull,
  podSchema,
  reportSchema,
  sourceSchema,
  withId,
} from '../../frame/schema.ts'

const policyKeySchema = z.string().describe('An access policy as namespace/name.')

const knowledgeFields = {
  policiesKnown: made(
    z
      .string()
      .describe('known; unknown; absent, where the kind is not served; not given, where no file holds any.'),
    ({ state }: PolicyKnowledge) => state,
  ),
  policiesUnknown: made(z.string().nullable(), (knowledge: PolicyKnowledge) =>
    knowledge.state === 'unknown' ? unknownReasonText(knowledge.why) : null,
  ).describe('Why there may be more policies than those here.'),
}

const noteSchema = made(
  z
    .object({
      kind: z.string().describe(`${NOTE_KINDS.join(', ')}.`),
      text: z.string(),
      implementation: z.string().describe('What the reference implementation makes of it.'),
      by: orNull(policyKeySchema).describe('The policy that replaces the rule.'),
    })
    .describe('Something that does not take effect as it is written.')
    .meta({ id: 'PolicyNote' }),
  (note: PolicyNote) => ({ ...note, implementation: note.source }),
)

const holderSchema = z
  .object({ pod: podSchema, containers: list(z.string()), source: sourceSchema })
  .meta({ id: 'PolicyHolder' })

const sourceFields = {
  source: z.string().describe('A SPIFFE ID, a service account, any principal, ...'),
  field: z.string().describe('Where it stands in the policy.'),
  excluded: z.boolean().describe('The rule is about all clients but these.'),
  state: z
    .string()
    .describe(
      'resolved, unheld, dangling, foreign, unbounded, type mismatch, service account, not SPIFFE, pattern, dead, unknown, unreadable.',
    ),
  text: z.string(),
  spiffeID: orNull(z.string()).describe('The ID that it stands for.'),
  trustDomain: z.string().optional().describe('That of an ID which is not ours.'),
  federatedBy: list(sourceSchema).optional().describe('Objects that federate with that trust domain.'),
  nearMisses: list(
    made(
      z.object({
        spiffeID: z.string(),
        how: z.string().describe('case, trust domain, prefix.'),
        text: z.string(),
        binding: orNull(bindingKeySchema),
        source: sourceSchema,
      }),
      (one: NearMiss) => ({ ...one, spiffeID: one.spiffeId }),
    ),
  )
    .optional()
    .describe('IDs that are there and nearly the one that is not.'),
  wantedBy: list(z.object({ binding: bindingKeySchema, why: z.string() }))
    .optional()
    .describe('Bindings that ask for the ID and do not get it.'),
  never: z.string().nullable().optional().describe('Why no registration can have this ID.'),
  type: z.string().optional().describe('The type of the source, as written.'),
  filled: z.string().optional().describe('The member that is filled in place of it.'),
  serviceAccount: z.string().optional().describe('As namespace/name.'),
  pods: list(podSchema).nullable().optional().describe('Pods of it; null where they are not known.'),
  kleymIDs: list(z.string()).optional().describe('IDs of bindings that those pods hold.'),
  because: z.string().optional().describe('gap, trust domain, prediction, template, spire, mesh.'),
  perhaps: list(sourceSchema).optional().describe('Objects that may give the ID.'),
  takesIn: list(z.string()).optional().describe('The IDs that a pattern takes in and something gives.'),
  bindings: list(bindingKeySchema).optional().describe('The bindings that give some of them.'),
  holders: list(holderSchema).optional().describe('The containers that hold the ID.'),
  declarers: list(
    z.object({
      source: sourceSchema.describe('ClusterSPIFFEID/NAME or ClusterStaticEntry/NAME.'),
      binding: orNull(bindingKeySchema),
      pool: orNull(z.string()),
      why: orNull(z.string()).describe('Why no container holds the ID by this object.'),
    }),
  )
    .optional()
    .describe('The objects that give the ID.'),
  perhapsOthers: z.string().nullable().optional().describe('Why a pattern may take in others.'),
  standsFor: z.string().optional().describe('What a dead name is compared as.'),
  instead: z.string().nullable().optional().describe('The form that would be meant.'),
  where: z.string().optional().describe('The field that cannot be understood.'),
  why: z.string().optional(),
}

function sourceOf({ source, text, resolution }: ResolvedSource) {
  return {
    ...detailsOf(resolution),
    source: text,
    field: source.field,
    excluded: source.isExcluded === true,
    spiffeID: 'spiffeId' in resolution && resolution.spiffeId !== '' ? resolution.spiffeId : undefined,
  }
}

/** The fields that follow from the state. */
function detailsOf(resolution: Resolution) {
  switch (resolution.state) {
    case 'resolved':
      return { ...resolution, perhaps: undefined }
    case 'dangling':
      return { ...resolution, never: resolution.never ?? null }
    case 'service account': {
      const { state, text, namespace, name, pods = null, kleymIds, holders } = resolution
      return {
        state,
        text,
        serviceAccount: namespacedName(namespace, name),
        pods,
        kleymIDs: kleymIds,
        holders,
      }
    }
    case 'pattern':
      return { ...resolution, takesIn: resolution.spiffeIds, perhapsOthers: resolution.open ?? null }
    case 'dead':
      return { ...resolution, instead: resolution.instead ?? null }
    case 'unheld':
    case 'foreign':
    case 'unbounded':
    case 'type mismatch':
    case 'not SPIFFE':
    case 'unknown':
    case 'unreadable':
      return resolution
  }
}

/** A PoliciesReport. */
export const policiesReportSchema = reportSchema('PoliciesReport', 'The answer of kubectl kleym policies.', {
  ...knowledgeFields,
  policies: list(
    made(
      z.object({
        policy: policyKeySchema,
        namespace: z.string(),
        name: z.string(),
        kind: z.string(),
        apiVersion: z.string(),
        interpreted: z.boolean().describe('False: of another version, whose rules are not read.'),
        targets: list(made(z.string(), targetText)),
        action: orNull(z.string()),
        rules: list(
          made(
            z.object({
              at: count.describe('Its place in the policy, from 0.'),
              name: z.string(),
              asks: z.string().describe('any request, or the types of authorization.'),
              sources: list(
                made(
                  z
                    .object(sourceFields)
                    .describe(
                      'Whom one source of a rule names; which fields there are follows from the state.',
                    )
                    .meta({ id: 'PolicySource' }),
                  sourceOf,
                ),
              ),
              mentionedInCEL: list(z.string()).describe(
                'SPIFFE IDs in its CEL texts, which are not interpreted.',
              ),
              notes: list(noteSchema),
            }),
            (rule: ResolvedRule) => ({ ...rule, mentionedInCEL: rule.mentioned }),
          ),
        ),
        notes: list(noteSchema),
        problems: list(z.string()).describe('What cannot be understood of it.'),
      }),
      (one: ResolvedPolicy) => ({ ...one, policy: one.key, interpreted: one.isInterpreted }),
    ),
  ),
  mentions: list(
    made(
      z.object({
        kind: z.string(),
        apiVersion: z.string(),
        namespace: z.string(),
        name: z.string(),
        ...sourceFields,
      }),
      ({ policy, source }: { readonly policy: ResolvedPolicy; readonly source: ResolvedSource }) => ({
        ...policy,
        ...sourceOf(source),
      }),
    ),
  ).describe('SPIFFE IDs in any other string of any object.'),
})

const namingSchema = made(
  z
    .object({
      policy: policyKeySchema,
      kind: z.string(),
      rule: z.string(),
      way: z
        .string()
        .describe(
          'exactly, pattern, excluded, service account, unbounded; same path or perhaps, where a trust domain is not known.',
        ),
      source: z.string(),
      asks: z.string(),
      notes: list(z.string()).describe('What does not take effect as it is written, by kind.'),
    })
    .describe('A rule of an access policy that names an identity.')
    .meta({ id: 'PolicyNaming' }),
  ({ way, policy, rule, source }: Naming) => ({
    policy: policy.key,
    kind: policy.kind,
    rule: rule.name,
    way,
    source: source.text,
    asks: rule.asks,
    notes: notesOn(policy, rule).map(({ kind }) => kind),
  }),
)

/** The field `namedBy`; absent where the kind is not served, or no file holds a policy. */
export const namedBySchema = made(
  z
    .object({
      rules: list(namingSchema).describe(
        'Those that name the ID or the service account; the others stand in `accessPolicies`.',
      ),
      mentionedInCEL: list(
        made(
          z.object({ policy: policyKeySchema, rule: z.string(), spiffeID: z.string() }),
          ({ policy, rule, spiffeId }: Mention) => ({
            policy: policy.key,
            rule: rule.name,
            spiffeID: spiffeId,
          }),
        ),
      ).describe('Rules whose CEL text holds the ID; whether they ask for it is not known.'),
      mentionedIn: list(
        made(
          z.object({
            kind: z.string(),
            namespace: z.string(),
            name: z.string(),
            field: z.string(),
            spiffeID: z.string(),
          }),
          ({ policy, rule, spiffeId }: Mention) => ({ ...policy, field: rule.name, spiffeID: spiffeId }),
        ),
      ).describe('Other objects with strings that hold the ID.'),
      asksDiffer: z.boolean().describe('Rules that name an ID exactly ask different things.'),
    })
    .describe('The rules of access policies that name an identity.')
    .meta({ id: 'NamedBy' }),
  ({ namings, mentions, inTexts, asksDiffer }: NamedBy) => ({
    rules: namings.filter(({ way }) => way !== 'unbounded'),
    mentionedInCEL: mentions,
    mentionedIn: inTexts,
    asksDiffer,
  }),
)

/** The field `accessPolicies`; absent where the kind is not served, or no file holds a policy. */
export const accessPoliciesSchema = made(
  z
    .object({
      ...knowledgeFields,
      unbounded: list(namingSchema).describe('The rules that name any principal, and so every identity.'),
      uninterpreted: list(
        made(z.object({ policy: policyKeySchema, apiVersion: z.string() }), (one: ResolvedPolicy) => ({
          ...one,
          policy: one.key,
        })),
      ).describe('Policies that may name any identity too, and cannot be interpreted.'),
    })
    .describe('What access policies say of all identities.')
    .meta({ id: 'AccessPolicies' }),
  (policies: Policies) => {
    const { knowledge, namings, uninterpreted } = policies.namedBy([], [])
    return { policiesKnown: knowledge, policiesUnknown: knowledge, unbounded: namings, uninterpreted }
  },
)

const sideSchema = orNull(
  made(z.object({ state: z.string(), text: z.string() }), ({ source }: Affected) => source.resolution),
)

/** One rule of `policiesAffected`. */
export const affectedSchema = made(
  z
    .object({
      policy: policyKeySchema,
      kind: z
        .string()
        .describe('Of the policy, or of an object that mentions the ID; then `rule` is the field.'),
      rule: z.string(),
      spiffeID: orNull(z.string()),
      change: z
        .string()
        .describe(
          'lost, gained, moved, otherwise; perhaps, if that is not known; rule, where the rule itself changes.',
        ),
      before: sideSchema.describe('Null where there is no such rule.'),
      after: sideSchema,
      instead: list(
        made(
          z.object({ binding: bindingKeySchema, spiffeID: z.string() }),
          withId<AffectedPolicy['instead'][number]>,
        ),
      ).describe('What the bindings that gave a lost ID give after the change.'),
    })
    .meta({ id: 'AffectedPolicy' }),
  withId<AffectedPolicy>,
)
