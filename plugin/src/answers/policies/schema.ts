// The schema of `policies`: what a rule names, and what became of it.
import * as z from 'zod'
import { namespacedName } from '@kleym/shared/core/model/namespaced-name.ts'
import { targetText } from '@kleym/shared/core/model/objects/access-policy.ts'
import {
  NOTE_KINDS,
  type NearMiss,
  type PolicyNote,
  type Resolution,
  type ResolvedPolicy,
  type ResolvedRule,
  type ResolvedSource,
} from '@kleym/shared/core/analysis/index.ts'
import {
  bindingKeySchema,
  count,
  list,
  made,
  orNull,
  podSchema,
  reportSchema,
  sourceSchema,
} from '../../frame/schema.ts'
import { knowledgeFields, policyKeySchema } from '../parts/policies-schema.ts'

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
  field: z.string().describe('Its place in the policy.'),
  excluded: z.boolean().describe('The rule is about all clients but these.'),
  state: z
    .string()
    .describe(
      'resolved, unheld, dangling, foreign, unbounded, type mismatch, service account, not SPIFFE, pattern, dead, unknown, unreadable.',
    ),
  text: z.string(),
  spiffeID: orNull(z.string()).describe('The ID that it means.'),
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
  because: z.string().optional().describe('gap, trust domain, prediction, template, spire, mesh, text.'),
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
  perhapsOthers: z
    .string()
    .nullable()
    .optional()
    .describe('Why a pattern may take in others, or other containers may hold the ID.'),
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
      return { ...resolution, perhaps: undefined, perhapsOthers: resolution.perhaps.why ?? null }
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
            (rule: ResolvedRule) => ({ ...rule, mentionedInCEL: rule.mentioned.map(({ text }) => text) }),
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
