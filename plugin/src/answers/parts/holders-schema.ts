// Containers and pods, and what they hold, gain and lose, as several reports show them.
import * as z from 'zod'
import type { IdentityChange, Lost, Reach } from '@kleym/shared/core/answers/index.ts'
import { list, made, podSchema, podTextSchema, withId } from '../../frame/schema.ts'

/** A container of a pod. */
export const holderSchema = z.object({ pod: podTextSchema, container: z.string() }).meta({ id: 'Holder' })
/** A container that perhaps gains or loses an identity. */
export const uncertainHolderSchema = holderSchema
  .extend({
    why: list(z.string()).describe('What leaves it open, each a sentence fragment: the first 20.'),
  })
  .meta({ id: 'UncertainHolder' })
/** Who gains or loses which ID. */
export const identityChangesSchema = list(
  made(z.object({ spiffeID: z.string(), containers: list(holderSchema) }), withId<IdentityChange>),
)

/** Pods that do not get the identity. */
export const missedSchema = list(z.object({ pod: podSchema, verdict: z.string(), why: z.string() }))

/** What else containers hold. */
export const alsoHeldSchema = list(
  made(
    z.object({ pod: podSchema, container: z.string(), spiffeID: z.string(), source: z.string() }),
    withId<Reach['alsoHeld'][number]>,
  ),
)

/** The default identities that containers lose. */
export const lostSchema = list(
  made(
    z.object({
      pod: podSchema,
      containers: list(z.string()),
      spiffeID: z.string(),
      source: z.string(),
      instead: list(z.string()).describe('What they hold in its place.'),
      kept: list(z.string()).describe(
        'What they hold with and without it. If there is neither, they are left with none.',
      ),
      certain: z.boolean(),
    }),
    (one: Lost) => ({ ...withId(one), certain: one.open === undefined }),
  ),
).describe('Default identities of fallbacks that give way.')
