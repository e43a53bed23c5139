// What an answer says without reserve, and where an answer with more settings given takes it back.
import { listAt, own, stringAt } from '@kleym/shared/core/json.ts'

/** One answer, as data and as text. */
export interface Answer {
  readonly code: number
  readonly report: unknown
  readonly text: string
}

/** What `before` says and `after`, which was given more settings, takes back: sentences; none where all is well. */
export function contradictions(before: Answer, after: Answer): readonly string[] {
  return [
    ...(before.code === 0 && after.code === 1 ? ['exit code 0 became 1'] : []),
    // What still depends is not taken back: a class that no SCM has makes it a question which of them is meant.
    ...(listAt(after.report, 'assumptions').length > 0 ? [] : claimsOf(before.text))
      .filter((claim) => !isSaid(claim, after.text))
      .map((claim) => `gone: ${claim}`),
    ...verdictsOf(before.report).flatMap(([key, verdict]) => {
      if (OPEN.has(verdict)) return []
      const now = new Map(verdictsOf(after.report)).get(key)
      // What cannot match is never issued, whatever else is said of it.
      // Nor is what gives nothing where it selects nothing.
      if (now === undefined && verdict !== 'issued') return []
      const isKept = verdict === 'dead' ? now !== 'issued' : now === verdict || isGivenNothing(verdict, now)
      return isKept || OPEN.has(now ?? '') ? [] : [`${key}: ${verdict} became ${now}`]
    }),
    ...resolutionsOf(before.report).flatMap(([key, state]) => {
      const now = new Map(resolutionsOf(after.report)).get(key) ?? 'unknown'
      return listAt(before.report, 'assumptions').length > 0 || now === state || OPEN.has(now)
        ? []
        : [`${key}: ${state} became ${now}`]
    }),
    ...[...emptyOf(before.report)]
      .filter((key) => holdersOf(after.report).has(key))
      .map((key) => `${key} had no identity, and holds one`),
    ...lostErrors(before.report, after.report),
  ]
}

/** Whether a text says the same; columns of a table are as wide as the other rows make them, and lines break where they are full. */
function isSaid(claim: string, text: string): boolean {
  const [wanted, all] = [claim, text].map((one) => one.replaceAll(/\s+/g, ' ').replaceAll(SAME_HINT, ''))
  return all?.includes(wanted ?? '') === true
}

/** That two identities have one hint is said where both are certain; it takes neither of them back. */
const SAME_HINT = ', which another identity of the container has too'

/**
 * Lines that say without reserve that something is fine, or that there is none. That no container holds an ID *now*, on whichever
 * line that word is, is what a policy comes to: `resolutionsOf` reads it, with what it rests on.
 */
const CLAIM =
  /^\s*(√ .*|.*\bnothing clashes\b.*|.*\bno container gains or loses\b.*|.*\bchange no ClusterSPIFFEID\b.*|.*no container holds it(?!\s+now\b).*)$/gm

function claimsOf(text: string): readonly string[] {
  // What is rendered in an unknown trust domain reads otherwise once it is known.
  return (
    [...text.matchAll(CLAIM)]
      // How bad the rest of the answer is, which the mark and the codes say, is no part of what is claimed.
      .map(([, claim]) => (claim ?? '').replace(/^[‼·×] /, '').replace(/ \(KLM\d+(?:, KLM\d+)*\)$/, ''))
      // The checks that a binding passed are listed only until it is decided: `√ pool       InferencePool/llama`.
      .filter((claim) => !/^√ fixed|<trust-domain>|^√ [a-z]+ {2,}/.test(claim))
  )
}

/** A fallback that fails gives nothing, nor does it where another object displaces it: the reason says so. */
function isGivenNothing(before: string, now: string | undefined): boolean {
  return before === 'failed' && now === 'displaced'
}

/** Verdicts that leave it open. */
const OPEN: ReadonlySet<string> = new Set(['depends', 'unknown'])

/** The verdicts of `who-selects`, by pod, container and source. */
function verdictsOf(report: unknown): readonly (readonly [key: string, verdict: string])[] {
  return listAt(report, 'pods').flatMap((pod) =>
    listAt(pod, 'containers').flatMap((container) =>
      listAt(container, 'registrations').map((one) => {
        const verdict = stringAt(one, 'verdict') ?? ''
        const key = [stringAt(pod, 'pod'), stringAt(container, 'name'), sourceOf(one)].join(' ')
        return [key, verdict] as const
      }),
    ),
  )
}

/** What the SPIFFE IDs of policies are said to come to, by policy, rule and source: those that a container holds, or none. */
function resolutionsOf(report: unknown): readonly (readonly [key: string, state: string])[] {
  return listAt(report, 'policies').flatMap((policy) =>
    listAt(policy, 'rules').flatMap((rule) =>
      listAt(rule, 'sources').flatMap((source) => {
        const state = stringAt(source, 'state') ?? ''
        const key = [stringAt(policy, 'policy'), stringAt(rule, 'name'), stringAt(source, 'source')].join(' ')
        return DECIDED.has(state) ? [[key, state] as const] : []
      }),
    ),
  )
}

const DECIDED: ReadonlySet<string> = new Set(['resolved', 'unheld', 'dangling'])

/** The containers of which it is said that they hold no identity, and that nothing may give them one. */
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
  const still = new Set(errorsOf(after).map(({ subject }) => subject))
  return errorsOf(before)
    .filter(({ isCertain }) => isCertain)
    .filter(({ subject }) => !still.has(subject))
    .map(({ code, subject }) => `error ${code} about ${subject} is gone`)
}

/** Errors, and what may be one. */
function errorsOf(
  report: unknown,
): readonly { readonly code: string; readonly subject: string; readonly isCertain: boolean }[] {
  return listAt(report, 'findings')
    .filter((one) => stringAt(one, 'severity') === 'error' || own(one, 'dependsOn') !== undefined)
    .map((one) => ({
      code: stringAt(one, 'code') ?? '',
      subject: JSON.stringify(own(one, 'subject')),
      isCertain: own(one, 'dependsOn') === undefined,
    }))
}
