// Every machine-readable report by its kind, and the JSON Schema that is published for them. A new report adds its schema
// here; the tests then hold all that is printed against it.
import * as z from 'zod'
import { conflictsReportSchema } from './conflicts/schema.ts'
import { diffReportSchema } from './diff/schema.ts'
import { explainReportSchema, findingPagesSchema } from './explain/schema.ts'
import { mapReportSchema } from './map/schema.ts'
import { migrateReportSchema } from './migrate/schema.ts'
import { policiesReportSchema } from './policies/schema.ts'
import { renameReportSchema } from './rename/schema.ts'
import { settingsReportSchema } from './settings/schema.ts'
import { statusReportSchema } from './status/schema.ts'
import { suggestReportSchema } from './suggest/schema.ts'
import { testReportSchema } from './test/schema.ts'
import { verifyReportSchema } from './verify/schema.ts'
import { watchEventSchema } from './watch/schema.ts'
import { whyReportSchema } from './why/schema.ts'
import { entriesReportSchema, whoSelectsReportSchema } from './who-selects/schema.ts'

/** A report of any kind. */
export const anyReportSchema = z
  .discriminatedUnion('kind', [
    conflictsReportSchema,
    diffReportSchema,
    entriesReportSchema,
    explainReportSchema,
    findingPagesSchema,
    mapReportSchema,
    migrateReportSchema,
    policiesReportSchema,
    renameReportSchema,
    settingsReportSchema,
    statusReportSchema,
    suggestReportSchema,
    testReportSchema,
    verifyReportSchema,
    watchEventSchema,
    whoSelectsReportSchema,
    whyReportSchema,
  ])
  .describe(
    'What kubectl kleym prints with -o json and -o yaml; watch prints one object per line, and -o yaml of suggest, migrate and rename is objects to apply. Fields are only ever added: objects are open, and a reader must take fields that it does not know. Enumerations are closed for this apiVersion; strings with examples may take further values.',
  )

/** `docs/reference/report.schema.json`: what zod makes of the schemas, as an input: objects stay open. */
export function reportJsonSchema(): string {
  const schema = z.toJSONSchema(anyReportSchema, { io: 'input', target: 'draft-2020-12' })
  const { $schema, ...rest } = schema
  return `${JSON.stringify({ $schema, title: 'Reports of kubectl kleym', ...rest }, null, 2)}\n`
}
