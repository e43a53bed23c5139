// Assertions about who holds an identity.
import { getOrCreate } from '../get-or-create.ts'
import type { Pod } from '../objects/pod.ts'
import type { Registration } from '../spire/registration.ts'
import { reasonOf } from './containers-run.ts'
import { containerText, giftText, openText, type Holding } from './holding.ts'
import type { IdentityAssertion } from './identity-test.ts'
import { choose, isMeant, nothingOf, type Nothing, type Run, type RunFacts } from './run.ts'
import { few, Tally } from './tally.ts'

/** Runs an assertion about who holds an identity. */
export function identitiesRun(assertion: IdentityAssertion, facts: RunFacts): Run {
  const { ids, holders, mode, absent } = assertion
  const tally = new Tally(facts, absent)
  /** The containers that should hold it; those that do are taken out. */
  const expected = new Map<Pod, Set<string>>()
  const unsure = new Set<Pod>()
  for (const selector of holders) {
    const chosen = choose(facts, selector)
    if (chosen.sure.length + chosen.unsure.length === 0 && !absent) tally.miss(nothingOf(facts, selector).why)
    for (const pod of chosen.unsure) unsure.add(pod)
    for (const pod of chosen.sure)
      for (const one of pod.containers)
        if (isMeant(selector, one)) getOrCreate(expected, pod, () => new Set<string>()).add(one.name)
  }
  const fitting = (list: readonly Registration[]): readonly Registration[] =>
    list.filter(({ spiffeId }) => spiffeId !== undefined && ids.match(spiffeId) !== undefined)
  const isExpected = ({ pod, container }: Holding): boolean => expected.get(pod)?.has(container.name) === true
  const run: Run = {
    about: [...expected.keys()],
    ids,
    hear: (holding) => {
      if (!isExpected(holding)) return
      tally.saw()
      if (fitting(holding.held).length > 0) return
      const who = containerText(holding.pod, holding.container.name)
      const may = fitting(holding.perhaps)[0]?.why ?? holding.open
      if (may !== undefined) tally.doubt(`${who} may hold it: ${may}`)
      else
        tally.miss(
          `${who} does not hold it${missedText(holding, facts, ids.text, fitting(holding.others)[0])}`,
        )
    },
    hearHolder: (holding) => {
      tally.saw()
      if (mode === 'atLeast' || isExpected(holding)) return
      const who = containerText(holding.pod, holding.container.name)
      const [held] = fitting(holding.held)
      const [may] = fitting(holding.perhaps)
      if (unsure.has(holding.pod))
        tally.doubt(`${who} holds it, and whether it is meant depends on labels that are not known`)
      else if (held !== undefined) tally.fail(`${who} holds ${giftText(held, facts.bindings)}`)
      else if (may !== undefined)
        tally.doubt(`${who} may hold ${giftText(may, facts.bindings)}: ${may.why ?? ''}`)
    },
    hearOpen: (holding) => {
      if (mode === 'atLeast' || isExpected(holding)) return
      tally.doubt(openText(holding))
    },
    outcome: () => tally.outcome(heldByText(assertion), () => noHolder(ids.text), mode === 'exactly'),
  }
  // Nobody is meant, and nobody is found: that is what was stated.
  if (holders.length === 0) tally.saw()
  return run
}

function missedText(
  holding: Holding,
  facts: RunFacts,
  pattern: string,
  missed: Registration | undefined,
): string {
  if (missed !== undefined)
    return `: ${giftText(missed, facts.bindings)} is ${missed.verdict}: ${missed.why ?? ''}`
  return reasonOf(holding, { spiffeId: pattern, hint: undefined, source: undefined }, facts)
}

/** Why an assertion about holders is about nothing. */
export function noHolder(id: string): Nothing {
  return { why: `nobody holds ${id}`, fix: 'correct the ID, or add absent: true where nobody need hold it' }
}

function heldByText({ ids, holders, mode }: IdentityAssertion): string {
  if (holders.length === 0) return `no container holds ${ids.text}`
  const names = few(holders.map(({ text }) => text)).join('; ')
  return `${ids.text} is held by ${names}${mode === 'exactly' ? ', and by no other' : ''}`
}
