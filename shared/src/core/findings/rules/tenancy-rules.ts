// Registrations of others that give the SPIFFE ID of a binding to pods which other tenants may make, whether or not there is one.
import {
  IdentitySources,
  idsChosenByPods,
  type Analysis,
  type IdentitySource,
  type State,
} from '../../analysis/index.ts'
import { present } from '../../base/present.ts'
import type { LabelSelector } from '../../model/objects/label-selector.ts'
import { NAMESPACE_NAME_LABEL } from '../../model/names.ts'
import { subjectOfKey, type Subject } from '../../model/objects/subject.ts'
import { NamespaceFilter, sourceText } from '../../predict/index.ts'
import { fewText, summaryText } from '../../base/text/counted.ts'
import { asFarAs, finding, type Finding } from '../finding/finding.ts'
import { ruleAtOnce, type Rule } from '../finding/rule.ts'
import { sourceSubject } from './install-rules.ts'
import { appliesUnless } from './applies.ts'

/** What is found about who may take an identity. */
export const tenancyRule: Rule = ruleAtOnce(['KLM311'], openIdentities)

function openIdentities({ settled }: Analysis, bindings?: ReadonlySet<string>): readonly Finding[] {
  const ours = settled.outputs.flatMap(({ object: { spec }, ownership }) =>
    ownership.kind === 'ours' && bindings?.has(ownership.binding) !== false
      ? [{ binding: subjectOfKey(ownership.binding), id: spec.spiffeIDTemplate }]
      : [],
  )
  const ids = new Set(ours.map(({ id }) => id))
  // Ten thousand outputs of other namespaces have literal IDs, and none of these.
  const others = settled.outputs.filter(
    ({ object: { spec }, ownership }) =>
      ownership.kind !== 'ours' && (ids.has(spec.spiffeIDTemplate) || spec.spiffeIDTemplate.includes('{{')),
  )
  const registrations = registrationsOf(others, settled)
  if (registrations.size === 0) return []
  const { base, judgements, unwritten, undecided } = settled
  const sources = new IdentitySources({
    base,
    judgements,
    unwritten,
    undecided,
    outputs: others,
    prediction: () => settled.prediction(),
  })
  const chosen = others.flatMap(({ object: { meta, spec } }) => {
    const mayBe = idsChosenByPods(spec.spiffeIDTemplate, base.settings.trustDomain)
    const found = sources.of({ kind: 'ClusterSPIFFEID', name: meta.name })
    return mayBe === undefined || found === undefined
      ? []
      : [{ mayBe, found, template: spec.spiffeIDTemplate }]
  })
  const givingOf = (id: string): readonly Giving[] => [
    ...sources.literally(id).map((found) => ({ found })),
    ...chosen.filter(({ mayBe }) => mayBe(id)),
  ]
  return ours.flatMap(({ binding, id }) =>
    givingOf(id).flatMap(({ found: { source, never, open }, template }) => {
      const asked = registrations.get(sourceText(source))
      if (asked === undefined || never !== undefined) return []
      const where = placesOf(asked, binding, settled)
      if (where === undefined) return []
      const found = finding('KLM311', {
        subject: binding,
        related: [sourceSubject(source)],
        summary: `${sourceText(source)} gives the identity to pods of ${where}`,
        evidence: [...present(template && `the pod chooses its ID: ${template}`), asksText(asked)],
        ...(template !== undefined && { fix: FIX_OF_TEMPLATE }),
      })
      return asFarAs(appliesUnless(sourceText(source), open), found)
    }),
  )
}

/** What gives an ID: literally, or by a template that the pod fills in. */
interface Giving {
  readonly found: IdentitySource
  readonly template?: string
}

const FIX_OF_TEMPLATE =
  'Let the template take `{{ .PodMeta.Namespace }}`, which a pod does not choose; or give the registration a namespaceSelector for `kubernetes.io/metadata.name`, or delete it.'

/** What a registration asks of the pods that it gives its ID to. */
interface Asked {
  readonly namespaces: LabelSelector | undefined
  readonly pods: LabelSelector | undefined
  /** Selectors that each entry has: `k8s:ns:team-a`. */
  readonly selectors: readonly string[]
}

/** By `sourceText`: ClusterSPIFFEIDs, and all static entries of a state. */
function registrationsOf(others: State['outputs'], state: State): ReadonlyMap<string, Asked> {
  const found = new Map<string, Asked>()
  for (const { object } of others)
    found.set(sourceText({ kind: 'ClusterSPIFFEID', name: object.meta.name }), {
      namespaces: object.spec.namespaceSelector,
      pods: object.spec.podSelector,
      selectors: object.spec.workloadSelectorTemplates,
    })
  for (const { meta, spec } of state.base.snapshot.staticEntries.read)
    found.set(sourceText({ kind: 'ClusterStaticEntry', name: meta.name }), {
      namespaces: undefined,
      pods: undefined,
      selectors: spec.selectors,
    })
  return found
}

/** So many of what it asks for are shown. */
const ASKED_SHOWN = 5

function asksText({ pods, selectors }: Asked): string {
  const labels = [...(pods?.matchLabels ?? [])].map(([key, value]) => `${key}=${value}`)
  const expressions = (pods?.matchExpressions ?? []).map(({ key, operator }) => `${key} ${operator}`)
  const asked = [...labels, ...expressions, ...selectors]
  return asked.length === 0 ? 'it asks for nothing of a pod' : `it asks for ${fewText(asked, ASKED_SHOWN)}`
}

/**
 * In which namespaces but that of the binding its pods may be; undefined: in none, or it asks for labels of Namespaces, which tenants do not
 * choose.
 */
function placesOf(
  { namespaces, selectors }: Asked,
  { namespace: own }: Subject,
  { base: { settings } }: State,
): string | undefined {
  // A node and a UID are not for a tenant to choose.
  if (selectors.some((one) => !CHOSEN_BY_TENANTS.test(one))) return undefined
  const named = namesAsked(namespaces)
  if (named === undefined) return undefined
  const caches = settings.cacheNamespaces
  const limits = [
    ...named,
    ...selectors.flatMap((one) => OF_NAMESPACE.exec(one)?.slice(1) ?? []).map((name) => [name]),
    ...(caches === undefined || caches.has('') ? [] : [[...caches.keys()]]),
  ]
  const [first, ...others] = limits
  if (first === undefined) return 'any namespace'
  const filter = new NamespaceFilter(settings)
  const names = first.filter(
    (name) =>
      name !== own &&
      others.every((limit) => limit.includes(name)) &&
      filter.whyNamespaceIgnored(name)?.state !== 'ignored',
  )
  if (names.length === 0) return undefined
  return `${names.length === 1 ? 'namespace' : 'namespaces'} ${summaryText(names)}`
}

/** The names to which a selector limits namespaces, for each of its parts; undefined: it asks for other labels. */
function namesAsked(selector: LabelSelector | undefined): readonly (readonly string[])[] | undefined {
  const { matchLabels = new Map<string, string>(), matchExpressions = [] } = selector ?? {}
  const isOfNames =
    [...matchLabels.keys()].every((key) => key === NAMESPACE_NAME_LABEL) &&
    matchExpressions.every(({ key, operator }) => key === NAMESPACE_NAME_LABEL && operator === 'In')
  return isOfNames
    ? [...[...matchLabels.values()].map((name) => [name]), ...matchExpressions.map(({ values }) => values)]
    : undefined
}

const OF_NAMESPACE = /^k8s:ns:([a-z0-9-]+)$/
/** Selectors that a tenant's own pod may have. */
const CHOSEN_BY_TENANTS =
  /^k8s:(?:ns|sa|pod-label|pod-name|pod-owner|pod(?:-init)?-image(?:-count)?|container-(?:name|image)):|\{\{/
