// The findings of a comparison with a SPIRE server: missing and different entries once for each object and cause, extra ones by
// themselves, since each may be another client's.
import { groupsBy, type Group } from '../../base/groups.ts'
import type { Analysis } from '../../analysis/index.ts'
import { asFarAs, depending, finding, notCertain, type Finding } from '../finding/finding.ts'
import type { AskedRule } from '../finding/rule.ts'
import { type Subject } from '../../model/objects/subject.ts'
import { REGISTRATION_ENTRY_KIND } from '../../model/subject-groups.ts'
import { podText } from '../../model/objects/pod-index.ts'
import { findingEntry, SEVERITIES, type FindingCode } from '../registry/findings.ts'
import {
  givesRight,
  sourceText,
  type EntryHolders,
  type HolderContainer,
  type DifferenceCause,
  type ExplainedDifference,
  expectedText,
} from '../../predict/index.ts'
import { compareBytes } from '../../base/text/bytes.ts'
import { sha256Hex } from '../../base/text/sha256.ts'
import { sourceSubject } from './install-rules.ts'
import { appliesUnless } from './applies.ts'

/** How many entries of an object a finding names. */
const NAMED = 10
/** How many extra entries have a finding each; what is left has one for each code, so that none of them goes unsaid. */
const EXTRA_FINDINGS = 1_000

/** In hex digits: the part of a digest that names a set of entries. */
const DIGEST_LENGTH = 12

/** A difference with the containers that an extra entry is for. */
export interface JudgedDifference {
  readonly difference: ExplainedDifference
  readonly code: FindingCode
  readonly holders: EntryHolders
}

/** Gives each difference its code, the worst first; `holdersOf` is asked about extra entries alone. */
export function judgeDifferences(
  differences: readonly ExplainedDifference[],
  holdersOf: (one: ExplainedDifference & { readonly kind: 'extra' }) => EntryHolders,
): readonly JudgedDifference[] {
  const rank = ({ code }: JudgedDifference): number => SEVERITIES.indexOf(findingEntry(code).severity)
  return differences
    .map((difference) => {
      const holders = difference.kind === 'extra' ? holdersOf(difference) : NO_HOLDERS
      return { difference, holders, code: codeOf(difference, holders) }
    })
    .toSorted((left, right) => rank(left) - rank(right))
}

const NO_HOLDERS: EntryHolders = { certain: [], possible: [] }

function codeOf(one: ExplainedDifference, holders: EntryHolders): (typeof differenceRule.codes)[number] {
  if (one.cause === 'race') return 'KLM806'
  if (one.kind === 'missing') return 'KLM801'
  if (one.kind === 'extra') {
    const isHeld = holders.certain.length + holders.possible.length > 0 || holders.whyOthers !== undefined
    return !isHeld ? 'KLM805' : givesRight(one.entry) ? 'KLM804' : 'KLM802'
  }
  const isRight = one.fields.some(
    ({ field, onServer }) => (field === 'admin' || field === 'downstream') && onServer === 'true',
  )
  return isRight ? 'KLM804' : 'KLM803'
}

/** What is found in a comparison with a SPIRE server. */
export const differenceRule = {
  codes: ['KLM801', 'KLM802', 'KLM803', 'KLM804', 'KLM805', 'KLM806'],
  find: differenceFindings,
} as const satisfies AskedRule

/** The findings of judged differences. */
function differenceFindings(
  analysis: Pick<Analysis, 'openSettings'>,
  judged: readonly JudgedDifference[],
): readonly Finding[] {
  const extra = judged.filter(({ difference }) => difference.kind === 'extra')
  const others = groupsBy(
    judged.filter(({ difference }) => difference.kind !== 'extra'),
    ({ difference, code }) =>
      difference.kind === 'extra'
        ? ''
        : JSON.stringify([
            code,
            difference.kind,
            difference.cause,
            sourceText(difference.expected.source),
            difference.expected.doubt,
          ]),
  )
  const findings = [
    ...others.flatMap(ofGroup),
    ...extra.slice(0, EXTRA_FINDINGS).map(ofExtra),
    ...[...Map.groupBy(extra.slice(EXTRA_FINDINGS), ({ code }) => code)].map(([code, rest]) =>
      ofOtherExtra(code, rest),
    ),
  ]
  return findings.map((one) => depending(one, analysis.openSettings.assumptions))
}

function ofGroup(group: Group<JudgedDifference>): readonly Finding[] {
  const [{ code, difference }] = group
  if (difference.kind === 'extra') return []
  const { expected, cause, kind } = difference
  const source = sourceText(expected.source)
  const count = group.length === 1 ? 'one entry' : `${group.length} entries`
  const what =
    kind === 'missing'
      ? `the SPIRE server lacks ${count} of ${source}`
      : `${count} of ${source} ${group.length === 1 ? 'differs' : 'differ'} on the SPIRE server`
  const named = group.slice(0, NAMED).map(({ difference: one }) => evidenceOf(one))
  const more = group.length - named.length
  const namespaces = new Set(
    group.flatMap(({ difference: one }) =>
      one.kind === 'extra' || one.expected.pod === undefined ? [] : [one.expected.pod.namespace],
    ),
  )
  const one = finding(code, {
    subject: sourceSubject(expected.source),
    summary: `${what}: ${CAUSE_TEXTS[cause]}`,
    ...(kind === 'different' && cause === 'another registrar' && { fix: DELETE_IT }),
    evidence: [difference.why, ...named, ...(more > 0 ? [`and ${more} more`] : [])],
    ...(namespaces.size > 0 && { namespaces }),
  })
  return asFarAs(appliesUnless(source, expected.doubt), one)
}

const DELETE_IT =
  'Find out who made the entry, and delete it (spire-server entry delete -entryID ID): SCM makes its own in its next pass.'

function evidenceOf(one: ExplainedDifference): string {
  if (one.kind === 'extra') return `entry ${one.entry.id}: ${one.entry.spiffeId}`
  const what = `${expectedText(one.expected)}: ${one.expected.spiffeId}`
  if (one.kind === 'missing') return what
  const fields = one.fields.map(
    ({ field, predicted, onServer }) =>
      `${field} is ${orEmpty(onServer)} on the server and ${orEmpty(predicted)} by the object`,
  )
  return `${what} (entry ${one.entry.id}): ${fields.join('; ')}`
}

function orEmpty(text: string): string {
  return text === '' ? 'empty' : text
}

function ofExtra({ difference, code, holders }: JudgedDifference): Finding {
  if (difference.kind !== 'extra') throw new TypeError('an extra entry is meant')
  const { entry, cause, why, owner } = difference
  const all = [...holders.certain, ...holders.possible]
  const one = finding(code, {
    subject: { kind: REGISTRATION_ENTRY_KIND, namespace: '', name: entry.id },
    related: subjectsOf(all.slice(0, NAMED)),
    summary: `no object asks for the entry of ${entry.spiffeId}: ${CAUSE_TEXTS[cause]}`,
    evidence: [
      why,
      ...(code === 'KLM804' ? [`whoever holds ${entry.spiffeId} has its right, by whichever entry`] : []),
      ...(owner?.kind === 'scm' && cause !== 'kept' ? [`SCM will delete it: ${owner.why}`] : []),
      `parent ${entry.parentId}`,
      `selectors ${entry.selectors.join(', ')}`,
      ...all.slice(0, NAMED).map(({ pod, container }) => `given to ${podText(pod)}, container ${container}`),
      ...(all.length > NAMED ? [`and to ${all.length - NAMED} more containers`] : []),
    ],
    ...(all.length > 0 && { namespaces: new Set(all.map(({ pod }) => pod.namespace)) }),
  })
  return code === 'KLM805' || holders.certain.length > 0 ? one : unsureWhoAsks(one, holders.whyOthers)
}

/**
 * Further extra entries of one code. No one of them is its subject, nor any set of them: its name is of these very entries, so that
 * who accepts them (`--suppress`) has not accepted those that come later.
 */
function ofOtherExtra(code: FindingCode, rest: readonly JudgedDifference[]): Finding {
  const named = rest.slice(0, NAMED).map(({ difference }) => evidenceOf(difference))
  const namespaces = new Set<string>()
  for (const { holders } of rest) {
    for (const { pod } of holders.certain) namespaces.add(pod.namespace)
    for (const { pod } of holders.possible) namespaces.add(pod.namespace)
  }
  const ids = rest.flatMap(({ difference }) => (difference.kind === 'extra' ? [difference.entry.id] : []))
  const digest = sha256Hex(JSON.stringify(ids.toSorted(compareBytes))).slice(0, DIGEST_LENGTH)
  const one = finding(code, {
    subject: { kind: REGISTRATION_ENTRY_KIND, namespace: '', name: `others-${digest}` },
    summary: `no object asks for ${rest.length} more entries`,
    evidence: [...named, ...(rest.length > NAMED ? [`and ${rest.length - NAMED} more`] : [])],
    ...(namespaces.size > 0 && { namespaces }),
  })
  return code !== 'KLM805' && rest.every((extra) => extra.holders.certain.length === 0)
    ? unsureWhoAsks(one)
    : one
}

function unsureWhoAsks(one: Finding, whyOthers?: string): Finding {
  return whyOthers === undefined
    ? notCertain(one, ['which agents ask for it'], 'whether the agent of the node asks for it is not known')
    : notCertain(one, ['which containers hold its ID'], whyOthers)
}

function subjectsOf(holders: readonly HolderContainer[]): readonly Subject[] {
  return holders.map(({ pod, container }) => ({
    kind: pod.ref.kind,
    namespace: pod.namespace,
    name: pod.ref.name,
    container,
  }))
}

/** What each cause means, as a finding says it. */
export const CAUSE_TEXTS: Readonly<Record<DifferenceCause, string>> = {
  race: 'the dump and the objects may have been read at different times',
  'scm behind': 'SCM has not acted on the objects as they are (it does not run, or it is behind)',
  deleted: 'another client deleted what SCM had made',
  'edited on the server': 'another client changed it on the server',
  refused: 'the server refuses it',
  kept: 'it is the one from before an edit that the server refuses',
  'pod gone': 'its pod is gone',
  'another registrar': 'another client of the server made it',
  undetermined: 'the cause is undetermined',
}
