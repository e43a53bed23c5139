// Who has to accept a new ID beside an old one, as `rename` and `migrate` report it.
import * as z from 'zod'
import type { Consumers, CutOff } from '@kleym/shared/core/answers/index.ts'
import { list, made, orNull } from '../../frame/schema.ts'

/** The places that name an old ID and not yet the new one. */
export const consumersSchema = list(
  made(
    z.object({
      kind: z.string(),
      consumer: z.string().describe('namespace/name, or the name of a file.'),
      where: z.string().describe('The list, rule or string that names the old ID and not the new one.'),
      written: z.string(),
      add: orNull(z.string()).describe('What to write beside it; null: there is no new ID.'),
      way: z
        .enum(['value', 'rule', 'one', 'text'])
        .describe('value: in the same list; rule: in another rule; one: not possible; text: not known.'),
      oldID: z.string(),
      newID: orNull(z.string()).describe('Null: a binding that migrate --from-go asks about gives none.'),
      isCertain: z.boolean(),
    }),
    (one: Consumers<string | undefined>['edits'][number]) => ({
      ...one,
      oldID: one.oldId,
      newID: one.newId,
      isCertain: one.whyOpen === undefined,
    }),
  ),
).describe('Who has to accept the new ID beside the old one, and does not yet.')

/** Why containers may be cut off in between, or are. */
export const cutOffsSchema = list(
  made(z.object({ text: z.string(), isCertain: z.boolean() }), ({ text, isOpen }: CutOff) => ({
    text,
    isCertain: !isOpen,
  })),
)
