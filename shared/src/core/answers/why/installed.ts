// The second hop: whether SCM runs, and acts on the object that asks for the identity.
import { present } from '../../base/present.ts'
import { reasonOfStats } from '../../model/objects/output-stats.ts'
import { IN_FORCE_DELAY_MS } from '../../decide/index.ts'
import { workloadText } from '../../analysis/index.ts'
import { stringAt } from '../../base/json.ts'
import { isPossible, ownerOf, sourceText, type Prediction, secondsOf } from '../../predict/index.ts'
import { NO } from '../../model/truth/truth.ts'
import type { ChainFacts } from './facts.ts'
import {
  broken,
  good,
  notKnown,
  unreadHop,
  worstOf,
  type HopAnswer,
  notShown,
  notYet,
  notGiven,
  notCertain,
} from './hop.ts'
import { entryOf } from './on-server.ts'
import { droppedOf, droppedText, UPDATE_CRD } from './rendered.ts'
import type { ScmWorkload, SpireParts } from './spire-parts.ts'
import { candidateText, isWithoutNode, type ChainCandidate } from './subject.ts'

/** Judges the hop. */
export function installedHop(facts: ChainFacts): HopAnswer {
  const { subject } = facts
  return worstOf(
    subject.candidates.map((one) => ofCandidate(one, facts)),
    good('SCM is installed'),
  )
}

function ofCandidate(candidate: ChainCandidate, facts: ChainFacts): HopAnswer {
  const { subject, parts } = facts
  const { source, binding, isPending, assumed } = candidate
  if (isPending)
    return broken(
      `kleym has not written ${sourceText(source)}${binding === undefined ? '' : ` of binding ${binding}`} yet`,
      'see whether its operator runs: kubectl kleym status',
    )
  const prediction = subject.state.prediction()
  const handled = handling(candidate, prediction, facts)
  const entry = entryOf(candidate, facts.server)
  // An entry that is there shows that SCM has acted, even if SCM is gone now. One that SCM ignores by now shows nothing.
  if (entry !== undefined && handled.truth === NO && ownerOf(entry, subject.analysis.settings).kind === 'scm')
    return { ...handled, text: `${handled.text}; it deletes entry ${entry.id} in its next pass` }
  if (entry !== undefined) {
    const running = runsScm(parts)
    return good(`SCM has acted on ${candidateText(candidate)}`, running.truth === NO ? [running.text] : [])
  }
  return worstOf(
    present(
      handled,
      settings(candidate),
      runsScm(parts),
      ...faults(prediction, source.kind),
      read(candidate, facts),
    ),
    good(`SCM handles ${sourceText(assumed.source)}`),
  )
}

/** What SCM does with the object, by its class, its labels and what it can read; and with the pod, by its namespace. */
function handling(candidate: ChainCandidate, prediction: Prediction, facts: ChainFacts): HopAnswer {
  const { source, assumed, object } = candidate
  const { subject } = facts
  const name = sourceText(source)
  const found = prediction.objects.get(name)?.handling
  // What makes SCM ignore it may have been asked for, and dropped.
  const { certain: dropped } = droppedOf(candidate, facts)
  if (found?.state === 'ignored' && dropped.includes('.spec.className'))
    return broken(`SCM ignores it: ${found.why}; ${droppedText(dropped, name)}`, UPDATE_CRD)
  const { settings: scm } = subject.analysis
  if (found?.state === 'ignored')
    return broken(
      `SCM ignores it: ${found.why}`,
      fixOfIgnored(found.why, name, object?.spec.className ?? '', scm.className),
    )
  if (found?.state === 'invalid')
    return broken(`SCM drops ${name}: ${found.field}: ${found.why}`, `correct ${found.field} of ${name}`)
  if (found?.state === 'undecodable')
    return broken(`SCM cannot read ${name}, and takes in nothing new: ${found.why}`, `correct ${name}`)
  if (found?.state === 'unknown')
    return notKnown({ kind: 'not followed', of: {}, construct: name, why: found.why })
  if (assumed.verdict === 'ignored' && !isWithoutNode(subject))
    return broken(
      assumed.why ?? `SCM ignores namespace ${subject.pod.namespace}`,
      `take the pattern out of ignoreNamespaces (or cacheNamespaces) of SCM's configuration, ${scm.source}; a pattern matches anywhere in a name`,
    )
  return good(`SCM handles ${name}`)
}

function fixOfIgnored(why: string, name: string, own: string, wanted: string | undefined): string {
  if (/className|class /.test(why) && own !== (wanted ?? ''))
    return wanted === undefined
      ? `take .spec.className out of ${name}, or give SCM that class`
      : `set .spec.className of ${name} to ${wanted}`
  if (/label/.test(why)) return `give ${name} the labels that SCM's clusterSPIFFEIDLabelSelector asks for`
  return "set reconcile.clusterSPIFFEIDs in SCM's configuration"
}

/** What would be otherwise under settings that were not given. */
function settings(candidate: ChainCandidate): HopAnswer | undefined {
  const { assumed, settled } = candidate
  if (isPossible(assumed) || !isPossible(settled)) return undefined
  return notCertain(
    settled.why ?? '',
    `it depends on settings that were not given: ${settled.why ?? ''}`,
    'give --scm-config, --trust-domain and --clusterspiffeid-class-name, or a dump of their objects',
  )
}

/** Whether SCM runs. A status that it has written shows only that it did run. */
export function runsScm({ scm, scmGaps }: SpireParts): HopAnswer {
  const down = scm.filter(({ ready }) => ready === 0)
  if (scm.length > down.length) {
    const text = scm.map(readyText).join('; ')
    // Any tenant can run a workload of that name, and none of them says for certain which one acts.
    if (down.length > 0 && new Set(scm.map(({ container }) => container.workload.namespace)).size > 1)
      return notShown(
        `which SCM acts on it is not known: ${text}`,
        'give the entries of the server (--entries), or remove a workload that does not belong to SPIRE',
      )
    return good(text)
  }
  const [first] = scm
  if (first !== undefined) {
    const { namespace, name } = first.container.workload
    const which = first.container.workload.kind === 'StatefulSet' ? `${name}-0` : `deployment/${name}`
    return broken(
      `SCM does not run: ${readyText(first)}`,
      `see why: kubectl logs -n ${namespace} ${which} -c ${first.container.container}`,
    )
  }
  if (scmGaps.length > 0) return unreadHop(scmGaps)
  return notGiven(
    'the workload that runs SCM',
    'give the workload that runs SCM with its status, or the entries of the server (--entries)',
    'no workload that runs SCM was found',
  )
}

function readyText({ container, ready, wanted }: ScmWorkload): string {
  const workload = workloadText(container.workload)
  return ready === undefined ? `${workload} runs SCM` : `${workload} has ${ready} of ${wanted} replicas ready`
}

/** What keeps SCM from making any new entry. */
function faults(prediction: Prediction, kind: string): readonly HopAnswer[] {
  // A static entry that cannot be read stops static entries alone (docs/spire-facts.md §11.9).
  const ofKind = prediction
    .scmFaults()
    .filter(
      (one) =>
        one.source?.kind !== 'ClusterStaticEntry' || one.kind !== 'undecodable' || kind === one.source.kind,
    )
  return ofKind.map(({ source, why, open: doubt }) => {
    const which = source === undefined ? "SCM's configuration" : sourceText(source)
    const text = `SCM makes no new entry because of ${which}: ${why}`
    return doubt === undefined
      ? broken(text, `correct ${which}, and start SCM again`)
      : notCertain(doubt, text)
  })
}

/** SCM writes a status on an object that it reads and that selects something, within a pass. */
function read(
  { object, source, assumed }: ChainCandidate,
  { subject, now }: ChainFacts,
): HopAnswer | undefined {
  if (
    object === undefined ||
    object.lifecycle !== 'live' ||
    now === undefined ||
    assumed.verdict !== 'issued'
  )
    return undefined
  if (object.stats !== undefined) {
    const said = reasonOfStats(object.stats)
    return good(`SCM has counted ${object.stats.podsSelected} of its pods (${said})`)
  }
  const born = [object.meta.createdAt, stringAt(subject.pod.metadata, 'creationTimestamp')].map(
    (one) => secondsOf(one) ?? 0,
  )
  const name = sourceText(source)
  return now - Math.max(...born) > IN_FORCE_DELAY_MS / 1000
    ? broken(
        `SCM has written no status on ${name}: it does not run, is of another class, or does not see the object`,
        'compare its className, filterByClassName and clusterSPIFFEIDLabelSelector: kubectl kleym status',
      )
    : notYet(
        `SCM has written no status on ${name} yet, and has a minute`,
        'ask again in a minute, or with --watch',
      )
}
