// The schema of `diff`.
import * as z from 'zod'
import {
  bindingKeySchema,
  count,
  findingSchema,
  podTextSchema,
  reportSchema,
  settingsSchema,
} from '../../frame/schema.ts'
import { assertionSchema } from '../test/schema.ts'
import { affectedSchema } from '../policies/schema.ts'

/** A container of a pod. */
export const holderSchema = z.object({ pod: podTextSchema, container: z.string() }).meta({ id: 'Holder' })
/** A container that perhaps gains or loses an identity. */
export const uncertainHolderSchema = holderSchema
  .extend({
    why: z.array(z.string()).describe('What leaves it open, each a sentence fragment: the first 20.'),
  })
  .meta({ id: 'UncertainHolder' })
/** Who gains or loses which ID. */
export const identityChangesSchema = z.array(
  z.object({ spiffeID: z.string(), containers: z.array(holderSchema) }),
)

const changeSchema = z.object({
  kind: z.enum(['create', 'update', 'delete']),
  name: z.string().describe('The name of a ClusterSPIFFEID.'),
  binding: bindingKeySchema,
  because: z.string(),
  before: z.string().describe('YAML; empty where it is not there.'),
  after: z.string().describe('YAML; empty where it is not there.'),
  dueAlready: z.boolean().describe('It is due whether or not the files are applied.'),
})

/** A DiffReport. */
export const diffReportSchema = reportSchema('DiffReport', 'The answer of kubectl kleym diff.', {
  baseSettings: settingsSchema
    .nullable()
    .describe('With --base: the settings of that side; `settings` are those of the other.'),
  takenToStay: z
    .array(z.object({ kind: z.string(), count, named: z.array(z.string()).describe('The first few.') }))
    .describe('With --live: what no file holds; a deletion would look the same.'),
  changes: z.array(changeSchema),
  ownershipUnknown: z.array(z.string()).describe('Outputs that were matched by name and annotation alone.'),
  effect: z.object({
    gained: identityChangesSchema,
    lost: identityChangesSchema,
    stranded: z.array(holderSchema).describe('Containers that had an identity and are left with none.'),
    uncertain: z
      .array(uncertainHolderSchema)
      .describe('Containers whose identity, before or after, is undetermined.'),
    verdicts: z.array(
      z.object({
        binding: bindingKeySchema,
        before: z.string().nullable().describe('Null where there is no such binding.'),
        after: z.string().nullable(),
      }),
    ),
    newFindings: z.array(findingSchema).describe('All that are new, the suppressed ones too.'),
    fixedFindings: z
      .array(findingSchema)
      .describe('Those that are gone and after which a container or a binding is better off.'),
    noLongerApplyingFindings: z
      .array(findingSchema)
      .describe('The others that are gone: what they told of is not there any more.'),
    perhapsGoneFindings: z
      .array(findingSchema)
      .describe('Those that are not found any more, and may be in what was not read after the change.'),
    unchangedFindings: count,
    policiesAffected: z
      .array(affectedSchema)
      .optional()
      .describe(
        'Rules of access policies that name an ID which changes hands; absent where there is no policy.',
      ),
  }),
  tests: z
    .object({
      broken: count,
      failingAlready: count.describe('Those that fail before the change too.'),
      unknown: count,
      mended: count,
      passed: count,
      brokenAssertions: z.array(assertionSchema),
    })
    .optional()
    .describe('With --tests: what the change does to identity tests.'),
})
