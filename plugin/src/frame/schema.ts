// What all machine-readable reports share, as zod schemas: the published JSON Schema is made of them, and the tests hold
// every report against them. Nothing that runs in the plugin imports a schema: zod costs start-up time.
//
// Reports only ever grow: objects are open, so a reader must take fields that it does not know. What is an enumeration
// here is closed for v1alpha1; what is a plain string with examples may take further values.
import * as z from 'zod'
import { PREMISES } from '@kleym/shared/core/assumptions/assumptions.ts'
import { SEVERITIES } from '@kleym/shared/core/registry/findings.ts'
import { MODES } from '@kleym/shared/core/names.ts'
import { REPORT_API_VERSION } from '../output/json.ts'

/** A number of things. */
export const count = z.int().min(0)
/** A finding code. */
export const codeSchema = z.string().regex(/^KLM\d{3}$/)
/** A mode of a binding. */
export const modeSchema = z.enum(MODES)
/** `namespace/name`. */
export const bindingKeySchema = z.string().describe('A binding as namespace/name.')
/** `pod team-a/llama-0`, `Deployment team-a/llama`. */
export const podTextSchema = z.string().describe('A pod, or the template of a workload: pod team-a/llama-0.')

/** An object that a finding is about. */
export const subjectSchema = z
  .object({
    kind: z
      .string()
      .describe('Kind, or Kind.group where the group matters; Flag for the command line itself.'),
    namespace: z.string().describe('Empty for a cluster-scoped object.'),
    name: z.string(),
    container: z.string().optional(),
  })
  .describe('An object, or a container of its pods.')
  .meta({ id: 'Subject' })

const findingFields = {
  code: codeSchema.describe('Never changes its meaning; all codes are in docs/findings.'),
  severity: z.enum(SEVERITIES),
  subject: subjectSchema,
  related: z.array(subjectSchema).describe('The other objects that are part of it, in a total order.'),
  summary: z.string(),
  evidence: z.array(z.string()),
  dependsOn: z
    .array(z.string())
    .optional()
    .describe(
      'What it rests on and is not known: settings that were not given, facts that no object shows; then it is no error.',
    ),
  fix: z.string(),
  docs: z.string().describe("The page of the code, from the root of kleym's repository."),
}

/** A finding. */
export const findingSchema = z.object(findingFields).meta({ id: 'Finding' })

/** A suppressed finding. */
export const suppressedFindingSchema = z
  .object({
    ...findingFields,
    suppression: z.object({
      by: z.enum(['flag', 'annotation']),
      text: z.string().describe('The flag or the entry of the annotation, as written.'),
      reason: z.string().nullable().describe('Null for a flag.'),
    }),
  })
  .describe('A finding that does not count, and what suppresses it.')
  .meta({ id: 'SuppressedFinding' })

/** The settings that an answer rests on. */
export const settingsSchema = z
  .object({
    trustDomain: z.string().nullable().describe('Null where it is not known.'),
    trustDomainSource: z.string().nullable(),
    className: z.string().describe('Empty for none.'),
    classNameSource: z.string().nullable().describe('Null where the class is assumed.'),
    outputLabels: z.array(z.string()).describe("The labels of kleym's ClusterSPIFFEIDs, KEY=VALUE each."),
    outputLabelsSource: z.string().nullable().describe('Null where nothing says them: they are then none.'),
    variantLabelKey: z
      .string()
      .optional()
      .describe('The pod label that tells variants apart, where it is known and not the default.'),
    variantLabelKeySource: z.string().nullable().describe('Null where nothing says the key.'),
    scm: z
      .object({
        source: z.string(),
        assumed: z.array(z.string()).describe('The settings that were not given.'),
        trustDomain: z.string().nullable(),
        clusterName: z.string().nullable(),
        className: z.string().nullable(),
        watchClassless: z.boolean(),
        ignoreNamespaces: z.array(z.string()),
      })
      .describe('The settings of the SPIRE Controller Manager.'),
  })
  .describe('What the answer rests on.')
  .meta({ id: 'Settings' })

/** One thing that could not be read. */
export const missingSchema = z
  .object({
    verb: z.string().describe('An API verb, or read for a file.'),
    what: z.string().describe('A qualified kind, or a place in a file.'),
    namespace: z.string().optional().describe('Where it was looked for; absent: everywhere.'),
    cause: z.string().describe('forbidden, absent, unreachable, timed out, refused, malformed, ...'),
    text: z.string(),
  })
  .describe('Something that the answer would have needed and that could not be read.')
  .meta({ id: 'Missing' })

const assumptionSchema = z
  .object({
    setting: z.string().describe('scm, which scm, scm trust domain, class, output labels, trust domain, ...'),
    what: z.string(),
    assumed: z.string().describe('What is taken in its place.'),
    otherwise: z.string().describe('What another value would change.'),
    fix: z.string(),
    isDisputed: z.literal(true).optional().describe('It was given, and two sources say different things.'),
  })
  .describe('A setting that was not given, or given twice and differently, and that the answer depends on.')
  .meta({ id: 'Assumption' })

const problemSchema = z
  .object({
    kind: z.string().describe('path, malformed, incomplete, duplicate, empty, failed, ...'),
    what: z.string(),
    where: z.string(),
    why: z.string(),
    fix: z.string(),
  })
  .describe('Something that is wrong with the input.')
  .meta({ id: 'Problem' })

const summarySchema = z
  .object({ error: count, warning: count, info: count, suppressed: count })
  .describe('How many findings there are of each severity; the suppressed ones are in none of them.')
  .meta({ id: 'Summary' })

/** The schema of a report: its own fields between the settings and the findings. */
export function reportSchema<Kind extends string, Fields extends z.ZodRawShape>(
  kind: Kind,
  description: string,
  fields: Fields,
) {
  return z
    .object({
      apiVersion: z.literal(REPORT_API_VERSION),
      kind: z.literal(kind),
      settings: settingsSchema,
      ...fields,
      findings: z.array(findingSchema).describe('What counts for the exit code, worst first.'),
      suppressed: z.array(suppressedFindingSchema),
      summary: summarySchema,
      notShown: count
        .optional()
        .describe('How many findings a flag keeps out of this report; they count for the exit code.'),
      missing: z.array(missingSchema).describe('Not empty: the answer is not complete.'),
      assumptions: z
        .array(assumptionSchema)
        .describe('Not empty: whatever SPIRE is said to make of registrations depends on it.'),
      premises: z
        .array(z.enum(PREMISES))
        .describe('What the answer takes for granted, since nothing says it (docs/assumptions.md).'),
      problems: z.array(problemSchema).describe('Not empty: the answer is not complete.'),
      exitCode: z.union([z.literal(0), z.literal(1), z.literal(4)]),
    })
    .describe(description)
    .meta({ id: kind })
}
