// Assertions about who holds an identity.
import { lazy } from '../../base/lazy.ts'
import type { Container, Pod } from '../../model/objects/pod.ts'
import type { ContainerSelector } from './container-selector.ts'
import type { Registration } from '../../predict/index.ts'
import { reasonOf, unsureText } from './containers-run.ts'
import type { ContainerHolding } from '../../analysis/index.ts'
import { NO, whyOpenText, YES, type Truth } from '../../model/truth/truth.ts'
import { becomes, giftText, openText, othersOf, whoText } from './holding-text.ts'
import { IN_PART, type IdPattern } from './id-pattern.ts'
import type { IdentityAssertion } from './identity-test.ts'
import {
  choose,
  isMeant,
  meansAny,
  nothingOf,
  type AssertionRun,
  type NoMatch,
  type RunFacts,
} from './run.ts'
import { few, Tally } from './tally.ts'

/** Runs an assertion about who holds an identity. */
export function identitiesRun(assertion: IdentityAssertion, facts: RunFacts): AssertionRun {
  const { ids, holders, mode, absent } = assertion
  // An identity may be held anywhere.
  const tally = new Tally(facts.incomplete(undefined), absent)
  /** Of each selector the pods whose containers should hold it. */
  const expected: { readonly selector: ContainerSelector; readonly pods: () => ReadonlySet<Pod> }[] = []
  const about: (readonly Pod[])[] = []
  const unsure = new Set<Pod>()
  for (const selector of holders) {
    const chosen = choose(facts, selector)
    if (!absent) tally.meets(meansAny(facts, selector), () => nothingOf(facts, selector))
    for (const pod of chosen.unsure) unsure.add(pod)
    expected.push({ selector, pods: lazy(() => new Set(chosen.sure)) })
    about.push(chosen.sure)
  }
  for (const pod of unsure)
    if (!expected.some(({ pods }) => pods().has(pod))) tally.doubt(() => unsureText(pod))
  const fits = ({ spiffeId }: Registration): Truth => ids.match(spiffeId ?? '').fits
  const certainly = (list: readonly Registration[]): Registration | undefined =>
    list.find((one) => fits(one) === YES)
  const perhaps = (list: readonly Registration[]): Registration | undefined =>
    list.find((one) => fits(one) !== NO)
  const isExpected = ({ pod, container }: ContainerHolding): boolean =>
    expected.some(({ selector, pods }) => isMeant(selector, container) && pods().has(pod))
  // It hears of the pods that it is about: of one selector, the container is all that is left to ask.
  const [only, ...others] = expected
  const isAbout =
    only === undefined || others.length > 0
      ? isExpected
      : ({ container }: ContainerHolding): boolean => isMeant(only.selector, container)
  // The last one that it has heard of: most containers that hold the ID are those. What it holds is let go: ten thousand
  // assertions would keep it from one pod to the next, and the collector would move it each time.
  let lastPod: Pod | undefined
  let lastContainer: Container | undefined
  const run: AssertionRun = {
    about: about.length === 1 ? (about[0] ?? []) : [...new Set(about.flat())],
    ids,
    hear: (holding) => {
      if (!isAbout(holding)) return
      lastPod = holding.pod
      lastContainer = holding.container
      tally.saw(holding)
      const { held } = holding
      if (certainly(held) !== undefined) return
      const partly = perhaps(held) === undefined ? undefined : whyOpenText(IN_PART)
      const may = partly ?? perhaps(holding.perhaps)?.why ?? whyOpenText(holding.other)
      if (may === undefined)
        tally.miss(
          () =>
            `${whoText(holding)} does not hold it${missedText(holding, facts, ids, certainly(othersOf(holding)))}`,
          holding,
        )
      else tally.doubt(() => `${whoText(holding)} may hold it: ${may}`)
    },
    hearHolder: (holding) => {
      if ((holding.pod === lastPod && holding.container === lastContainer) || isExpected(holding)) return
      tally.saw(holding)
      if (mode === 'atLeast') return
      const who = (): string => whoText(holding)
      const held = certainly(holding.held)
      const may = perhaps([...holding.held, ...holding.perhaps])
      if (unsure.has(holding.pod))
        tally.doubt(() => `${who()} holds it, and whether it is meant is undetermined`)
      else if (held !== undefined)
        tally.fail(() => `${who()} holds ${giftText(held, facts.bindings)}`, holding)
      else if (may !== undefined)
        tally.doubt(
          () =>
            `${who()} may hold ${giftText(may, facts.bindings)}: ${may.why ?? 'a part of it is not known'}`,
        )
    },
    hearOpen: (holding) => {
      if (mode === 'atLeast' || isExpected(holding)) return
      tally.doubt(() => openText(holding))
    },
    outcome: () => tally.outcome(heldByText(assertion), () => noHolder(ids.text)),
  }
  // No holder is meant, and none is found: that is what was stated.
  if (holders.length === 0) tally.sawNothing()
  return run
}

function missedText(
  holding: ContainerHolding,
  facts: RunFacts,
  ids: IdPattern,
  missed: Registration | undefined,
): string {
  if (missed !== undefined)
    return `: ${giftText(missed, facts.bindings)} ${becomes(missed)}: ${missed.why ?? ''}`
  return reasonOf(holding, { spiffeId: ids.text, ids, hint: undefined, source: undefined }, facts)
}

/** Why an assertion about holders is about nothing. */
export function noHolder(id: string): NoMatch {
  return {
    why: `no container holds ${id}`,
    fix: 'correct the ID, or add absent: true if no container must hold it',
  }
}

function heldByText({ ids, holders, mode }: IdentityAssertion): string {
  if (holders.length === 0) return `no container holds ${ids.text}`
  const names = few(holders.map(({ text }) => text)).join('; ')
  return `${ids.text} is held by ${names}${mode === 'exactly' ? ', and by no other' : ''}`
}
