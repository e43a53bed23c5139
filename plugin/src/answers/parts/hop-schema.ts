// A hop of `why`, as several reports show it.
import * as z from 'zod'
import { HOP_NAMES, type Hop } from '@kleym/shared/core/answers/index.ts'
import { unknownJson } from '@kleym/shared/core/model/truth/unknown.ts'
import { list, made, orNull } from '../../frame/schema.ts'

/** The name of a hop. */
export const hopNameSchema = z.enum(HOP_NAMES)

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
