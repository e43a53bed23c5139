// The InferenceIdentityBinding API, written once: zod gives the types, the checks at reconcile time and, through
// `crd.ts`, the CustomResourceDefinition (docs/contract.md §2). Limits and patterns are RE2-compatible, because the API server
// runs them too. It uses zod/mini, because every start makes these schemas.
import * as z from 'zod/mini'
import { OBJECTIVE_GROUPS, POOL_GROUPS } from '../kinds.ts'
import { MODES } from '../names.ts'
import { lazy } from '../../base/lazy.ts'
import {
  DNS1123_LABEL_PATTERN,
  DNS1123_SUBDOMAIN_PATTERN,
  QUALIFIED_NAME_MAX,
  QUALIFIED_NAME_PATTERN,
} from '../../base/text/kubernetes.ts'

const subdomain = (what: string): z.ZodMiniString =>
  z
    .string(`must be a string`)
    .check(
      z.minLength(1, 'must not be empty'),
      z.maxLength(253, 'must be no more than 253 characters'),
      z.regex(new RegExp(DNS1123_SUBDOMAIN_PATTERN), 'must be a DNS-1123 subdomain'),
      z.describe(what),
    )

const PREFERENCE = 'without it the groups are tried in order of preference.'

/** The pool that a binding names. */
export const poolRefSchema = z
  .object(
    {
      name: subdomain('Name of an InferencePool in the namespace of the binding.'),
      group: z
        .optional(z.enum(POOL_GROUPS, `must be ${POOL_GROUPS.join(' or ')}`))
        .check(z.describe(`API group of the pool; ${PREFERENCE}`)),
    },
    'must be a mapping',
  )
  .check(z.describe('The InferencePool whose pods get the identity.'))

/** The objective that a binding names. */
export const objectiveRefSchema = z
  .object(
    {
      name: subdomain('Name of an InferenceObjective in the namespace of the binding.'),
      group: z
        .optional(z.enum(OBJECTIVE_GROUPS, `must be ${OBJECTIVE_GROUPS.join(', ')}`))
        .check(z.describe(`API group of the objective; ${PREFERENCE}`)),
    },
    'must be a mapping',
  )
  .check(z.describe('The InferenceObjective that names the identity; required when mode is PerObjective.'))

/** `.spec.mode`. */
export const modeSchema = z
  .optional(z.enum(MODES, 'must be PoolOnly, PerVariant or PerObjective'))
  .check(
    z.describe(
      'PoolOnly: one identity for the pods of the pool. PerVariant: one per role of the pool, told by a pod label. PerObjective: one per objective, for one container. Where it is absent, identityBoundary alone means PerVariant, and objectiveRef with containerName PerObjective.',
    ),
  )

/** `.spec.serviceAccountName`. */
export const serviceAccountNameSchema = subdomain('Service account that the pods must run under.')

/** `.spec.containerName`. */
export const containerNameSchema = z
  .optional(
    z
      .string('must be a string')
      .check(
        z.maxLength(63, 'must be no more than 63 characters'),
        z.regex(new RegExp(`^(${unanchored(DNS1123_LABEL_PATTERN)})?$`), 'must be a DNS-1123 label'),
      ),
  )
  .check(
    z.describe(
      'Container that gets the identity; required when mode is PerObjective, absent or empty otherwise.',
    ),
  )

/** `.spec.identityBoundary`. */
export const identityBoundarySchema = z
  .object(
    {
      // A label value that is not empty begins and ends with a letter or digit, so it is neither "." nor "..".
      variant: z
        .string('must be a string')
        .check(
          z.minLength(1, 'must not be empty'),
          z.maxLength(QUALIFIED_NAME_MAX, `must be no more than ${QUALIFIED_NAME_MAX} characters`),
          z.regex(new RegExp(QUALIFIED_NAME_PATTERN), 'must be a label value'),
          z.describe('Value of the pod label whose key the install fixes (--variant-label-key).'),
        ),
    },
    'must be a mapping',
  )
  .check(
    z.describe(
      'The role of the pool that gets the identity; required when mode is PerVariant, absent otherwise.',
    ),
  )

/** In CEL: whether a spec names a container. */
const HAS_CONTAINER = "(has(self.containerName) && self.containerName != '')"

/** The schema of `.spec`; the CRD is made from it. */
export const bindingSpecSchema = lazy(() =>
  z
    .object({
      poolRef: poolRefSchema,
      objectiveRef: z.optional(objectiveRefSchema),
      serviceAccountName: serviceAccountNameSchema,
      mode: modeSchema,
      containerName: containerNameSchema,
      identityBoundary: z.optional(identityBoundarySchema),
    })
    .check(
      z.meta({
        'x-kubernetes-validations': [
          {
            rule: `has(self.objectiveRef) || (has(self.mode) && self.mode != 'PerObjective') || (!has(self.mode) && (has(self.identityBoundary) || !${HAS_CONTAINER}))`,
            message: 'spec.objectiveRef is required when spec.mode is PerObjective',
          },
          {
            rule: `${HAS_CONTAINER} || (has(self.mode) && self.mode != 'PerObjective') || (!has(self.mode) && (has(self.identityBoundary) || !has(self.objectiveRef)))`,
            message: 'spec.containerName is required when spec.mode is PerObjective',
          },
          {
            rule: "!has(self.mode) || self.mode != 'PoolOnly' || !has(self.containerName) || self.containerName == ''",
            message: 'spec.containerName must be empty when spec.mode is PoolOnly',
          },
          {
            rule: "!has(self.mode) || self.mode != 'PerVariant' || !has(self.containerName) || self.containerName == ''",
            message: 'spec.containerName must be empty when spec.mode is PerVariant',
          },
          {
            rule: "!has(self.mode) || self.mode != 'PerVariant' || has(self.identityBoundary)",
            message: 'spec.identityBoundary.variant is required when spec.mode is PerVariant',
          },
          {
            rule: "!has(self.identityBoundary) || !has(self.mode) || self.mode == 'PerVariant'",
            message: 'spec.identityBoundary must be absent unless spec.mode is PerVariant',
          },
          {
            rule: `has(self.mode) || has(self.identityBoundary) || has(self.objectiveRef) || ${HAS_CONTAINER}`,
            message:
              'spec names no boundary: set spec.mode to PoolOnly, or spec.identityBoundary, or spec.objectiveRef and spec.containerName',
          },
          {
            rule: `has(self.mode) || !has(self.identityBoundary) || !(has(self.objectiveRef) || ${HAS_CONTAINER})`,
            message:
              'spec.mode is required here: spec.identityBoundary means PerVariant, spec.objectiveRef and spec.containerName mean PerObjective',
          },
        ],
        description: 'The inference intent to compile into an SPIFFE identity.',
      }),
    ),
)

/** `.spec.poolRef`, validated. */
export type PoolRef = z.output<typeof poolRefSchema>
/** `.spec.identityBoundary`, validated. */
export type IdentityBoundaryRef = z.output<typeof identityBoundarySchema>
/** `.spec.objectiveRef`, validated. */
export type ObjectiveRef = z.output<typeof objectiveRefSchema>

function unanchored(pattern: string): string {
  return pattern.replace(/^\^/, '').replace(/\$$/, '')
}
