// What of a policy does not take effect as it is written. All of it is behaviour of the reference implementation
// (docs/gaie-facts.md §B2: KAN v0.1.0, and main at c7e4194); another implementation may do otherwise.
import type { NamespacedName } from '../../model/namespaced-name.ts'
import { targetText, type AccessPolicy, type PolicyAncestor } from '../../model/objects/access-policy.ts'
import type { PolicyRule } from '../../model/objects/access-rule.ts'
import {
  NOTE_SOURCES,
  type NoteKind,
  type PolicyNote,
  type ResolvedPolicy,
  type ResolvedRule,
} from './resolution.ts'

/** Makes a note. */
export function noteOf(kind: NoteKind, text: string, by?: NamespacedName): PolicyNote {
  return { kind, text, source: NOTE_SOURCES[kind], by }
}

/** What a policy's own status and spec show. */
export function notesOfPolicy(policy: AccessPolicy): readonly PolicyNote[] {
  if (policy.withoutMtls !== undefined) return [noteOf('no mTLS', policy.withoutMtls)]
  return policy.reading.kind === 'v1alpha1' ? [...acceptance(policy), ...ofSpec(policy)] : []
}

/** What one of its rules shows by itself. */
export function notesOfRule(rule: PolicyRule): readonly PolicyNote[] {
  return [...nothingAsked(rule), ...memberIgnored(rule)]
}

function acceptance(policy: AccessPolicy): readonly PolicyNote[] {
  const { ancestors, meta } = policy
  if (ancestors === undefined) return []
  if (ancestors.length === 0)
    return [noteOf('not accepted', 'its status names no ancestor: no controller has accepted it')]
  return ancestors.flatMap((ancestor) => {
    const name = ancestorText(ancestor, policy)
    const isFormer = isFormerTarget(ancestor, policy)
    const notes: PolicyNote[] = []
    if (ancestor.accepted !== 'True') notes.push(noteOf('not accepted', `${name} ${refusalText(ancestor)}`))
    const { observedGeneration: seen } = ancestor
    if (seen !== undefined && meta.generation !== undefined && seen < meta.generation)
      notes.push(
        noteOf('stale', `${name} has seen generation ${seen}, and the policy is at ${meta.generation}`),
      )
    if (isFormer) notes.push(noteOf('former target', `${name} is in its status, and is no target of it`))
    return notes
  })
}

function refusalText({ accepted, reason }: PolicyAncestor): string {
  if (accepted === undefined) return 'has no condition Accepted'
  return `says Accepted=${accepted}${reason === '' ? '' : ` (${reason})`}`
}

/** An ancestor of another kind than the targets' may be a parent of theirs: only one of their kind can be a former one. */
function isFormerTarget(ancestor: PolicyAncestor, { targets, meta }: AccessPolicy): boolean {
  const alike = targets.filter(({ group, kind }) => group === ancestor.group && kind === ancestor.kind)
  return (
    alike.length > 0 &&
    !(ancestor.namespace === meta.namespace && alike.some(({ name }) => name === ancestor.name))
  )
}

function ofSpec({ action, rules, unreadable, targets }: AccessPolicy): readonly PolicyNote[] {
  const canReadRules = !unreadable.some(({ where }) => where === '.spec.rules' || where === '.spec')
  const canReadAction = !unreadable.some(({ where }) => where === '.spec.action' || where === '.spec')
  const sections = targets.filter(({ sectionName }) => sectionName !== undefined)
  return [
    ...(action === undefined && canReadAction
      ? [noteOf('no action', 'it has no action, as one that was written as v0alpha0')]
      : []),
    ...(action === 'Allow' && rules.length === 0 && canReadRules
      ? [noteOf('no rules', 'its action is Allow, and it has no rules')]
      : []),
    ...sections.map((target) =>
      noteOf('section ignored', `its target ${targetText(target)} names a section`),
    ),
  ]
}

function nothingAsked({ authorization }: PolicyRule): readonly PolicyNote[] {
  const empty = authorization?.emptyInline
  if (empty === undefined) return []
  const but = empty.others.length === 0 ? '' : `, only ${empty.others.join(', ')}`
  return [noteOf('nothing asked', `its authorization is Inline and names no MCP method${but}`)]
}

function memberIgnored({ ignoredMember }: PolicyRule): readonly PolicyNote[] {
  if (ignoredMember === undefined) return []
  return [noteOf('member ignored', `its source fills ${ignoredMember} beside the member that its type names`)]
}

function ancestorText({ group, kind, namespace, name }: PolicyAncestor, { meta }: AccessPolicy): string {
  const text = targetText({ group, kind, name, sectionName: undefined })
  return namespace === meta.namespace ? text : `${text} in ${namespace}`
}

/** What of a rule, or of its policy, does not take effect as it is written. */
export function notesOn(
  policy: Pick<ResolvedPolicy, 'notes'>,
  rule: Pick<ResolvedRule, 'notes'>,
): readonly PolicyNote[] {
  return [...policy.notes, ...rule.notes]
}
