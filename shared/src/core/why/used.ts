// The last hop: what the process makes of what it gets. Several SVIDs without hints, one that is written once and never again, another
// program that asks in its place.
import { consumersIn } from '../consumers/consumers-in-pod.ts'
import { idsOf } from '../holdings/holdings.ts'
import { writesSvidOnce } from '../objects/svid-wait.ts'
import { containerSpec } from '../objects/workload-api.ts'
import { sourceText } from '../spire/prediction.ts'
import { judgeContainer } from '../spire/attestor.ts'
import { splitSelector } from '../spire/verify/failing-selectors.ts'
import { podUidOf, type ServerEntry } from '../spire/verify/server-entry.ts'
import type { Registration } from '../spire/registration.ts'
import { NO } from '../truth/truth.ts'
import type { ChainFacts } from './facts.ts'
import { broken, followsFrom, good, notKnown, openHop, type HopAnswer } from './hop.ts'

/** Judges the hop. */
export function usedHop({ subject, server }: ChainFacts): HopAnswer {
  const { pod, container, holding, spiffeId, analysis, candidates } = subject
  if (candidates.length === 0) return followsFrom('wanted')
  const namespace = analysis.snapshot.namespaces.find(({ name }) => name === pod.namespace)
  const notes = consumersIn(pod, namespace).flatMap(({ consumer, container: own, asksSpire }) =>
    asksSpire === NO || own?.name === container.name
      ? []
      : [`${consumer.mesh ?? own?.name ?? 'a proxy'} may ask in its place`],
  )
  const { held } = holding
  const sharing = held.filter(({ sharesHint }) => sharesHint)
  const [shared] = sharing
  if (shared !== undefined && sharing.some((one) => spiffeId === undefined || one.spiffeId === spiffeId))
    return broken(
      `${sharing.map(({ source }) => sourceText(source)).join(' and ')} have the hint ${shared.hint}: the Workload API hands out the older entry of the two alone`,
      'give each registration a .spec.hint of its own',
      notes,
    )
  const extra = beside(subject, server)
  const ids = [...new Set([...idsOf(held), ...extra.map((one) => one.spiffeId)])]
  const unnamed = [
    ...held.filter(({ hint }) => hint === '').map(({ source }) => sourceText(source)),
    ...extra.filter(({ fields }) => fields.hint === '').map(({ id }) => `entry ${id}`),
  ]
  if (ids.length > 1 && unnamed.length > 0 && isAmbiguous(held, spiffeId))
    return broken(
      `which of ${ids.length} SVIDs comes first is not defined, and a client takes the first: ${ids.join(', ')}`,
      `give each registration a .spec.hint and let the client choose by it (${unnamed.join(', ')} ${unnamed.length === 1 ? 'has' : 'have'} none), or delete one`,
      notes,
    )
  if (writesSvidOnce(containerSpec(pod, container), container.role))
    return broken(
      `container ${container.name} writes its SVID once, before the pod runs: it expires, and nothing rotates it`,
      'let a sidecar keep it fresh (spiffe-helper in daemon mode), or use a client of the Workload API',
      notes,
    )
  const perhaps = holding.perhaps.find((one) => !ids.includes(one.spiffeId ?? ''))
  if (perhaps !== undefined && spiffeId === undefined)
    return notKnown(
      { kind: 'verdict', of: {}, why: perhaps.why ?? '' },
      `whether it also gets ${perhaps.spiffeId ?? 'another SVID'} is not known: ${perhaps.why ?? ''}`,
    )
  if (holding.other.value === 'open' && spiffeId === undefined) return openHop(holding.other)
  const several =
    ids.length > 1
      ? `${ids.length} SVIDs, each with a hint: the client chooses by it`
      : 'one SVID, which a client rotates by itself'
  return good(several, notes)
}

/** Whether a client cannot tell the SVIDs apart, or not the one that it is to take. */
function isAmbiguous(held: readonly Registration[], spiffeId: string | undefined): boolean {
  return spiffeId === undefined || held.some((one) => one.hint === '' && one.spiffeId === spiffeId)
}

/** Entries of the server that no object asks for, and that are for the container all the same. */
function beside(
  { pod, container }: ChainFacts['subject'],
  server: ChainFacts['server'],
): readonly ServerEntry[] {
  return (server?.differences ?? []).flatMap((one) => {
    if (one.kind !== 'extra' || podUidOf(one.entry) !== pod.uid) return []
    const selectors = one.entry.selectors.map(splitSelector)
    const { state } = judgeContainer(pod, container, { selectors, storeSvid: one.entry.fields.storeSvid })
    return state === 'issued' ? [one.entry] : []
  })
}
