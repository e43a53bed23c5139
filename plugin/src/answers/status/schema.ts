// The schema of `status`.
import * as z from 'zod'
import { hopSchema } from '../parts/hop-schema.ts'
import {
  workloadText,
  type Stuck,
  type ScmInstance,
  type OperatorDeployment,
} from '@kleym/shared/core/analysis/index.ts'
import { resourceName } from '@kleym/shared/kube/resources.ts'
import type { KindFact } from '../../cluster/installation.ts'
import { bindingKeySchema, count, list, made, orNull, reportSchema } from '../../frame/schema.ts'
import { budgetsSchema } from '../parts/budgets-schema.ts'
import type { ScmCounters, StatusAnswer } from './model.ts'

/** A StatusReport. */
export const statusReportSchema = reportSchema('StatusReport', 'The answer of kubectl kleym status.', {
  kinds: list(
    made(
      z.object({
        kind: z.string().describe('Kind.group, or Kind for the core group.'),
        version: z.string(),
        served: z.string().describe('served, absent, unknown.'),
      }),
      ({ resource, served }: KindFact) => ({
        kind: resourceName(resource),
        version: resource.version,
        served: served.state,
      }),
    ),
  ),
  operators: orNull(
    list(
      made(
        z.object({
          namespace: z.string(),
          name: z.string(),
          replicas: z.number(),
          available: z.number(),
          images: list(z.string()),
        }),
        (one: OperatorDeployment) => ({ ...one, ...one.subject, replicas: one.wanted }),
      ),
    ),
  ).describe('Null where they could not be looked for.'),
  leader: orNull(
    made(
      z.object({ lease: z.string(), holder: z.string(), current: z.boolean() }),
      (one: NonNullable<StatusAnswer['leader']>) => ({ ...one, current: one.isCurrent }),
    ),
  ).describe('Null where none is elected, or the Lease could not be read.'),
  scmHandlesClass: z.string().describe('handled, ignored, depends, unknown, ...'),
  scms: list(
    made(
      z.object({
        config: z.string().describe('Where its configuration is.'),
        workloads: list(z.string()).describe('What runs with it, as far as that is known.'),
        className: orNull(z.string()).describe('Empty where it has none, null where it is not known.'),
        handlesClass: z.string().describe("What it does with kleym's output: handled, ignored, unknown, ..."),
      }),
      ({ settings, runBy, handling }: ScmInstance) => ({
        config: settings.source,
        workloads: runBy.map(({ workload }) => workloadText(workload)),
        className: settings.className,
        handlesClass: handling.state,
      }),
    ),
  ).describe('Every SPIRE controller manager that was found, the one that the answer is about first.'),
  conditions: orNull(
    list(
      z.object({
        ready: z.string().describe('True, False, Unknown, or none where there is no status.'),
        reason: z.string(),
        count,
      }),
    ),
  ).describe('Null where bindings could not be listed.'),
  inForce: list(z.object({ status: z.string().describe('True, False, Unknown.'), reason: z.string(), count }))
    .optional()
    .describe('The conditions InForce, by status and reason.'),
  spire: list(hopSchema)
    .optional()
    .describe('The hops of why that hang on no single pod: installed, on the server, on the agent.'),
  entries: made(
    z.object({
      byCounters: orNull(count).describe(
        'What ClusterSPIFFEIDs ask for, by their status.stats; null: they could not be listed.',
      ),
      counted: count.describe('ClusterSPIFFEIDs with counters.'),
      uncounted: count.describe('Those without.'),
    }),
    ({ entries, counted, uncounted, pass }: ScmCounters) => ({
      byCounters: pass === undefined ? undefined : entries,
      counted,
      uncounted,
    }),
  ),
  budgets: budgetsSchema.optional().describe('With --budgets: the entries that all pods ask for.'),
  oldestStuck: orNull(
    made(
      z.object({ binding: bindingKeySchema, since: z.string().describe('RFC 3339.'), reason: z.string() }),
      (stuck: Stuck) => ({ ...stuck, binding: stuck.binding.key }),
    ),
  ),
})
