// The sixth hop: the selectors that the agent finds for the process, against those of the entry.
import { podText } from '../../model/objects/pod-index.ts'
import { dig, isRecord, listAt, own, stringAt } from '../../base/json.ts'
import { hookWaitsForSvid } from '../../model/objects/svid-wait.ts'
import { containerSpec } from '../../model/objects/workload-api.ts'
import { lackedBy } from '../../model/objects/agent-config.ts'
import { originsIn } from '../../findings/index.ts'
import { failingSelectors, fieldsBehind } from '../../predict/index.ts'
import { type ChainFacts, agentLogOfPod, configOfPod } from './facts.ts'
import {
  broken,
  followsFrom,
  good,
  notKnown,
  worstOf,
  type HopAnswer,
  notShown,
  notGiven,
  notYet,
} from './hop.ts'
import { atRuntime } from '../../model/truth/unknown.ts'
import { isHandedOut, madeByHand } from './beside.ts'
import { entryOf } from './on-server.ts'
import type { ChainCandidate } from './subject.ts'

/** Judges the hop. */
export function attestedHop(facts: ChainFacts): HopAnswer {
  const { subject, agent: log } = facts
  const { pod, container } = subject
  const idle = notRunning(facts)
  if (idle !== undefined) return idle
  if (isHandedOut(facts)) return good('the agent has handed the SVID to a process of the container')
  if (hookWaitsForSvid(containerSpec(pod, container)))
    return broken(
      `the postStart hook of container ${container.name} waits for an SVID, and until it ends the kubelet does not report the container`,
      'ask from the container itself, or let the hook continue without an SVID',
    )
  const byHand = madeByHand(facts).map(({ entry }) => entry.selectors)
  const asked = [...byHand, ...subject.candidates.map((one) => selectorsRendered(one) ?? [])]
  const lacking = worstOf(
    asked.flatMap((selectors) => lacksContainers(selectors, facts) ?? []),
    good(''),
  )
  if (lacking.text !== '') return lacking
  if (log?.trouble === 'kubelet')
    return broken(
      'the agent cannot ask the kubelet, and attests no pod of the node',
      "let the agent reach the kubelet: its port, its token, a NetworkPolicy, or skip_kubelet_verification of the agent's k8s attestor",
    )
  if (log?.trouble === 'container')
    return broken(
      'the agent did not find the container among those that the kubelet lists',
      'ask again if it has just started; raise max_poll_attempts; a sandbox such as gVisor or Kata hides the container from the agent',
    )
  if (asked.length === 0) return followsFrom('wanted')
  if (log?.attested === undefined) {
    const what = 'what the agent finds for the process'
    return notGiven(
      what,
      agentLogOfPod(facts),
      log?.whyNone === undefined
        ? `${what} was not given`
        : `the log does not tell what the agent finds: ${log.whyNone}`,
    )
  }
  return worstOf(
    [
      ...subject.candidates.map((one) => matches(one, facts)),
      ...byHand.map((selectors) => shows(selectors, facts)),
    ],
    good(HAS_EACH),
  )
}

/** Agents that find no selectors of containers, for an entry that has one. */
function lacksContainers(selectors: readonly string[], facts: ChainFacts): HopAnswer | undefined {
  const named = selectors.find((one) => one.startsWith('k8s:container-'))
  if (named === undefined) return undefined
  const config = configOfPod(facts)
  // The agent of the pod's node decides; where its configuration was not read, those that were.
  const lacked = config === undefined ? facts.subject.lacked : lackedBy([config])
  if (lacked === undefined) return undefined
  const text = `${lacked.why}, and the entry asks for ${named}`
  return lacked.isEverywhere
    ? broken(text, 'switch disable_container_selectors off, or register the pod as a whole (mode PoolOnly)')
    : notKnown(atRuntime(text))
}

function matches(candidate: ChainCandidate, facts: ChainFacts): HopAnswer {
  const { subject, server, agent: log } = facts
  const { pod, container, state } = subject
  const { outcome } = candidate.assumed
  const selectors = entryOf(candidate, server)?.selectors ?? selectorsRendered(candidate)
  if (selectors === undefined || log?.attested === undefined) return followsFrom('rendered')
  const { failing, untold } = failingSelectors(selectors, log.attested, {
    pod,
    container,
    outcome,
    originsOf: originsIn(state),
  })
  const [first] = failing
  if (first !== undefined) {
    const { selector, has, isShownByPod } = first
    const fields = fieldsBehind(first)
    const there = has.length === 0 ? 'none of its kind' : has.join(', ')
    return broken(
      `the process has not the selector ${selector}: the agent finds ${there}`,
      isShownByPod || fields.length === 0 ? OTHER_PROCESS : `change ${fields.join(' or ')}`,
    )
  }
  return untold.length > 0 ? notTold(untold, facts) : good(HAS_EACH)
}

/** The selectors of the entry that SCM makes; undefined: it makes none that is known. */
function selectorsRendered({ assumed }: ChainCandidate): readonly string[] | undefined {
  return assumed.outcome.entry?.selectors.map(({ type, value }) => `${type}:${value}`)
}

const HAS_EACH = 'the process has each selector of the entry'
const OTHER_PROCESS =
  'ask from a process of that container of that pod; where it was one, the pod has changed since'

/** Of an entry that was made by hand. */
function shows(selectors: readonly string[], facts: ChainFacts): HopAnswer {
  const { attested } = facts.agent ?? {}
  const untold = selectors.filter((one) => attested?.selectors.includes(one) !== true)
  if (untold.length > 0 && attested?.isWhole === true)
    return broken(`the process has not the selector ${untold.join(', ')}`, OTHER_PROCESS)
  return untold.length > 0 ? notTold(untold, facts) : good(HAS_EACH)
}

function notTold(untold: readonly string[], facts: ChainFacts): HopAnswer {
  return notShown(
    `whether the process has ${untold.join(', ')} is not in the log`,
    `${agentLogOfPod(facts)}, at log_level DEBUG`,
  )
}

/** What a kubelet says of a container that is about to start. */
const STARTING: ReadonlySet<string> = new Set(['ContainerCreating', 'PodInitializing'])

/** That no process of the container can ask; undefined: one may. */
function notRunning({ subject, parts }: ChainFacts): HopAnswer | undefined {
  const { pod, container } = subject
  const status = parts.statuses.get(pod.uid ?? '') ?? pod.status
  const phase = stringAt(status, 'phase') ?? ''
  if (phase === 'Succeeded' || phase === 'Failed')
    return broken(
      `${podText(pod)} has ended (${phase}), and no process of it asks`,
      'ask about a pod that runs',
    )
  const list = container.role === 'regular' ? 'containerStatuses' : 'initContainerStatuses'
  const one = listAt(status, list).find((item) => own(item, 'name') === container.name)
  const see = `kubectl describe pod -n ${pod.namespace} ${pod.ref.name}`
  const ended = dig(one, 'state', 'terminated')
  // An init container is to end.
  if (isRecord(ended) && container.role !== 'init')
    return notYet(
      `container ${container.name} has ended (${stringAt(ended, 'reason') ?? 'unknown'}), and no process of it asks`,
      `ask again; if it stays: ${see}`,
    )
  const reason = stringAt(one, 'state', 'waiting', 'reason')
  // One that has run before may have asked then, as its agent's log shows.
  if (reason === undefined || Number(own(one, 'restartCount') ?? 0) > 0 || reason === 'CrashLoopBackOff')
    return undefined
  const text = `container ${container.name} has not started (${reason}), and no process of it asks`
  return STARTING.has(reason)
    ? notYet(text, `ask again; if it stays: ${see}`)
    : broken(text, `see why: ${see}`)
}
