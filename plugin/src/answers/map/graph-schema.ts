// The boxes and lines of a map, as schemas: the types of both are made of these (graph.ts).
import * as z from 'zod'
import { bindingKeySchema, codeSchema, count, list, podTextSchema } from '../../frame/plain-schema.ts'
import { CONTAINER_STATES, STATES } from '../parts/container-states.ts'

const changeSchema = z
  .enum(['added', 'removed', 'changed', 'uncertain'])
  .nullable()
  .describe('With --compare: what the change does to it. Null: nothing, or nothing is compared.')

const base = {
  id: z.string().describe('Unique in the report.'),
  label: z.string(),
  namespace: z.string().describe('Empty for what has none.'),
  parent: z.string().nullable().describe('The id of the node that contains it.'),
  findings: list(codeSchema).describe('The codes of the findings about it.'),
  change: changeSchema,
}

const stateSchema = z
  .enum(CONTAINER_STATES)
  .describe(CONTAINER_STATES.map((state) => `${state}: ${STATES[state].text}`).join('; '))

const stateCounts = z.object(
  Object.fromEntries(CONTAINER_STATES.map((state) => [state, count.optional().describe(STATES[state].text)])),
)

const registrationNode = <Kind extends string>(kind: Kind) =>
  z.object({
    kind: z.literal(kind),
    ...base,
    name: z.string(),
    handling: z
      .enum(['handled', 'ignored', 'invalid', 'undecodable', 'unknown'])
      .describe('What SCM does with the object.'),
    why: z.string().nullable(),
    ownership: z.enum(['ours', 'orphan', 'foreign', 'unknown']),
  })

/** A box. */
export const nodeSchema = z
  .discriminatedUnion('kind', [
    z.object({
      kind: z.literal('namespace'),
      ...base,
      containers: stateCounts.describe(
        'How many there are of each state; states that do not occur are left out.',
      ),
      pods: count.describe('Pods and templates.'),
      open: z.string().nullable().describe('Why there may be more pods than were read.'),
    }),
    z.object({ kind: z.literal('workload'), ...base, workload: z.string().describe('Its kind.') }),
    z.object({
      kind: z.literal('pods'),
      ...base,
      pods: list(podTextSchema).describe('The pods of this box: all look the same on the map.'),
      exists: z.boolean().describe('False for a template or a manifest.'),
      serviceAccount: z.string().nullable().describe('Null where it is not known.'),
      nodes: list(z.string()),
      perhaps: z.string().nullable().describe('Why it is not certain that there is such a pod.'),
    }),
    z.object({
      kind: z.literal('container'),
      ...base,
      name: z.string(),
      role: z.string(),
      state: stateSchema,
      count: count.describe('How many pods have it.'),
      identities: list(z.string()).describe('The SPIFFE IDs that are certainly issued.'),
      open: z.string().nullable().describe('Why it may get something else, or more.'),
    }),
    z.object({
      kind: z.literal('binding'),
      ...base,
      binding: bindingKeySchema,
      state: z.enum(['ready', 'refused', 'undetermined', 'waiting', 'deleting']),
      reason: z.string(),
      message: z.string(),
      spiffeID: z.string().nullable(),
    }),
    registrationNode('ClusterSPIFFEID'),
    registrationNode('ClusterStaticEntry'),
    z.object({
      kind: z.literal('identity'),
      ...base,
      spiffeID: z.string(),
      state: z.enum(['held', 'perhaps', 'unheld', 'unknown']),
      holders: count.describe('Containers that certainly hold it.'),
      perhaps: count.describe('Containers that perhaps hold it.'),
    }),
    z.object({
      kind: z.literal('policy'),
      ...base,
      policy: z.string(),
      isInterpreted: z.boolean(),
      namesAny: z.boolean().describe('Whether a rule names any principal.'),
      says: list(z.string()),
    }),
    z.object({
      kind: z.literal('gap'),
      ...base,
      state: z.enum(['unknown', 'not served']),
      why: z.string(),
    }),
  ])
  .meta({ id: 'MapNode' })

const ends = { from: z.string().describe('The id of a node.'), to: z.string() }

/** What leads from one box to another. */
export const edgeSchema = z
  .discriminatedUnion('kind', [
    z.object({
      kind: z.literal('registration').describe('A registration that selects the pod of a container.'),
      ...ends,
      verdict: z.string().describe('As in a WhoSelectsReport.'),
      spiffeID: z.string().nullable(),
      source: z.string(),
      hint: z.string(),
      sharesHint: z.boolean(),
      why: z.string().nullable(),
      selector: z.string().nullable(),
      by: z.string().nullable(),
      pending: z.string().nullable(),
    }),
    z.object({
      kind: z.literal('holds').describe('A container that holds an identity.'),
      ...ends,
      certain: z.boolean().describe('False: only perhaps, or no more.'),
      change: changeSchema,
    }),
    z.object({
      kind: z.literal('asks').describe('What asks for an identity, whether or not a container gets it.'),
      ...ends,
    }),
    z.object({
      kind: z.literal('names').describe('A policy, and the identity or pods that a rule of it names.'),
      ...ends,
      rule: z.string(),
      how: z
        .enum(['exactly', 'pattern', 'service account', 'same path', 'perhaps', 'mentioned'])
        .describe('The `way` of a PolicyNaming, or that a text mentions the ID.'),
    }),
  ])
  .meta({ id: 'MapEdge' })
