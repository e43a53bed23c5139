// The InferenceIdentityBinding API, written once: the CustomResourceDefinition holds this schema (`crd.ts`), a spec is read by it, and
// its types follow from it (docs/contract.md §2). Patterns are RE2-compatible, because the API server runs them too.
import type { Schema, ValueOf } from '../../base/structural.ts'
import { OBJECTIVE_GROUPS, POOL_GROUPS } from '../kinds.ts'
import { MODES } from '../names.ts'
import {
  DNS1123_LABEL_MAX,
  DNS1123_SUBDOMAIN_MAX,
  DNS1123_SUBDOMAIN_PATTERN,
  OPTIONAL_LABEL_PATTERN,
  QUALIFIED_NAME_MAX,
  QUALIFIED_NAME_PATTERN,
} from '../../base/text/kubernetes.ts'

const SUBDOMAIN = {
  pattern: DNS1123_SUBDOMAIN_PATTERN,
  minLength: 1,
  maxLength: DNS1123_SUBDOMAIN_MAX,
} as const

const PREFERENCE = 'without it the groups are tried in order of preference.'

/** In CEL: whether a spec names a container. */
const HAS_CONTAINER = "(has(self.containerName) && self.containerName != '')"

/** The schema of `.spec`. */
export const bindingSpecSchema = {
  type: 'object',
  description: 'The inference intent to compile into an SPIFFE identity.',
  properties: {
    poolRef: {
      type: 'object',
      description: 'The InferencePool whose pods get the identity.',
      properties: {
        name: {
          type: 'string',
          description: 'Name of an InferencePool in the namespace of the binding.',
          ...SUBDOMAIN,
        },
        group: { type: 'string', description: `API group of the pool; ${PREFERENCE}`, enum: POOL_GROUPS },
      },
      required: ['name'],
    },
    objectiveRef: {
      type: 'object',
      description: 'The InferenceObjective that names the identity; required when mode is PerObjective.',
      properties: {
        name: {
          type: 'string',
          description: 'Name of an InferenceObjective in the namespace of the binding.',
          ...SUBDOMAIN,
        },
        group: {
          type: 'string',
          description: `API group of the objective; ${PREFERENCE}`,
          enum: OBJECTIVE_GROUPS,
        },
      },
      required: ['name'],
    },
    serviceAccountName: {
      type: 'string',
      description: 'Service account that the pods must run under.',
      ...SUBDOMAIN,
    },
    mode: {
      type: 'string',
      description:
        'PoolOnly: one identity for the pods of the pool. PerVariant: one per role of the pool, told by a pod label. PerObjective: one per objective, for one container. Where it is absent, identityBoundary alone means PerVariant, and objectiveRef with containerName PerObjective.',
      enum: MODES,
    },
    containerName: {
      type: 'string',
      description:
        'Container that gets the identity; required when mode is PerObjective, absent or empty otherwise.',
      pattern: OPTIONAL_LABEL_PATTERN,
      maxLength: DNS1123_LABEL_MAX,
    },
    identityBoundary: {
      type: 'object',
      description:
        'The role of the pool that gets the identity; required when mode is PerVariant, absent otherwise.',
      properties: {
        // A label value that is not empty begins and ends with a letter or digit, so it is neither "." nor "..".
        variant: {
          type: 'string',
          description: 'Value of the pod label whose key the install fixes (--variant-label-key).',
          pattern: QUALIFIED_NAME_PATTERN,
          minLength: 1,
          maxLength: QUALIFIED_NAME_MAX,
        },
      },
      required: ['variant'],
    },
  },
  required: ['poolRef', 'serviceAccountName'],
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
} as const satisfies Schema

/** `.spec`, validated. */
export type BindingSpec = ValueOf<typeof bindingSpecSchema>
/** `.spec.poolRef`, validated. */
export type PoolRef = BindingSpec['poolRef']
/** `.spec.identityBoundary`, validated. */
export type IdentityBoundaryRef = NonNullable<BindingSpec['identityBoundary']>
/** `.spec.objectiveRef`, validated. */
export type ObjectiveRef = NonNullable<BindingSpec['objectiveRef']>
