// The CustomResourceDefinition of InferenceIdentityBinding.
import type { JsonRecord } from '../../base/json.ts'
import { BINDING } from '../kinds.ts'
import { bindingSpecSchema } from './binding-schema.ts'
import { bindingStatusSchema } from './binding-status.ts'

/** The CRD as a plain object, ready to be printed as YAML. */
export function bindingCrd(): JsonRecord {
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${BINDING.plural}.${BINDING.group}` },
    spec: {
      group: BINDING.group,
      scope: 'Namespaced',
      names: {
        kind: BINDING.kind,
        listKind: `${BINDING.kind}List`,
        plural: BINDING.plural,
        singular: BINDING.kind.toLowerCase(),
        shortNames: ['iib'],
        categories: ['kleym'],
      },
      versions: [
        {
          name: BINDING.version,
          served: true,
          storage: true,
          subresources: { status: {} },
          additionalPrinterColumns: PRINTER_COLUMNS,
          schema: {
            openAPIV3Schema: {
              type: 'object',
              description:
                'InferenceIdentityBinding asks for one SPIFFE identity for the pods of an InferencePool, for those of one role, or for one container of them on behalf of an InferenceObjective.',
              required: ['spec'],
              properties: {
                apiVersion: { type: 'string' },
                kind: { type: 'string' },
                metadata: { type: 'object' },
                spec: bindingSpecSchema,
                status: bindingStatusSchema,
              },
            },
          },
        },
      ],
    },
  }
}

const PRINTER_COLUMNS = [
  { name: 'Mode', type: 'string', jsonPath: '.spec.mode' },
  { name: 'Pool', type: 'string', jsonPath: '.spec.poolRef.name' },
  { name: 'Objective', type: 'string', jsonPath: '.spec.objectiveRef.name' },
  { name: 'Ready', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
  { name: 'Reason', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].reason' },
  { name: 'In-Force', type: 'string', jsonPath: '.status.conditions[?(@.type=="InForce")].status' },
  { name: 'SPIFFE-ID', type: 'string', jsonPath: '.status.computedSpiffeIDs[0].spiffeID' },
  { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  { name: 'Variant', type: 'string', jsonPath: '.spec.identityBoundary.variant', priority: 1 },
]
