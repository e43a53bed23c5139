// The report of `who-selects`: for each container of the chosen pods, every registration that would select it, and what
// becomes of it; or, asked in reverse, the containers that would hold one SPIFFE ID.
import { bindingOfOutput, type Analysis } from '@kleym/shared/core/analysis/analysis.ts'
import { compareFindings, type Finding } from '@kleym/shared/core/findings/finding.ts'
import { concernsEverybody, installFindings } from '@kleym/shared/core/rules/install-rules.ts'
import { podNotes } from '@kleym/shared/core/rules/pod-findings.ts'
import type { Pod } from '@kleym/shared/core/objects/pod.ts'
import { podText } from '@kleym/shared/core/objects/pod-index.ts'
import { hasPolicies } from '@kleym/shared/core/policies/policies.ts'
import { containerVerdicts, type Registration } from '@kleym/shared/core/spire/registration.ts'
import { sourceText } from '@kleym/shared/core/spire/prediction.ts'
import { compareBytes } from '@kleym/shared/core/text/bytes.ts'
import type { AnswerInput } from '../../gather/gather.ts'
import { viewWhoSelects } from './view.ts'
import type { Frame } from '../../frame/frame.ts'
import type { Named, Narrowing, PodAnswer } from '../../frame/model.ts'
import { missingOf } from '../../frame/missing.ts'
import { accessPoliciesReport, namedByReport } from '../policies/json.ts'

/** Makes the report for the chosen pods. */
export function whoSelectsFrame(world: AnswerInput, pods: readonly Pod[], narrowing: Narrowing): Frame {
  const answers = answersOf(world.after, pods, narrowing)
  const asked = answers.map(({ pod }) => pod)
  const findings: readonly Finding[] = [
    ...podNotes(world.after, asked),
    ...[...installFindings(world.after), ...world.inputFindings].filter(concernsEverybody),
  ].toSorted(compareFindings)
  const bindings = bindingOfOutput(world.after)
  const named = namedOf(world.after, answers, narrowing)
  return {
    kind: 'WhoSelectsReport',
    fields: () => ({
      pods: answers.map((answer) => podReport(answer, bindings, world.after)),
      ...(named === undefined
        ? {}
        : {
            namedBy: namedByReport(named.by),
            accessPolicies: accessPoliciesReport(world.after.policies()),
          }),
    }),
    findings,
    missing: missingOf(world, []),
    names: () =>
      asked.map(({ ref }) => ({ kind: ref.kind, group: '', namespace: ref.namespace, name: ref.name })),
    view: (layout, shown) =>
      viewWhoSelects(answers, {
        ...layout,
        bindings,
        findings: shown,
        narrowing,
        named,
        pending: pendingByName(world.after),
      }),
  }
}

function answersOf(
  analysis: Analysis,
  pods: readonly Pod[],
  { container, spiffeId }: Narrowing,
): readonly PodAnswer[] {
  return pods.flatMap((pod) => {
    const containers = pod.containers
      .filter(({ name }) => container === undefined || name === container)
      .map((one) => ({ container: one, registrations: containerVerdicts(analysis.prediction(), pod, one) }))
      .filter(
        ({ registrations }) => spiffeId === undefined || registrations.some((one) => mayHold(one, spiffeId)),
      )
      .map(({ container: one, registrations }) => ({
        container: one,
        registrations:
          spiffeId === undefined ? registrations : registrations.filter((each) => mayHold(each, spiffeId)),
      }))
    return containers.length === 0 ? [] : [{ pod, containers }]
  })
}

/** Holds the ID, or may: what is not known must not be left out of an answer to "who would hold this?". */
function mayHold(one: Registration, wanted: string): boolean {
  const { verdict, spiffeId } = one
  if (verdict === 'unknown') return true
  return spiffeId === wanted && isHeld(one)
}

/** Who names the identities of an answer; undefined where there are no policies to speak of. */
function namedOf(
  analysis: Analysis,
  answers: readonly PodAnswer[],
  { spiffeId }: Narrowing,
): Named | undefined {
  const policies = analysis.policies()
  if (!hasPolicies(policies)) return undefined
  const held = answers.flatMap(({ containers }) =>
    containers.flatMap(({ registrations }) =>
      registrations.filter(isHeld).flatMap((one) => one.spiffeId ?? []),
    ),
  )
  const ids = [...new Set(spiffeId === undefined ? held : [spiffeId])].toSorted(compareBytes)
  const pods = answers.map(({ pod }) => pod)
  return { ids, by: policies.namedBy(ids, pods) }
}

function isHeld({ verdict }: Registration): boolean {
  return verdict === 'issued' || verdict === 'depends'
}

/** How far an object is from being in force, by name; nothing for those that are. */
function pendingByName({ settled }: Analysis): ReadonlyMap<string, string> {
  return new Map(
    settled.changes.flatMap((change) =>
      change.kind === 'delete'
        ? []
        : [
            [
              change.output.metadata.name,
              change.kind === 'create' ? 'kleym has yet to create it' : 'kleym has yet to update it',
            ] as const,
          ],
    ),
  )
}

function podReport(
  { pod, containers }: PodAnswer,
  bindings: ReadonlyMap<string, string>,
  analysis: Analysis,
): Readonly<Record<string, unknown>> {
  const standing = pendingByName(analysis)
  return {
    pod: podText(pod),
    kind: pod.ref.kind,
    namespace: pod.namespace,
    name: pod.ref.name,
    exists: pod.exists,
    node: pod.nodeName ?? null,
    serviceAccountName: pod.serviceAccountName,
    containers: containers.map(({ container, registrations }) => ({
      name: container.name,
      role: container.role,
      identities: registrations
        .filter(({ verdict }) => verdict === 'issued')
        .map(({ spiffeId }) => spiffeId ?? null),
      registrations: registrations.map((one) => ({
        verdict: one.verdict,
        spiffeID: one.spiffeId ?? null,
        source: sourceText(one.source),
        binding: bindings.get(one.source.name) ?? null,
        hint: one.hint,
        sharesHint: one.sharesHint,
        why: one.why ?? null,
        selector: one.selector ?? null,
        by: one.by === undefined ? null : sourceText(one.by),
        pending: standing.get(one.source.name) ?? null,
      })),
    })),
  }
}
