// `suggest` as machines read it.
import type { Reach } from '@kleym/shared/core/explain/reach.ts'
import { podText } from '@kleym/shared/core/objects/pod-index.ts'
import { candidateManifest, manifestsBefore } from '@kleym/shared/core/suggest/candidate.ts'
import type { PoolSuggestions, SuggestedBinding, Suggestions } from '@kleym/shared/core/suggest/suggest.ts'
import type { NotSuggested } from '@kleym/shared/core/suggest/not-suggested.ts'
import type { Frame } from '../../frame/frame.ts'
import { holdersReport } from '../diff/json.ts'
import { lostReport } from '../explain/json.ts'
import { gainsOf } from './words.ts'

/** The fields of a SuggestReport. */
export function suggestFields({ pools, effect }: Suggestions): ReturnType<Frame['fields']> {
  return {
    counts: {
      pools: pools.length,
      suggested: pools.reduce((sum, { suggested }) => sum + suggested.length, 0),
      registrations: pools.reduce((sum, { registrations }) => sum + registrations.length, 0),
      withBinding: pools.filter(({ existing }) => existing.length > 0).length,
    },
    pools: pools.map(poolReport),
    effect: holdersReport(effect),
  }
}

function poolReport({
  pool,
  pods,
  existing,
  suggested,
  registrations,
  not,
  remarks,
}: PoolSuggestions): unknown {
  return {
    namespace: pool.namespace,
    name: pool.name,
    pods: pods.total,
    existing: existing.map(({ key, verdict, fix = null }) => ({ binding: key, verdict, fix })),
    suggested: suggested.map(suggestedReport),
    registrations: registrations.map(({ candidate, key, why, dependsOn }) => ({
      beside: key,
      manifests: manifestsBefore(candidate),
      why,
      certain: dependsOn === undefined,
    })),
    notSuggested: not.map(notReport),
    remarks,
  }
}

/** A suggested binding. */
export function suggestedReport(one: SuggestedBinding): unknown {
  const { candidate, key, spiffeId, why } = one
  return {
    binding: key,
    companions: manifestsBefore(candidate),
    manifest: candidateManifest(candidate),
    spiffeID: spiffeId,
    why,
    ...reachReport(one),
  }
}

/** A binding that is not suggested. */
export function notReport({ state, mode, what, tried, reason, why, fix }: NotSuggested): unknown {
  const manifests = tried.map(candidateManifest)
  const companions = tried.flatMap(manifestsBefore)
  return {
    state,
    mode: mode ?? null,
    what,
    companions,
    manifests,
    reason: reason ?? null,
    why,
    fix: fix ?? null,
  }
}

function reachReport({ reach, heldBefore }: SuggestedBinding): Readonly<Record<string, unknown>> {
  const { perhaps, missed, lost, alsoHeld } = reach
  return {
    gains: gainsOf(reach, heldBefore).map(({ pod, containers }) => ({ pod: podText(pod), containers })),
    heldBefore: heldBefore.map(({ pod, containers, isCertain }) => ({
      pod: podText(pod),
      containers,
      certain: isCertain,
    })),
    perhaps: missedReport(perhaps),
    misses: missedReport(missed),
    loses: lost.map(lostReport),
    alsoHolds: alsoHeld.map(({ pod, container, spiffeId, source }) => ({
      pod: podText(pod),
      container,
      spiffeID: spiffeId,
      source,
    })),
  }
}

function missedReport(all: Reach['missed']): unknown {
  return all.map(({ pod, verdict, why }) => ({ pod: podText(pod), verdict, why }))
}
