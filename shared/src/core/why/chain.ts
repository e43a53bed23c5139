// The way of an identity to a process, hop by hop, and where it ends. Pure.
import { NO, YES } from '../truth/truth.ts'
import { attestedHop } from './attested.ts'
import type { ChainFacts } from './facts.ts'
import { followsFrom, HOP_NAMES, type Hop, type HopAnswer, type HopName } from './hop.ts'
import { installedHop } from './installed.ts'
import { onAgentHop } from './on-agent.ts'
import { onServerHop } from './on-server.ts'
import { reachableHop } from './reachable.ts'
import { renderedHop } from './rendered.ts'
import { usedHop } from './used.ts'
import { wantedHop } from './wanted.ts'
import type { ChainSubject } from './subject.ts'

/** The hops of one container. */
export interface Chain {
  readonly subject: ChainSubject
  readonly hops: readonly Hop[]
  /** The first that is broken; undefined: none is known to be. */
  readonly broken: Hop | undefined
  /** The first that is not known; undefined: all are known. */
  readonly open: Hop | undefined
}

/** Hops that ask about an entry: without one, nothing can be said of them. */
const OF_ENTRY: ReadonlySet<HopName> = new Set(['installed', 'rendered', 'on the server'])

/** Each hop, by its name. */
const HOPS: Readonly<Record<HopName, (facts: ChainFacts) => HopAnswer>> = {
  wanted: ({ subject }) => wantedHop(subject),
  installed: installedHop,
  rendered: renderedHop,
  'on the server': onServerHop,
  'on the agent': onAgentHop,
  attested: attestedHop,
  reachable: reachableHop,
  used: usedHop,
}

/** Follows an identity. */
export function chainOf(facts: ChainFacts): Chain {
  const isWanted =
    facts.subject.isGiven || facts.subject.candidates.some(({ assumed }) => assumed.verdict !== 'dead')
  const isMade = facts.subject.isGiven
  const hops = HOP_NAMES.map((name): Hop => {
    if (OF_ENTRY.has(name) && !isWanted) return { name, ...followsFrom('wanted') }
    if (name === 'on the server' && !isMade) return { name, ...followsFrom('rendered') }
    return { name, ...HOPS[name](facts) }
  })
  return {
    subject: facts.subject,
    hops,
    broken: hops.find(({ truth }) => truth === NO),
    open: hops.find(({ truth }) => truth !== NO && truth !== YES),
  }
}
