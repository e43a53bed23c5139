// The schema of a line of `watch -o json`.
import * as z from 'zod'
import { REPORT_API_VERSION } from '../../output/json.ts'
import { bindingKeySchema, count, missingSchema } from '../../frame/schema.ts'

/** A WatchEvent. */
export const watchEventSchema = z
  .object({
    apiVersion: z.literal(REPORT_API_VERSION),
    kind: z.literal('WatchEvent'),
    type: z
      .enum(['ADDED', 'MODIFIED', 'DELETED', 'KNOWLEDGE'])
      .describe('A binding came, changed or went; or what is known has changed.'),
    binding: bindingKeySchema.optional(),
    ready: z.enum(['True', 'False', 'Unknown']).nullable().optional().describe('Null while it is deleted.'),
    reason: z.string().optional().describe('The condition reason: docs/reference/reasons.md.'),
    message: z.string().optional(),
    spiffeID: z.string().nullable().optional(),
    due: z.string().optional().describe('What the operator must still do: none, create, update, withdraw.'),
    podsSelected: count.nullable().optional().describe('As SCM counts them; null where it has not.'),
    connected: z
      .boolean()
      .optional()
      .describe('False: what follows is as it was when the connection was lost.'),
    bindingsKnown: z.boolean().optional(),
    operatorDown: z
      .string()
      .nullable()
      .optional()
      .describe('Why the operator is down; null while it runs, or where that is not known.'),
    disagreements: z
      .array(z.string())
      .optional()
      .describe(
        'Which settings two sources give differently (KLM520), a sentence each, with the first object that does.',
      ),
    problems: z
      .array(z.string())
      .optional()
      .describe('What cannot be read of the files of --offline, a sentence each.'),
    missing: z
      .array(
        missingSchema.extend({ old: z.boolean().describe('It was known once, and is shown as it was.') }),
      )
      .optional(),
  })
  .describe(
    'One line of kubectl kleym watch -o json. All types but KNOWLEDGE are about a binding; KNOWLEDGE says what is known from then on.',
  )
  .meta({ id: 'WatchEvent' })
