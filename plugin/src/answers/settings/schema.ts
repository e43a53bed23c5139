// The schema of `settings`.
import * as z from 'zod'
import { reportSchema } from '../../frame/schema.ts'

/** A SettingsReport. */
export const settingsReportSchema = reportSchema('SettingsReport', 'The answer of kubectl kleym settings.', {
  settings: z.array(
    z.object({
      setting: z
        .enum(['trustDomain', 'className', 'outputLabels', 'variantLabelKey', 'scmConfig'])
        .describe('As .kleym.yaml calls it.'),
      value: z.string().nullable().describe('Null if it is not known; empty if there is none.'),
      source: z.string().nullable().describe('Null if no source says it: the value is assumed.'),
      decides: z.string(),
    }),
  ),
})
