// What the formats for CI systems print, as data: one model for `-o sarif`, `-o junit` and `-o github`.
import { subjectText, type Subject } from '@kleym/shared/core/model/objects/subject.ts'
import {
  type Finding,
  type SuppressedFinding,
  type Suppression,
  type Severity,
} from '@kleym/shared/core/findings/index.ts'

/** A line of a file, counted from 1. The file is named as the person wrote it. */
export interface FilePlace {
  readonly file: string
  readonly line: number
}

/** One answer, as every format for CI systems needs it. */
export interface CiResult {
  /** `kind` of the machine-readable report: `ConflictsReport`. */
  readonly kind: string
  /** The version of kleym. */
  readonly version: string
  /** The severity from which findings fail; undefined: none does. */
  readonly threshold: Severity | undefined
  /** What counts, in its total order. */
  readonly findings: readonly Finding[]
  readonly suppressed: readonly SuppressedFinding[]
  /** Where an object stands in a file; undefined for one of the cluster. */
  readonly placeOf: (subject: Subject) => FilePlace | undefined
  /** `test` alone: what was stated and is true. */
  readonly passed: readonly { readonly subject: Subject; readonly text: string }[]
  /** `diff` alone: one sentence for each object that would change. */
  readonly differences: readonly string[]
  /** Why the answer is not complete, one sentence each. */
  readonly unknowns: readonly string[]
  /** What the answer takes for granted; undefined if nothing. */
  readonly assuming: string | undefined
  readonly exitCode: number
}

/** Where the subject of a finding stands, else the first of the related objects that stands anywhere. */
export function placeOfFinding({ subject, related }: Finding, { placeOf }: CiResult): FilePlace | undefined {
  return [subject, ...related].map(placeOf).find((place) => place !== undefined)
}

/** The lines of a finding for a log: what is the case, what shows it, what to do. */
export function findingLines({ subject, summary, evidence, fix, code }: Finding): readonly string[] {
  return [
    `${subjectText(subject)}: ${summary}`,
    ...evidence,
    `fix: ${fix}`,
    `more: kubectl kleym explain ${code}`,
  ]
}

/** How a suppression is named: by the flag, or by the annotation with its reason. */
export function suppressionText({ by, text, reason }: Suppression): string {
  return by === 'flag' ? `suppressed by --suppress ${text}` : `suppressed by annotation: ${reason ?? ''}`
}

/** How many of the same come before each, itself included: the second of two equal keys is 2. */
export function ordinals(keys: readonly string[]): readonly number[] {
  const seen = new Map<string, number>()
  return keys.map((key) => {
    const count = (seen.get(key) ?? 0) + 1
    seen.set(key, count)
    return count
  })
}
