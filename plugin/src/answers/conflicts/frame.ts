// The report of `conflicts`: every finding about things that clash, worst first.
import {
  findingSteps,
  concernsEveryBinding,
  compareFindings,
  isAbout,
  seenFrom,
  type Finding,
  isClash,
} from '@kleym/shared/core/findings/index.ts'
import { BINDING_KIND } from '@kleym/shared/core/model/names.ts'
import { namespacedName } from '@kleym/shared/core/model/namespaced-name.ts'
import type { Binding } from '@kleym/shared/core/model/objects/binding.ts'
import type { AnswerInput } from '../../gather/gather.ts'
import { isNearMiss } from '../../gather/near-misses.ts'
import { bindingsIn, countsOf, countsOfBindings, refusedOf } from './counts.ts'
import { viewFindingGroups } from '../../text/finding-groups.ts'
import { conflictsAnswer } from './view.ts'
import { concerns, namedSubject, reported, type Frame } from '../../frame/frame.ts'
import { isOperatorDown } from '../../frame/operator-down.ts'
import { causesOf, policiesIn } from '../../frame/causes.ts'

/** Makes the report for one namespace, or for all; for some bindings, where they are `chosen`. */
export function conflictsFrame(
  input: AnswerInput,
  namespace: string | undefined,
  chosen?: readonly Binding[],
): Frame {
  const keys = chosen === undefined ? undefined : new Set<string>(chosen.map(({ key }) => key))
  const isMeant = (one: Finding): boolean =>
    keys === undefined
      ? concerns(one, namespace) || isOperatorDown(one)
      : isOperatorDown(one) ||
        isAbout(one, BINDING_KIND, keys) ||
        concernsEveryBinding(one) ||
        isNearMiss(one)
  const all = [...input.drive(findingSteps(input.after)), ...input.inputFindings]
  const findings = all
    .filter((one) => isClash(one.code) && isMeant(one))
    .map((one) => (keys === undefined ? seenFrom(namespace, one) : one))
    .toSorted(compareFindings)
  const bindings = chosen ?? bindingsIn(input, namespace)
  const counts = chosen === undefined ? countsOf(input, bindings, namespace) : countsOfBindings(bindings)
  const refused = refusedOf(input, bindings)
  return {
    kind: 'ConflictsReport',
    ...reported(
      async () => (await import('./schema.ts')).conflictsReportSchema,
      () => ({ ...counts, refused: refused.count }),
    ),
    isOfFindings: true,
    findings,
    judged:
      keys === undefined
        ? { count: subjectsIn(input, namespace), what: 'binding, pod, policy or registration' }
        : { count: keys.size, what: 'binding' },
    causes: causesOf(input, {
      judgements: bindings.flatMap(({ key }) => input.after.now.judgements.get(key) ?? []),
      // Some bindings alone are undetermined themselves without what their policies need.
      ...(keys === undefined ? { namespace, policies: policiesIn(input, namespace) } : { bindings: keys }),
    }),
    suppressionScope: {
      all: () => all,
      covers: (subject) =>
        keys === undefined
          ? namespace === undefined || subject.namespace === namespace
          : subject.kind === BINDING_KIND && keys.has(namespacedName(subject.namespace, subject.name)),
    },
    names: (shown) => shown.map(namedSubject),
    diagram: async (shown) => (await import('./diagram.ts')).conflictsDiagram(shown),
    answer: (layout, shown) => conflictsAnswer(shown, { ...counts, refused }, layout),
    view: (layout, shown) => viewFindingGroups(shown, layout),
  }
}

/** Whatever may clash with something: registrations have no namespace. */
function subjectsIn({ after }: AnswerInput, namespace: string | undefined): number {
  const { bindings, accessPolicies, clusterSpiffeIds, staticEntries } = after.snapshot
  const isIn = (one: string): boolean => namespace === undefined || one === namespace
  const named = [...bindings.read, ...accessPolicies.read].filter(({ meta }) => isIn(meta.namespace)).length
  const pods = after.podsInQuestion.filter((pod) => isIn(pod.namespace)).length
  return (
    named + pods + (namespace === undefined ? clusterSpiffeIds.read.length + staticEntries.read.length : 0)
  )
}
