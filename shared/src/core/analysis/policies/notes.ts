// What of a policy does not take effect as it is written. All of it is behaviour of the reference implementation
// (docs/gaie-facts.md §B2: KAN v0.1.0, and main at c7e4194); another implementation may do otherwise.
import type { NamespacedName } from '../../model/namespaced-name.ts'
import { targetText, type AccessPolicy, type PolicyAncestor } from '../../model/objects/access-policy.ts'
import type { PolicyRule } from '../../model/objects/access-rule.ts'
import type { NoteKind, PolicyNote, ResolvedPolicy, ResolvedRule } from './resolution.ts'

/** At most this many policies count for one target: the others are not accepted. */
export const POLICIES_PER_TARGET = 5

/** What the reference implementation does, a sentence for each kind. */
const SOURCES: Readonly<Record<NoteKind, string>> = {
  'not accepted':
    'KAN (reference implementation) leaves a policy out, as if it were not there, unless its status names an ancestor and every ancestor says Accepted=True.',
  stale:
    'KAN (reference implementation) goes by the conditions that are there, which tell of an earlier generation; a mended policy may keep the old ones.',
  'former target':
    'KAN (reference implementation) never drops the ancestor of a target that a policy no longer names, and counts its condition.',
  'rule replaced':
    'KAN (reference implementation) keeps the rules of a target by their names alone: of two with one name, that of the later policy replaces the other.',
  'over the limit': `KAN (reference implementation) accepts ${POLICIES_PER_TARGET} policies for a target, the oldest ones, counted in the namespace.`,
  'no action': 'KAN (reference implementation) builds no filter for a policy without an action.',
  'no rules':
    'The API says that a policy without rules matches everything; KAN (reference implementation) makes nothing of it.',
  'nothing asked':
    'KAN (reference implementation) takes Inline without an MCP method for any request of the source, and looks at none of methods, paths, headers, hosts and ports.',
  'section ignored':
    'KAN (reference implementation) ignores sectionName: the policy applies to the whole target.',
  'other trust domain':
    'KAN (reference implementation) compares whole IDs; its trust domain is a flag of its controller (cluster.local as shipped), which no object shows.',
  'member ignored': 'KAN (reference implementation) goes by the type of a source alone.',
  'no mTLS':
    'Istio takes the name of a client from its certificate: without mTLS there is none, and no name matches.',
}

/** Makes a note. */
export function noteOf(kind: NoteKind, text: string, by?: NamespacedName): PolicyNote {
  return { kind, text, source: SOURCES[kind], by }
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
