// The fifth hop: the agent of the pod's node, whether it is there and ready, and whether the entry is one of its own.
import { present } from '../../base/present.ts'
import { clusterOfParent } from '../../predict/index.ts'
import { DEFAULT_RELOAD_SECONDS } from '../../analysis/index.ts'
import { AGENT_DEFAULTS } from '../../model/objects/agent-config.ts'
import { isHandedOut, madeByHand } from './beside.ts'
import { nodeUidOf, type ChainCandidate } from './subject.ts'
import { type ChainFacts, agentOfPod, agentLogOfPod, configOfPod } from './facts.ts'
import {
  broken,
  followsFrom,
  good,
  notKnown,
  unreadHop,
  worstOf,
  type HopAnswer,
  notShown,
  notYet,
} from './hop.ts'
import { entryOf } from './on-server.ts'
import { whyUnserved } from '../../model/objects/spire-setup.ts'
import { atRuntime, type Unknown } from '../../model/truth/unknown.ts'
import { agentsOn, configOf, isProvenAgent, type AgentPod, type SpireParts } from './spire-parts.ts'
import { versionNotes } from './versions.ts'

/** Beside the two intervals, what either side takes to work. */
const MARGIN_SECONDS = 5
/** An interval that no one reads is no longer than this: pkg/agent/manager/manager.go of SPIRE v1.15.3 (`synchronizeMaxInterval`). */
const MOST_SECONDS = 480
/** So many failures in a row are no accident: an agent tries again after five seconds, and later after minutes. */
const FAILURES = 2

const NO_NODE_YET: Unknown = atRuntime(
  'the pod is on no node yet, and its node decides which agent serves it',
  'Node',
)

/** Judges the hop. */
export function onAgentHop(facts: ChainFacts): HopAnswer {
  const { subject, parts } = facts
  const { pod } = subject
  // An SVID that was handed out shows all of it.
  if (isHandedOut(facts)) return good('the agent has handed the SVID out')
  if (pod.nodeName === undefined) return notKnown(NO_NODE_YET)
  const agent = agentOfPod(facts)
  const there = agentThere(parts, pod.nodeName, agent)
  const notes = versionNotes(parts.serverVersions, agent?.version)
  const whole = worstOf(
    present(
      there,
      sync(facts),
      ...subject.candidates.map((one) => isItsEntry(one, facts, agent)),
      // Whether the agent has its parent was asked before it was counted in.
      ...madeByHand(facts).map(({ entry }) =>
        young(entry.createdAt, facts.server?.asOf ?? facts.now, hearsWithin(facts)),
      ),
      ...held(facts),
      waitsForSvid(facts),
    ),
    there,
  )
  return { ...whole, notes: present(...notes, cacheNote(facts), ...(whole.notes ?? [])) }
}

/** Whether a node has an agent that is ready. */
export function agentThere(parts: SpireParts, node: string, agent: AgentPod | undefined): HopAnswer {
  if (agent === undefined) {
    if (parts.agentGaps.length > 0) return unreadHop(parts.agentGaps)
    if (!parts.agents.some((one) => isProvenAgent(parts, one) || one.node === node))
      return notShown(
        `no pod that runs a SPIRE agent was found; one may run on node ${node} outside Kubernetes or under another name`,
        `look for a process spire-agent on node ${node}`,
        'Pod',
      )
    const like = agentsOn(parts, node)
    const proven = like.filter((one) => isProvenAgent(parts, one))
    const [forged] = like
    if (proven.length > 0)
      return notKnown(
        agentUnknown(
          `which of ${proven
            .slice(0, 3)
            .map(agentText)
            .join(', ')} is the agent of node ${node} is not known: pods of several namespaces can be`,
        ),
        undefined,
        'remove the pod that does not belong to SPIRE',
      )
    if (forged !== undefined)
      return notKnown(
        agentUnknown(
          `no pod on node ${node} is known to be its agent: ${agentText(forged)} ${whyNotProven(parts, forged)}`,
        ),
        undefined,
        `look for a process spire-agent on node ${node}, and remove a pod that does not belong to SPIRE`,
      )
    const others = parts.agents
      .filter((one) => isProvenAgent(parts, one))
      .map((one) => one.node)
      .filter((one) => one !== undefined)
    const where = others.length === 0 ? '' : `; agents run on ${[...new Set(others)].slice(0, 3).join(', ')}`
    return broken(
      `no SPIRE agent runs on node ${node}${where}`,
      "give the agents' DaemonSet the tolerations and the node selector that the node asks for",
    )
  }
  const { namespace, name, isReady, waits } = agent
  if (isReady === undefined)
    return notShown(
      `whether agent pod ${namespace}/${name} is ready was not given`,
      `kubectl get pod -n ${namespace} ${name}`,
      'Pod',
    )
  return isReady
    ? good(`agent pod ${namespace}/${name} on node ${node} is ready`)
    : broken(
        `agent pod ${namespace}/${name} is not ready${waits === undefined ? '' : ` (${waits})`}`,
        `see why: kubectl logs -n ${namespace} ${name}`,
      )
}

function agentUnknown(why: string): Unknown {
  return atRuntime(why, 'Pod')
}

function agentText({ namespace, name }: AgentPod): string {
  return `${namespace}/${name}`
}

function whyNotProven({ agentAccounts = [] }: SpireParts, { account, seesProcesses }: AgentPod): string {
  return seesProcesses
    ? `runs under the service account ${account}, and the server takes those of ${agentAccounts.join(', ')} alone`
    : 'does not share the process IDs of the node (hostPID), as an agent must'
}

/** Whether the agent hears of its server, as its log says. */
function sync(facts: ChainFacts): HopAnswer | undefined {
  const { agent: log } = facts
  if (log === undefined || log.syncFailures === 0) return undefined
  const text = `the agent does not get its entries: its log says Synchronize failed (${log.syncError ?? ''})`
  return log.syncFailures >= FAILURES
    ? broken(
        text,
        'see whether it reaches the server, and whether the server still knows it: its address, its bundle, its attestation',
      )
    : notShown('the agent failed once to ask its server at the end of its log', agentLogOfPod(facts))
}

/** Whether the parent of the entry is the agent of the node. */
function isItsEntry(candidate: ChainCandidate, facts: ChainFacts, agent: AgentPod | undefined): HopAnswer {
  const { subject, parts, server, agent: log, now } = facts
  const entry = entryOf(candidate, server)
  const parentId = entry?.parentId ?? candidate.assumed.outcome.entry?.parentId
  if (parentId === undefined) return followsFrom('rendered')
  if (log?.ownId === parentId) return young(entry?.createdAt, server?.asOf ?? now, hearsWithin(facts))
  const cluster = clusterOfParent({ parentId })
  const config = configOf(parts, agent)
  const node = subject.pod.nodeName ?? ''
  if (cluster !== undefined && config?.cluster !== undefined && config.cluster !== cluster)
    return broken(
      `the entry is for agents of cluster ${cluster}, and the agent of node ${node} is of cluster ${config.cluster}`,
      `set clusterName of SCM's configuration (${subject.analysis.settings.source}) to ${config.cluster}, or cluster in ${config.source}`,
    )
  const nodeGap = subject.analysis.snapshot.rest.of('Node')
  if (nodeGap !== undefined) return unreadHop([nodeGap])
  const uid = nodeUidOf(subject)
  if (cluster !== undefined && uid !== undefined && !parentId.endsWith(`/${uid}`))
    return broken(
      `the entry is for the agent of another node than ${node}, or of the node before it was made anew: its parent is ${parentId}`,
      'wait for the next pass of SCM; if it stays, read its log',
    )
  if (
    log?.ownId !== undefined &&
    cluster !== undefined &&
    clusterOfParent({ parentId: log.ownId }) !== undefined
  )
    return broken(
      `the parent of the entry is ${parentId}, and the agent is ${log.ownId}`,
      "set clusterName of SCM's configuration to the cluster of the agents",
    )
  const { settings, snapshot } = subject.analysis
  const unserved = whyUnserved(settings, snapshot.spireSetup)
  if (unserved?.isOnServer === true) return notShown(unserved.why, 'ask the server: spire-server agent list')
  if (
    cluster !== undefined &&
    uid !== undefined &&
    (config?.cluster !== undefined || parts.configGaps.length === 0)
  )
    return young(entry?.createdAt, server?.asOf ?? now, hearsWithin(facts))
  if (cluster !== undefined && parts.configGaps.length > 0) return unreadHop(parts.configGaps)
  return notShown(
    `whether ${parentId} is the agent of node ${node} is known to the server`,
    'ask the server: spire-server agent list',
  )
}

/** How long it takes at most until the agent of the pod's node hears of a new entry, in seconds, as far as both are set. */
function hearsWithin(facts: ChainFacts): number {
  const { syncSeconds = AGENT_DEFAULTS.syncSeconds } = configOfPod(facts) ?? {}
  return syncSeconds + (facts.parts.reloadSeconds ?? DEFAULT_RELOAD_SECONDS) + MARGIN_SECONDS
}

/** An entry that is younger than an agent takes to hear of it. */
function young(createdAt: number | undefined, asOf: number | undefined, within: number): HopAnswer {
  if (createdAt === undefined || asOf === undefined || asOf - createdAt > within)
    return good("the entry is that of the node's agent")
  return notYet(
    `the entry is ${Math.max(0, asOf - createdAt)} s old, and the agent takes up to ${within} s to receive it (sync_interval, and cache_reload_interval of the server)`,
    `ask again in ${within} seconds`,
  )
}

/** An agent keeps the SVIDs of so many entries, and signs others when they are asked for: then a process waits. */
function cacheNote(facts: ChainFacts): string | undefined {
  const { subject, server } = facts
  const [parent] = subject.candidates.flatMap(({ assumed }) => assumed.outcome.entry?.parentId ?? [])
  const count = parent === undefined ? 0 : (server?.perParent.get(parent) ?? 0)
  const most = configOfPod(facts)?.svidsKept ?? AGENT_DEFAULTS.svidsKept
  return count <= most
    ? undefined
    : `the agent has ${count} entries, and keeps the SVIDs of ${most} (x509_svid_cache_max_size); a process that asks for another waits for its signature (${CACHE_SOURCE})`
}

const CACHE_SOURCE = 'https://github.com/spiffe/spire/blob/v1.15.3/doc/spire_agent.md'

/** The agent holds the entry, and must still get its SVID signed. */
function waitsForSvid(facts: ChainFacts): HopAnswer | undefined {
  if (facts.agent?.isWaiting !== true) return undefined
  return notKnown(
    agentUnknown('the agent holds an entry of the process, and waits for its SVID to be signed'),
    undefined,
    `see whether it gets one: ${agentLogOfPod(facts)}; if it still waits, look for what the server refuses to sign, and raise x509_svid_cache_max_size above the number of entries`,
  )
}

/** That the agent refused a process which has every selector of an entry shows that it does not hold the entry. */
function held(facts: ChainFacts): readonly HopAnswer[] {
  const { subject, server, agent: log } = facts
  if (log?.refusedAt === undefined || log.attested === undefined) return []
  const has = new Set(log.attested.selectors)
  const isSet = configOfPod(facts) !== undefined
  const within = hearsWithin(facts) + (isSet ? 0 : MOST_SECONDS)
  const entries = [
    ...subject.candidates.map((one) => entryOf(one, server)),
    ...madeByHand(facts).map(({ entry }) => entry),
  ]
  return entries.flatMap((entry) => {
    const isOlder = entry?.createdAt !== undefined && (log.refusedAt ?? 0) - entry.createdAt > within
    return entry !== undefined && isOlder && entry.selectors.every((selector) => has.has(selector))
      ? broken(
          `the agent does not hold the entry ${entry.id}: it has refused a process that has each of its selectors`,
          'see what the agent logs of its server; compare the versions of the two',
        )
      : []
  })
}
