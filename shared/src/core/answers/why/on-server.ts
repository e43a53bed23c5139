// The fourth hop: the entry on the server, from a dump of its entries. kleym executes nothing in a cluster, so without one it is not known.
import {
  entryKey,
  sourceText,
  type DifferenceCause,
  ownerOf,
  podUidOf,
  type ServerEntry,
} from '../../predict/index.ts'
import { NO, YES } from '../../model/truth/truth.ts'
import { besideEntries, besideText, domainOf } from './beside.ts'
import { hasExpired, timeOf, type ChainFacts, type ServerSide } from './facts.ts'
import {
  broken,
  good,
  notGiven,
  worstOf,
  type HopAnswer,
  notShown,
  notYet,
  notCertain,
  openHop,
} from './hop.ts'
import type { ChainCandidate } from './subject.ts'

/** The server's entry of a registration; undefined: it holds none, or was not given. */
export function entryOf(
  { assumed }: ChainCandidate,
  server: ServerSide | undefined,
): ServerEntry | undefined {
  const { entry } = assumed.outcome
  if (entry === undefined || server === undefined) return undefined
  const key = entryKey(entry)
  return server.entries.find((one) => one.key === key)
}

/** Whether the server holds the entry. */
export function hasEntry(candidate: ChainCandidate, server: ServerSide | undefined): boolean {
  return entryOf(candidate, server) !== undefined
}

/** Judges the hop. */
export function onServerHop(facts: ChainFacts): HopAnswer {
  const { subject, server, commands } = facts
  if (server === undefined) return notGiven('the entries of the server', commands.entries)
  const foreign = ofOthers(server, subject)
  if (foreign !== undefined)
    return notShown(foreign, `give those of the server behind it: ${commands.entries}`)
  const own = worstOf(
    subject.candidates.map((one) => ofCandidate(one, server, facts)),
    good('the server holds its entry'),
  )
  const asked = new Set(subject.candidates.map((one) => entryOf(one, server)))
  const others = besideEntries(facts).filter(({ entry }) => !asked.has(entry))
  const beside = others.map(
    (one) => `${one.given === YES ? '' : 'perhaps '}${one.entry.spiffeId} too: ${besideText(one)}`,
  )
  return { ...own, notes: [...(own.notes ?? []), ...beside] }
}

/** Why a dump is of another server: none of its entries is of the trust domain; undefined: it is not. */
function ofOthers({ perParent }: ServerSide, { analysis }: ChainFacts['subject']): string | undefined {
  const { trustDomain } = analysis.settings
  const domains = [...new Set([...perParent.keys()].map(domainOf))]
  if (trustDomain === undefined || domains.length === 0 || domains.includes(trustDomain)) return undefined
  return `the entries are of trust domain ${domains.slice(0, 3).join(', ')}, and SCM is set to ${trustDomain}: they are another server's`
}

function ofCandidate(candidate: ChainCandidate, server: ServerSide, facts: ChainFacts): HopAnswer {
  const { subject } = facts
  const found = entryOf(candidate, server)
  if (found !== undefined) {
    const expired = hasExpired(found, facts)
    if (expired === YES)
      return broken(
        `its entry ${found.id} expired at ${timeOf(found.fields.expiresAt)}, and the server deletes such entries`,
        'find who gave the entry a time to expire, and delete it: SCM makes it again without one',
      )
    if (expired !== NO) return openHop(expired, undefined, 'say when they were dumped: --as-of TIME')
    const different = server.differences.find((one) => one.kind === 'different' && one.entry.id === found.id)
    const fields = different?.kind === 'different' ? different.fields.map(({ field }) => field) : []
    if (found.fields.storeSvid)
      return broken(
        `the server holds it as ${found.id} for an SVID store (store_svid): agents hand it to no workload`,
        'find who changed the entry, and delete it: SCM makes it again as the object says',
      )
    return good(
      `the server holds it as ${found.id}`,
      fields.length === 0 ? [] : [`the entry differs in ${fields.join(', ')}: kubectl kleym verify`],
    )
  }
  const { assumed, source } = candidate
  const missing = server.differences.find(
    (one) =>
      one.kind === 'missing' &&
      sourceText(one.expected.source) === sourceText(source) &&
      one.expected.spiffeId === assumed.spiffeId,
  )
  if (missing === undefined) return notCertain('whether the server should hold the entry is not certain')
  const { cause, why } = missing
  if (cause === 'race')
    return notYet(`the server held no entry of it yet: ${why}`, 'dump the entries again in a minute')
  const mine = server.entries.find(
    (one) => podUidOf(one) === subject.pod.uid && one.spiffeId === assumed.spiffeId,
  )
  const notes =
    mine === undefined
      ? []
      : [`it holds ${mine.id} with that ID, under ${mine.parentId} for ${mine.selectors.join(', ')}`]
  const others = server.entries.filter(
    (one) => podUidOf(one) === subject.pod.uid && ownerOf(one, subject.analysis.settings).kind === 'another',
  )
  return broken(`the server holds no entry of it for this pod: ${why}`, fixOfMissing(cause, others), notes)
}

/** What to do about an entry that is missing; `others` are those of another manager for the same pod. */
export function fixOfMissing(cause: DifferenceCause, others: readonly ServerEntry[]): string {
  if (cause === 'refused') return "read the log of SCM, which names the server's reason"
  if (cause === 'scm behind') return 'see whether SCM runs and connects to the server: its log'
  return others.length > 0
    ? `delete the entries of another manager (${others.map(({ id }) => id).join(', ')}), or give each SCM an entryIDPrefix of its own`
    : 'find who deletes it: give each SCM of the server an entryIDPrefix of its own, and read the log of SCM'
}
