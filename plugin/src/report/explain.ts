// The report of `explain`: the explanations of the chosen bindings, and the findings that they are part of.
import type { Explanation } from '@kleym/shared/core/explain/explanation.ts'
import { explain } from '@kleym/shared/core/explain/explanation.ts'
import { findingsOf } from '@kleym/shared/core/findings/all.ts'
import { compareFindings, type Finding, type Subject } from '@kleym/shared/core/findings/finding.ts'
import { BINDING_KIND } from '@kleym/shared/core/names.ts'
import type { Binding } from '@kleym/shared/core/objects/binding.ts'
import { podText } from '@kleym/shared/core/objects/pod-index.ts'
import type { World } from '../gather/gather.ts'
import { viewExplanations } from '../view/explain.ts'
import type { Frame } from './frame.ts'
import { missingOf } from './missing.ts'

/** Makes the report for the chosen bindings; `named` says that the person asked for them one by one. */
export function explainFrame(world: World, chosen: readonly Binding[], named: boolean): Frame {
  const keys = new Set(chosen.map(({ key }) => key))
  const all = [...findingsOf(world.after), ...world.inputFindings].toSorted(compareFindings)
  const findings = all.filter((one) =>
    [one.subject, ...one.related].some((subject) => isOneOf(subject, keys)),
  )
  const explanations = chosen.flatMap(({ key }) => explain(world.after, key) ?? [])
  return {
    kind: 'ExplainReport',
    fields: { bindings: explanations.map(explanationReport) },
    findings,
    missing: missingOf(
      world,
      explanations.map(({ judgement }) => judgement),
    ),
    names: chosen.map(({ meta }) => ({
      kind: BINDING_KIND,
      group: 'kleym.sonda.red',
      namespace: meta.namespace,
      name: meta.name,
    })),
    view: (layout) =>
      viewExplanations(explanations, { findings, named, total: world.after.compiled.length, ...layout }),
  }
}

/** The findings that name one binding, as subject or as a related object. */
export function findingsAbout(findings: readonly Finding[], key: string): readonly Finding[] {
  return findings.filter((one) =>
    [one.subject, ...one.related].some((subject) => isOneOf(subject, new Set([key]))),
  )
}

function isOneOf(subject: Subject, keys: ReadonlySet<string>): boolean {
  return subject.kind === BINDING_KIND && keys.has(`${subject.namespace}/${subject.name}`)
}

function explanationReport(one: Explanation): Readonly<Record<string, unknown>> {
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
