// Rules about where identities may be held.
import type { Registration } from '../spire/registration.ts'
import type { ContainerSelector } from './container-selector.ts'
import { containerText, giftText, openText, type Holding } from './holding.ts'
import { noHolder } from './identities-run.ts'
import type { PlaceAssertion } from './identity-test.ts'
import { choose, isMeant, nothingOf, type Run, type RunFacts } from './run.ts'
import { Tally } from './tally.ts'

/** Runs a rule about where identities may be held. */
export function placesRun(assertion: PlaceAssertion, facts: RunFacts): Run {
  const { ids, where, containers, inCaptured, absent } = assertion
  const tally = new Tally(facts, absent)
  // A selector that names nobody would make `neverIn` true whatever is held.
  if (where === 'neverIn' && !inCaptured && !absent) {
    const { sure, unsure } = choose(facts, containers)
    if (sure.length + unsure.length === 0) tally.miss(nothingOf(facts, containers).why)
  }
  const judge = (holding: Holding, one: Registration, isSure: boolean): void => {
    const captured = ids.match(one.spiffeId ?? '')
    if (captured === undefined) return
    tally.saw()
    const match = isIn(holding, containers, inCaptured ? captured : undefined, facts)
    const isWrong = where === 'onlyIn' ? match === 'no' : match === 'yes'
    const who = containerText(holding.pod, holding.container.name)
    if (match === 'unknown')
      tally.doubt(`${who} holds ${giftText(one, facts.bindings)}, and which labels it has is not known`)
    else if (isWrong && isSure) tally.fail(`${who} holds ${giftText(one, facts.bindings)}`)
    else if (isWrong) tally.doubt(`${who} may hold ${giftText(one, facts.bindings)}: ${one.why ?? ''}`)
  }
  return {
    about: [],
    ids,
    hearHolder: (holding) => {
      for (const one of holding.held) judge(holding, one, true)
      for (const one of holding.perhaps) judge(holding, one, false)
    },
    hearOpen: (holding) => {
      const match = isIn(holding, containers, undefined, facts)
      const isFine = where === 'onlyIn' ? match === 'yes' && !inCaptured : match === 'no'
      if (!isFine) tally.doubt(openText(holding))
    },
    outcome: () => tally.outcome(placeText(assertion), () => noHolder(ids.text), true),
  }
}

function isIn(
  { pod, container }: Holding,
  selector: ContainerSelector,
  captured: string | undefined,
  { pods }: RunFacts,
): 'yes' | 'no' | 'unknown' {
  if (captured !== undefined && captured !== pod.namespace) return 'no'
  return isMeant(selector, container) ? pods.match(pod, selector) : 'no'
}

function placeText({ ids, where, containers, inCaptured }: PlaceAssertion): string {
  const whom = inCaptured ? `${containers.text} of the namespace that it names` : containers.text
  const which = ids.exact ?? `every identity like ${ids.text}`
  return where === 'onlyIn' ? `${which} is held only by ${whom}` : `${which} is never held by ${whom}`
}
