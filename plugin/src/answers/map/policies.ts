// Access policies, and other objects that mention an ID in a string, as boxes, with the identities and pods that they name: what
// `who-selects` and `policies` say of them.
import type { NamedBy, Policies, State, ResolvedPolicy } from '@kleym/shared/core/analysis/index.ts'
import { getOrCreate } from '@kleym/shared/core/base/get-or-create.ts'
import { AnswerCount, DRAWN_NAMES } from '../../gather/answer-limits.ts'
import { BARE, type MapChange, type MapNode, type NamesEdge, type PolicyNode } from './graph.ts'
import { identityId, namespaceId, policyId } from './ids.ts'

/** The boxes of policies, what they name, and the SPIFFE IDs that only they mention. */
export interface PolicyParts {
  readonly nodes: readonly PolicyNode[]
  readonly names: readonly NamesEdge[]
  readonly spiffeIds: readonly string[]
}

/** `isInScope`: a policy that stands here itself; any other is here if it names what is shown. */
export function policyParts(
  state: State,
  shown: readonly MapNode[],
  { spiffeIds, isInScope }: { readonly spiffeIds: ReadonlySet<string>; readonly isInScope: InScope },
): PolicyParts {
  const policies = state.policies()
  const count = new AnswerCount(DRAWN_NAMES)
  const leading = namesOf(policies, spiffeIds, shown, count)
  const isHere = (policy: ResolvedPolicy): boolean => isInScope(policy.namespace, policyId(policy))
  const isLeading = (policy: ResolvedPolicy): boolean => leading.has(policyId(policy))
  const kept = policies.list.filter((policy) => isLeading(policy) || isHere(policy))
  const written = new Set(
    kept.flatMap(({ rules }) =>
      rules.flatMap(({ sources, mentioned }) => [
        ...sources.flatMap(({ source }) => (source.kind === 'SPIFFE' ? [source.spiffeId] : [])),
        ...mentioned.flatMap(({ text, isWhole }) => (isWhole ? text : [])),
      ]),
    ),
  )
  const further = namesOf(policies, written.difference(spiffeIds), [], count)
  // What such an object mentions besides is none of its names.
  const mentioning = policies.mentioning.filter(
    (policy) => isLeading(policy) || (further.has(policyId(policy)) && isHere(policy)),
  )
  const nodes = [...kept, ...mentioning].map(policyNode)
  return {
    nodes,
    names: nodes.flatMap(({ id }) => [...(leading.get(id) ?? []), ...(further.get(id) ?? [])]),
    spiffeIds: [...written],
  }
}

/** What names these identities, and the service accounts of these pods, by the id of its box: the answers of `who-selects`. */
function namesOf(
  policies: Policies,
  spiffeIds: Iterable<string>,
  shown: readonly MapNode[],
  count: AnswerCount,
): ReadonlyMap<string, readonly NamesEdge[]> {
  const names = new Map<string, NamesEdge>()
  const unbounded = new Set<string>()
  const add = (policy: ResolvedPolicy, rule: string, how: NamesEdge['how'], to: string): void => {
    const edge: NamesEdge = { kind: 'names', from: policyId(policy), to, rule, how }
    names.set(JSON.stringify(edge), edge)
  }
  const addNamings = ({ namings }: NamedBy, to: string): void => {
    for (const { policy, rule, way } of namings) {
      // A box says that it names any principal. All clients but these: the rule is about none of them.
      if (way === 'unbounded') unbounded.add(policyId(policy))
      else if (way !== 'excluded') add(policy, rule.name, way, to)
    }
  }
  for (const spiffeId of spiffeIds) {
    const by = policies.namedBy([spiffeId], [])
    const to = identityId(spiffeId)
    addNamings(by, to)
    for (const { policy, rule } of [...by.mentions, ...by.inTexts]) add(policy, rule.name, 'mentioned', to)
  }
  for (const node of shown) {
    if (node.kind !== 'pods' || node.serviceAccount === null) continue
    const account = { namespace: node.namespace, serviceAccountName: node.serviceAccount }
    addNamings(policies.namedBy([], [account]), node.id)
  }
  count.add(names.size)
  const byPolicy = Map.groupBy(names.values(), ({ from }) => from)
  for (const id of unbounded) getOrCreate(byPolicy, id, () => [])
  return byPolicy
}

/**
 * The policies of both sides of `--compare`: a removed policy is drawn as it was, and one with other names or another text is
 * changed. Without `--compare`: all policies.
 */
export function comparedPolicies(
  after: State,
  before: State | undefined,
  partsOf: (state: State, kept: ReadonlySet<string>) => PolicyParts,
): PolicyParts {
  const alone = partsOf(after, new Set())
  if (before === undefined) return alone
  // One that has to do with what is shown on either side is drawn from both: it did not come or go because its rules changed.
  const kept = new Set([...alone.nodes, ...partsOf(before, new Set()).nodes].map(({ id }) => id))
  const [was, now] = [partsOf(before, kept), partsOf(after, kept)]
  const [had, has] = [was, now].map(({ nodes, names }) => {
    const named = Map.groupBy(names, ({ from }) => from)
    return new Map(nodes.map((node) => [node.id, JSON.stringify([node, named.get(node.id) ?? []])]))
  })
  const gone = was.nodes.filter(({ id }) => has?.has(id) !== true)
  const goneIds = new Set(gone.map(({ id }) => id))
  return {
    nodes: [
      ...now.nodes.map((node) => ({ ...node, change: changeOf(had?.get(node.id), has?.get(node.id)) })),
      ...gone.map((node) => ({ ...node, change: 'removed' satisfies MapChange as MapChange })),
    ],
    names: [...now.names, ...was.names.filter(({ from }) => goneIds.has(from))],
    spiffeIds: [...now.spiffeIds, ...was.spiffeIds],
  }
}

function changeOf(before: string | undefined, now: string | undefined): MapChange | null {
  if (before === undefined) return 'added'
  return before === now ? null : 'changed'
}

/** By the namespace of a policy, and the id of its box. */
type InScope = (namespace: string, id: string) => boolean

function policyNode(policy: ResolvedPolicy): PolicyNode {
  const { namespace, name, key, rules, notes, problems, isInterpreted } = policy
  return {
    kind: 'policy',
    id: policyId(policy),
    label: name,
    ...BARE,
    namespace,
    parent: namespaceId(namespace),
    policy: key,
    isInterpreted,
    namesAny: rules.some(({ sources }) =>
      sources.some(({ source }) => source.kind === 'unbounded' || source.kind === 'type mismatch'),
    ),
    says: [
      ...problems,
      ...rules.flatMap((rule) =>
        rule.sources.map((one) => `rule ${rule.name}: ${one.text}: ${one.resolution.text}`),
      ),
      ...notes.map(({ text }) => text),
    ],
  }
}
