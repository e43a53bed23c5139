// The report of `policies`: whom each rule of the chosen access policies names, and the findings about them.
import { groupOfApiVersion } from '@kleym/shared/core/model/kinds.ts'
import {
  findingSteps,
  compareFindings,
  type Finding,
  concernsEveryBinding,
  bareKind,
  objectKey,
  unknownSources,
  namedIn,
} from '@kleym/shared/core/findings/index.ts'
import type { ResolvedPolicy } from '@kleym/shared/core/analysis/index.ts'
import { NAMES_FILE_KIND } from '@kleym/shared/core/model/naming/names-outside.ts'
import { sourceText } from '@kleym/shared/core/predict/index.ts'
import type { AnswerInput } from '../../gather/gather.ts'
import { isNearMiss } from '../../gather/near-misses.ts'
import { policiesAnswer, viewPolicies } from './view.ts'
import { reported, type Frame } from '../../frame/frame.ts'
import { causesOf, isUnfollowed } from '../../frame/causes.ts'

/** Makes the report for the chosen policies, and the other objects that mention IDs. */
export function policiesFrame(
  input: AnswerInput,
  chosen: readonly ResolvedPolicy[],
  mentioning: readonly ResolvedPolicy[],
): Frame {
  const { after } = input
  const { knowledge } = after.settled.policies()
  const keys = new Set([...chosen, ...mentioning].map(objectKey))
  const isChosen = ({ subject, related }: Finding): boolean =>
    [subject, ...related].some((one) => keys.has(objectKey(one)))
  const perhaps = perhapsGiving(chosen)
  const all = [...input.drive(findingSteps(after)), ...input.inputFindings].toSorted(compareFindings)
  const findings = all.filter(
    (one) =>
      isChosen(one) ||
      mayGiveOne(one, perhaps) ||
      isNearMiss(one) ||
      (chosen.length > 0 && concernsEveryBinding(one)),
  )
  return {
    kind: 'PoliciesReport',
    ...reported(
      async () => (await import('./schema.ts')).policiesReportSchema,
      () => ({
        policiesKnown: knowledge,
        policiesUnknown: knowledge,
        policies: chosen,
        mentions: mentioning.flatMap((policy) =>
          policy.rules.flatMap(({ sources }) => sources.map((source) => ({ policy, source }))),
        ),
      }),
    ),
    findings,
    judged: { count: chosen.length + mentioning.length, what: 'access policy' },
    causes: causesOf(input, {
      judgements: after.now.judgements.values(),
      policies: [...chosen, ...mentioning],
    }),
    suppressionScope: { all: () => all, covers: (subject) => keys.has(objectKey(subject)) },
    names: () =>
      // What stands in a file of names is no object.
      chosen
        .filter(({ kind }) => kind !== NAMES_FILE_KIND)
        .map(({ kind, apiVersion, namespace, name }) => ({
          kind,
          group: groupOfApiVersion(apiVersion),
          namespace,
          name,
        })),
    answer: (layout, shown) => policiesAnswer(chosen, { ...layout, knowledge, mentioning, findings: shown }),
    view: (layout, shown) => viewPolicies(chosen, { ...layout, knowledge, mentioning, findings: shown }),
  }
}

/** The objects that may give an ID which a chosen policy names and no container is known to hold. */
function perhapsGiving(chosen: readonly ResolvedPolicy[]): ReadonlySet<string> {
  return new Set(unknownSources(chosen).flatMap(({ perhaps }) => perhaps.map(sourceText)))
}

/** Whether it is about an object that kleym does not follow, and that may give an ID that a policy names. */
function mayGiveOne(one: Finding, perhaps: ReadonlySet<string>): boolean {
  return isUnfollowed(one) && namedIn(one).some(({ kind, name }) => perhaps.has(`${bareKind(kind)}/${name}`))
}
