// The schema of `status`.
import * as z from 'zod'
import { hopSchema } from '../why/schema.ts'
import { bindingKeySchema, count, reportSchema } from '../../frame/schema.ts'

/** A StatusReport. */
export const statusReportSchema = reportSchema('StatusReport', 'The answer of kubectl kleym status.', {
  kinds: z.array(
    z.object({
      kind: z.string().describe('Kind.group, or Kind for the core group.'),
      version: z.string(),
      served: z.string().describe('served, absent, unknown.'),
    }),
  ),
  operators: z
    .array(
      z.object({
        namespace: z.string(),
        name: z.string(),
        replicas: z.number(),
        available: z.number(),
        images: z.array(z.string()),
      }),
    )
    .nullable()
    .describe('Null where they could not be looked for.'),
  leader: z
    .object({ lease: z.string(), holder: z.string(), current: z.boolean() })
    .nullable()
    .describe('Null where no Lease could be read.'),
  scmHandlesClass: z.string().describe('handled, ignored, depends, unknown, ...'),
  scms: z
    .array(
      z.object({
        config: z.string().describe('Where its configuration stands.'),
        workloads: z.array(z.string()).describe('What runs with it, as far as that is known.'),
        className: z.string().nullable().describe('Empty where it has none, null where it is not known.'),
        handlesClass: z.string().describe("What it does with kleym's output: handled, ignored, unknown, ..."),
      }),
    )
    .describe('Every SPIRE controller manager that was found, the one that the answer is about first.'),
  conditions: z
    .array(
      z.object({
        ready: z.string().describe('True, False, Unknown, or none where there is no status.'),
        reason: z.string(),
        count,
      }),
    )
    .nullable()
    .describe('Null where bindings could not be listed.'),
  inForce: z
    .array(z.object({ status: z.string().describe('True, False, Unknown.'), reason: z.string(), count }))
    .optional()
    .describe('The conditions InForce, by status and reason.'),
  spire: z
    .array(hopSchema)
    .optional()
    .describe('The hops of why that hang on no single pod: installed, on the server, on the agent.'),
  oldestStuck: z
    .object({ binding: bindingKeySchema, since: z.string().describe('RFC 3339.'), reason: z.string() })
    .nullable(),
})
