// The schema of `diff`.
import * as z from 'zod'
import { REGISTRATION_CHANGES, type AffectedPolicy, type Effect } from '@kleym/shared/core/answers/index.ts'
import {
  bindingKeySchema,
  count,
  findingSchema,
  list,
  made,
  orNull,
  reportSchema,
  settingsSchema,
} from '../../frame/schema.ts'
import { assertionSchema } from '../parts/assertion-schema.ts'
import { budgetChangeSchema } from '../parts/budgets-schema.ts'
import { affectedSchema } from '../parts/policies-schema.ts'
import { holderSchema, identityChangesSchema, uncertainHolderSchema } from '../parts/holders-schema.ts'

const changeSchema = z.object({
  kind: z.enum(['create', 'update', 'delete']),
  name: z.string().describe('The name of a ClusterSPIFFEID.'),
  binding: bindingKeySchema,
  because: z.string(),
  before: z.string().describe('YAML; empty where it is not there.'),
  after: z.string().describe('YAML; empty where it is not there.'),
  dueAlready: z.boolean().describe('It is due whether or not the files are applied.'),
})

interface EffectModel {
  readonly effect: Effect
  readonly affected: readonly AffectedPolicy[] | undefined
}

/** A DiffReport. */
export const diffReportSchema = reportSchema('DiffReport', 'The answer of kubectl kleym diff.', {
  baseSettings: orNull(settingsSchema).describe(
    'With --base: the settings of that side; `settings` are those of the other.',
  ),
  takenToStay: list(
    z.object({ kind: z.string(), count, named: list(z.string()).describe('The first few.') }),
  ).describe('With --live: what no file holds; a deletion would look the same.'),
  changes: list(changeSchema),
  ownershipUnknown: list(z.string()).describe('Outputs that were matched by name and annotation alone.'),
  effect: made(
    z.object({
      gained: identityChangesSchema,
      lost: identityChangesSchema,
      stranded: list(holderSchema).describe('Containers that had an identity and are left with none.'),
      uncertain: list(uncertainHolderSchema).describe(
        'Containers whose identity, before or after, is undetermined.',
      ),
      verdicts: list(
        z.object({
          binding: bindingKeySchema,
          before: orNull(z.string()).describe('Null where there is no such binding.'),
          after: orNull(z.string()),
        }),
      ),
      edited: list(
        z.object({
          kind: z.string(),
          name: z.string(),
          change: z.enum(REGISTRATION_CHANGES),
          fields: list(z.string()).describe(
            'The fields of its spec that differ; none of one that is new or gone.',
          ),
        }),
      ).describe(
        "Registrations that are not kleym's, and ClusterFederatedTrustDomains, that are new, gone or have another spec: what entries carry may change, such as TTLs and `admin`.",
      ),
      newFindings: list(findingSchema).describe('All that are new, the suppressed ones too.'),
      fixedFindings: list(findingSchema).describe('Findings that are gone, whose object is there and well.'),
      noLongerApplyingFindings: list(findingSchema).describe('Findings that are gone with their object.'),
      perhapsGoneFindings: list(findingSchema).describe(
        'Those that are not found any more, and may be in what was not read after the change.',
      ),
      unchangedFindings: count,
      policiesAffected: list(affectedSchema)
        .optional()
        .describe(
          'Rules of access policies that name an ID which changes hands; absent where there is no policy.',
        ),
    }),
    ({ effect, affected }: EffectModel) => ({
      ...effect,
      newFindings: effect.findings.added,
      fixedFindings: effect.findings.fixed,
      noLongerApplyingFindings: effect.findings.noLongerApply,
      perhapsGoneFindings: effect.findings.perhapsGone,
      unchangedFindings: effect.findings.unchanged.length,
      policiesAffected: affected,
    }),
  ),
  entries: budgetChangeSchema.describe('What the change does to the number of registration entries.'),
  tests: z
    .object({
      broken: count,
      failingAlready: count.describe('Those that fail before the change too.'),
      unknown: count,
      mended: count,
      passed: count,
      brokenAssertions: list(assertionSchema),
    })
    .optional()
    .describe('With --tests: what the change does to identity tests.'),
})
