// How `policies` looks: a block for each policy and each of its rules. A source is shown with whom it names, what does not take
// effect as written, and the fix of each finding.
import { groupsBy, onceBy } from '@kleym/shared/core/base/groups.ts'
import { objectKey, type Finding, RULE_KIND } from '@kleym/shared/core/findings/index.ts'
import { counted } from '@kleym/shared/core/base/text/counted.ts'
import { keysOf } from '@kleym/shared/core/base/json.ts'
import { ACCESS_POLICY_KIND, qualifiedKind } from '@kleym/shared/core/model/kinds.ts'
import { unknownReasonText } from '@kleym/shared/core/model/unknown-reason.ts'
import { targetText } from '@kleym/shared/core/model/objects/access-policy.ts'
import { quoted } from '@kleym/shared/core/base/text/quoted.ts'
import { podText } from '@kleym/shared/core/model/objects/pod-index.ts'
import {
  mayBeMore,
  policyName,
  type NoteKind,
  type PolicyHolder,
  type PolicyNote,
  type Resolution,
  type ResolutionState,
  type ResolvedPolicy,
  type ResolvedRule,
  type ResolvedSource,
} from '@kleym/shared/core/analysis/index.ts'
import type { PolicyKnowledge } from '@kleym/shared/core/snapshot/index.ts'
import { leadingWith, type Answer } from '../../text/answer.ts'
import { viewFindingGroups } from '../../text/finding-groups.ts'
import { fixText, kindsText } from '../../text/findings.ts'
import type { Layout } from '../../text/layout.ts'
import { apart, indent, line, MARKS, span, type Block, type Mark } from '../../text/line.ts'
import { namesText, policiesText } from '../../text/names.ts'
import { wrap } from '../../text/wrap.ts'

/** What the view shows beside the policies. */
export interface PoliciesLayout extends Layout {
  /** The other objects with strings that hold SPIFFE IDs. */
  readonly mentioning: readonly ResolvedPolicy[]
  readonly knowledge: PolicyKnowledge
  readonly findings: readonly Finding[]
}

/** What stands below the answer: the policies, those in trouble first, then each fix that several of them need. */
export function viewPolicies(policies: readonly ResolvedPolicy[], layout: PoliciesLayout): Block {
  const stop = layout.findings.filter(({ severity }) => severity === 'error')
  const others = layout.findings.filter(({ severity }) => severity !== 'error')
  const about = Map.groupBy(others, ({ subject }) => objectKey(subject))
  const shared = policies.length < 2 ? new Set<string>() : sharedFixes(others)
  const rank = (one: ResolvedPolicy): number => worstOf(one, about.get(objectKey(one)) ?? [])
  return apart([
    [...viewFindingGroups(stop, layout)],
    ...policies
      .toSorted((left, right) => rank(left) - rank(right))
      .map((one) => viewPolicy(one, about.get(objectKey(one)) ?? [], shared, layout)),
    viewMentions(layout),
    viewSharedFixes(others, shared, layout),
  ])
}

/** The fixes that more than one rule or policy needs: they stand once, below all policies. */
function sharedFixes(findings: readonly Finding[]): ReadonlySet<string> {
  const several = groupsBy(findings, ({ fix }) => fix).filter(({ length }) => length > 1)
  return new Set(several.map(([{ fix }]) => fix))
}

function viewSharedFixes(findings: readonly Finding[], shared: ReadonlySet<string>, layout: Layout): Block {
  const told = findings.filter(({ fix }) => shared.has(fix))
  return onceBy(told, ({ fix }) => fix).flatMap(({ code, fix }) =>
    wrap(line(span(code, 'dim'), `  fix: ${fixText(fix, layout)}`), layout.width, 8),
  )
}

/** So many IDs are shown that other objects mention; all of them with `--wide`. */
const MENTIONS_SHOWN = 20

/** The IDs in the strings of other objects, those in trouble first, each with where it stands. */
function viewMentions(layout: PoliciesLayout): Block {
  const all = layout.mentioning.flatMap((policy) =>
    policy.rules.flatMap((rule) => rule.sources.map((source) => ({ policy, rule, source }))),
  )
  if (all.length === 0) return []
  const byState = Map.groupBy(all, ({ source }) => source.resolution.state)
  const inOrder = keysOf(STATES).flatMap((state) => byState.get(state) ?? [])
  const byId = groupsBy(inOrder, ({ source }) => source.text)
  const first = layout.wide ? byId : byId.slice(0, MENTIONS_SHOWN)
  return [
    line(span('Mentioned in other objects', 'bold')),
    ...first.flatMap((same) => {
      const places = same.map(({ policy, rule }) => `${policy.kind} ${policyName(policy)} ${rule.name}`)
      return [
        ...viewSource(same[0].source, layout),
        ...wrap(line('      in ', layout.wide ? places.join(', ') : namesText(places)), layout.width, 9),
      ]
    }),
    ...(first.length < byId.length
      ? [line(span(`    and ${byId.length - first.length} more IDs (--wide)`, 'dim'))]
      : []),
  ]
}

/** How many IDs other objects mention, and what they come to. */
function mentionsText(mentioning: readonly ResolvedPolicy[]): readonly string[] {
  const sources = mentioning.flatMap(({ rules }) => rules.flatMap((rule) => rule.sources))
  const byId = new Map(sources.map(({ text, resolution }) => [text, resolution]))
  if (byId.size === 0) return []
  const objects = counted(mentioning.length, 'other object')
  return [
    `${objects} ${mentioning.length === 1 ? 'mentions' : 'mention'} ${counted(byId.size, 'ID')}: ${stateTexts([...byId.values()]).join(', ')}`,
  ]
}

/** `3 of 23 sources dangling (nothing gives the ID)`, of `3 dangling (nothing gives the ID)`. */
function leadText(worst: string | undefined, total: number): string {
  const sources = counted(total, 'source')
  return worst === undefined
    ? 'no source'
    : worst.replace(/^\d+/, (count) => (count === String(total) ? sources : `${count} of ${sources}`))
}

/** How many are in which state, the worst first: `3 dangling (nothing gives the ID)`. */
function stateTexts(resolutions: readonly Resolution[]): readonly string[] {
  const byState = Map.groupBy(resolutions, ({ state }) => state)
  return keysOf(STATES).flatMap((name) => {
    const [, alone, several = alone] = STATES[name]
    const many = byState.get(name)?.length ?? 0
    return many === 0 ? [] : [`${many} ${several}`]
  })
}

/** Warnings first, then what is undetermined, then information. */
function worstOf({ rules, problems }: ResolvedPolicy, about: readonly Finding[]): number {
  if (about.some(({ severity }) => severity === 'warning')) return 0
  const isOpen = rules.some(({ sources }) => sources.some(({ resolution }) => mayBeMore(resolution)))
  if (isOpen || problems.length > 0) return 1
  return about.length > 0 ? 2 : 3
}

/** The first lines: how many policies there are, and how many sources of theirs are in which state, trouble first. */
export function policiesAnswer(policies: readonly ResolvedPolicy[], layout: PoliciesLayout): Answer {
  const mentions = mentionsText(layout.mentioning)
  if (policies.length === 0) {
    const none = nothing(layout)
    return { ...none, reasons: [...(none.reasons ?? []), ...mentions.map((text) => [text])] }
  }
  const { knowledge, findings } = layout
  const resolutions = policies.flatMap(({ rules }) =>
    rules.flatMap((rule) => rule.sources.map(({ resolution }) => resolution)),
  )
  const [worst, ...better] = stateTexts(resolutions)
  const more = knowledge.state === 'unknown' ? ', and perhaps more' : ''
  const [only, ...others] = policies
  const who =
    only !== undefined && others.length === 0 ? `policy ${policyName(only)}` : policiesText(policies.length)
  const isOpen = knowledge.state === 'unknown' || resolutions.some(mayBeMore)
  const warnings = findings.filter(({ severity }) => severity === 'warning')
  return {
    mark: isOpen ? 'warn' : 'ok',
    ...leadingWith(
      [`${who}${more}: ${leadText(worst, resolutions.length)}`, ...better],
      ...[...mentions, ...(warnings.length === 0 ? [] : [kindsText(warnings)])].map((text) => [text]),
    ),
  }
}

/** Not served, not given, not known and none are four answers. */
function nothing({ knowledge, incomplete }: PoliciesLayout): Answer {
  const kind = qualifiedKind(ACCESS_POLICY_KIND)
  switch (knowledge.state) {
    case 'absent':
      return { mark: 'note', text: [`this cluster does not serve ${kind}, so there is no access policy`] }
    case 'not given':
      return incomplete === true
        ? { mark: 'note', text: ['none of the files that could be read holds an access policy'] }
        : { mark: 'note', text: ['none of the files holds an access policy'] }
    case 'unknown': {
      const why = unknownReasonText(knowledge.why)
      return { mark: 'warn', text: [`no access policy is known to be in scope: ${why}`] }
    }
    case 'known':
      return { mark: 'note', text: ['no access policy is in scope'] }
  }
}

/** How a source in a state is marked, what is said of it alone, and what of several (else the same). Trouble comes first. */
const STATES: Readonly<Record<ResolutionState, readonly [mark: Mark, alone: string, several?: string]>> = {
  dangling: ['warn', 'dangling', 'dangling (nothing gives the ID)'],
  dead: ['warn', 'dead by its form', 'dead by their form'],
  'type mismatch': ['warn', 'source type and field disagree', 'whose type and field disagree'],
  unbounded: ['warn', 'for any principal'],
  unreadable: ['warn', 'unreadable', 'not readable'],
  unknown: ['warn', 'unknown', 'undetermined'],
  'service account': ['note', 'service account', 'by service account'],
  unheld: ['note', 'not held now', 'that no container holds now'],
  pattern: ['note', 'pattern', 'by pattern'],
  foreign: ['note', 'foreign'],
  'not SPIFFE': ['note', 'not SPIFFE'],
  resolved: ['ok', 'resolved'],
}

function viewPolicy(
  policy: ResolvedPolicy,
  about: readonly Finding[],
  shared: ReadonlySet<string>,
  layout: PoliciesLayout,
): Block {
  const targets = policy.targets.map(targetText)
  const on = targets.length === 0 ? '' : ` on ${layout.wide ? targets.join(', ') : namesText(targets)}`
  const action = policy.isNamesAlone
    ? ` ${policy.kind}${policy.action === undefined ? '' : ` action ${actionText(policy)}`}${on}`
    : policy.isInterpreted
      ? ` action ${actionText(policy)}${on}`
      : ` ${policy.apiVersion}`
  const byRule = Map.groupBy(about, ruleNamed)
  return [
    ...wrap(line(span(policyName(policy), 'bold'), ` ${action}`), layout.width, 2),
    ...policy.problems.flatMap((text) => wrap(line('  ', MARKS.warn, ` ${text}`), layout.width, 4)),
    ...policy.notes.flatMap((one) => viewNote(one, layout, 2)),
    ...viewFixes(byRule.get(undefined) ?? [], shared, layout, 4),
    ...policy.rules.flatMap((rule) =>
      viewRule(rule, byRule.get(`${policy.name}/${rule.name}`) ?? [], shared, layout),
    ),
  ]
}

/** An action that kleym does not know is shown in quotes, as it is written. */
function actionText({ action }: ResolvedPolicy): string {
  if (action === undefined) return '(none)'
  return ACTIONS.has(action) ? action : quoted(action)
}

/** Those of Kube Agentic Networking, then those of Istio. */
const ACTIONS: ReadonlySet<string> = new Set(['Allow', 'ExternalAuth', 'ALLOW', 'DENY', 'AUDIT', 'CUSTOM'])

/** The rule that a finding is about, `POLICY/RULE`; undefined for one about the whole policy. */
function ruleNamed({ related }: Finding): string | undefined {
  return related.find(({ kind }) => kind === RULE_KIND)?.name
}

function viewRule(
  rule: ResolvedRule,
  about: readonly Finding[],
  shared: ReadonlySet<string>,
  layout: PoliciesLayout,
): Block {
  return [
    ...wrap(line(`  rule ${rule.name}`, span(asksText(rule), 'dim')), layout.width, 4),
    ...rule.sources.flatMap((one) => viewSource(one, layout)),
    ...rule.mentioned.flatMap(({ text }) =>
      wrap(line('    ', MARKS.note, ` ${text} is mentioned in CEL, not interpreted`), layout.width, 6),
    ),
    ...rule.notes.flatMap((one) => viewNote(one, layout, 4)),
    ...viewFixes(about, shared, layout, 6),
  ]
}

function asksText({ asks, authorization }: ResolvedRule): string {
  if (asks === 'not read') return ''
  return authorization === undefined ? `, ${asks}` : `, authorization ${asks}`
}

/** What settings that were not given may change. */
const OF_SPIRE: ReadonlySet<ResolutionState> = new Set([
  'resolved',
  'unheld',
  'dangling',
  'service account',
  'pattern',
])

function viewSource({ text, resolution }: ResolvedSource, layout: PoliciesLayout): Block {
  const isAssumed = layout.unsettled === true && OF_SPIRE.has(resolution.state)
  const mark = isAssumed ? 'warn' : markOf(resolution)
  const word = `${STATES[resolution.state][1]}${isAssumed ? ' (default settings assumed)' : ''}`
  return [
    ...wrap(line('    ', MARKS[mark], ' ', span(text, mark === 'ok' ? 'ok' : undefined)), layout.width, 6),
    ...rowsOf(text, resolution, layout).flatMap((row, at) =>
      wrap(line('      ', at === 0 ? span(`${word}: `, 'bold') : '  ', row), layout.width, at === 0 ? 8 : 10),
    ),
  ]
}

/** Pods that present an ID which the source does not name are worth a look; an account alone is not. */
function markOf(resolution: Resolution): Mark {
  const isMissed = resolution.state === 'service account' && resolution.kleymIds.length > 0
  return isMissed || (resolution.state === 'resolved' && mayBeMore(resolution))
    ? 'warn'
    : STATES[resolution.state][0]
}

/** The parts of the sentence, a row each, without the source, which stands above them; then the holders. */
function rowsOf(source: string, resolution: Resolution, layout: Layout): readonly string[] {
  const head = `${source}: `
  const said = resolution.text
  const parts = (said.startsWith(head) ? said.slice(head.length) : said).split('; ')
  // Those of a pattern may be all that there are.
  return 'holders' in resolution && resolution.state !== 'pattern'
    ? [...parts, ...holdersRows(resolution.holders, layout)]
    : parts
}

/** Pods with the same containers in one row: `vllm of team-a/llama-0, team-a/llama-1`. */
function holdersRows(holders: readonly PolicyHolder[], { wide }: Layout): readonly string[] {
  return [...Map.groupBy(holders, ({ containers }) => containers.join(', '))].map(([containers, same]) => {
    const pods = [...new Set(same.map(({ pod }) => podText(pod).replace(/^pod /, '')))]
    return `${containers} of ${wide ? pods.join(', ') : namesText(pods)}`
  })
}

const NOT_AS_WRITTEN = 'it does not take effect as written'
const PERHAPS_NOT = 'it may not take effect as written'

/** What stands before a note: no more than follows from it. */
const LEADS: Readonly<Record<NoteKind, string>> = {
  'not accepted': NOT_AS_WRITTEN,
  stale: 'its status is out of date',
  'former target': 'its status is out of date',
  'rule replaced': PERHAPS_NOT,
  'over the limit': PERHAPS_NOT,
  'no action': NOT_AS_WRITTEN,
  'no rules': NOT_AS_WRITTEN,
  'nothing asked': NOT_AS_WRITTEN,
  'section ignored': NOT_AS_WRITTEN,
  'other trust domain': PERHAPS_NOT,
  'member ignored': 'a part of it does not count',
  'no mTLS': NOT_AS_WRITTEN,
}

function viewNote({ kind, text, source }: PolicyNote, layout: Layout, columns: number): Block {
  return indent(
    [
      ...wrap(line(MARKS.warn, ` ${LEADS[kind]}: ${text}`), layout.width - columns, 4),
      ...wrap(line(span(`    ${source}`, 'dim')), layout.width - columns, 4),
    ],
    columns,
  )
}

/** The code and the fix of each finding, once; of a fix that stands below all policies, the code alone. */
function viewFixes(
  about: readonly Finding[],
  shared: ReadonlySet<string>,
  layout: Layout,
  columns: number,
): Block {
  return indent(
    onceBy(about, ({ code }) => code).flatMap(({ fix, code }) =>
      shared.has(fix)
        ? [line(span(`${code}, fix below`, 'dim'))]
        : wrap(line(`fix: ${fixText(fix, layout)}   `, span(code, 'dim')), layout.width - columns, 5),
    ),
    columns,
  )
}
