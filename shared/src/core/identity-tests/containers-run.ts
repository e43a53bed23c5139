// Assertions about what containers hold.
import { verdictOf } from '../plan/status.ts'
import type { Registration } from '../spire/registration.ts'
import { containerText, giftText, idsOf, type Holding } from './holding.ts'
import type { ContainerAssertion, WantedIdentity } from './identity-test.ts'
import { choose, isMeant, nothingOf, type Run, type RunFacts } from './run.ts'
import { few, Tally } from './tally.ts'

/** Runs an assertion about what containers hold. */
export function containersRun(assertion: ContainerAssertion, facts: RunFacts): Run {
  const { subject, mode, wanted, absent } = assertion
  const tally = new Tally(facts, absent)
  const { sure, unsure } = choose(facts, subject)
  for (const pod of unsure)
    tally.doubt(`${containerText(pod, '*')}: whether it is meant depends on labels that are not known`)
  return {
    about: sure,
    hear: (holding) => {
      if (!isMeant(subject, holding.container)) return
      tally.saw()
      compareHolding(holding, { mode, wanted }, facts, tally)
    },
    outcome: () =>
      tally.outcome(
        `${subject.text} ${holdsText(mode, wanted)}`,
        () => nothingOf(facts, subject),
        mode === 'exactly',
      ),
  }
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
  holding: Holding,
  { mode, wanted }: Pick<ContainerAssertion, 'mode' | 'wanted'>,
  facts: RunFacts,
  tally: Tally,
): void {
  const { pod, container, held, perhaps, open } = holding
  const who = containerText(pod, container.name)
  const isWanted = (one: Registration): boolean => wanted.some((want) => isThat(one, want, facts))
  if (mode === 'exactly') {
    for (const one of held) if (!isWanted(one)) tally.fail(`${who} holds ${giftText(one, facts.bindings)}`)
    for (const one of perhaps)
      if (!isWanted(one)) tally.doubt(`${who} may hold ${giftText(one, facts.bindings)}: ${one.why ?? ''}`)
    if (open !== undefined) tally.doubt(`${who} may hold any identity: ${open}`)
  }
  for (const want of wanted) {
    if (held.some((one) => isThat(one, want, facts))) continue
    const may = perhaps.find((one) => isThat(one, want, facts))?.why ?? open
    if (may === undefined)
      tally.miss(`${who} does not hold ${wantedText(want)}${reasonOf(holding, want, facts)}`)
    else tally.doubt(`${who} may hold ${wantedText(want)}: ${may}`)
  }
}

function isThat(one: Registration, { spiffeId, hint, source }: WantedIdentity, facts: RunFacts): boolean {
  if (one.spiffeId !== spiffeId) return false
  if (hint !== undefined && one.hint !== hint) return false
  return source === undefined || sourceNames(one, facts).includes(source)
}

/** The ways in which a test may name what gives an identity. */
function sourceNames({ source: { kind, name } }: Registration, { bindings }: RunFacts): readonly string[] {
  const binding = kind === 'ClusterSPIFFEID' ? bindings.get(name) : undefined
  return [`${kind.toLowerCase()}/${name}`, ...(binding === undefined ? [] : [`binding/${binding}`])]
}

/** Why a container does not hold what it should: what becomes of the registration, and what it holds in its place. */
export function reasonOf({ held, others }: Holding, want: WantedIdentity, facts: RunFacts): string {
  const same = held.find(({ spiffeId }) => spiffeId === want.spiffeId)
  if (same !== undefined)
    return `: it holds ${giftText(same, facts.bindings)}, with hint ${JSON.stringify(same.hint)}`
  const missed = others.find(({ spiffeId }) => spiffeId === want.spiffeId)
  if (missed !== undefined)
    return `: ${giftText(missed, facts.bindings)} is ${missed.verdict}: ${missed.why ?? ''}`
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
    const reason = verdictOf(judgement)?.reason ?? judgement.state
    return `binding ${key} asks for it and is not ready (${reason})`
  }
  return undefined
}
