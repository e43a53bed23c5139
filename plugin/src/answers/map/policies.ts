// Access policies as boxes, and the identities and pods that their rules name: what `policies` says of them.
import type { State } from '@kleym/shared/core/analysis/state.ts'
import { TRUST_DOMAIN_PLACEHOLDER } from '@kleym/shared/core/compile/config.ts'
import type { ResolvedPolicy, ResolvedRule, ResolvedSource } from '@kleym/shared/core/policies/resolution.ts'
import { pathIn } from '@kleym/shared/core/spire/spiffe-id.ts'
import type { MapNode, NamesEdge, PodsNode, PolicyNode } from './graph.ts'
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
    return leads || isInScope(policy.namespace) ? [{ policy, names }] : []
  })
  return {
    nodes: kept.map(({ policy }) => policyNode(policy)),
    names: kept.flatMap(({ names }) => distinct(names)),
    spiffeIds: kept.flatMap(({ policy }) =>
      policy.rules.flatMap(({ sources, mentioned }) => [
        ...sources.flatMap(({ source }) => (source.kind === 'SPIFFE' ? [source.spiffeId] : [])),
        ...mentioned,
      ]),
    ),
  }
}

type InScope = (namespace: string) => boolean

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

  ofRule(from: string, rule: ResolvedRule): readonly NamesEdge[] {
    const edge = (to: string, how: NamesEdge['how']): NamesEdge => ({
      kind: 'names',
      from,
      to,
      rule: rule.name,
      how,
    })
    return [
      ...rule.sources.flatMap(({ source }) => {
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
  return source.kind === 'unbounded' || source.kind === 'member mismatch'
}
