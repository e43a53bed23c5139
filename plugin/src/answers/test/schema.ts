// The schema of `test`.
import * as z from 'zod'
import { count, list, reportSchema } from '../../frame/schema.ts'
import { assertionSchema } from '../parts/assertion-schema.ts'

/** A TestReport. */
export const testReportSchema = reportSchema('TestReport', 'The answer of kubectl kleym test.', {
  counts: z.object({ passed: count, failed: count, unknown: count }),
  assertions: list(assertionSchema),
})
