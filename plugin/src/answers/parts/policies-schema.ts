// What several reports say of access policies.
import * as z from 'zod'
import type { Affected, AffectedPolicy } from '@kleym/shared/core/answers/index.ts'
import {
  notesOn,
  type Policies,
  type Mention,
  type NamedBy,
  type Naming,
  type ResolvedPolicy,
} from '@kleym/shared/core/analysis/index.ts'
import type { PolicyKnowledge } from '@kleym/shared/core/snapshot/index.ts'
import { unknownReasonText } from '@kleym/shared/core/model/unknown-reason.ts'
import { bindingKeySchema, list, made, orNull, withId } from '../../frame/schema.ts'

/** An access policy as namespace/name. */
export const policyKeySchema = z.string().describe('An access policy as namespace/name.')

/** Whether policies are known, and why they are not. */
export const knowledgeFields = {
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
        'Those that name the ID or the service account; the others are in `accessPolicies`.',
      ),
      mentionedInCEL: list(
        made(
          z.object({ policy: policyKeySchema, rule: z.string(), spiffeID: z.string() }),
          ({ policy, rule, mentioned }: Mention) => ({
            policy: policy.key,
            rule: rule.name,
            spiffeID: mentioned.text,
          }),
        ),
      ).describe('Rules whose CEL text holds the ID, or a part of it; whether they ask for it is not known.'),
      mentionedIn: list(
        made(
          z.object({
            kind: z.string(),
            namespace: z.string(),
            name: z.string(),
            field: z.string(),
            spiffeID: z.string(),
          }),
          ({ policy, rule, mentioned }: Mention) => ({
            ...policy,
            field: rule.name,
            spiffeID: mentioned.text,
          }),
        ),
      ).describe('Other objects with strings that hold the ID, or a part of it.'),
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
