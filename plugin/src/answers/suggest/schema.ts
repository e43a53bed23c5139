// The schema of `suggest`.
import * as z from 'zod'
import {
  candidateManifest,
  manifestsBefore,
  type NotSuggested,
  type PoolSuggestions,
  type SuggestedBinding,
} from '@kleym/shared/core/answers/index.ts'
import {
  bindingKeySchema,
  count,
  list,
  made,
  modeSchema,
  orNull,
  podSchema,
  reportSchema,
} from '../../frame/schema.ts'
import {
  alsoHeldSchema,
  holderSchema,
  identityChangesSchema,
  lostSchema,
  missedSchema,
  uncertainHolderSchema,
} from '../parts/holders-schema.ts'
import { gainsOf } from './words.ts'

const refSchema = z.object({ name: z.string() })

const bindingManifestSchema = z
  .looseObject({
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

const companionsSchema = list(z.record(z.string(), z.unknown()))

/** A binding that is proven Ready. */
export const suggestedBindingSchema = made(
  z
    .object({
      binding: bindingKeySchema,
      companions: companionsSchema.describe(
        'ClusterSPIFFEIDs that are applied before it, which keep the identity of proxies of a mesh.',
      ),
      manifest: bindingManifestSchema,
      spiffeID: z.string(),
      why: list(z.string()),
      gains: list(z.object({ pod: podSchema, containers: list(z.string()) })),
      heldBefore: list(
        made(
          z.object({ pod: podSchema, containers: list(z.string()), certain: z.boolean() }),
          (one: SuggestedBinding['heldBefore'][number]) => ({ ...one, certain: one.isCertain }),
        ),
      ).describe('Containers that get the identity and have it already, for certain or perhaps.'),
      perhaps: missedSchema.describe('Pods that may get the identity.'),
      misses: missedSchema.describe('Pods of the pool that do not get it.'),
      loses: lostSchema,
      alsoHolds: alsoHeldSchema,
    })
    .describe('A binding that is not there and would be Ready.')
    .meta({ id: 'SuggestedBinding' }),
  (one: SuggestedBinding) => ({
    ...one,
    binding: one.key,
    companions: manifestsBefore(one.candidate),
    manifest: candidateManifest(one.candidate),
    spiffeID: one.spiffeId,
    gains: gainsOf(one.reach, one.heldBefore),
    perhaps: one.reach.perhaps,
    misses: one.reach.missed,
    loses: one.reach.lost,
    alsoHolds: one.reach.alsoHeld,
  }),
)

/** A binding that is not suggested. */
export const notSuggestedSchema = made(
  z
    .object({
      state: z
        .enum(['impossible', 'unproven', 'open'])
        .describe('Refused or harmful; dependent on what is not known; or left to a person to choose.'),
      mode: orNull(modeSchema),
      what: z.string().describe('What was tried; empty where nothing could be named.'),
      companions: companionsSchema.describe('ClusterSPIFFEIDs that would be applied before them.'),
      manifests: list(bindingManifestSchema).describe('The bindings that were tried.'),
      reason: orNull(z.string()).describe("A reason of the operator's conditions, or the code of a finding."),
      why: z.string(),
      fix: orNull(z.string()),
    })
    .meta({ id: 'NotSuggested' }),
  (one: NotSuggested) => ({
    ...one,
    companions: one.tried.flatMap(manifestsBefore),
    manifests: one.tried.map(candidateManifest),
  }),
)

type Existing = PoolSuggestions['existing'][number]

const existingFields = { binding: bindingKeySchema, verdict: z.string() }

function existingOf(one: Existing): Existing & { readonly binding: string } {
  return { ...one, binding: one.key }
}

/** The bindings that are there, each with its verdict. */
export const existingSchema = list(made(z.object(existingFields), existingOf))

/** What a set of bindings does to containers. */
export const suggestedEffectSchema = z.object({
  gained: identityChangesSchema,
  lost: identityChangesSchema,
  stranded: list(holderSchema),
  uncertain: list(uncertainHolderSchema),
})

/** A SuggestReport. */
export const suggestReportSchema = reportSchema('SuggestReport', 'The answer of kubectl kleym suggest.', {
  counts: z.object({
    pools: count,
    suggested: count.describe('How many bindings are suggested.'),
    registrations: count.describe('How many bindings that are there need registrations beside them.'),
    withBinding: count.describe('How many of the pools have a binding already.'),
  }),
  pools: list(
    made(
      z.object({
        namespace: z.string(),
        name: z.string(),
        pods: count.describe('Pods and pod templates that the pool certainly selects.'),
        existing: list(
          made(
            z.object({
              ...existingFields,
              fix: orNull(z.string()).describe('What to do about one that is refused.'),
            }),
            existingOf,
          ),
        ),
        suggested: list(suggestedBindingSchema),
        registrations: list(
          made(
            z
              .object({
                beside: bindingKeySchema,
                manifests: companionsSchema,
                why: list(z.string()),
                certain: z.boolean(),
              })
              .describe(
                'ClusterSPIFFEIDs for proxies that a binding leaves without the identity of their mesh.',
              ),
            ({ candidate, key, why, dependsOn }: PoolSuggestions['registrations'][number]) => ({
              beside: key,
              manifests: manifestsBefore(candidate),
              why,
              certain: dependsOn === undefined,
            }),
          ),
        ),
        notSuggested: list(notSuggestedSchema),
        remarks: list(z.string()),
      }),
      ({ pool, pods, not, ...rest }: PoolSuggestions) => ({
        ...rest,
        ...pool,
        pods: pods.total,
        notSuggested: not,
      }),
    ),
  ),
  effect: suggestedEffectSchema.describe('What applying all of them does to containers.'),
})
