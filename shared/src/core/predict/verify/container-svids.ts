// The SVIDs that one container got against those that it should have: what is missing, whether the server holds the entry, and which
// selector of the process fails.
import { mayBecome } from '../../base/go/template/mentions.ts'
import type { Container, Pod } from '../../model/objects/pod.ts'
import type { Registration } from '../spire/registration.ts'
import { all, any, known, NO, not, openOn, type Truth } from '../../model/truth/truth.ts'
import type { AttestedSelectors } from './agent-log.ts'
import { secondsOf } from './causes.ts'
import { judgeServerEntry } from './entry-holders.ts'
import { failingSelectors, type FailingSelector, type OriginsOf } from './failing-selectors.ts'
import { podUidOf, type ServerEntry } from './server-entry.ts'
import type { FetchedSvid } from './svid-text.ts'

/** A container, and what a process in it got. */
export interface ContainerSvids {
  readonly pod: Pod
  readonly container: Container
  readonly svids: readonly FetchedSvid[]
  /** What the agent found for the process; undefined: not given. */
  readonly attested: AttestedSelectors | undefined
  readonly moment: Moment
}

/** The moment that an answer is about, in seconds since 1970. */
export interface Moment {
  readonly seconds: number
  /** Whether it is given, or is now on a cluster. Files may be of any earlier moment. */
  readonly isKnown: boolean
}

/** A registration by which the container should hold an SVID. */
export interface DueSvid {
  readonly registration: Registration
  /** The parent of its entry, perhaps with placeholders; undefined: not known. */
  readonly parentId: string | undefined
  /** Whether it should: yes, or open. */
  readonly holds: Truth
}

/** What a container should hold. */
export interface DueSvids {
  readonly due: readonly DueSvid[]
  /** Every ID that a registration gives it, or may: as things are, or once kleym has written what it must. */
  readonly possible: ReadonlySet<string>
  /** Whether the container may hold another SVID, because of something that was not read or decided. */
  readonly other: Truth
  readonly originsOf: OriginsOf
}

/** An SVID that the process should have got. */
export interface LackingSvid extends DueSvid {
  /** When the one that it got has expired, in RFC 3339; undefined: it got none. */
  readonly expired: string | undefined
  /** The server's entry of it; undefined: it holds none. */
  readonly entry: ServerEntry | undefined
  readonly failing: readonly FailingSelector[]
  /** Selectors of the entry that an incomplete log neither shows nor rules out. */
  readonly untold: readonly string[]
  /** What is known of the reason. */
  readonly why: string
}

/** An SVID that the process got and no object gives it. */
export interface SurplusSvid {
  readonly spiffeId: string
  readonly entry: ServerEntry | undefined
  /** Whether no object gives it: yes, or open. */
  readonly holds: Truth
}

/** What a process got against what its container should have. */
export interface SvidAnswer {
  readonly asked: ContainerSvids
  readonly lacking: readonly LackingSvid[]
  readonly surplus: readonly SurplusSvid[]
}

/** Whether an entry of the server may be for a container. */
export function mayBeFor(
  { pod, container }: Pick<ContainerSvids, 'pod' | 'container'>,
  entry: ServerEntry,
): boolean {
  const uid = podUidOf(entry)
  return uid === undefined ? judgeServerEntry(pod, container, entry).state !== 'dead' : uid === pod.uid
}

/** What is lacking and what is there beside it; `entries` are those of the server that may be for the container. */
export function svidAnswer(
  asked: ContainerSvids,
  entries: readonly ServerEntry[],
  { due, possible, other, originsOf }: DueSvids,
): SvidAnswer {
  const got = Map.groupBy(asked.svids, ({ spiffeId }) => spiffeId)
  const hasOf = (svids: readonly FetchedSvid[] = []): Truth =>
    any(...svids.map((svid) => isValid(svid, asked.moment)))
  return {
    asked,
    lacking: due.flatMap((one) => {
      const { spiffeId = '', sharesHint, hint } = one.registration
      const same = got.get(spiffeId) ?? []
      const hiding = sharesHint ? asked.svids.filter((svid) => svid.hint === hint) : []
      const holds = all(one.holds, not(hasOf([...same, ...hiding])))
      if (holds === NO) return []
      // An entry of the same ID under the parent of another node is none of this container.
      const own = entries.find((each) => each.spiffeId === spiffeId && isParent(one.parentId, each.parentId))
      const expired = same.at(-1)?.validUntil
      return { ...one, holds, expired, ...whyLacking(asked, one, own, originsOf) }
    }),
    surplus: [...got].flatMap(([spiffeId, svids]) => {
      const holds = all(not(other), hasOf(svids))
      if (possible.has(spiffeId) || holds === NO) return []
      return { spiffeId, entry: entries.find((each) => each.spiffeId === spiffeId), holds }
    }),
  }
}

/** Whether an SVID is held at a moment. No peer takes one that has expired. */
function isValid({ validUntil }: FetchedSvid, { seconds, isKnown }: Moment): Truth {
  if (validUntil === undefined || (secondsOf(validUntil) ?? seconds) >= seconds) return known(true)
  return isKnown
    ? NO
    : openOn('the moment of the SVIDs', `one was valid until ${validUntil}, and no --as-of is given`)
}

/** Whether a parent is that of an entry, or may be. */
function isParent(due: string | undefined, parentId: string): boolean {
  return due === undefined || mayBecome(due, parentId)
}

function whyLacking(
  { pod, container, attested, svids }: ContainerSvids,
  { registration: { outcome } }: DueSvid,
  entry: ServerEntry | undefined,
  originsOf: OriginsOf,
): Omit<LackingSvid, keyof DueSvid | 'expired'> {
  const { failing, untold } =
    attested === undefined || entry === undefined
      ? { failing: [], untold: [] }
      : failingSelectors(entry.selectors, attested, { pod, container, outcome, originsOf })
  const names = failing.map(({ selector }) => selector)
  const instead = svids.find(({ hint }) => hint !== '' && hint === entry?.fields.hint)
  const why =
    entry === undefined
      ? 'the server holds no entry of it for this pod'
      : names.length > 0
        ? `the process has not ${names.length === 1 ? 'the selector' : 'the selectors'} ${names.join(', ')} of the entry ${entry.id}`
        : instead !== undefined
          ? `the server holds the entry ${entry.id}, and ${instead.spiffeId} has the same hint ${instead.hint}: of two entries with one hint the Workload API hands out the older alone`
          : attested !== undefined && untold.length === 0
            ? `the server holds the entry ${entry.id}, and the process has all of its selectors: the agent has not fetched it yet (every 5 s)`
            : `the server holds the entry ${entry.id}: the agent has not fetched it yet (every 5 s), or the process has other selectors than its pod shows`
  return { entry, failing, untold, why }
}
