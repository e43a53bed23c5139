// The report of `who-selects`: for each container of the chosen pods, every registration that would select it, and what
// becomes of it; or, asked in reverse, the containers that would hold one SPIFFE ID.
import { type Analysis, whoHolds, type WhoHolds } from '@kleym/shared/core/analysis/index.ts'
import {
  compareFindings,
  isAbout,
  type Finding,
  concernsEveryBinding,
  installFindings,
  isAboutRegistration,
  manifestFindings,
  podNotes,
} from '@kleym/shared/core/findings/index.ts'
import { BINDING_KIND } from '@kleym/shared/core/model/names.ts'
import type { Pod } from '@kleym/shared/core/model/objects/pod.ts'
import type { AnswerInput } from '../../gather/gather.ts'
import { isNearMiss } from '../../gather/near-misses.ts'
import {
  countRunning,
  namedIdsOf,
  openJudgements,
  pendingByName,
  podAnswers,
  refusedFor,
  whyAdded,
  type ContainerFilter,
  type PodAnswer,
} from '../parts/pod-answers.ts'
import { containersAnswer, holdersAnswer } from './answer.ts'
import type { WhoSelectsLayout } from './registration-text.ts'
import { viewWhoSelects } from './view.ts'
import { namedPods } from '../../output/name.ts'
import type { Answer } from '../../text/answer.ts'
import { kindsText } from '../../text/findings.ts'
import type { Layout } from '../../text/layout.ts'
import { reported, type Frame } from '../../frame/frame.ts'
import { causesOf } from '../../frame/causes.ts'

/** What the API server does not take of the manifests of registrations, and of the bindings that the answers show. */
function manifestsBehind(analysis: Analysis, answers: readonly PodAnswer[]): readonly Finding[] {
  const bindings = analysis.settled.bindingsByOutput()
  const shown = new Set<string>(
    answers.flatMap(({ containers }) =>
      containers.flatMap(({ registrations }) =>
        registrations.flatMap(({ verdict, source }) =>
          verdict === 'dead' ? [] : (bindings.get(source.name) ?? []),
        ),
      ),
    ),
  )
  return manifestFindings(analysis).filter(
    (one) => isAboutRegistration(one) || isAbout(one, BINDING_KIND, shown),
  )
}

/** Makes the report for the chosen pods. */
export function whoSelectsFrame(input: AnswerInput, pods: readonly Pod[], filter: ContainerFilter): Frame {
  const answers = input.drive(podAnswers(input.after, pods, filter), 'little')
  const asked = answers.map(({ pod }) => pod)
  const findings: readonly Finding[] = [
    ...podNotes(input.after, asked),
    ...manifestsBehind(input.after, answers),
    ...[...installFindings(input.after), ...input.inputFindings].filter(
      (one) => concernsEveryBinding(one) || isNearMiss(one),
    ),
  ].toSorted(compareFindings)
  const bindings = input.after.settled.bindingsByOutput()
  const named = namedIdsOf(input.after, answers, filter)
  const lookup = filter.spiffeId === undefined ? undefined : whoHolds(input.after.settled, filter.spiffeId)
  const layoutOf = (layout: Layout, shown: readonly Finding[]): WhoSelectsLayout => ({
    ...layout,
    bindings,
    findings: shown,
    filter,
    named,
    pending: pendingByName(input.after),
    refusedFor: (pod, container) => refusedFor(input.after.settled, pod, container),
    running: (pod) => countRunning(input.after, pod),
  })
  return {
    kind: 'WhoSelectsReport',
    ...reported(
      async () => (await import('./schema.ts')).whoSelectsReportSchema,
      () => {
        const pending = pendingByName(input.after)
        return {
          lookup,
          pods: answers.map((answer) => ({ answer, bindings, pending })),
          namedBy: named?.by,
          accessPolicies: named && input.after.settled.policies(),
        }
      },
    ),
    findings,
    judged: { count: pods.length, what: 'pod or pod template' },
    causes: causesOf(input, {
      judgements: filter.isLiveState === true ? [] : openJudgements(input.after.settled, asked),
      pods: new Set(asked),
      ...(filter.spiffeId === undefined ? {} : { spiffeId: filter.spiffeId }),
      unread: whyAdded(answers),
      further: isUndecided(lookup) ? [{ leaves: 'a finding', text: `who holds ${filter.spiffeId}` }] : [],
    }),
    names: () => namedPods(asked),
    answer: (layout, shown) => answerOf(answers, filter, lookup, layoutOf(layout, shown)),
    view: (layout, shown) => viewWhoSelects(answers, layoutOf(layout, shown)),
  }
}

/** The first lines: about one SPIFFE ID, about containers, or that nothing is in scope. */
function answerOf(
  answers: readonly PodAnswer[],
  { spiffeId, container }: ContainerFilter,
  lookup: WhoHolds | undefined,
  layout: WhoSelectsLayout,
): Answer {
  if (spiffeId !== undefined) {
    const answer = holdersAnswer(answers, spiffeId, layout, lookup)
    return answers.length > 0 ? answer : { ...answer, reasons: lookupRows(lookup, container) }
  }
  if (answers.length > 0) return withFindings(containersAnswer(answers, layout), layout)
  const known = layout.incomplete === true ? 'known to be ' : ''
  return {
    mark: 'note',
    text: [
      container === undefined
        ? `no pod is ${known}in scope`
        : `no pod ${known}in scope has a container ${container}`,
    ],
  }
}

/** An answer that names the errors and the warnings about its pods; errors stand in full below it. */
function withFindings(answer: Answer, { findings }: WhoSelectsLayout): Answer {
  const lines = (['error', 'warning'] as const).flatMap((severity) => {
    const some = findings.filter((one) => one.severity === severity)
    return some.length === 0 ? [] : [[`${severity}s: ${kindsText(some)}`]]
  })
  return { ...answer, reasons: [...(answer.reasons ?? []), ...lines] }
}

/** If no container in scope holds an ID: what gives it, who holds it elsewhere, or which IDs are similar. */
function lookupRows(
  lookup: WhoHolds | undefined,
  container: string | undefined,
): readonly (readonly string[])[] {
  if (lookup === undefined) return []
  const { resolution, near } = lookup
  const isElsewhere = resolution.state === 'resolved' && container === undefined
  return [
    [`${isElsewhere ? 'out of scope, ' : ''}${resolution.text}`],
    ...(near.length === 0 ? [] : [[`did you mean ${near.join(' or ')}?`]]),
  ]
}

/** Whether a registration that is not certain may give the ID to a container, in scope or out of it. */
function isUndecided(lookup: WhoHolds | undefined): boolean {
  return lookup?.resolution.state === 'unknown' && lookup.resolution.because === 'prediction'
}
