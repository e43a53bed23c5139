// Runs identity tests against one state of a cluster. Every pod is predicted at most once, whatever the number of assertions:
// each assertion gets the containers that it is about, and gives its result at the end.
import { getOrCreate } from '../../base/get-or-create.ts'
import { Holdings, type ContainerHolding, openVerdicts } from '../../analysis/index.ts'
import type { Pod } from '../../model/objects/pod.ts'
import { workingOn } from '../../model/objects/pods-alike.ts'
import type { Steps } from '../../base/steps.ts'
import { NO } from '../../model/truth/truth.ts'
import { bindingOutcome } from './binding-outcome.ts'
import { SelectablePods } from './container-selector.ts'
import { containersRun } from './containers-run.ts'
import { everyRun } from './every-run.ts'
import { identitiesRun } from './identities-run.ts'
import type { Assertion } from './identity-test.ts'
import { placesRun } from './places-run.ts'
import type { AssertionRun, RunFacts, TestSurroundings, AssertionOutcome } from './run.ts'

/** Runs assertions; the outcomes are in their order. A step for each pod that is not like one before. */
export function* evaluating(
  assertions: readonly Assertion[],
  { analysis, incomplete, isUnaskedNever = false }: TestSurroundings,
): Steps<readonly AssertionOutcome[]> {
  const holdings = new Holdings(analysis.settled, { ...openVerdicts(analysis), isOfLater: true })
  const facts: RunFacts = {
    analysis,
    holdings,
    incomplete,
    pods: new SelectablePods(analysis, isUnaskedNever),
    bindings: analysis.settled.bindingsByOutput(),
  }
  const runs = assertions.map((assertion) => runOf(assertion, facts))
  const audience = new Audience(runs, facts.pods)
  const heldBy = (pod: Pod): readonly ContainerHolding[] => holdings.of(pod, facts.pods.containersOf(pod))
  yield* workingOn(audience.pods(), heldBy, (pod, held) => {
    const listeners = audience.of(pod)
    for (const one of held) {
      const holding = { ...one, pod }
      for (const run of listeners) run.hear?.(holding)
      audience.tellHolders(holding)
    }
  })
  return runs.map((run) => run.outcome())
}

/** Receives the pods that were met. */
class Audience {
  readonly #pods: SelectablePods
  /** Pods that the same runs are about share a list: there may be a hundred thousand of them. */
  readonly #byPod = new Map<Pod, readonly AssertionRun[]>()
  readonly #byId = new Map<string, AssertionRun[]>()
  readonly #byPattern: AssertionRun[] = []
  readonly #ofHolders: AssertionRun[]

  constructor(runs: readonly AssertionRun[], pods: SelectablePods) {
    this.#pods = pods
    const byList = Map.groupBy(runs, ({ about }) => about)
    for (const [about, own] of byList) {
      // By what was heard of a pod before: most pods of a list have that of the one before.
      const joined = new Map<readonly AssertionRun[], readonly AssertionRun[]>()
      let last = NO_RUNS
      let joinedLast: readonly AssertionRun[] = own
      for (const pod of about) {
        const before = this.#byPod.get(pod) ?? NO_RUNS
        if (before !== last) {
          last = before
          joinedLast = before === NO_RUNS ? own : getOrCreate(joined, before, () => [...before, ...own])
        }
        this.#byPod.set(pod, joinedLast)
      }
    }
    for (const run of runs) {
      if (run.ids?.exact !== undefined) getOrCreate(this.#byId, run.ids.exact, () => []).push(run)
      else if (run.ids !== undefined) this.#byPattern.push(run)
    }
    this.#ofHolders = runs.filter(({ ids }) => ids !== undefined)
  }

  /** All pods where any run asks for holders, which may be anywhere; else those that some run is about. */
  pods(): readonly Pod[] {
    if (this.#ofHolders.length === 0) return [...this.#byPod.keys()]
    const templates = [...this.#pods.represented].filter((template) => this.#byPod.has(template))
    return templates.length === 0 ? this.#pods.all : [...this.#pods.all, ...templates]
  }

  of(pod: Pod): readonly AssertionRun[] {
    return this.#byPod.get(pod) ?? NO_RUNS
  }

  /** Each run hears of a container once. */
  tellHolders(holding: ContainerHolding): void {
    if (this.#ofHolders.length === 0) return
    const { held, perhaps, other } = holding
    if (held.length + perhaps.length > 0) {
      const listeners: AssertionRun[] = []
      for (const { spiffeId } of held) this.#addListeners(spiffeId, listeners)
      for (const { spiffeId } of perhaps) this.#addListeners(spiffeId, listeners)
      for (const run of listeners) run.hearHolder?.(holding)
    }
    if (other !== NO) for (const run of this.#ofHolders) run.hearOpen?.(holding)
  }

  /** Those that ask for an ID, each once. */
  #addListeners(id: string | undefined, listeners: AssertionRun[]): void {
    if (id === undefined) return
    for (const run of this.#byId.get(id) ?? NO_RUNS) if (!listeners.includes(run)) listeners.push(run)
    // An ID with a part that is not known yet may be any that fits.
    for (const run of id.includes('<') ? this.#ofHolders : this.#byPattern)
      if (run.ids?.match(id).fits !== NO && !listeners.includes(run)) listeners.push(run)
  }
}

const NO_RUNS: readonly AssertionRun[] = []

function runOf(assertion: Assertion, facts: RunFacts): AssertionRun {
  switch (assertion.kind) {
    case 'containers':
      return containersRun(assertion, facts)
    case 'identities':
      return identitiesRun(assertion, facts)
    case 'bindings':
      return { about: [], outcome: () => bindingOutcome(assertion, facts) }
    case 'places':
      return placesRun(assertion, facts)
    case 'every':
      return everyRun(assertion, facts)
  }
}
