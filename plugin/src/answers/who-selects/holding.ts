// How many identities each container holds, and what is open for all containers of an answer alike: both are said once, above
// and below the containers.
import { getOrCreate } from '@kleym/shared/core/base/get-or-create.ts'
import { podText } from '@kleym/shared/core/model/objects/pod-index.ts'
import { compareBytes } from '@kleym/shared/core/base/text/bytes.ts'
import { isPossible, sourceText } from '@kleym/shared/core/predict/index.ts'
import { HOLDINGS, type Holding } from '../parts/holdings.ts'
import type { ContainerAnswer, PodAnswer, ShownRegistration } from '../parts/pod-answers.ts'

/** What a container with several identities has to expect. */
export const SEVERAL_WHY = 'which of them a client gets first is not defined'

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

/** The registrations that are said once, by what they say. */
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
  { registrations, notRead }: ContainerAnswer,
  common: Common,
  unsettled = false,
): Holding {
  const ids = new Set(
    registrations.filter(({ verdict }) => verdict === 'issued').map(({ spiffeId }) => spiffeId),
  )
  const isOwnOpen = registrations.some((one) => isPossible(one) && !isCommon(one, common))
  if (ids.size > 1) return 'several'
  if (ids.size === 1) return isOwnOpen || notRead !== undefined ? 'some' : 'one'
  if (registrations.some(({ verdict }) => verdict === 'pending')) return 'pending'
  return registrations.some(isPossible) || notRead !== undefined || unsettled ? 'undetermined' : 'none'
}

/** The worst that any container of a pod holds. */
export function worstOf({ containers }: PodAnswer, common: Common, unsettled: boolean): number {
  return Math.min(...containers.map((one) => HOLDINGS.indexOf(holdingOf(one, common, unsettled))))
}
