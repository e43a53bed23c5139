// The report of `explain`: the explanations of the chosen bindings, and the findings that they are part of.
import type { Each } from '@kleym/shared/core/base/each.ts'
import { NO } from '@kleym/shared/core/model/truth/truth.ts'
import { namespacedName } from '@kleym/shared/core/model/namespaced-name.ts'
import { getOrCreate } from '@kleym/shared/core/base/get-or-create.ts'
import type { Steps } from '@kleym/shared/core/base/steps.ts'
import { explaining, type Explanation, inForceFinding } from '@kleym/shared/core/answers/index.ts'
import {
  findingSteps,
  findingStepsAbout,
  compareFindings,
  isAbout,
  namedIn,
  type Finding,
  isAboutRegistration,
  concernsEveryBinding,
} from '@kleym/shared/core/findings/index.ts'
import { BINDING_KIND } from '@kleym/shared/core/model/names.ts'
import type { Binding } from '@kleym/shared/core/model/objects/binding.ts'
import { hasPolicies, type Policies, type NamedBy } from '@kleym/shared/core/analysis/index.ts'
import { type Snapshot } from '@kleym/shared/core/snapshot/index.ts'
import { counted } from '@kleym/shared/core/base/text/counted.ts'
import { didYouMean } from '@kleym/shared/core/base/text/suggest.ts'
import { AnswerCount, EXPLAINED } from '../../gather/answer-limits.ts'
import type { AnswerInput } from '../../gather/gather.ts'
import { isNearMiss } from '../../gather/near-misses.ts'
import { openJudgements } from '../parts/pod-answers.ts'
import { isShownBy, type Only } from './only.ts'
import { explainAnswer, viewExplanations, type ExplainLayout } from './view.ts'
import { namedBindings } from '../../output/name.ts'
import type { Layout } from '../../text/layout.ts'
import { namesText } from '../../text/names.ts'
import { reported, type Frame } from '../../frame/frame.ts'
import { isOperatorDown } from '../../frame/operator-down.ts'
import { causesOf } from '../../frame/causes.ts'

/** How the chosen bindings are shown. */
export interface ExplainShow {
  /** Whether the person asked for them one by one. */
  readonly named: boolean
  /** Only those in this state; undefined: all. */
  readonly only?: Only | undefined
}

/** Makes the report for the chosen bindings. */
export function explainFrame(
  input: AnswerInput,
  chosen: readonly Binding[],
  { named, only }: ExplainShow,
): Frame {
  const keys = new Set(chosen.map(({ key }) => key))
  // All pods are asked: a foreign registration may give the identity of a binding to a pod of another namespace.
  const all = [
    ...input.drive(findingStepsAbout(input.after, keys)),
    ...input.inputFindings,
    ...chosen.flatMap((binding) => inForceFinding(input.after, binding) ?? []),
  ].toSorted(compareFindings)
  const explanations = input.drive(explainedOf(input, chosen))
  // What else those pods hold is part of the answer; of a cluster as it is, what is not decided gives them nothing.
  const reached = explanations.flatMap(({ reach }) => reach?.reached.map(({ pod }) => pod) ?? [])
  const isLiveState = input.isLive && input.before === input.after
  const shownOnes = explanations.filter(({ judgement }) => isShownBy(only, judgement.state))
  const shownKeys = new Set(shownOnes.map(({ key }) => key))
  const policies = input.after.settled.policies()
  const isNamed = hasPolicies(policies)
  const namedBy = (one: Explanation): NamedBy | undefined => (isNamed ? namedByOf(one, policies) : undefined)
  const clusterWide = all.filter(
    (one) =>
      isOperatorDown(one) ||
      // What is wrong with the install stays so, whatever becomes of a binding.
      (explanations.length > 0 && (concernsEveryBinding(one) || isAboutRegistration(one))) ||
      (isNearMiss(one) && mayBeMeant(one, chosen)),
  )
  const findings = all
    .filter((one) => isAbout(one, BINDING_KIND, keys) || clusterWide.includes(one))
    .map((one) => withSuggestion(one, input.after.snapshot))
  const layoutOf = (layout: Layout, shown: readonly Finding[]): ExplainLayout => ({
    findingsByBinding: findingsByBinding(shown),
    clusterWide: clusterWide.filter((one) => shown.includes(one)),
    total: explanations.length,
    named,
    namedBy,
    isOperatorDown: findings.some(isOperatorDown),
    scopeText: scopeText(input.after.snapshot),
    isBeforeTheFirst: input.after.snapshot.bindings.some() === NO,
    scopeFlag: input.namespaceInForce === undefined ? '-A' : `-n ${input.namespaceInForce}`,
    ...layout,
  })
  return {
    kind: 'ExplainReport',
    ...reported(
      async () => (await import('./schema.ts')).explainReportSchema,
      () => ({
        bindings: shownOnes.map((one) => ({ explanation: one, namedBy: namedBy(one) })),
        accessPolicies: isNamed ? policies : undefined,
        bindingsNotShown: explanations.length - shownOnes.length || undefined,
      }),
    ),
    hides: (one) =>
      only !== undefined && isAbout(one, BINDING_KIND, keys) && !isAbout(one, BINDING_KIND, shownKeys),
    findings,
    judged: { count: chosen.length, what: 'binding' },
    causes: causesOf(input, {
      judgements: [
        ...explanations.map(({ judgement }) => judgement),
        ...(isLiveState ? [] : openJudgements(input.after.settled, reached)),
      ],
      bindings: keys,
    }),
    suppressionScope: {
      all: () => [...input.drive(findingSteps(input.after)), ...input.inputFindings],
      covers: ({ kind, namespace, name }) =>
        kind === BINDING_KIND && keys.has(namespacedName(namespace, name)),
    },
    names: () => namedBindings(chosen.filter(({ key }) => shownKeys.has(key))),
    diagram: async (shown) =>
      (await import('./diagram.ts')).explainDiagram(shownOnes, findingsByBinding(shown)),
    answer: (layout, shown) => explainAnswer(explanations, layoutOf(layout, shown)),
    view: (layout, shown) => viewExplanations(shownOnes, layoutOf(layout, shown)),
  }
}

/** Throws a KleymError where they would be too large, peers first: they are known before anything is worked out. */
function explainedOf({ after }: AnswerInput, chosen: readonly Binding[]): Steps<readonly Explanation[]> {
  const named = new AnswerCount(EXPLAINED)
  for (const { key } of chosen) {
    const judgement = after.now.judgements.get(key)
    if (judgement?.state === 'refused') named.add(judgement.collision?.count ?? 0)
  }
  return explaining(after, chosen, (count) => named.add(count))
}

/** Whether an object that is not read may have to do with these bindings; any may where there are none. */
function mayBeMeant({ subject: { namespace } }: Finding, chosen: readonly Binding[]): boolean {
  return chosen.length === 0 || namespace === '' || chosen.some(({ meta }) => meta.namespace === namespace)
}

/** Who names the identity of a binding; undefined for a binding without one. */
function namedByOf({ identity, judgement }: Explanation, policies: Policies): NamedBy | undefined {
  if (identity === undefined) return undefined
  const { meta, serviceAccountName } = judgement.compiled.binding
  const account = serviceAccountName.ok
    ? [{ namespace: meta.namespace, serviceAccountName: serviceAccountName.value }]
    : []
  return policies.namedBy([identity.spiffeId], account)
}

function findingsByBinding(findings: readonly Finding[]): ReadonlyMap<string, readonly Finding[]> {
  const about = new Map<string, Finding[]>()
  for (const one of findings) {
    const bindings = namedIn(one).filter(({ kind }) => kind === BINDING_KIND)
    for (const key of new Set(bindings.map(({ namespace, name }) => namespacedName(namespace, name)))) {
      getOrCreate(about, key, () => []).push(one)
    }
  }
  return about
}

/** What is said where no binding is in scope; which bindings exist is unknown where they could not be listed. */
function scopeText(snapshot: Snapshot): string {
  const { bindings, namespacesRead } = snapshot
  if (bindings.more() !== undefined)
    return 'no binding is known to be in scope; which bindings exist is unknown'
  const where = namespacesRead === undefined ? '' : ` in ${[...namespacesRead].join(', ')}`
  if (!bindings.isAnyRead) return `no bindings found${where}`
  return `no binding is in scope; ${counted(bindings.read.length, 'binding')} found${where}`
}

/** A name that is nearly that of an object in the namespace is probably a slip: the fix then says so first. */
function withSuggestion(one: Finding, { bindings, pools, objectives }: Snapshot): Finding {
  if (one.code !== 'KLM102' && one.code !== 'KLM106') return one
  const found = bindings.named(one.subject.namespace, one.subject.name)
  const binding = found.state === 'found' ? found.object : undefined
  const wanted =
    one.code === 'KLM102'
      ? { what: 'A pool', ref: binding?.poolRef, there: pools.read }
      : { what: 'An objective', ref: binding?.objectiveRef, there: objectives.read }
  if (wanted.ref?.ok !== true || wanted.ref.value === undefined) return one
  const names = wanted.there
    .filter(({ meta }) => meta.namespace === one.subject.namespace)
    .map(({ meta }) => meta.name)
  const { name } = wanted.ref.value
  const suggestion = didYouMean(name, [...new Set(names)]) ?? elsewhereText(wanted.what, name, wanted.there)
  return suggestion === undefined ? one : { ...one, fix: `${suggestion} ${one.fix}` }
}

/** A binding, its pool and its objective stand in one namespace; undefined: no other namespace has an object of the name. */
function elsewhereText(
  what: string,
  wanted: string,
  there: Each<{ readonly meta: { readonly namespace: string; readonly name: string } }>,
): string | undefined {
  const found = there.flatMap(({ meta: { namespace, name } }) => (name === wanted ? [namespace] : []))
  return found.length === 0
    ? undefined
    : `${what} of this name is in namespace ${namesText([...new Set(found)])}, and a binding finds only what is in its own.`
}
