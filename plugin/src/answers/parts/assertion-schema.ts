// An assertion of an identity test, as several reports show it.
import * as z from 'zod'
import { count, list, made, orNull } from '../../frame/schema.ts'
import { assertionName, type AssertionResult } from '../parts/assertions.ts'

/** One assertion. */
export const assertionSchema = made(
  z
    .object({
      test: z.string().describe('The name of the IdentityTest.'),
      name: z.string().describe('The test and the place in its spec: tenancy/containers[0].'),
      file: z.string(),
      line: count,
      state: z.enum(['passed', 'failed', 'unknown']),
      claim: z.string().describe('What is stated.'),
      description: orNull(z.string()),
      why: z.string().describe('Why it fails or is not known; empty where it passes.'),
      evidence: list(z.string()),
      fix: orNull(z.string()),
    })
    .describe('One assertion of an IdentityTest.')
    .meta({ id: 'Assertion' }),
  (one: AssertionResult) => ({
    ...one.outcome,
    ...one.place(),
    test: one.test,
    name: assertionName(one),
    description: one.assertion.description,
  }),
)
