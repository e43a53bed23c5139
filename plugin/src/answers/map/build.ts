// The map of an analysis: what `who-selects` says of the chosen containers, with all that gives identities, the identities
// themselves and the policies that name them, as one graph.
import { onceBy } from '@kleym/shared/core/base/groups.ts'
import { assumptionsThatCount, dependsText } from '@kleym/shared/core/analysis/index.ts'
import { TRUST_DOMAIN_PLACEHOLDER } from '@kleym/shared/core/decide/index.ts'
import { getOrCreate } from '@kleym/shared/core/base/get-or-create.ts'
import { podText } from '@kleym/shared/core/model/objects/pod-index.ts'
import { pathIn } from '@kleym/shared/core/model/spiffe-id.ts'
import { compareBytes } from '@kleym/shared/core/base/text/bytes.ts'
import { type Snapshot } from '@kleym/shared/core/snapshot/index.ts'
import { unknownReasonText, type UnknownReason } from '@kleym/shared/core/model/unknown-reason.ts'
import type { AnswerInput } from '../../gather/gather.ts'
import { pendingByName, type PodAnswer } from '../parts/pod-answers.ts'
import type { UnreadSides } from '@kleym/shared/core/answers/index.ts'
import { differenceOf, type MapDifference } from './compare.ts'
import { gapNodes } from './gaps.ts'
import { CONTAINER_STATES } from '../parts/container-states.ts'
import type { AsksEdge, MapChange, MapGraph, MapNode, NamespaceNode, RegistrationEdge } from './graph.ts'
import { identityId, namespaceId } from './ids.ts'
import { identityNodes, mayHoldBeside } from './identities.ts'
import { podParts } from './pods.ts'
import { comparedPolicies, policyParts } from './policies.ts'
import { bindingsOfOutputs, sourceParts, type SourceParts } from './sources.ts'

/** What a map is limited to. */
export interface MapScope {
  /** Undefined: all namespaces. */
  readonly namespace: string | undefined
  /** Whether some pods were chosen by labels: then only what has to do with them is drawn. */
  readonly isChosen: boolean
  /** The ID of `--spiffe-id`: then only what has to do with it is drawn. */
  readonly spiffeId: string | undefined
}

/** One side of a map. */
export interface MapSide {
  readonly input: AnswerInput
  /** What `who-selects` says of the chosen pods. */
  readonly answers: readonly PodAnswer[]
}

/** What a map is made of, beside what is there. */
export interface MapParts {
  readonly scope: MapScope
  /** The desired state of `--compare`. */
  readonly base: MapSide | undefined
  /** What only one of the two leaves unread. */
  readonly unread?: UnreadSides | undefined
  /** What the answer would have needed and could not be read. */
  readonly missing: readonly UnknownReason[]
}

/** Makes the map; the findings are marked on it by `withFindings`. */
export function mapGraph({ input, answers }: MapSide, { scope, base, unread, missing }: MapParts): MapGraph {
  const { after } = input
  const difference =
    base === undefined
      ? undefined
      : differenceOf(base.input.after, input.after, {
          drive: input.drive,
          ...(unread !== undefined && { unread }),
        })
  const unsettled = unsettledText(input)
  const pods = podParts([...answers, ...goneAnswers(base, difference)], {
    bindings: new Map([
      ...(base === undefined ? [] : bindingsOfOutputs(base.input.after)),
      ...bindingsOfOutputs(after),
    ]),
    pending: pendingByName(after),
    unsettled,
    difference,
  })
  const sources = sourcesInScope(bothSides(after, base, difference), pods.registrations, scope)
  const asks = asksInScope(sources, pods, scope)
  const held = new Set([...pods.holds, ...asks].map(({ to }) => to.slice(IDENTITY.length)))
  if (scope.spiffeId !== undefined) held.add(scope.spiffeId)
  const isInScope = (one: string): boolean => scope.namespace === undefined || one === scope.namespace
  const policies = comparedPolicies(after.settled, base?.input.after.settled, (state, kept) =>
    policyParts(state, pods.nodes, {
      spiffeIds: held,
      isInScope: (namespace, id) => kept.has(id) || (!isNarrow(scope) && isInScope(namespace)),
    }),
  )
  const gaps = gapNodes(after.snapshot, missing, isInScope)
  const isOpen = unsettled !== undefined || gaps.some(({ state }) => state === 'unknown')
  const mayHold = mayHoldBeside(after, answers)
  const identities = identityNodes([...held, ...policies.spiffeIds], pods, (id) => isOpen || mayHold(id))
  const within: readonly MapNode[] = [...gaps, ...pods.nodes, ...sources.nodes, ...policies.nodes]
  const named = isNarrow(scope)
    ? []
    : after.snapshot.namespaces.read.map(({ name }) => name).filter(isInScope)
  return {
    nodes: [...namespaceNodes(within, named, after.snapshot), ...within, ...identities],
    edges: [...pods.registrations, ...pods.holds, ...asks, ...policies.names],
  }
}

const IDENTITY = identityId('')

function isNarrow({ isChosen, spiffeId }: MapScope): boolean {
  return isChosen || spiffeId !== undefined
}

/** Settings that were not given leave open whatever is said not to be. */
function unsettledText({ after, before }: AnswerInput): string | undefined {
  const on = [after, before].flatMap(({ openSettings }) => assumptionsThatCount(openSettings))
  const distinct = onceBy(on, ({ setting }) => setting)
  return distinct.length === 0 ? undefined : dependsText(distinct)
}

/** The pods that a change removes, as they were. */
function goneAnswers(base: MapSide | undefined, difference: MapDifference | undefined): readonly PodAnswer[] {
  return (base?.answers ?? []).filter(({ pod }) => difference?.pods.get(podText(pod)) === 'removed')
}

/** What gives identities on either side; what is on one side alone says so. */
function bothSides(
  after: AnswerInput['after'],
  base: MapSide | undefined,
  difference: MapDifference | undefined,
): SourceParts {
  const now = sourceParts(after, difference)
  if (base === undefined) return now
  const before = sourceParts(base.input.after, difference)
  const [had, has] = [before, now].map(({ nodes }) => new Set(nodes.map(({ id }) => id)))
  const gone = before.nodes.filter(({ id }) => has?.has(id) !== true)
  return {
    nodes: [
      ...now.nodes.map((node) =>
        had?.has(node.id) === true ? node : { ...node, change: 'added' satisfies MapChange as MapChange },
      ),
      ...gone.map((node) => ({ ...node, change: 'removed' satisfies MapChange as MapChange })),
    ],
    asks: [...now.asks, ...before.asks.filter(({ from }) => gone.some(({ id }) => id === from))],
  }
}

/** All registrations in scope. For a narrow question, and for cluster-scoped ones, only those that concern something shown. */
function sourcesInScope(
  { nodes, asks }: SourceParts,
  registrations: readonly RegistrationEdge[],
  scope: MapScope,
): SourceParts {
  const selecting = new Set(registrations.map(({ from }) => from))
  const asking = new Set(
    asks.flatMap(({ from, to }) =>
      scope.spiffeId !== undefined && to === identityId(scope.spiffeId) ? [from] : [],
    ),
  )
  const kept = nodes.filter(
    ({ id, kind, namespace }) =>
      selecting.has(id) ||
      asking.has(id) ||
      (!isNarrow(scope) &&
        (scope.namespace === undefined || (kind === 'binding' && namespace === scope.namespace))),
  )
  const ids = new Set(kept.map(({ id }) => id))
  return { nodes: kept, asks: asks.filter(({ from }) => ids.has(from)) }
}

/**
 * What is asked for. Where the trust domain of a binding is not known, and the prediction has filled in SCM's, that is the
 * same identity. Of a narrow question, only what is held or was asked about.
 */
function asksInScope(
  { asks }: SourceParts,
  { registrations, holds }: ReturnType<typeof podParts>,
  scope: MapScope,
): readonly AsksEdge[] {
  const given = Map.groupBy(registrations, ({ from }) => from)
  const held = new Set(holds.map(({ to }) => to))
  const wanted = scope.spiffeId === undefined ? undefined : identityId(scope.spiffeId)
  return asks
    .map((ask) => {
      if (!ask.to.includes(TRUST_DOMAIN_PLACEHOLDER)) return ask
      const path = pathIn(ask.to.slice(IDENTITY.length))
      const same = given
        .get(ask.from)
        ?.find(({ spiffeID }) => spiffeID !== null && pathIn(spiffeID) === path)?.spiffeID
      return same === undefined || same === null ? ask : { ...ask, to: identityId(same) }
    })
    .filter(({ to }) => !isNarrow(scope) || to === wanted || (scope.spiffeId === undefined && held.has(to)))
}

/** Every namespace that holds something, and those that are there and hold nothing. */
function namespaceNodes(
  within: readonly MapNode[],
  named: readonly string[],
  snapshot: Snapshot,
): readonly NamespaceNode[] {
  const byNamespace = new Map<string, MapNode[]>(named.map((name) => [name, []]))
  for (const node of within)
    if (node.namespace !== '') getOrCreate(byNamespace, node.namespace, () => []).push(node)
  return [...byNamespace]
    .toSorted(([left], [right]) => compareBytes(left, right))
    .map(([name, nodes]) => ({
      kind: 'namespace',
      id: namespaceId(name),
      label: name,
      namespace: name,
      parent: null,
      findings: [],
      change: null,
      containers: stateCounts(nodes),
      pods: nodes.reduce(
        (sum, node) => sum + (node.kind === 'pods' && node.change !== 'removed' ? node.pods.length : 0),
        0,
      ),
      open: unreadPods(snapshot, name),
    }))
}

/** Why there may be pods of a namespace that were not read. */
function unreadPods(snapshot: Snapshot, namespace: string): string | null {
  if (snapshot.namespacesRead?.has(namespace) === false) return 'only other namespaces were read'
  const gap = snapshot.rest.pods(namespace)
  return gap === undefined ? null : unknownReasonText(gap)
}

function stateCounts(nodes: readonly MapNode[]): NamespaceNode['containers'] {
  const counts = new Map<keyof NamespaceNode['containers'], number>()
  for (const node of nodes)
    if (node.kind === 'container' && node.change !== 'removed')
      counts.set(node.state, (counts.get(node.state) ?? 0) + node.count)
  return Object.fromEntries(
    CONTAINER_STATES.flatMap((state) => {
      const count = counts.get(state)
      return count === undefined ? [] : [[state, count] as const]
    }),
  )
}
