// Rules about where identities may be held.
import type { Registration } from '../../predict/index.ts'
import type { ContainerSelector } from './container-selector.ts'
import type { ContainerHolding } from '../../analysis/index.ts'
import { giftText, openText, whoText } from './holding-text.ts'
import { IN_PART } from './id-pattern.ts'
import { noHolder } from './identities-run.ts'
import type { PlaceAssertion } from './identity-test.ts'
import { isMeant, meansAny, noNamespace, nothingOf, type AssertionRun, type RunFacts } from './run.ts'
import { all, NO, open, YES, type Truth } from '../../model/truth/truth.ts'
import { atRuntime } from '../../model/truth/unknown.ts'
import { Tally } from './tally.ts'

/** Runs a rule about where identities may be held. */
export function placesRun(assertion: PlaceAssertion, facts: RunFacts): AssertionRun {
  const { ids, where, containers, inCaptured, absent } = assertion
  // An identity may be held anywhere.
  const tally = new Tally(facts.incomplete(undefined), absent)
  // A selector that means no container would make `neverIn` true whatever is held.
  if (where === 'neverIn' && !inCaptured && !absent)
    tally.meets(meansAny(facts, containers), () => nothingOf(facts, containers))
  // One that leaves out a namespace that is not there would make `onlyIn` true wherever it is held.
  if (where === 'onlyIn' && !absent)
    for (const name of containers.notInNamespaces ?? []) {
      const missing = noNamespace(facts, name)
      if (missing !== undefined) tally.meets(NO, () => missing)
    }
  const judge = (holding: ContainerHolding, one: Registration, isSure: boolean): void => {
    const { fits, captured } = ids.match(one.spiffeId ?? '')
    if (fits === NO) return
    const mayHold = (): string =>
      `${whoText(holding)} may hold ${giftText(one, facts.bindings)}: ${one.why ?? 'a part of it is not known'}`
    if (isSure && fits === YES) tally.saw(holding)
    else tally.maySee(mayHold)
    const match =
      fits !== YES && inCaptured
        ? IN_PART
        : isIn(holding, containers, inCaptured ? captured : undefined, facts)
    if (match === (where === 'onlyIn' ? YES : NO)) return
    const line = (): string => `${whoText(holding)} holds ${giftText(one, facts.bindings)}`
    if (match.value === 'open') tally.doubt(() => `${line()}, and whether it is one of those is not known`)
    else if (isSure && fits === YES) tally.fail(line, holding)
    else tally.doubt(mayHold)
  }
  return {
    about: [],
    ids,
    hearHolder: (holding) => {
      for (const one of holding.held) judge(holding, one, true)
      for (const one of holding.perhaps) judge(holding, one, false)
    },
    hearOpen: (holding) => {
      tally.maySee(() => openText(holding))
      const match = isIn(holding, containers, undefined, facts)
      const isFine = where === 'onlyIn' ? match === YES && !inCaptured : match === NO
      if (!isFine) tally.doubt(() => openText(holding))
    },
    outcome: () => tally.outcome(placeText(assertion), () => noHolder(ids.text)),
  }
}

const UNNAMED = open(atRuntime('the name of the container is not known'))

function isIn(
  { pod, container }: ContainerHolding,
  selector: ContainerSelector,
  captured: string | undefined,
  { pods }: RunFacts,
): Truth {
  if (captured !== undefined && captured !== pod.namespace) return NO
  if (!isMeant(selector, container)) return NO
  const match = pods.match(pod, selector)
  const isNamed = selector.written.container === undefined || selector.written.container === container.name
  return isNamed ? match : all(match, UNNAMED)
}

function placeText({ ids, where, containers, inCaptured }: PlaceAssertion): string {
  const pods = containers.text.replace(/^every pod/, 'pods')
  const whom = inCaptured ? `${pods} of the namespace that it names` : pods
  const which = ids.exact ?? `every identity like ${ids.text}`
  return where === 'onlyIn' ? `${which} is held only by ${whom}` : `${which} is never held by ${whom}`
}
