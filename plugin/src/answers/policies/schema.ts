// The schemas of `policies`, and of what other reports say about access policies.
import * as z from 'zod'
import { NOTE_KINDS } from '@kleym/shared/core/policies/resolution.ts'
import { bindingKeySchema, count, podTextSchema, reportSchema } from '../../frame/schema.ts'

const policyKeySchema = z.string().describe('An access policy as namespace/name.')

const knowledgeFields = {
  policiesKnown: z
    .string()
    .describe('known; unknown; absent, where the kind is not served; not given, where no file holds any.'),
  policiesUnknown: z.string().nullable().describe('Why there may be more policies than those here.'),
}

const noteSchema = z
  .object({
    kind: z.string().describe(`${NOTE_KINDS.join(', ')}.`),
    text: z.string(),
    implementation: z.string().describe('What the reference implementation makes of it.'),
    by: policyKeySchema.nullable().describe('The policy that replaces the rule.'),
  })
  .describe('Something that does not take effect as it is written.')
  .meta({ id: 'PolicyNote' })

const holderSchema = z
  .object({ pod: podTextSchema, containers: z.array(z.string()), source: z.string() })
  .meta({ id: 'PolicyHolder' })

const sourceSchema = z
  .object({
    source: z.string().describe('A SPIFFE ID, a service account, any principal, ...'),
    field: z.string().describe('Where it stands in the policy.'),
    excluded: z.boolean().describe('The rule is about all clients but these.'),
    state: z
      .string()
      .describe(
        'resolved, unheld, dangling, foreign, unbounded, type mismatch, service account, not SPIFFE, pattern, dead, unknown, unreadable.',
      ),
    text: z.string(),
    spiffeID: z.string().nullable().describe('The ID that it stands for.'),
    holders: z.array(holderSchema).optional().describe('The containers that hold the ID.'),
    declarers: z
      .array(
        z.object({
          source: z.string().describe('ClusterSPIFFEID/NAME or ClusterStaticEntry/NAME.'),
          binding: bindingKeySchema.nullable(),
          pool: z.string().nullable(),
          why: z.string().nullable().describe('Why no container holds the ID by this object.'),
        }),
      )
      .optional()
      .describe('The objects that give the ID.'),
    nearMisses: z
      .array(
        z.object({
          spiffeID: z.string(),
          how: z.string().describe('case, trust domain, prefix.'),
          text: z.string(),
          binding: bindingKeySchema.nullable(),
          source: z.string(),
        }),
      )
      .optional()
      .describe('IDs that are there and nearly the one that is not.'),
    wantedBy: z
      .array(z.object({ binding: bindingKeySchema, why: z.string() }))
      .optional()
      .describe('Bindings that ask for the ID and do not get it.'),
    never: z.string().nullable().optional().describe('Why no registration can have this ID.'),
    trustDomain: z.string().optional().describe('That of an ID which is not ours.'),
    federatedBy: z.array(z.string()).optional().describe('Objects that federate with that trust domain.'),
    type: z.string().optional().describe('The type of the source, as written.'),
    filled: z.string().optional().describe('The member that is filled in place of it.'),
    serviceAccount: z.string().optional().describe('As namespace/name.'),
    pods: z.array(podTextSchema).nullable().optional().describe('Pods of it; null where they are not known.'),
    kleymIDs: z.array(z.string()).optional().describe('IDs of bindings that those pods hold.'),
    because: z.string().optional().describe('gap, trust domain, prediction, template, spire, mesh.'),
    perhaps: z.array(z.string()).optional().describe('Objects that may give the ID.'),
    takesIn: z.array(z.string()).optional().describe('The IDs that a pattern takes in and something gives.'),
    bindings: z.array(bindingKeySchema).optional().describe('The bindings that give some of them.'),
    perhapsOthers: z.string().nullable().optional().describe('Why a pattern may take in others.'),
    standsFor: z.string().optional().describe('What a dead name is compared as.'),
    instead: z.string().nullable().optional().describe('The form that would be meant.'),
    where: z.string().optional().describe('The field that cannot be understood.'),
    why: z.string().optional(),
  })
  .describe('Whom one source of a rule names; which fields there are follows from the state.')
  .meta({ id: 'PolicySource' })

/** A PoliciesReport. */
export const policiesReportSchema = reportSchema('PoliciesReport', 'The answer of kubectl kleym policies.', {
  ...knowledgeFields,
  policies: z.array(
    z.object({
      policy: policyKeySchema,
      namespace: z.string(),
      name: z.string(),
      kind: z.string(),
      apiVersion: z.string(),
      interpreted: z.boolean().describe('False: of another version, whose rules are not read.'),
      targets: z.array(z.string()),
      action: z.string().nullable(),
      rules: z.array(
        z.object({
          at: count.describe('Its place in the policy, from 0.'),
          name: z.string(),
          asks: z.string().describe('any request, or the types of authorization.'),
          sources: z.array(sourceSchema),
          mentionedInCEL: z
            .array(z.string())
            .describe('SPIFFE IDs in its CEL texts, which are not interpreted.'),
          notes: z.array(noteSchema),
        }),
      ),
      notes: z.array(noteSchema),
      problems: z.array(z.string()).describe('What cannot be understood of it.'),
    }),
  ),
  mentions: z
    .array(
      z.object({
        kind: z.string(),
        apiVersion: z.string(),
        namespace: z.string(),
        name: z.string(),
        ...sourceSchema.shape,
      }),
    )
    .describe('SPIFFE IDs in any other string of any object.'),
})

const namingSchema = z
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
    notes: z.array(z.string()).describe('What does not take effect as it is written, by kind.'),
  })
  .describe('A rule of an access policy that names an identity.')
  .meta({ id: 'PolicyNaming' })

/** The field `namedBy`; absent where the kind is not served, or no file holds a policy. */
export const namedBySchema = z
  .object({
    rules: z
      .array(namingSchema)
      .describe('Those that name the ID or the service account; the others stand in `accessPolicies`.'),
    mentionedInCEL: z
      .array(z.object({ policy: policyKeySchema, rule: z.string(), spiffeID: z.string() }))
      .describe('Rules whose CEL text holds the ID; whether they ask for it is not known.'),
    mentionedIn: z
      .array(
        z.object({
          kind: z.string(),
          namespace: z.string(),
          name: z.string(),
          field: z.string(),
          spiffeID: z.string(),
        }),
      )
      .describe('Other objects with strings that hold the ID.'),
    asksDiffer: z.boolean().describe('Rules that name an ID exactly ask different things.'),
  })
  .describe('The rules of access policies that name an identity.')
  .meta({ id: 'NamedBy' })

/** The field `accessPolicies`; absent where the kind is not served, or no file holds a policy. */
export const accessPoliciesSchema = z
  .object({
    ...knowledgeFields,
    unbounded: z.array(namingSchema).describe('The rules that name any principal, and so every identity.'),
    uninterpreted: z
      .array(z.object({ policy: policyKeySchema, apiVersion: z.string() }))
      .describe('Policies that may name any identity too, and cannot be interpreted.'),
  })
  .describe('What access policies say of all identities.')
  .meta({ id: 'AccessPolicies' })

const sideSchema = z.object({ state: z.string(), text: z.string() }).nullable()

/** One rule of `policiesAffected`. */
export const affectedSchema = z
  .object({
    policy: policyKeySchema,
    kind: z
      .string()
      .describe('Of the policy, or of an object that mentions the ID; then `rule` is the field.'),
    rule: z.string(),
    spiffeID: z.string().nullable(),
    change: z
      .string()
      .describe(
        'lost, gained, moved, otherwise; perhaps, if that is not known; rule, where the rule itself changes.',
      ),
    before: sideSchema.describe('Null where there is no such rule.'),
    after: sideSchema,
    instead: z
      .array(z.object({ binding: bindingKeySchema, spiffeID: z.string() }))
      .describe('What the bindings that gave a lost ID give after the change.'),
  })
  .meta({ id: 'AffectedPolicy' })
