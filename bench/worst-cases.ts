// The worst cases: each is a shape of clusters for which one algorithm of the core would be quadratic if it were written
// naively.
import type { Claim } from '@kleym/shared/core/decide/collide/claim.ts'
import { namespacedName } from '@kleym/shared/core/model/namespaced-name.ts'
import type { RawObject } from '@kleym/shared/core/model/objects/raw.ts'
import {
  defaultObject,
  foreignObject,
  podObject,
  poolObject,
  USUAL_TEMPLATE,
  workloadObject,
} from './objects.ts'
import { claim, numbered, outputsFor, range } from './made-up-clusters.ts'

type Labels = Readonly<Record<string, string>>

/** A binding for each label set, all in one namespace and on one container. */
function bindingsFor(labelSets: readonly Labels[]): readonly RawObject[] {
  return labelSets.flatMap((labels, at) => {
    const pool = numbered('pool', at)
    return [poolObject('team', pool, labels), ...claim('team', pool, pool, 'vllm')]
  })
}

/** Every two label sets may overlap: they share `app`, and each has a key of its own. */
export function overlapping(bindings: number): readonly RawObject[] {
  return bindingsFor(range(bindings).map((at) => ({ app: 'vllm', [numbered('key', at)]: 'on' })))
}

/** No two label sets can overlap, and no two have the same keys. */
export function disjointWithOwnKeys(bindings: number): readonly RawObject[] {
  return bindingsFor(range(bindings).map((at) => ({ app: numbered('app', at), [numbered('key', at)]: 'on' })))
}

/** Chains of 32 label sets, each of which contains the next. */
export function nestedChains(bindings: number): readonly RawObject[] {
  const depth = 32
  return bindingsFor(
    range(bindings).map((at) => {
      const levels = range((at % depth) + 1).map((level) => [numbered('level', level), 'on'] as const)
      return { chain: numbered('chain', Math.floor(at / depth)), ...Object.fromEntries(levels) }
    }),
  )
}

/** One half selects `{app: vllm}`, and each of the other half selects a part of that. */
export function wideAndNarrow(bindings: number): readonly RawObject[] {
  const half = Math.floor(bindings / 2)
  return bindingsFor([
    ...range(half).map(() => ({ app: 'vllm' })),
    ...range(half).map((at) => ({ app: 'vllm', model: numbered('model', at) })),
  ])
}

/**
 * Claims of which one half has seven of fourteen labels each, and the other half all fourteen and one of its own: each of
 * the one half contains each of the other, and no two of one half contain one another.
 */
export function wideByNarrow(claims: number): readonly Claim[] {
  const common = range(14).map((at) => [numbered('label', at), 'on'] as const)
  const wide = choices(common, 7).slice(0, Math.floor(claims / 2))
  const narrow = range(wide.length).map((at) => [...common, ['own', numbered('value', at)] as const])
  return [...wide, ...narrow].map((labels, at) => ({
    basis: 'declared',
    owner: namespacedName('team', numbered('binding', at)),
    output: undefined,
    namespace: 'team',
    serviceAccountName: 'runner',
    containerName: 'vllm',
    labels: new Map(labels),
    spiffeId: `spiffe://example.org/${at}`,
  }))
}

/** Every choice of `count` of the items, in their order. */
function choices<T>(items: readonly T[], count: number): readonly (readonly T[])[] {
  if (count === 0) return [[]]
  return items.flatMap((item, at) =>
    choices(items.slice(at + 1), count - 1).map((others) => [item, ...others]),
  )
}

/** As many pools as pods in one namespace, and each pod belongs to one of them. */
export function onePodEach(count: number): readonly RawObject[] {
  return [...bindingsFor(range(count).map(ownLabel)), ...podsOfOneNamespace(count, ownLabel)]
}

function ownLabel(at: number): Labels {
  return { app: numbered('app', at) }
}

/** As many pools as pods in one namespace, and all of them have the same labels. */
export function equalLabels(count: number): readonly RawObject[] {
  return [
    ...bindingsFor(range(count).map(() => ({ app: 'vllm' }))),
    ...podsOfOneNamespace(count, () => ({ app: 'vllm' })),
  ]
}

/** A namespace for each binding, and not one Namespace object, as in a folder of manifests. */
export function namespacesWithoutObjects(bindings: number): readonly RawObject[] {
  const objects = range(bindings).flatMap((at) => {
    const namespace = numbered('team', at)
    return [poolObject(namespace, 'pool', { app: 'vllm' }), ...claim(namespace, 'chat', 'pool', 'vllm')]
  })
  const pods = range(bindings).map((at) => podIn(numbered('team', at), at, { app: 'vllm' }))
  return [defaultObject(), ...objects, ...outputsFor(objects), ...pods]
}

/** Foreign ClusterSPIFFEIDs for all namespaces, each for one label value that ten pods of one namespace carry. */
export function foreignByLabel(count: number): readonly RawObject[] {
  const foreign = range(count).map((at) =>
    foreignObject(numbered('foreign', at), {
      spiffeIDTemplate: `${USUAL_TEMPLATE}/${at}`,
      podSelector: { matchLabels: { app: numbered('app', at) } },
    }),
  )
  return [
    ...foreign,
    ...podsOfOneNamespace(count * 10, (at) => ({ app: numbered('app', Math.floor(at / 10)) })),
  ]
}

/** The same, but the label stands in a `matchExpressions` with `In`. */
export function foreignByExpression(count: number): readonly RawObject[] {
  const foreign = range(count).map((at) =>
    foreignObject(numbered('foreign', at), {
      spiffeIDTemplate: `${USUAL_TEMPLATE}/${at}`,
      podSelector: {
        matchExpressions: [
          { key: 'app', operator: 'In', values: [numbered('app', at), numbered('old-app', at)] },
        ],
      },
    }),
  )
  return [
    ...foreign,
    ...podsOfOneNamespace(count * 10, (at) => ({ app: numbered('app', Math.floor(at / 10)) })),
  ]
}

/** Foreign ClusterSPIFFEIDs that name their namespace in a `matchExpressions` with `In`, and no label of a pod. */
export function foreignByNamespaceList(count: number): readonly RawObject[] {
  const foreign = range(count).map((at) =>
    foreignObject(numbered('foreign', at), {
      spiffeIDTemplate: `${USUAL_TEMPLATE}/${at}`,
      namespaceSelector: {
        matchExpressions: [
          { key: 'kubernetes.io/metadata.name', operator: 'In', values: [numbered('team', at)] },
        ],
      },
    }),
  )
  return [
    ...foreign,
    ...range(count * 10).map((at) => podIn(numbered('team', Math.floor(at / 10)), at, { app: 'vllm' })),
  ]
}

function podsOfOneNamespace(count: number, labels: (at: number) => Labels): readonly RawObject[] {
  return range(count).map((at) => podIn('team', at, labels(at)))
}

function podIn(namespace: string, at: number, labels: Labels): RawObject {
  return podObject({
    namespace,
    name: `server-${numbered('p', at)}`,
    labels,
    node: numbered('node', at % 100),
    containers: ['vllm', 'lora-syncer'],
  })
}

/** Deployments of one namespace, service account and container, and ten pods for each: which pod was made by which Deployment? */
export function workloadsAndPods(count: number): readonly RawObject[] {
  const workloads = range(count).map((at) => workloadObject('team', numbered('app', at), 'vllm'))
  const pods = range(count * 10).map((at) =>
    podObject({
      namespace: 'team',
      name: `server-${numbered('p', at)}`,
      labels: { app: numbered('app', Math.floor(at / 10)) },
      node: numbered('node', at % 100),
      containers: ['vllm'],
    }),
  )
  return [defaultObject(), ...workloads, ...pods]
}
