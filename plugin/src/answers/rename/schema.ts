// The schema of `rename`.
import * as z from 'zod'
import type { Rename } from '@kleym/shared/core/answers/index.ts'
import { bindingKeySchema, list, made, orNull, reportSchema } from '../../frame/schema.ts'
import { consumersSchema, cutOffsSchema } from '../parts/consumers-schema.ts'
import { suggestedEffectSchema } from '../suggest/schema.ts'

function withIds<Id extends string | undefined, Model extends { readonly oldId: Id; readonly newId: Id }>(
  model: Model,
) {
  return { ...model, oldID: model.oldId, newID: model.newId }
}

/** A RenameReport. */
export const renameReportSchema = reportSchema('RenameReport', 'The answer of kubectl kleym rename.', {
  rename: z.object({
    kind: z.enum(['binding', 'pool', 'objective']),
    namespace: z.string(),
    from: z.string(),
    to: z.string(),
  }),
  cutOff: z
    .enum(['nobody', 'not known', 'somebody'])
    .describe('Whether a container is cut off in between, as far as its consumers were read.'),
  cutOffs: cutOffsSchema.describe('Why, what is certain first.'),
  bindings: list(
    made(
      z.object({
        binding: bindingKeySchema,
        next: bindingKeySchema.describe('The binding that takes its place; the same one if it is edited.'),
        oldID: orNull(z.string()).describe('Null: it gives none now.'),
        newID: orNull(z.string()).describe('Null: it would give none.'),
        why: orNull(z.string()).describe('Why it gives no ID, now or then.'),
        how: z
          .enum(['beside', 'bridge', 'nothing'])
          .describe('How both IDs are issued: by two bindings, by a registration by hand, or not at all.'),
        bridge: orNull(
          z.object({
            name: z.string(),
            isThere: z.boolean(),
            because: z.string().describe('Why two bindings would be refused.'),
            manifest: z.record(z.string(), z.unknown()),
          }),
        ),
        manifest: orNull(z.record(z.string(), z.unknown())).describe(
          'The binding to apply; null: it is there.',
        ),
      }),
      (one: Rename['renamed'][number]) => ({ ...withIds(one), binding: one.binding.key }),
    ),
  ).describe('The bindings that are renamed, or name what is.'),
  changes: list(
    z.object({
      oldID: z.string(),
      newID: z.string(),
      containers: list(z.object({ pod: z.string(), container: z.string() })).describe(
        'Those that lose the old ID in the end.',
      ),
    }),
  ),
  consumers: consumersSchema,
  steps: list(
    z.object({
      title: z.string(),
      lines: list(z.string()),
      check: z.string().describe('The command that checks it.'),
      shows: z.string().describe('What it shows once the step is done.'),
      without: z.string().describe('Who breaks if the step is left out.'),
    }),
  ),
  both: suggestedEffectSchema.describe('What issuing both IDs does to containers, compared with now.'),
  switched: suggestedEffectSchema.describe('What the switch does, compared with now.'),
  done: suggestedEffectSchema.describe('What the whole rename does.'),
})
