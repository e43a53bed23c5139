// What an answer says for certain, and what an answer to a more complete input takes back.
import { listAt, own, stringAt } from '@kleym/shared/core/base/json.ts'

/** One answer, as data and as text. */
export interface Answer {
  readonly code: number
  readonly report: unknown
  readonly text: string
}

/** What a later answer makes of an earlier one. */
export interface Comparison {
  /** What it takes back: sentences. */
  readonly contradictions: readonly string[]
  /** What was certain, and is open now: forced by a documented bound, or a fault. */
  readonly lessSure: readonly string[]
}

/**
 * Compares the answer to an input with the answer to a more complete one. `isSettings`: what is known in addition are settings
 * alone, so that every sentence about the objects must stay as it was. `areOutputsHandled`: the premise of what a change gives and
 * takes, that SCM handles kleym's outputs. `isPremiseTrue`: that of an answer which takes something for granted, and
 * a fallback that gives way to an output is part of it.
 */
export function compare(
  earlier: Answer,
  later: Answer,
  {
    isSettings,
    areOutputsHandled,
    isPremiseTrue,
    fallbacks,
  }: {
    readonly isSettings: boolean
    readonly areOutputsHandled: boolean
    readonly isPremiseTrue: boolean
    readonly fallbacks: ReadonlySet<string>
  },
): Comparison {
  const before = withoutSharedHints(earlier)
  const after = withoutSharedHints(later)
  // What was taken for granted may turn out to be false: then outputs have no effect, and nothing else comes of it.
  const isFirm = (one: unknown): boolean =>
    !isPremised(before) || !fallbacks.has(stringAt(one, 'source') ?? '')
  const isOfOthers = (one: unknown): boolean => isFirm(one) && stringAt(one, 'binding') === undefined
  if (isPremised(before) && !isPremiseTrue)
    return {
      contradictions: [
        ...(before.code === 0 && after.code === 1 && !areAllOfEffect(after) ? ['exit code 0 became 1'] : []),
        ...lostErrors(before.report, after.report),
        ...verdictChanges(
          { ...before, report: only(before.report, isOfOthers) },
          only(after.report, isOfOthers),
        ),
        ...newHolders(before.report, after.report),
      ],
      lessSure:
        before.code === 0 && after.code === OPEN_CODE && !isLeft(after) ? ['exit code 0 became 4'] : [],
    }
  const isOpenNow = after.code === OPEN_CODE
  const lessSure: string[] = []
  // An answer about nothing, or a test that the install refuses, says nothing more.
  const isEmpty = after.text.includes('nothing was checked')
  const isRefused =
    own(after.report, 'assertions') !== undefined && listAt(after.report, 'assertions').length === 0
  if (before.code !== OPEN_CODE && isOpenNow && !isRefused && !isEmpty)
    lessSure.push(`exit code ${before.code} became 4`)
  const now = factsOf(after)
  const facts = [...factsOf(before)].flatMap(([key, says]) => {
    // A test that the install refuses, for it is of another trust domain, has no assertions.
    if (isRefused && key.startsWith('assertion ')) return []
    if (says === OPEN_FACT || (!areOutputsHandled && /^(?:lost|gained|new|fixed) /.test(key))) return []
    const said = now.get(key) ?? (isUndetermined(key, after.report) ? OPEN_FACT : undefined)
    if (said === says) return []
    // What is said of an object goes where the object does; the rest stays.
    if (said === OPEN_FACT || (said === undefined && isOpenNow && STAYS.test(key)))
      lessSure.push(`${key}: ${says} is open`)
    else if (key.startsWith('new ') && isToldOtherwise(key, after.report)) return []
    else if (said !== undefined || STAYS.test(key)) return [`${key}: ${says} became ${said ?? 'nothing'}`]
    return []
  })
  return {
    contradictions: [
      ...(before.code !== OPEN_CODE && !isOpenNow && before.code !== after.code
        ? [`exit code ${before.code} became ${after.code}`]
        : []),
      ...facts,
      ...(isSettings ? goneClaims(before, after) : isOpenNow ? [] : goneWords(before, after)),
      ...newHolders(before.report, after.report),
      ...verdictChanges({ ...before, report: only(before.report, isFirm) }, only(after.report, isFirm)),
      ...resolutionChanges(before.report, after.report),
      ...lostErrors(before.report, after.report),
    ],
    lessSure: isPremised(before) && isLeft(after) ? [] : lessSure,
  }
}

/** Whether an answer takes something for granted. */
export function isPremised({ report }: Answer): boolean {
  return listAt(report, 'premises').length > 0
}

/** Whether settings are still left out: where what is known of them contradicts the premise, the rest is as open as without it. */
function isLeft({ report }: Answer): boolean {
  return listAt(report, 'assumptions').length > 0
}

function newHolders(before: unknown, after: unknown): readonly string[] {
  return [...emptyOf(before)]
    .filter((key) => holdersOf(after).has(key))
    .map((key) => `${key} had no identity, and holds one`)
}

/** A report of `who-selects` about these registrations alone. */
function only(report: unknown, isMeant: (registration: unknown) => boolean): unknown {
  return {
    pods: listAt(report, 'pods').map((pod) => ({
      pod: stringAt(pod, 'pod'),
      containers: listAt(pod, 'containers').map((container) => ({
        name: stringAt(container, 'name'),
        registrations: listAt(container, 'registrations').filter(isMeant),
      })),
    })),
  }
}

/** Whether an answer has errors, and each of them says that outputs of kleym's have no effect. */
function areAllOfEffect({ report }: Answer): boolean {
  const errors = errorsOf(report).filter(({ isCertain }) => isCertain)
  return errors.length > 0 && errors.every(({ code }) => OF_EFFECT.has(code))
}

/** The findings of availability: nobody gets anything for them that another has. */
const OF_EFFECT: ReadonlySet<string> = new Set(['KLM401', 'KLM408', 'KLM409', 'KLM410', 'KLM411'])

/** Whether a report leaves open what the container of a fact gains or loses. */
function isUndetermined(key: string, report: unknown): boolean {
  return (
    /^(?:lost|gained) /.test(key) &&
    listAt(own(report, 'effect'), 'uncertain').some((holder) => key.endsWith(holderText(holder)))
  )
}

function nameOf(subject: unknown): string {
  return [stringAt(subject, 'kind'), stringAt(subject, 'namespace'), stringAt(subject, 'name')].join(' ')
}

/** Another flaw of the same object may be told in its place; or the same flaw, of a first object that was not read and this one. */
function isToldOtherwise(key: string, report: unknown): boolean {
  const subject: unknown = JSON.parse(key.slice(key.indexOf('{')))
  return listAt(own(report, 'effect'), 'newFindings').some(
    (one) =>
      JSON.stringify(own(one, 'subject')) === JSON.stringify(subject) ||
      (key.startsWith(`new ${stringAt(one, 'code')} `) &&
        stringAt(own(one, 'subject'), 'container') === stringAt(subject, 'container') &&
        listAt(one, 'related').some((other) => nameOf(other) === nameOf(subject))),
  )
}

/** Something is not known: whatever it is, more may be said later. */
export const OPEN_CODE = 4
const OPEN_FACT = 'open'
/** Facts that do not go away with the object that they are about. */
const STAYS = /^(?:lost|gained|new|fixed|change|suggested|delete) /

/** What a report says by name; `OPEN_FACT`: it is not known. */
function factsOf({ report, code }: Answer): ReadonlyMap<string, string> {
  const facts = new Map<string, string>()
  // That a binding is ready, its output, what is suggested and what can go is said of what was read: with exit code 4 that is said to be not all.
  const certain = code === OPEN_CODE ? OPEN_FACT : 'certain'
  for (const one of listAt(report, 'bindings')) {
    const ready = stringAt(one, 'ready')
    const isOpen = code === OPEN_CODE || ready === undefined || ready === 'Unknown'
    facts.set(`binding ${stringAt(one, 'binding')}`, isOpen ? OPEN_FACT : ready)
  }
  for (const node of listAt(report, 'nodes')) {
    const state = stringAt(node, 'state') ?? ''
    const kind = stringAt(node, 'kind') ?? ''
    const isOpen =
      typeof own(node, 'open') === 'string' ||
      MAP_OPEN.has(state) ||
      (kind === 'binding' && code === OPEN_CODE)
    const says = kind === 'container' && !MAP_HOLDS.has(state) ? 'holds nothing' : state
    if (MAPPED.has(kind)) facts.set(`map ${stringAt(node, 'id')}`, isOpen ? OPEN_FACT : says)
  }
  for (const one of listAt(report, 'assertions')) {
    const state = stringAt(one, 'state') ?? ''
    facts.set(`assertion ${stringAt(one, 'name')}`, state === 'unknown' ? OPEN_FACT : state)
  }
  const isOfDiff = stringAt(report, 'kind') === 'DiffReport'
  for (const one of listAt(report, 'changes'))
    facts.set(
      `change ${stringAt(one, 'name')}`,
      code === OPEN_CODE ? OPEN_FACT : (stringAt(one, 'kind') ?? ''),
    )
  for (const way of ['lost', 'gained'] as const)
    for (const change of listAt(own(report, 'effect'), way))
      for (const holder of stringAt(change, 'spiffeID')?.includes('<') === true
        ? []
        : listAt(change, 'containers'))
        facts.set(
          `${way} ${stringAt(change, 'spiffeID')} ${holderText(holder)}`,
          isOfDiff ? 'certain' : certain,
        )
  for (const [list, word] of [
    ['newFindings', 'new'],
    ['fixedFindings', 'fixed'],
  ] as const)
    for (const one of listAt(own(report, 'effect'), list).filter(
      (each) => !OF_KNOWLEDGE.has(stringAt(each, 'code') ?? ''),
    ))
      facts.set(
        `${word} ${stringAt(one, 'code')} ${JSON.stringify(own(one, 'subject'))}`,
        own(one, 'dependsOn') === undefined ? 'certain' : OPEN_FACT,
      )
  for (const pool of listAt(report, 'pools'))
    for (const one of listAt(pool, 'suggested')) facts.set(`suggested ${stringAt(one, 'binding')}`, certain)
  for (const one of listAt(report, 'registrations')) {
    const steps = JSON.stringify(listAt(one, 'steps'))
    if (steps.includes('kubectl delete')) facts.set(`delete ${stringAt(one, 'name')}`, certain)
  }
  return facts
}

const MAPPED: ReadonlySet<string> = new Set(['container', 'identity', 'binding'])
const MAP_HOLDS: ReadonlySet<string> = new Set(['issued', 'several', 'pending'])
/** Findings that say what is not known: that it is known later takes nothing back. */
const OF_KNOWLEDGE: ReadonlySet<string> = new Set(['KLM413', 'KLM511'])
const MAP_OPEN: ReadonlySet<string> = new Set(['undetermined', 'perhaps', 'unknown'])

function holderText(holder: unknown): string {
  return `${stringAt(holder, 'pod')} ${stringAt(holder, 'container')}`
}

/** How many of the things that an answer says by name are certain, and how many are open. */
export function countFacts({ report }: Answer): { readonly certain: number; readonly open: number } {
  const verdicts = [...verdictsOf(report), ...resolutionsOf(report)].map(([, says]) => OPEN.has(says))
  const facts = [...factsOf({ report, code: 0, text: '' }).values()].map((says) => says === OPEN_FACT)
  const open = [...verdicts, ...facts].filter(Boolean).length
  return { certain: verdicts.length + facts.length - open, open }
}

/** The lines of before that are gone, for an answer that does not depend any more. */
function goneClaims(before: Answer, after: Answer): readonly string[] {
  return (listAt(after.report, 'assumptions').length > 0 ? [] : claimsOf(before.text))
    .filter((claim) => !isSaid(claim, after.text))
    .map((claim) => `gone: ${claim}`)
}

/** The words of the first line that say that there is nothing: what they are about may grow, what they say may not change. */
function goneWords(before: Answer, after: Answer): readonly string[] {
  const [was, is] = [before, after].map(({ text }) => text.split('\n', 1)[0] ?? '')
  return ['✓ ', 'nothing clashes', 'no container gains or loses']
    .filter((words) => was?.includes(words) === true && is?.includes(words) !== true)
    .map((words) => `the first line said ${words}: ${is}`)
}

function verdictChanges(before: Answer, after: unknown): readonly string[] {
  const now = new Map(verdictsOf(after))
  return verdictsOf(before.report).flatMap(([key, verdict]) => {
    if (OPEN.has(verdict)) return []
    const said = now.get(key)
    // What cannot match is never issued, whatever else is said of it. Nor is what gives nothing where it selects nothing.
    if (
      said === undefined &&
      (verdict !== 'issued' || !podsOf(after).some((pod) => key.startsWith(`${pod} `)))
    )
      return []
    const isKept =
      verdict === 'dead' || said === 'dead'
        ? ![verdict, said].includes('issued')
        : said === verdict || isGivenNothing(verdict, said)
    return isKept || OPEN.has(said ?? '') ? [] : [`${key}: ${verdict} became ${said}`]
  })
}

function podsOf(report: unknown): readonly string[] {
  return listAt(report, 'pods').flatMap((pod) => stringAt(pod, 'pod') ?? [])
}

function resolutionChanges(before: unknown, after: unknown): readonly string[] {
  const now = new Map(resolutionsOf(after))
  if (listAt(before, 'assumptions').length > 0) return []
  return resolutionsOf(before).flatMap(([key, state]) => {
    const said = now.get(key) ?? 'unknown'
    return said === state || OPEN.has(said) ? [] : [`${key}: ${state} became ${said}`]
  })
}

/** That two identities have one hint is said once both are certain, and takes neither of them back. */
function withoutSharedHints(answer: Answer): Answer {
  return { ...answer, text: answer.text.replaceAll(SHARED_HINT, '') }
}

const SHARED_HINT = /,\s+which\s+another\s+identity\s+of\s+the\s+container\s+has\s+too/g

/** Whether a text says the same; columns of a table are as wide as the other rows make them, and lines break where they are full. */
function isSaid(claim: string, text: string): boolean {
  const [wanted, all] = [claim, text].map((one) => one.replaceAll(/\s+/g, ' '))
  return all?.includes(wanted ?? '') === true
}

/**
 * Lines that say without reserve that something is fine, or that there is none. That no container holds an ID *now*, on whichever
 * line that word is, is what a policy comes to: `resolutionsOf` reads it, with what it rests on.
 */
const CLAIM =
  /^\s*(✓ .*|.*\bnothing clashes\b.*|.*\bno container gains or loses\b.*|.*\bchange no ClusterSPIFFEID\b.*|.*no container (?:in scope |\S+ )?holds it(?!\s+now\b).*)$/gm

function claimsOf(text: string): readonly string[] {
  // What is rendered in an unknown trust domain reads otherwise once it is known.
  return (
    [...text.matchAll(CLAIM)]
      // How bad the rest of the answer is, which the mark and the codes say, is no part of what is claimed.
      .map(([, claim]) =>
        (claim ?? '')
          .replace(/^[!·✗] /, '')
          .replace(/,? assuming .*$/, '')
          .replace(/ \(KLM\d+(?:, KLM\d+)*\)$/, ''),
      )
      // The checks that a binding passed are listed only until it is decided: `✓ pool       InferencePool/llama`.
      .filter((claim) => !/^✓ fixed|^✓ has one already|<trust-domain>|^✓ [a-z]+ {2,}/.test(claim))
  )
}

/** A fallback that fails or is refused gives nothing, nor does it where another object displaces it: the reason says so. */
function isGivenNothing(before: string, now: string | undefined): boolean {
  return (before === 'failed' || before === REFUSED_PERHAPS) && (now === 'displaced' || now === 'refused')
}

/** Refused if it applies, and why it may not. */
const REFUSED_PERHAPS = 'refused if it applies'

/** Verdicts that leave it open. */
const OPEN: ReadonlySet<string> = new Set(['depends', 'unknown'])

/** The verdicts of `who-selects`, by pod, container and source. */
function verdictsOf(report: unknown): readonly (readonly [key: string, verdict: string])[] {
  return listAt(report, 'pods').flatMap((pod) =>
    listAt(pod, 'containers').flatMap((container) =>
      listAt(container, 'registrations').map((one) => {
        const said = stringAt(one, 'verdict') ?? ''
        const isUnsure = said === 'refused' && stringAt(one, 'why')?.includes('; ') === true
        const verdict = isUnsure ? REFUSED_PERHAPS : said
        const key = [stringAt(pod, 'pod'), stringAt(container, 'name'), sourceOf(one)].join(' ')
        return [key, verdict] as const
      }),
    ),
  )
}

/** What the SPIFFE IDs of policies are said to come to, by policy, rule and source: those that a container holds, or none. */
function resolutionsOf(report: unknown): readonly (readonly [key: string, state: string])[] {
  const named = listAt(report, 'policies').flatMap((policy) =>
    listAt(policy, 'rules').flatMap((rule) =>
      listAt(rule, 'sources').map((source) => {
        const of = [stringAt(policy, 'kind'), stringAt(policy, 'policy'), stringAt(rule, 'name')]
        return [[...of, stringAt(source, 'source')].join(' '), source] as const
      }),
    ),
  )
  const mentioned = listAt(report, 'mentions').map((source) => {
    const of = [stringAt(source, 'kind'), stringAt(source, 'name'), stringAt(source, 'field')]
    return [[...of, stringAt(source, 'source')].join(' '), source] as const
  })
  return [...named, ...mentioned].flatMap(([key, source]) => {
    const state = stringAt(source, 'state') ?? ''
    if (DECIDED.has(state)) return [[key, state] as const]
    // A pattern that takes in these IDs and no others.
    const isClosed = state === 'pattern' && own(source, 'perhapsOthers') === null
    return isClosed ? [[key, JSON.stringify(own(source, 'takesIn'))] as const] : []
  })
}

const DECIDED: ReadonlySet<string> = new Set(['resolved', 'unheld', 'dangling'])

/** The containers that hold no identity and to which nothing may give one, as the answer says. */
function emptyOf(report: unknown): ReadonlySet<string> {
  return containersOf(
    report,
    (container) =>
      own(container, 'notRead') === null &&
      listAt(container, 'registrations').every((one) => !OPEN.has(stringAt(one, 'verdict') ?? 'issued')) &&
      listAt(container, 'identities').length === 0,
  )
}

function holdersOf(report: unknown): ReadonlySet<string> {
  return containersOf(report, (container) => listAt(container, 'identities').length > 0)
}

function containersOf(report: unknown, is: (container: unknown) => boolean): ReadonlySet<string> {
  return new Set(
    listAt(report, 'pods').flatMap((pod) =>
      listAt(pod, 'containers')
        .filter(is)
        .map((container) => [stringAt(pod, 'pod'), stringAt(container, 'name')].join(' ')),
    ),
  )
}

/** An output of kleym's has another name in another trust domain; it is that of its binding all the same. */
function sourceOf(registration: unknown): string {
  return stringAt(registration, 'binding') ?? stringAt(registration, 'source') ?? ''
}

/** Errors that are gone, and with them every error about their subject: they have rested on an assumption. */
function lostErrors(before: unknown, after: unknown): readonly string[] {
  const still = errorsOf(after).map(({ about }) => about)
  return errorsOf(before)
    .filter(({ isCertain, code }) => isCertain && !OF_ASSERTIONS.has(code))
    .filter(({ subject }) => !still.some((about) => about.includes(subject)))
    .map(({ code, subject }) => `error ${code} about ${subject} is gone`)
}

/** Assertions say themselves what they come to. */
const OF_ASSERTIONS: ReadonlySet<string> = new Set(['KLM701'])

/** Errors, and what may be one. */
function errorsOf(report: unknown): readonly {
  readonly code: string
  readonly subject: string
  readonly about: string
  readonly isCertain: boolean
}[] {
  return listAt(report, 'findings')
    .filter((one) => stringAt(one, 'severity') === 'error' || own(one, 'dependsOn') !== undefined)
    .map((one) => ({
      code: stringAt(one, 'code') ?? '',
      subject: JSON.stringify(own(one, 'subject')),
      about: JSON.stringify([own(one, 'subject'), own(one, 'related')]),
      isCertain: own(one, 'dependsOn') === undefined,
    }))
}
