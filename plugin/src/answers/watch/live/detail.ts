// The derivation of the one binding that a person looks at. Pods and static entries are read for it, of pods only those
// of its namespace: the table does without them.
import { analyse } from '@kleym/shared/core/analysis/analysis.ts'
import { dependsOnOutsideScope } from '@kleym/shared/core/rules/outside-scope.ts'
import type { JsonRecord } from '@kleym/shared/core/json.ts'
import type { OperatorSettings } from '@kleym/shared/core/install/operator-settings.ts'
import type { UnknownReason } from '@kleym/shared/core/unknown-reason.ts'
import { readMeta, type ObjectMeta } from '@kleym/shared/core/objects/meta.ts'
import { readNamespace, readPod, type Namespace, type Pod } from '@kleym/shared/core/objects/pod.ts'
import type { ScmSettings } from '@kleym/shared/core/objects/scm-settings.ts'
import { readClusterStaticEntry, type ClusterStaticEntry } from '@kleym/shared/core/objects/static-entry.ts'
import { compareBytes } from '@kleym/shared/core/text/bytes.ts'
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
import { assumptionNotes } from '../../../gather/settings.ts'
import { explainFrame } from '../../explain/frame.ts'
import type { Frame } from '../../../frame/frame.ts'
import { Feed, ignoranceOfFeed, type FeedIo } from './feed.ts'
import type { Feeds } from './kinds.ts'
import type { KindStanding } from './knowledge.ts'
import { detailSnapshot } from './namespace-snapshot.ts'
import { DEBOUNCE_MS } from './table.ts'

/** What there is to show of the chosen binding. */
export type DetailView =
  | { readonly state: 'closed' }
  /** The pods of its namespace are on their way. */
  | { readonly state: 'reading'; readonly key: string }
  /** The binding is not there any more. */
  | { readonly state: 'gone'; readonly key: string }
  /** `podGap`: why its pods may be missing from the frame. */
  | {
      readonly state: 'shown'
      readonly key: string
      readonly frame: Frame
      readonly podGap: UnknownReason | undefined
      /** What the answer takes for granted, and what it does not look at: one sentence each. */
      readonly assumptions: readonly string[]
    }

export interface DetailOptions {
  readonly io: FeedIo & { readonly api: Pick<Api, 'get'> }
  readonly feeds: Feeds
  readonly settings: () => { readonly operator: OperatorSettings; readonly scm: ScmSettings }
  readonly onChange: () => void
}

/** A pod as its feed keeps it. */
interface FollowedPod extends Cached {
  readonly meta: ObjectMeta
  readonly pod: Pod
}

/** The pods of one namespace, the static entries, which may be for any pod, and the namespace itself. */
interface Surrounding {
  readonly name: string
  readonly pods: Feed<FollowedPod>
  readonly statics: Feed<ClusterStaticEntry>
  described: Namespace | undefined
}

/** Keeps the derivation of the chosen binding up to date. */
export class Detail {
  readonly #options: DetailOptions
  #key: string | undefined
  #around: Surrounding | undefined
  #view: DetailView = { state: 'closed' }
  #cancel: (() => void) | undefined
  #took = 0

  constructor(options: DetailOptions) {
    this.#options = options
  }

  get view(): DetailView {
    return this.#view
  }

  /** How far what is followed for it may be believed; nothing is while no binding is chosen. */
  get standings(): readonly KindStanding[] {
    return feedsAround(this.#around)
  }

  /** Chooses a binding, or none. */
  choose(key: string | undefined): void {
    if (key === this.#key) return
    this.#key = key
    if (key === undefined) this.#leave()
    else this.#goTo(key.slice(0, key.indexOf('/')))
    this.#workOut()
  }

  /** Something has changed that may change the derivation. */
  touch(): void {
    if (this.#key === undefined) return
    this.#cancel ??= this.#options.io.clock.after(Math.max(DEBOUNCE_MS, this.#took), () => {
      this.#cancel = undefined
      this.#workOut()
      this.#options.onChange()
    })
  }

  /** Begins to follow it all anew. */
  restart(): void {
    for (const feed of feedsAround(this.#around)) feed.start()
    if (this.#around !== undefined) void this.#describe(this.#around)
  }

  stop(): void {
    this.#key = undefined
    this.#leave()
  }

  #leave(): void {
    this.#cancel?.()
    this.#cancel = undefined
    for (const feed of feedsAround(this.#around)) void feed.stop()
    this.#around = undefined
  }

  #goTo(namespace: string): void {
    if (this.#around?.name === namespace) return
    this.#leave()
    const { io } = this.#options
    const touch = (): void => this.touch()
    const pods = new Feed<FollowedPod>(io, {
      resource: PODS,
      namespace,
      read: readFollowedPod,
      onStanding: touch,
    })
    const statics = new Feed<ClusterStaticEntry>(io, {
      resource: CLUSTER_STATIC_ENTRIES,
      namespace: undefined,
      read: (value) => readClusterStaticEntry({ value }),
      onStanding: touch,
    })
    pods.store.subscribe(touch)
    statics.store.subscribe(touch)
    const around: Surrounding = { name: namespace, pods, statics, described: undefined }
    this.#around = around
    for (const feed of feedsAround(around)) feed.start()
    void this.#describe(around)
  }

  /** Its labels decide which of other people's ClusterSPIFFEIDs select its pods; without them, that stays open. */
  async #describe(around: Surrounding): Promise<void> {
    try {
      const value = await this.#options.io.api.get(NAMESPACES, { name: around.name })
      around.described = readNamespace({ value })
      if (this.#around === around) this.touch()
    } catch {
      // Many people may not read namespaces: the derivation then says what depends on the labels.
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
    const around = this.#around
    if (key === undefined || around === undefined) return { state: 'closed' }
    const binding = feeds.bindings.store.get(key)
    if (binding === undefined) return { state: 'gone', key }
    const standings = feedsAround(around)
    if (standings.some(({ standing }) => standing.kind === 'waiting')) return { state: 'reading', key }
    const pods = [...around.pods.store.values()]
      .map(({ pod }) => pod)
      .toSorted((a, b) => compareBytes(a.ref.name, b.ref.name))
    const staticEntries = around.statics.standing.kind === 'absent' ? [] : [...around.statics.store.values()]
    const snapshot = detailSnapshot(feeds, around.name, {
      pods,
      staticEntries,
      namespace: around.described,
      standings: [...standings, ...notFollowed(around)],
    })
    const { operator, scm } = settings()
    const analysis = analyse(snapshot, operator.config, scm)
    const world = {
      after: analysis,
      before: analysis,
      operator,
      inputFindings: [],
      problems: [],
      marks: [],
      isLive: true,
      namespaceInForce: around.name,
      notes: [],
    }
    const frame = explainFrame(world, [binding], true)
    const open = [
      ...(dependsOnOutsideScope(analysis) ? ['other namespaces'] : []),
      ...frame.missing.flatMap(({ what, cause }) => (cause === 'not given' ? [what] : [])),
    ]
    const assumptions = [...openNotes(open, binding.meta), ...assumptionNotes(operator, scm)]
    return { state: 'shown', key, frame, podGap: ignoranceOfFeed(around.pods), assumptions }
  }
}

function feedsAround(
  around: Surrounding | undefined,
): readonly (Feed<FollowedPod> | Feed<ClusterStaticEntry>)[] {
  return around === undefined ? [] : [around.pods, around.statics]
}

/** What an answer may depend on and the watch leaves to others: nodes, and the namespace's labels until they are read. */
function notFollowed({ described }: Surrounding): readonly KindStanding[] {
  return [NODES, ...(described === undefined ? [NAMESPACES] : [])].map((resource) => {
    const why: UnknownReason = { verb: 'list', what: resourceName(resource), cause: 'not given' }
    return { resource, standing: { kind: 'unknown', why } }
  })
}

/** `explain` reads whatever its answer depends on; to follow all of that would be too much for one binding. */
function openNotes(open: readonly string[], { namespace, name }: ObjectMeta): readonly string[] {
  if (open.length === 0) return []
  const more = `kubectl kleym explain ${name} -n ${namespace}`
  return [`${open.join(', ')}: not followed here, and may change the answer; ${more} reads on`]
}

function readFollowedPod(value: JsonRecord): FollowedPod {
  return { meta: readMeta(value), pod: readPod({ value: WHOLE(value) }) }
}
