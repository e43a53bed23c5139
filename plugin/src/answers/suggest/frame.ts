// The report of `suggest`: for each pool the bindings that are proven, and why there is none where there is none.
import { manifestsFor, type Candidate, type Suggestions } from '@kleym/shared/core/answers/index.ts'
import { compareFindings, notCertain, type Finding } from '@kleym/shared/core/findings/index.ts'
import { isNearMiss } from '../../gather/near-misses.ts'
import type { AnswerInput } from '../../gather/gather.ts'
import { reported, type Frame } from '../../frame/frame.ts'
import { causesOf } from '../../frame/causes.ts'
import { namedManifest, type NamedObject } from '../../output/name.ts'
import type { ObjectName } from '../../sources/kind-name.ts'
import { suggestAnswer, viewSuggestions } from './view.ts'

/** Makes the report. */
export function suggestFrame(input: AnswerInput, answer: Suggestions, targets: readonly ObjectName[]): Frame {
  const { pools, effect, missing } = answer
  const suggested = pools.flatMap((one) => one.suggested)
  const open = suggested.find(({ dependsOn }) => dependsOn !== undefined)
  // What a binding would bring is no surer than that it can be suggested.
  const ofSuggested = (one: Finding): Finding =>
    open?.dependsOn === undefined || one.dependsOn !== undefined
      ? one
      : notCertain(one, [`whether ${open.key} is suggested`], open.dependsOn)
  const findings = [
    ...effect.findings.added.map(ofSuggested),
    ...input.inputFindings.filter((one) => isNearMiss(one) || input.operator.disagreements.includes(one)),
  ].toSorted(compareFindings)
  const unproven = pools.filter(({ not }) => not.some(({ state }) => state === 'unproven'))
  return {
    kind: 'SuggestReport',
    ...reported(
      async () => (await import('./schema.ts')).suggestReportSchema,
      () => ({
        counts: {
          pools: pools.length,
          suggested: suggested.length,
          registrations: pools.flatMap(({ registrations }) => registrations).length,
          withBinding: pools.filter(({ existing }) => existing.length > 0).length,
        },
        ...answer,
      }),
    ),
    findings,
    judged: { count: pools.length, what: 'InferencePool' },
    causes: causesOf(
      { ...input, after: answer.world },
      {
        bindings: new Set<string>(suggested.map(({ key }) => key)),
        unread: missing,
        further: unproven.map(({ pool, not }) => ({
          leaves: 'a statement',
          text: `what InferencePool ${pool.namespace}/${pool.name} could have: ${not.find(({ state }) => state === 'unproven')?.why ?? ''}`,
        })),
      },
    ),
    names: () => namesOf(pools.flatMap((one) => [...one.registrations, ...one.suggested])),
    answer: (layout, kept) => suggestAnswer(answer, targets, kept, layout),
    view: (layout, shown) => viewSuggestions(answer, shown, layout),
    documents: async () => (await import('./documents.ts')).bindingDocuments(answer),
  }
}

/** The names of all objects that are applied for suggestions. */
export function namesOf(suggested: readonly { readonly candidate: Candidate }[]): readonly NamedObject[] {
  return manifestsFor(suggested.map(({ candidate }) => candidate)).map(namedManifest)
}
