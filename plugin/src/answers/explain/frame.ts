// The report of `explain`: the explanations of the chosen bindings, and the findings that they are part of.
import { getOrCreate } from '@kleym/shared/core/get-or-create.ts'
import type { Explanation } from '@kleym/shared/core/explain/explanation.ts'
import { explain } from '@kleym/shared/core/explain/explanation.ts'
import { findingsAbout, findingsOf } from '@kleym/shared/core/rules/all.ts'
import { compareFindings, isAbout, type Finding } from '@kleym/shared/core/findings/finding.ts'
import { concernsEverybody } from '@kleym/shared/core/rules/install-rules.ts'
import { BINDING_GROUP, BINDING_KIND } from '@kleym/shared/core/names.ts'
import type { Binding } from '@kleym/shared/core/objects/binding.ts'
import { podText } from '@kleym/shared/core/objects/pod-index.ts'
import { unknownReasonText } from '@kleym/shared/core/unknown-reason.ts'
import { hasPolicies, type Policies } from '@kleym/shared/core/policies/policies.ts'
import type { NamedBy } from '@kleym/shared/core/policies/resolution.ts'
import { gapOf, type Snapshot } from '@kleym/shared/core/snapshot/snapshot.ts'
import { didYouMean } from '@kleym/shared/core/text/suggest.ts'
import type { AnswerInput } from '../../gather/gather.ts'
import { viewExplanations } from './view.ts'
import type { Frame } from '../../frame/frame.ts'
import { missingOf } from '../../frame/missing.ts'
import { accessPoliciesReport, namedByReport } from '../policies/json.ts'

/** Makes the report for the chosen bindings; `named` says that the person asked for them one by one. */
export function explainFrame(world: AnswerInput, chosen: readonly Binding[], named: boolean): Frame {
  const keys = new Set(chosen.map(({ key }) => key))
  // All pods are asked: a foreign registration may give the identity of a binding to a pod of another namespace.
  const all = [...findingsAbout(world.after, keys), ...world.inputFindings].toSorted(compareFindings)
  const explanations = chosen.flatMap(({ key }) => explain(world.after, key) ?? [])
  const policies = world.after.policies()
  const isNamed = hasPolicies(policies)
  const namedBy = (one: Explanation): NamedBy | undefined => (isNamed ? namedByOf(one, policies) : undefined)
  const isAnyReady = explanations.some(({ judgement }) => judgement.state === 'ready')
  const everybody = isAnyReady ? all.filter(concernsEverybody) : []
  const findings = all
    .filter((one) => isAbout(one, BINDING_KIND, keys) || everybody.includes(one))
    .map((one) => withSuggestion(one, world.after.snapshot))
  return {
    kind: 'ExplainReport',
    fields: () => ({
      bindings: explanations.map((one) => explanationReport(one, namedBy(one))),
      ...(isNamed ? { accessPolicies: accessPoliciesReport(policies) } : {}),
    }),
    findings,
    missing: missingOf(
      world,
      explanations.map(({ judgement }) => judgement),
    ),
    grounds: {
      all: () => [...findingsOf(world.after), ...world.inputFindings],
      covers: ({ kind, namespace, name }) => kind === BINDING_KIND && keys.has(`${namespace}/${name}`),
    },
    names: () =>
      chosen.map(({ meta }) => ({
        kind: BINDING_KIND,
        group: 'kleym.sonda.red',
        namespace: meta.namespace,
        name: meta.name,
      })),
    diagram: async (shown) => (await import('./diagram.ts')).explainDiagram(explanations, byBinding(shown)),
    view: (layout, shown) =>
      viewExplanations(explanations, {
        about: byBinding(shown),
        everybody: everybody.filter((one) => shown.includes(one)),
        named,
        namedBy,
        there: thereText(world.after.snapshot),
        ...layout,
      }),
  }
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

function byBinding(findings: readonly Finding[]): ReadonlyMap<string, readonly Finding[]> {
  const about = new Map<string, Finding[]>()
  for (const one of findings) {
    const bindings = [one.subject, ...one.related].filter(({ kind }) => kind === BINDING_KIND)
    for (const key of new Set(bindings.map(({ namespace, name }) => `${namespace}/${name}`))) {
      getOrCreate(about, key, () => []).push(one)
    }
  }
  return about
}

/** How many bindings there are; which ones there are is not known where they could not be listed. */
function thereText(snapshot: Snapshot): string {
  const { bindings, namespacesRead } = snapshot
  if (gapOf(snapshot, `${BINDING_KIND}.${BINDING_GROUP}`) !== undefined)
    return 'which ones there are is not known'
  const where = namespacesRead === undefined ? 'in all' : `in ${[...namespacesRead].join(', ')}`
  return `there ${bindings.length === 1 ? 'is 1' : `are ${bindings.length}`} ${where}`
}

/** A name that is nearly that of an object in the namespace is probably a slip: the fix then says so first. */
function withSuggestion(one: Finding, { bindings, pools, objectives }: Snapshot): Finding {
  const binding = bindings.find(({ key }) => key === `${one.subject.namespace}/${one.subject.name}`)
  const wanted =
    one.code === 'KLM102'
      ? { ref: binding?.poolRef, there: pools }
      : one.code === 'KLM106'
        ? { ref: binding?.objectiveRef, there: objectives }
        : undefined
  if (wanted?.ref?.ok !== true || wanted.ref.value === undefined) return one
  const names = wanted.there
    .filter(({ meta }) => meta.namespace === one.subject.namespace)
    .map(({ meta }) => meta.name)
  const suggestion = didYouMean(wanted.ref.value.name, [...new Set(names)])
  return suggestion === undefined ? one : { ...one, fix: `${suggestion} ${one.fix}` }
}

function explanationReport(
  one: Explanation,
  namedBy: NamedBy | undefined,
): Readonly<Record<string, unknown>> {
  return {
    binding: one.key,
    ready: one.verdict?.ready ?? null,
    reason: one.verdict?.reason ?? 'Deleting',
    message: one.verdict?.message ?? 'the binding is being deleted',
    afterwards: one.afterwards ?? null,
    spiffeID: one.identity?.spiffeId ?? null,
    mode: one.identity?.mode ?? null,
    steps: one.steps,
    selectors: one.selectors,
    peers: one.peers.map(({ witness, spiffeId, ...peer }) => ({
      ...peer,
      spiffeID: spiffeId,
      witness: witness === undefined ? null : podText(witness),
    })),
    output: one.output ?? null,
    withdrawn: one.withdrawn,
    reach: one.reach === undefined ? null : reachReport(one.reach),
    podsUnknown: one.podsUnknown === undefined ? null : unknownReasonText(one.podsUnknown),
    ...(namedBy === undefined ? {} : { namedBy: namedByReport(namedBy) }),
  }
}

function reachReport(reach: NonNullable<Explanation['reach']>): Readonly<Record<string, unknown>> {
  return {
    reached: reach.reached.map(({ pod, containers }) => ({ pod: podText(pod), containers })),
    perhaps: reach.perhaps.map(({ pod, why }) => ({ pod: podText(pod), why })),
    missed: reach.missed.map(({ pod, verdict, why }) => ({ pod: podText(pod), verdict, why })),
    lost: reach.lost.map(({ pod, containers, spiffeId, source }) => ({
      pod: podText(pod),
      containers,
      spiffeID: spiffeId,
      source,
    })),
    alsoHeld: reach.alsoHeld.map(({ pod, container, spiffeId, source }) => ({
      pod: podText(pod),
      container,
      spiffeID: spiffeId,
      source,
    })),
  }
}
