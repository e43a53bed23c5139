// Rules about what every container of some holds.
import type { Registration } from '../spire/registration.ts'
import { containerText, giftText, idsOf } from './holding.ts'
import type { EveryAssertion } from './identity-test.ts'
import { choose, isMeant, nothingOf, type Run, type RunFacts } from './run.ts'
import { few, Tally } from './tally.ts'

/** Runs a rule about what every container of some holds. */
export function everyRun(assertion: EveryAssertion, facts: RunFacts): Run {
  const { containers, atMost, atLeast, only, absent } = assertion
  const tally = new Tally(facts, absent)
  const { sure, unsure } = choose(facts, containers)
  for (const pod of unsure)
    tally.doubt(`${containerText(pod, '*')}: whether it is meant depends on labels that are not known`)
  const isAllowed = (one: Registration): boolean =>
    only?.some((pattern) => pattern.match(one.spiffeId ?? '') !== undefined) !== false
  return {
    about: sure,
    hear: (holding) => {
      if (!isMeant(containers, holding.container)) return
      tally.saw()
      const { held, perhaps, open } = holding
      const who = containerText(holding.pod, holding.container.name)
      const certain = idsOf(held).length
      const possible = idsOf([...held, ...perhaps]).length
      const doubt = perhaps[0]?.why ?? open ?? ''
      const gifts = few(held.map((one) => giftText(one, facts.bindings))).join('; ')
      if (atMost !== undefined && certain > atMost)
        tally.fail(`${who} holds ${identitiesText(certain)}: ${gifts}`)
      else if (atMost !== undefined && (possible > atMost || open !== undefined))
        tally.doubt(`${who} may hold more: ${doubt}`)
      if (atLeast !== undefined && certain < atLeast) {
        const line = `${who} holds ${certain === 0 ? 'no identity' : gifts}`
        if (possible >= atLeast || open !== undefined) tally.doubt(`${line} for certain: ${doubt}`)
        else tally.miss(line)
      }
      for (const one of held) if (!isAllowed(one)) tally.fail(`${who} holds ${giftText(one, facts.bindings)}`)
      if (only === undefined) return
      for (const one of perhaps)
        if (!isAllowed(one)) tally.doubt(`${who} may hold ${giftText(one, facts.bindings)}: ${one.why ?? ''}`)
      if (open !== undefined) tally.doubt(`${who} may hold any identity: ${open}`)
    },
    outcome: () => tally.outcome(everyText(assertion), () => nothingOf(facts, containers), true),
  }
}

function everyText({ containers, atMost, atLeast, only }: EveryAssertion): string {
  const parts = [
    ...(atLeast === undefined ? [] : [`at least ${identitiesText(atLeast)}`]),
    ...(atMost === undefined ? [] : [atMost === 0 ? 'no identity' : `at most ${identitiesText(atMost)}`]),
    ...(only === undefined ? [] : [`no identities but ${few(only.map(({ text }) => text)).join(', ')}`]),
  ]
  return `every container of ${containers.text} holds ${parts.join(' and ')}`
}

function identitiesText(count: number): string {
  return count === 1 ? '1 identity' : `${count} identities`
}
