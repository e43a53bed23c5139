// `who-selects` as machines read it: pods, containers and registrations; with `--entries`, registration entries.
import { podText } from '@kleym/shared/core/objects/pod-index.ts'
import type { WhoHolds } from '@kleym/shared/core/policies/who-holds.ts'
import type { Policies } from '@kleym/shared/core/policies/policies.ts'
import type { RegistrationEntry } from '@kleym/shared/core/spire/registration-entries.ts'
import { asServerJson } from '@kleym/shared/core/spire/verify/server-json.ts'
import { sourceText } from '@kleym/shared/core/spire/prediction.ts'
import type { Frame } from '../../frame/frame.ts'
import { accessPoliciesReport, namedByReport } from '../policies/json.ts'
import type { NamedIds } from '../policies/named-by.ts'
import type { PodAnswer } from './model.ts'

/** What the report tells beside the pods. */
export interface WhoSelectsFacts {
  /** The binding behind an output of ours. */
  readonly bindings: ReadonlyMap<string, string>
  /** What kleym has yet to do about an output, by its name. */
  readonly pending: ReadonlyMap<string, string>
  /** Who names the identities; undefined where there are no policies to speak of. */
  readonly named: NamedIds | undefined
  readonly policies: Policies
  /** What becomes of the ID of `--spiffe-id` in all that there is. */
  readonly lookup: WhoHolds | undefined
}

/** The fields of a WhoSelectsReport. */
export function whoSelectsFields(
  answers: readonly PodAnswer[],
  facts: WhoSelectsFacts,
): ReturnType<Frame['fields']> {
  const { named, policies, lookup } = facts
  return {
    ...(lookup === undefined ? {} : { lookup: lookupReport(lookup) }),
    pods: answers.map((answer) => podReport(answer, facts)),
    ...(named === undefined
      ? {}
      : { namedBy: namedByReport(named.by), accessPolicies: accessPoliciesReport(policies) }),
  }
}

function lookupReport({ resolution, near }: WhoHolds): Readonly<Record<string, unknown>> {
  return { state: resolution.state, text: resolution.text, near }
}

/** The fields of an EntriesReport. */
export function entriesFields(entries: readonly RegistrationEntry[]): ReturnType<Frame['fields']> {
  return {
    entries: entries.map((entry) => ({ ...entry, pod: entry.pod ?? null, depends: entry.depends ?? null })),
  }
}

/** The entries as `spire-server entry show -output json` prints them; what the server alone decides is empty. */
export function serverFields(entries: readonly RegistrationEntry[]): Readonly<Record<string, unknown>> {
  return { entries: entries.map(asServerJson), next_page_token: '' }
}

function podReport(
  { pod, containers }: PodAnswer,
  { bindings, pending }: Pick<WhoSelectsFacts, 'bindings' | 'pending'>,
): Readonly<Record<string, unknown>> {
  return {
    pod: podText(pod),
    kind: pod.ref.kind,
    namespace: pod.namespace,
    name: pod.ref.name,
    exists: pod.exists,
    node: pod.nodeName ?? null,
    serviceAccountName: pod.serviceAccountName,
    containers: containers.map(({ container, registrations, notRead }) => ({
      name: container.name,
      role: container.role,
      notRead: notRead ?? null,
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
        pending: pending.get(one.source.name) ?? null,
      })),
    })),
  }
}
