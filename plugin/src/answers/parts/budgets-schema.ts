// The schema of the entries that a state asks for.
import * as z from 'zod'
import type { Amount, BudgetChange, OverLimit } from '@kleym/shared/core/analysis/index.ts'
import { unknownText } from '@kleym/shared/core/model/truth/unknown.ts'
import { bindingKeySchema, count, list, made, orNull } from '../../frame/schema.ts'
import type { BudgetReport } from './budgets.ts'

const amountSchema = made(
  z.object({
    certain: count,
    notKnown: list(z.string()).describe('Why there may be more; empty: that is all.'),
  }),
  ({ certain, causes }: Amount) => ({ certain, notKnown: [...causes].map(unknownText) }),
)

const overSchema = list(
  made(
    z.object({
      limit: z.string().describe('ofAgent, ofProcess, podsOfHalfGiB, passOfInterval.'),
      message: z.string(),
      source: z.string().describe('Who has met the limit: a page of the upstream project.'),
    }),
    (one: OverLimit) => ({ ...one, message: one.text }),
  ),
)

const eachPodSchema = (what: string) =>
  list(z.object({ workload: z.string(), entries: z.int() })).describe(what)

/** The entries of a state. */
export const budgetsSchema = made(
  z
    .object({
      entries: amountSchema.describe('Registration entries of pods that exist, and of ClusterStaticEntries.'),
      unmatched: amountSchema.describe('Those that no container of their pod can match.'),
      pods: count.describe('Pods that exist and were read.'),
      byBinding: list(z.object({ binding: bindingKeySchema, entries: count })),
      byNode: list(z.object({ node: z.string(), entries: count })),
      ofContainer: orNull(z.object({ name: z.string(), entries: count })).describe(
        'The container that the most entries match; null: none matches any.',
      ),
      ofEachPod: eachPodSchema('For one pod of a workload whose pods are not there yet.'),
      scm: z.object({
        pages: count.describe('Pages that each pass lists.'),
        passSeconds: z.number().describe('An estimate: docs/scale.md.'),
        gcIntervalSeconds: z.number(),
      }),
      overLimits: overSchema,
    })
    .meta({ id: 'Budgets' }),
  ({ budgets, pass, over }: BudgetReport) => ({
    ...budgets,
    byBinding: [...budgets.byBinding].map(([binding, entries]) => ({ binding, entries })),
    byNode: [...budgets.byNode].map(([node, entries]) => ({ node, entries })),
    ofEachPod: [...budgets.ofEachPod].map(([workload, entries]) => ({ workload, entries })),
    scm: { pages: pass.pages, passSeconds: pass.seconds, gcIntervalSeconds: pass.gcSeconds },
    overLimits: over,
  }),
)

/** What a change does to the entries, and the limits that it crosses. */
export interface BudgetDifference {
  readonly change: BudgetChange
  /** What is above a limit after it, and was not before. */
  readonly over: readonly OverLimit[]
}

/** The same in a report. */
export const budgetChangeSchema = made(
  z.object({
    added: count.describe('Entries that it certainly adds.'),
    removed: count.describe('Those that it certainly removes.'),
    open: count.describe('Those that may be there on one side alone.'),
    node: orNull(z.object({ name: z.string(), entries: count })).describe(
      'The node that gains the most, or loses the most if more are removed than added; null: none does.',
    ),
    byBinding: list(z.object({ binding: bindingKeySchema, entries: z.int() })),
    ofEachPod: eachPodSchema('For one pod of a workload whose pods are not there yet.'),
    notKnown: list(z.string()).describe('What was not read on either side.'),
    overLimits: overSchema.describe('What it brings above a limit.'),
  }),
  ({ change, over }: BudgetDifference) => ({
    ...change,
    byBinding: [...change.byBinding].map(([binding, entries]) => ({ binding, entries })),
    ofEachPod: [...change.ofEachPod].map(([workload, entries]) => ({ workload, entries })),
    notKnown: [...change.causes].map(unknownText),
    overLimits: over,
  }),
)
