// The last hop: what the process makes of what it gets. Several SVIDs without hints, one that is written once and never again, another
// program that asks in its place.
import { namespacesByName } from '../../snapshot/index.ts'
import { consumersIn } from '../../analysis/index.ts'
import { writesSvidOnce } from '../../model/objects/svid-wait.ts'
import { containerSpec } from '../../model/objects/workload-api.ts'
import { sourceText } from '../../predict/index.ts'
import { NO, whyOpenText, YES } from '../../model/truth/truth.ts'
import { besideEntries, besideText } from './beside.ts'
import type { ChainFacts } from './facts.ts'
import { isRegistered } from './subject.ts'
import { broken, followsFrom, good, openHop, type HopAnswer, notCertain } from './hop.ts'

/** Judges the hop. */
export function usedHop(facts: ChainFacts): HopAnswer {
  const { pod, container, holding, spiffeId, analysis, candidates } = facts.subject
  // Of whatever ID: what comes beside the identity that is asked about decides which one a client takes.
  const beside = besideEntries({ ...facts, subject: { ...facts.subject, spiffeId: undefined } })
  if (candidates.length === 0 && beside.length === 0) return followsFrom('wanted')
  const namespace = namespacesByName(analysis.snapshot).get(pod.namespace)
  const notes = consumersIn(pod, namespace).flatMap(({ consumer, container: own, asksSpire }) =>
    asksSpire === NO || own?.name === container.name
      ? []
      : [`${consumer.mesh ?? own?.name ?? 'a proxy'} may ask in its place`],
  )
  const svids: readonly GivenSvid[] = [
    ...holding.held.map(({ spiffeId: id = '', hint, source }) => ({ id, hint, by: sourceText(source) })),
    ...beside
      .filter(({ given }) => given === YES)
      .map(({ entry }) => ({ id: entry.spiffeId, hint: entry.fields.hint, by: `entry ${entry.id}` })),
  ]
  const isAsked = ({ id }: GivenSvid): boolean => spiffeId === undefined || id === spiffeId
  const sharing = svids.filter(
    (one) => one.hint !== '' && svids.some((other) => other !== one && other.hint === one.hint),
  )
  const [shared] = sharing
  if (shared !== undefined && sharing.some(isAsked))
    return broken(
      `${sharing.map(({ by }) => by).join(' and ')} have the hint ${shared.hint}: the Workload API hands out the older entry of the two alone`,
      'give each registration a .spec.hint of its own',
      notes,
    )
  const ids = [...new Set(svids.map(({ id }) => id))]
  const unnamed = svids.filter(({ hint }) => hint === '')
  if (ids.length > 1 && unnamed.some(isAsked)) {
    const lacking = `${unnamed.map(({ by }) => by).join(', ')} ${unnamed.length === 1 ? 'has' : 'have'} none`
    return broken(
      `which of ${ids.length} SVIDs comes first is not defined, and a client takes the first: ${ids.join(', ')}`,
      `give each registration a .spec.hint and let the client choose by it (${lacking}), or delete one`,
      notes,
    )
  }
  if (writesSvidOnce(containerSpec(pod, container), container.role))
    return broken(
      `container ${container.name} writes its SVID once, before the pod runs: it expires, and nothing rotates it`,
      'let a sidecar keep it fresh (spiffe-helper in daemon mode), or use a client of the Workload API',
      notes,
    )
  const gets = ids.length === 0 ? 'gets' : 'also gets'
  const perhaps = holding.perhaps.find((one) => !ids.includes(one.spiffeId ?? ''))
  if (perhaps !== undefined && spiffeId === undefined)
    return notCertain(
      perhaps.why ?? '',
      `whether it ${gets} ${perhaps.spiffeId ?? 'another SVID'} is not known: ${perhaps.why ?? ''}`,
    )
  const perhapsBeside = beside.find(({ given }) => given !== YES)
  if (perhapsBeside !== undefined && spiffeId === undefined)
    return openHop(
      perhapsBeside.given,
      `whether it ${gets} ${perhapsBeside.entry.spiffeId} is not known (${besideText(perhapsBeside)}): ${whyOpenText(perhapsBeside.given) ?? ''}`,
    )
  if (holding.other.value === 'open' && spiffeId === undefined) return openHop(holding.other)
  if (ids.length === 0) return followsFrom(isRegistered(facts.subject) ? 'rendered' : 'wanted')
  const several =
    ids.length > 1
      ? `${ids.length} SVIDs, each with a hint: the client chooses by it`
      : 'one SVID, which a client rotates by itself'
  return good(several, notes)
}

/** An SVID that the container gets. */
interface GivenSvid {
  readonly id: string
  readonly hint: string
  /** `ClusterSPIFFEID/chat`, `entry 1234`. */
  readonly by: string
}
