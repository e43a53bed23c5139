// The live side of the watch: what follows the cluster, and the picture of it that screens and streams show. All input and
// output of the watch but the terminal's goes through here.
import { readOperatorDeployment, whyOperatorDown } from '@kleym/shared/core/analysis/index.ts'
import type { Cached, StoreChange } from '@kleym/shared/kube/store.ts'
import type { Client } from '@kleym/shared/kube/client.ts'
import type { Clock } from '@kleym/shared/kube/clock.ts'
import { ConnectionMonitor } from './connection-monitor.ts'
import { Detail, type DetailView } from './detail.ts'
import { createFeeds, EVERYWHERE, feedsOf, namespacesOfOutput, type Feeds } from './kinds.ts'
import { Intake } from './intake.ts'
import { disagreementLines, knowledgeFrom, operatorText, type Knowledge } from './knowledge.ts'
import { RowTimes, type Row } from './rows.ts'
import type { SettingsReading } from '../../../gather/settings.ts'
import { settingsNow, type LearntSettings } from './settings.ts'
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

/** What is followed, and whom it tells. */
export interface LiveOptions {
  /** Undefined: all namespaces. */
  readonly namespace: string | undefined
  readonly settings: LearntSettings
  /** Learns the settings again; absent: they stay as they are. Rejects where the cluster cannot be reached. */
  readonly learn?: () => Promise<LearntSettings>
  /** Called with every new picture. */
  readonly onPicture: (picture: Picture) => void
  /** Called with what only a bug can throw, and with a KleymError where the cluster is more than a watch keeps. */
  readonly onBug: (error: unknown) => void
}

/** How long the rows wait for the first answer of every kind, in milliseconds; a kind without one then counts as unknown. */
export const FIRST_READ_TIMEOUT_MS = 3_000

/** How long settings that are not followed count before they are learnt again, in milliseconds. */
export const SETTINGS_AGE_MS = 60_000

/** Follows the bindings of a namespace, or of all, and whatever decides about them. */
export class LiveState {
  readonly #options: LiveOptions
  readonly #clock: Clock
  readonly #feeds: Feeds
  readonly #monitor: ConnectionMonitor
  readonly #table: RowTable
  readonly #detail: Detail
  #rows: readonly Row[] = []
  readonly #times = new RowTimes()
  /** Whether rows have been worked out yet. */
  #hasRows = false
  #waitsForAll = true
  #stopped = false
  /** The settings, until an object changes. */
  #known: SettingsReading | undefined
  #learnt: LearntSettings
  #cancelLearning: () => void = () => {}
  /** The operator's settings with which the rows were worked out, as JSON: another one changes every row. */
  #rowsConfig: string | undefined
  #cancelTimeout: () => void = () => {}

  constructor({ client, clock, random }: LiveIo, options: LiveOptions) {
    this.#options = options
    this.#learnt = options.settings
    this.#clock = clock
    this.#monitor = new ConnectionMonitor({ api: client, clock, onChange: () => this.#onConnection() })
    const onFailure = (): void => this.#monitor.askNow()
    const intake = new Intake(options.onBug)
    const io = { api: client, clock, random, onFailure, intake, onBug: options.onBug }
    this.#feeds = createFeeds(io, { namespace: options.namespace, onState: () => this.#onState() })
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
    this.#subscribe()
    for (const feed of feedsOf(this.#feeds)) feed.start()
    this.#monitor.start()
    this.#cancelTimeout = this.#clock.after(FIRST_READ_TIMEOUT_MS, () => {
      this.#waitsForAll = false
      this.#onState()
    })
    this.#learnLater()
  }

  /** Stops following; no picture comes any more. */
  stop(): void {
    this.#stopped = true
    this.#cancelTimeout()
    this.#cancelLearning()
    this.#monitor.stop()
    this.#table.stop()
    this.#detail.stop()
    for (const feed of feedsOf(this.#feeds)) void feed.stop()
  }

  /** What is known now. */
  get picture(): Picture {
    const { bindings, outputs, pools, objectives } = this.#feeds
    const others = [...pools, ...objectives, ...this.#detail.states]
    const knowledge = knowledgeFrom([bindings, outputs], others, this.#monitor.lostSince)
    return {
      rows: this.#rows,
      knowledge: {
        ...knowledge,
        problems: [],
        settled: this.#hasRows,
        operator: operatorText(this.#learnt.deployments?.map(readOperatorDeployment)),
        operatorDown: this.#whyOperatorDown(),
        disagreements: disagreementLines(this.#settings().operator.disagreements),
      },
      detail: this.#detail.view,
    }
  }

  /** Chooses the binding whose derivation is wanted, or none. */
  choose(key: string | undefined): void {
    this.#detail.choose(key)
    this.#show()
  }

  #subscribe(): void {
    const { bindings, pools, objectives, outputs } = this.#feeds
    const onChange = (change: StoreChange<Cached>): void =>
      this.#markChanged([(change.kind === 'removed' ? change.before : change.now).meta.namespace])
    bindings.store.subscribe(onChange)
    for (const { store } of pools) store.subscribe(onChange)
    for (const { store } of objectives) store.subscribe(onChange)
    outputs.store.subscribe((change) => {
      const before = change.kind === 'added' ? [] : namespacesOfOutput(change.before)
      const now = change.kind === 'removed' ? [] : namespacesOfOutput(change.now)
      this.#markChanged([...before, ...now])
    })
  }

  #markChanged(namespaces: readonly string[]): void {
    this.#known = undefined
    for (const namespace of namespaces) {
      if (namespace === EVERYWHERE) this.#table.markAllChanged()
      else if (this.#options.namespace === undefined || this.#options.namespace === namespace)
        this.#table.markChanged(namespace)
    }
    this.#detail.markChanged()
  }

  #onState(): void {
    if (this.#stopped) return
    this.#table.markAllChanged()
    this.#detail.markChanged()
    this.#show()
  }

  /** A watch over a connection that has died may hang for minutes: once the server answers again, all watches restart. */
  #onConnection(): void {
    if (this.#monitor.lostSince === undefined) {
      for (const feed of feedsOf(this.#feeds)) feed.start()
      this.#detail.restart()
    }
    this.#show()
  }

  #onRows(rows: readonly Row[]): void {
    this.#rows = this.#times.next(rows, this.#clock.now())
    this.#hasRows = true
    this.#show()
  }

  #show(): void {
    if (!this.#stopped) this.#options.onPicture(this.picture)
  }

  #isReady(): boolean {
    return !this.#waitsForAll || feedsOf(this.#feeds).every(({ state }) => state.kind !== 'waiting')
  }

  /** A table does not follow Deployments and ConfigMaps of other namespaces: they are read once in a while. */
  #learnLater(): void {
    const { learn } = this.#options
    if (learn === undefined) return
    this.#cancelLearning = this.#clock.after(SETTINGS_AGE_MS, () => void this.#learn(learn))
  }

  async #learn(learn: () => Promise<LearntSettings>): Promise<void> {
    try {
      const learnt = await learn()
      // Where Deployments cannot be looked for just now, those that are known still count.
      this.#learnt = { ...learnt, deployments: learnt.deployments ?? this.#learnt.deployments }
      if (this.#stopped) return
      this.#known = undefined
      this.#settings()
      this.#detail.markChanged()
      this.#show()
    } catch {
      // The connection monitor says that the cluster is not there; what was learnt counts until it is.
    }
    if (!this.#stopped) this.#learnLater()
  }

  #whyOperatorDown(): string | undefined {
    const operators = this.#learnt.deployments?.map(readOperatorDeployment)
    if (this.#rows.length === 0) return undefined
    return whyOperatorDown(
      operators,
      this.#rows.some(({ pending }) => pending !== 'none'),
    )
  }

  /** Cached until an object changes. */
  #settings(): SettingsReading {
    if (this.#known !== undefined) return this.#known
    const { bindings, outputs } = this.#feeds
    const known = settingsNow(this.#learnt, bindings.store.values(), outputs.store.values())
    this.#known = known
    const { config } = known.operator
    const rowsConfig = JSON.stringify([config, [...(config.outputLabels ?? [])]])
    if (rowsConfig !== this.#rowsConfig) {
      // Every SPIFFE ID is another one now.
      if (this.#rowsConfig !== undefined) this.#table.markAllChanged()
      this.#rowsConfig = rowsConfig
    }
    return known
  }
}
