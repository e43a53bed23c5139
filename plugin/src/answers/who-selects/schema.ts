// The schemas of `who-selects` and of `who-selects --entries`.
import * as z from 'zod'
import type { WhoHolds } from '@kleym/shared/core/analysis/index.ts'
import {
  bindingKeySchema,
  count,
  list,
  made,
  orNull,
  podSchema,
  podTextSchema,
  reportSchema,
  sourceSchema,
  withId,
} from '../../frame/schema.ts'
import { accessPoliciesSchema, namedBySchema } from '../parts/policies-schema.ts'
import type { PodAnswer } from '../parts/pod-answers.ts'

const registrationSchema = z
  .object({
    verdict: z
      .string()
      .describe(
        'issued, masked, displaced, ignored, dead, refused, failed, depends, unknown; on a cluster also pending.',
      ),
    spiffeID: orNull(z.string()).describe('Null where no template gave one.'),
    source: sourceSchema.describe('ClusterSPIFFEID/NAME or ClusterStaticEntry/NAME.'),
    binding: orNull(bindingKeySchema).describe("Null where the source is not kleym's."),
    hint: z.string(),
    sharesHint: z.boolean(),
    why: orNull(z.string()),
    selector: orNull(z.string()).describe('The selector that decides.'),
    by: orNull(sourceSchema).describe('The object that masks or displaces it.'),
    pending: orNull(z.string()).describe('What kleym must still do before it is in force.'),
  })
  .meta({ id: 'Registration' })

/** A pod, with what is looked up for its registrations by the names of their objects. */
interface ReportedPod {
  readonly answer: PodAnswer
  /** The binding behind an output of ours. */
  readonly bindings: ReadonlyMap<string, string>
  /** What kleym must still do about an output. */
  readonly pending: ReadonlyMap<string, string>
}

const podAnswerSchema = made(
  z.object({
    pod: podSchema,
    kind: z.string(),
    namespace: z.string(),
    name: z.string(),
    exists: z.boolean().describe('False for the template of a workload.'),
    node: orNull(z.string()),
    serviceAccountName: z.string(),
    containers: list(
      z.object({
        name: z.string(),
        role: z.string().describe('container, init, sidecar, ephemeral.'),
        notRead: orNull(z.string()).describe('Why it may get an identity from something that is not known.'),
        identities: list(z.string().nullable()).describe('The SPIFFE IDs that are issued.'),
        registrations: list(registrationSchema),
      }),
    ),
  }),
  ({ answer: { pod, containers }, bindings, pending }: ReportedPod) => ({
    ...pod,
    ...pod.ref,
    pod,
    node: pod.nodeName,
    containers: containers.map(({ container, registrations, notRead }) => ({
      ...container,
      notRead,
      identities: registrations
        .filter(({ verdict }) => verdict === 'issued')
        .map(({ spiffeId }) => spiffeId ?? null),
      registrations: registrations.map((one) => ({
        ...withId(one),
        binding: bindings.get(one.source.name),
        pending: pending.get(one.source.name),
      })),
    })),
  }),
)

/** A WhoSelectsReport. */
export const whoSelectsReportSchema = reportSchema(
  'WhoSelectsReport',
  'The answer of kubectl kleym who-selects.',
  {
    lookup: made(
      z.object({
        state: z.string().describe('resolved, unheld, dangling, foreign, unknown.'),
        text: z.string(),
        near: list(z.string()).describe('IDs that are given and differ from it by a few letters.'),
      }),
      ({ resolution, near }: WhoHolds) => ({ ...resolution, near }),
    )
      .optional()
      .describe('With --spiffe-id: who holds the ID, in scope and out of it.'),
    pods: list(podAnswerSchema),
    namedBy: namedBySchema.optional(),
    accessPolicies: accessPoliciesSchema.optional(),
  },
)

const entrySchema = z
  .object({
    spiffe_id: z.string(),
    parent_id: z.string(),
    selectors: list(z.object({ type: z.string(), value: z.string() })),
    dns_names: list(z.string()),
    x509_svid_ttl: count.describe("Seconds; 0 is the server's default."),
    jwt_svid_ttl: count,
    hint: z.string(),
    federates_with: list(z.string()),
    admin: z.boolean(),
    downstream: z.boolean(),
    store_svid: z.boolean(),
    source: z.string(),
    pod: orNull(podTextSchema),
    unknown: list(z.string()).describe('The facts that are placeholders in it.'),
    depends: orNull(z.string()).describe('Why it may not be there after all.'),
  })
  .describe('A registration entry, with the field names of spire-server entry show -output json.')
  .meta({ id: 'RegistrationEntry' })

/** An EntriesReport. */
export const entriesReportSchema = reportSchema(
  'EntriesReport',
  'The answer of kubectl kleym who-selects --entries.',
  { entries: list(entrySchema) },
)
