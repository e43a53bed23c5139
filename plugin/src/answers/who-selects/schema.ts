// The schemas of `who-selects` and of `who-selects --entries`.
import * as z from 'zod'
import { bindingKeySchema, count, podTextSchema, reportSchema } from '../../frame/schema.ts'
import { accessPoliciesSchema, namedBySchema } from '../policies/schema.ts'

const registrationSchema = z
  .object({
    verdict: z
      .string()
      .describe(
        'issued, masked, displaced, ignored, dead, refused, failed, depends, unknown; on a cluster also pending.',
      ),
    spiffeID: z.string().nullable().describe('Null where no template gave one.'),
    source: z.string().describe('ClusterSPIFFEID/NAME or ClusterStaticEntry/NAME.'),
    binding: bindingKeySchema.nullable().describe("Null where the source is not kleym's."),
    hint: z.string(),
    sharesHint: z.boolean(),
    why: z.string().nullable(),
    selector: z.string().nullable().describe('The selector that decides.'),
    by: z.string().nullable().describe('The object that masks or displaces it.'),
    pending: z.string().nullable().describe('What kleym has yet to do before it is in force.'),
  })
  .meta({ id: 'Registration' })

/** A WhoSelectsReport. */
export const whoSelectsReportSchema = reportSchema(
  'WhoSelectsReport',
  'The answer of kubectl kleym who-selects.',
  {
    pods: z.array(
      z.object({
        pod: podTextSchema,
        kind: z.string(),
        namespace: z.string(),
        name: z.string(),
        exists: z.boolean().describe('False for the template of a workload.'),
        node: z.string().nullable(),
        serviceAccountName: z.string(),
        containers: z.array(
          z.object({
            name: z.string(),
            role: z.string().describe('container, init, sidecar, ephemeral.'),
            notRead: z
              .string()
              .nullable()
              .describe('Why it may get an identity from something that is not known.'),
            identities: z.array(z.string().nullable()).describe('The SPIFFE IDs that are issued.'),
            registrations: z.array(registrationSchema),
          }),
        ),
      }),
    ),
    lookup: z
      .object({
        state: z.string().describe('resolved, unheld, dangling, foreign, unknown.'),
        text: z.string(),
        near: z.array(z.string()).describe('IDs that are given and differ from it by a few letters.'),
      })
      .optional()
      .describe('With --spiffe-id: what becomes of the ID, in scope and out of it.'),
    namedBy: namedBySchema.optional(),
    accessPolicies: accessPoliciesSchema.optional(),
  },
)

const entrySchema = z
  .object({
    spiffe_id: z.string(),
    parent_id: z.string(),
    selectors: z.array(z.object({ type: z.string(), value: z.string() })),
    dns_names: z.array(z.string()),
    x509_svid_ttl: count.describe("Seconds; 0 is the server's default."),
    jwt_svid_ttl: count,
    hint: z.string(),
    federates_with: z.array(z.string()),
    admin: z.boolean(),
    downstream: z.boolean(),
    store_svid: z.boolean(),
    source: z.string(),
    pod: podTextSchema.nullable(),
    unknown: z.array(z.string()).describe('The facts that stand in it as placeholders.'),
    depends: z.string().nullable().describe('Why it may not be there after all.'),
  })
  .describe('A registration entry, with the field names of spire-server entry show -output json.')
  .meta({ id: 'RegistrationEntry' })

/** An EntriesReport. */
export const entriesReportSchema = reportSchema(
  'EntriesReport',
  'The answer of kubectl kleym who-selects --entries.',
  { entries: z.array(entrySchema) },
)
