// The way of an identity to a process, hop by hop, and where it ends. Pure.
import { sourceText, ownerOf } from '../../predict/index.ts'
import { NO, YES } from '../../model/truth/truth.ts'
import { atRuntime } from '../../model/truth/unknown.ts'
import { attestedHop } from './attested.ts'
import { madeByHand, type BesideEntry } from './beside.ts'
import type { ChainFacts } from './facts.ts'
import { followsFrom, good, HOP_NAMES, notKnown, type Hop, type HopAnswer, type HopName } from './hop.ts'
import { installedHop } from './installed.ts'
import { onAgentHop } from './on-agent.ts'
import { onServerHop } from './on-server.ts'
import { reachableHop } from './reachable.ts'
import { renderedHop } from './rendered.ts'
import { usedHop } from './used.ts'
import { wantedHop } from './wanted.ts'
import { isRegistered, type ChainSubject } from './subject.ts'

/** What gives an identity. */
export interface ChainRegistration {
  /** `ClusterSPIFFEID/default`, `entry 1234`. */
  readonly source: string
  /** `namespace/name`; undefined: it is of no binding. */
  readonly binding: string | undefined
  /** Undefined: it cannot be told. */
  readonly spiffeId: string | undefined
}

/** The hops of one container. */
export interface Chain {
  readonly subject: ChainSubject
  /** What gives the identities that it follows. */
  readonly registrations: readonly ChainRegistration[]
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
  wanted: wantedHop,
  installed: installedHop,
  rendered: renderedHop,
  'on the server': onServerHop,
  'on the agent': onAgentHop,
  attested: attestedHop,
  reachable: reachableHop,
  used: usedHop,
}

/** Follows an identity. */
export function chainOf(given: ChainFacts): Chain {
  const { subject } = given
  const wanted = wantedHop(given)
  const isLive = isRegistered(subject)
  const byHand = wanted.truth === YES ? madeByHand(given) : []
  // An entry that was made by hand is followed from the server on; the object that came nearest is for another container.
  const facts = byHand.length === 0 ? given : { ...given, subject: { ...subject, candidates: [] } }
  const hops = HOP_NAMES.map((name): Hop => {
    if (name === 'wanted') return { name, ...wanted }
    if (OF_ENTRY.has(name) && byHand.length > 0) {
      const answer = name === 'on the server' ? handMade(byHand, given) : good(heldText(byHand))
      return { name, ...answer }
    }
    if (OF_ENTRY.has(name) && !subject.isGiven && !isLive) return { name, ...followsFrom('wanted') }
    if (name === 'on the server' && !subject.isGiven && renderedHop(facts).truth !== YES)
      return { name, ...followsFrom('rendered') }
    return { name, ...HOPS[name](facts) }
  })
  return {
    subject: facts.subject,
    registrations: [
      ...facts.subject.candidates.map(({ source, binding, assumed }) => ({
        source: sourceText(source),
        binding,
        spiffeId: assumed.spiffeId,
      })),
      ...byHand.map(({ entry: { id, spiffeId } }) => ({
        source: `entry ${id}`,
        binding: undefined,
        spiffeId,
      })),
    ],
    hops,
    broken: hops.find(({ truth }) => truth === NO),
    open: hops.find(({ truth }) => truth !== NO && truth !== YES),
  }
}

/** What nothing declares, SCM deletes where it takes it for its own (docs/spire-facts.md §3): it does not stay. */
function handMade(byHand: readonly BesideEntry[], { subject, parts }: ChainFacts): HopAnswer {
  const owners = byHand.map(({ entry }) => ownerOf(entry, subject.analysis.settings))
  const taken = parts.scm.length === 0 ? undefined : owners.find(({ kind }) => kind !== 'another')
  if (taken === undefined) return good(heldText(byHand))
  const deletes =
    taken.kind === 'scm' ? 'SCM deletes it in its next pass' : 'whether SCM deletes it is not known'
  return notKnown(
    atRuntime(`${heldText(byHand)}, and ${deletes}: ${taken.why}`),
    undefined,
    'register it: a ClusterSPIFFEID, a ClusterStaticEntry or a binding; or give SCM an entryIDPrefix, and it leaves what others make',
  )
}

function heldText(byHand: readonly BesideEntry[]): string {
  return `the server holds ${byHand.map(({ entry }) => `entry ${entry.id}`).join(', ')} as it was made there`
}
