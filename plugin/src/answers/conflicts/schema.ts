// The schema of `conflicts`.
import { count, reportSchema } from '../../frame/schema.ts'

/** A ConflictsReport. */
export const conflictsReportSchema = reportSchema(
  'ConflictsReport',
  'The answer of kubectl kleym conflicts.',
  {
    bindings: count.describe('How many bindings are in scope.'),
    namespaces: count.describe('How many namespaces they are in.'),
    policies: count
      .optional()
      .describe('How many access policies are in scope; absent where there is no policy.'),
    refused: count.describe('How many of them are refused, for whatever reason: explain names it.'),
  },
)
