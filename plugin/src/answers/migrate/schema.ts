// The schema of `migrate`.
import * as z from 'zod'
import { type Migration, migrationSteps } from '@kleym/shared/core/answers/index.ts'
import { bindingKeySchema, count, list, made, orNull, reportSchema } from '../../frame/schema.ts'
import { consumersSchema, cutOffsSchema } from '../parts/consumers-schema.ts'
import {
  existingSchema,
  notSuggestedSchema,
  suggestedBindingSchema,
  suggestedEffectSchema,
} from '../suggest/schema.ts'
import type { NamedInTest } from './tests.ts'

const containersSchema = {
  container: z.string(),
  pods: z.string().describe('The first few, and how many more.'),
  count,
}

interface MigrationModel {
  readonly migration: Migration
  readonly tests: readonly NamedInTest[]
}

/** A MigrateReport. */
export const migrateReportSchema = reportSchema('MigrateReport', 'The answer of kubectl kleym migrate.', {
  registrations: list(
    made(
      z.object({
        name: z.string().describe('The name of the ClusterSPIFFEID.'),
        fallback: z.boolean().describe('It gives way as soon as a binding is applied to a pod.'),
        oldIDs: list(z.string()),
        bindings: list(suggestedBindingSchema),
        existing: existingSchema,
        notSuggested: list(
          z.object({ pool: z.string().describe('namespace/name'), suggestion: notSuggestedSchema }),
        ),
        containers: list(
          z.object({
            ...containersSchema,
            before: list(z.string()).describe('The SPIFFE IDs that it certainly holds.'),
            during: list(z.string()).describe('With the bindings, the registration still there.'),
            after: list(z.string()).describe('Without the registration.'),
            uncertain: z.boolean(),
          }),
        ).describe('Containers of one name to which the same happens.'),
        uncovered: list(z.object({ ...containersSchema, why: z.string() })).describe(
          'Containers that the registration gives an identity, and no binding does.',
        ),
        remainder: list(
          z.object({
            what: z.string(),
            old: z.string(),
            next: orNull(z.string()).describe('Null: nothing takes its place.'),
            consequence: z.string(),
            mustStay: z.boolean().describe('The registration must stay for it.'),
          }),
        ).describe('What no binding can say.'),
        consumers: consumersSchema,
        cutOffs: cutOffsSchema.describe('Consumers that cannot accept both IDs, or may not.'),
        tests: list(
          z.object({
            file: z.string(),
            line: count,
            what: z.string().describe('The old ID, or the assertion.'),
            how: z.enum(['names', 'breaks']),
          }),
        ).describe('With --tests: where identity tests name an old ID, and which of them break.'),
        applying: suggestedEffectSchema.describe('What applying the bindings does.'),
        whole: suggestedEffectSchema.describe('What applying them and deleting the registration does.'),
        steps: list(z.object({ title: z.string(), lines: list(z.string()) })),
        open: list(z.string()).describe('Not empty: what it gives to some pods is not certain.'),
      }),
      ({ migration, tests }: MigrationModel) => {
        const { object, oldIds, suggestions, moves, consumers, effects } = migration
        const { pools } = suggestions
        return {
          ...migration,
          name: object.meta.name,
          fallback: object.spec.fallback,
          oldIDs: oldIds,
          bindings: pools.flatMap(({ suggested }) => suggested),
          existing: pools.flatMap(({ existing }) => existing),
          notSuggested: pools.flatMap(({ pool, not }) =>
            not.map((one) => ({ pool: `${pool.namespace}/${pool.name}`, suggestion: one })),
          ),
          containers: moves.map(({ container, pods, before, during, after }) => ({
            container,
            pods: pods.text(),
            count: pods.count,
            before: before.ids,
            during: during.ids,
            after: after.ids,
            uncertain: [before, during, after].some(({ perhaps, isOther }) => perhaps.length > 0 || isOther),
          })),
          uncovered: migration.uncovered.map((one) => ({
            ...one,
            pods: one.pods.text(),
            count: one.pods.count,
          })),
          consumers: consumers.edits,
          tests,
          applying: effects.apply,
          whole: effects.whole,
          steps: migrationSteps(migration),
        }
      },
    ),
  ).describe('Each plan begins where the steps of those before it end.'),
  fromGo: list(
    z.object({
      binding: bindingKeySchema,
      oldID: orNull(z.string()).describe('Null: not known.'),
      newID: orNull(z.string()).describe('Null: it is not ready here.'),
      verdict: z.string(),
      consumers: consumersSchema,
    }),
  )
    .optional()
    .describe('With --from-go: what happens to bindings of the Go implementation.'),
  cutOffs: cutOffsSchema.optional().describe('With --from-go.'),
  steps: list(z.object({ title: z.string(), lines: list(z.string()) }))
    .optional()
    .describe('With --from-go.'),
})
