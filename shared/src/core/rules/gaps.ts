// Which of the things that could not be read may hide a finding, and which only leave a detail open.
import type { Analysis } from '../analysis/analysis.ts'
import { mentionsOf } from '../go/template/mentions.ts'
import { FEDERATED_TRUST_DOMAIN, qualifiedKind } from '../kinds.ts'
import type { UnknownReason } from '../unknown-reason.ts'
import { DEFAULT_PARENT_ID_TEMPLATE } from '../objects/scm-settings.ts'
import { matchSelector } from '../spire/label-match.ts'
import { parseSpiffeId } from '../spire/spiffe-id.ts'

/** The reads that failed, and may change what an answer says; in the order of their kinds. */
export function gapsThatMatter(analysis: Analysis): readonly UnknownReason[] {
  return [...analysis.snapshot.gaps].flatMap(([kind, why]) => (isDetail(kind, analysis) ? [] : [why]))
}

const FEDERATION = qualifiedKind(FEDERATED_TRUST_DOMAIN)

function isDetail(kind: string, analysis: Analysis): boolean {
  // Without Nodes, parent IDs are open: they show in entries, and in nothing else that no template or static entry asks
  // for. (And a pod on a node that is gone seems to be served still, until it is collected as garbage.)
  // Findings about federation say by themselves where it is not known what is declared.
  if (kind === FEDERATION) return true
  if (kind === 'Node') return !asksForNodes(analysis) && !hasStaticParents(analysis)
  // Without Namespaces, their labels are open, but for the one that the API server gives to each.
  return kind === 'Namespace' && !asksForNamespaces(analysis)
}

function asksForNodes({ snapshot, settings }: Analysis): boolean {
  const templates = snapshot.clusterSpiffeIds.flatMap(({ spec }) => [
    spec.spiffeIDTemplate,
    ...spec.dnsNameTemplates,
    ...spec.workloadSelectorTemplates,
  ])
  // SCM's own template gives every node an ID.
  const { parentIDTemplate = DEFAULT_PARENT_ID_TEMPLATE } = settings
  if (parentIDTemplate !== DEFAULT_PARENT_ID_TEMPLATE) templates.push(parentIDTemplate)
  return [...new Set(templates)].some((template) =>
    [...mentionsOf(template)].some((one) => one === '*' || one.startsWith('Node')),
  )
}

/** Whether a static entry is for the workloads of some nodes; one below the server gives no workload anything. */
function hasStaticParents({ snapshot }: Analysis): boolean {
  return snapshot.staticEntries.some(({ spec }) => {
    const parent = parseSpiffeId(spec.parentID)
    return !parent.ok || parent.path !== '/spire/server'
  })
}

function asksForNamespaces({ snapshot }: Analysis): boolean {
  const unknown = snapshot.namespaces.filter(({ complete }) => !complete)
  const selectors = new Set(snapshot.clusterSpiffeIds.map(({ spec }) => spec.namespaceSelector))
  return [...selectors].some((selector) =>
    unknown.some(({ labels }) => matchSelector(selector, { labels, complete: false }).value === 'open'),
  )
}
