// The schema of `why`.
import * as z from 'zod'
import { HOP_NAMES } from '@kleym/shared/core/why/hop.ts'
import { bindingKeySchema, podTextSchema, reportSchema } from '../../frame/schema.ts'

const hopNameSchema = z.enum(HOP_NAMES)

const causeSchema = z
  .object({
    cause: z.string().describe('unread, runtime, verdict, not followed, webhook, ...'),
    message: z.string(),
    fix: z.string().optional(),
    kind: z.string().optional(),
    namespace: z.string().optional(),
    name: z.string().optional(),
  })
  .meta({ id: 'HopCause' })

/** A hop of a report. */
export const hopSchema = z
  .object({
    hop: hopNameSchema,
    state: z.enum(['good', 'broken', 'not known']),
    text: z.string().describe('What is so, what is wrong, or what is not known.'),
    fix: z.string().nullable().describe('What to do; of a hop that is not known, what settles it.'),
    notes: z.array(z.string()).describe('What else there is to say; never the reason of the state.'),
    causes: z.array(causeSchema).describe('Why it is not known; empty where it is.'),
  })
  .meta({ id: 'Hop' })

const chainSchema = z
  .object({
    pod: podTextSchema,
    container: z.string(),
    node: z.string().nullable().describe('Null: on none, or not known.'),
    registrations: z
      .array(
        z.object({
          source: z.string().describe('ClusterSPIFFEID/NAME or ClusterStaticEntry/NAME.'),
          binding: bindingKeySchema.nullable(),
          spiffe_id: z.string().nullable().describe('Null: it cannot be rendered.'),
        }),
      )
      .describe(
        'Those that the hops are about: those that give the identity, or the one that is nearest to it.',
      ),
    broken: hopNameSchema.nullable().describe('The first hop that is broken.'),
    notKnown: hopNameSchema.nullable().describe('The first hop that is not known.'),
    hops: z.array(hopSchema).describe('All of them, in their order.'),
  })
  .meta({ id: 'Chain' })

/** A WhyReport. */
export const whyReportSchema = reportSchema('WhyReport', 'The answer of kubectl kleym why.', {
  chains: z.array(chainSchema).describe('One for each container that is asked about, the worst first.'),
})
