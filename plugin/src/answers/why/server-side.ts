// The entries of the server as a chain needs them: those of the pods that are asked about, and what differs from the objects.
import { isNodeEntry, mayBeFor, podUidOf, type ServerEntry } from '@kleym/shared/core/predict/index.ts'
import type { Container, Pod } from '@kleym/shared/core/model/objects/pod.ts'
import type { ServerSide } from '@kleym/shared/core/answers/index.ts'
import type { AnswerInput } from '../../gather/gather.ts'
import type { CommandContext } from '../../io/context.ts'
import { compareWithServer, type ReadTimes } from '../parts/compare-entries.ts'
import { readEntries } from '../parts/read-entries.ts'

/** The entries of some pods, and those that name no pod. */
export interface EntriesOfPods {
  readonly byUid: ReadonlyMap<string, readonly ServerEntry[]>
  /** Entries that are for no pod in particular. */
  readonly others: readonly ServerEntry[]
  /** How many entries each parent has. */
  readonly perParent: ReadonlyMap<string, number>
}

/** Reads files of entries, and keeps what may concern these pods. */
export async function entriesOf(
  files: readonly string[],
  pods: readonly Pod[],
  context: CommandContext,
  asOf: string | undefined,
): Promise<EntriesOfPods> {
  const byUid = new Map<string, ServerEntry[]>(
    pods.flatMap(({ uid }) => (uid === undefined ? [] : [[uid, []]])),
  )
  const others: ServerEntry[] = []
  const perParent = new Map<string, number>()
  const keep = (entry: ServerEntry): void => {
    perParent.set(entry.parentId, (perParent.get(entry.parentId) ?? 0) + 1)
    const uid = podUidOf(entry)
    if (uid === undefined) others.push(entry)
    else byUid.get(uid)?.push(entry)
  }
  await readEntries(files, keep, context, asOf)
  return { byUid, others, perParent }
}

/** What the server holds for one container. */
export async function serverSide(
  input: AnswerInput,
  { byUid, others, perParent }: EntriesOfPods,
  { pod, container }: { readonly pod: Pod; readonly container: Container },
  times: ReadTimes,
): Promise<ServerSide> {
  const own = byUid.get(pod.uid ?? '') ?? []
  const { judged } = await compareWithServer(
    input,
    times,
    (onEntry) => {
      for (const one of [...own, ...others]) onEntry(one)
      return Promise.resolve()
    },
    [pod],
  )
  return {
    entries: [...own, ...others.filter((one) => !isNodeEntry(one) && mayBeFor({ pod, container }, one))],
    ofNodes: others.filter(isNodeEntry),
    perParent,
    differences: judged.map(({ difference }) => difference),
    asOf: times.asOf,
  }
}
