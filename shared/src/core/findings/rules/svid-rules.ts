// The findings of what a process got over the Workload API, and who asks for the selectors of kleym's own entries.
import { present } from '../../base/present.ts'
import type { State } from '../../analysis/index.ts'
import { asFarAs, finding, type Finding } from '../finding/finding.ts'
import type { AskedRule } from '../finding/rule.ts'
import { type Subject } from '../../model/objects/subject.ts'
import { lazy } from '../../base/lazy.ts'
import {
  sourceText,
  type SvidAnswer,
  type LackingSvid,
  type SurplusSvid,
  type FailingSelector,
  type FieldOfObject,
  type OriginsOf,
  fieldOfText,
  fieldsBehind,
} from '../../predict/index.ts'

/** What is found in what a process got. */
export const svidRule = {
  codes: ['KLM821', 'KLM822'],
  find: svidFindings,
} as const satisfies AskedRule

/** The findings of an answer. */
function svidFindings({ asked, lacking, surplus }: SvidAnswer): readonly Finding[] {
  const { pod, container } = asked
  const subject = {
    kind: pod.ref.kind,
    namespace: pod.namespace,
    name: pod.ref.name,
    container: container.name,
  }
  return [
    ...lacking.flatMap((one) => asFarAs(one.holds, ofLacking(subject, one))),
    ...surplus.flatMap((one) => asFarAs(one.holds, ofSurplus(subject, one))),
  ]
}

function ofLacking(subject: Subject, { registration, failing, untold, why, expired }: LackingSvid): Finding {
  const { source, spiffeId } = registration
  const changes = failing.flatMap((one) => changeText(one) ?? [])
  return finding('KLM821', {
    subject,
    related: [{ kind: source.kind, namespace: '', name: source.name }],
    summary:
      expired === undefined
        ? `it should have got ${spiffeId ?? 'an SVID'} by ${sourceText(source)}, and did not`
        : `its SVID of ${spiffeId ?? ''} by ${sourceText(source)} was valid until ${expired}`,
    evidence: present(
      expired === undefined
        ? why
        : 'the agent renews an SVID after half of its lifetime: it does not run or does not reach its server, the entry is gone, or the text is old',
      ...failing.map(failingText),
      untold.length > 0 &&
        `of the kind of ${untold.join(', ')} none is given: the process has none, or log_selectors does not name the kind`,
    ),
    ...(failing.length > 0 && {
      fix: changes.length > 0 ? `Change ${changes.join('; and ')}.` : OTHER_PROCESS,
    }),
  })
}

const OTHER_PROCESS =
  'Ask from a process of that container of that pod. If it was one, the pod has changed since: let the process ask again.'

function failingText({ selector, has, askedBy, isShownByPod }: FailingSelector): string {
  const asks = askedBy === undefined ? '' : ` by ${fieldOfText(askedBy)}`
  const there = has.length === 0 ? 'none of its kind' : has.join(', ')
  const other = isShownByPod
    ? ': the pod shows it, so the process is of another pod or container, or the pod has changed since'
    : ''
  return `${selector} is wanted${asks}, and the process has ${there}${other}`
}

function changeText(one: FailingSelector): string | undefined {
  const fields = one.isShownByPod ? [] : fieldsBehind(one)
  return fields.length === 0 ? undefined : fields.join(' or ')
}

function ofSurplus(subject: Subject, { spiffeId, entry }: SurplusSvid): Finding {
  return finding('KLM822', {
    subject,
    summary: `it got ${spiffeId}, and no object gives it that`,
    evidence: [
      entry === undefined
        ? 'the server holds no entry of it for this pod: the agent hands out what it had, until its next synchronization'
        : `the entry ${entry.id} of the server gives it`,
    ],
  })
}

/** Who asks for the selectors of the outputs in a state. */
export function originsIn(state: State): OriginsOf {
  const byOutput = lazy(
    () =>
      new Map(
        [...state.judgements.values()].flatMap((judgement) => {
          if (judgement.state !== 'ready') return []
          const { identity, output } = judgement.resolved
          const fields = identity.selectors.map(({ selector, object, field }): [string, FieldOfObject] => {
            const [kind = '', name = ''] = object.split('/')
            return [selector, { object: `${kind}/${identity.namespace}/${name}`, field }]
          })
          return [[output.metadata.name, new Map(fields)] as const]
        }),
      ),
  )
  return (name) => byOutput().get(name)
}
