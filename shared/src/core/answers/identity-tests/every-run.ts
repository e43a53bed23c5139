// Rules about what every container of some holds.
import { idsOf } from '../../analysis/index.ts'
import { any, NO, whyOpenText } from '../../model/truth/truth.ts'
import { holdsOnly, tallied } from './containers-run.ts'
import { giftText, whoText } from './holding-text.ts'
import type { EveryAssertion } from './identity-test.ts'
import { isMeant, nothingOf, type AssertionRun, type RunFacts } from './run.ts'
import { few } from './tally.ts'

/** Runs a rule about what every container of some holds. */
export function everyRun(assertion: EveryAssertion, facts: RunFacts): AssertionRun {
  const { containers, atMost, atLeast, only, absent } = assertion
  const { sure, tally } = tallied(containers, absent, facts)
  return {
    about: sure,
    hear: (holding) => {
      if (!isMeant(containers, holding.container)) return
      tally.saw(holding)
      const { held, perhaps, other } = holding
      const who = (): string => whoText(holding)
      // Most rules are about one or two: then nothing is to be counted but those.
      const certain = held.length < 2 ? held.length : idsOf(held).length
      const possible = perhaps.length === 0 ? certain : idsOf([...held, ...perhaps]).length
      const doubt = (): string => perhaps[0]?.why ?? whyOpenText(other) ?? ''
      const gifts = (): string => few(held.map((one) => giftText(one, facts.bindings))).join('; ')
      if (atMost !== undefined && certain > atMost)
        tally.fail(() => `${who()} holds ${identitiesText(certain)}: ${gifts()}`, holding)
      else if (atMost !== undefined && (possible > atMost || other !== NO))
        tally.doubt(() => `${who()} may hold more: ${doubt()}`)
      if (atLeast !== undefined && certain < atLeast) {
        const line = (): string => `${who()} holds ${certain === 0 ? 'no identity' : gifts()}`
        if (possible >= atLeast || other !== NO) tally.doubt(() => `${line()} for certain: ${doubt()}`)
        else tally.miss(line, holding)
      }
      if (only !== undefined)
        holdsOnly(
          holding,
          ({ spiffeId = '' }) => any(...only.map((pattern) => pattern.match(spiffeId).fits)),
          facts,
          tally,
        )
    },
    outcome: () => tally.outcome(everyText(assertion), () => nothingOf(facts, containers)),
  }
}

function everyText({ containers, atMost, atLeast, only }: EveryAssertion): string {
  if (atLeast !== undefined && atLeast === atMost && atMost > 0 && only === undefined)
    return `every container of ${containers.text} holds exactly ${identitiesText(atMost)}`
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
