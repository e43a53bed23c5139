// The schema of `verify`.
import * as z from 'zod'
import { DIFFERENCE_CAUSES, type SvidAnswer } from '@kleym/shared/core/predict/index.ts'
import { YES } from '@kleym/shared/core/model/truth/truth.ts'
import type { JudgedDifference } from '@kleym/shared/core/findings/index.ts'
import {
  codeSchema,
  count,
  list,
  made,
  orNull,
  podSchema,
  reportSchema,
  sourceSchema,
} from '../../frame/schema.ts'
import type { ServerComparison } from '../parts/compare-entries.ts'

const differenceSchema = made(
  z
    .object({
      kind: z.string().describe('missing, extra, different.'),
      code: codeSchema.describe('The finding about it.'),
      cause: z.string().describe(`${DIFFERENCE_CAUSES.join(', ')}.`),
      why: z.string().describe('What shows the cause, or why none is certain.'),
      entry: orNull(z.string()).describe("The server's ID of the entry; null where it has none."),
      spiffe_id: z.string(),
      parent_id: z.string(),
      selectors: list(z.string()).describe('type:value.'),
      source: orNull(sourceSchema).describe('ClusterSPIFFEID/NAME or ClusterStaticEntry/NAME.'),
      pod: orNull(podSchema),
      willBeDeleted: orNull(z.boolean()).describe(
        'Of an extra entry: whether SCM takes it for its own; null where that is not known.',
      ),
      heldBy: list(z.object({ pod: podSchema, container: z.string() })),
      fields: list(
        z
          .object({ field: z.string(), predicted: z.string(), onServer: z.string() })
          .describe('A field that differs.'),
      ),
    })
    .meta({ id: 'EntryDifference' }),
  ({ difference, code, holders }: JudgedDifference) => {
    const { kind, cause, why, owner } = difference
    const base = { kind, code, cause, why }
    if (kind === 'extra') {
      const { entry } = difference
      return {
        ...base,
        entry: entry.id,
        spiffe_id: entry.spiffeId,
        parent_id: entry.parentId,
        selectors: entry.selectors,
        willBeDeleted: owner === undefined || owner.kind === 'unknown' ? undefined : owner.kind === 'scm',
        heldBy: [...holders.certain, ...holders.possible],
        fields: [],
      }
    }
    const { expected } = difference
    const isDifferent = kind === 'different'
    return {
      ...base,
      source: expected.source,
      pod: expected.pod,
      entry: isDifferent ? difference.entry.id : undefined,
      spiffe_id: expected.spiffeId,
      parent_id: expected.parentId,
      selectors: expected.selectors,
      heldBy: [],
      fields: isDifferent ? difference.fields : [],
    }
  },
)

const fieldOfObject = z
  .object({
    object: z.string().describe('Kind/namespace/name; Kind/name without a namespace.'),
    field: z.string(),
  })
  .meta({ id: 'FieldOfObject' })

const entryId = orNull(z.string()).describe("The server's ID of the entry; null: it holds none.")
const certain = z.boolean().describe('False: what is not known may make it otherwise.')

const svidsSchema = made(
  z
    .object({
      pod: podSchema,
      container: z.string(),
      got: list(z.object({ spiffe_id: z.string(), hint: z.string() })),
      selectors: orNull(list(z.string())).describe(
        'What the agent found for the process, type:value; null: not given.',
      ),
      lacking: list(
        z
          .object({
            spiffe_id: z.string(),
            certain,
            source: sourceSchema.describe('ClusterSPIFFEID/NAME or ClusterStaticEntry/NAME.'),
            entry: entryId,
            why: z.string(),
            expired: orNull(z.string()).describe('When the SVID that it got expired; null: it got none.'),
            failing: list(
              z
                .object({
                  selector: z
                    .string()
                    .describe('A selector of the entry that the process has not, type:value.'),
                  has: list(z.string()).describe('What the process has of its kind.'),
                  askedBy: orNull(fieldOfObject).describe('Whose field asks for it; null: SCM alone.'),
                  decidedBy: orNull(fieldOfObject).describe(
                    'Which field of the pod decides what its processes have; null: none.',
                  ),
                  isShownByPod: z
                    .boolean()
                    .describe('The pod shows it: the process is another one, or the pod has changed since.'),
                })
                .meta({ id: 'FailingSelector' }),
            ),
            untold: list(z.string()).describe(
              'Selectors of the entry that the log neither shows nor rules out.',
            ),
          })
          .describe('An SVID that the process should have got.'),
      ),
      surplus: list(
        z
          .object({ spiffe_id: z.string(), certain, entry: entryId })
          .describe('An SVID that the process got and no object gives it.'),
      ),
    })
    .meta({ id: 'ContainerSvids' }),
  ({ asked: { pod, container, svids, attested }, lacking, surplus }: SvidAnswer) => ({
    pod,
    container: container.name,
    got: svids.map(({ spiffeId, hint }) => ({ spiffe_id: spiffeId, hint })),
    selectors: attested?.selectors,
    lacking: lacking.map(({ registration, holds, entry, ...rest }) => ({
      ...rest,
      spiffe_id: registration.spiffeId ?? '',
      certain: holds === YES,
      source: registration.source,
      entry: entry?.id,
    })),
    surplus: surplus.map(({ spiffeId, holds, entry }) => ({
      spiffe_id: spiffeId,
      certain: holds === YES,
      entry: entry?.id,
    })),
  }),
)

/** A VerifyReport. */
export const verifyReportSchema = reportSchema('VerifyReport', 'The answer of kubectl kleym verify.', {
  entries: made(
    z.object({
      read: count.describe('Entries of the server.'),
      agreed: count.describe('Entries that are there as they should be.'),
      missing: count,
      extra: count,
      different: count,
      open: count.describe('Entries that may be as they should be: something that decides is not known.'),
      perhapsMissing: count.describe(
        'Entries that are not there and may have to be: something that decides is not known.',
      ),
      openOn: list(z.string()).describe('What decides about those that are open or perhaps missing.'),
      pending: count.describe('Entries that what kleym must still write, or another SCM, explains.'),
    }),
    (counts: ServerComparison['counts']) => ({
      ...counts,
      missing: counts.missing.length,
      extra: counts.extra.length + counts.extraBeyond + counts.extraUnjudged,
      different: counts.different.length,
    }),
  ),
  differences: list(differenceSchema),
  svids: orNull(svidsSchema).describe('What a process got (--svids); null: not asked.'),
})
