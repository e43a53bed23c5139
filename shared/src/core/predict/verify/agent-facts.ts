// What the log of an agent says about one container beside its selectors: that attestation failed, that the agent refused it,
// that it got its SVID. And about the agent: its ID, and whether it reaches its server. Sources: SPIRE v1.15.3,
// pkg/agent/plugin/workloadattestor/k8s/k8s.go, pkg/agent/endpoints/workload/handler.go, pkg/agent/manager/manager.go,
// pkg/agent/manager/cache/lru_cache.go, pkg/agent/attestor/node/node.go.
import {
  ATTESTED,
  fieldOfLine,
  mayBeOf,
  readAgentLog,
  REFUSED,
  selectorsIn,
  selectorsOfLine,
  type AttestedSelectors,
} from './agent-log.ts'
import { secondsOf } from './causes.ts'

/** What is known of an agent and of the process that asks it. */
export interface AgentLogFacts {
  /** What it found for the last process of the container; undefined: nothing tells. */
  readonly attested: AttestedSelectors | undefined
  /** Why nothing tells it. */
  readonly whyNone: string | undefined
  /** What keeps it from attesting the container, as the last of its lines about that says. */
  readonly trouble: 'kubelet' | 'container' | undefined
  /** It has refused the last process, in seconds since 1970; undefined: it has not, or no line says when. */
  readonly refusedAt: number | undefined
  /** The IDs of the SVIDs that it handed to the last process. */
  readonly fetched: ReadonlySet<string>
  /** It holds an entry of the last process, and must still get an SVID of it. */
  readonly isWaiting: boolean
  /** How often in a row it failed to ask its server at the end of the log. */
  readonly syncFailures: number
  /** Why, as it says. */
  readonly syncError: string | undefined
  /** Its own ID; undefined: the log does not go back so far. */
  readonly ownId: string | undefined
}

/** Selectors that were given by hand: they are all that is known of the agent. */
export function factsOfSelectors(selectors: readonly string[]): AgentLogFacts {
  return { ...NOTHING, attested: { selectors, isWhole: false } }
}

const NOTHING: AgentLogFacts = {
  attested: undefined,
  whyNone: undefined,
  trouble: undefined,
  refusedAt: undefined,
  fetched: new Set(),
  isWaiting: false,
  syncFailures: 0,
  syncError: undefined,
  ownId: undefined,
}

const KUBELET = /unable to get pod list; giving up|unable to perform request|status code on pods response/i
const CONTAINER = /container id not found; giving up/i
const SYNC_FAILED = 'Synchronize failed'
/** What an agent logs once it has heard of its server. */
const SYNCED =
  /Entry (?:created|updated|removed)|Renewing stale entries|Creating X509-SVID|Bundle (?:added|updated)/
const FETCHED = 'Fetched X.509 SVID'
/** pkg/agent/manager/cache/lru_cache.go */
const WAITING = 'Waiting for SVID to get cached'
const JOINED = /Node attestation was successful|SVID loaded|Successfully rotated agent SVID/

/** Reads a log, or a part of one. Never throws. */
export function readAgentFacts(text: string, of: Parameters<typeof readAgentLog>[1]): AgentLogFacts {
  const reading = readAgentLog(text, of)
  const facts = {
    ...NOTHING,
    attested: reading.ok ? { selectors: reading.selectors, isWhole: reading.isWhole } : undefined,
    whyNone: reading.ok ? undefined : reading.why,
    fetched: new Set<string>(),
  }
  let pid: unknown
  for (const line of text.split(/\r?\n/)) {
    if (line.includes(ATTESTED) || line.includes(REFUSED)) {
      const found = selectorsOfLine(line)
      const isOfPid = pid !== undefined && fieldOfLine(line, 'pid') === pid
      if (found === undefined ? isOfPid : mayBeOf(found, of)) {
        facts.trouble = undefined
        // A process that goes on to ask is refused without another attestation once its entries are gone.
        facts.fetched = new Set()
        if (line.includes(REFUSED)) facts.refusedAt = secondsOf(textAt(line, 'time')) ?? facts.refusedAt
        else {
          pid = fieldOfLine(line, 'pid')
          facts.refusedAt = undefined
          facts.isWaiting = false
        }
      } else if (found !== undefined) {
        // A process of another container: the node has given it the number of the one before, or it was moved.
        if (isOfPid) pid = undefined
        if (facts.trouble === 'kubelet') facts.trouble = undefined
      }
    } else if (line.includes(FETCHED)) {
      if (pid !== undefined && fieldOfLine(line, 'pid') === pid) {
        facts.fetched.add(textAt(line, 'spiffe_id') ?? '')
        facts.isWaiting = false
      }
    } else if (line.includes(WAITING)) {
      const found = selectorsIn(fieldOfLine(line, 'selectors'))
      if (found.length > 0 && mayBeOf({ selectors: found, isWhole: true }, of)) facts.isWaiting = true
    } else if (KUBELET.test(line)) facts.trouble = 'kubelet'
    else if (CONTAINER.test(line)) {
      const uid = fieldOfLine(line, 'pod_uid')
      if (uid === undefined || uid === of.podUid) facts.trouble = 'container'
    } else if (line.includes(SYNC_FAILED)) {
      facts.syncFailures += 1
      facts.syncError = textAt(line, 'error')
    } else if (SYNCED.test(line)) facts.syncFailures = 0
    else if (JOINED.test(line)) facts.ownId = textAt(line, 'spiffe_id') ?? facts.ownId
  }
  return facts
}

function textAt(line: string, name: string): string | undefined {
  const value = fieldOfLine(line, name)
  return typeof value === 'string' ? value : undefined
}
