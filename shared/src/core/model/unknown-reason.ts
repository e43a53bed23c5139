// Why something is not known, as a value: an unknown carries its reason and never collapses into zero, empty or false.
import { groupsBy, onceBy } from '../base/groups.ts'

/** Why something is not known: words of a closed set, so that a retry gives the same message. */
export interface UnknownReason {
  /** What was tried: an API verb, or `read` for a file. */
  readonly verb: 'get' | 'list' | 'watch' | 'discover' | 'read' | 'create' | 'update' | 'patch' | 'delete'
  /** What was looked for, as users name it: `InferencePool.inference.networking.k8s.io`. */
  readonly what: string
  /** The namespace in which it was looked for; absent for all namespaces, and for cluster-scoped objects. */
  readonly namespace?: string
  /** The class of the failure. */
  readonly cause:
    | 'forbidden'
    | 'absent'
    | 'unreachable'
    | 'timed out'
    | 'refused'
    | 'malformed'
    /** A document that is not filled in yet. */
    | 'a template'
    /** A chart or an overlay that was not rendered. */
    | 'not rendered'
    /** The same object stands twice, with different content. */
    | 'ambiguous'
    /** The change that is asked about may take it away, or bring it. */
    | 'taken away'
    | 'not given'
    /** The API server asks for fewer requests (429). */
    | 'throttled'
    /** The API server failed (5xx). */
    | 'failed'
    /** Five writes in a row met a write of another client (409). */
    | 'conflicting writes'
    /** The API server serves the kind, but in no version that kleym reads. */
    | 'served in another version'
    /** The CRD of the kind is there, and the API server serves it in no version. */
    | 'not served'
    /** The CRD lacks the field, and the API server drops it. */
    | 'not in its CRD'
    /** Which bindings of a namespace get an output, and which find none left (docs/contract.md §8, "Quiet and fair"). */
    | 'more than --bindings-per-namespace'
    /** Deleted, and kept by finalizers that are not kleym's. */
    | 'held by finalizers'
    /** Another client undoes each write, so that the next one waits (docs/contract.md §8, "How it is written"). */
    | 'changed or deleted too often by another client'
    /** The API server answers a write with success, and what it stored is not changed: a mutating webhook or policy undoes it. */
    | 'undone at admission'
  /** How a user gives what was not given, an instruction. */
  readonly fix?: string
}

const ASK_AGAIN = 'ask again when the API server answers'
const GIVE_THE_OBJECT = 'give the object, or a dump of the cluster that holds it'

const FIXES: { readonly [Cause in UnknownReason['cause']]?: (why: UnknownReason) => string } = {
  forbidden: ({ verb, what }) => `grant the right to ${verb} ${what}`,
  'not given': ({ verb, fix }) =>
    fix ?? (verb === 'list' ? 'ask about all namespaces (-A), or give it with -f' : 'give it with -f'),
  malformed: () => 'correct it',
  'a template': () => 'fill it in, or leave it out (--exclude)',
  'not rendered': () => 'render it (--render), or give what it renders to with -f',
  'taken away': () => 'keep it, or take away what needs it too',
  ambiguous: () => 'leave one of the definitions, and correct it',
  'more than --bindings-per-namespace': () =>
    'delete bindings of the namespace, or start the operator with a higher --bindings-per-namespace',
  'timed out': () => ASK_AGAIN,
  throttled: () => ASK_AGAIN,
  failed: () => ASK_AGAIN,
}

/** What makes it known, an instruction. */
export function unknownReasonFix(why: UnknownReason): string {
  return FIXES[why.cause]?.(why) ?? GIVE_THE_OBJECT
}

/** One sentence without raw error text, for a person: `cannot list InferencePool: forbidden`, `missing kleym's trust domain`. */
export function unknownReasonText(why: UnknownReason): string {
  if (why.cause === 'ambiguous') {
    const places = why.what.split(' and ')
    return `defined ${places.length === 2 ? 'twice' : 'several times'}: ${places.join(', ')}`
  }
  if (why.cause === 'taken away') return `the change may take it away or bring it: ${why.what}`
  const where = why.namespace === undefined ? '' : ` in namespace ${why.namespace}`
  const what = `${why.what}${where}`
  return why.cause === 'not given' ? `missing ${what}` : `cannot ${why.verb} ${what}: ${why.cause}`
}

/** A reason as reports show it. */
export function unknownReasonJson(
  why: UnknownReason,
): Omit<UnknownReason, 'fix'> & { readonly text: string } {
  const { verb, what, namespace, cause } = why
  return {
    verb,
    what,
    ...(namespace !== undefined && { namespace }),
    cause,
    text: unknownReasonText(why),
  }
}

/** The sentences of several reasons, where what failed alike is said once: `cannot list Node, Pod in namespace a, b: forbidden`. */
export function unknownReasonTexts(reasons: readonly UnknownReason[]): readonly string[] {
  return joinedReasons(reasons).map(unknownReasonText)
}

/** Those sentences, with the fix of what was not given: `missing kleym's trust domain; pass --trust-domain`. */
export function unknownReasonLines(reasons: readonly UnknownReason[]): readonly string[] {
  return joinedReasons(reasons).map((why) => {
    const fix = why.cause === 'not given' ? `; ${unknownReasonFix(why)}` : ''
    return `${unknownReasonText(why)}${fix}`
  })
}

function joinedReasons(reasons: readonly UnknownReason[]): readonly UnknownReason[] {
  const distinct = onceBy(reasons, unknownReasonText)
  const byKinds = joined(distinct, 'namespace', ({ what }) => what, 'what')
  return joined(byKinds, 'what', ({ namespace }) => namespace ?? '', 'namespace')
}

/** Makes one of those reasons that differ in one field alone: `same` is the other field that must be equal. */
function joined(
  reasons: readonly UnknownReason[],
  same: 'what' | 'namespace',
  nameOf: (why: UnknownReason) => string,
  field: 'what' | 'namespace',
): readonly UnknownReason[] {
  const alike = groupsBy(reasons, (why) =>
    // Places of what is defined twice are no names, and no namespace is no list of namespaces.
    JSON.stringify([
      why.verb,
      why.cause,
      why.fix,
      why[same],
      why.cause === 'ambiguous' ? why.what : why.namespace === undefined,
    ]),
  )
  return alike.map((group) =>
    group.length === 1 ? group[0] : { ...group[0], [field]: group.map(nameOf).join(', ') },
  )
}
