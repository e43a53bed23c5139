// Why a server and a prediction differ, as far as the evidence goes: what SCM has counted, when objects and entries were made, how
// often an entry was written since, and whose its ID shows it to be. Where two causes would leave the same evidence, the cause is
// undetermined: a wrong cause sends a person to the wrong place.
import type { Each } from '../../base/each.ts'
import type { ClusterSpiffeId } from '../../model/objects/clusterspiffeid.ts'
import { stringAt } from '../../base/json.ts'
import type { Pod } from '../../model/objects/pod.ts'
import type { ScmSettings } from '../../model/objects/scm-settings.ts'
import type { ClusterStaticEntry } from '../../model/objects/static-entry.ts'
import { counted } from '../../base/text/counted.ts'
import { sourceText, type EntrySource, type ObjectCounts } from '../spire/prediction.ts'
import {
  laterOf,
  type DifferentEntry,
  type EntryDifferences,
  type ExtraEntry,
  type MissingEntry,
} from './compare-entries.ts'
import { clusterOfParent, isNodeEntry, ownerOf, type EntryOwner } from './entry-owner.ts'
import { podUidOf, type ServerEntry } from './server-entry.ts'

/** Why an entry differs. */
export const DIFFERENCE_CAUSES = [
  /** The dump and the objects were not read at the same time, and that alone may explain it. */
  'race',
  /** SCM has not acted on the objects as they are: it does not run, or it is behind. */
  'scm behind',
  /** SCM had made the entry; another client has deleted it since. */
  'deleted',
  /** Another client has changed the entry. */
  'edited on the server',
  /** SCM asks for the entry, and the server refuses it. */
  'refused',
  /** The entry from before an edit that the server refuses. */
  'kept',
  /** The entry is for a pod that is gone. */
  'pod gone',
  /** Another client made it: SCM does not take it for its own. */
  'another registrar',
  'undetermined',
] as const
/** One of them. */
export type DifferenceCause = (typeof DIFFERENCE_CAUSES)[number]

/** A difference with its cause. */
export type ExplainedDifference = (MissingEntry | ExtraEntry | DifferentEntry) & {
  readonly cause: DifferenceCause
  /** What shows the cause, or why none is certain; a sentence fragment. */
  readonly why: string
  /** Of an extra entry: whether SCM removes it in its next pass, and why. */
  readonly owner: EntryOwner | undefined
}

/** What causes are read from, beside the differences. */
export interface DifferenceEvidence {
  readonly settings: ScmSettings
  readonly pods: readonly Pod[]
  /** Why a pod that is not here may be there all the same; undefined: all pods were read. */
  readonly whyPodsUnknown: string | undefined
  readonly clusterSpiffeIds: Each<ClusterSpiffeId>
  readonly staticEntries: Each<ClusterStaticEntry>
  /** What SCM would count, by `sourceText`. */
  readonly counts: () => ReadonlyMap<string, ObjectCounts>
  /** When the entries were read, in seconds since 1970; undefined: not known. */
  readonly asOf: number | undefined
  /** When the objects were read; undefined: not known. */
  readonly objectsAsOf: number | undefined
}

/** SCM makes an entry within a pass of ten seconds, and the server shows it at once; no two clocks differ by more. */
export const RACE_SECONDS = 30

/** Gives every difference its cause. Pure. */
export function explainDifferences(
  differences: EntryDifferences,
  evidence: DifferenceEvidence,
): readonly ExplainedDifference[] {
  const { missing, different, extra } = differences
  if (missing.length + different.length + extra.length === 0) return []
  const explainer = new Explainer(differences, evidence)
  return [
    ...missing.map((one) => explainer.ofMissing(one)),
    ...different.map((one) => explainer.ofDifferent(one)),
    ...extra.map((one) => explainer.ofExtra(one)),
  ]
}

interface Cause {
  readonly cause: DifferenceCause
  readonly why: string
}

class Explainer {
  readonly #all: EntryDifferences
  readonly #evidence: DifferenceEvidence
  readonly #objects: ReadonlyMap<string, ClusterSpiffeId | ClusterStaticEntry>
  readonly #uids: ReadonlySet<string>
  /** When the youngest object of the snapshot was made. */
  readonly #newestPod: number | undefined
  readonly #missingBySource: ReadonlyMap<string, readonly MissingEntry[]>
  readonly #extraOfPods: ReadonlySet<string>
  readonly #missingOfPods: ReadonlyMap<string, EntrySource>
  readonly #hasGonePods: boolean

  constructor(all: EntryDifferences, evidence: DifferenceEvidence) {
    this.#all = all
    this.#evidence = evidence
    this.#objects = new Map(
      [
        ...evidence.clusterSpiffeIds.map((one) => ['ClusterSPIFFEID', one] as const),
        ...evidence.staticEntries.map((one) => ['ClusterStaticEntry', one] as const),
      ].map(([kind, one]) => [sourceText({ kind, name: one.meta.name }), one]),
    )
    this.#uids = new Set(evidence.pods.flatMap(({ uid }) => uid ?? []))
    this.#newestPod = evidence.pods.reduce<number | undefined>(
      (newest, pod) => laterOf(newest, createdOf(pod)),
      undefined,
    )
    this.#missingBySource = Map.groupBy(all.missing, ({ expected }) => sourceText(expected.source))
    this.#missingOfPods = new Map(
      all.missing.flatMap(({ expected: { pod, source } }) =>
        pod?.uid === undefined ? [] : [[pod.uid, source]],
      ),
    )
    const extraUids = all.extra.flatMap(({ entry }) =>
      ownerOf(entry, evidence.settings).kind === 'scm' ? (podUidOf(entry) ?? []) : [],
    )
    this.#extraOfPods = new Set(extraUids)
    this.#hasGonePods = extraUids.some((uid) => !this.#uids.has(uid))
  }

  ofMissing(one: MissingEntry): ExplainedDifference {
    return { ...one, ...this.#causeOfMissing(one), owner: undefined }
  }

  ofDifferent(one: DifferentEntry): ExplainedDifference {
    const owner = ownerOf(one.entry, this.#evidence.settings)
    return { ...one, ...this.#causeOfDifferent(one, owner), owner }
  }

  ofExtra(one: ExtraEntry): ExplainedDifference {
    const owner = ownerOf(one.entry, this.#evidence.settings)
    return { ...one, ...this.#causeOfExtra(one, owner), owner }
  }

  #causeOfMissing({ expected: { source, pod } }: MissingEntry): Cause {
    const object = this.#objects.get(sourceText(source))
    const born = laterOf(createdOf(pod), secondsOf(object?.meta.createdAt))
    const race = this.#raceOf(born)
    if (race !== undefined) return race
    if (object === undefined || source.kind !== 'ClusterSPIFFEID')
      return undetermined('nothing tells what SCM has made of a static entry')
    if (!('lifecycle' in object) || object.lifecycle !== 'live')
      return undetermined('SCM counts nothing of a manifest')
    const { stats } = object
    if (stats === undefined)
      return { cause: 'scm behind', why: `SCM has counted nothing of ${sourceText(source)}` }
    const counts = this.#evidence.counts().get(sourceText(source))
    if (counts === undefined || counts.uncertain > 0)
      return undetermined(`what SCM should count of ${sourceText(source)} is not certain`)
    const missing = this.#missingBySource.get(sourceText(source))?.length ?? 0
    const behind = counts.entriesToSet - stats.entriesToSet
    const requests = this.#failingObjects()
    if (behind === 0 && stats.entryFailures > 0)
      return requests > 1
        ? undetermined(
            `SCM counts a failure for every entry that is missing, of ${requests} objects: all its requests fail (server down, database full, message too long), or the server refuses each entry; SCM's log says which`,
          )
        : {
            cause: 'refused',
            why: `SCM has counted ${counted(stats.entryFailures, 'entry failure')} of ${sourceText(source)}: its log says why the server refuses`,
          }
    const hasLeft = pod?.uid !== undefined && this.#extraOfPods.has(pod.uid)
    if (hasLeft) return this.#causeOfPair(source)
    if (behind === missing)
      return {
        cause: 'scm behind',
        why: `SCM has counted ${stats.entriesToSet} entries of ${sourceText(source)}, and there should be ${counts.entriesToSet}`,
      }
    const agrees =
      behind === 0 &&
      counts.podsSelected === stats.podsSelected &&
      counts.namespacesSelected === stats.namespacesSelected
    if (agrees && !this.#hasGonePods)
      return {
        cause: 'deleted',
        why: `SCM has counted it among those of ${sourceText(source)}, and makes it again in its next pass`,
      }
    return undetermined('the counters of SCM fit more than one reason')
  }

  /**
   * How many objects lack entries, where SCM counts failures for as many of each; else 0. SCM counts every entry of a request that
   * fails as a whole (docs/spire-facts.md §1), so one object alone is refused, and all of them may be either.
   */
  #failingObjects(): number {
    const all = [...this.#missingBySource].every(([source, missing]) => {
      const object = this.#objects.get(source)
      const stats = object !== undefined && 'stats' in object ? object.stats : undefined
      return stats !== undefined && stats.entryFailures >= missing.length
    })
    return all ? this.#missingBySource.size : 0
  }

  /** An entry that is not there beside one of the same pod that should not be: the object was edited, or both were made by hand. */
  #causeOfPair(source: EntrySource): Cause {
    const object = this.#objects.get(sourceText(source))
    if ((object?.meta.generation ?? 1) > 1)
      return {
        cause: 'scm behind',
        why: `the pod has its previous entry, and ${sourceText(source)} was edited since it was created`,
      }
    return undetermined('the pod has another entry that no object explains')
  }

  #causeOfDifferent({ entry, expected }: DifferentEntry, owner: EntryOwner): Cause {
    const source = sourceText(expected.source)
    const object = this.#objects.get(source)
    if (owner.kind === 'another')
      return { cause: 'another registrar', why: `${owner.why}; it keeps SCM from making its own` }
    if (owner.kind === 'unknown') return undetermined(owner.why)
    const { revision, createdAt } = entry
    if (revision === undefined) return undetermined('the dump does not say how often the entry was written')
    if (entry.fields.expiresAt > 0)
      return {
        cause: revision === 0 ? 'another registrar' : 'edited on the server',
        why: 'the entry expires, and SCM neither sets that nor takes it back',
      }
    if (revision === 0 && this.#evidence.settings.entryIDPrefix !== '')
      return { cause: 'scm behind', why: 'the entry is as SCM made it, so the objects have changed since' }
    const made = secondsOf(object?.meta.createdAt)
    const isOlder = made === undefined || createdAt === undefined || createdAt < made
    const isUnedited = object?.meta.generation === 1 && !isOlder
    if (revision > 0 && isUnedited && !mayFollowPods(object))
      return {
        cause: 'edited on the server',
        why: `the entry was written ${counted(revision, 'time')} since it was made, and ${source} was never edited`,
      }
    return undetermined(
      revision > 0
        ? `both the entry and what it is made of may have been changed since it was made`
        : 'SCM takes every entry for its own, so the entry may have been made by another client',
    )
  }

  #causeOfExtra({ entry, keptBy, isSurplus }: ExtraEntry, owner: EntryOwner): Cause {
    if (keptBy !== undefined)
      return {
        cause: 'kept',
        why: `the server refuses what ${sourceText(keptBy)} asks for now, and SCM keeps the previous entry`,
      }
    if (isSurplus) return undetermined('another entry of the server is the same one to SCM')
    if (owner.kind === 'another') return { cause: 'another registrar', why: anotherText(entry, owner) }
    if (owner.kind === 'unknown') return undetermined(owner.why)
    const uid = podUidOf(entry)
    const hasPrefix = this.#evidence.settings.entryIDPrefix !== ''
    if (uid === undefined)
      return hasPrefix
        ? { cause: 'scm behind', why: `${owner.why}, and no object asks for it any more` }
        : undetermined('an object that is gone may have asked for it, or another client made it')
    if (this.#uids.has(uid)) {
      const by = this.#missingOfPods.get(uid)
      if (hasPrefix) return { cause: 'scm behind', why: `${owner.why}, and no object asks for it any more` }
      return by === undefined
        ? undetermined('an object that is gone or edited may have asked for it, or another client made it')
        : this.#causeOfPair(by)
    }
    const { whyPodsUnknown } = this.#evidence
    if (whyPodsUnknown !== undefined) return undetermined(whyPodsUnknown)
    if (this.#isYoungerThanObjects(entry))
      return { cause: 'race', why: 'it was made after the youngest pod of the files: its pod may be younger' }
    return { cause: 'pod gone', why: `no pod has the UID ${uid}` }
  }

  #isYoungerThanObjects({ createdAt }: ServerEntry): boolean {
    const asOf = this.#evidence.objectsAsOf ?? this.#newestPod
    return createdAt !== undefined && (asOf === undefined || createdAt > asOf)
  }

  /** Whether what is so young may be missing only since the entries were read before SCM could make one. */
  #raceOf(born: number | undefined): Cause | undefined {
    const { asOf } = this.#evidence
    if (born === undefined) return undefined
    if (asOf !== undefined)
      return born > asOf - RACE_SECONDS
        ? {
            cause: 'race',
            why: `it was created less than ${RACE_SECONDS} s before the entries were read, or after`,
          }
        : undefined
    const { newest } = this.#all
    return newest !== undefined && born > newest - RACE_SECONDS
      ? { cause: 'race', why: 'it may be younger than the dump; --as-of says when that was made' }
      : undefined
  }
}

function anotherText(entry: ServerEntry, { why }: EntryOwner): string {
  const cluster = clusterOfParent(entry)
  const kind = isNodeEntry(entry) ? '; it is an entry of a node or an agent' : ''
  return `${why}${cluster === undefined ? '' : `; its parent is an agent of cluster ${cluster}`}${kind}`
}

/** Whether fields of the entry follow other objects than the one that asks for it. */
function mayFollowPods(object: ClusterSpiffeId | ClusterStaticEntry | undefined): boolean {
  if (object === undefined || !('spec' in object)) return true
  const { spec } = object
  return 'autoPopulateDNSNames' in spec && (spec.autoPopulateDNSNames || spec.dnsNameTemplates.length > 0)
}

function undetermined(why: string): Cause {
  return { cause: 'undetermined', why }
}

function createdOf(pod: Pod | undefined): number | undefined {
  return pod === undefined ? undefined : secondsOf(stringAt(pod.metadata, 'creationTimestamp'))
}

/** RFC 3339 in seconds since 1970; undefined where it is none. */
export function secondsOf(time: string | undefined): number | undefined {
  const milliseconds = time === undefined ? Number.NaN : Date.parse(time)
  return Number.isNaN(milliseconds) ? undefined : Math.floor(milliseconds / 1000)
}
