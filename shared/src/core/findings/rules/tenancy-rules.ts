// Registrations of others that give the SPIFFE ID of a binding to pods which other tenants may make, while there is no such pod.
import { IdentitySources, type Analysis, type State } from '../../analysis/index.ts'
import type { LabelSelector } from '../../model/objects/label-selector.ts'
import { matchSelector } from '../../model/objects/label-match.ts'
import { subjectOfKey, type Subject } from '../../model/objects/subject.ts'
import { openOn, YES } from '../../model/truth/truth.ts'
import { NamespaceFilter, sourceText, type EntrySource } from '../../predict/index.ts'
import { summaryText } from '../../base/text/counted.ts'
import { asFarAs, finding, type Finding } from '../finding/finding.ts'
import { ruleAtOnce, type Rule } from '../finding/rule.ts'
import { sourceSubject } from './install-rules.ts'

/** What is found about who may take an identity. */
export const tenancyRule: Rule = ruleAtOnce(['KLM311'], openIdentities)

function openIdentities({ settled }: Analysis, bindings?: ReadonlySet<string>): readonly Finding[] {
  const registrations = registrationsOfOthers(settled)
  if (registrations.size === 0) return []
  const sources = new IdentitySources(settled)
  return settled.outputs.flatMap(({ object: { spec }, ownership }) => {
    if (ownership.kind !== 'ours' || bindings?.has(ownership.binding) === false) return []
    const binding = subjectOfKey(ownership.binding)
    return sources.literally(spec.spiffeIDTemplate).flatMap(({ source, never, open }) => {
      const one = registrations.get(sourceText(source))
      if (one === undefined || never !== undefined) return []
      const where = placesOf(one, binding, settled)
      if (where === undefined || isHeldElsewhere(source, binding, settled)) return []
      const found = finding('KLM311', {
        subject: binding,
        related: [sourceSubject(source)],
        summary: `${sourceText(source)} gives the identity to pods of ${where}`,
        evidence: [`both register ${spec.spiffeIDTemplate}`, asksText(one)],
      })
      return asFarAs(open === undefined ? YES : openOn(`whether ${sourceText(source)} applies`, open), found)
    })
  })
}

/** What a registration asks of the pods that it gives its ID to. */
interface Asked {
  readonly namespaces: LabelSelector | undefined
  readonly pods: LabelSelector | undefined
  /** Selectors that each entry has: `k8s:ns:team-a`. */
  readonly selectors: readonly string[]
}

/** By `sourceText`. */
function registrationsOfOthers(state: State): ReadonlyMap<string, Asked> {
  const found = new Map<string, Asked>()
  for (const { object, ownership } of state.outputs)
    if (ownership.kind !== 'ours')
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

function asksText({ pods, selectors }: Asked): string {
  const labels = [...(pods?.matchLabels ?? [])].map(([key, value]) => `${key}=${value}`)
  const expressions = (pods?.matchExpressions ?? []).map(({ key, operator }) => `${key} ${operator}`)
  const asked = [...labels, ...expressions, ...selectors]
  return asked.length === 0 ? 'it asks for nothing of a pod' : `it asks for ${asked.join(', ')}`
}

/** In which namespaces but that of the binding its pods may be; undefined: in none that is known. */
function placesOf(
  { namespaces, selectors }: Asked,
  { namespace: own }: Subject,
  { base: { snapshot, settings } }: State,
): string | undefined {
  // Neither a node nor an owner is for a tenant to choose.
  if (selectors.some((one) => !CHOSEN_BY_TENANTS.test(one))) return undefined
  const [named, ...others] = new Set(selectors.flatMap((one) => OF_NAMESPACE.exec(one)?.[1] ?? []))
  if (others.length > 0) return undefined
  const filter = new NamespaceFilter(settings)
  const known = snapshot.namespaces.read.filter(
    (one) => one.name !== own && filter.whyNamespaceIgnored(one.name) === undefined,
  )
  const selected = known.filter(
    (one) =>
      (named === undefined || one.name === named) &&
      settings.cacheNamespaces?.has(one.name) !== false &&
      matchSelector(namespaces, one) === YES,
  )
  const asksNothing =
    namespaces === undefined || namespaces.matchLabels.size + namespaces.matchExpressions.length === 0
  if (asksNothing && named === undefined && settings.cacheNamespaces === undefined) return 'any namespace'
  if (selected.length === 0) return undefined
  const names = summaryText(selected.map(({ name }) => name))
  return `${selected.length === 1 ? 'namespace' : 'namespaces'} ${names}`
}

const OF_NAMESPACE = /^k8s:ns:([a-z0-9-]+)$/
/** Selectors that a tenant's own pod may have. */
const CHOSEN_BY_TENANTS = /^k8s:(?:ns|sa|pod-label|pod-name|container-name|container-image|pod-image):|\{\{/

/** KLM308 says so. */
function isHeldElsewhere(source: EntrySource, { namespace }: Subject, state: State): boolean {
  const prediction = state.prediction()
  return state.base.podsInQuestion.some(
    (pod) =>
      pod.namespace !== namespace &&
      prediction
        .entriesOf(pod)
        .some((one) => one.entry !== undefined && sourceText(one.source) === sourceText(source)),
  )
}
