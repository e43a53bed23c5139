// The kind `IdentityTest`, which stands in files alone: what a team states about who holds which identity. Written once: zod
// gives the types, the checks when a file is read, the published JSON Schema and the field reference (docs/identity-tests.md).
import * as z from 'zod/mini'
import { keysOf } from '../../base/json.ts'
import { IDENTITY_TEST_API_VERSION, IDENTITY_TEST_KIND, LOCAL_CONFIG_ANNOTATION } from '../../model/names.ts'
import { lazy } from '../../base/lazy.ts'
import { REASONS } from '../../decide/index.ts'

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

/** A field that may be left out. */
function optional<T extends z.ZodMiniType>(schema: T, what: string): z.ZodMiniOptional<T> {
  return z.optional(schema).check(z.describe(what))
}

function mapping<T extends z.core.$ZodLooseShape>(fields: T): z.ZodMiniObject<T, z.core.$strict> {
  return z.strictObject(fields, 'must be a mapping')
}

function listOf<T extends z.ZodMiniType>(item: T): z.ZodMiniArray<T> {
  return z.array(item, 'must be a list').check(z.maxLength(LIST_MAX))
}

/** A list that says something; `instead` is what to write in place of an empty one. */
function someOf<T extends z.ZodMiniType>(item: T, instead = ''): z.ZodMiniArray<T> {
  return listOf(item).check(z.minLength(1, `must not be empty${instead}`))
}

function flag(what: string): z.ZodMiniOptional<z.ZodMiniBoolean> {
  return optional(z.boolean('must be true or false'), what)
}

const OR_NONE = '; write none: true'

const description = z.optional(text('What the assertion is for; shown where it fails.'))

const absent = flag(
  'True: it may match nothing. Without it, an assertion that matches nothing fails, since a misspelt name would pass.',
)

const labels = z
  .record(z.string(), z.string('must be a string; put numbers and booleans in quotes'), 'must be a mapping')
  .check(z.describe('Labels with their values; all of them must be there.'))

const labelSelectorSchema = lazy(() =>
  mapping({
    matchLabels: z.optional(labels),
    matchExpressions: optional(
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
      'As in Kubernetes: key, operator (In, NotIn, Exists, DoesNotExist) and values.',
    ),
  }),
)

const containerFields = lazy(() => ({
  namespace: z.optional(text('The namespace of the pods.')),
  namespaceSelector: optional(labelSelectorSchema(), 'The labels of the namespaces of the pods.'),
  notInNamespaces: optional(
    z.array(text('A namespace.'), 'must be a list').check(z.minLength(1, 'must not be empty')),
    'Pods of all other namespaces.',
  ),
  workload: optional(
    z
      .string('must be a string')
      .check(
        z.regex(/^[A-Za-z][A-Za-z.]*\/[^/\s]+$/, 'must be KIND/NAME, such as deployment/llama'),
        z.maxLength(300),
      ),
    'The workload that makes the pods: KIND/NAME, such as deployment/llama.',
  ),
  part: z.optional(text('leader or worker: which pods of a LeaderWorkerSet.')),
  pod: z.optional(text('The name of a pod.')),
  podSelector: optional(labelSelectorSchema(), 'The labels of the pods.'),
  serviceAccount: z.optional(text('The service account of the pods.')),
  container: z.optional(text('The name of a container; without it, every container of the pods.')),
}))

/** Which containers: all that is given must hold. */
const containersSchema = lazy(() =>
  mapping(containerFields()).check(z.describe('Containers: what is given must hold all together.')),
)

/** The same where it must name something. */
const namedContainersSchema = lazy(() =>
  mapping(containerFields()).check(
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
        hint: optional(z.string('must be a string').check(z.maxLength(1024)), 'Its hint.'),
        source: optional(
          z
            .string('must be a string')
            .check(
              z.regex(
                SOURCE,
                'must be binding/NAMESPACE/NAME, clusterspiffeid/NAME or clusterstaticentry/NAME',
              ),
            ),
          'What gives it: binding/NAMESPACE/NAME, clusterspiffeid/NAME or clusterstaticentry/NAME.',
        ),
      }),
    ],
    'must be a SPIFFE ID, or a mapping with spiffeID',
  ),
)

const none = optional(z.literal(true, 'must be true, or left out'), 'True: none at all.')

const onlyOne = (given: Readonly<Record<string, unknown>>): boolean =>
  Object.values(given).filter((value) => value !== undefined).length === 1

const holdsSchema = lazy(() =>
  mapping({
    exactly: z.optional(
      someOf(identitySchema(), OR_NONE).check(z.describe('These identities and no others.')),
    ),
    atLeast: z.optional(
      someOf(identitySchema(), OR_NONE).check(z.describe('These identities, and perhaps others.')),
    ),
    none,
  }).check(z.refine(onlyOne, 'must have one of exactly, atLeast and none')),
)

const heldBySchema = lazy(() =>
  mapping({
    exactly: optional(
      someOf(namedContainersSchema(), OR_NONE),
      'These containers, each of them, and no other.',
    ),
    atLeast: optional(someOf(namedContainersSchema()), 'Each of these containers, and perhaps others.'),
    none,
  }).check(z.refine(onlyOne, 'must have one of exactly, atLeast and none')),
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
  mapping({
    atMost: count('At most so many identities each.'),
    atLeast: count('At least so many identities each.'),
    only: optional(
      someOf(pattern('A SPIFFE ID.'), OR_NONE),
      'No identities but these; patterns are allowed.',
    ),
    none,
  }).check(
    z.refine((given) => Object.values(given).some((value) => value !== undefined), 'must not be empty'),
  ),
)

const REASON_NAMES = keysOf(REASONS)

const ruleSchema = lazy(() =>
  mapping({
    description,
    identitiesBelow: z.optional(
      text(
        'Every identity that begins so; {namespace} stands for one segment, to be used in `onlyIn.namespace`.',
      ),
    ),
    spiffeID: z.optional(pattern('Every identity of this form.')),
    onlyIn: optional(namedContainersSchema(), 'Each container that holds it must be one of these.'),
    neverIn: optional(namedContainersSchema(), 'No container of these holds it.'),
    everyContainer: optional(containersSchema(), 'Each of these; {} means all.'),
    holds: optional(ruleHoldsSchema(), 'What each of them holds.'),
    absent,
  }).check(
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
  mapping({
    containers: optional(
      listOf(mapping({ description, subject: namedContainersSchema(), holds: holdsSchema(), absent })),
      'What containers hold.',
    ),
    identities: optional(
      listOf(mapping({ description, spiffeID: pattern('A SPIFFE ID.'), heldBy: heldBySchema(), absent })),
      'Who holds identities.',
    ),
    bindings: optional(
      listOf(
        mapping({
          description,
          name: z
            .string('must be a string')
            .check(z.regex(/^[^/\s]+\/[^/\s]+$/, 'must be NAMESPACE/NAME'), z.describe('NAMESPACE/NAME.')),
          ready: flag('Whether it is Ready.'),
          reason: optional(
            z.enum(REASON_NAMES, 'must be a reason of docs/reference/reasons.md'),
            'The reason of its condition Ready.',
          ),
          spiffeID: z.optional(text('The SPIFFE ID that it gives.')),
          absent: flag('True: there is no such binding.'),
        }).check(
          z.refine(
            ({ ready, reason, spiffeID, absent: isAbsent }) =>
              (isAbsent === true) !== (ready !== undefined || reason !== undefined || spiffeID !== undefined),
            'must say ready, reason or spiffeID, or else absent: true',
          ),
        ),
      ),
      'What bindings come to.',
    ),
    rules: optional(listOf(ruleSchema()), 'What holds for everything.'),
  }).check(
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
