// The schema of `suggest`.
import * as z from 'zod'
import { bindingKeySchema, count, modeSchema, podTextSchema, reportSchema } from '../../frame/schema.ts'
import { lostSchema } from '../explain/schema.ts'
import { holderSchema, identityChangesSchema, uncertainHolderSchema } from '../diff/schema.ts'

const refSchema = z.object({ name: z.string() })

const bindingManifestSchema = z
  .object({
    apiVersion: z.string(),
    kind: z.string(),
    metadata: z.object({ name: z.string(), namespace: z.string() }),
    spec: z.object({
      mode: modeSchema,
      poolRef: refSchema,
      objectiveRef: refSchema.optional(),
      serviceAccountName: z.string(),
      containerName: z.string().optional(),
      identityBoundary: z.object({ variant: z.string() }).optional(),
    }),
  })
  .describe('An InferenceIdentityBinding, ready to be applied.')
  .meta({ id: 'BindingManifest' })

const companionsSchema = z.array(z.record(z.string(), z.unknown()))

const missesSchema = z.array(z.object({ pod: podTextSchema, verdict: z.string(), why: z.string() }))

/** A binding that is proven Ready. */
export const suggestedBindingSchema = z
  .object({
    binding: bindingKeySchema,
    companions: companionsSchema.describe(
      'ClusterSPIFFEIDs that are applied before it, which keep the identity of proxies of a mesh.',
    ),
    manifest: bindingManifestSchema,
    spiffeID: z.string(),
    why: z.array(z.string()),
    gains: z.array(z.object({ pod: podTextSchema, containers: z.array(z.string()) })),
    heldBefore: z
      .array(z.object({ pod: podTextSchema, containers: z.array(z.string()), certain: z.boolean() }))
      .describe('Containers that get the identity and have it already, for certain or perhaps.'),
    perhaps: missesSchema.describe('Pods that may get the identity.'),
    misses: missesSchema.describe('Pods of the pool that do not get it.'),
    loses: lostSchema,
    alsoHolds: z.array(
      z.object({ pod: podTextSchema, container: z.string(), spiffeID: z.string(), source: z.string() }),
    ),
  })
  .describe('A binding that is not there and would be Ready.')
  .meta({ id: 'SuggestedBinding' })

/** A binding that is not suggested. */
export const notSuggestedSchema = z
  .object({
    state: z
      .enum(['impossible', 'unproven', 'open'])
      .describe('Refused or harmful; dependent on what is not known; or left to a person to choose.'),
    mode: modeSchema.nullable(),
    what: z.string().describe('What was tried; empty where nothing could be named.'),
    companions: companionsSchema.describe('ClusterSPIFFEIDs that would be applied before them.'),
    manifests: z.array(bindingManifestSchema).describe('The bindings that were tried.'),
    reason: z
      .string()
      .nullable()
      .describe("A reason of the operator's conditions, or the code of a finding."),
    why: z.string(),
    fix: z.string().nullable(),
  })
  .meta({ id: 'NotSuggested' })

/** What a set of bindings does to containers. */
export const suggestedEffectSchema = z.object({
  gained: identityChangesSchema,
  lost: identityChangesSchema,
  stranded: z.array(holderSchema),
  uncertain: z.array(uncertainHolderSchema),
})

/** A SuggestReport. */
export const suggestReportSchema = reportSchema('SuggestReport', 'The answer of kubectl kleym suggest.', {
  counts: z.object({
    pools: count,
    suggested: count.describe('How many bindings are suggested.'),
    registrations: count.describe('How many bindings that are there need registrations beside them.'),
    withBinding: count.describe('How many of the pools have a binding already.'),
  }),
  pools: z.array(
    z.object({
      namespace: z.string(),
      name: z.string(),
      pods: count.describe('Pods and pod templates that the pool certainly selects.'),
      existing: z.array(
        z.object({
          binding: bindingKeySchema,
          verdict: z.string(),
          fix: z.string().nullable().describe('What to do about one that is refused.'),
        }),
      ),
      suggested: z.array(suggestedBindingSchema),
      registrations: z.array(
        z
          .object({
            beside: bindingKeySchema,
            manifests: companionsSchema,
            why: z.array(z.string()),
            certain: z.boolean(),
          })
          .describe('ClusterSPIFFEIDs for proxies that a binding leaves without the identity of their mesh.'),
      ),
      notSuggested: z.array(notSuggestedSchema),
      remarks: z.array(z.string()),
    }),
  ),
  effect: suggestedEffectSchema.describe('What applying all of them does to containers.'),
})
