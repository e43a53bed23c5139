// Access policies, and other objects that mention an ID in a string, as boxes, with the identities and pods that they name: what
// `policies` says of them.
import type {
  State,
  ResolvedPolicy,
  ResolvedRule,
  ResolvedSource,
} from '@kleym/shared/core/analysis/index.ts'
import { TRUST_DOMAIN_PLACEHOLDER } from '@kleym/shared/core/decide/index.ts'
import { pathIn } from '@kleym/shared/core/model/spiffe-id.ts'
import type { MapChange, MapNode, NamesEdge, PodsNode, PolicyNode } from './graph.ts'
import { identityId, namespaceId, policyId } from './ids.ts'

/** The boxes of policies, what they name, and the SPIFFE IDs that only they mention. */
export interface PolicyParts {
  readonly nodes: readonly PolicyNode[]
  readonly names: readonly NamesEdge[]
  readonly spiffeIds: readonly string[]
}

/** `isInScope`: a policy that stands here itself; any other is here where it names what is. */
export function policyParts(
  state: State,
  shown: readonly MapNode[],
  { spiffeIds, isInScope }: { readonly spiffeIds: ReadonlySet<string>; readonly isInScope: InScope },
): PolicyParts {
  const naming = new Naming(shown, spiffeIds)
  const kept = state.policies().list.flatMap((policy) => {
    const names = policy.rules.flatMap((rule) => naming.ofRule(policyId(policy), rule))
    const leads = names.some(({ to }) => naming.isShown(to))
    return leads || isInScope(policy.namespace, policyId(policy)) ? [{ policy, names }] : []
  })
  // An object that mentions what is shown; what else it mentions is none of its names.
  const mentioning = state.policies().mentioning.flatMap((policy) => {
    const names = policy.rules
      .flatMap((rule) => naming.mentionedIn(policyId(policy), rule))
      .filter(({ to }) => naming.isShown(to))
    return names.length === 0 ? [] : [{ policy, names }]
  })
  return {
    nodes: [...kept, ...mentioning].map(({ policy }) => policyNode(policy)),
    names: [...kept, ...mentioning].flatMap(({ names }) => distinct(names)),
    spiffeIds: kept.flatMap(({ policy }) =>
      policy.rules.flatMap(({ sources, mentioned }) => [
        ...sources.flatMap(({ source }) => (source.kind === 'SPIFFE' ? [source.spiffeId] : [])),
        ...mentioned,
      ]),
    ),
  }
}

/**
 * The policies of both sides of `--compare`: one that goes is drawn as it was, and one that names others than before, or reads
 * otherwise, is changed. Without another side: those that are there.
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

class Naming {
  readonly #shown: ReadonlySet<string>
  /** By namespace and service account. */
  readonly #pods: ReadonlyMap<string, readonly PodsNode[]>
  /** The IDs whose trust domain is not known, by path. */
  readonly #byPath: ReadonlyMap<string, readonly string[]>

  constructor(shown: readonly MapNode[], spiffeIds: ReadonlySet<string>) {
    this.#shown = new Set([...shown.map(({ id }) => id), ...[...spiffeIds].map(identityId)])
    this.#pods = Map.groupBy(
      shown.filter((node) => node.kind === 'pods'),
      ({ namespace, serviceAccount }) => accountText(namespace, serviceAccount ?? ''),
    )
    const open = [...spiffeIds].filter((id) => id.includes(TRUST_DOMAIN_PLACEHOLDER))
    this.#byPath = Map.groupBy(open, pathIn)
  }

  isShown(id: string): boolean {
    return this.#shown.has(id)
  }

  /** The IDs in a string of an object that is no policy. */
  mentionedIn(from: string, { name, sources }: ResolvedRule): readonly NamesEdge[] {
    return sources.flatMap(({ source }) =>
      source.kind === 'SPIFFE'
        ? [{ kind: 'names', from, to: identityId(source.spiffeId), rule: name, how: 'mentioned' } as const]
        : [],
    )
  }

  ofRule(from: string, rule: ResolvedRule): readonly NamesEdge[] {
    const edge = (to: string, how: NamesEdge['how']): NamesEdge => ({
      kind: 'names',
      from,
      to,
      rule: rule.name,
      how,
    })
    return [
      ...rule.sources.flatMap(({ source, resolution }) => {
        // All clients but these: the rule is about none of them.
        if (source.isExcluded === true) return []
        if (resolution.state === 'pattern')
          return resolution.spiffeIds.slice(0, PATTERN_EDGES).map((id) => edge(identityId(id), 'pattern'))
        if (source.kind === 'SPIFFE')
          return [
            edge(identityId(source.spiffeId), 'exactly'),
            ...(this.#byPath.get(pathIn(source.spiffeId)) ?? []).map((id) =>
              edge(identityId(id), 'same path'),
            ),
          ]
        if (source.kind === 'service account')
          return (this.#pods.get(accountText(source.namespace, source.name)) ?? []).map(({ id }) =>
            edge(id, 'service account'),
          )
        return []
      }),
      ...rule.mentioned.map((id) => edge(identityId(id), 'mentioned')),
    ]
  }
}

/** A wildcard may take in all identities of a cluster: so many are drawn. */
const PATTERN_EDGES = 100

function accountText(namespace: string, name: string): string {
  return `${namespace}/${name}`
}

function distinct(names: readonly NamesEdge[]): readonly NamesEdge[] {
  return [...new Map(names.map((one) => [JSON.stringify(one), one])).values()]
}

function policyNode(policy: ResolvedPolicy): PolicyNode {
  const { namespace, name, key, rules, notes, problems, isInterpreted } = policy
  return {
    kind: 'policy',
    id: policyId(policy),
    label: name,
    namespace,
    parent: namespaceId(namespace),
    findings: [],
    change: null,
    policy: key,
    isInterpreted,
    namesAny: rules.some(({ sources }) => sources.some(isAny)),
    says: [
      ...problems,
      ...rules.flatMap((rule) =>
        rule.sources.map((one) => `rule ${rule.name}: ${one.text}: ${one.resolution.text}`),
      ),
      ...notes.map(({ text }) => text),
    ],
  }
}

function isAny({ source }: ResolvedSource): boolean {
  return source.kind === 'unbounded' || source.kind === 'type mismatch'
}
