// What one of two states leaves unread and the other does not. What both leave unread is the same in both, so it moves no pod and no
// object; what one alone leaves unread may hold whatever the other shows.
import { namedIn, type Finding, RULE_KIND } from '../../findings/index.ts'
import { type Subject } from '../../model/objects/subject.ts'
import { POLICY_KINDS } from '../../model/kinds.ts'
import { BINDING_KIND, CLUSTER_SPIFFE_ID_KIND } from '../../model/names.ts'
import type { Rest, Snapshot } from '../../snapshot/index.ts'
import type { State } from '../../analysis/index.ts'
import { unknownReasonText, type UnknownReason } from '../../model/unknown-reason.ts'

/** What is unread in one of two states alone. */
export interface UnreadSides {
  readonly before: Rest
  readonly after: Rest
}

/** Tells what may be so in a state because of what it leaves unread; each answer is a reason, or undefined. */
export class OneSided {
  readonly #alone: Rest
  readonly #snapshot: Snapshot
  /** Why there may be further pods, by namespace. */
  readonly #perhaps: ReadonlyMap<string, string>
  /** Why what the other state gives may stay. */
  readonly #whyStays: string | undefined

  constructor(alone: Rest, { snapshot, podsInQuestion }: State['base'], whyStays?: string) {
    this.#alone = alone
    this.#whyStays = whyStays
    this.#snapshot = snapshot
    this.#perhaps = new Map(
      podsInQuestion.flatMap(({ namespace, perhaps }) =>
        perhaps === undefined ? [] : [[namespace, perhaps.why] as const],
      ),
    )
  }

  /** Why pods of a namespace may hold an identity more: what both states leave unread may give in both what one is seen to give. */
  identities(namespace: string): string | undefined {
    return textOf(this.#snapshot.rest.identities(namespace)) ?? this.#whyStays
  }

  /** Why a namespace may have more pods, in this state alone. */
  pods(namespace: string): string | undefined {
    return textOf(this.#alone.pods(namespace))
  }

  /**
   * Why a finding of the other state may be one of this state as well. If all that it names is here, whatever is unread may show it,
   * in both states or not; if something is not, that alone which only this state leaves unread.
   */
  findings(one: Finding): string | undefined {
    const isAllHere = namedIn(one).every((subject) => isIn(this.#snapshot, subject))
    const namespaces = new Set([...namedIn(one).map(concernedBy), ...(one.namespaces ?? [])])
    const mayBeIn = (namespace: string): boolean => namespaces.has('') || namespaces.has(namespace)
    const { gaps, parts } = isAllHere ? this.#snapshot.rest : this.#alone
    const gap = [...gaps].find(([kind]) => !OF_DETAILS.has(kind))?.[1]
    const part = parts.find(
      // A policy may name an identity of any namespace.
      ({ kind, namespace }) => namespace === undefined || POLICY_KINDS.includes(kind) || mayBeIn(namespace),
    )
    const unread = textOf(gap ?? part?.why)
    if (unread !== undefined || !isAllHere) return unread
    return [...this.#perhaps].find(([namespace]) => mayBeIn(namespace))?.[1]
  }
}

/** The namespace of what may bring a finding about a subject; empty: any. A policy's rule names identities, wherever they are held. */
function concernedBy({ kind, namespace }: Subject): string {
  return kind === RULE_KIND ? '' : namespace
}

/** Kinds that show no finding by themselves. */
const OF_DETAILS: ReadonlySet<string> = new Set(['Namespace', 'Node'])

function isIn({ bindings, clusterSpiffeIds }: Snapshot, { kind, namespace, name }: Subject): boolean {
  if (kind === BINDING_KIND) return bindings.named(namespace, name).state === 'found'
  if (kind === CLUSTER_SPIFFE_ID_KIND) return clusterSpiffeIds.named('', name).state === 'found'
  return true
}

function textOf(why: UnknownReason | undefined): string | undefined {
  return why === undefined ? undefined : unknownReasonText(why)
}
