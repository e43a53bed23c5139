// Why something is not known: one closed union for all that can keep an answer open, with the words of each member.
import { unknownReasonFix, unknownReasonText, type UnknownReason } from '../unknown-reason.ts'

/** The object, the namespace or the kind that a cause is about. Never one pod of many: a cause is shared by all of them. */
export interface Scope {
  /** As users name it: `InferencePool.inference.networking.k8s.io`, `Pod`. */
  readonly kind?: string
  readonly namespace?: string
  readonly name?: string
}

/** What each cause carries beside its scope. */
interface Details {
  /** A kind, a namespace or an object that could not be read. */
  readonly unread: { readonly why: UnknownReason }
  /** One object that stands twice in what was given, with different content. */
  readonly doubled: { readonly why: UnknownReason }
  /** SCM may hold an older version of the object: it refuses this one. */
  readonly refused: { readonly why: string }
  /** A binding, if kleym cannot decide whether it is in force; `binding` is `namespace/name`. */
  readonly undecided: { readonly binding: string; readonly why: UnknownReason }
  /** A controller that makes objects which nothing shows yet; `maker` is as a person reads it. */
  readonly 'made by': { readonly maker: string; readonly why: string }
  /** A webhook that may add something to pods; `adds` names it, such as `the container`. */
  readonly webhook: { readonly injector: string; readonly adds: string }
  /** A fact that is known at run time only; `isPassing`: time settles it. */
  readonly runtime: { readonly why: string; readonly isPassing?: true }
  /** A construct that kleym does not follow. */
  readonly 'not followed': { readonly construct: string; readonly why: string }
  /** Two registrations: one is preferred, and nothing here shows which. */
  readonly tie: { readonly between: readonly [first: string, second: string]; readonly why: string }
  /** A setting that was not given; `assumed` is the value that the answer takes. */
  readonly setting: { readonly setting: string; readonly assumed: string; readonly why: string }
  /** Namespaces that the question leaves out. */
  readonly 'out of scope': { readonly namespaces: readonly string[] }
  /** A verdict that is not certain: why, and, if it is known, what decides it, a noun phrase. */
  readonly verdict: { readonly why: string; readonly on?: string }
}

/** The name of a member of `Unknown`. */
export type UnknownKind = keyof Details

/** What shows the containers that a webhook adds. */
export const GIVE_PODS_AS_THEY_RUN = 'give the pods as they run, or the Namespace with its labels'

/** Why something is not known. */
export type Unknown = {
  readonly [Kind in UnknownKind]: { readonly kind: Kind; readonly of: Scope } & Details[Kind]
}[UnknownKind]

/** One member of `Unknown`. */
export type UnknownOf<Kind extends UnknownKind> = Extract<Unknown, { readonly kind: Kind }>

/** The words of one member: `text` is a clause without a full stop, `fix` an instruction; undefined: nothing settles it. */
interface Words<Kind extends UnknownKind> {
  readonly text: (cause: UnknownOf<Kind>) => string
  readonly fix: (cause: UnknownOf<Kind>) => string | undefined
}

const WORDS: { readonly [Kind in UnknownKind]: Words<Kind> } = {
  unread: {
    text: ({ why }) => unknownReasonText(why),
    fix: ({ why }) => unknownReasonFix(why),
  },
  doubled: {
    text: ({ of, why }) => `${scopeText(of)} may be other than it was read: ${unknownReasonText(why)}`,
    fix: () => 'leave one of the two definitions, and correct it',
  },
  refused: { text: ({ of, why }) => `${scopeText(of)}: ${why}`, fix: () => 'correct the object' },
  undecided: {
    text: ({ binding, why }) => `binding ${binding} is undetermined: ${unknownReasonText(why)}`,
    fix: ({ why }) => unknownReasonFix(why),
  },
  'made by': {
    text: ({ why }) => why,
    fix: () => 'give the objects that it has made',
  },
  webhook: {
    text: ({ injector, adds }) => `whether ${adds} is there depends on the webhook of ${injector}`,
    fix: () => GIVE_PODS_AS_THEY_RUN,
  },
  runtime: { text: ({ why }) => why, fix: () => undefined },
  'not followed': { text: ({ construct, why }) => `${construct}: ${why}`, fix: () => undefined },
  tie: {
    text: ({ between, why }) => `${between.join(' and ')} want the same entry: ${why}`,
    fix: () => 'let one of the two ask for another entry',
  },
  setting: {
    text: ({ setting, assumed }) => `${setting} was not given (${assumed} is assumed)`,
    fix: ({ setting }) => `give ${setting}`,
  },
  'out of scope': {
    text: ({ namespaces }) => `other namespaces than ${namespaces.join(', ')} were not read`,
    fix: () => 'ask about all namespaces (-A)',
  },
  verdict: { text: ({ why }) => why, fix: () => undefined },
}

/** The words of a cause: a clause that says what is not known and why. */
export function unknownText(cause: Unknown): string {
  return wordsOf(cause).text(cause)
}

/** What decides a cause, a noun phrase; the words of the cause if it has none of its own. */
export function decidingText(cause: Unknown): string {
  if (cause.kind === 'made by') return `what ${cause.maker} makes`
  return (cause.kind === 'verdict' ? cause.on : undefined) ?? unknownText(cause)
}

/** What settles a cause, as an instruction; undefined: nothing that a user can give. */
export function unknownFix(cause: Unknown): string | undefined {
  return wordsOf(cause).fix(cause)
}

/** A cause in a report. */
export interface UnknownJson {
  readonly cause: UnknownKind
  readonly message: string
  readonly fix?: string
  readonly kind?: string
  readonly namespace?: string
  readonly name?: string
}

/** A cause as reports show it. */
export function unknownJson(cause: Unknown): UnknownJson {
  const fix = unknownFix(cause)
  return {
    cause: cause.kind,
    message: unknownText(cause),
    ...(fix !== undefined && { fix }),
    ...cause.of,
  }
}

/** A fact that is known at run time only; `kind` names the objects that it is about. */
export function atRuntime(why: string, kind?: string): Unknown {
  return { kind: 'runtime', of: kind === undefined ? {} : { kind }, why }
}

/** Tells causes apart: two causes with one key are the same cause. */
export function unknownKey(cause: Unknown): string {
  return JSON.stringify(cause, sortedKeys)
}

/** `Pod team-a/llama-0`, `Namespace team-a`, `InferencePool objects of team-a`: what a scope names. */
export function scopeText({ kind, namespace, name }: Scope): string {
  const [bare] = kind?.split('.') ?? []
  const noun = bare === undefined ? 'objects' : `${bare} objects`
  if (name === undefined) return namespace === undefined ? noun : `${noun} of ${namespace}`
  return `${bare ?? 'object'} ${namespace === undefined ? name : `${namespace}/${name}`}`
}

function wordsOf<Kind extends UnknownKind>(cause: { readonly kind: Kind }): Words<Kind> {
  return WORDS[cause.kind]
}

/** The order in which an author wrote the fields of a cause does not matter. */
function sortedKeys(_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
}
