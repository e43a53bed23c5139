// Entries of the server that no object asks for, and that give a container an identity all the same: made by hand, by another
// registrar, or left over. Whether a container gets one depends on its selectors and on its parent: the agent of the node, or an alias
// that the agent has (docs/spire-facts.md §6).
import { judgeServerEntry, clusterOfParent, type ServerEntry } from '../../predict/index.ts'
import { all, any, known, NO, not, open, YES, type Truth } from '../../model/truth/truth.ts'
import { atRuntime } from '../../model/truth/unknown.ts'
import { type ChainFacts, agentOfPod, configOfPod, hasExpired } from './facts.ts'
import { nodeUidOf } from './subject.ts'

/** An entry that no object asks for. */
export interface BesideEntry {
  readonly entry: ServerEntry
  /** Whether the container gets it: yes, or open. */
  readonly given: Truth
}

/** Those of the identity that is asked about, in the order of the dump. */
export function besideEntries(facts: ChainFacts): readonly BesideEntry[] {
  const { server, subject } = facts
  if (server === undefined) return []
  const extra = new Set(server.differences.flatMap((one) => (one.kind === 'extra' ? one.entry.id : [])))
  return server.entries.flatMap((entry) => {
    if (!extra.has(entry.id) || (subject.spiffeId ?? entry.spiffeId) !== entry.spiffeId) return []
    const given = all(
      hasSelectors(entry, facts),
      isOfAgent(entry.parentId, facts),
      not(hasExpired(entry, facts)),
    )
    return given === NO ? [] : [{ entry, given }]
  })
}

/** Those that the container certainly gets where no object registers it: then the way of its identity begins at the server. */
export function madeByHand(facts: ChainFacts): readonly BesideEntry[] {
  const { isGiven, candidates } = facts.subject
  if (isGiven || candidates.some(({ assumed }) => assumed.verdict !== 'dead')) return []
  return besideEntries(facts).filter(({ given }) => given === YES)
}

/** Whether the log shows that the agent has handed out every identity that is meant. */
export function isHandedOut(facts: ChainFacts): boolean {
  const { subject, agent } = facts
  const byHand = madeByHand(facts).map(({ entry }) => entry.spiffeId)
  const ids = byHand.length > 0 ? byHand : subject.candidates.map(({ assumed }) => assumed.spiffeId ?? '')
  return ids.length > 0 && ids.every((id) => agent?.fetched.has(id) === true)
}

/** `entry abc of the server, which no object asks for`. */
export function besideText({ entry: { id } }: BesideEntry): string {
  return `entry ${id} of the server, which no object asks for`
}

/**
 * Whether the container has each selector, as its pod shows; selectors that the pod does not show are taken from what its agent
 * found.
 */
function hasSelectors({ selectors, fields }: ServerEntry, { subject, agent }: ChainFacts): Truth {
  const { pod, container } = subject
  const ofPod = judgeServerEntry(pod, container, { selectors, fields })
  if (ofPod.state === 'dead') return NO
  if (ofPod.state === 'issued') return YES
  const attested = new Set(agent?.attested?.selectors)
  const untold = selectors.filter((one) => !attested.has(one))
  const { state } = judgeServerEntry(pod, container, { selectors: untold, fields })
  if (state === 'issued') return YES
  return agent?.attested?.isWhole === true ? NO : open({ kind: 'verdict', of: {}, why: ofPod.why })
}

/** The trust domain of a SPIFFE ID. */
export function domainOf(id: string): string {
  return id.split('/')[2] ?? ''
}

/** Whether the agent of the pod's node is the parent, or has an alias that is. */
function isOfAgent(parentId: string, facts: ChainFacts): Truth {
  const { subject, agent: log, server } = facts
  if (log?.ownId === parentId) return YES
  const { trustDomain } = subject.analysis.settings
  if (trustDomain !== undefined && domainOf(parentId) !== trustDomain) return NO
  const cluster = clusterOfParent({ parentId })
  if (cluster === undefined) {
    const aliases = (server?.ofNodes ?? []).filter(({ spiffeId }) => spiffeId === parentId)
    return aliases.length === 0 ? ALIAS : any(...aliases.map((one) => hasAlias(one, facts)))
  }
  // SPIRE 1.15.3 can end an ID in the UID of the agent's pod (`use_pod_uid_for_agent_id`).
  if (parentId.includes('/pod/')) return log?.ownId === undefined ? ALIAS : NO
  const { settings } = subject.analysis
  const uid = nodeUidOf(subject)
  if (uid === undefined) return NODE
  const own = configOfPod(facts)?.cluster ?? settings.clusterName
  return known(parentId.endsWith(`/${uid}`) && (own ?? cluster) === cluster)
}

const ALIAS = open(
  atRuntime(
    "whether the agent of the node has the entry's parent is known to the server: spire-server agent list",
  ),
)
const NODE = open(atRuntime("which agent is that of the pod's node is not known", 'Node'))

/** Whether the agent of the node has each selector of the entry that gives agents an alias. */
function hasAlias({ selectors }: ServerEntry, facts: ChainFacts): Truth {
  const { subject, agent: log } = facts
  const agent = agentOfPod(facts)
  const uid = nodeUidOf(subject)
  const has = new Map([
    ['k8s_psat:cluster', configOfPod(facts)?.cluster ?? subject.analysis.settings.clusterName],
    ['k8s_psat:agent_node_name', subject.pod.nodeName],
    ['k8s_psat:agent_node_uid', uid],
    ['k8s_psat:agent_ns', agent?.namespace],
    ['k8s_psat:agent_sa', agent?.account],
    ['spiffe_id', log?.ownId],
  ])
  return all(
    ...selectors.map((one) => {
      const kind = [...has.keys()].find((name) => one.startsWith(`${name}:`))
      const own = kind === undefined ? undefined : has.get(kind)
      return own === undefined ? ALIAS : known(one === `${kind}:${own}`)
    }),
  )
}
