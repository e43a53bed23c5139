// Whether a container runs: where no process of it is there, none can be attested.
import { listAt, own, stringAt } from '../../base/json.ts'
import { podText } from '../../model/objects/pod-index.ts'
import type { ChainFacts } from './facts.ts'
import { broken, type HopAnswer, notYet } from './hop.ts'

/** What a kubelet says of a container that is about to start. */
const STARTING: ReadonlySet<string> = new Set(['ContainerCreating', 'PodInitializing'])

/** That no process of the container can ask; undefined: one may. */
export function notRunning({ subject, parts }: ChainFacts): HopAnswer | undefined {
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
  const reason = stringAt(one, 'state', 'waiting', 'reason')
  // One that has run before may have asked then, as its agent's log shows.
  if (reason === undefined || Number(own(one, 'restartCount') ?? 0) > 0 || reason === 'CrashLoopBackOff')
    return undefined
  const text = `container ${container.name} has not started (${reason}), and no process of it asks`
  const see = `kubectl describe pod -n ${pod.namespace} ${pod.ref.name}`
  return STARTING.has(reason)
    ? notYet(text, `ask again; if it stays: ${see}`)
    : broken(text, `see why: ${see}`)
}
