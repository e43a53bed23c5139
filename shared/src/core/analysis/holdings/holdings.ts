// What the containers of a pod hold: the one answer that rules, tests, policies, effects and commands read. Whatever can keep it
// open is asked here, and nowhere else: what was not read, bindings that are not decided, settings that were not given, pods and
// containers that may be there, and registrations that kleym does not follow (docs/assumptions.md).
import { namespacesByName, type Snapshot } from '../../snapshot/index.ts'
import { getOrCreate } from '../../base/get-or-create.ts'
import type { Container, Namespace, Pod } from '../../model/objects/pod.ts'
import { lazy } from '../../base/lazy.ts'
import { podText } from '../../model/objects/pod-index.ts'
import { answerOf } from '../../model/objects/pods-alike.ts'
import { onceScheduledOn, whyNotYet } from '../../model/objects/unscheduled.ts'
import { asksItself, containersThatMayBe } from '../../model/objects/sidecars.ts'
import {
  whyInjected,
  sourceText,
  type Prediction,
  containerVerdicts,
  isHeld,
  isPossible,
  possibleVerdicts,
  type Registration,
} from '../../predict/index.ts'
import { all, any, NO, not, open, YES, type Truth } from '../../model/truth/truth.ts'
import { scopeText } from '../../model/truth/unknown.ts'
import { undecidedFor, type UndecidedBinding, type UndecidedBindings } from './undecided.ts'

/** The part of a state that says what containers hold. */
export interface HoldingContext {
  readonly base: { readonly snapshot: Pick<Snapshot, 'rest' | 'namespaces' | 'nodes'> }
  readonly undecided: UndecidedBindings
  prediction(): Prediction
}

/** What one container holds; whether it is there at all is a question of its own. */
export interface ContainerHolding {
  readonly pod: Pod
  readonly container: Container
  /** Whether the container is there. All else is what holds if it is. */
  readonly there: Truth
  /** Issued for certain. */
  readonly held: readonly Registration[]
  /** May be issued; their ID is known. */
  readonly perhaps: readonly Registration[]
  /** May be issued; their ID is not known. */
  readonly unfollowed: readonly Registration[]
  /** The bindings that may give it an identity, and could not be decided. */
  readonly undecided: readonly UndecidedBinding[]
  /** Whether it holds an identity from something that was not read or decided: no, or open. */
  readonly unread: Truth
  /** Whether it holds an identity that none of `held` and `perhaps` names, whatever gives it: no, or open. */
  readonly other: Truth
  /** All that select the pod, with what becomes of them for a container of it; worked out again at each call. */
  readonly registrationsOf: (pod: Pod, container: Container) => readonly Registration[]
}

/** What a question changes about what containers hold. */
export interface HoldingQuestion {
  /** What a registration comes to if settings were not given; absent: all were. */
  readonly ofRegistration?: ((one: Registration) => Registration) | undefined
  /** Whether what a pod that waits for a node will hold once it has one counts as what it may hold. */
  readonly isOfLater?: boolean
}

/** Tells what the containers of each pod hold in one state. */
export class Holdings {
  readonly #context: HoldingContext
  readonly #ofRegistration: ((one: Registration) => Registration) | undefined
  readonly #isOfLater: boolean
  /** A pod that waits for its node, as it will be once that is there; nothing of any other. */
  readonly scheduled: (pod: Pod) => readonly Pod[]
  readonly #namespaces: ReadonlyMap<string, Namespace>
  readonly #gaps = new Map<string, Truth>()
  /** One cause for all pods that have it: there may be a hundred thousand of them. */
  readonly #open = new Map<string, Truth>()
  readonly #asRead: (pod: Pod) => Truth

  constructor(context: HoldingContext, { ofRegistration, isOfLater = false }: HoldingQuestion = {}) {
    this.#context = context
    this.#isOfLater = isOfLater
    this.scheduled = onceScheduledOn(context.base.snapshot.nodes)
    this.#namespaces = namespacesByName(context.base.snapshot)
    this.#ofRegistration = ofRegistration
    const doubted = lazy(() => doubtedIn(context.base.snapshot))
    this.#asRead = ({ ref: { kind, name }, namespace }) =>
      doubted().get(scopeText({ kind, namespace, name })) ?? YES
  }

  /** The containers of a pod, and those that a webhook may add to it. */
  containersOf(pod: Pod): readonly Container[] {
    return containersThatMayBe(pod, this.#namespaces.get(pod.namespace))
  }

  /** The containers that a webhook or a policy is asked to add to a pod; what a Namespace that was not read asks for is none of them. */
  addedTo(pod: Pod): readonly Container[] {
    return this.containersOf(pod).filter(
      ({ injectedBy }) => injectedBy !== undefined && this.#isAsked(pod, injectedBy),
    )
  }

  #isAsked(pod: Pod, injectedBy: string): boolean {
    return asksItself(pod, injectedBy) || this.#namespaces.get(pod.namespace)?.complete === true
  }

  /** What some containers of a pod hold; all of those that it has if none are named. */
  of(pod: Pod, containers: readonly Container[] = pod.containers): readonly ContainerHolding[] {
    return containers.map((container) => this.ofContainer(pod, container))
  }

  /** What one container of a pod holds. */
  ofContainer(pod: Pod, container: Container): ContainerHolding {
    const there = this.there(pod, container)
    const now = this.#isPlain(container)
      ? possibleVerdicts(this.#context.prediction(), pod, container)
      : this.registrationsOf(pod, container)
    const later = this.#isOfLater ? this.onceScheduled(pod, container) : NONE
    const possible = later.length === 0 ? now : [...now, ...later]
    const undecided = undecidedFor(this.#context.undecided, pod, container.name)
    const unread = this.#unread(pod, undecided)
    let other = unread
    let held = NONE
    let perhaps = NONE
    let unfollowed = NONE
    for (const one of possible) {
      if (isHeld(one) && one.spiffeId !== undefined) held = withOne(held, one)
      else if (one.verdict === 'depends' && one.spiffeId !== undefined) perhaps = withOne(perhaps, one)
      else if (isPossible(one)) {
        other = any(other, this.#unfollowed(one))
        unfollowed = withOne(unfollowed, one)
      }
    }
    return {
      pod,
      container,
      there,
      held,
      perhaps,
      unfollowed,
      undecided,
      unread,
      other,
      registrationsOf: this.registrationsOf,
    }
  }

  /** Every registration that selects a pod, with its verdict for a container, as if the container were there. */
  readonly registrationsOf = (pod: Pod, container: Container): readonly Registration[] => {
    const every = containerVerdicts(this.#context.prediction(), pod, container)
    return this.#isPlain(container) ? every : every.map((one) => this.#settled(one, container))
  }

  /** What a container of a pod that waits for a node may hold once it has one, beside what it holds now. */
  onceScheduled(pod: Pod, container: Container): readonly Registration[] {
    return this.scheduled(pod).flatMap((later) =>
      this.registrationsOf(later, container).flatMap((one): readonly Registration[] => {
        if (isHeld(one)) return [{ ...one, verdict: 'depends', why: whyNotYet(later) }]
        return isPossible(one) ? [one] : []
      }),
    )
  }

  /** Whether a container that is there gets what a registration gives. */
  given(one: Registration): Truth {
    const { why = '' } = one
    if (isHeld(one)) return YES
    if (!isPossible(one)) return NO
    return getOrCreate(this.#open, `verdict ${why}`, () => open({ kind: 'verdict', of: {}, why }))
  }

  /** Whether verdicts of the prediction hold as they are. */
  #isPlain({ injectedBy }: Container): boolean {
    return this.#ofRegistration === undefined && injectedBy === undefined
  }

  /** Whether a container holds an identity from something that was not read or decided: no, or open. */
  unread(pod: Pod, container: string): Truth {
    return this.#unread(pod, undecidedFor(this.#context.undecided, pod, container))
  }

  #unread(pod: Pod, undecided: readonly UndecidedBinding[]): Truth {
    const gap = any(this.#gap(pod.namespace), not(this.asRead(pod)))
    return undecided.length === 0 ? gap : any(gap, ...undecided.map((one) => this.#undecided(one)))
  }

  /** Whether a container is there: its pod is, and whatever adds it does. */
  there(pod: Pod, { injectedBy }: Container): Truth {
    const asRead = this.asRead(pod)
    if (pod.perhaps === undefined && injectedBy === undefined) return asRead
    const made =
      pod.perhaps === undefined ? YES : getOrCreate(this.#open, `made by ${podText(pod)}`, () => isMade(pod))
    const added = injectedBy === undefined ? YES : this.#added(pod, injectedBy)
    return all(asRead, made, added)
  }

  /** Whether a pod is what was read of it: one that is defined twice may be the other one. */
  asRead(pod: Pod): Truth {
    return this.#context.base.snapshot.rest.isEmpty ? YES : answerOf(pod, this.#asRead)
  }

  /** Whether a webhook adds a container: the pod or its namespace asks for it, or a namespace that was not read may. */
  #added(pod: Pod, injectedBy: string): Truth {
    const { namespace } = pod
    if (this.#isAsked(pod, injectedBy))
      return getOrCreate(this.#open, `webhook ${injectedBy} ${namespace}`, () =>
        open({ kind: 'webhook', of: { namespace }, injector: injectedBy, adds: 'the container' }),
      )
    return getOrCreate(this.#open, `Namespace ${namespace}`, () =>
      open({
        kind: 'unread',
        of: { kind: 'Namespace', name: namespace },
        why: {
          verb: 'read',
          what: `Namespace ${namespace}, which may ask a webhook for containers`,
          cause: 'not given',
        },
      }),
    )
  }

  #gap(namespace: string): Truth {
    return getOrCreate(this.#gaps, namespace, () => {
      const why = this.#context.base.snapshot.rest.identities(namespace)
      return why === undefined ? NO : open({ kind: 'unread', of: {}, why })
    })
  }

  #undecided({ binding, why }: UndecidedBinding): Truth {
    return getOrCreate(this.#open, `undecided ${binding}`, () =>
      open({ kind: 'undecided', of: {}, binding, why }),
    )
  }

  #unfollowed({ source, why = '' }: Registration): Truth {
    const construct = sourceText(source)
    return getOrCreate(this.#open, `not followed ${construct} ${why}`, () =>
      open({ kind: 'not followed', of: {}, construct, why }),
    )
  }

  /** A registration under settings that were not given, for a container as if it were there: `there` says whether it is. */
  #settled(one: Registration, container: Container): Registration {
    const isOnlyThat =
      one.verdict === 'depends' && one.why !== undefined && one.why === whyInjected(container)
    const ifThere: Registration = isOnlyThat
      ? { ...one, verdict: 'issued', why: undefined, selector: undefined }
      : one
    return this.#ofRegistration?.(ifThere) ?? ifThere
  }
}

/** Why an object may be another one than was read, by its kind and name. */
function doubtedIn({ rest }: HoldingContext['base']['snapshot']): ReadonlyMap<string, Truth> {
  return new Map(
    rest.parts.flatMap((part) => {
      if (part.name === undefined) return []
      const of = { kind: part.kind, namespace: part.namespace ?? '', name: part.name }
      return [[scopeText(of), open({ kind: 'doubled', of, why: part.why })] as const]
    }),
  )
}

const NONE: Registration[] = []

/** There may be a hundred thousand pods: a list is made where something goes into it. */
function withOne(list: Registration[], one: Registration): Registration[] {
  if (list === NONE) return [one]
  list.push(one)
  return list
}

/** The IDs of registrations, each once, in their order. */
export function idsOf(registrations: readonly Registration[]): readonly string[] {
  const [first, ...others] = registrations
  if (others.length === 0) return first?.spiffeId === undefined ? [] : [first.spiffeId]
  return [...new Set(registrations.flatMap(({ spiffeId }) => spiffeId ?? []))]
}

/** Yes for every other pod. */
export function isMade(pod: Pod): Truth {
  const { namespace, perhaps } = pod
  return perhaps === undefined
    ? YES
    : open({ kind: 'made by', of: { kind: 'Pod', namespace }, maker: podText(pod), why: perhaps.why })
}
