// Which of the findings that are gone after a change are fixed: those whose containers, bindings or policy are there, and well. Any
// other no longer applies, because what it was about is gone: the fallback that gave way, the binding (docs/offline.md, "New, fixed,
// and no longer applies").
import { YES } from '../../model/truth/truth.ts'
import type { State } from '../../analysis/index.ts'
import { subjectText, type Subject } from '../../model/objects/subject.ts'
import {
  findingKey,
  namedIn,
  type Finding,
  findingEntry,
  RULE_KIND,
  holdersOfNotes,
} from '../../findings/index.ts'
import { BINDING_KIND } from '../../model/names.ts'
import { namespacedName } from '../../model/namespaced-name.ts'
import { type Judgement, idOfReady } from '../../decide/index.ts'
import type { Steps } from '../../base/steps.ts'
import type { HolderState } from './held-identities.ts'

/** A state, and what its containers hold. */
export interface HeldState {
  readonly state: State
  /** By `holderKey`; absent: there is no such container. */
  readonly held: ReadonlyMap<string, HolderState>
}

/** The findings among `gone`, which `before` has and `after` has not, that the change fixed; in their order. */
export function* fixedAmong(
  gone: readonly Finding[],
  before: HeldState & { readonly findings: readonly Finding[] },
  after: HeldState,
): Steps<readonly Finding[]> {
  // Those that pods show; each of the others is about an object alone.
  const aboutContainers = gone.filter(({ namespaces }) => namespaces !== undefined)
  const keys = new Set(aboutContainers.map(findingKey))
  const same = keys.size === 0 ? [] : before.findings.filter((one) => keys.has(findingKey(one)))
  const holders = yield* holdersOfNotes(before.state, {
    keys,
    namespaces: new Set(same.flatMap(({ namespaces }) => [...(namespaces ?? [])])),
  })
  return gone.filter((one) => isFixed(one, holders.get(findingKey(one)) ?? [], before, after))
}

function isFixed(one: Finding, holders: readonly string[], before: HeldState, after: HeldState): boolean {
  const { tells, concerns } = findingEntry(one.code)
  // An information is nothing to fix.
  if (one.severity === 'info') return false
  if (concerns === 'every binding') return true
  const stillThere = holders.flatMap((key) => after.held.get(key) ?? [])
  // If all containers of the finding were deleted, no container is better off.
  if (holders.length > 0 && stillThere.length === 0) return false
  if (tells === 'too little is held' || tells === 'several are held') {
    const isWell = ({ ids, open }: HolderState): boolean =>
      ids.size > 0 && (tells === 'too little is held' || open.size === 0)
    return stillThere.length > 0 && stillThere.every(isWell)
  }
  if (isPolicyThere(one, before)) return isPolicyThere(one, after)
  const bindings = namedIn(one).filter(({ kind }) => kind === BINDING_KIND)
  const isTaken = (binding: Subject): boolean =>
    mayStillBeGiven(binding, after) || isHeldNoMore(binding, before, after)
  if (tells === 'others hold it' && bindings.some(isTaken)) return false
  // Those that are gone are no better off. What is said of a binding that is worse off stands in a finding of its own.
  const there = bindings.flatMap((binding) => judgementOf(binding, after) ?? [])
  return there.length > 0 && there.every(({ state }) => state === 'ready')
}

/** Whether a container may hold the ID of a binding, without it being certain: it may be the one that the finding told of. */
function mayStillBeGiven(binding: Subject, after: HeldState): boolean {
  const id = idOfReady(judgementOf(binding, after))
  return (
    id !== undefined && after.held.values().some(({ perhaps, unfollowed }) => unfollowed || perhaps.has(id))
  )
}

/** Whether the identity of a binding was held in its namespace before, and no container there holds it any more: the change took more than the flaw. */
function isHeldNoMore(binding: Subject, before: HeldState, after: HeldState): boolean {
  const isHeld = (one: HeldState): boolean => {
    const id = idOfReady(judgementOf(binding, one))
    const isHere = ({ ids, namespace }: HolderState): boolean =>
      namespace === binding.namespace && ids.has(id ?? '')
    return id !== undefined && one.held.values().some(isHere)
  }
  return isHeld(before) && !isHeld(after)
}

function judgementOf({ namespace, name }: Subject, { state }: HeldState): Judgement | undefined {
  return state.judgements.get(namespacedName(namespace, name))
}

/** Whether the policy that a finding is about is there, with the rules that it names. */
function isPolicyThere({ subject, related }: Finding, { state }: HeldState): boolean {
  const { accessPolicies } = state.base.snapshot
  const isThere = accessPolicies.some(({ kind, meta: { namespace, name }, rules }) => {
    if (subjectText({ kind, namespace, name }) !== subjectText(subject)) return false
    const named = new Set(rules.map((rule) => `${name}/${rule.name}`))
    return related.every((one) => one.kind !== RULE_KIND || named.has(one.name))
  })
  return isThere === YES
}
