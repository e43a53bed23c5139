// The schema of `verify`.
import * as z from 'zod'
import { DIFFERENCE_CAUSES } from '@kleym/shared/core/spire/verify/causes.ts'
import { codeSchema, count, podTextSchema, reportSchema } from '../../frame/schema.ts'

const differenceSchema = z
  .object({
    kind: z.string().describe('missing, extra, different.'),
    code: codeSchema.describe('The finding that tells of it.'),
    cause: z.string().describe(`${DIFFERENCE_CAUSES.join(', ')}.`),
    why: z.string().describe('What shows the cause, or why none is certain.'),
    entry: z.string().nullable().describe("The server's ID of the entry; null where it has none."),
    spiffe_id: z.string(),
    parent_id: z.string(),
    selectors: z.array(z.string()).describe('type:value.'),
    source: z.string().nullable().describe('ClusterSPIFFEID/NAME or ClusterStaticEntry/NAME.'),
    pod: podTextSchema.nullable(),
    willBeDeleted: z
      .boolean()
      .nullable()
      .describe('Of an extra entry: whether SCM takes it for its own; null where that is not known.'),
    heldBy: z.array(z.object({ pod: podTextSchema, container: z.string() })),
    fields: z.array(
      z
        .object({ field: z.string(), predicted: z.string(), onServer: z.string() })
        .describe('A field that differs.'),
    ),
  })
  .meta({ id: 'EntryDifference' })

const fieldOfObject = z
  .object({
    object: z.string().describe('Kind/namespace/name; Kind/name without a namespace.'),
    field: z.string(),
  })
  .meta({ id: 'FieldOfObject' })

const entryId = z.string().nullable().describe("The server's ID of the entry; null: it holds none.")

const svidsSchema = z
  .object({
    pod: podTextSchema,
    container: z.string(),
    got: z.array(z.object({ spiffe_id: z.string(), hint: z.string() })),
    selectors: z
      .array(z.string())
      .nullable()
      .describe('What the agent found for the process, type:value; null: not given.'),
    lacking: z.array(
      z
        .object({
          spiffe_id: z.string(),
          source: z.string().describe('ClusterSPIFFEID/NAME or ClusterStaticEntry/NAME.'),
          entry: entryId,
          why: z.string(),
          failing: z.array(
            z
              .object({
                selector: z
                  .string()
                  .describe('A selector of the entry that the process has not, type:value.'),
                has: z.array(z.string()).describe('What the process has of its kind.'),
                askedBy: fieldOfObject.nullable().describe('Whose field asks for it; null: SCM alone.'),
                decidedBy: fieldOfObject
                  .nullable()
                  .describe('Which field of the pod decides what its processes have; null: none.'),
                isShownByPod: z
                  .boolean()
                  .describe('The pod shows it: the process is another one, or the pod has changed since.'),
              })
              .meta({ id: 'FailingSelector' }),
          ),
          untold: z
            .array(z.string())
            .describe('Selectors of the entry that the log neither shows nor rules out.'),
        })
        .describe('An SVID that the process should have got.'),
    ),
    surplus: z.array(
      z
        .object({ spiffe_id: z.string(), entry: entryId })
        .describe('An SVID that the process got and no object gives it.'),
    ),
  })
  .meta({ id: 'ContainerSvids' })

/** A VerifyReport. */
export const verifyReportSchema = reportSchema('VerifyReport', 'The answer of kubectl kleym verify.', {
  entries: z.object({
    read: count.describe('Entries of the server.'),
    agreed: count.describe('Entries that are there as they should be.'),
    missing: count,
    extra: count,
    different: count,
    open: count.describe('Entries that may be as they should be: something that decides is not known.'),
    perhapsMissing: count.describe(
      'Entries that are not there and may have to be: something that decides is not known.',
    ),
    openOn: z.array(z.string()).describe('What decides about those that are open or perhaps missing.'),
    pending: count.describe('Entries that what kleym has yet to write, or another SCM, explains.'),
  }),
  differences: z.array(differenceSchema),
  svids: svidsSchema.nullable().describe('What a process got (--svids); null: not asked.'),
})
