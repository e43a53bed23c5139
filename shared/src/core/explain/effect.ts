// What a change does to people: which containers gain, lose or change which SPIFFE ID, which bindings change their
// verdict, and which findings are new, fixed or unchanged.
import type { Analysis } from '../analysis.ts'
import { findingsOf } from '../findings/all.ts'
import { findingKey, type Finding } from '../findings/finding.ts'
import { entryOf } from '../entry.ts'
import { podText } from '../objects/pod-index.ts'
import { verdictOf } from '../plan/status.ts'
import { containerVerdicts } from '../spire/attest.ts'
import { compareBytes } from '../text/bytes.ts'
import { judgementOf } from '../analysis.ts'

/** The containers that gain or lose one SPIFFE ID. */
export interface IdentityChange {
  readonly spiffeId: string
  /** `pod team-a/llama-0:vllm`, in byte order. */
  readonly containers: readonly string[]
}

/** A binding whose verdict changes; undefined where there is no binding on that side. */
export interface VerdictChange {
  readonly binding: string
  readonly before: string | undefined
  readonly after: string | undefined
}

export interface Effect {
  readonly gained: readonly IdentityChange[]
  readonly lost: readonly IdentityChange[]
  /** Containers that had an identity and are left with none. */
  readonly stranded: readonly string[]
  readonly verdicts: readonly VerdictChange[]
  readonly findings: {
    readonly added: readonly Finding[]
    readonly fixed: readonly Finding[]
    readonly unchanged: readonly Finding[]
  }
}

/** Compares two worlds, each through the lens that fits (`asIs`, `afterwards`). */
export function effectOf(before: Analysis, after: Analysis): Effect {
  const held = identitiesOf(before)
  const will = identitiesOf(after)
  return {
    gained: changes(will, held),
    lost: changes(held, will),
    stranded: [...held]
      .filter(([container, ids]) => ids.size > 0 && will.get(container)?.size === 0)
      .map(([container]) => container)
      .toSorted(compareBytes),
    verdicts: verdictChanges(before, after),
    findings: findingChanges(findingsOf(before), findingsOf(after)),
  }
}

/** The identities that are certainly issued, by container. */
function identitiesOf(analysis: Analysis): ReadonlyMap<string, ReadonlySet<string>> {
  const held = new Map<string, Set<string>>()
  const prediction = analysis.prediction()
  for (const pod of analysis.subjects) {
    for (const container of pod.containers) {
      const ids = entryOf(held, `${podText(pod)}:${container.name}`, () => new Set())
      for (const { verdict, spiffeId } of containerVerdicts(prediction, pod, container)) {
        if (verdict === 'issued' && spiffeId !== undefined) ids.add(spiffeId)
      }
    }
  }
  return held
}

/** The identities of `left` that `right` does not have, by SPIFFE ID. */
function changes(
  left: ReadonlyMap<string, ReadonlySet<string>>,
  right: ReadonlyMap<string, ReadonlySet<string>>,
): readonly IdentityChange[] {
  const byId = new Map<string, string[]>()
  for (const [container, ids] of left) {
    for (const id of ids) {
      if (right.get(container)?.has(id) !== true) entryOf(byId, id, () => []).push(container)
    }
  }
  return [...byId]
    .toSorted(([a], [b]) => compareBytes(a, b))
    .map(([spiffeId, containers]) => ({ spiffeId, containers: containers.toSorted(compareBytes) }))
}

function verdictChanges(before: Analysis, after: Analysis): readonly VerdictChange[] {
  const keys = new Set([...before.compiled, ...after.compiled].map(({ binding }) => binding.key))
  return [...keys].toSorted(compareBytes).flatMap((binding) => {
    const change = { binding, before: verdictText(before, binding), after: verdictText(after, binding) }
    return change.before === change.after ? [] : [change]
  })
}

/** `ready`, `refused (TargetPoolNotFound)`, `waiting`, `not decided`, `being deleted`. */
function verdictText(analysis: Analysis, key: string): string | undefined {
  const judgement = judgementOf(analysis, key)
  if (judgement === undefined) return undefined
  switch (judgement.state) {
    case 'ready':
      return 'ready'
    case 'refused':
      return `refused (${verdictOf(judgement)?.reason ?? ''})`
    case 'waiting':
      return 'waiting'
    case 'undetermined':
      return 'not decided'
    case 'deleting':
      return 'being deleted'
  }
}

function findingChanges(before: readonly Finding[], after: readonly Finding[]): Effect['findings'] {
  const had = new Set(before.map(findingKey))
  const has = new Set(after.map(findingKey))
  return {
    added: after.filter((one) => !had.has(findingKey(one))),
    fixed: before.filter((one) => !has.has(findingKey(one))),
    unchanged: after.filter((one) => had.has(findingKey(one))),
  }
}
