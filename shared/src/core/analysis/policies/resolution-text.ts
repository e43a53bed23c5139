// What is said of a resolution: the same words in every format. None of them says what becomes of a request.
import { TRUST_DOMAIN_PLACEHOLDER } from '../../decide/index.ts'
import { unknownReasonText, type UnknownReason } from '../../model/unknown-reason.ts'
import { counted, fewText } from '../../base/text/counted.ts'
import { PodCount } from '../../model/objects/pod-index.ts'
import type { Pod } from '../../model/objects/pod.ts'
import { sourceText, type EntrySource } from '../../predict/index.ts'
import type { IdentitySource } from './identity-sources.ts'
import type { Declarer, NearMiss, PolicyHolder, Resolution } from './resolution.ts'

/** Why no container holds what an object gives, where no pod shows another reason. */
export const SELECTS_NONE: Readonly<Record<EntrySource['kind'], string>> = {
  ClusterSPIFFEID: 'it selects no pod here',
  ClusterStaticEntry:
    'no container here has its selectors, and a workload outside of the cluster is not seen',
}
/** What is said of an ID in the path that SPIRE keeps for itself. */
export const SPIRE_OWN = 'below /spire are the IDs of SPIRE servers and agents, which are not looked at here'

/** What the reference implementation makes of a service account (docs/gaie-facts.md §B1). */
export function accountId(trustDomain: string, namespace: string, name: string): string {
  return `spiffe://${trustDomain}/ns/${namespace}/sa/${name}`
}

const NAMED_MAX = 3

/**
 * `3 containers hold it, by binding team-a/chat of pool llama`; those of pods that are not there yet, and those whose
 * registration kleym must still write (`pending`, by `sourceText`), will hold it.
 */
export function resolved(
  holders: readonly PolicyHolder[],
  declarers: readonly Declarer[],
  pending: ReadonlySet<string>,
): string {
  const by = few(declarers.filter(({ why }) => why === undefined).map(identitySourceText))
  const isPending = ({ source }: PolicyHolder): boolean => pending.has(sourceText(source))
  const [absent, there] = [holders.filter(({ pod }) => !pod.exists), holders.filter(({ pod }) => pod.exists)]
  const now = countContainers(there.filter((one) => !isPending(one)))
  const later = countContainers(holders) - now
  const hold = `${counted(now, 'container')} ${now === 1 ? 'holds' : 'hold'} it`
  if (later === 0) return `${hold}, by ${by}`
  const conditions = [
    ...(absent.length === 0 ? [] : ['the pods are there']),
    ...(holders.some(isPending) ? ['kleym has written its ClusterSPIFFEID'] : []),
  ].join(' and ')
  return now === 0
    ? `${counted(later, 'container')} will hold it, once ${conditions}, by ${by}`
    : `${hold} and ${later} more will, once ${conditions}, by ${by}`
}

function countContainers(holders: readonly PolicyHolder[]): number {
  return holders.reduce((sum, { containers }) => sum + containers.length, 0)
}

/** An object gives the ID, and no container holds it. */
export function unheld(declarers: readonly Declarer[]): string {
  const [first] = declarers
  const why = first?.why === undefined ? '' : `: ${first.why}`
  return `${few(declarers.map(identitySourceText))} ${declarers.length === 1 ? 'gives' : 'give'} it, and no container holds it now${why}`
}

/** What is said of a source, and that there may be more. */
export function withOthers(text: string, why: string | undefined): string {
  return why === undefined ? text : `${text}; perhaps others: ${why}`
}

/** Nothing gives the ID. */
export function dangling({
  never,
  wantedBy,
  nearMisses,
}: Pick<Extract<Resolution, { state: 'dangling' }>, 'never' | 'wantedBy' | 'nearMisses'>): string {
  const unmet = wantedBy.map(({ binding, why }) => `binding ${binding} asks for it and is ${why}`)
  return [
    'nothing gives it',
    ...(never === undefined ? [] : [`no registration can: it ${never}`]),
    ...unmet.slice(0, NAMED_MAX),
    ...nearText(nearMisses),
  ].join('; ')
}

/** The ID is of another trust domain. */
export function foreign(of: {
  readonly trustDomain: string
  readonly federatedBy: readonly EntrySource[]
  readonly nearMisses: readonly NearMiss[]
  readonly gap: UnknownReason | undefined
}): string {
  const { trustDomain, federatedBy, nearMisses, gap } = of
  const federation =
    federatedBy.length > 0
      ? `${few(federatedBy.map(sourceText))} ${federatedBy.length === 1 ? 'federates' : 'federate'} with it`
      : gap === undefined
        ? 'no ClusterSPIFFEID federates with it'
        : `whether anything federates with it is not known (${unknownReasonText(gap)})`
  return [
    `${trustDomain} is another trust domain, and nothing can be said about it here`,
    federation,
    ...nearText(nearMisses),
  ].join('; ')
}

/** A source that names no identity, and so any principal. */
export function unbounded(why: string): string {
  return `any principal: ${why}`
}

/** A source whose type and member disagree. */
export function mismatch(type: string, filled: string): string {
  return `any principal: its source has type ${type} but fills ${filled}, and only the type counts`
}

/** A name that no SPIFFE ID is equal to. */
export function dead(
  standsFor: string,
  instead: string | undefined,
  holders: readonly PolicyHolder[],
): string {
  const count = countContainers(holders)
  const held = count === 0 ? '' : `, the ID of ${counted(count, 'container')}`
  const meant = instead === undefined ? '' : `; write ${instead}${held}`
  return `it means ${standsFor}, which no SPIFFE ID can be${meant}`
}

/** A name that takes in several IDs, or may. */
export function pattern(
  spiffeIds: readonly string[],
  holders: readonly PolicyHolder[],
  open: string | undefined,
): string {
  const what = spiffeIds.length === 0 ? 'it takes in none of the IDs here' : `it takes in ${few(spiffeIds)}`
  const count = countContainers(holders)
  const held =
    spiffeIds.length === 0
      ? []
      : [
          count === 0
            ? 'no container holds one now'
            : `${counted(count, 'container')} ${count === 1 ? 'holds' : 'hold'} one`,
        ]
  return withOthers([what, ...held].join('; '), open)
}

/** A name that is known in part. */
export function knownInPart(why: string, further: readonly string[]): string {
  return [why, ...(further.length === 0 ? [] : [`it may mean ${few(further)}`])].join('; ')
}

/** An object that gives an ID with a placeholder for what is not known. */
export function gives(spiffeId: string, source: EntrySource): string {
  return `${sourceText(source)} gives ${spiffeId}`
}

/** A template that kleym does not follow; `source` is its object. */
export function mayGiveOthers(source: string): string {
  return `the template of ${source} is not supported`
}

/** An identity of another kind. */
export function notSpiffe(type: string): string {
  return `${type} is not read as a SPIFFE ID`
}

/** A registration that may give it. */
export function notCertain(
  { source, why }: { readonly source: EntrySource; readonly why: string },
  what = 'it',
): string {
  return `not certain whether ${sourceText(source)} gives ${what}: ${why}`
}

/** A template that kleym does not follow. */
export function notFollowed(source: EntrySource): string {
  return `${sourceText(source)} may give it; its template is not supported`
}

/** A template that may give it for some other pod. */
export function mayRender(source: EntrySource): string {
  return `nothing renders it now; ${sourceText(source)} may, for a pod that is not there`
}

/** A binding that is undetermined. */
export function undetermined(binding: string, why: string): string {
  return `binding ${binding} asks for it and is ${why}`
}

/** Something could not be read. */
export function notRead(why: UnknownReason, identitySources: readonly IdentitySource[]): string {
  if (identitySources.length === 0) return `whether anything gives it is not known: ${unknownReasonText(why)}`
  const given = `${few(identitySources.map(identitySourceText))} ${identitySources.length === 1 ? 'gives' : 'give'} it`
  return `${given}; whether a container holds it is unknown: ${unknownReasonText(why)}`
}

/** The pods or registrations that could not be read may hold an ID. */
export function holdingNotRead(why: UnknownReason): string {
  return `whether any other pod of it holds that ID is not known: ${unknownReasonText(why)}`
}

/** Our own trust domain is not known. */
export function trustDomainUnknown(identitySources: readonly IdentitySource[]): string {
  const path =
    identitySources.length === 0
      ? ''
      : `; its path is that of ${few(identitySources.map(identitySourceText))}`
  return `the trust domain of SPIRE is not known here${path}`
}

/** A source that names a service account; `found` pods of it were seen. */
export function serviceAccount(
  {
    namespace,
    name,
    pods,
    kleymIds,
    spiffeId,
    holders,
    open,
  }: Pick<
    Extract<Resolution, { state: 'service account' }>,
    'namespace' | 'name' | 'pods' | 'kleymIds' | 'spiffeId' | 'holders' | 'open'
  >,
  found: readonly Pod[],
): string {
  // KAN's own trust domain is a flag of its controller, which no object shows.
  const stands =
    spiffeId === undefined
      ? `it means ${accountId(TRUST_DOMAIN_PLACEHOLDER, namespace, name)}`
      : `it means ${spiffeId} if KAN's trust domain is the same`
  if (found.length === 0)
    return `${pods === undefined ? 'pods are not known here' : 'no pod here runs under it'}; ${stands}`
  const atLeast = pods === undefined ? 'at least ' : ''
  const run = `${atLeast}${PodCount.of(found).text()} ${found.length === 1 ? 'runs' : 'run'} under it`
  const held =
    holders.length === 0
      ? []
      : [
          `${PodCount.of(holders.map(({ pod }) => pod)).text()} ${holders.length === 1 ? 'holds' : 'hold'} that ID`,
        ]
  const others = kleymIds.length === 0 ? [] : [`they may present ${few(kleymIds)}, which it does not name`]
  return [run, stands, ...held, ...(open === undefined ? [] : [open]), ...others].join('; ')
}

/** `binding team-a/chat of pool llama`, else the object. */
export function identitySourceText({
  source,
  binding,
  pool,
}: Pick<IdentitySource, 'source' | 'binding' | 'pool'>): string {
  if (binding === undefined) return sourceText(source)
  return `binding ${binding}${pool === undefined ? '' : ` of pool ${pool}`}`
}

function nearText(nearMisses: readonly NearMiss[]): readonly string[] {
  return nearMisses.slice(0, NAMED_MAX).map(({ spiffeId, text }) => `${spiffeId} ${text}`)
}

function few(texts: readonly string[]): string {
  return fewText(texts, NAMED_MAX)
}
