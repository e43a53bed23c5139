// The live side of the watch: what follows the cluster, and the picture of it that screens and streams show. All input and
// output of the watch but the terminal's goes through here.
import type { Cached, Change } from '@kleym/shared/kube/store.ts'
import type { Client } from '@kleym/shared/kube/client.ts'
import type { Clock } from '@kleym/shared/kube/clock.ts'
import { Contact } from './contact.ts'
import { Detail, type DetailView } from './detail.ts'
import { createFeeds, EVERYWHERE, feedsOf, namespacesOfOutput, type Feeds } from './kinds.ts'
import { knowledgeFrom, type Knowledge } from './knowledge.ts'
import type { OperatorSettings } from '@kleym/shared/core/install/operator-settings.ts'
import type { ScmSettings } from '@kleym/shared/core/objects/scm-settings.ts'
import type { Row } from './rows.ts'
import { operatorSettings, scmSettings, type GivenSettings } from './settings.ts'
import { RowTable } from './table.ts'

/** What is known now. */
export interface Picture {
  /** By namespace and name. */
  readonly rows: readonly Row[]
  readonly knowledge: Knowledge
  readonly detail: DetailView
}

/** What the live side needs of the outside. */
export interface LiveIo {
  readonly client: Pick<Client, 'raw' | 'get' | 'pages' | 'watch'>
  readonly clock: Clock
  /** From 0 to below 1. */
  readonly random: () => number
}

export interface LiveOptions {
  /** Undefined: all namespaces. */
  readonly namespace: string | undefined
  readonly settings: GivenSettings
  /** The picture is another one. */
  readonly onPicture: (picture: Picture) => void
  /** Hears what only a bug can throw. */
  readonly onBug: (error: unknown) => void
}

/** A kind that has not answered for so long counts as not known, so that the others can be seen. */
export const PATIENCE_MS = 3_000

/** Follows the bindings of a namespace, or of all, and whatever decides about them. */
export class LiveState {
  readonly #options: LiveOptions
  readonly #clock: Clock
  readonly #feeds: Feeds
  readonly #contact: Contact
  readonly #table: RowTable
  readonly #detail: Detail
  #rows: readonly Row[] = []
  /** Whether the rows have been worked out since every kind was settled. */
  #drawn = false
  #patient = true
  #stopped = false
  /** The settings, until an object changes. */
  #known: Settings | undefined
  /** The part of them that rows were worked out with, to tell a change. */
  #rendered: string | undefined
  #cancelPatience: () => void = () => {}

  constructor({ client, clock, random }: LiveIo, options: LiveOptions) {
    this.#options = options
    this.#clock = clock
    this.#contact = new Contact({ api: client, clock, onChange: () => this.#onContact() })
    const onFailure = (): void => this.#contact.askNow()
    const io = { api: client, clock, random, onFailure, onBug: options.onBug }
    this.#feeds = createFeeds(io, { namespace: options.namespace, onStanding: () => this.#onStanding() })
    this.#table = new RowTable({
      feeds: this.#feeds,
      clock,
      settings: () => this.#settings(),
      isReady: () => this.#isReady(),
      onRows: (rows) => this.#onRows(rows),
    })
    this.#detail = new Detail({
      io,
      feeds: this.#feeds,
      settings: () => this.#settings(),
      onChange: () => this.#show(),
    })
  }

  /** Begins to follow the cluster. */
  start(): void {
    this.#listen()
    for (const feed of feedsOf(this.#feeds)) feed.start()
    this.#contact.start()
    this.#cancelPatience = this.#clock.after(PATIENCE_MS, () => {
      this.#patient = false
      this.#onStanding()
    })
  }

  /** Ends it: nothing is heard of it any more. */
  stop(): void {
    this.#stopped = true
    this.#cancelPatience()
    this.#contact.stop()
    this.#table.stop()
    this.#detail.stop()
    for (const feed of feedsOf(this.#feeds)) void feed.stop()
  }

  /** What is known now. */
  get picture(): Picture {
    const { bindings, outputs, pools, objectives } = this.#feeds
    const others = [...pools, ...objectives, ...this.#detail.standings]
    const knowledge = knowledgeFrom([bindings, outputs], others, this.#contact.lostSince)
    return {
      rows: this.#rows,
      knowledge: { ...knowledge, settled: this.#drawn },
      detail: this.#detail.view,
    }
  }

  /** Chooses the binding whose derivation is wanted, or none. */
  choose(key: string | undefined): void {
    this.#detail.choose(key)
    this.#show()
  }

  #listen(): void {
    const { bindings, pools, objectives, outputs } = this.#feeds
    const hear = (change: Change<Cached>): void => this.#touch([objectOf(change).meta.namespace])
    bindings.store.subscribe(hear)
    for (const { store } of pools) store.subscribe(hear)
    for (const { store } of objectives) store.subscribe(hear)
    outputs.store.subscribe((change) => {
      const before = change.kind === 'added' ? [] : namespacesOfOutput(change.before)
      const now = change.kind === 'removed' ? [] : namespacesOfOutput(change.now)
      this.#touch([...before, ...now])
    })
  }

  #touch(namespaces: readonly string[]): void {
    this.#known = undefined
    for (const namespace of namespaces) {
      if (namespace === EVERYWHERE) this.#table.touchAll()
      else if (this.#options.namespace === undefined || this.#options.namespace === namespace)
        this.#table.touch(namespace)
    }
    this.#detail.touch()
  }

  #onStanding(): void {
    if (this.#stopped) return
    this.#table.touchAll()
    this.#detail.touch()
    this.#show()
  }

  /** What was followed over a connection that has died may hang for minutes: all of it begins anew. */
  #onContact(): void {
    if (this.#contact.lostSince === undefined) {
      for (const feed of feedsOf(this.#feeds)) feed.start()
      this.#detail.restart()
    }
    this.#show()
  }

  #onRows(rows: readonly Row[]): void {
    this.#rows = rows
    this.#drawn = true
    this.#show()
  }

  #show(): void {
    if (!this.#stopped) this.#options.onPicture(this.picture)
  }

  #isReady(): boolean {
    return !this.#patient || feedsOf(this.#feeds).every(({ standing }) => standing.kind !== 'waiting')
  }

  /** Read at most once for all that has come in since. */
  #settings(): Settings {
    if (this.#known !== undefined) return this.#known
    const { bindings, outputs } = this.#feeds
    const operator = operatorSettings(this.#options.settings, bindings.store.values())
    const known = { operator, scm: scmSettings(this.#options.settings, operator, outputs.store.values()) }
    this.#known = known
    const rendered = JSON.stringify(operator.config)
    if (rendered !== this.#rendered) {
      // Every SPIFFE ID is another one now.
      if (this.#rendered !== undefined) this.#table.touchAll()
      this.#rendered = rendered
    }
    return known
  }
}

interface Settings {
  readonly operator: OperatorSettings
  readonly scm: ScmSettings
}

function objectOf(change: Change<Cached>): Cached {
  return change.kind === 'removed' ? change.before : change.now
}
