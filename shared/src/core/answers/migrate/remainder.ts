// What a ClusterSPIFFEID written by hand says that no binding can say (docs/contract.md §5): a binding renders a SPIFFE ID, selectors,
// a hint and the class of the install, and nothing else.
import { fewText } from '../../base/text/counted.ts'
import type { ClusterSpiffeId } from '../../model/objects/clusterspiffeid.ts'

/** One thing that changes, or goes. */
export interface Remainder {
  readonly what: string
  /** What the registration says. */
  readonly old: string
  /** What the binding renders in its place; undefined: nothing. */
  readonly next: string | undefined
  /** What follows for whoever relies on it. */
  readonly consequence: string
  /** Whether the registration must stay for it. */
  readonly mustStay: boolean
}

/** What the bindings that stand for a registration render. */
export interface RenderedByBindings {
  readonly spiffeIds: readonly string[]
  readonly hints: readonly string[]
  readonly className: string
  /** Containers that hold a new ID, and not the old one that it replaces: `side of pod team-a/llama-0`. */
  readonly others: readonly string[]
}

/** The remainder of a registration, in the order of a binding's reader: the ID first. `oldIds` are those that containers hold. */
export function remainderOf(
  { spec, rawSpec }: Pick<ClusterSpiffeId, 'spec' | 'rawSpec'>,
  oldIds: readonly string[],
  { spiffeIds, hints, className, others }: RenderedByBindings,
): readonly Remainder[] {
  const all: Remainder[] = []
  const add = (
    what: string,
    old: string,
    next: string | undefined,
    consequence: string,
    mustStay = false,
  ): void => void all.push({ what, old, next, consequence, mustStay })
  const isSameId = oldIds.length === spiffeIds.length && oldIds.every((id) => spiffeIds.includes(id))
  if (!isSameId)
    add(
      'SPIFFE ID',
      listText(oldIds) ?? spec.spiffeIDTemplate,
      listText(spiffeIds),
      'every peer, policy and test that names the old ID must name the new one too before the old one goes',
    )
  const further = listText(others)
  if (further !== undefined)
    add(
      'holders',
      'containers with the old ID',
      `${further} too`,
      'whoever accepts the new ID accepts these too',
    )
  if (spec.ttl !== undefined)
    add('ttl', spec.ttl, undefined, "X.509 SVIDs live as long as the SPIRE server's default says")
  if (spec.jwtTtl !== undefined)
    add('jwtTtl', spec.jwtTtl, undefined, "JWT SVIDs live as long as the SPIRE server's default says")
  if (spec.dnsNameTemplates.length > 0)
    add(
      'dnsNameTemplates',
      listText(spec.dnsNameTemplates) ?? '',
      undefined,
      'the X.509 SVID has no DNS name: a peer that verifies by host name refuses it',
    )
  if (spec.autoPopulateDNSNames)
    add('autoPopulateDNSNames', 'true', undefined, 'the X.509 SVID has no DNS names of Services')
  if (spec.federatesWith.length > 0)
    add(
      'federatesWith',
      listText(spec.federatesWith) ?? '',
      undefined,
      'the Workload API gives no bundle of these trust domains with the new identity',
    )
  if (spec.admin)
    add('admin', 'true', undefined, 'the new identity may not call the APIs of the SPIRE server', true)
  if (spec.downstream)
    add('downstream', 'true', undefined, 'the new identity is not that of a downstream SPIRE server', true)
  if (!(hints.length === 1 && hints[0] === spec.hint) && (spec.hint !== '' || hints.length > 0))
    add(
      'hint',
      spec.hint === '' ? '(none)' : spec.hint,
      listText(hints),
      'a client that chooses by hint must know the new one',
    )
  if (spec.className !== className)
    add(
      'className',
      spec.className === '' ? '(none)' : spec.className,
      className === '' ? '(none)' : className,
      'the SCM of the class of the install acts on the new registration',
    )
  const selectors = furtherSelectors(spec.workloadSelectorTemplates)
  if (selectors.length > 0)
    add(
      'workload selectors',
      listText(selectors) ?? '',
      undefined,
      'a binding selects by namespace, service account, labels of the pool and container alone',
    )
  const unknown = Object.keys(rawSpec).filter((field) => !FIELDS.has(field))
  if (unknown.length > 0)
    add('other fields', listText(unknown) ?? '', undefined, 'kleym does not know what they do')
  return all
}

/** The fields of a ClusterSPIFFEID that are compared here, or that select. */
const FIELDS: ReadonlySet<string> = new Set([
  'spiffeIDTemplate',
  'ttl',
  'jwtTtl',
  'dnsNameTemplates',
  'workloadSelectorTemplates',
  'federatesWith',
  'namespaceSelector',
  'podSelector',
  'admin',
  'downstream',
  'autoPopulateDNSNames',
  'fallback',
  'className',
  'hint',
])

/** Selectors of kinds that a binding never renders. */
function furtherSelectors(templates: readonly string[]): readonly string[] {
  return templates.filter((one) => !/^k8s:(?:ns|sa|pod-label|container-name):/.test(one))
}

/** A few of many. */
const LISTED = 5

function listText(texts: readonly string[]): string | undefined {
  return texts.length === 0 ? undefined : fewText(texts, LISTED)
}
