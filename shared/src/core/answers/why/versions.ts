// Pairs of server and agent that users have reported as not working together, with sources: a note beside a chain, and never
// the broken hop, since a pair that was reported by some works for others.

/** A pair that was reported. */
export interface ReportedPair {
  /** Both ends of the range that was reported, versions as images are tagged. */
  readonly server: string
  readonly agent: string
  readonly what: string
  readonly source: string
}

/** All of them. */
export const REPORTED_PAIRS: readonly ReportedPair[] = [
  {
    server: '1.15.2',
    agent: '1.15.2',
    what: 'new entries do not reach agents, while workloads that have their SVIDs keep them',
    source: 'https://github.com/spiffe/spire/issues/7198',
  },
  {
    server: '1.15.1',
    agent: '1.15.2',
    what: 'a new entry takes about two minutes to reach agents',
    source: 'https://github.com/spiffe/spire/issues/7198',
  },
]

/** What agents may be beside their server: https://github.com/spiffe/spire/blob/v1.15.3/doc/upgrading.md */
const UPGRADING = 'https://github.com/spiffe/spire/blob/v1.15.3/doc/upgrading.md'

/** What is known of the servers and the agent of a chain, a clause each. */
export function versionNotes(servers: readonly string[], agent: string | undefined): readonly string[] {
  if (agent === undefined) return []
  const reported = REPORTED_PAIRS.filter((one) => one.agent === agent && servers.includes(one.server)).map(
    ({ server, what, source }) =>
      `server ${server} with agent ${agent}: ${what}, as was reported (${source})`,
  )
  const older = servers
    .filter((server) => minorOf(agent) > minorOf(server))
    .map(
      (server) =>
        `agent ${agent} is newer than server ${server}, which SPIRE does not support (${UPGRADING})`,
    )
  return [...reported, ...older]
}

/** `1.15.3` as 1_015. */
function minorOf(version: string): number {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  return major * 1000 + minor
}
