// The first lines of `diff`: what the change does to containers, then to bindings. What is undetermined stands beside it.
import { groupsBy, type Group } from '@kleym/shared/core/base/groups.ts'
import { present } from '@kleym/shared/core/base/present.ts'
import {
  type AffectedPolicy,
  exchangesOf,
  type Effect,
  type LostIdentity,
  type IdentityChange,
  type VerdictChange,
} from '@kleym/shared/core/answers/index.ts'
import type { Holder } from '@kleym/shared/core/model/objects/pod-index.ts'
import { type Finding, lossText } from '@kleym/shared/core/findings/index.ts'
import { counted } from '@kleym/shared/core/base/text/counted.ts'
import { leadingWith, type Answer } from '../../text/answer.ts'
import { fixText, kindsText } from '../../text/findings.ts'
import type { Layout } from '../../text/layout.ts'
import { policiesText } from '../../text/names.ts'

/** What the first line of a diff is made from. */
export interface DiffSummary {
  /** With the new findings that are shown. */
  readonly effect: Effect
  /** How many ClusterSPIFFEIDs of kleym's the change touches. */
  readonly objects: number
  readonly affected: readonly AffectedPolicy[]
  /** How many objects are in no file and treated as unchanged. */
  readonly staying: number
  /** What differs from the settings of this answer; undefined: nothing. */
  readonly disagrees: string | undefined
  /** How many other changes the diff is narrowed from. */
  readonly others: number
}

/** Whether a change does nothing to containers, registrations of others, findings and policies. */
export function isQuiet(
  { gained, lost, uncertain, edited, findings }: Effect,
  affected: readonly AffectedPolicy[],
): boolean {
  return [gained, lost, uncertain, edited, findings.added, affected].every((list) => list.length === 0)
}

/** The answer, the bindings whose verdict changes as its reason. */
export function diffAnswer(facts: DiffSummary, layout: Layout): Answer {
  const { effect, disagrees, others } = facts
  const { findings, verdicts, uncertain } = effect
  const open = uncertain.length === 0 ? [] : [`${counted(uncertain.length, 'container')} undetermined`]
  const sure = identityTexts(effect)
  const said = sure.length > 0 ? sure : nothingTexts(facts, layout)
  // Behind what a container loses, a code would read as the reason.
  const codes = sure.length > 0 ? '' : codesOf(worstOf(findings.added))
  const more = others === 0 ? '' : `; ${counted(others, 'other change')} not shown`
  const settings = disagrees === undefined ? '' : `; ${disagrees} differ (KLM520)`
  const [lead = '', ...rest] = sure.length === 0 ? [...open, ...said] : [...said, ...open]
  return {
    mark: markOf(facts),
    ...leadingWith(
      [`${lead}${codes === '' ? '' : ` (${codes})`}${more}${settings}`, ...rest],
      ...[
        ...(verdicts.length === 0 ? [] : [verdictsText(verdicts)]),
        ...newTexts(effect, layout, codes === ''),
      ].map((text) => [text]),
    ),
  }
}

function markOf({ effect, objects, affected, staying, disagrees, others }: DiffSummary): Answer['mark'] {
  const { lost, uncertain } = effect
  if (disagrees !== undefined || lost.length > 0 || uncertain.length > 0) return 'warn'
  const isNothing = others === 0 && objects === 0 && staying === 0 && effect.verdicts.length === 0
  return isNothing && isQuiet(effect, affected) ? 'ok' : 'note'
}

/** The new errors, else the new warnings. */
function worstOf(added: readonly Finding[]): readonly Finding[] {
  const errors = added.filter(({ severity }) => severity === 'error')
  return errors.length > 0 ? errors : added.filter(({ severity }) => severity === 'warning')
}

function codesOf(found: readonly Finding[]): string {
  return [...new Set(found.map(({ code }) => code))].slice(0, CODES_NAMED).join(', ')
}

/** The finding that the reason tells, with its fix: the only new error, where no verdict of a binding is the reason. */
export function toldFinding({ findings, verdicts }: Effect): Finding | undefined {
  const [error, ...others] = findings.added.filter(({ severity }) => severity === 'error')
  return verdicts.length === 0 && others.length === 0 ? error : undefined
}

/** What the worst of the new findings are; where the first line has their codes, only errors that no verdict explains. */
function newTexts(effect: Effect, layout: Layout, areUnnamed: boolean): readonly string[] {
  const told = toldFinding(effect)
  if (told !== undefined)
    return [`${told.summary}${areUnnamed ? ` (${told.code})` : ''}`, `fix: ${fixText(told.fix, layout)}`]
  const worst = worstOf(effect.findings.added)
  const isSaid = areUnnamed || (effect.verdicts.length === 0 && worst[0]?.severity === 'error')
  return worst.length > 0 && isSaid ? [`new: ${kindsText(worst)}`] : []
}

const CODES_NAMED = 3
/** More IDs than these are counted: a line cannot hold them. */
const IDS_NAMED = 2

function identityTexts(effect: Effect): readonly string[] {
  const { stranded } = effect
  const left = stranded.length === 0 ? [] : [`${stranded.length} left without an identity`]
  const { lost, gained } = exchangesOf(effect)
  if (lost.length + gained.length <= IDS_NAMED)
    return [
      ...lost.map((change) => changeText(change.containers, loseText(change))),
      ...gained.map((change) => changeText(change.containers, gainText(change))),
      ...left,
    ]
  return [
    ...(lost.length === 0 ? [] : [manyText('lose', effect.lost)]),
    ...(effect.gained.length === 0 ? [] : [manyText('gain', effect.gained)]),
    ...left,
  ]
}

/** What containers lose, without their names: `loses A and holds B instead`, `loses A and keeps C`, `lose A`. */
export function loseText({ spiffeId, containers, instead, kept }: LostIdentity): string {
  const holders = containers.length
  // Another line says who is left without an identity.
  return instead.length + kept.length === 0
    ? `${holders === 1 ? 'loses' : 'lose'} ${spiffeId}`
    : lossText({ spiffeId, instead, kept, holders })
}

/** What containers gain, without their names. */
export function gainText({ spiffeId, containers }: IdentityChange): string {
  return `${containers.length === 1 ? 'gains' : 'gain'} ${spiffeId}`
}

function changeText(containers: readonly Holder[], text: string): string {
  return `${counted(containers.length, 'container')}${ofNamespace(containers)} ${text}`
}

function manyText(verb: 'lose' | 'gain', changes: readonly IdentityChange[]): string {
  const holders = changes.flatMap(({ containers }) => containers)
  const count = new Set(holders.map(({ pod, container }) => `${pod} ${container}`)).size
  const who = `${counted(count, 'container')}${ofNamespace(holders)}`
  const what = changes.length === 1 ? (changes[0]?.spiffeId ?? '') : `${changes.length} identities`
  return `${who} ${count === 1 ? `${verb}s` : verb} ${what}`
}

/** ` of team-b` where all are of one namespace. */
function ofNamespace(holders: readonly Holder[]): string {
  const namespaces = new Set(holders.map(({ pod }) => /^\S+ ([^/]+)\//.exec(pod)?.[1]))
  const [only] = namespaces
  return namespaces.size === 1 && only !== undefined ? ` of ${only}` : ''
}

/** No container is seen to gain or lose one: what else changes, and as far as what that goes. */
function nothingTexts(
  { objects, staying, affected, effect, disagrees, others }: DiffSummary,
  layout: Layout,
): readonly string[] {
  const isOpen =
    layout.incomplete === true ||
    layout.unsettled === true ||
    disagrees !== undefined ||
    effect.uncertain.length > 0
  const which = others > 0 ? ' of these bindings' : ''
  const stay = `, as long as ${counted(staying, 'object')} of --live ${staying === 1 ? 'stays' : 'stay'}`
  const far = isOpen
    ? `no container is known to gain or lose an identity${layout.world ?? ''}`
    : `no container gains or loses an identity${which}${staying > 0 ? stay : (layout.world ?? '')}`
  return present(
    far,
    objects !== 0 && `${counted(objects, 'ClusterSPIFFEID')} ${objects === 1 ? 'changes' : 'change'}`,
    effect.verdicts.length > 0 && `${counted(effect.verdicts.length, 'verdict')} of bindings`,
    affected.length > 0 && `${policiesText(new Set(affected.map(({ policy }) => policy)).size)} affected`,
  )
}

/** Bindings whose verdict changes in the same way, the worst change first: `team-c/search and 1 more are deleted`. */
function verdictsText(verdicts: readonly VerdictChange[]): string {
  const groups = verdictGroups(verdicts)
  const shown = groups.slice(0, CHANGES_NAMED).map(groupText)
  const more = groups.slice(CHANGES_NAMED).reduce((sum, group) => sum + group.length, 0)
  return `${shown.join('; ')}${more > 0 ? `; and ${more} more` : ''}`
}

/** Whether the reason names every binding whose verdict changes: a list of them would say it again. */
export function areAllNamed(verdicts: readonly VerdictChange[]): boolean {
  const groups = verdictGroups(verdicts)
  return groups.length <= CHANGES_NAMED && groups.every(({ length }) => length === 1)
}

function verdictGroups(verdicts: readonly VerdictChange[]): readonly Group<VerdictChange>[] {
  const sorted = verdicts.toSorted((left, right) => rank(left) - rank(right))
  return groupsBy(sorted, ({ before, after }) => `${before} → ${after}`)
}

function groupText(group: Group<VerdictChange>): string {
  const [{ binding, before, after }] = group
  const names = group.length === 1 ? binding : `${binding} and ${group.length - 1} more`
  const verb = group.length === 1 ? 'is' : 'are'
  if (before === undefined) return `${names} ${verb} new: ${after ?? ''}`
  return after === undefined ? `${names} ${verb} deleted` : `${names}: ${before} → ${after}`
}

/** How many kinds of change the reason names. */
const CHANGES_NAMED = 2

/** A binding that is ready no more comes first. */
function rank({ before, after }: VerdictChange): number {
  return before === 'ready' ? 0 : after === 'ready' ? 2 : 1
}
