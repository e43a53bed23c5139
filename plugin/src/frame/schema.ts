// What all machine-readable reports share, as zod schemas: reports and the published JSON Schema are made of them, and the
// tests hold every report against them. A schema is loaded when a machine asks: zod costs start-up time.
//
// Reports only ever grow: objects are open, so a reader must take fields that it does not know. What is an enumeration
// here is closed for v1alpha1; what is a plain string with examples may take further values.
import * as z from 'zod'
import { PREMISES } from '@kleym/shared/core/analysis/index.ts'
import { type Finding, type SuppressedFinding, SEVERITIES } from '@kleym/shared/core/findings/index.ts'
import { isRecord, type JsonRecord } from '@kleym/shared/core/base/json.ts'
import { podText } from '@kleym/shared/core/model/objects/pod-index.ts'
import { DEFAULT_VARIANT_LABEL_KEY, MODES } from '@kleym/shared/core/model/names.ts'
import { sourceText } from '@kleym/shared/core/predict/index.ts'
import { unknownReasonJson } from '@kleym/shared/core/model/unknown-reason.ts'
import type { AnswerInput } from '../gather/gather.ts'
import type { ExitCode } from '../io/errors.ts'
import { REPORT_API_VERSION } from '../output/json.ts'
import { bindingKeySchema, codeSchema, count, list, podTextSchema } from './plain-schema.ts'

export { bindingKeySchema, codeSchema, count, list, podTextSchema }

/**
 * What a schema makes of a model: its fields in its order, and no others. It is what zod's `encode` does, but for two things: a
 * model may lack a field that the report has as null, and nothing is checked again that the type checker has.
 */
export function reportOf(schema: z.ZodObject, model: JsonRecord): JsonRecord {
  return fieldsOf(schema)(model)
}

function fieldsOf({ shape }: z.ZodObject): (model: JsonRecord) => JsonRecord {
  const parts = Object.entries(shape).map(([key, field]) => [key, partOf(field)] as const)
  return (model) => {
    const fields: Record<string, unknown> = {}
    for (const [key, part] of parts) {
      const value = part(model[key])
      if (value !== undefined) fields[key] = value
    }
    return fields
  }
}

/** What a schema makes of a part, which is worked out once for all parts of its kind. */
function partOf(schema: unknown): (model: unknown) => unknown {
  if (schema instanceof z.ZodCodec) {
    const { in: written, reverseTransform } = schema.def
    const part = partOf(written)
    return (model) => part(reverseTransform(model, { value: model, issues: [] }))
  }
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable) {
    const part = partOf(schema.unwrap())
    return (model) => (model === undefined || model === null ? model : part(model))
  }
  if (schema instanceof z.ZodArray) {
    const part = partOf(schema.element)
    return (model) => (Array.isArray(model) ? model.map((one) => part(one)) : model)
  }
  // An open object is there whole.
  if (schema instanceof z.ZodObject && schema.def.catchall === undefined) {
    const fields = fieldsOf(schema)
    return (model) => (isRecord(model) ? fields(model) : model)
  }
  return (model) => model
}

/** A part of a report that is not as the model has it: `of` makes it. `reportOf` applies it. */
export function made<Schema extends z.ZodType, Model>(
  schema: Schema,
  of: (model: Model) => z.output<Schema>,
) {
  return z.codec(schema, z.custom<Model>(), { decode: asItIs, encode: of })
}

/** A part of a report that is null where the model has none. */
export function orNull<Schema extends z.ZodType>(schema: Schema) {
  return z.codec(schema.nullable(), z.custom<z.output<Schema>>().optional(), {
    decode: asItIs,
    encode: (model) => model ?? null,
  })
}

/** Names of Kubernetes end in ID, those of the code in Id. */
export function withId<Model extends { readonly spiffeId?: string | undefined }>(
  model: Model,
): Model & { readonly spiffeID: Model['spiffeId'] } {
  return { ...model, spiffeID: model.spiffeId }
}

/** Nothing makes a model of a report again: the tests that read one see it as it is. */
function asItIs(report: unknown): never {
  return ANYTHING.parse(report)
}

const ANYTHING = z.custom<never>()

/** A mode of a binding. */
export const modeSchema = z.enum(MODES)
/** A pod of the model, as its text. */
export const podSchema = made(podTextSchema, podText)
/** What gives an identity, as its text. */
export const sourceSchema = made(z.string(), sourceText)

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
  related: list(subjectSchema).describe('The other objects that are part of it, in a total order.'),
  summary: z.string(),
  evidence: list(z.string()),
  dependsOn: list(z.string())
    .optional()
    .describe(
      'What it depends on and is not known: settings that were not given, facts that no object shows; then it is no error.',
    ),
  fix: z.string(),
  docs: z.string().describe("The page of the code, from the root of kleym's repository."),
}

function withPage(finding: Finding) {
  return { ...finding, docs: `docs/findings/${finding.code}.md` }
}

/** A finding. */
export const findingSchema = made(z.object(findingFields).meta({ id: 'Finding' }), withPage)

/** A suppressed finding. */
export const suppressedFindingSchema = made(
  z
    .object({
      ...findingFields,
      suppression: z.object({
        by: z.enum(['flag', 'annotation']),
        text: z.string().describe('The flag or the entry of the annotation, as written.'),
        reason: orNull(z.string()).describe('Null for a flag.'),
      }),
    })
    .describe('A finding that does not count, and what suppresses it.')
    .meta({ id: 'SuppressedFinding' }),
  ({ finding, suppression }: SuppressedFinding) => ({ ...withPage(finding), suppression }),
)

/** The settings that an answer rests on. */
export const settingsSchema = made(
  z
    .object({
      trustDomain: z.string().nullable().describe('Null where it is not known.'),
      trustDomainSource: orNull(z.string()),
      className: z.string().describe('Empty for none.'),
      classNameSource: orNull(z.string()).describe('Null where the class is assumed.'),
      outputLabels: list(z.string()).describe("The labels of kleym's ClusterSPIFFEIDs, KEY=VALUE each."),
      outputLabelsSource: orNull(z.string()).describe('Null where nothing says them: they are then none.'),
      variantLabelKey: z
        .string()
        .optional()
        .describe('The pod label that tells variants apart, where it is known and not the default.'),
      variantLabelKeySource: orNull(z.string()).describe('Null where nothing says the key.'),
      scm: z
        .object({
          source: z.string(),
          assumed: list(z.string()).describe('The settings that were not given.'),
          trustDomain: orNull(z.string()),
          clusterName: orNull(z.string()),
          className: orNull(z.string()),
          watchClassless: z.boolean(),
          ignoreNamespaces: list(z.string()),
        })
        .describe('The settings of the SPIRE Controller Manager.'),
    })
    .describe('What the answer depends on.')
    .meta({ id: 'Settings' }),
  ({ operator, after }: Pick<AnswerInput, 'operator' | 'after'>) => {
    const { trustDomain, className, outputLabels, variantLabelKey } = operator.config
    return {
      ...operator,
      trustDomain: trustDomain.kind === 'set' ? trustDomain.value : null,
      className,
      outputLabels: [...(outputLabels ?? [])].map(([key, value]) => `${key}=${value}`),
      // As it has been from the first report on: absent if it is not known, or the default.
      variantLabelKey: variantLabelKey === DEFAULT_VARIANT_LABEL_KEY ? undefined : variantLabelKey,
      scm: after.settings,
    }
  },
)

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

const sharedFields = {
  findings: list(findingSchema).describe('What counts for the exit code, worst first.'),
  suppressed: list(suppressedFindingSchema),
  summary: summarySchema,
  notShown: count
    .optional()
    .describe('How many findings a flag keeps out of this report; they count for the exit code.'),
  missing: list(made(missingSchema, unknownReasonJson)).describe('Not empty: the answer is not complete.'),
  assumptions: list(assumptionSchema).describe(
    'Not empty: whatever SPIRE is said to make of registrations depends on it.',
  ),
  premises: list(z.enum(PREMISES)).describe(
    'What the answer takes for granted, since nothing says it (docs/assumptions.md).',
  ),
  problems: list(problemSchema).describe('Not empty: the answer is not complete.'),
  exitCode: z.codec(z.union([z.literal(0), z.literal(1), z.literal(4)]), z.custom<ExitCode>(), {
    decode: asItIs,
    encode: asItIs,
  }),
}

/** What all reports share, as the model has it. */
export type SharedFields = z.output<
  z.ZodObject<typeof sharedFields & { readonly settings: typeof settingsSchema }>
>

/** The schema of a report: its own fields between the settings and the findings. */
export function reportSchema<Kind extends string, Fields extends z.ZodRawShape>(
  kind: Kind,
  description: string,
  fields: Fields,
) {
  const head = {
    apiVersion: z.literal(REPORT_API_VERSION),
    kind: z.literal(kind),
    settings: settingsSchema,
  }
  // `settings` has another field of that name.
  const shape: Omit<typeof head, keyof Fields> & Fields & typeof sharedFields = {
    ...head,
    ...fields,
    ...sharedFields,
  }
  return z.object(shape).describe(description).meta({ id: kind })
}
