// The schema of `map`.
import * as z from 'zod'
import { list, orNull, reportSchema } from '../../frame/schema.ts'
import { budgetsSchema } from '../parts/budgets-schema.ts'
import { edgeSchema, nodeSchema } from './graph-schema.ts'

/** A MapReport. */
export const mapReportSchema = reportSchema('MapReport', 'The answer of kubectl kleym map.', {
  scope: z
    .object({
      namespace: orNull(z.string()).describe('Null: all namespaces.'),
      spiffeID: orNull(z.string()).describe('The ID of --spiffe-id.'),
      selected: z.boolean().describe('Whether -l chose the pods.'),
      compared: z.boolean().describe('Whether --compare gave a desired state before the change.'),
    })
    .describe('What the map is limited to.'),
  nodes: list(nodeSchema),
  edges: list(edgeSchema),
  budgets: budgetsSchema
    .optional()
    .describe('The entries that the estate asks for; absent where the map is of some pods alone.'),
})
