// The derivation of the one binding that a person looks at. Pods and static entries are read for it, of pods only those
// of its namespace: the table does without them.
import { namespaceWritten } from '@kleym/shared/core/model/namespaced-name.ts'
import { analyse } from '@kleym/shared/core/analysis/index.ts'
import { dependsOnOutsideScope } from '@kleym/shared/core/findings/index.ts'
import type { UnknownReason } from '@kleym/shared/core/model/unknown-reason.ts'
import { readMeta, type ObjectMeta } from '@kleym/shared/core/model/objects/meta.ts'
import { readNamespace, readPod, type Namespace, type Pod } from '@kleym/shared/core/model/objects/pod.ts'
import {
  readClusterStaticEntry,
  type ClusterStaticEntry,
} from '@kleym/shared/core/model/objects/static-entry.ts'
import { driveAtOnce } from '@kleym/shared/core/base/steps.ts'
import { compareBytes } from '@kleym/shared/core/base/text/bytes.ts'
import type { Api } from '@kleym/shared/kube/api.ts'
import {
  CLUSTER_STATIC_ENTRIES,
  NAMESPACES,
  NODES,
  PODS,
  resourceName,
} from '@kleym/shared/kube/resources.ts'
import type { Cached } from '@kleym/shared/kube/store.ts'
import { WHOLE } from '../../../cluster/live-side.ts'
import { assumptionNotes, openSettingsAbout, type SettingsReading } from '../../../gather/settings.ts'
import { explainFrame } from '../../explain/frame.ts'
import { missingOf } from '../../../frame/causes.ts'
import type { Frame } from '../../../frame/frame.ts'
import type { Block } from '../../../text/line.ts'
import { Feed, unknownReasonOf, type FeedIo } from './feed.ts'
import type { Feeds } from './kinds.ts'
import type { KindState } from './knowledge.ts'
import { detailSnapshot } from './namespace-snapshot.ts'
import { DEBOUNCE_MS } from './table.ts'

/** What the pane below the table shows of the chosen binding. */
export type DetailView =
  | { readonly state: 'closed' }
  /** The pods of its namespace are being read. */
  | { readonly state: 'reading'; readonly key: string }
  /** The binding is not there any more. */
  | { readonly state: 'deleted'; readonly key: string }
  /** It may stand in what could not be read. */
  | { readonly state: 'unread'; readonly key: string; readonly why: UnknownReason }
  /** The whole answer of `explain`, for so many columns. */
  | { readonly state: 'whole'; readonly key: string; readonly view: (columns: number) => Block }
  /** `podGap`: why its pods may be missing from the frame. */
  | {
      readonly state: 'shown'
      readonly key: string
      readonly frame: Frame
      readonly podGap: UnknownReason | undefined
      /** What the answer takes for granted, and what it does not look at: one sentence each. */
      readonly assumptions: readonly string[]
    }

/** What the derivation is made from. */
export interface DetailOptions {
  readonly io: FeedIo & { readonly api: Pick<Api, 'get'> }
  readonly feeds: Feeds
  readonly settings: () => SettingsReading
  readonly onChange: () => void
}

/** A pod as its feed keeps it. */
interface FollowedPod extends Cached {
  readonly meta: ObjectMeta
  readonly pod: Pod
}

/** What is followed for the derivation: the pods of one namespace, the namespace itself, and all static entries. */
interface DetailFeeds {
  readonly name: string
  readonly pods: Feed<FollowedPod>
  readonly statics: Feed<ClusterStaticEntry>
  described: Namespace | undefined
}

/** Keeps the derivation of the chosen binding up to date. */
export class Detail {
  readonly #options: DetailOptions
  #key: string | undefined
  #followed: DetailFeeds | undefined
  #view: DetailView = { state: 'closed' }
  #cancel: (() => void) | undefined
  #took = 0

  constructor(options: DetailOptions) {
    this.#options = options
  }

  get view(): DetailView {
    return this.#view
  }

  /** Whether what is followed for it is up to date; empty while no binding is chosen. */
  get states(): readonly KindState[] {
    return listFeeds(this.#followed)
  }

  /** Chooses a binding, or none. */
  choose(key: string | undefined): void {
    if (key === this.#key) return
    this.#key = key
    if (key === undefined) this.#leave()
    else this.#goTo(namespaceWritten(key))
    this.#workOut()
  }

  /** Something has changed that may change the derivation. */
  markChanged(): void {
    if (this.#key === undefined) return
    this.#cancel ??= this.#options.io.clock.after(Math.max(DEBOUNCE_MS, this.#took), () => {
      this.#cancel = undefined
      this.#workOut()
      this.#options.onChange()
    })
  }

  /** Lists and follows everything anew. */
  restart(): void {
    for (const feed of listFeeds(this.#followed)) feed.start()
    if (this.#followed !== undefined) void this.#describe(this.#followed)
  }

  stop(): void {
    this.#key = undefined
    this.#leave()
  }

  #leave(): void {
    this.#cancel?.()
    this.#cancel = undefined
    for (const feed of listFeeds(this.#followed)) void feed.stop()
    this.#followed = undefined
  }

  #goTo(namespace: string): void {
    if (this.#followed?.name === namespace) return
    this.#leave()
    const { io } = this.#options
    const onChange = (): void => this.markChanged()
    const pods = new Feed<FollowedPod>(io, {
      resource: PODS,
      namespace,
      read: (value) => ({ meta: readMeta(value), pod: readPod({ value: WHOLE(value) }) }),
      onState: onChange,
    })
    const statics = new Feed<ClusterStaticEntry>(io, {
      resource: CLUSTER_STATIC_ENTRIES,
      namespace: undefined,
      read: (value) => readClusterStaticEntry({ value }),
      onState: onChange,
    })
    pods.store.subscribe(onChange)
    statics.store.subscribe(onChange)
    const followed: DetailFeeds = { name: namespace, pods, statics, described: undefined }
    this.#followed = followed
    for (const feed of listFeeds(followed)) feed.start()
    void this.#describe(followed)
  }

  /** Reads the labels of the namespace: they decide which foreign ClusterSPIFFEIDs select its pods. */
  async #describe(followed: DetailFeeds): Promise<void> {
    try {
      const value = await this.#options.io.api.get(NAMESPACES, { name: followed.name })
      followed.described = readNamespace({ value })
      if (this.#followed === followed) this.markChanged()
    } catch {
      // Many users may not read namespaces: the derivation then says what depends on the labels.
    }
  }

  #workOut(): void {
    const began = this.#options.io.clock.monotonicMs()
    this.#view = this.#viewNow()
    this.#took = this.#options.io.clock.monotonicMs() - began
  }

  #viewNow(): DetailView {
    const { feeds, settings } = this.#options
    const key = this.#key
    const followed = this.#followed
    if (key === undefined || followed === undefined) return { state: 'closed' }
    const binding = feeds.bindings.store.get(key)
    if (binding === undefined) return { state: 'deleted', key }
    const states = listFeeds(followed)
    if (states.some(({ state }) => state.kind === 'waiting')) return { state: 'reading', key }
    const pods = [...followed.pods.store.values()]
      .map(({ pod }) => pod)
      .toSorted((a, b) => compareBytes(a.ref.name, b.ref.name))
    const staticEntries = followed.statics.state.kind === 'absent' ? [] : [...followed.statics.store.values()]
    const snapshot = detailSnapshot(feeds, followed.name, {
      pods,
      staticEntries,
      namespace: followed.described,
      states: [...states, ...notFollowed(followed)],
    })
    const reading = settings()
    const { operator, scm } = reading
    const analysis = analyse(snapshot, operator.config, scm.settings, openSettingsAbout(snapshot, reading))
    const input = {
      after: analysis,
      before: analysis,
      operator,
      inputFindings: [...operator.disagreements, ...scm.rivals, ...scm.findings],
      problems: [],
      marks: [],
      isLive: true,
      namespaceInForce: followed.name,
      notes: [],
      drive: driveAtOnce,
    }
    const frame = explainFrame(input, [binding], { named: true })
    const open = [
      ...(dependsOnOutsideScope(analysis) ? ['other namespaces'] : []),
      ...missingOf(frame.causes).flatMap(({ what, cause }) => (cause === 'not given' ? [what] : [])),
    ]
    const assumptions = [...openNotes(open, binding.meta), ...assumptionNotes(operator, scm.settings)]
    return { state: 'shown', key, frame, podGap: unknownReasonOf(followed.pods), assumptions }
  }
}

function listFeeds(
  followed: DetailFeeds | undefined,
): readonly (Feed<FollowedPod> | Feed<ClusterStaticEntry>)[] {
  return followed === undefined ? [] : [followed.pods, followed.statics]
}

/** What an answer may depend on and the watch leaves to others: nodes, and the namespace's labels until they are read. */
function notFollowed({ described }: DetailFeeds): readonly KindState[] {
  return [NODES, ...(described === undefined ? [NAMESPACES] : [])].map((resource) => {
    const why: UnknownReason = { verb: 'list', what: resourceName(resource), cause: 'not given' }
    return { resource, state: { kind: 'unknown', why } }
  })
}

/** `explain` reads whatever its answer depends on; to follow all of that would be too much for one binding. */
function openNotes(open: readonly string[], { namespace, name }: ObjectMeta): readonly string[] {
  if (open.length === 0) return []
  const more = `kubectl kleym explain ${name} -n ${namespace}`
  return [`${open.join(', ')}: not followed here, and may change the answer; ${more} reads on`]
}
