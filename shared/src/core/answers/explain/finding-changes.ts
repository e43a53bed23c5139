// Which findings a change brings, removes and leaves as they are. The fingerprint of a finding is its code, the objects that it names, and
// its parts: the namespaces of the pods that show it, the fields of a manifest, the sources of a rule, the label sets of claims. A
// finding is new as far as no finding of the state before has these. A count that grows within a namespace is not new (docs/offline.md).
import { getOrCreate } from '../../base/get-or-create.ts'
import {
  containerPart,
  findingKey,
  namedIn,
  notCertain,
  withinNamespaces,
  type Finding,
  findingEntry,
} from '../../findings/index.ts'
import { subjectText } from '../../model/objects/subject.ts'
import type { Steps } from '../../base/steps.ts'
import { compareBytes } from '../../base/text/bytes.ts'
import { fixedAmong, type HeldState } from './better-off.ts'
import type { OneSided } from './one-sided.ts'

/** What becomes of findings. */
export interface FindingChanges {
  /** A finding that grows has what is new of it alone. */
  readonly added: readonly Finding[]
  /** Those whose containers, bindings or policy are there, and well. */
  readonly fixed: readonly Finding[]
  /** The others that are gone: what they were about is gone, or not well. */
  readonly noLongerApply: readonly Finding[]
  /** Those that are not found any more, and may be in what was not read. */
  readonly perhapsGone: readonly Finding[]
  readonly unchanged: readonly Finding[]
}

/** A state with its findings. */
export interface ToldState extends HeldState {
  readonly findings: readonly Finding[]
  /** What it alone leaves unread: there may be findings in it. */
  readonly unread: OneSided
}

/** Compares the findings of two states; a step for each. */
export function* findingChanges(before: ToldState, after: ToldState): Steps<FindingChanges> {
  const several = new Set([...severalIn(before.findings), ...severalIn(after.findings)])
  const had = new Fingerprints(before.findings, several)
  const has = new Fingerprints(after.findings, several)
  const asBefore = openSeveralOf(before.findings)
  const continued = new Set<Fingerprint>()
  const news = new Map<Finding, Finding>()
  for (const one of has.all) {
    yield
    const others = had.matching(one)
    for (const other of others) continued.add(other)
    const added = addedTo(others, one)
    if (added !== undefined) news.set(one.finding, mayHaveBeen(asBefore(added), before.unread))
  }
  const gone: Finding[] = []
  const perhapsGone: Finding[] = []
  for (const one of had.all) {
    yield
    if (continued.has(one) || has.matching(one).length > 0) continue
    if (after.unread.findings(one.finding) === undefined) gone.push(one.finding)
    else perhapsGone.push(one.finding)
  }
  // Another one of the same subject has taken its place.
  const added = new Set([...news.keys()].map(({ subject }) => subjectText(subject)))
  const unreplaced = gone.filter(({ subject }) => !added.has(subjectText(subject)))
  const fixed = new Set(yield* fixedAmong(unreplaced, before, after))
  return {
    added: [...news.values()],
    fixed: gone.filter((one) => fixed.has(one)),
    noLongerApply: gone.filter((one) => !fixed.has(one)),
    perhapsGone,
    unchanged: after.findings.filter((one) => !news.has(one)),
  }
}

/** What makes a finding the same one before and after a change. */
interface Fingerprint {
  readonly finding: Finding
  /** What it names, each with its code. Which registration of a container that holds several is the first of them does not matter. */
  readonly names: ReadonlySet<string>
  /** A text for each of its parts, by key; empty: it has none. */
  readonly parts: ReadonlyMap<string, string>
}

/** The findings of a state, by what they name. */
class Fingerprints {
  readonly all: readonly Fingerprint[]
  readonly #byName = new Map<string, Fingerprint[]>()

  constructor(findings: readonly Finding[], several: ReadonlySet<string>) {
    this.all = findings.map((one) => fingerprintOf(one, several))
    for (const one of this.all)
      for (const name of one.names) getOrCreate(this.#byName, name, () => []).push(one)
  }

  /**
   * The findings that name all objects of a fingerprint and share a part with it: if one of three bindings is deleted, the finding about the
   * other two is not new. If there are none, the findings about each object alone: many bindings that claim the same pods have one each.
   */
  matching(one: Fingerprint): readonly Fingerprint[] {
    const { names } = one
    const lists = [...names].map((name) => this.#byName.get(name) ?? [])
    const shortest = lists.reduce((best, list) => (list.length < best.length ? list : best))
    const all = shortest.filter((other) => names.isSubsetOf(other.names) && haveCommon(one, other))
    if (all.length > 0) return all
    const each = lists.flatMap((list) => list.find((other) => other.names.size === 1) ?? [])
    const isOfEach = each.length === names.size && each.some((other) => haveCommon(one, other))
    return isOfEach ? each : []
  }
}

/** If several findings have one code, the same names and no parts, their texts are their parts. */
function fingerprintOf(finding: Finding, several: ReadonlySet<string>): Fingerprint {
  const { code, subject, summary } = finding
  const { container } = subject
  const named = findingEntry(code).isOfSubjectAlone === true ? [subject] : namedIn(finding)
  const parts = new Map([...partsOfNamespaces([...(finding.namespaces ?? [])]), ...(finding.parts ?? [])])
  // A container that is a part is none of the names: the finding may be about it alone before, and about others too after.
  const isPart = container !== undefined && parts.has(containerPart(container))
  if (parts.size === 0 && several.has(findingKey(finding))) parts.set(summary, summary)
  return {
    finding,
    names: new Set(
      named.map((one) => {
        const { container: own = container, ...object } = one
        return `${code} ${subjectText(isPart || own === undefined ? object : { ...object, container: own })}`
      }),
    ),
    parts,
  }
}

function partOfNamespace(name: string): string {
  return `namespace ${name}`
}

function partsOfNamespaces(names: readonly string[]): Fingerprint['parts'] {
  return new Map(names.toSorted(compareBytes).map((name) => [partOfNamespace(name), partOfNamespace(name)]))
}

/** Whether two findings have a part in common, or may have; those without parts are of one. */
function haveCommon({ finding: { moreParts }, parts }: Fingerprint, other: Fingerprint): boolean {
  if (parts.size === 0 && other.parts.size === 0) return true
  if ((moreParts ?? other.finding.moreParts) !== undefined) return true
  return [...parts.keys()].some((key) => other.parts.has(key))
}

function severalIn(findings: readonly Finding[]): readonly string[] {
  return [...Map.groupBy(findings, findingKey)].flatMap(([key, { length }]) => (length > 1 ? [key] : []))
}

/**
 * A finding as a new one; undefined if it has no part that `others` lack. If it is certain and they were not, whether it is new is not
 * known.
 */
function addedTo(others: readonly Fingerprint[], { finding: one, parts }: Fingerprint): Finding | undefined {
  if (others.length === 0) return one
  const news = new Map([...parts].filter(([key]) => !others.some((other) => other.parts.has(key))))
  const findings = others.map(({ finding }) => finding)
  const mayBeOld = one.dependsOn === undefined && findings.some(({ moreParts }) => moreParts !== undefined)
  if (news.size > 0) return mayBeOld ? perhapsBefore(withNews(one, news), findings) : withNews(one, news)
  if (one.dependsOn !== undefined) return undefined
  const certain = findings.filter(({ dependsOn }) => dependsOn === undefined)
  const sure = new Set(certain.flatMap(({ namespaces }) => [...(namespaces ?? NONE)]))
  const open = [...(one.namespaces ?? NONE).difference(sure)]
  if (certain.length > 0 && open.length === 0) return undefined
  return perhapsBefore(certain.length > 0 ? withNews(one, partsOfNamespaces(open)) : one, findings)
}

const NONE: ReadonlySet<string> = new Set()
/** How much of what is new is named. */
const NEWS_NAMED = 10

/** A finding that was there, as it is about what it was not about before: these parts. */
function withNews(one: Finding, news: Fingerprint['parts']): Finding {
  const [first, ...others] = [...news].flatMap(([key, text]) => (one.parts?.has(key) === true ? [text] : []))
  // Where the sentence is about the first of several things, it is now about the first that is new.
  if (first !== undefined && [...(one.parts ?? [])].some(([, text]) => text === one.summary))
    return { ...one, summary: first, evidence: others }
  const more = news.size - NEWS_NAMED
  const namespaces = [...(one.namespaces ?? NONE)].filter((name) => news.has(partOfNamespace(name)))
  const told = namespaces.length > 0 ? withinNamespaces(one, new Set(namespaces)) : one
  return {
    ...told,
    evidence: [
      ...told.evidence,
      ...[...news.values()].slice(0, NEWS_NAMED).map((what) => `new with this change: ${what}`),
      ...(more > 0 ? [`new with this change: ${more} more`] : []),
    ],
  }
}

/**
 * The subject of a finding about several identities of a container is the first registration that gives one. If such a finding is open before
 * the change, it may be the same one with another subject.
 */
function openSeveralOf(before: readonly Finding[]): (one: Finding) => Finding {
  const open = Map.groupBy(
    before.filter(
      ({ code, dependsOn }) => dependsOn !== undefined && findingEntry(code).tells === 'several are held',
    ),
    codeAndContainer,
  )
  return (one) => {
    const same = (open.get(codeAndContainer(one)) ?? []).filter(
      ({ namespaces }) => !(namespaces ?? NONE).isDisjointFrom(one.namespaces ?? NONE),
    )
    return same.length === 0 || one.dependsOn !== undefined ? one : perhapsBefore(one, same)
  }
}

function codeAndContainer({ code, subject }: Finding): string {
  return `${code} ${subject.container ?? ''}`
}

/** A finding that is certain, where those of before were not. */
function perhapsBefore(one: Finding, others: readonly Finding[]): Finding {
  const dependsOn = new Set(
    others.flatMap((other) => [...(other.dependsOn ?? []), ...(other.moreParts ?? [])]),
  )
  return notCertain(one, [...dependsOn], PERHAPS_BEFORE)
}

/** A finding that is not known to be new where the state before leaves unread what may have shown it. */
function mayHaveBeen(one: Finding, unread: OneSided): Finding {
  const why = unread.findings(one)
  return why === undefined ? one : notCertain(one, [why], PERHAPS_BEFORE)
}

const PERHAPS_BEFORE = 'depends: it may have been so before this change'
