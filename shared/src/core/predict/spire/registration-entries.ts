// The registration entries that SCM would hold, with the field names of `spire-server entry show -output json`, so that a
// person or a script can compare the two. What kleym adds has fields of its own.
import type { Pod } from '../../model/objects/pod.ts'
import type { Steps } from '../../base/steps.ts'
import { compareBytes, distinct } from '../../base/text/bytes.ts'
import { entryKey, sortSelectors } from './entry-key.ts'
import { podText } from '../../model/objects/pod-index.ts'
import { sourceText, type EntryOutcome, type Prediction, type RenderedEntry } from './prediction.ts'

/** One registration entry. TTLs are in seconds, 0 being the server's default; IDs are `spiffe://` texts. */
export interface RegistrationEntry {
  readonly spiffe_id: string
  readonly parent_id: string
  /** By type, then by value. */
  readonly selectors: readonly { readonly type: string; readonly value: string }[]
  readonly dns_names: readonly string[]
  readonly x509_svid_ttl: number
  readonly jwt_svid_ttl: number
  readonly hint: string
  /** Sorted, each once, as the server keeps them. */
  readonly federates_with: readonly string[]
  readonly admin: boolean
  readonly downstream: boolean
  readonly store_svid: boolean
  /** `ClusterSPIFFEID/default`. */
  readonly source: string
  /** `pod team-a/llama-0`; undefined for a static entry. */
  readonly pod: string | undefined
  /** The facts that are not known, by their placeholders. */
  readonly unknown: readonly string[]
  /** Why it may not be on the server; undefined where it certainly is. */
  readonly depends: string | undefined
}

/**
 * The entries for these pods and for all static entries, without masked, displaced, ignored, failed and refused ones,
 * by SPIFFE ID, parent, selectors, source and pod (bytes). A step for each pod; `onHeld` hears how many there are so far, at first those
 * of ClusterStaticEntries.
 */
export function* registrationEntrySteps(
  prediction: Prediction,
  pods: readonly Pod[],
  onHeld: (held: number) => void = () => {},
): Steps<readonly RegistrationEntry[]> {
  const held = new Map<string, RegistrationEntry>()
  for (const outcome of prediction.staticEntries()) add(outcome, held)
  onHeld(held.size)
  for (const pod of pods) {
    yield
    for (const outcome of prediction.entriesOf(pod)) {
      if (outcome.source.kind === 'ClusterSPIFFEID') add(outcome, held)
    }
    onHeld(held.size)
  }
  return [...held.values()].toSorted(compareEntries)
}

function add(outcome: EntryOutcome, held: Map<string, RegistrationEntry>): void {
  const { entry, verdict, pod } = outcome
  if (entry === undefined || (verdict.state !== 'declared' && verdict.state !== 'depends')) return
  const registration = registrationOf(entry, outcome)
  // Two pods share an entry only where a template names the other's UID; the workload of neither gets it.
  const scope = entry.placeholders.length > 0 && pod !== undefined ? podText(pod) : ''
  const uncertain = verdict.state === 'depends' ? registration.source : ''
  const key = [entryKey(entry), scope, uncertain].join('\n')
  const duplicate = held.get(key)
  if (duplicate === undefined || compareEntries(registration, duplicate) < 0) held.set(key, registration)
}

function registrationOf(entry: RenderedEntry, { source, pod, verdict }: EntryOutcome): RegistrationEntry {
  return {
    spiffe_id: entry.spiffeId,
    parent_id: entry.parentId,
    selectors: sortSelectors(entry.selectors).map(({ type, value }) => ({ type, value })),
    dns_names: entry.dnsNames,
    x509_svid_ttl: entry.x509SvidTtl,
    jwt_svid_ttl: entry.jwtSvidTtl,
    hint: entry.hint,
    federates_with: distinct(entry.federatesWith),
    admin: entry.admin,
    downstream: entry.downstream,
    store_svid: entry.storeSvid,
    source: sourceText(source),
    pod: pod === undefined ? undefined : podText(pod),
    unknown: entry.placeholders,
    depends: verdict.state === 'depends' ? verdict.why : undefined,
  }
}

function compareEntries(left: RegistrationEntry, right: RegistrationEntry): number {
  return (
    compareBytes(left.spiffe_id, right.spiffe_id) ||
    compareBytes(left.parent_id, right.parent_id) ||
    compareBytes(JSON.stringify(left.selectors), JSON.stringify(right.selectors)) ||
    compareBytes(left.source, right.source) ||
    compareBytes(left.pod ?? '', right.pod ?? '')
  )
}
