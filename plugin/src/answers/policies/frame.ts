// The report of `policies`: whom each rule of the chosen access policies names, and the findings about them.
import { groupOfApiVersion } from '@kleym/shared/core/kinds.ts'
import { findingSteps } from '@kleym/shared/core/rules/all.ts'
import { compareFindings, type Finding } from '@kleym/shared/core/findings/finding.ts'
import { concernsEveryBinding } from '@kleym/shared/core/rules/install-rules.ts'
import type { UnknownReason } from '@kleym/shared/core/unknown-reason.ts'
import type { Resolution, ResolvedPolicy } from '@kleym/shared/core/policies/resolution.ts'
import { bareKind, objectKey } from '@kleym/shared/core/findings/suppress-annotation.ts'
import { sourceText } from '@kleym/shared/core/spire/prediction.ts'
import type { AnswerInput } from '../../gather/gather.ts'
import { isNearMiss } from '../../gather/near-misses.ts'
import { policiesAnswer, viewPolicies } from './view.ts'
import type { Frame } from '../../frame/frame.ts'
import { missingOf } from '../../frame/missing.ts'
import { policiesFields } from './json.ts'

/** Makes the report for the chosen policies. */
export function policiesFrame(input: AnswerInput, chosen: readonly ResolvedPolicy[]): Frame {
  const { after } = input
  const { knowledge } = after.settled.policies()
  const keys = new Set(chosen.map(objectKey))
  const isChosen = ({ subject, related }: Finding): boolean =>
    [subject, ...related].some((one) => keys.has(objectKey(one)))
  const open = openQuestions(chosen)
  const all = [...input.drive(findingSteps(after)), ...input.inputFindings].toSorted(compareFindings)
  const findings = all.filter(
    (one) =>
      isChosen(one) ||
      isUnfollowed(one, open.perhaps) ||
      isNearMiss(one) ||
      (chosen.length > 0 && concernsEveryBinding(one)),
  )
  return {
    kind: 'PoliciesReport',
    fields: () => policiesFields(knowledge, chosen),
    findings,
    judged: { count: chosen.length, what: 'access policy' },
    missing: [
      ...missingOf(input, after.now.judgements.values(), {}),
      ...(open.trustDomain ? [TRUST_DOMAIN_UNKNOWN] : []),
    ],
    suppressionScope: { all: () => all, covers: (subject) => keys.has(objectKey(subject)) },
    names: () =>
      chosen.map(({ kind, apiVersion, namespace, name }) => ({
        kind,
        group: groupOfApiVersion(apiVersion),
        namespace,
        name,
      })),
    answer: (layout, shown) => policiesAnswer(chosen, { ...layout, knowledge, findings: shown }),
    view: (layout, shown) => viewPolicies(chosen, { ...layout, knowledge, findings: shown }),
  }
}

/** Without the trust domain, kleym cannot tell whether an ID is one of ours. */
const TRUST_DOMAIN_UNKNOWN: UnknownReason = { verb: 'read', what: "kleym's trust domain", cause: 'not given' }

/** What the sources of the chosen policies leave unknown. */
interface OpenQuestions {
  /** The objects that may give an ID which no container is known to hold. */
  readonly perhaps: ReadonlySet<string>
  /** Whether the answer about a source depends on the trust domain. */
  readonly trustDomain: boolean
}

function openQuestions(chosen: readonly ResolvedPolicy[]): OpenQuestions {
  const unknown = chosen
    .flatMap(({ rules }) => rules.flatMap(({ sources }) => sources.map(({ resolution }) => resolution)))
    .filter((one): one is Extract<Resolution, { readonly state: 'unknown' }> => one.state === 'unknown')
  return {
    perhaps: new Set(unknown.flatMap(({ perhaps }) => perhaps.map(sourceText))),
    trustDomain: unknown.some(({ because }) => because === 'trust domain'),
  }
}

/** KLM413 is the code of what kleym does not follow: such an object may give an ID that a policy names. */
function isUnfollowed({ code, subject, related }: Finding, perhaps: ReadonlySet<string>): boolean {
  return (
    code === 'KLM413' &&
    [subject, ...related].some(({ kind, name }) => perhaps.has(`${bareKind(kind)}/${name}`))
  )
}
