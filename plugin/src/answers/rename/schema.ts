// The schema of `rename`.
import * as z from 'zod'
import { bindingKeySchema, reportSchema } from '../../frame/schema.ts'
import { suggestedEffectSchema } from '../suggest/schema.ts'

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
  cutOffs: z
    .array(z.object({ text: z.string(), isCertain: z.boolean() }))
    .describe('Why, what is certain first.'),
  bindings: z
    .array(
      z.object({
        binding: bindingKeySchema,
        next: bindingKeySchema.describe('The binding that takes its place; the same one if it is edited.'),
        oldID: z.string().nullable().describe('Null: it gives none now.'),
        newID: z.string().nullable().describe('Null: it would give none.'),
        why: z.string().nullable().describe('Why it gives no ID, now or then.'),
        how: z
          .enum(['beside', 'bridge', 'nothing'])
          .describe('How both IDs are issued: by two bindings, by a registration by hand, or not at all.'),
        bridge: z
          .object({
            name: z.string(),
            isThere: z.boolean(),
            because: z.string().describe('Why two bindings cannot stand.'),
            manifest: z.record(z.string(), z.unknown()),
          })
          .nullable(),
        manifest: z
          .record(z.string(), z.unknown())
          .nullable()
          .describe('The binding to apply; null: it is there.'),
      }),
    )
    .describe('The bindings that are renamed, or name what is.'),
  changes: z.array(
    z.object({
      oldID: z.string(),
      newID: z.string(),
      containers: z
        .array(z.object({ pod: z.string(), container: z.string() }))
        .describe('Those that lose the old ID in the end.'),
    }),
  ),
  consumers: z
    .array(
      z.object({
        kind: z.string(),
        consumer: z.string().describe('namespace/name, or the name of a file.'),
        where: z.string().describe('The list, rule or string that names the old ID and not the new one.'),
        written: z.string(),
        add: z.string().describe('What to write beside it.'),
        way: z
          .enum(['value', 'rule', 'one', 'text'])
          .describe('value: in the same list; rule: in another rule; one: not possible; text: not known.'),
        oldID: z.string(),
        newID: z.string(),
        isCertain: z.boolean(),
      }),
    )
    .describe('Who has to accept the new ID beside the old one, and does not yet.'),
  steps: z.array(
    z.object({
      title: z.string(),
      lines: z.array(z.string()),
      check: z.string().describe('The command that checks it.'),
      shows: z.string().describe('What it shows once the step is done.'),
      without: z.string().describe('Who breaks if the step is left out.'),
    }),
  ),
  both: suggestedEffectSchema.describe('What issuing both IDs does to containers, compared with now.'),
  switched: suggestedEffectSchema.describe('What the switch does, compared with now.'),
  done: suggestedEffectSchema.describe('What the whole rename does.'),
})
