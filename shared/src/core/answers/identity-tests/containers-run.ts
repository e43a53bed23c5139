// Assertions about what containers hold.
import { verdictOf } from '../../decide/index.ts'
import type { Pod } from '../../model/objects/pod.ts'
import type { Registration } from '../../predict/index.ts'
import { idsOf, type ContainerHolding } from '../../analysis/index.ts'
import { any, NO, whyOpenText, YES, type Truth } from '../../model/truth/truth.ts'
import { becomes, containerText, giftText, openText, othersOf, whoText } from './holding-text.ts'
import type { ContainerSelector } from './container-selector.ts'
import type { ContainerAssertion, WantedIdentity } from './identity-test.ts'
import { choose, isMeant, nothingOf, perhapsMeant, type AssertionRun, type RunFacts } from './run.ts'
import { few, Tally } from './tally.ts'

/** Runs an assertion about what containers hold. */
export function containersRun(assertion: ContainerAssertion, facts: RunFacts): AssertionRun {
  const { subject, mode, wanted, absent } = assertion
  const { sure, tally } = tallied(subject, absent, facts)
  return {
    about: sure,
    hear: (holding) => {
      if (!isMeant(subject, holding.container)) return
      tally.saw(holding)
      compareHolding(holding, { mode, wanted }, facts, tally)
    },
    outcome: () =>
      tally.outcome(`${eachOf(subject.text)} ${holdsText(mode, wanted)}`, () => nothingOf(facts, subject)),
  }
}

/** The pods that a selector certainly means, and a tally for their containers. */
export function tallied(
  selector: ContainerSelector,
  absent: boolean,
  facts: RunFacts,
): { readonly sure: readonly Pod[]; readonly tally: Tally } {
  const { sure, unsure } = choose(facts, selector)
  const made = sure.length === 0 ? perhapsMeant(facts, selector) : undefined
  const tally = new Tally(facts.incomplete(selector.written.namespace) ?? made, absent)
  for (const pod of unsure) tally.doubt(() => unsureText(pod))
  return { sure, tally }
}

/** What is said of several pods is said of each. */
function eachOf(subject: string): string {
  return subject.startsWith('pods ') ? `each of ${subject}` : subject
}

function holdsText(mode: 'exactly' | 'atLeast', wanted: readonly WantedIdentity[]): string {
  if (wanted.length === 0) return 'holds no identity'
  const ids = few(wanted.map(wantedText)).join(', ')
  return mode === 'exactly' ? `holds exactly ${ids}` : `holds ${ids}`
}

function wantedText({ spiffeId, hint, source }: WantedIdentity): string {
  const parts = [
    ...(hint === undefined ? [] : [`hint ${JSON.stringify(hint)}`]),
    ...(source === undefined ? [] : [`by ${source}`]),
  ]
  return parts.length === 0 ? spiffeId : `${spiffeId} (${parts.join(', ')})`
}

function compareHolding(
  holding: ContainerHolding,
  { mode, wanted }: Pick<ContainerAssertion, 'mode' | 'wanted'>,
  facts: RunFacts,
  tally: Tally,
): void {
  const { held, perhaps, other } = holding
  const who = (): string => whoText(holding)
  if (mode === 'exactly')
    holdsOnly(holding, (one) => any(...wanted.map((want) => matchOf(one, want, facts))), facts, tally)
  for (const want of wanted) {
    const isIt = any(...held.map((one) => matchOf(one, want, facts)))
    if (isIt === YES) continue
    const may =
      whyOpenText(isIt) ?? perhaps.find((one) => matchOf(one, want, facts) !== NO)?.why ?? whyOpenText(other)
    if (may === undefined)
      tally.miss(() => `${who()} does not hold ${wantedText(want)}${reasonOf(holding, want, facts)}`, holding)
    else tally.doubt(() => `${who()} may hold ${wantedText(want)}: ${may}`)
  }
}

/** Whether a container holds nothing but what is allowed. */
export function holdsOnly(
  holding: ContainerHolding,
  isAllowed: (one: Registration) => Truth,
  { bindings }: RunFacts,
  tally: Tally,
): void {
  const { held, perhaps, other } = holding
  for (const one of held) {
    const match = isAllowed(one)
    if (match === YES) continue
    const line = (): string => `${whoText(holding)} holds ${giftText(one, bindings)}`
    if (match === NO) tally.fail(line, holding)
    else tally.doubt(() => `${line()}: ${whyOpenText(match) ?? ''}`)
  }
  for (const one of perhaps)
    if (isAllowed(one) !== YES)
      tally.doubt(() => `${whoText(holding)} may hold ${giftText(one, bindings)}: ${one.why ?? ''}`)
  if (other !== NO) tally.doubt(() => openText(holding))
}

/** That it is not known whether a pod is meant. */
export function unsureText(pod: Pod): string {
  return `${containerText(pod, '*')}: whether it is meant is undetermined`
}

function matchOf(one: Registration, { ids, hint, source }: WantedIdentity, facts: RunFacts): Truth {
  if (hint !== undefined && one.hint !== hint) return NO
  if (source !== undefined && !sourceNames(one, facts).includes(source)) return NO
  return ids.match(one.spiffeId ?? '').fits
}

/** The ways in which a test may name what gives an identity. */
function sourceNames({ source: { kind, name } }: Registration, { bindings }: RunFacts): readonly string[] {
  const binding = kind === 'ClusterSPIFFEID' ? bindings.get(name) : undefined
  return [`${kind.toLowerCase()}/${name}`, ...(binding === undefined ? [] : [`binding/${binding}`])]
}

/** Why a container does not hold what it should: what becomes of the registration, and what it holds in its place. */
export function reasonOf(holding: ContainerHolding, want: WantedIdentity, facts: RunFacts): string {
  const { held } = holding
  const same = held.find(({ spiffeId }) => spiffeId === want.spiffeId)
  if (same !== undefined)
    return `: it holds ${giftText(same, facts.bindings)}, with hint ${JSON.stringify(same.hint)}`
  const missed = othersOf(holding).find(({ spiffeId }) => spiffeId === want.spiffeId)
  if (missed !== undefined)
    return `: ${giftText(missed, facts.bindings)} ${becomes(missed)}: ${missed.why ?? ''}`
  const refused = bindingFor(want.spiffeId, facts)
  const instead = held.length === 0 ? 'it holds none' : `it holds ${few(idsOf(held)).join(', ')}`
  return `: ${refused ?? 'nothing gives it that ID'}; ${instead}`
}

/** A binding that asks for the ID and is not ready. */
function bindingFor(spiffeId: string, { analysis }: RunFacts): string | undefined {
  for (const [key, judgement] of analysis.settled.judgements) {
    const { result } = judgement.compiled
    const wants = result.kind === 'resolved' ? result.identity.spiffeId : undefined
    if (wants !== spiffeId || judgement.state === 'ready') continue
    return `binding ${key} asks for it and is not ready (${verdictOf(judgement).reason})`
  }
  return undefined
}
