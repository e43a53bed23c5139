// Rules about what every container of some holds.
import type { Registration } from '../../predict/index.ts'
import { unsureText } from './containers-run.ts'
import { idsOf } from '../../analysis/index.ts'
import { any, NO, whyOpenText, YES, type Truth } from '../../model/truth/truth.ts'
import { giftText, openText, whoText } from './holding-text.ts'
import type { EveryAssertion } from './identity-test.ts'
import {
  choose,
  incompleteFor,
  isMeant,
  nothingOf,
  perhapsMeant,
  type AssertionRun,
  type RunFacts,
} from './run.ts'
import { few, Tally } from './tally.ts'

/** Runs a rule about what every container of some holds. */
export function everyRun(assertion: EveryAssertion, facts: RunFacts): AssertionRun {
  const { containers, atMost, atLeast, only, absent } = assertion
  const { sure, unsure } = choose(facts, containers)
  const made = sure.length === 0 ? perhapsMeant(facts, containers) : undefined
  const tally = new Tally(incompleteFor(facts, containers) ?? made, absent)
  for (const pod of unsure) tally.doubt(unsureText(pod))
  const allowed = (one: Registration): Truth => {
    if (only === undefined) return YES
    return any(...only.map((pattern) => pattern.match(one.spiffeId ?? '').fits))
  }
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
      const doubt = perhaps[0]?.why ?? whyOpenText(other) ?? ''
      const gifts = (): string => few(held.map((one) => giftText(one, facts.bindings))).join('; ')
      if (atMost !== undefined && certain > atMost)
        tally.fail(`${who()} holds ${identitiesText(certain)}: ${gifts()}`, holding)
      else if (atMost !== undefined && (possible > atMost || other !== NO))
        tally.doubt(`${who()} may hold more: ${doubt}`)
      if (atLeast !== undefined && certain < atLeast) {
        const line = `${who()} holds ${certain === 0 ? 'no identity' : gifts()}`
        if (possible >= atLeast || other !== NO) tally.doubt(`${line} for certain: ${doubt}`)
        else tally.miss(line, holding)
      }
      for (const one of only === undefined ? [] : held) {
        const match = allowed(one)
        if (match === YES) continue
        const line = `${who()} holds ${giftText(one, facts.bindings)}`
        if (match === NO) tally.fail(line, holding)
        else tally.doubt(`${line}: ${whyOpenText(match) ?? ''}`)
      }
      if (only === undefined) return
      for (const one of perhaps)
        if (allowed(one) !== YES)
          tally.doubt(`${who()} may hold ${giftText(one, facts.bindings)}: ${one.why ?? ''}`)
      if (other !== NO) tally.doubt(openText(holding))
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
