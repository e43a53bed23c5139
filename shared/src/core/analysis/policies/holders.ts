// Who holds the IDs that policies name: one pass over all pods, which looks at the containers of those alone that have a
// registration in question.
import { namespacedName } from '../../model/namespaced-name.ts'
import { mayBecome } from '../../base/go/template/mentions.ts'
import { getOrCreate } from '../../base/get-or-create.ts'
import { Holdings } from '../holdings/holdings.ts'
import type { MatcherIndex } from '../../model/naming/id-matcher.ts'
import { driveAtOnce } from '../../base/steps.ts'
import { podText } from '../../model/objects/pod-index.ts'
import { workingOn } from '../../model/objects/pods-alike.ts'
import type { Pod } from '../../model/objects/pod.ts'
import { isAsShown, whyNotYet } from '../../model/objects/unscheduled.ts'
import {
  type Registration,
  sourceText,
  whyOpen,
  type EntryOutcome,
  type EntrySource,
} from '../../predict/index.ts'
import { all, NO, whyOpenText, YES, type Truth } from '../../model/truth/truth.ts'
import type { PolicyContext } from './policy-context.ts'
import type { PolicyHolder } from './resolution.ts'

/** What the pods say about one ID. */
export interface IdentityHolders {
  readonly holders: PolicyHolder[]
  /** Registrations that perhaps give it, and why that is not certain. */
  readonly perhaps: Map<string, { readonly source: EntrySource; readonly why: string }>
  /** The containers that perhaps hold it: `pod team-a/llama-0 vllm`. */
  readonly perhapsHolders: Set<string>
  /** Why a registration that gives it reaches no container, by `sourceText`; the first reason met. */
  readonly missed: Map<string, string>
}

/** What is asked of the pods. */
export interface Wanted {
  readonly spiffeIds: ReadonlySet<string>
  /** IDs that patterns take in, beside those. */
  readonly patterns?: Pick<MatcherIndex<unknown>, 'of'>
  /** `namespace/name` of service accounts. */
  readonly accounts: ReadonlySet<string>
}

/** What pods hold, by ID and by service account. */
export interface HolderIndex {
  readonly byId: ReadonlyMap<string, IdentityHolders>
  readonly podsOfAccount: ReadonlyMap<string, readonly Pod[]>
  /** IDs of bindings that pods of an account certainly hold. */
  readonly kleymIdsOfAccount: ReadonlyMap<string, ReadonlySet<string>>
  /** Every ID that is rendered for some pod, whether held or not, and what renders it. */
  readonly rendered: ReadonlyMap<string, EntrySource>
  /** The same of registrations that perhaps apply to the pod, and why that is not certain. */
  readonly perhapsRendered: ReadonlyMap<string, { readonly source: EntrySource; readonly why: string }>
  /** The same as `rendered` of IDs that hold a placeholder, such as `<pod name>`. */
  readonly unfinished: ReadonlyMap<string, EntrySource>
  /** The objects that give some pod what kleym does not follow, and may give it one of the IDs in question, by `sourceText`. */
  readonly unfollowed: ReadonlySet<string>
}

/** `namespace/name` of the service account that something runs under. */
export function accountKey(of: { readonly namespace: string; readonly serviceAccountName: string }): string {
  return namespacedName(of.namespace, of.serviceAccountName)
}

/** Goes through the pods. */
export function heldBy(context: PolicyContext, asked: Wanted): HolderIndex {
  const search = new HolderSearch(context, asked)
  const work = workingOn(
    context.base.podsInQuestion,
    (pod) => search.wantedOf(pod),
    (pod, wanted) => search.visit(pod, wanted),
  )
  driveAtOnce(work)
  return search
}

class HolderSearch implements HolderIndex {
  readonly byId = new Map<string, IdentityHolders>()
  readonly podsOfAccount = new Map<string, Pod[]>()
  readonly kleymIdsOfAccount = new Map<string, Set<string>>()
  readonly rendered = new Map<string, EntrySource>()
  readonly perhapsRendered = new Map<string, { readonly source: EntrySource; readonly why: string }>()
  readonly unfinished = new Map<string, EntrySource>()
  readonly unfollowed = new Set<string>()
  readonly #context: PolicyContext
  readonly #holdings: Holdings
  readonly #wanted: Wanted
  readonly #ours: ReadonlySet<string>
  /** Whether a pattern takes in an ID: a hundred thousand pods may have one. */
  readonly #taken = new Map<string, boolean>()

  constructor(context: PolicyContext, wanted: Wanted) {
    this.#context = context
    this.#holdings = new Holdings(context)
    this.#wanted = wanted
    this.#ours = new Set(
      context.outputs.flatMap(({ object, ownership }) =>
        ownership.kind === 'ours' ? [object.meta.name] : [],
      ),
    )
  }

  /** The registrations in question that a pod meets. The same of a pod that is like it adds nothing to what is noted here. */
  wantedOf(pod: Pod): readonly WantedMet[] {
    const account = accountKey(pod)
    const isAsked = this.#wanted.accounts.has(account)
    return [pod, ...this.#holdings.scheduled(pod)].flatMap((one) => this.#wantedShown(one, account, isAsked))
  }

  /** The same of a pod as it is, or as it will be once its node is there. */
  #wantedShown(pod: Pod, account: string, isAsked: boolean): readonly WantedMet[] {
    const outcomes = this.#context.prediction().entriesOf(pod)
    const notYet = pod.getsNode === true ? whyNotYet(pod) : undefined
    for (const outcome of outcomes) this.#note(outcome, notYet)
    const concerned = outcomes.some(
      (outcome) => this.#isWanted(outcome) || (isAsked && this.#isOurs(outcome)),
    )
    if (!concerned) return []
    const byOutcome = [...this.#registrations(pod)]
    for (const [outcome, met] of byOutcome)
      if (isAsked && this.#isOurs(outcome) && met.some(({ given }) => given === YES))
        getOrCreate(this.kleymIdsOfAccount, account, () => new Set()).add(outcome.entry?.spiffeId ?? '')
    return byOutcome
      .filter(([outcome]) => this.#isWanted(outcome))
      .map(([{ source, entry }, met]) => ({ source, spiffeId: entry?.spiffeId ?? '', met }))
  }

  visit(pod: Pod, wanted: readonly WantedMet[]): void {
    const account = accountKey(pod)
    if (this.#wanted.accounts.has(account)) getOrCreate(this.podsOfAccount, account, () => []).push(pod)
    for (const one of wanted) this.#record(pod, one)
  }

  #note({ source, entry, verdict }: EntryOutcome, notYet: string | undefined): void {
    if (verdict.state === 'unknown' && this.#mayBeWanted(verdict.spiffeId))
      this.unfollowed.add(sourceText(source))
    if (entry === undefined) return
    const why = whyOpen(verdict) ?? notYet
    if (why !== undefined) {
      if (!this.perhapsRendered.has(entry.spiffeId)) this.perhapsRendered.set(entry.spiffeId, { source, why })
      return
    }
    // The pod's UID may be unknown as well, and is no part of the ID.
    const known = entry.spiffeId.includes('<') ? this.unfinished : this.rendered
    if (!known.has(entry.spiffeId)) known.set(entry.spiffeId, source)
  }

  /** A rendered ID that differs from all IDs in question cannot be one of them, whatever else is not predicted. */
  #mayBeWanted(rendered: string | undefined): boolean {
    if (rendered === undefined || this.#wanted.patterns !== undefined) return true
    return [...this.#wanted.spiffeIds].some((wanted) => mayBecome(rendered, wanted))
  }

  #isWanted({ entry }: EntryOutcome): boolean {
    if (entry === undefined) return false
    const { spiffeIds, patterns } = this.#wanted
    if (patterns === undefined || spiffeIds.has(entry.spiffeId)) return spiffeIds.has(entry.spiffeId)
    return getOrCreate(this.#taken, entry.spiffeId, () => patterns.of(entry.spiffeId).size > 0)
  }

  #isOurs({ source }: EntryOutcome): boolean {
    return source.kind === 'ClusterSPIFFEID' && this.#ours.has(source.name)
  }

  #registrations(pod: Pod): ReadonlyMap<EntryOutcome, readonly Met[]> {
    const byOutcome = new Map<EntryOutcome, Met[]>()
    for (const { container, there, registrationsOf } of this.#holdings.of(pod)) {
      for (const registration of registrationsOf(pod, container))
        getOrCreate(byOutcome, registration.outcome, () => []).push({
          container: container.name,
          registration,
          given: all(there, this.#holdings.given(registration), isAsShown(pod)),
        })
    }
    return byOutcome
  }

  #record(pod: Pod, { source, spiffeId, met }: WantedMet): void {
    const holding = getOrCreate(this.byId, spiffeId, newHolding)
    const issued = met.filter(({ given }) => given === YES)
    if (issued.length > 0)
      holding.holders.push({ pod, containers: issued.map(({ container }) => container), source })
    const key = sourceText(source)
    for (const { container, registration, given } of met) {
      if (given === NO) {
        if (!holding.missed.has(key)) holding.missed.set(key, whyNot(registration, pod))
      } else if (given !== YES) {
        holding.perhaps.set(key, { source, why: whyOpenText(given) ?? '' })
        holding.perhapsHolders.add(`${podText(pod)} ${container}`)
      }
    }
  }
}

interface Met {
  readonly container: string
  readonly registration: Registration
  /** Whether the container is there and gets it. */
  readonly given: Truth
}

/** A registration in question, and how the containers of a pod meet it. */
interface WantedMet {
  readonly source: EntrySource
  readonly spiffeId: string
  readonly met: readonly Met[]
}

/** Selectors speak of the container alone, which a person cannot see from here. */
function whyNot({ verdict, selector, why }: Registration, pod: Pod): string {
  return verdict === 'dead' && selector !== undefined
    ? `${selector} does not match in ${podText(pod)}`
    : (why ?? '')
}

function newHolding(): IdentityHolders {
  return { holders: [], perhaps: new Map(), perhapsHolders: new Set(), missed: new Map() }
}
