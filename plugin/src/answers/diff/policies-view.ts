// How `diff` tells which rules of access policies a change affects.
import { present } from '@kleym/shared/core/base/present.ts'
import type { AffectedPolicy } from '@kleym/shared/core/answers/index.ts'
import { ACCESS_POLICY_KIND } from '@kleym/shared/core/model/kinds.ts'
import { counted } from '@kleym/shared/core/base/text/counted.ts'
import { policiesText } from '../../text/names.ts'
import type { Layout } from '../../text/layout.ts'
import { line, MARKS, span, type Block, type Mark } from '../../text/line.ts'
import { wrap } from '../../text/wrap.ts'

/** Whether it is certainly the change that affects the rule, and not a change of the rule itself. */
export function isDifference({ change }: AffectedPolicy): boolean {
  return change !== 'rule' && change !== 'perhaps'
}

/** One sentence: `XAccessPolicy/agents/tools rule chat names spiffe://..., which is lost: resolved → dangling`. */
export function affectedText(one: AffectedPolicy): string {
  return `${one.kind}/${one.policy} ${namesText(one)} ${whom(one)}, ${eventText(one)}: ${statesText(one)}`
}

function namesText({ rule, isMention }: AffectedPolicy): string {
  return isMention ? `${rule} mentions` : `rule ${rule} names`
}

const EVENTS: Readonly<Record<Exclude<AffectedPolicy['change'], 'rule'>, string>> = {
  lost: 'which is lost',
  gained: 'which is gained',
  moved: 'which moves',
  otherwise: 'whose holders change',
  perhaps: 'whose holders may change',
}

/** What becomes of the ID; of the rule, where that is what changes. */
function eventText({ change, before }: AffectedPolicy): string {
  if (change !== 'rule') return EVENTS[change]
  return before === undefined ? 'and is new' : 'and goes'
}

const MARK: Readonly<Record<AffectedPolicy['change'], Mark>> = {
  lost: 'warn',
  gained: 'note',
  moved: 'warn',
  otherwise: 'warn',
  perhaps: 'warn',
  rule: 'note',
}

/** A rule that comes and names what nothing gives is worth a look: its ID may go in the same change. */
function markOf({ change, after }: AffectedPolicy): Mark {
  return after?.source.resolution.state === 'dangling' ? 'warn' : MARK[change]
}

function whom({ spiffeId, before, after }: AffectedPolicy): string {
  return spiffeId ?? after?.source.text ?? before?.source.text ?? ''
}

function statesText({ before, after }: AffectedPolicy): string {
  const [left, right] = [before, after].map((one) => one?.source.resolution.state)
  if (left !== undefined && left === right) return left
  return `${left ?? '(not there)'} → ${right ?? '(gone)'}`
}

/** How many differ in some fields. */
function count(
  some: readonly AffectedPolicy[] = [],
  ...fields: readonly ('kind' | 'policy' | 'rule')[]
): number {
  return new Set(some.map((one) => JSON.stringify(fields.map((field) => one[field])))).size
}

/** The block; nothing where no rule is affected. */
export function viewAffected(affected: readonly AffectedPolicy[], { width }: Layout): Block {
  if (affected.length === 0) return []
  const mentions = affected.filter(({ isMention }) => isMention)
  const ofPolicies = affected.filter(({ isMention }) => !isMention)
  const head = present(
    ofPolicies.length > 0 &&
      `${policiesText(count(ofPolicies, 'kind', 'policy'))} affected, ${counted(count(ofPolicies, 'kind', 'policy', 'rule'), 'rule')}`,
    mentions.length > 0 && `${counted(count(mentions, 'kind', 'policy'), 'other object')} affected`,
  ).join('; ')
  return [
    line(span(head, 'bold')),
    ...affected.flatMap((one) => [
      ...wrap(
        line(
          '  ',
          MARKS[markOf(one)],
          ' ',
          ...(one.kind === ACCESS_POLICY_KIND.kind ? [] : [`${one.kind} `]),
          span(one.policy, 'bold'),
          ` ${namesText(one)} ${whom(one)}, ${eventText(one)}`,
        ),
        width,
        4,
      ),
      ...wrap(line(`    ${statesText(one)}: ${nowText(one)}`), width, 6),
      ...one.instead.flatMap(({ binding, spiffeId }) =>
        wrap(line(`    ${binding} gives ${spiffeId} instead`), width, 6),
      ),
    ]),
  ]
}

/** What the source resolves to after the change; before it, where the change deletes the rule. */
function nowText({ before, after }: AffectedPolicy): string {
  return (after ?? before)?.source.resolution.text ?? ''
}
