// One assertion while it is run: what it hears of, and which containers it is about.
import type { Analysis, ContainerHolding, Holdings } from '../../analysis/index.ts'
import { UNKNOWN_CONTAINER } from '../../model/objects/pod.ts'
import { podText } from '../../model/objects/pod-index.ts'
import type { Container, Pod } from '../../model/objects/pod.ts'
import { workloadsOf } from '../../model/objects/pod-workloads.ts'
import { any, NO, open, YES, type Truth } from '../../model/truth/truth.ts'
import { atRuntime } from '../../model/truth/unknown.ts'
import { didYouMean } from '../../base/text/suggest.ts'
import type { ChosenPods, ContainerSelector, SelectablePods } from './container-selector.ts'
import type { IdPattern } from './id-pattern.ts'

/** What assertions are run against. */
export interface TestSurroundings {
  /** Tests are about what it settles to. */
  readonly analysis: Analysis
  /**
   * Why there may be other objects than were read, of a namespace or (undefined) of any; undefined where there are none. That
   * something is not there is then not certain.
   */
  readonly incomplete: (namespace: string | undefined) => string | undefined
  /** Whether a Namespace that was not given is taken to ask for no sidecar. */
  readonly isUnaskedNever?: boolean
}

/** What all runs read. */
export interface RunFacts extends TestSurroundings {
  readonly pods: SelectablePods
  readonly holdings: Holdings
  readonly bindings: ReadonlyMap<string, string>
}

/** One assertion while it is run. */
export interface AssertionRun {
  /** The pods that it hears of beside those whose IDs it asks for. */
  readonly about: readonly Pod[]
  /** The IDs whose holders it asks for, wherever they are. */
  readonly ids?: IdPattern
  hear?(holding: ContainerHolding): void
  /** A container that holds, or may hold, one of `ids`. */
  hearHolder?(holding: ContainerHolding): void
  /** A container that may hold any ID. */
  hearOpen?(holding: ContainerHolding): void
  outcome(): AssertionOutcome
}

/** Why an assertion is about nothing, and what to do. */
export interface NoMatch {
  readonly why: string
  readonly fix: string
}

/** The pods that have a container which the selector means. */
export function choose({ pods }: RunFacts, selector: ContainerSelector): ChosenPods {
  const { sure, unsure } = pods.chosen(selector)
  if (selector.written.container === undefined) return { sure, unsure }
  // Pods of one workload share their containers, so most have the answer of the one before.
  let before: readonly Container[] | undefined
  let had = false
  const hasMeant = (pod: Pod): boolean => {
    const containers = pods.containersOf(pod)
    if (containers !== before) {
      before = containers
      had = containers.some((one) => isMeant(selector, one))
    }
    return had
  }
  // Mostly all of them have it; selectors of one list then share it.
  return {
    sure: sure.every(hasMeant) ? sure : sure.filter(hasMeant),
    unsure: unsure.every(hasMeant) ? unsure : unsure.filter(hasMeant),
  }
}

/** Whether a container of a pod that is meant is meant, or may be: the name of one that a controller makes up is not known. */
export function isMeant({ written }: ContainerSelector, { name }: Container): boolean {
  return written.container === undefined || written.container === name || name === UNKNOWN_CONTAINER
}

const UNSURE = open(atRuntime('whether pods are meant is undetermined', 'Pod'))

/** Whether a selector means a container that is there; `yes` at the first. */
export function meansAny(facts: RunFacts, selector: ContainerSelector): Truth {
  const { sure, unsure } = choose(facts, selector)
  let means: Truth = unsure.length === 0 ? NO : UNSURE
  for (const pod of sure)
    for (const container of facts.pods.containersOf(pod)) {
      if (!isMeant(selector, container)) continue
      means = any(means, facts.holdings.there(pod, container))
      if (means === YES) return YES
    }
  const made = means === NO ? perhapsMeant(facts, selector) : undefined
  return made === undefined ? means : open({ kind: 'made by', of: { kind: 'Pod' }, maker: made, why: made })
}

/** Why a selector that finds nothing may yet mean something: a controller makes pods of its own; undefined where none does. */
export function perhapsMeant(
  { pods }: RunFacts,
  { written: { namespace } }: ContainerSelector,
): string | undefined {
  const maker = pods.perhaps.find((pod) => namespace === undefined || pod.namespace === namespace)
  if (maker === undefined) return undefined
  return `${podText(maker)} may make it: ${maker.perhaps?.why ?? ''}`
}

const OTHERWISE = 'correct it, or add absent: true where there need be none'

/** That there is no namespace of a name, and what may have been meant; undefined where there is one. */
export function noNamespace({ pods }: RunFacts, name: string): NoMatch | undefined {
  if (pods.hasNamespace(name)) return undefined
  return { why: `there is no namespace ${name}`, fix: didYouMean(name, pods.namespaceNames) ?? OTHERWISE }
}

/** Why a selector names no container, and what may have been meant. */
export function nothingOf(facts: RunFacts, selector: ContainerSelector): NoMatch {
  const { pods } = facts
  const { namespace, container } = selector.written
  const why = `nothing matches: ${selector.text}`
  const missing = namespace === undefined ? undefined : noNamespace(facts, namespace)
  if (missing !== undefined) return missing
  const over = pods.over.find((pod) => pods.match(pod, selector) === YES)
  if (over?.over !== undefined)
    return { why: `there will be no pods of ${podText(over)}: ${over.over}`, fix: OTHERWISE }
  if (container !== undefined) {
    const { container: _, ...rest } = selector.written
    const found = pods
      .candidates(selector)
      .filter((pod) => pods.match(pod, { ...selector, written: rest }) === YES)
    const names = [...new Set(found.flatMap((pod) => pod.containers.map(({ name }) => name)))]
    if (names.length > 0) {
      const hint = didYouMean(container, names)
      return {
        why: `none of the pods has a container ${container}`,
        fix: hint ?? `they have ${names.slice(0, 5).join(', ')}`,
      }
    }
  }
  const { workload, written } = selector
  if (workload !== undefined && namespace !== undefined) {
    const names = pods
      .candidates({ ...selector, workload: undefined, written: { namespace } })
      .flatMap((pod) => workloadsOf(pod).flatMap(({ kind, name }) => (kind === workload.kind ? [name] : [])))
    const hint = didYouMean(workload.name, [...new Set(names)])
    return { why: `there is no ${written.workload ?? ''} in namespace ${namespace}`, fix: hint ?? OTHERWISE }
  }
  return { why, fix: OTHERWISE }
}

/** What an assertion comes to. */
export interface AssertionOutcome {
  readonly state: 'passed' | 'failed' | 'unknown'
  /** What is stated, as a sentence without a full stop. */
  readonly claim: string
  /** Why it fails, or is not known; empty where it passes. */
  readonly why: string
  /** A line for each container that decides, some of them where there are many. */
  readonly evidence: readonly string[]
  /** Undefined where the evidence says all. */
  readonly fix: string | undefined
}
