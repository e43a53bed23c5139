// The report of `map`: the graph of who holds what, and the findings about what it shows.
import type { MapNode } from './graph.ts'
import { namedPods, type NamedObject } from '../../output/name.ts'
import { podText } from '@kleym/shared/core/model/objects/pod-index.ts'
import {
  findingSteps,
  concernsEveryBinding,
  compareFindings,
  seenFrom,
  type Finding,
} from '@kleym/shared/core/findings/index.ts'
import { lazy } from '@kleym/shared/core/base/lazy.ts'
import { budgetReport } from '../parts/budgets.ts'
import { isNearMiss } from '../../gather/near-misses.ts'
import { concerns, reported, type Frame } from '../../frame/frame.ts'
import { causesOf, missingOf, policiesIn, type Cause } from '../../frame/causes.ts'
import { mapGraph, type MapParts, type MapSide } from './build.ts'
import { FindingMarks, withFindings } from './marks.ts'
import { mapAnswer, viewMap } from './view.ts'

/** Makes the report. `base` is the desired state of `--compare`. */
export function mapFrame(
  side: MapSide,
  { scope, base, unread }: Pick<MapParts, 'scope' | 'base' | 'unread'>,
): Frame {
  const { input } = side
  const { after } = input
  const { disagreements } = input.operator
  const judgements = [side, ...(base === undefined ? [] : [base])].flatMap((one) =>
    [...one.input.after.now.judgements.values()].filter(
      ({ compiled }) => scope.namespace === undefined || compiled.binding.meta.namespace === scope.namespace,
    ),
  )
  const isNarrow = scope.isChosen || scope.spiffeId !== undefined
  // Of a part of the pods, the number of entries says nothing.
  const budgets = isNarrow ? undefined : lazy(() => budgetReport(after.settled, input.drive))
  const known = causesOf(input, {
    judgements,
    namespace: scope.namespace,
    ...(scope.spiffeId === undefined ? {} : { spiffeId: scope.spiffeId }),
    policies: isNarrow ? [] : policiesIn(input, scope.namespace),
    further:
      base === undefined || disagreements.length === 0
        ? []
        : [{ leaves: 'a finding', text: 'what the change does under settings that differ (KLM520)' }],
  })
  const bare = mapGraph(side, { scope, base, unread, missing: missingOf(known) })
  const causes = [...known, ...uncertainIn(bare)]
  const marks = new FindingMarks(bare.nodes)
  const all = [...input.drive(findingSteps(after)), ...input.inputFindings]
  const isShown = (one: Finding): boolean =>
    concernsEveryBinding(one) ||
    isNearMiss(one) ||
    (isNarrow ? marks.of(one).length > 0 : concerns(one, scope.namespace))
  const findings = all
    .filter(isShown)
    .map((one) => (isNarrow ? one : seenFrom(scope.namespace, one)))
    .toSorted(compareFindings)
  const graphOf = (shown: readonly Finding[]): typeof bare => ({
    ...bare,
    nodes: withFindings(bare.nodes, shown, marks),
  })
  const count = bare.nodes.filter(
    ({ kind }) => kind !== 'namespace' && kind !== 'gap' && kind !== 'identity',
  ).length
  return {
    kind: 'MapReport',
    ...reported(
      async () => (await import('./schema.ts')).mapReportSchema,
      (shown) => ({
        scope: { ...scope, spiffeID: scope.spiffeId, selected: scope.isChosen, compared: base !== undefined },
        ...graphOf(shown),
        budgets: budgets?.(),
      }),
    ),
    findings,
    judged: { count, what: 'binding, pod, policy or registration' },
    causes,
    suppressionScope: {
      all: () => all,
      covers: ({ namespace }) =>
        !isNarrow && (scope.namespace === undefined || namespace === scope.namespace),
    },
    names: () => mapNames(side, bare.nodes),
    diagram: async (shown) => (await import('./diagram.ts')).mapDiagram(graphOf(shown)),
    page: async (parts) => (await import('./html.ts')).mapPage(parts, side, marks),
    answer: (layout, shown) =>
      mapAnswer(
        bare,
        shown.filter((one) => one.severity === 'error' || disagreements.includes(one)),
        layout,
      ),
    view: (layout, shown) =>
      viewMap(bare, {
        ...layout,
        budgets: budgets?.(),
        isCompared: base !== undefined,
        isCertain: after.openSettings.areOutputsTakenAsHandled !== true,
        findings: shown,
      }),
  }
}

/** The cause that leaves the answer open where the map shows a node as uncertain. */
function uncertainIn({ nodes }: Pick<ReturnType<typeof mapGraph>, 'nodes'>): readonly Cause[] {
  const isAny = nodes.some(({ change }) => change === 'uncertain')
  return isAny ? [{ leaves: 'a difference', text: 'what the change does where the map says uncertain' }] : []
}

/** The pods that are there, in their order. */
function mapNames({ answers }: MapSide, nodes: readonly MapNode[]): readonly NamedObject[] {
  const shown = new Set(nodes.flatMap((node) => (node.kind === 'pods' ? node.pods : [])))
  return namedPods(answers.map(({ pod }) => pod).filter((pod) => shown.has(podText(pod))))
}
