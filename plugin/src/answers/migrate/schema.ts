// The schema of `migrate`.
import * as z from 'zod'
import { bindingKeySchema, count, reportSchema } from '../../frame/schema.ts'
import { notSuggestedSchema, suggestedBindingSchema, suggestedEffectSchema } from '../suggest/schema.ts'

const containersSchema = {
  container: z.string(),
  pods: z.string().describe('The first few, and how many more.'),
  count,
}

/** A MigrateReport. */
export const migrateReportSchema = reportSchema('MigrateReport', 'The answer of kubectl kleym migrate.', {
  fromGo: z
    .array(
      z.object({
        binding: bindingKeySchema,
        oldID: z.string().nullable().describe('Null: not known.'),
        newID: z.string().nullable().describe('Null: it is not ready here.'),
        verdict: z.string(),
        policies: z.array(z.string()).describe('The rules of access policies that name the old ID.'),
      }),
    )
    .optional()
    .describe('With --from-go: what becomes of bindings of the Go implementation.'),
  steps: z
    .array(z.object({ title: z.string(), lines: z.array(z.string()) }))
    .optional()
    .describe('With --from-go.'),
  registrations: z.array(
    z.object({
      name: z.string().describe('The name of the ClusterSPIFFEID.'),
      fallback: z.boolean().describe('It gives way as soon as a binding is applied to a pod.'),
      oldIDs: z.array(z.string()),
      bindings: z.array(suggestedBindingSchema),
      existing: z.array(z.object({ binding: bindingKeySchema, verdict: z.string() })),
      notSuggested: z.array(
        z.object({ pool: z.string().describe('namespace/name'), suggestion: notSuggestedSchema }),
      ),
      containers: z
        .array(
          z.object({
            ...containersSchema,
            before: z.array(z.string()).describe('The SPIFFE IDs that it certainly holds.'),
            during: z.array(z.string()).describe('With the bindings, the registration still there.'),
            after: z.array(z.string()).describe('Without the registration.'),
            uncertain: z.boolean(),
          }),
        )
        .describe('Containers of one name to which the same happens.'),
      uncovered: z
        .array(z.object({ ...containersSchema, why: z.string() }))
        .describe('Containers that the registration gives an identity, and no binding does.'),
      remainder: z
        .array(
          z.object({
            what: z.string(),
            old: z.string(),
            next: z.string().nullable().describe('Null: nothing takes its place.'),
            consequence: z.string(),
            mustStay: z.boolean().describe('The registration must stay for it.'),
          }),
        )
        .describe('What no binding can say.'),
      policies: z.array(z.object({ policy: z.string(), rule: z.string(), way: z.string() })),
      tests: z
        .array(
          z.object({
            file: z.string(),
            line: count,
            what: z.string().describe('The old ID, or the assertion.'),
            how: z.enum(['names', 'breaks']),
          }),
        )
        .describe('With --tests: where identity tests name an old ID, and which of them break.'),
      applying: suggestedEffectSchema.describe('What applying the bindings does.'),
      whole: suggestedEffectSchema.describe('What applying them and deleting the registration does.'),
      steps: z.array(z.object({ title: z.string(), lines: z.array(z.string()) })),
      open: z.array(z.string()).describe('Not empty: what it gives to some pods is not certain.'),
    }),
  ),
})
