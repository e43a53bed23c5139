// How "named by" looks in `explain` and `who-selects`: the rules of access policies that name an identity, by the way in
// which they do.
import { present } from '@kleym/shared/core/base/present.ts'
import { unknownReasonText } from '@kleym/shared/core/model/unknown-reason.ts'
import {
  notesOn,
  policyName,
  type Mention,
  type NamedBy,
  type Naming,
} from '@kleym/shared/core/analysis/index.ts'
import { namesText } from '../../text/names.ts'

/** Who names the identities of some containers. */
export interface NamedIds {
  /** The SPIFFE IDs that were asked about, in byte order. */
  readonly ids: readonly string[]
  readonly by: NamedBy
}

/**
 * The rows of a two-column table, without their label: the rules that name the identity, a row for each way, then what is not
 * known.
 */
export function namedByRows(
  { knowledge, namings, mentions, inTexts, uninterpreted, asksDiffer }: NamedBy,
  { wide }: { readonly wide: boolean },
): readonly string[] {
  const rows = [...Map.groupBy(namings, headOf)].map(([head, same]) => head + rulesText(same, wide))
  const unknown = knowledge.state === 'unknown' ? [`not known: ${unknownReasonText(knowledge.why)}`] : []
  const open = uninterpreted.map(({ key }) => key)
  return present(
    ...rows,
    asksDiffer && 'these rules ask different things of a request',
    ...mentionRows(mentions, wide),
    open.length > 0 && uninterpretedText(open, wide),
    ...unknown,
    ...textRows(inTexts, wide),
    rows.length + mentions.length + inTexts.length + unknown.length + open.length === 0 &&
      noRuleText(knowledge),
  )
}

/** On a cluster, most answers do not ask for the objects of other programs that name identities. */
function noRuleText(knowledge: NamedBy['knowledge']): string {
  return knowledge.state === 'known' && knowledge.isInPart === true
    ? 'no rule of any access policy; by other objects: kubectl kleym policies'
    : 'no rule of any policy'
}

/** `policies` says once what kleym cannot interpret of them. */
function uninterpretedText(policies: readonly string[], wide: boolean): string {
  const which = wide
    ? `${listText(policies, wide)}, not interpreted`
    : policies.length === 1
      ? '1 uninterpreted policy'
      : `${policies.length} uninterpreted policies`
  return `perhaps ${which} (kubectl kleym policies -A)`
}

/** The same where several SPIFFE IDs were asked about: each that a rule names, then those that no rule names. */
export function namedIdRows({ ids, by }: NamedIds, { wide }: { readonly wide: boolean }): readonly string[] {
  const exact = by.namings.filter(({ way }) => way === 'exactly')
  const byId = Map.groupBy(exact, ({ source }) => source.text)
  // What was not given may name any of them.
  const areThere = by.knowledge.state === 'known' || by.knowledge.state === 'unknown'
  const unnamed = areThere ? ids.filter((id) => !byId.has(id)) : []
  const others = { ...by, namings: by.namings.filter(({ way }) => way !== 'exactly') }
  const isOpen =
    others.mentions.length > 0 ||
    others.knowledge.state === 'unknown' ||
    others.uninterpreted.length > 0 ||
    others.namings.some(({ way }) => way === 'same path' || way === 'perhaps')
  return present(
    ...[...byId].map(([id, same]) => `${id}: ${rulesText(same, wide)}`),
    unnamed.length > 0 && `${isOpen ? 'no known rule' : 'no rule'} names ${listText(unnamed, wide)} itself`,
    ...(others.namings.length + others.inTexts.length + Number(isOpen) + Number(by.asksDiffer) === 0
      ? []
      : namedByRows(others, { wide })),
  )
}

/** The rules that only mention IDs, a row for each ID. */
function mentionRows(mentions: readonly Mention[], wide: boolean): readonly string[] {
  return [...Map.groupBy(mentions, ({ mentioned }) => mentioned.text)].map(
    ([id, same]) =>
      `perhaps, since ${id} is mentioned in CEL, which is not interpreted: ${listText(same.map(placeText), wide)}`,
  )
}

/** The other objects with texts that hold IDs, a row for each ID. */
function textRows(mentions: readonly Mention[], wide: boolean): readonly string[] {
  return [...Map.groupBy(mentions, ({ mentioned }) => mentioned.text)].map(([id, same]) => {
    const places = same.map(({ policy, rule }) => `${policy.kind} ${policyName(policy)} ${rule.name}`)
    return `${id} is mentioned in ${listText(places, wide)}`
  })
}

function placeText({ policy, rule }: Mention): string {
  return `${policy.key} rule ${rule.name}`
}

/** The words before rules that name the ID in one way; empty if they name the ID itself. */
function headOf({ way, source }: Naming): string {
  if (way === 'exactly') return ''
  return way === 'same path' || way === 'perhaps' ? `perhaps, by ${source.text}: ` : `${source.text}: `
}

/** `agents/tools rule chat, agents/models rule all (stale)`. */
export function rulesText(namings: readonly Naming[], wide: boolean): string {
  return listText(
    namings.map(({ policy, rule }) => {
      const notes = new Set(notesOn(policy, rule).map(({ kind }) => kind))
      const kind = policy.isNamesAlone ? `${policy.kind} ` : ''
      return `${kind}${policyName(policy)} rule ${rule.name}${notes.size === 0 ? '' : ` (${[...notes].join(', ')})`}`
    }),
    wide,
  )
}

function listText(names: readonly string[], wide: boolean): string {
  return wide ? [...new Set(names)].join(', ') : namesText(names)
}
