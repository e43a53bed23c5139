// The SVIDs that one container got against those that it should have: what is missing, whether the server holds the entry, and which
// selector of the process fails.
import { finding, type Finding, type Subject } from '../../findings/finding.ts'
import type { Container, Pod } from '../../objects/pod.ts'
import { judgeContainer } from '../attestor.ts'
import { sourceText, type Prediction } from '../prediction.ts'
import { containerVerdicts, type Registration } from '../registration.ts'
import { podUidOf, type ServerEntry } from './server-entry.ts'
import type { FetchedSvid } from './svid-text.ts'

/** A container, and what a process in it got. */
export interface ContainerSvids {
  readonly pod: Pod
  readonly container: Container
  readonly svids: readonly FetchedSvid[]
  /** The selectors that the agent found for the process, `type:value`; undefined: not given. */
  readonly selectors: readonly string[] | undefined
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

  /** The findings, once all entries have been added. */
  findings(prediction: Prediction): readonly Finding[] {
    const { pod, container, svids } = this.#asked
    const verdicts = containerVerdicts(prediction, pod, container)
    const wanted = verdicts.filter(({ verdict }) => verdict === 'issued')
    const got = new Set(svids.map(({ spiffeId }) => spiffeId))
    const hints = new Set(svids.map(({ hint }) => hint))
    const possible = new Set(
      verdicts
        .filter(({ verdict }) => verdict === 'depends' || verdict === 'unknown')
        .map(({ spiffeId }) => spiffeId),
    )
    const lacking = wanted.filter(
      ({ spiffeId = '', sharesHint, hint }) => !got.has(spiffeId) && !(sharesHint && hints.has(hint)),
    )
    const extra = [...got].filter(
      (id) =>
        !wanted.some(({ spiffeId }) => spiffeId === id) && !possible.has(id) && !possible.has(undefined),
    )
    return [...lacking.map((one) => this.#lacks(one)), ...extra.map((id) => this.#holds(id))]
  }

  #lacks(one: Registration): Finding {
    const { selectors } = this.#asked
    const entry = this.#entries.find(({ spiffeId }) => spiffeId === one.spiffeId)
    const { failing, untold } = lackingOf(entry?.selectors ?? [], selectors)
    const why =
      entry === undefined
        ? 'the server holds no entry of it for this pod'
        : failing.length > 0
          ? `the process has not ${failing.length === 1 ? 'the selector' : 'the selectors'} ${failing.join(', ')} of the entry ${entry.id}`
          : `the server holds the entry ${entry.id}: the agent has not asked for it yet (it does every 5 s), or the process has other selectors than its pod shows`
    return finding('KLM821', {
      subject: this.#subject,
      related: [{ kind: one.source.kind, namespace: '', name: one.source.name }],
      summary: `it should have got ${one.spiffeId ?? 'an SVID'} by ${sourceText(one.source)}, and did not`,
      evidence: [
        why,
        ...failing.map((selector) => nearestText(selector, selectors ?? [])),
        ...untoldText(untold),
      ],
      ...(failing.length > 0 && {
        fix: `Correct .spec.workloadSelectorTemplates of ${sourceText(one.source)}, or the field of the pod that the selector is of.`,
      }),
    })
  }

  #holds(id: string): Finding {
    const entry = this.#entries.find(({ spiffeId }) => spiffeId === id)
    return finding('KLM822', {
      subject: this.#subject,
      summary: `it got ${id}, and no object gives it that`,
      evidence: [
        entry === undefined
          ? 'the server holds no entry of it for this pod: the agent hands out what it had, until its next synchronization'
          : `the entry ${entry.id} of the server gives it`,
      ],
    })
  }

  get #subject(): Subject {
    const { pod, container } = this.#asked
    return { kind: pod.ref.kind, namespace: pod.namespace, name: pod.ref.name, container: container.name }
  }

  #gives({ selectors, fields }: ServerEntry): boolean {
    const split = selectors.map((one) => {
      const colon = one.indexOf(':')
      return { type: one.slice(0, colon), value: one.slice(colon + 1), placeholders: [] }
    })
    const { pod, container } = this.#asked
    return judgeContainer(pod, container, { selectors: split, storeSvid: fields.storeSvid }).state !== 'dead'
  }
}

/** Of the selectors of an entry, those that the process has not, and those of which nothing was given. */
interface Lacking {
  readonly failing: readonly string[]
  readonly untold: readonly string[]
}

/** An agent logs only the kinds of selectors that its `log_selectors` names: of another kind, that none was given says nothing. */
function lackingOf(wanted: readonly string[], given: readonly string[] | undefined): Lacking {
  if (given === undefined) return { failing: [], untold: [] }
  const kinds = new Set(given.map(kindOf))
  const [failing = [], untold = []] = [true, false].map((isTold) =>
    wanted.filter((one) => !given.includes(one) && kinds.has(kindOf(one)) === isTold),
  )
  return { failing, untold }
}

/** `k8s:container-name:` of `k8s:container-name:app`. */
function kindOf(selector: string): string {
  return /^[^:]*:[^:]*:/.exec(selector)?.[0] ?? selector
}

function untoldText(untold: readonly string[]): readonly string[] {
  return untold.length === 0
    ? []
    : [
        `the given selectors have none of the kind of ${untold.join(', ')}: the process has none, or log_selectors does not name the kind`,
      ]
}

/** `k8s:container-name:app is wanted, and the process has k8s:container-name:proxy`. */
function nearestText(wanted: string, selectors: readonly string[]): string {
  const same = selectors.filter((one) => kindOf(one) === kindOf(wanted))
  return `${wanted} is wanted, and the process has ${same.join(', ')}`
}
