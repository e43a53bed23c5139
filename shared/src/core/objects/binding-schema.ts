// The InferenceIdentityBinding API, written once: zod gives the types, the checks at reconcile time and, through
// `crd.ts`, the CustomResourceDefinition (contract §2). Limits and patterns are RE2-compatible, because the API server
// runs them too.
import * as z from 'zod'
import { OBJECTIVE_GROUPS, POOL_GROUPS } from '../kinds.ts'
import { CONDITION_TYPES, CONFLICTS_NAMED, DEFAULT_MODE, MODES } from '../names.ts'
import { DNS1123_LABEL_PATTERN, DNS1123_SUBDOMAIN_PATTERN } from '../text/kubernetes.ts'

const subdomain = (what: string): z.ZodString =>
  z
    .string(`must be a string`)
    .min(1, 'must not be empty')
    .max(253, 'must be no more than 253 characters')
    .regex(new RegExp(DNS1123_SUBDOMAIN_PATTERN), 'must be a DNS-1123 subdomain')
    .describe(what)

/** The pool that a binding names. */
export const poolRefSchema = z
  .object(
    {
      name: subdomain('Name of an InferencePool in the namespace of the binding.'),
      group: z
        .enum(POOL_GROUPS, `must be ${POOL_GROUPS.join(' or ')}`)
        .optional()
        .describe('API group of the pool; without it the groups are tried in order of preference.'),
    },
    'must be a mapping',
  )
  .describe('The InferencePool whose pods get the identity.')

/** The objective that a binding names. */
export const objectiveRefSchema = z
  .object(
    {
      name: subdomain('Name of an InferenceObjective in the namespace of the binding.'),
      group: z
        .enum(OBJECTIVE_GROUPS, `must be ${OBJECTIVE_GROUPS.join(', ')}`)
        .optional()
        .describe('API group of the objective; without it the groups are tried in order of preference.'),
    },
    'must be a mapping',
  )
  .describe('The InferenceObjective that names the identity; required when mode is PerObjective.')

export const modeSchema = z
  .enum(MODES, `must be ${MODES.join(' or ')}`)
  .default(DEFAULT_MODE)
  .describe(
    'PoolOnly: one identity for the pods of the pool. PerObjective: one per objective, for one container.',
  )

export const serviceAccountNameSchema = subdomain('Service account that the pods must run under.')

export const containerNameSchema = z
  .string('must be a string')
  .max(63, 'must be no more than 63 characters')
  .regex(new RegExp(`^(${unanchored(DNS1123_LABEL_PATTERN)})?$`), 'must be a DNS-1123 label')
  .optional()
  .describe(
    'Container that gets the identity; required when mode is PerObjective, absent or empty when PoolOnly.',
  )

export const bindingSpecSchema = z
  .object({
    poolRef: poolRefSchema,
    objectiveRef: objectiveRefSchema.optional(),
    serviceAccountName: serviceAccountNameSchema,
    mode: modeSchema,
    containerName: containerNameSchema,
  })
  .meta({
    'x-kubernetes-validations': [
      {
        rule: "(has(self.mode) && self.mode == 'PoolOnly') || has(self.objectiveRef)",
        message: 'spec.objectiveRef is required when spec.mode is PerObjective',
      },
      {
        rule: "(has(self.mode) && self.mode == 'PoolOnly') || (has(self.containerName) && self.containerName != '')",
        message: 'spec.containerName is required when spec.mode is PerObjective',
      },
      {
        rule: "!has(self.mode) || self.mode != 'PoolOnly' || !has(self.containerName) || self.containerName == ''",
        message: 'spec.containerName must be empty when spec.mode is PoolOnly',
      },
    ],
  })
  .describe('The inference intent to compile into an SPIFFE identity.')

const conditionSchema = z.object({
  type: z.enum(CONDITION_TYPES),
  status: z.enum(['True', 'False', 'Unknown']),
  observedGeneration: z.int().min(0).optional(),
  lastTransitionTime: z.iso.datetime(),
  reason: z
    .string()
    .min(1)
    .max(1024)
    .regex(/^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$/),
  message: z.string().max(32_768),
})

export const bindingStatusSchema = z
  .object({
    observedGeneration: z
      .int()
      .min(0)
      .optional()
      .describe('Generation of the binding that this status speaks of.'),
    conditions: z
      .array(conditionSchema)
      .max(8)
      .optional()
      .meta({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['type'] }),
    trustDomain: z.string().max(255).optional().describe('Trust domain that the operator renders with.'),
    clusterSPIFFEIDClassName: z
      .string()
      .max(253)
      .optional()
      .describe('Class that the operator sets on its output.'),
    computedSpiffeIDs: z
      .array(z.object({ mode: z.enum(MODES), spiffeID: z.string().max(2048) }))
      .max(8)
      .optional()
      .meta({ 'x-kubernetes-list-type': 'atomic' }),
    renderedSelectors: z
      .array(
        z.object({
          spiffeID: z.string().max(2048),
          selectors: z.array(z.string().max(1024)).max(128).meta({ 'x-kubernetes-list-type': 'set' }),
        }),
      )
      .max(8)
      .optional()
      .meta({ 'x-kubernetes-list-type': 'atomic' }),
    conflicts: z
      .array(
        z.object({
          bindingName: z.string().max(253),
          relation: z.enum(['SamePods', 'Contains', 'ContainedBy']),
          spiffeID: z.string().max(2048),
        }),
      )
      .max(CONFLICTS_NAMED)
      .optional()
      .describe('The peers that collide with this binding: the ten that follow its name in byte order.')
      .meta({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['bindingName'] }),
    clusterSPIFFEID: z
      .object({ name: z.string().max(253), uid: z.string().max(128) })
      .optional()
      .describe('The ClusterSPIFFEID that is in force for this binding.'),
  })
  .describe('What the operator made of the binding.')

export type PoolRef = z.output<typeof poolRefSchema>
export type ObjectiveRef = z.output<typeof objectiveRefSchema>
export type BindingStatus = z.output<typeof bindingStatusSchema>
export type Condition = z.output<typeof conditionSchema>

function unanchored(pattern: string): string {
  return pattern.replace(/^\^/, '').replace(/\$$/, '')
}
