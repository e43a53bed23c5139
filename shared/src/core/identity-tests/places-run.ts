// Rules about where identities may be held.
import type { Registration } from '../spire/registration.ts'
import type { ContainerSelector } from './container-selector.ts'
import { containerText, giftText, openText, type ContainerHolding } from './holding.ts'
import { noHolder } from './identities-run.ts'
import type { PlaceAssertion } from './identity-test.ts'
import { choose, isMeant, nothingOf, perhapsMeant, type AssertionRun, type RunFacts } from './run.ts'
import { Tally } from './tally.ts'

/** Runs a rule about where identities may be held. */
export function placesRun(assertion: PlaceAssertion, facts: RunFacts): AssertionRun {
  const { ids, where, containers, inCaptured, absent } = assertion
  // An identity may be held anywhere.
  const tally = new Tally(facts.incomplete(undefined), absent)
  // A selector that means no container would make `neverIn` true whatever is held.
  if (where === 'neverIn' && !inCaptured && !absent) {
    const { sure, unsure } = choose(facts, containers)
    if (sure.length + unsure.length === 0) {
      const made = perhapsMeant(facts, containers)
      const { why, fix } = nothingOf(facts, containers)
      if (made === undefined) tally.miss(why, undefined, fix)
      else tally.doubt(`${why}; ${made}`)
    }
  }
  const judge = (holding: ContainerHolding, one: Registration, isSure: boolean): void => {
    const { fits, captured } = ids.match(one.spiffeId ?? '')
    if (fits === 'no') return
    const mayHold = (): string =>
      `${containerText(holding.pod, holding.container.name)} may hold ${giftText(one, facts.bindings)}: ${one.why ?? 'a part of it is not known'}`
    if (isSure && fits === 'yes') tally.saw(holding)
    else tally.maySee(mayHold())
    const match =
      fits === 'maybe' && inCaptured
        ? 'unknown'
        : isIn(holding, containers, inCaptured ? captured : undefined, facts)
    const isFine = where === 'onlyIn' ? match === 'yes' : match === 'no'
    if (isFine) return
    const who = containerText(holding.pod, holding.container.name)
    const what = giftText(one, facts.bindings)
    if (match === 'unknown') tally.doubt(`${who} holds ${what}, and whether it is one of those is not known`)
    else if (isSure && fits === 'yes') tally.fail(`${who} holds ${what}`, holding)
    else tally.doubt(mayHold())
  }
  return {
    about: [],
    ids,
    hearHolder: (holding) => {
      for (const one of holding.held) judge(holding, one, true)
      for (const one of holding.perhaps) judge(holding, one, false)
    },
    hearOpen: (holding) => {
      tally.maySee(openText(holding))
      const match = isIn(holding, containers, undefined, facts)
      const isFine = where === 'onlyIn' ? match === 'yes' && !inCaptured : match === 'no'
      if (!isFine) tally.doubt(openText(holding))
    },
    outcome: () => tally.outcome(placeText(assertion), () => noHolder(ids.text)),
  }
}

function isIn(
  { pod, container }: ContainerHolding,
  selector: ContainerSelector,
  captured: string | undefined,
  { pods }: RunFacts,
): 'yes' | 'no' | 'unknown' {
  if (captured !== undefined && captured !== pod.namespace) return 'no'
  if (!isMeant(selector, container)) return 'no'
  const match = pods.match(pod, selector)
  const isNamed = selector.written.container === undefined || selector.written.container === container.name
  return match === 'yes' && !isNamed ? 'unknown' : match
}

function placeText({ ids, where, containers, inCaptured }: PlaceAssertion): string {
  const pods = containers.text.replace(/^every pod/, 'pods')
  const whom = inCaptured ? `${pods} of the namespace that it names` : pods
  const which = ids.exact ?? `every identity like ${ids.text}`
  return where === 'onlyIn' ? `${which} is held only by ${whom}` : `${which} is never held by ${whom}`
}
