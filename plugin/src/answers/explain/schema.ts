// The schemas of `explain`: the report, and the pages of finding codes.
import * as z from 'zod'
import type { Explanation, PeerExplanation } from '@kleym/shared/core/answers/index.ts'
import type { NamedBy } from '@kleym/shared/core/analysis/index.ts'
import { unknownReasonText } from '@kleym/shared/core/model/unknown-reason.ts'
import { SEVERITIES } from '@kleym/shared/core/findings/index.ts'
import { REPORT_API_VERSION } from '../../output/json.ts'
import {
  bindingKeySchema,
  codeSchema,
  count,
  list,
  made,
  modeSchema,
  orNull,
  podSchema,
  reportSchema,
  withId,
} from '../../frame/schema.ts'
import { accessPoliciesSchema, namedBySchema } from '../parts/policies-schema.ts'
import { alsoHeldSchema, lostSchema, missedSchema } from '../parts/holders-schema.ts'

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

const peerSchema = made(
  z.object({
    binding: bindingKeySchema,
    relation: z.enum(['SamePods', 'Contains', 'ContainedBy']),
    proof: z.string(),
    spiffeID: z.string(),
    witness: orNull(podSchema),
  }),
  withId<PeerExplanation>,
)

const reachSchema = z.object({
  reached: list(z.object({ pod: podSchema, containers: list(z.string()) })),
  perhaps: list(z.object({ pod: podSchema, why: z.string() })),
  missed: missedSchema.describe('The labels are right, and yet no container gets the identity.'),
  lost: lostSchema,
  alsoHeld: alsoHeldSchema,
})

const explanationSchema = made(
  z
    .object({
      binding: bindingKeySchema,
      ready: readySchema,
      reason: z.string().describe('The condition reason: docs/reference/reasons.md.'),
      message: z.string(),
      afterwards: orNull(z.object({ ready: readySchema, reason: z.string(), message: z.string() })).describe(
        'The verdict once everything has settled, where it differs.',
      ),
      spiffeID: orNull(z.string()),
      mode: orNull(modeSchema),
      steps: list(stepSchema),
      selectors: list(z.object({ selector: z.string(), object: z.string(), field: z.string() })),
      peers: list(peerSchema),
      output: orNull(
        z.object({
          name: z.string(),
          state: z.string().describe('up to date, to be created, to be updated.'),
          drift: list(z.string()),
        }),
      ),
      withdrawn: list(z.object({ name: z.string(), because: z.string() })),
      inForce: z
        .object({ status: readySchema, reason: z.string(), message: z.string() })
        .optional()
        .describe('The condition InForce of the status; absent where the status has none.'),
      reach: orNull(reachSchema),
      podsUnknown: orNull(z.string()).describe('Why there may be more pods than `reach` shows.'),
      namedBy: namedBySchema.optional(),
    })
    .meta({ id: 'Explanation' }),
  ({ explanation, namedBy }: ExplanationModel) => ({
    ...explanation,
    ...explanation.verdict,
    binding: explanation.key,
    spiffeID: explanation.identity?.spiffeId,
    mode: explanation.identity?.mode,
    podsUnknown:
      explanation.podsUnknown === undefined ? undefined : unknownReasonText(explanation.podsUnknown),
    namedBy,
  }),
)

interface ExplanationModel {
  readonly explanation: Explanation
  readonly namedBy: NamedBy | undefined
}

/** An ExplainReport. */
export const explainReportSchema = reportSchema('ExplainReport', 'The answer of kubectl kleym explain.', {
  bindings: list(explanationSchema),
  accessPolicies: accessPoliciesSchema.optional(),
  bindingsNotShown: count.optional().describe('How many bindings --only keeps out of this report.'),
})

/** The pages of finding codes and of condition reasons: `explain CODE`. */
export const findingPagesSchema = z
  .object({
    apiVersion: z.literal(REPORT_API_VERSION),
    kind: z.literal('FindingPages'),
    pages: list(
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
    reasons: list(
      z.object({
        reason: z.string(),
        condition: z.string().describe('The condition that has the reason.'),
        status: z.enum(['True', 'False', 'Unknown']).describe('The status of that condition.'),
        meaning: z.string(),
        fix: z.string().describe('What to do; empty where nothing is wrong.'),
      }),
    )
      .optional()
      .describe('The condition reasons without a finding code; absent where none is asked for.'),
  })
  .describe('The answer of kubectl kleym explain CODE.')
  .meta({ id: 'FindingPages' })
