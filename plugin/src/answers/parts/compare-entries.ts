// The comparison behind `verify`: what the objects ask for is worked out first, then the entries of the server go by.
import {
  type Analysis,
  asSeenBeside,
  type State,
  holdersOfIds,
  inWorlds,
  openVerdicts,
  perhapsHeld,
} from '@kleym/shared/core/analysis/index.ts'
import { judgeDifferences, type JudgedDifference } from '@kleym/shared/core/findings/index.ts'
import { lazy } from '@kleym/shared/core/base/lazy.ts'
import { YES } from '@kleym/shared/core/model/truth/truth.ts'
import { CLUSTER_SPIFFE_ID_KIND } from '@kleym/shared/core/model/names.ts'
import { qualifiedKind, REGISTRATIONS } from '@kleym/shared/core/model/kinds.ts'
import {
  EntryComparison,
  type EntryDifferences,
  explainDifferences,
  EntryHolderIndex,
  type EntryHolders,
  expecting,
  givesRight,
  type ExpectedEntries,
  type WhyOpen,
  type ServerEntry,
} from '@kleym/shared/core/predict/index.ts'
import { unknownReasonText } from '@kleym/shared/core/model/unknown-reason.ts'
import type { Pod } from '@kleym/shared/core/model/objects/pod.ts'
import type { AnswerInput } from '../../gather/gather.ts'

/** When the two sides were read, in seconds since 1970; undefined: not known. */
export interface ReadTimes {
  readonly asOf: number | undefined
  readonly objectsAsOf: number | undefined
}

/** What a comparison with a server has come to. */
export interface ServerComparison {
  readonly counts: EntryDifferences
  readonly judged: readonly JudgedDifference[]
  /** Why objects that ask for entries may not be here; undefined: all were read. */
  readonly whyIncomplete: string | undefined
  /** Why no pod of the server's entries is here; undefined: pods as they are were read. */
  readonly whyPodsUnknown: string | undefined
  readonly isLiveState: boolean
}

/** Compares the entries that `feed` hands over with what the input expects of these pods; all of them unless some are named. */
export async function compareWithServer(
  input: AnswerInput,
  times: ReadTimes,
  feed: (onEntry: (entry: ServerEntry) => void) => Promise<void>,
  pods = input.after.podsInQuestion,
): Promise<ServerComparison> {
  const { after } = input
  const isLiveState = input.isLive && input.before === after
  const { snapshot, settings } = after
  const { nodes } = snapshot
  const holders = lazy(() => new EntryHolderIndex({ pods, nodes, clusterName: settings.clusterName }))
  const comparison = new EntryComparison(...expectedOf(input, isLiveState, pods), (entry) =>
    holders().isHeld(entry),
  )
  await feed((entry) => comparison.add(entry))
  const counts = comparison.finish()
  const whyIncomplete = whyObjectsMissing(input)
  const whyPodsUnknown =
    whyIncomplete ??
    (input.isLive || snapshot.pods.some(({ exists }) => exists) === YES ? undefined : NO_PODS)
  const explained = explainDifferences(counts, {
    settings,
    pods: [...snapshot.pods.read],
    whyPodsUnknown,
    clusterSpiffeIds: snapshot.clusterSpiffeIds.read,
    staticEntries: snapshot.staticEntries.read,
    counts: () => after.now.prediction().counts(),
    ...times,
  })
  return {
    counts,
    judged: judgeDifferences(
      explained,
      withHoldersOfRights(isLiveState ? after.now : after.settled, counts, holders),
    ),
    whyIncomplete,
    whyPodsUnknown,
    isLiveState,
  }
}

/**
 * The containers that an extra entry gives something: its identity, or its right. The server looks up the rights of an ID, whichever
 * entry gave it (docs/spire-facts.md §6).
 */
function withHoldersOfRights(
  state: State,
  { extra }: EntryDifferences,
  index: () => EntryHolderIndex,
): (one: { readonly entry: ServerEntry }) => EntryHolders {
  const ofIds = lazy(() => {
    const ids = extra.filter(({ entry }) => givesRight(entry)).map(({ entry }) => entry.spiffeId)
    return { certain: holdersOfIds(state, ids), perhaps: perhapsHeld(state, ids) }
  })
  return ({ entry }) => {
    const own = index().of(entry)
    if (!givesRight(entry)) return own
    const { certain, perhaps } = ofIds()
    const ofId = (certain.get(entry.spiffeId) ?? []).flatMap(({ pod, containers }) =>
      containers
        .filter((name) => !own.certain.some((one) => one.pod === pod && one.container === name))
        .map((container) => ({ pod, container })),
    )
    return {
      certain: [...own.certain, ...ofId],
      possible: own.possible,
      ...(perhaps.has(entry.spiffeId) && {
        whyOthers: `whether a container here holds ${entry.spiffeId} is not certain`,
      }),
    }
  }
}

const NO_PODS = 'no pod of a cluster was given, so an entry of a pod that is gone cannot be recognised'

/** What is expected of the objects as the question has them, and what explains an entry beside that. */
function expectedOf(
  { after, drive }: AnswerInput,
  isLiveState: boolean,
  pods: readonly Pod[],
): readonly [ExpectedEntries, readonly ExpectedEntries[]] {
  const { now, settled, openSettings } = after
  const { ofEntry } = openVerdicts(after)
  const unwritten = new Set([...settled.unwritten].map((name) => `${CLUSTER_SPIFFE_ID_KIND}/${name}`))
  const whyOpen: WhyOpen = (source) => {
    if (!isLiveState && unwritten.has(source))
      return { why: 'kleym must still write its ClusterSPIFFEID', isPending: true }
    const why = ofEntry(source)
    return why === undefined ? undefined : { why, isPending: false }
  }
  const expectedIn = (state: Analysis['now']): ExpectedEntries =>
    drive(expecting(state.prediction(), pods, whyOpen, state.base.settings), 'little')
  const [, ...worlds] = inWorlds(after)
  const beside = openSettings.beside.map((settings) => asSeenBeside(after, settings))
  const others = [...worlds, ...beside].map((one) => one.settled)
  const changes = after.changes.all.length > 0 || settled.undecided.size > 0
  return isLiveState
    ? [expectedIn(now), [...(changes ? [settled] : []), ...others].map(expectedIn)]
    : [expectedIn(settled), [...(changes ? [now] : []), ...others].map(expectedIn)]
}

/** The kinds whose objects ask for entries. */
const ASKING = REGISTRATIONS.map(qualifiedKind)

function whyObjectsMissing({ after: { snapshot }, problems }: AnswerInput): string | undefined {
  const gap = snapshot.rest.of([...ASKING, 'Pod', 'Namespace', 'Node'])
  if (gap !== undefined) return unknownReasonText(gap)
  const [problem] = problems
  return problem === undefined ? undefined : `${problem.what} (${problem.where})`
}
