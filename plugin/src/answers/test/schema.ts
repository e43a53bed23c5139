// The schema of `test`.
import * as z from 'zod'
import { count, reportSchema } from '../../frame/schema.ts'

/** One assertion. */
export const assertionSchema = z
  .object({
    test: z.string().describe('The name of the IdentityTest.'),
    name: z.string().describe('The test and the place in its spec: tenancy/containers[0].'),
    file: z.string(),
    line: count,
    state: z.enum(['passed', 'failed', 'unknown']),
    claim: z.string().describe('What is stated.'),
    description: z.string().nullable(),
    why: z.string().describe('Why it fails or is not known; empty where it passes.'),
    evidence: z.array(z.string()),
    fix: z.string().nullable(),
  })
  .describe('One assertion of an IdentityTest.')
  .meta({ id: 'Assertion' })

/** A TestReport. */
export const testReportSchema = reportSchema('TestReport', 'The answer of kubectl kleym test.', {
  counts: z.object({ passed: count, failed: count, unknown: count }),
  assertions: z.array(assertionSchema),
})
