// The third hop: the entry that SCM makes of the registration for this pod.
import { reasonOfStats } from '../../model/objects/output-stats.ts'
import { podText } from '../../model/objects/pod-index.ts'
import { sourceText } from '../../predict/index.ts'
import { droppedFields } from './dropped.ts'
import type { ChainFacts } from './facts.ts'
import { broken, good, worstOf, type HopAnswer, notCertain } from './hop.ts'
import { hasEntry } from './on-server.ts'
import { isWithoutNode, type ChainCandidate } from './subject.ts'

/** Judges the hop. */
export function renderedHop(facts: ChainFacts): HopAnswer {
  return worstOf(
    facts.subject.candidates.map((one) => ofCandidate(one, facts)),
    good('its entry is rendered'),
  )
}

function ofCandidate(candidate: ChainCandidate, facts: ChainFacts): HopAnswer {
  const { pod } = facts.subject
  const { assumed, source, object } = candidate
  const name = sourceText(source)
  const why = assumed.why ?? ''
  const dropped = droppedOf(candidate, facts)
  if (dropped.certain.length > 0) return broken(droppedText(dropped.certain, name), UPDATE_CRD)
  const notes = dropped.perhaps.map(
    (field) => `${field} of ${name} was applied and is not there: its CRD may be older than the field`,
  )
  switch (assumed.verdict) {
    case 'issued': {
      const { stats } = object ?? {}
      if (
        stats !== undefined &&
        reasonOfStats(stats) === 'EntriesRefused' &&
        !hasEntry(candidate, facts.server)
      )
        return broken(
          `the SPIRE server refuses every entry of ${name}: SCM counts ${stats.entryFailures} failures`,
          "read the log of SCM, which names the entry and the server's reason",
        )
      return good(`its entry is ${assumed.spiffeId ?? ''}`, notes)
    }
    case 'failed':
      return broken(
        `it fails to render for this pod: ${why}`,
        `correct ${fieldIn(why, '.spec.spiffeIDTemplate')} of ${name}, or what it reads of the pod`,
      )
    case 'refused':
      return broken(
        `the SPIRE server refuses the entry: ${why}`,
        `correct ${fieldIn(why, /DNS/i.test(why) ? '.spec.dnsNameTemplates' : '.spec.spiffeIDTemplate')} of ${name}`,
      )
    case 'displaced': {
      const by = assumed.by === undefined ? 'another registration' : sourceText(assumed.by)
      return broken(
        `it is a fallback, and gives way to ${by}, which selects the pod`,
        `register the container itself: ${by} is for others of the pod, and any other registration on a pod takes a fallback from all of its containers`,
      )
    }
    case 'masked': {
      const by = assumed.by === undefined ? 'another object' : sourceText(assumed.by)
      return broken(`${by} owns the same entry, with other content`, `delete ${name}, or ${by}`)
    }
    case 'ignored':
      if (isWithoutNode(facts.subject) && pod.nodeName !== undefined)
        return broken(
          `there is no Node ${pod.nodeName}, so SCM makes no entry for ${podText(pod)}`,
          `see whether the node is there: kubectl get node ${pod.nodeName}`,
        )
      return isWithoutNode(facts.subject)
        ? broken(
            `${podText(pod)} has no node, so SCM makes no entry for it`,
            `see why it is not scheduled: kubectl describe pod -n ${pod.namespace} ${pod.ref.name}`,
          )
        : good('its entry is rendered once SCM handles it')
    case 'depends': {
      const { verdict } = assumed.outcome
      // What is not known of it comes after the server.
      if (verdict.state === 'depends' && verdict.isOnServer === true)
        return good(`its entry is ${assumed.spiffeId ?? ''}`, notes)
      return notCertain(why === '' ? `what ${name} renders is not known` : why)
    }
    case 'unknown':
    case 'dead':
      return notCertain(why === '' ? `what ${name} renders is not known` : why)
  }
}

/** The fields of the object behind a registration that its CRD drops. */
export function droppedOf(
  { object, binding = '' }: ChainCandidate,
  { subject, parts }: ChainFacts,
): ReturnType<typeof droppedFields> {
  if (object === undefined) return { certain: [], perhaps: [] }
  const judgement = subject.analysis.settled.judgements.get(binding)
  const written = judgement?.state === 'ready' ? judgement.resolved.output.spec : undefined
  return droppedFields(object, parts.idSchema, written)
}

/** That fields were dropped, as a clause. */
export function droppedText(fields: readonly string[], name: string): string {
  return `the API server has dropped ${fields.join(', ')} of ${name}: its CRD has no such field`
}

/** What to do about that. */
export const UPDATE_CRD =
  'update the CRDs of SCM (kubectl does, helm upgrade does not), and write the object again'

/** The field that a reason names, else the usual one. */
function fieldIn(why: string, usual: string): string {
  return /\.spec\.[A-Za-z]+(?:\[\d+\])?/.exec(why)?.[0] ?? usual
}
