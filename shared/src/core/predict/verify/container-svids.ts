// The SVIDs that one container got against those that it should have: what is missing, whether the server holds the entry, and which
// selector of the process fails.
import type { Container, Pod } from '../../model/objects/pod.ts'
import { judgeContainer } from '../spire/attestor.ts'
import { splitSelector, type Prediction } from '../spire/prediction.ts'
import { containerVerdicts, isPossible, type Registration } from '../spire/registration.ts'
import type { AttestedSelectors } from './agent-log.ts'
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
}

/** An SVID that the process should have got. */
export interface LackingSvid {
  readonly registration: Registration
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
}

/** What a process got against what its container should have. */
export interface SvidAnswer {
  readonly asked: ContainerSvids
  readonly lacking: readonly LackingSvid[]
  readonly surplus: readonly SurplusSvid[]
}

/** Of the entries of a server, those of the pod of one container; add them as they are read. */
export class EntriesOfContainer {
  readonly #asked: ContainerSvids
  readonly #entries: ServerEntry[] = []

  constructor(asked: ContainerSvids) {
    this.#asked = asked
  }

  /** Keeps an entry that may be for the pod. */
  add(entry: ServerEntry): void {
    const uid = podUidOf(entry)
    if (uid === this.#asked.pod.uid || (uid === undefined && this.#gives(entry))) this.#entries.push(entry)
  }

  /** What is lacking and what is there beside it, once all entries have been added. */
  answer(prediction: Prediction, originsOf: OriginsOf): SvidAnswer {
    const { pod, container, svids } = this.#asked
    const verdicts = containerVerdicts(prediction, pod, container)
    const wanted = verdicts.filter(({ verdict }) => verdict === 'issued')
    const got = new Set(svids.map(({ spiffeId }) => spiffeId))
    const hints = new Set(svids.map(({ hint }) => hint))
    const possible = new Set(verdicts.filter(isPossible).map(({ spiffeId }) => spiffeId))
    const lacking = wanted.filter(
      ({ spiffeId = '', sharesHint, hint }) => !got.has(spiffeId) && !(sharesHint && hints.has(hint)),
    )
    const surplus = [...got].filter(
      (id) =>
        !wanted.some(({ spiffeId }) => spiffeId === id) && !possible.has(id) && !possible.has(undefined),
    )
    return {
      asked: this.#asked,
      lacking: lacking.map((one) => this.#lacks(one, originsOf)),
      surplus: surplus.map((spiffeId) => ({ spiffeId, entry: this.#entryOf(spiffeId) })),
    }
  }

  #entryOf(id: string | undefined): ServerEntry | undefined {
    return this.#entries.find(({ spiffeId }) => spiffeId === id)
  }

  #lacks(registration: Registration, originsOf: OriginsOf): LackingSvid {
    const { pod, container, attested } = this.#asked
    const { outcome } = registration
    const entry = this.#entryOf(registration.spiffeId)
    const { failing, untold } =
      attested === undefined || entry === undefined
        ? { failing: [], untold: [] }
        : failingSelectors(entry.selectors, attested, { pod, container, outcome, originsOf })
    const names = failing.map(({ selector }) => selector)
    const why =
      entry === undefined
        ? 'the server holds no entry of it for this pod'
        : names.length > 0
          ? `the process has not ${names.length === 1 ? 'the selector' : 'the selectors'} ${names.join(', ')} of the entry ${entry.id}`
          : attested !== undefined && untold.length === 0
            ? `the server holds the entry ${entry.id}, and the process has all of its selectors: the agent has not asked for it yet (it does every 5 s)`
            : `the server holds the entry ${entry.id}: the agent has not asked for it yet (it does every 5 s), or the process has other selectors than its pod shows`
    return { registration, entry, failing, untold, why }
  }

  #gives({ selectors, fields }: ServerEntry): boolean {
    const { pod, container } = this.#asked
    const entry = { selectors: selectors.map(splitSelector), storeSvid: fields.storeSvid }
    return judgeContainer(pod, container, entry).state !== 'dead'
  }
}
