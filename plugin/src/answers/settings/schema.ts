// The schema of `settings`.
import * as z from 'zod'
import { list, orNull, reportSchema } from '../../frame/schema.ts'

/** A SettingsReport. */
export const settingsReportSchema = reportSchema('SettingsReport', 'The answer of kubectl kleym settings.', {
  settings: list(
    z.object({
      setting: z
        .enum(['trustDomain', 'className', 'outputLabels', 'variantLabelKey', 'scmConfig'])
        .describe('As .kleym.yaml calls it.'),
      value: orNull(z.string()).describe('Null if it is not known; empty if there is none.'),
      source: orNull(z.string()).describe('Null if no source says it: the value is assumed.'),
      decides: z.string(),
    }),
  ),
})
