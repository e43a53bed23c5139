// `explain` as machines read it: each binding with its steps, selectors, peers, output and reach.
import type { Explanation } from '@kleym/shared/core/explain/explanation.ts'
import type { Lost } from '@kleym/shared/core/explain/reach.ts'
import { podText } from '@kleym/shared/core/objects/pod-index.ts'
import type { Policies } from '@kleym/shared/core/policies/policies.ts'
import type { NamedBy } from '@kleym/shared/core/policies/resolution.ts'
import { unknownReasonText } from '@kleym/shared/core/unknown-reason.ts'
import type { Frame } from '../../frame/frame.ts'
import { accessPoliciesReport, namedByReport } from '../policies/json.ts'

/** The fields of an ExplainReport; `policies` is undefined where there are no access policies to speak of. */
export function explainFields(
  explanations: readonly Explanation[],
  namedBy: (one: Explanation) => NamedBy | undefined,
  policies: Policies | undefined,
): ReturnType<Frame['fields']> {
  return {
    bindings: explanations.map((one) => explanationReport(one, namedBy(one))),
    ...(policies === undefined ? {} : { accessPolicies: accessPoliciesReport(policies) }),
  }
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
    ...(one.inForce === undefined ? {} : { inForce: one.inForce }),
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
    lost: reach.lost.map(lostReport),
    alsoHeld: reach.alsoHeld.map(({ pod, container, spiffeId, source }) => ({
      pod: podText(pod),
      container,
      spiffeID: spiffeId,
      source,
    })),
  }
}

/** A default identity that containers lose. */
export function lostReport({ pod, containers, spiffeId, source, instead, kept, open }: Lost): unknown {
  return {
    pod: podText(pod),
    containers,
    spiffeID: spiffeId,
    source,
    instead,
    kept,
    certain: open === undefined,
  }
}
