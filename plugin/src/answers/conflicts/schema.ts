// The schema of `conflicts`.
import * as z from 'zod'
import type { ClustersComparison, ComparedCluster, SharedId } from '@kleym/shared/core/answers/index.ts'
import { count, list, made, orNull, reportSchema, subjectSchema } from '../../frame/schema.ts'

const giverSchema = z.object({
  subject: subjectSchema,
  containers: count.describe('Those that certainly hold it.'),
  perhaps: count.describe('Those that may.'),
})

const sharedSchema = made(
  z.object({
    spiffeID: z.string(),
    certain: z.boolean().describe('Whether two of the clusters certainly give it.'),
    in: list(z.object({ cluster: z.string(), givers: list(giverSchema) })),
    namedBy: list(
      z.object({
        cluster: z.string(),
        policy: z.string().describe('Kind and name.'),
        how: z.string().describe('exactly, pattern, perhaps, ...'),
      }),
    ),
  }),
  (one: SharedId) => ({
    ...one,
    spiffeID: one.spiffeId,
    certain: one.isCertain,
    namedBy: one.namedBy.map((named) => ({ ...named, how: named.way })),
  }),
)

const clusterSchema = made(
  z.object({
    name: z.string().describe('The context or the folder, as given.'),
    trustDomain: orNull(z.string()).describe('Null: not known.'),
    ids: count.describe('SPIFFE IDs that it gives.'),
    federations: list(
      z.object({
        trustDomain: z.string(),
        by: list(z.string()).describe('The registrations that ask for its bundle.'),
        declared: orNull(z.boolean()).describe(
          'Whether a ClusterFederatedTrustDomain that SCM handles declares it; null: not known.',
        ),
        clusters: list(z.string()).describe('The others of these clusters that are of it.'),
      }),
    ),
    imports: orNull(
      list(
        z.object({
          pool: z.string().describe('namespace/name.'),
          exportedBy: list(z.string()).describe('As the status of the InferencePoolImport names them.'),
          foundIn: list(z.object({ cluster: z.string(), spiffeIDs: list(z.string()) })).describe(
            'The others of these clusters that have the pool, and the IDs of its bindings there.',
          ),
          perhapsIn: list(z.string()).describe('Those that may have it: their pools were not read.'),
        }),
      ),
    ).describe('InferencePoolImports; null: they could not be listed.'),
  }),
  (one: ComparedCluster) => ({
    ...one,
    federations: one.federations.map((federation) => ({ ...federation, declared: federation.isDeclared })),
    imports: one.imports?.map((pool) => ({
      ...pool,
      foundIn: pool.foundIn.map(({ cluster, spiffeIds }) => ({ cluster, spiffeIDs: spiffeIds })),
    })),
  }),
)

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
    comparison: made(
      z.object({ clusters: list(clusterSchema), shared: list(sharedSchema) }),
      (one: ClustersComparison) => one,
    )
      .optional()
      .describe('Of several clusters: the SPIFFE IDs that more than one of them gives.'),
  },
)
