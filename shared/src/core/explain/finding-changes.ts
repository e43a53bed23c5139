// Which findings a change brings, makes go away and leaves as they are. A finding of a code, a subject and related ones is new too where
// it tells of pods in further namespaces or of further things (a field of a manifest, a source of a rule); that it counts more pods
// of the same namespaces is none. A collision that is told in another form (docs/reliability.md) is new where the claims that
// it is about did not meet before.
import { getOrCreate } from '../get-or-create.ts'
import { lazy } from '../lazy.ts'
import {
  findingKey,
  isAtLeast,
  namedIn,
  notCertain,
  withinNamespaces,
  type Finding,
} from '../findings/finding.ts'
import { subjectText } from '../objects/subject.ts'
import { findingEntry, type FindingCode } from '../registry/findings.ts'
import type { Steps } from '../steps.ts'
import { compareBytes } from '../text/bytes.ts'
import { fixedAmong, type HeldState } from './better-off.ts'
import type { OneSided } from './one-sided.ts'
import { collisionsBetween, isAboutClaims } from './collision-changes.ts'

/** What becomes of findings. */
export interface FindingChanges {
  /** Of one that grows, what it tells of is that which is new. */
  readonly added: readonly Finding[]
  /** Those after which a container or a binding is better off. */
  readonly fixed: readonly Finding[]
  /** The others that are gone: what they told of is not there any more, and no container is better off. */
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
  const collisions = collisionsBetween(before, after)
  const { continued, left } = yield* matched(before.findings, after.findings)
  const asBefore = openSeveralOf(before.findings)
  const news = new Map<Finding, Finding>()
  for (const one of after.findings) {
    yield
    const others = continued.get(one)
    const isNew = isAboutClaims(one) ? collisions.isNew(one) : others === undefined
    const added = isNew ? one : others === undefined ? undefined : addedTo(others, one)
    if (added !== undefined) news.set(one, mayHaveBeen(asBefore(added), before.unread))
  }
  const gone: Finding[] = []
  const perhapsGone: Finding[] = []
  for (const one of left) {
    yield
    if (isAboutClaims(one) && !collisions.isGone(one)) continue
    if (after.unread.findings(one) === undefined) gone.push(one)
    else perhapsGone.push(one)
  }
  // What is as bad, of the same subject, has taken its place.
  const added = Map.groupBy(news.keys(), ({ subject }) => subjectText(subject))
  const isReplaced = ({ code, subject, severity }: Finding): boolean =>
    (added.get(subjectText(subject)) ?? []).some(
      (other) => other.code === code || isAtLeast(other.severity, severity),
    )
  const fixed = new Set(
    yield* fixedAmong(
      gone.filter((one) => !isReplaced(one)),
      before,
      after,
    ),
  )
  return {
    added: [...news.values()],
    fixed: gone.filter((one) => fixed.has(one)),
    noLongerApply: gone.filter((one) => !fixed.has(one)),
    perhapsGone,
    unchanged: after.findings.filter((one) => !news.has(one)),
  }
}

type Findings = readonly [Finding, ...Finding[]]

/** Of each finding those of before that it continues, and those of before that may be gone. */
interface Matched {
  readonly continued: ReadonlyMap<Finding, Findings>
  readonly left: readonly Finding[]
}

/**
 * Of one code, subject and related ones there may be several: what pods show is one that is certain of some namespaces and one that
 * is perhaps so of others, and either continues both. Of others one continues one: that with the same text, else the next. What
 * none continues so may be reported by one that names more, or report what one did that names less: if one of three bindings
 * is deleted, two are left that were there before.
 */
function* matched(before: readonly Finding[], after: readonly Finding[]): Steps<Matched> {
  const byKey = queuesOf(before, findingKey)
  const byText = queuesOf(before, textOf)
  const continued = new Map<Finding, Findings>()
  const taken = new Set<Finding>()
  const takeNext = (one: Finding, queue: Queue | undefined): void => {
    const other = queue?.next(taken)
    if (other === undefined) return
    taken.add(other)
    continued.set(one, [other])
  }
  for (const one of after) {
    yield
    if (one.namespaces === undefined) takeNext(one, byText.get(textOf(one)))
  }
  for (const one of after) {
    yield
    if (continued.has(one)) continue
    const queue = byKey.get(findingKey(one))
    if (one.namespaces === undefined) takeNext(one, queue)
    else if (queue !== undefined) continued.set(one, queue.all)
  }
  for (const others of continued.values()) for (const other of others) taken.add(other)
  const [toldBefore, toldAfter] = [new NamedFindings(before), new NamedFindings(after)]
  for (const one of after) {
    yield
    const naming = continued.has(one) ? [] : toldBefore.thatNameAllOf(one)
    const [other, ...others] = naming.filter((candidate) => !taken.has(candidate))
    if (other !== undefined) continued.set(one, [other, ...others])
  }
  const told = new Set([...continued.values()].flat())
  const left: Finding[] = []
  for (const one of before) {
    yield
    if (isAboutClaims(one) || (!told.has(one) && toldAfter.thatNameAllOf(one).length === 0)) left.push(one)
  }
  return { continued, left }
}

/** A queue of findings. */
class Queue {
  readonly all: Findings
  #at = 0

  constructor(all: Findings) {
    this.all = all
  }

  /** The next one that is not taken. */
  next(taken: ReadonlySet<Finding>): Finding | undefined {
    for (; this.#at < this.all.length; this.#at++) {
      const one = this.all[this.#at]
      if (one !== undefined && !taken.has(one)) return one
    }
    return undefined
  }
}

function queuesOf(findings: readonly Finding[], keyOf: (one: Finding) => string): ReadonlyMap<string, Queue> {
  const queues = new Map<string, Queue>()
  for (const [key, [first, ...others]] of Map.groupBy(findings, keyOf))
    if (first !== undefined) queues.set(key, new Queue([first, ...others]))
  return queues
}

function textOf(one: Finding): string {
  return [findingKey(one), one.summary, ...one.evidence].join('\n')
}

/** Codes whose findings name bindings beside their subject: one name more or less is no news. */
const BESIDE_BINDINGS: ReadonlySet<FindingCode> = new Set<FindingCode>(['KLM416', 'KLM420', 'KLM421'])

/** Findings by what they name. */
class NamedFindings {
  readonly #bySubject: () => ReadonlyMap<string, readonly Finding[]>
  readonly #named = new Map<Finding, ReadonlySet<string>>()

  constructor(findings: readonly Finding[]) {
    this.#bySubject = lazy(() => {
      const bySubject = new Map<string, Finding[]>()
      for (const one of findings) {
        if (isAboutClaims(one)) continue
        // One finding may be about very many bindings, and another about one of them.
        const isOfMany = findingEntry(one.code).tells === 'others hold it' || isOfSeveral(one)
        const { container } = one.subject
        const subjects = isOfMany
          ? namedIn(one).map((named) => (container === undefined ? named : { ...named, container }))
          : [one.subject]
        for (const subject of subjects)
          getOrCreate(bySubject, `${one.code} ${subjectText(subject)}`, () => []).push(one)
      }
      return bySubject
    })
  }

  /** Those of the same code and subject that name all that one tells of; findings about claims are another matter. */
  thatNameAllOf(one: Finding): readonly Finding[] {
    if (isAboutClaims(one)) return []
    const named = BESIDE_BINDINGS.has(one.code) ? [] : namesIn(one)
    return (this.#bySubject().get(subjectKey(one)) ?? []).filter((other) => {
      const theirs = getOrCreate(this.#named, other, () => new Set(namesIn(other)))
      return named.every((subject) => theirs.has(subject))
    })
  }
}

/**
 * A finding as a new one; undefined where it tells of nothing that `others` did not. Where these were not certain, and it is, nothing
 * tells whether it is new.
 */
function addedTo(others: Findings, one: Finding): Finding | undefined {
  const namespaces = (one.namespaces ?? NONE).difference(namespacesShownIn(others))
  const parts = [...(one.parts ?? [])]
    .filter(([key]) => !others.some((other) => other.parts?.has(key) === true))
    .map(([, text]) => text)
  if (namespaces.size + parts.length > 0) return withNews(one, { namespaces, parts })
  if (one.dependsOn !== undefined) return undefined
  const certain = others.filter(({ dependsOn }) => dependsOn === undefined)
  const open = (one.namespaces ?? NONE).difference(namespacesShownIn(certain))
  if (certain.length > 0 && open.size === 0) return undefined
  const dependsOn = new Set(others.flatMap((other) => other.dependsOn ?? []))
  const told = open.size > 0 && certain.length > 0 ? withNews(one, { namespaces: open, parts }) : one
  return notCertain(told, [...dependsOn], 'depends: it may have been so before this change')
}

function namespacesShownIn(findings: readonly Finding[]): ReadonlySet<string> {
  return new Set(findings.flatMap(({ namespaces }) => [...(namespaces ?? NONE)]))
}

const NONE: ReadonlySet<string> = new Set()
/** How much of what is new is named. */
const NEWS_NAMED = 10

/** A finding that was there, as it is about what it was not about before. */
function withNews(
  one: Finding,
  { namespaces, parts: [first, ...others] }: { namespaces: ReadonlySet<string>; parts: readonly string[] },
): Finding {
  // Where the sentence is about the first of several things, it is now about the first that is new.
  if (first !== undefined && [...(one.parts ?? [])].some(([, text]) => text === one.summary))
    return { ...one, summary: first, evidence: others }
  const ofNamespaces = [...namespaces].toSorted(compareBytes).map((name) => `namespace ${name}`)
  const news = [...ofNamespaces, ...(first === undefined ? [] : [first]), ...others]
  const more = news.length - NEWS_NAMED
  const told = namespaces.size > 0 ? withinNamespaces(one, namespaces) : one
  return {
    ...told,
    evidence: [
      ...told.evidence,
      ...news.slice(0, NEWS_NAMED).map((what) => `new with this change: ${what}`),
      ...(more > 0 ? [`new with this change: ${more} more`] : []),
    ],
  }
}

/** What a finding names. Which registration of a container that holds several is the first of them does not matter. */
function namesIn(one: Finding): readonly string[] {
  return namedIn(one).map((named) =>
    subjectText(
      isOfSeveral(one) ? { kind: named.kind, namespace: named.namespace, name: named.name } : named,
    ),
  )
}

function isOfSeveral({ code }: Finding): boolean {
  return findingEntry(code).tells === 'several are held'
}

/**
 * That a container holds several identities is told of the first that gives one. If some are open before, it may have been so then, told of
 * another first one.
 */
function openSeveralOf(before: readonly Finding[]): (one: Finding) => Finding {
  const open = Map.groupBy(
    before.filter((one) => one.dependsOn !== undefined && isOfSeveral(one)),
    ({ code, subject }) => `${code} ${subject.container ?? ''}`,
  )
  if (open.size === 0) return (one) => one
  return (one) => {
    const others = open.get(`${one.code} ${one.subject.container ?? ''}`) ?? []
    const same = others.filter((other) => !(other.namespaces ?? NONE).isDisjointFrom(one.namespaces ?? NONE))
    if (same.length === 0 || one.dependsOn !== undefined) return one
    const dependsOn = new Set(same.flatMap((other) => other.dependsOn ?? []))
    return notCertain(one, [...dependsOn], 'depends: it may have been so before this change')
  }
}

/** A finding that is not known to be new where the state before leaves unread what may have shown it. */
function mayHaveBeen(one: Finding, unread: OneSided): Finding {
  const why = unread.findings(one)
  return why === undefined ? one : notCertain(one, [why], 'depends: it may have been so before this change')
}

function subjectKey({ code, subject }: Finding): string {
  return `${code} ${subjectText(subject)}`
}
