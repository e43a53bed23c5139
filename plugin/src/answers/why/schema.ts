// The schema of `why`.
import * as z from 'zod'
import type { Chain } from '@kleym/shared/core/answers/index.ts'
import { bindingKeySchema, list, made, orNull, podSchema, reportSchema } from '../../frame/schema.ts'
import { hopNameSchema, hopSchema } from '../parts/hop-schema.ts'

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
