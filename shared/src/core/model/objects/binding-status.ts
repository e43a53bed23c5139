// The status of an InferenceIdentityBinding: the schema for the CRD and for reading a status.
import type { Schema, ValueOf } from '../../base/structural.ts'
import { CONFLICTS_NAMED } from '../names.ts'

const GENERATION = { minimum: 0, format: 'int64' } as const
const SPIFFE_ID = { type: 'string', maxLength: 2048 } as const
const NAME = { type: 'string', maxLength: 253 } as const

/** The schema of a condition. */
const conditionSchema = {
  type: 'object',
  properties: {
    // No enum: a CRD of this version must take the conditions of a later operator.
    type: { type: 'string', pattern: '^[A-Za-z]+$', minLength: 1, maxLength: 64 },
    status: { type: 'string', enum: ['True', 'False', 'Unknown'] },
    observedGeneration: { type: 'integer', ...GENERATION },
    lastTransitionTime: { type: 'string', format: 'date-time' },
    reason: {
      type: 'string',
      pattern: '^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$',
      minLength: 1,
      maxLength: 1024,
    },
    message: { type: 'string', maxLength: 32_768 },
  },
  required: ['lastTransitionTime', 'message', 'reason', 'status', 'type'],
} as const satisfies Schema

/** The schema of `.status`. */
export const bindingStatusSchema = {
  type: 'object',
  description: 'What the operator made of the binding.',
  properties: {
    observedGeneration: {
      type: 'integer',
      description: 'Generation of the binding that this status speaks of.',
      ...GENERATION,
    },
    conditions: {
      type: 'array',
      items: conditionSchema,
      maxItems: 8,
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['type'],
    },
    trustDomain: {
      type: 'string',
      description: 'Trust domain that the operator renders with.',
      maxLength: 255,
    },
    clusterSPIFFEIDClassName: {
      type: 'string',
      description: 'Class that the operator sets on its output.',
      maxLength: 253,
    },
    variantLabelKey: {
      type: 'string',
      description: 'Pod label that tells variants apart; only when mode is PerVariant.',
      maxLength: 253,
    },
    computedSpiffeIDs: {
      type: 'array',
      items: {
        type: 'object',
        properties: { mode: { type: 'string', minLength: 1, maxLength: 32 }, spiffeID: SPIFFE_ID },
        required: ['mode', 'spiffeID'],
      },
      maxItems: 8,
      'x-kubernetes-list-type': 'atomic',
    },
    renderedSelectors: {
      type: 'array',
      items: {
        type: 'object',
        properties: {
          spiffeID: SPIFFE_ID,
          selectors: {
            type: 'array',
            items: { type: 'string', maxLength: 1024 },
            maxItems: 128,
            'x-kubernetes-list-type': 'set',
          },
        },
        required: ['selectors', 'spiffeID'],
      },
      maxItems: 8,
      'x-kubernetes-list-type': 'atomic',
    },
    conflicts: {
      type: 'array',
      description: 'The peers that collide with this binding: the ten that follow its name in byte order.',
      items: {
        type: 'object',
        properties: {
          bindingName: NAME,
          relation: { type: 'string', enum: ['SamePods', 'Contains', 'ContainedBy'] },
          spiffeID: SPIFFE_ID,
        },
        required: ['bindingName', 'relation', 'spiffeID'],
      },
      maxItems: CONFLICTS_NAMED,
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['bindingName'],
    },
    clusterSPIFFEID: {
      type: 'object',
      description: 'The ClusterSPIFFEID that the operator has written for this binding.',
      properties: { name: NAME, uid: { type: 'string', maxLength: 128 } },
      required: ['name', 'uid'],
    },
  },
} as const satisfies Schema

/** `.status`, validated. */
export type BindingStatus = ValueOf<typeof bindingStatusSchema>
/** One item of `.status.conditions`, validated. */
export type Condition = ValueOf<typeof conditionSchema>
