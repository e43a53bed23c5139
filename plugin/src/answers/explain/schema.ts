// The schemas of `explain`: the report, and the pages of finding codes.
import * as z from 'zod'
import { SEVERITIES } from '@kleym/shared/core/registry/findings.ts'
import { REPORT_API_VERSION } from '../../output/json.ts'
import {
  bindingKeySchema,
  codeSchema,
  count,
  modeSchema,
  podTextSchema,
  reportSchema,
} from '../../frame/schema.ts'
import { accessPoliciesSchema, namedBySchema } from '../policies/schema.ts'

const readySchema = z.enum(['True', 'False', 'Unknown'])

const stepSchema = z.object({
  name: z
    .string()
    .describe(
      'pool, objective, selector, mode, account, container, variant (with one), proof, SPIFFE ID, collision, output.',
    ),
  outcome: z.enum(['passed', 'failed', 'unknown', 'not judged']),
  text: z.string(),
})

const peerSchema = z.object({
  binding: bindingKeySchema,
  relation: z.enum(['SamePods', 'Contains', 'ContainedBy']),
  proof: z.string(),
  spiffeID: z.string(),
  witness: podTextSchema.nullable(),
})

const notReachedSchema = z.object({ pod: podTextSchema, verdict: z.string(), why: z.string() })

/** The default identities that containers lose. */
export const lostSchema = z
  .array(
    z.object({
      pod: podTextSchema,
      containers: z.array(z.string()),
      spiffeID: z.string(),
      source: z.string(),
      instead: z.array(z.string()).describe('What they hold in its place.'),
      kept: z
        .array(z.string())
        .describe('What they hold with and without it. If there is neither, they are left with none.'),
      certain: z.boolean(),
    }),
  )
  .describe('Default identities of fallbacks that give way.')

const reachSchema = z.object({
  reached: z.array(z.object({ pod: podTextSchema, containers: z.array(z.string()) })),
  perhaps: z.array(z.object({ pod: podTextSchema, why: z.string() })),
  missed: z.array(notReachedSchema).describe('The labels are right, and yet no container gets the identity.'),
  lost: lostSchema,
  alsoHeld: z.array(
    z.object({ pod: podTextSchema, container: z.string(), spiffeID: z.string(), source: z.string() }),
  ),
})

const explanationSchema = z
  .object({
    binding: bindingKeySchema,
    ready: readySchema.nullable().describe('Null for a binding that is being deleted.'),
    reason: z.string().describe('The condition reason: docs/reference/reasons.md.'),
    message: z.string(),
    afterwards: z
      .object({ ready: readySchema, reason: z.string(), message: z.string() })
      .nullable()
      .describe('The verdict once everything has settled, where it differs.'),
    spiffeID: z.string().nullable(),
    mode: modeSchema.nullable(),
    steps: z.array(stepSchema),
    selectors: z.array(z.object({ selector: z.string(), object: z.string(), field: z.string() })),
    peers: z.array(peerSchema),
    output: z
      .object({
        name: z.string(),
        state: z.string().describe('up to date, to be created, to be updated.'),
        drift: z.array(z.string()),
      })
      .nullable(),
    withdrawn: z.array(z.object({ name: z.string(), because: z.string() })),
    inForce: z
      .object({ status: readySchema, reason: z.string(), message: z.string() })
      .optional()
      .describe('The condition InForce of the status; absent where the status has none.'),
    reach: reachSchema.nullable(),
    podsUnknown: z.string().nullable().describe('Why there may be more pods than `reach` shows.'),
    namedBy: namedBySchema.optional(),
  })
  .meta({ id: 'Explanation' })

/** An ExplainReport. */
export const explainReportSchema = reportSchema('ExplainReport', 'The answer of kubectl kleym explain.', {
  bindingsNotShown: count.optional().describe('How many bindings --only keeps out of this report.'),
  bindings: z.array(explanationSchema),
  accessPolicies: accessPoliciesSchema.optional(),
})

/** The pages of finding codes: `explain CODE`. */
export const findingPagesSchema = z
  .object({
    apiVersion: z.literal(REPORT_API_VERSION),
    kind: z.literal('FindingPages'),
    pages: z.array(
      z.object({
        code: codeSchema,
        severity: z.enum(SEVERITIES),
        title: z.string(),
        meaning: z.string(),
        consequence: z.string(),
        fix: z.string(),
        reason: z.string().optional().describe('The condition reason of the operator for the same thing.'),
        example: z
          .object({ bad: z.string(), good: z.string() })
          .optional()
          .describe(
            'YAML that shows the finding, and YAML that does not; absent where no manifest alone shows it.',
          ),
      }),
    ),
  })
  .describe('The answer of kubectl kleym explain CODE.')
  .meta({ id: 'FindingPages' })
