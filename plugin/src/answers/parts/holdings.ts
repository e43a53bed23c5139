// What containers hold, by the registrations that select them: how many identities, why none, how bad that is, and what is open for all
// containers of an answer alike.
import { getOrCreate } from '@kleym/shared/core/base/get-or-create.ts'
import { compareBytes } from '@kleym/shared/core/base/text/bytes.ts'
import { counted } from '@kleym/shared/core/base/text/counted.ts'
import { podText } from '@kleym/shared/core/model/objects/pod-index.ts'
import { isPossible, sourceText } from '@kleym/shared/core/predict/index.ts'
import type { Answer } from '../../text/answer.ts'
import { type ContainerState, STATES, stateOfVerdict } from './container-states.ts'
import type { ContainerAnswer, PodAnswer, ShownRegistration } from './pod-answers.ts'

/** What a container holds; `some`: one for certain, and perhaps more. The worst first. */
export const HOLDINGS = ['none', 'undetermined', 'several', 'pending', 'some', 'one'] as const
/** One of them. */
export type Holding = (typeof HOLDINGS)[number]

const WORDS: Readonly<Record<Holding, readonly [one: string, several: string]>> = {
  none: ['holds no identity', 'hold no identity'],
  undetermined: ['is undetermined', 'are undetermined'],
  several: ['holds several identities', 'hold several identities'],
  pending: ['waits for kleym', 'wait for kleym'],
  some: ['holds one identity or more', 'hold one identity or more'],
  one: ['holds one identity', 'hold one identity each'],
}

/**
 * Containers by what they hold, the worst first: `2 of 3 containers are undetermined`, then `1 holds one identity`. If each may hold
 * more than is known, the first one says so.
 */
export function holdingTexts(holdings: readonly Holding[], mayHoldMore: boolean): readonly string[] {
  const total = holdings.length
  return HOLDINGS.filter((one) => holdings.includes(one)).map((holding, at) => {
    const count = holdings.filter((one) => one === holding).length
    const [one, several] = WORDS[holding]
    const share =
      count === total ? counted(total, 'container') : at === 0 ? `${count} of ${total} containers` : count
    const more = at === 0 && mayHoldMore && holding !== 'undetermined' ? ', and perhaps more' : ''
    return `${share} ${count === 1 ? one : several}${more}`
  })
}

/** The worst of some; undefined for none. */
export function worstHolding(holdings: readonly Holding[]): Holding | undefined {
  return HOLDINGS.find((holding) => holdings.includes(holding))
}

/** A registration that says the same of nearly every container of an answer. */
export interface CommonRegistration {
  readonly one: ShownRegistration
  /** The containers that it says nothing of: `vllm of pod lab/edge`. */
  readonly except: readonly string[]
}

/** The registrations that are printed once for several containers, by their text. */
export type Common = ReadonlyMap<string, CommonRegistration>

/** Nothing is said of all containers. */
export const NOTHING_IN_COMMON: Common = new Map()

/** What gives no identity and is no trouble of one container alone. */
const SAID_ONCE: ReadonlySet<ShownRegistration['verdict']> = new Set(['ignored', 'displaced'])

/** More exceptions than these, and it is said of each container. */
const EXCEPTIONS_MAX = 4

/** What is said of a registration, whatever the container is; of one that gives no identity, whatever the ID would be. */
function sayingOf({ source, spiffeId, verdict, why, selector }: ShownRegistration): string {
  const id = SAID_ONCE.has(verdict) ? undefined : spiffeId
  return JSON.stringify([sourceText(source), id, verdict, why, selector])
}

/** Whether a registration is said once, below all containers. */
export function isCommon(one: ShownRegistration, common: Common): boolean {
  return common.has(sayingOf(one))
}

/** What holds for all containers of an answer, but for a few that are named: open registrations, and those that give way or are ignored. */
export function commonOf(answers: readonly PodAnswer[]): Common {
  const containers = answers.flatMap(({ pod, containers: all }) =>
    all.map(({ container, registrations }) => ({
      name: `${container.name} of ${podText(pod)}`,
      said: new Map(
        registrations
          .filter((one) => isPossible(one) || SAID_ONCE.has(one.verdict))
          .map((one) => [sayingOf(one), one] as const),
      ),
    })),
  )
  if (containers.length < 2) return NOTHING_IN_COMMON
  const counts = new Map<string, { one: ShownRegistration; count: number }>()
  for (const { said } of containers) {
    for (const [key, one] of said) {
      const group = getOrCreate(counts, key, () => ({ one, count: 0 }))
      group.count++
      // Of several IDs none is shown: the object that would give them is.
      if (group.one.spiffeId !== one.spiffeId) group.one = { ...group.one, spiffeId: undefined }
    }
  }
  const exceptions = Math.min(EXCEPTIONS_MAX, Math.floor(containers.length / 5))
  return new Map(
    [...counts]
      .filter(([, { count }]) => containers.length - count <= exceptions)
      .toSorted(([left], [right]) => compareBytes(left, right))
      .map(([key, { one }]) => [
        key,
        { one, except: containers.filter(({ said }) => !said.has(key)).map(({ name }) => name) },
      ]),
  )
}

/** What one container holds, by its own registrations; with none, whatever is open for all containers decides too. */
export function holdingOf(
  { registrations, notRead }: Pick<ContainerAnswer, 'registrations' | 'notRead'>,
  common: Common,
  unsettled = false,
): Holding {
  const ids = new Set(
    registrations.filter(({ verdict }) => verdict === 'issued').map(({ spiffeId }) => spiffeId),
  )
  const isOwnOpen = registrations.some((one) => mayAdd(one, ids) && !isCommon(one, common))
  if (ids.size > 1) return 'several'
  if (ids.size === 1) return isOwnOpen || notRead !== undefined ? 'some' : 'one'
  if (registrations.some(({ verdict }) => verdict === 'pending')) return 'pending'
  return registrations.some(isPossible) || notRead !== undefined || unsettled ? 'undetermined' : 'none'
}

/** Whether a registration may give a container an identity beside those that it holds, now or once kleym has written it. */
export function mayAdd(one: ShownRegistration, ids: ReadonlySet<string | undefined>): boolean {
  const isOpen = isPossible(one) || one.verdict === 'pending'
  return isOpen && (one.spiffeId === undefined || !ids.has(one.spiffeId))
}

/** The worst that any container of a pod holds. */
export function worstOf({ containers }: PodAnswer, common: Common, unsettled: boolean): number {
  return Math.min(...containers.map((one) => HOLDINGS.indexOf(holdingOf(one, common, unsettled))))
}

/** Verdicts that give no identity, the nearest to one first. */
export const NOT_ISSUED: readonly ShownRegistration['verdict'][] = [
  'refused',
  'failed',
  'dead',
  'ignored',
  'displaced',
  'masked',
]

/**
 * Of the registrations with one of these verdicts the nearest to one that is issued: those that SPIRE reports as faults, then those of
 * kleym, then the others. `bindings`: the binding behind an output of ours.
 */
export function nearestOf(
  registrations: readonly ShownRegistration[],
  wanted: readonly ShownRegistration['verdict'][],
  bindings: ReadonlyMap<string, string>,
): ShownRegistration | undefined {
  const rank = ({ verdict, source }: ShownRegistration): number => {
    const isFault = verdict === 'refused' || verdict === 'failed'
    return wanted.indexOf(verdict) + (isFault || bindings.has(source.name) ? 0 : wanted.length)
  }
  return registrations
    .filter(({ verdict }) => wanted.includes(verdict))
    .toSorted((left, right) => rank(left) - rank(right))[0]
}

/** What becomes of a container that holds that: without an identity, what became of the nearest registration. */
export function stateOf(
  { registrations }: Pick<ContainerAnswer, 'registrations'>,
  holding: Holding,
  bindings: ReadonlyMap<string, string>,
): ContainerState {
  switch (holding) {
    case 'one':
    case 'some':
      return 'issued'
    case 'none': {
      const nearest = nearestOf(registrations, NOT_ISSUED, bindings)
      return nearest === undefined ? 'none' : stateOfVerdict(nearest.verdict)
    }
    case 'several':
    case 'pending':
    case 'undetermined':
      return holding
  }
}

/** How good an answer about containers in these states is; `isOpen`: one may hold more. That one holds no identity is a fact. */
export function markOfStates(states: readonly ContainerState[], isOpen: boolean): Answer['mark'] {
  const marks = new Set(states.map((state) => STATES[state].mark))
  if (isOpen || marks.has('warn') || marks.has('bad')) return 'warn'
  return marks.has('note') ? 'note' : 'ok'
}
