// The status of an InferenceIdentityBinding: the schema for the CRD and for reading a status. It is the largest of the schemas
// and manifests have no status, so it is made at its first use.
import * as z from 'zod/mini'
import { CONFLICTS_NAMED } from '../names.ts'
import { lazy } from '../../base/lazy.ts'

/** The schema of a condition. */
const conditionSchema = lazy(() =>
  z.object({
    // No enum: a CRD of this version must take the conditions of a later operator.
    type: z.string().check(z.minLength(1), z.maxLength(64), z.regex(/^[A-Za-z]+$/)),
    status: z.enum(['True', 'False', 'Unknown']),
    observedGeneration: z.optional(z.int().check(z.minimum(0))),
    lastTransitionTime: z.iso.datetime(),
    reason: z
      .string()
      .check(z.minLength(1), z.maxLength(1024), z.regex(/^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$/)),
    message: textUpTo(32_768),
  }),
)

/** The schema of `.status`. */
export const bindingStatusSchema = lazy(() =>
  z
    .object({
      observedGeneration: z
        .optional(z.int().check(z.minimum(0)))
        .check(z.describe('Generation of the binding that this status speaks of.')),
      conditions: z
        .optional(z.array(conditionSchema()).check(z.maxLength(8)))
        .check(z.meta({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['type'] })),
      trustDomain: z
        .optional(textUpTo(255))
        .check(z.describe('Trust domain that the operator renders with.')),
      clusterSPIFFEIDClassName: z
        .optional(textUpTo(253))
        .check(z.describe('Class that the operator sets on its output.')),
      variantLabelKey: z
        .optional(textUpTo(253))
        .check(z.describe('Pod label that tells variants apart; only when mode is PerVariant.')),
      computedSpiffeIDs: z
        .optional(
          z
            .array(
              z.object({ mode: z.string().check(z.minLength(1), z.maxLength(32)), spiffeID: textUpTo(2048) }),
            )
            .check(z.maxLength(8)),
        )
        .check(z.meta({ 'x-kubernetes-list-type': 'atomic' })),
      renderedSelectors: z
        .optional(z.array(selectorsSchema()).check(z.maxLength(8)))
        .check(z.meta({ 'x-kubernetes-list-type': 'atomic' })),
      conflicts: z.optional(z.array(conflictSchema()).check(z.maxLength(CONFLICTS_NAMED))).check(
        z.meta({
          description:
            'The peers that collide with this binding: the ten that follow its name in byte order.',
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['bindingName'],
        }),
      ),
      clusterSPIFFEID: z
        .optional(z.object({ name: textUpTo(253), uid: textUpTo(128) }))
        .check(z.describe('The ClusterSPIFFEID that is in force for this binding.')),
    })
    .check(z.describe('What the operator made of the binding.')),
)

const selectorsSchema = lazy(() =>
  z.object({
    spiffeID: textUpTo(2048),
    selectors: z.array(textUpTo(1024)).check(z.maxLength(128), z.meta({ 'x-kubernetes-list-type': 'set' })),
  }),
)

const conflictSchema = lazy(() =>
  z.object({
    bindingName: textUpTo(253),
    relation: z.enum(['SamePods', 'Contains', 'ContainedBy']),
    spiffeID: textUpTo(2048),
  }),
)

function textUpTo(length: number): z.ZodMiniString {
  return z.string().check(z.maxLength(length))
}

/** `.status`, validated. */
export type BindingStatus = z.output<ReturnType<typeof bindingStatusSchema>>
/** One item of `.status.conditions`, validated. */
export type Condition = z.output<ReturnType<typeof conditionSchema>>
