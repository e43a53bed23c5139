// A rule: the codes that it may report, what it finds, and why it may have missed more. The codes declare how bad that can be, and the exit
// code follows from it (docs/assumptions.md).
import type { Analysis, ResolvedPolicy } from '../../analysis/index.ts'
import type { Steps } from '../../base/steps.ts'
import type { Judgement } from '../../decide/index.ts'
import type { Pod } from '../../model/objects/pod.ts'
import type { UnknownReason } from '../../model/unknown-reason.ts'
import { findingEntry, SEVERITIES, type FindingCode, type Severity } from '../registry/findings.ts'
import type { Finding } from './finding.ts'

/** What an answer is about. */
export interface Concern {
  /** The bindings that it is about, by `namespace/name`; undefined: all of them. */
  readonly bindings?: ReadonlySet<string>
  /** What those come to; undefined: that is not asked. */
  readonly judgements?: Iterable<Judgement>
  /** The pods that it is about; undefined: all of them. */
  readonly pods?: ReadonlySet<Pod>
  /** The policies that it is about; undefined: none. */
  readonly policies?: readonly ResolvedPolicy[]
  /** The namespace that it is about, and what its identities are given to elsewhere; undefined: all of them. */
  readonly namespace?: string | undefined
  /** The SPIFFE ID that it is about, whatever gives it; undefined: those of bindings. */
  readonly spiffeId?: string
}

/** One rule, or several that look at the same objects. */
export interface Rule {
  /** Every code that it may report. */
  readonly codes: readonly FindingCode[]
  /** Kinds whose objects no other rule looks at, qualified; absent: none. */
  readonly alone?: readonly string[]
  /** What it finds; `bindings` are those that are asked about, by `namespace/name`: what is not about them may then be left out. */
  readonly find: (analysis: Analysis, bindings?: ReadonlySet<string>) => Steps<readonly Finding[]>
  /** Why it may find more about what is asked that nothing here can name; absent: what could not be read is all that hides any. */
  readonly more?: (analysis: Analysis, concern: Concern) => readonly UnknownReason[]
}

/** A rule that is asked with more than an analysis, by the commands that read what it is about. */
export interface AskedRule<Asked extends readonly never[] = readonly never[]> extends Pick<Rule, 'codes'> {
  readonly find: (...asked: Asked) => readonly Finding[]
}

/** What a rule may have missed, and how bad that is at worst. */
export interface OpenSeverity {
  readonly why: UnknownReason
  readonly worst: Severity
}

/** A rule that takes no steps. */
export function ruleAtOnce(
  codes: Rule['codes'],
  find: (analysis: Analysis, bindings?: ReadonlySet<string>) => readonly Finding[],
  { more, alone }: Pick<Rule, 'more' | 'alone'> = {},
): Rule {
  return {
    codes,
    *find(analysis, bindings) {
      yield
      return find(analysis, bindings)
    },
    ...(more !== undefined && { more }),
    ...(alone !== undefined && { alone }),
  }
}

/** How bad what some rules report is at worst, by the codes that they declare. */
export function worstOf(rules: readonly Pick<Rule, 'codes'>[]): Severity {
  const declared = new Set(rules.flatMap(({ codes }) => codes.map((code) => findingEntry(code).severity)))
  return SEVERITIES.find((severity) => declared.has(severity)) ?? 'info'
}

/** How bad that is at worst what some rules find by an object of these kinds; undefined, or none: of any. */
export function worstOfKinds(
  rules: readonly Pick<Rule, 'codes' | 'alone'>[],
  kinds: readonly string[] = [],
): Severity {
  const alone = rules.filter((rule) => kinds.some((kind) => rule.alone?.includes(kind) === true))
  const isTheirs = (kind: string): boolean => alone.some((rule) => rule.alone?.includes(kind) === true)
  return worstOf(kinds.length > 0 && kinds.every(isTheirs) ? alone : rules)
}

/** What rules may have missed about what is asked. */
export function openOf(
  rules: readonly Rule[],
  analysis: Analysis,
  concern: Concern,
): readonly OpenSeverity[] {
  return rules.flatMap((rule) => {
    const worst = worstOf([rule])
    return (rule.more?.(analysis, concern) ?? []).map((why) => ({ why, worst }))
  })
}
