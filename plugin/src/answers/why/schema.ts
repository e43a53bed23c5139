// The schema of `why`.
import * as z from 'zod'
import { HOP_NAMES, type Hop } from '@kleym/shared/core/why/hop.ts'
import { unknownJson } from '@kleym/shared/core/truth/unknown.ts'
import type { Chain } from '@kleym/shared/core/why/chain.ts'
import { bindingKeySchema, list, made, orNull, podSchema, reportSchema } from '../../frame/schema.ts'

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
export const hopSchema = made(
  z
    .object({
      hop: hopNameSchema,
      state: z.enum(['good', 'broken', 'not known']),
      text: z.string().describe('What is so, what is wrong, or what is not known.'),
      fix: orNull(z.string()).describe('What to do; of a hop that is not known, what settles it.'),
      notes: list(z.string()).describe('What else there is to say; never the reason of the state.'),
      causes: list(causeSchema).describe('Why it is not known; empty where it is.'),
    })
    .meta({ id: 'Hop' }),
  ({ name, truth, notes = [], ...rest }: Hop) => ({
    ...rest,
    hop: name,
    state: STATES[truth.value],
    notes,
    causes: [...truth.causes].map(unknownJson),
  }),
)

const STATES = { yes: 'good', no: 'broken', open: 'not known' } as const

const chainSchema = made(
  z
    .object({
      pod: podSchema,
      container: z.string(),
      node: orNull(z.string()).describe('Null: on none, or not known.'),
      registrations: list(
        z.object({
          source: z.string().describe('ClusterSPIFFEID/NAME or ClusterStaticEntry/NAME.'),
          binding: orNull(bindingKeySchema),
          spiffe_id: orNull(z.string()).describe('Null: it cannot be rendered.'),
        }),
      ).describe(
        'Those that the hops are about: those that give the identity, or the one that is nearest to it.',
      ),
      broken: orNull(hopNameSchema).describe('The first hop that is broken.'),
      notKnown: orNull(hopNameSchema).describe('The first hop that is not known.'),
      hops: list(hopSchema).describe('All of them, in their order.'),
    })
    .meta({ id: 'Chain' }),
  ({ subject, registrations, hops, broken, open }: Chain) => ({
    pod: subject.pod,
    container: subject.container.name,
    node: subject.pod.nodeName,
    registrations: registrations.map((one) => ({ ...one, spiffe_id: one.spiffeId })),
    broken: broken?.name,
    notKnown: open?.name,
    hops,
  }),
)

/** A WhyReport. */
export const whyReportSchema = reportSchema('WhyReport', 'The answer of kubectl kleym why.', {
  chains: list(chainSchema).describe('One for each container that is asked about, the worst first.'),
})
