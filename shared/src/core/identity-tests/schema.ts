// The kind `IdentityTest`, which stands in files alone: what a team states about who holds which identity. Written once: zod
// gives the types, the checks when a file is read, the published JSON Schema and the field reference (docs/testing.md).
import * as z from 'zod/mini'
import { keysOf } from '../json.ts'
import { IDENTITY_TEST_API_VERSION, IDENTITY_TEST_KIND, LOCAL_CONFIG_ANNOTATION } from '../names.ts'
import { lazy } from '../lazy.ts'
import { REASONS } from '../registry/reasons.ts'

/** More than a person or `--generate` writes into one list. */
const LIST_MAX = 100_000

const text = (what: string): z.ZodMiniString =>
  z
    .string('must be a string')
    .check(
      z.minLength(1, 'must not be empty'),
      z.maxLength(2048, 'must be no more than 2048 characters'),
      z.describe(what),
    )

const description = z.optional(text('What the assertion is for; shown where it fails.'))

const absent = z
  .optional(z.boolean('must be true or false'))
  .check(
    z.describe(
      'True: it may match nothing. Without it, an assertion that matches nothing fails, since a misspelt name would pass.',
    ),
  )

const labels = z
  .record(z.string(), z.string('must be a string; put numbers and booleans in quotes'), 'must be a mapping')
  .check(z.describe('Labels with their values; all of them must be there.'))

const labelSelectorSchema = lazy(() =>
  z.strictObject(
    {
      matchLabels: z.optional(labels),
      matchExpressions: z
        .optional(
          z.array(
            z.strictObject({
              key: text('The key of a label.'),
              operator: z.enum(
                ['In', 'NotIn', 'Exists', 'DoesNotExist'],
                'must be In, NotIn, Exists or DoesNotExist',
              ),
              values: z.optional(z.array(z.string('must be a string'), 'must be a list')),
            }),
            'must be a list',
          ),
        )
        .check(z.describe('As in Kubernetes: key, operator (In, NotIn, Exists, DoesNotExist) and values.')),
    },
    'must be a mapping',
  ),
)

const containerFields = lazy(() => ({
  namespace: z.optional(text('The namespace of the pods.')),
  namespaceSelector: z
    .optional(labelSelectorSchema())
    .check(z.describe('The labels of the namespaces of the pods.')),
  notInNamespaces: z
    .optional(z.array(text('A namespace.'), 'must be a list').check(z.minLength(1, 'must not be empty')))
    .check(z.describe('Pods of all other namespaces.')),
  workload: z
    .optional(
      z
        .string('must be a string')
        .check(
          z.regex(/^[A-Za-z][A-Za-z.]*\/[^/\s]+$/, 'must be KIND/NAME, such as deployment/llama'),
          z.maxLength(300),
        ),
    )
    .check(z.describe('The workload that makes the pods: KIND/NAME, such as deployment/llama.')),
  part: z
    .optional(text('leader or worker: which pods of a LeaderWorkerSet.'))
    .check(z.describe('leader or worker: which pods of a LeaderWorkerSet.')),
  pod: z.optional(text('The name of a pod.')),
  podSelector: z.optional(labelSelectorSchema()).check(z.describe('The labels of the pods.')),
  serviceAccount: z.optional(text('The service account of the pods.')),
  container: z.optional(text('The name of a container; without it, every container of the pods.')),
}))

/** Which containers: all that is given must hold. */
const containersSchema = lazy(() =>
  z
    .strictObject(containerFields(), 'must be a mapping')
    .check(z.describe('Containers: what is given must hold all together.')),
)

/** The same where it must name something. */
const namedContainersSchema = lazy(() =>
  z.strictObject(containerFields(), 'must be a mapping').check(
    z.refine((given) => Object.values(given).some((value) => value !== undefined), 'must name something'),
    z.describe('Containers: what is given must hold all together, and something must be given.'),
  ),
)

const SOURCE = /^(?:binding\/[^/\s]+\/[^/\s]+|clusterspiffeid\/[^/\s]+|clusterstaticentry\/[^/\s]+)$/

const identitySchema = lazy(() =>
  z.union(
    [
      text('A SPIFFE ID.'),
      z.strictObject({
        spiffeID: text('A SPIFFE ID.'),
        hint: z
          .optional(z.string('must be a string').check(z.maxLength(1024)))
          .check(z.describe('Its hint.')),
        source: z
          .optional(
            z
              .string('must be a string')
              .check(
                z.regex(
                  SOURCE,
                  'must be binding/NAMESPACE/NAME, clusterspiffeid/NAME or clusterstaticentry/NAME',
                ),
              ),
          )
          .check(
            z.describe(
              'What gives it: binding/NAMESPACE/NAME, clusterspiffeid/NAME or clusterstaticentry/NAME.',
            ),
          ),
      }),
    ],
    'must be a SPIFFE ID, or a mapping with spiffeID',
  ),
)

const identities = (
  what: string,
  least = 1,
): z.ZodMiniOptional<z.ZodMiniArray<ReturnType<typeof identitySchema>>> =>
  z.optional(
    z
      .array(identitySchema(), 'must be a list')
      .check(
        z.minLength(least, 'must not be empty; write none: true'),
        z.maxLength(LIST_MAX),
        z.describe(what),
      ),
  )

const none = z.optional(z.literal(true, 'must be true, or left out')).check(z.describe('True: none at all.'))

const onlyOne = (given: Readonly<Record<string, unknown>>): boolean =>
  Object.values(given).filter((value) => value !== undefined).length === 1

const holdsSchema = lazy(() =>
  z
    .strictObject(
      {
        exactly: identities('These identities and no others.'),
        atLeast: identities('These identities, and perhaps others.'),
        none,
      },
      'must be a mapping',
    )
    .check(z.refine(onlyOne, 'must have one of exactly, atLeast and none')),
)

const heldBySchema = lazy(() =>
  z
    .strictObject(
      {
        exactly: z
          .optional(
            z
              .array(namedContainersSchema(), 'must be a list')
              .check(z.minLength(1, 'must not be empty; write none: true'), z.maxLength(LIST_MAX)),
          )
          .check(z.describe('These containers, each of them, and no other.')),
        atLeast: z
          .optional(
            z
              .array(namedContainersSchema(), 'must be a list')
              .check(z.minLength(1, 'must not be empty'), z.maxLength(LIST_MAX)),
          )
          .check(z.describe('Each of these containers, and perhaps others.')),
        none,
      },
      'must be a mapping',
    )
    .check(z.refine(onlyOne, 'must have one of exactly, atLeast and none')),
)

const pattern = (what: string): z.ZodMiniString =>
  text(`${what} \`*\` stands for a part of a segment, \`**\` for any rest.`)

const count = (what: string): z.ZodMiniOptional<z.ZodMiniNumber> =>
  z.optional(
    z
      .int('must be a whole number')
      .check(z.minimum(0, 'must not be negative'), z.maximum(1000), z.describe(what)),
  )

const ruleHoldsSchema = lazy(() =>
  z
    .strictObject(
      {
        atMost: count('At most so many identities each.'),
        atLeast: count('At least so many identities each.'),
        only: z
          .optional(
            z
              .array(pattern('A SPIFFE ID.'), 'must be a list')
              .check(z.minLength(1, 'must not be empty; write none: true'), z.maxLength(LIST_MAX)),
          )
          .check(z.describe('No identities but these; patterns are allowed.')),
        none,
      },
      'must be a mapping',
    )
    .check(
      z.refine((given) => Object.values(given).some((value) => value !== undefined), 'must not be empty'),
    ),
)

const REASON_NAMES = keysOf(REASONS)

const ruleSchema = lazy(() =>
  z
    .strictObject(
      {
        description,
        identitiesBelow: z.optional(
          text(
            'Every identity that begins so; {namespace} stands for one segment, to be used in `onlyIn.namespace`.',
          ),
        ),
        spiffeID: z.optional(pattern('Every identity of this form.')),
        onlyIn: z
          .optional(namedContainersSchema())
          .check(z.describe('Each container that holds it must be one of these.')),
        neverIn: z.optional(namedContainersSchema()).check(z.describe('No container of these holds it.')),
        everyContainer: z.optional(containersSchema()).check(z.describe('Each of these; {} means all.')),
        holds: z.optional(ruleHoldsSchema()).check(z.describe('What each of them holds.')),
        absent,
      },
      'must be a mapping',
    )
    .check(
      z.refine(isRule, {
        message: 'must be identitiesBelow or spiffeID with onlyIn or neverIn, or everyContainer with holds',
      }),
    ),
)

/** 1 where it is given. */
function has(value: unknown): number {
  return Number(value !== undefined)
}

function isRule(given: {
  readonly identitiesBelow?: unknown
  readonly spiffeID?: unknown
  readonly onlyIn?: unknown
  readonly neverIn?: unknown
  readonly everyContainer?: unknown
  readonly holds?: unknown
}): boolean {
  const ids = has(given.identitiesBelow) + has(given.spiffeID)
  const where = has(given.onlyIn) + has(given.neverIn)
  const containers = has(given.everyContainer) + has(given.holds)
  return (ids === 1 && where === 1 && containers === 0) || (ids === 0 && where === 0 && containers === 2)
}

/** The schema of `.spec`. */
export const identityTestSpecSchema = lazy(() =>
  z
    .strictObject(
      {
        containers: z
          .optional(
            z
              .array(
                z.strictObject(
                  { description, subject: namedContainersSchema(), holds: holdsSchema(), absent },
                  'must be a mapping',
                ),
                'must be a list',
              )
              .check(z.maxLength(LIST_MAX)),
          )
          .check(z.describe('What containers hold.')),
        identities: z
          .optional(
            z
              .array(
                z.strictObject(
                  {
                    description,
                    spiffeID: pattern('A SPIFFE ID.'),
                    heldBy: heldBySchema(),
                    absent,
                  },
                  'must be a mapping',
                ),
                'must be a list',
              )
              .check(z.maxLength(LIST_MAX)),
          )
          .check(z.describe('Who holds identities.')),
        bindings: z
          .optional(
            z
              .array(
                z
                  .strictObject(
                    {
                      description,
                      name: z
                        .string('must be a string')
                        .check(
                          z.regex(/^[^/\s]+\/[^/\s]+$/, 'must be NAMESPACE/NAME'),
                          z.describe('NAMESPACE/NAME.'),
                        ),
                      ready: z
                        .optional(z.boolean('must be true or false'))
                        .check(z.describe('Whether it is Ready.')),
                      reason: z
                        .optional(z.enum(REASON_NAMES, 'must be a reason of docs/reference/reasons.md'))
                        .check(z.describe('The reason of its condition Ready.')),
                      spiffeID: z.optional(text('The SPIFFE ID that it gives.')),
                      absent: z
                        .optional(z.boolean('must be true or false'))
                        .check(z.describe('True: there is no such binding.')),
                    },
                    'must be a mapping',
                  )
                  .check(
                    z.refine(
                      ({ ready, reason, spiffeID, absent: isAbsent }) =>
                        (isAbsent === true) !==
                        (ready !== undefined || reason !== undefined || spiffeID !== undefined),
                      'must say ready, reason or spiffeID, or else absent: true',
                    ),
                  ),
                'must be a list',
              )
              .check(z.maxLength(LIST_MAX)),
          )
          .check(z.describe('What bindings come to.')),
        rules: z
          .optional(z.array(ruleSchema(), 'must be a list').check(z.maxLength(LIST_MAX)))
          .check(z.describe('What holds for everything.')),
      },
      'must be a mapping',
    )
    .check(
      z.refine(
        (spec) => Object.values(spec).some((list) => Array.isArray(list) && list.length > 0),
        'must hold an assertion: containers, identities, bindings or rules',
      ),
    ),
)

/** The schema of the whole object. */
export const identityTestSchema = lazy(() =>
  z
    .strictObject({
      apiVersion: z.literal(IDENTITY_TEST_API_VERSION, `must be ${IDENTITY_TEST_API_VERSION}`),
      kind: z.literal(IDENTITY_TEST_KIND, `must be ${IDENTITY_TEST_KIND}`),
      metadata: z.object(
        {
          name: text('The name of the test.'),
          annotations: z
            .optional(z.record(z.string(), z.string('must be a string; put it in quotes')))
            .check(
              z.describe(`\`${LOCAL_CONFIG_ANNOTATION}: "true"\` makes kustomize leave the object out.`),
            ),
        },
        'must be a mapping',
      ),
      spec: identityTestSpecSchema(),
    })
    .check(
      z.describe(
        'What must be true of who holds which identity; for `kubectl kleym test` alone, never applied.',
      ),
    ),
)

/** `.spec`, validated. */
export type IdentityTestSpec = z.output<ReturnType<typeof identityTestSpecSchema>>
/** Which containers, as written. */
export type ContainersWritten = z.output<ReturnType<typeof containersSchema>>
/** One identity of a list, as written. */
export type IdentityWritten = z.output<ReturnType<typeof identitySchema>>
/** A label selector, as written. */
export type SelectorWritten = z.output<ReturnType<typeof labelSelectorSchema>>
/** One item of `rules`, as written. */
export type RuleWritten = z.output<ReturnType<typeof ruleSchema>>
