// What stderr says of what is not known: only what the answer on stdout does not say. No cause is lost by that: a format prints all
// of them, or each is looked for in what it prints, and one that is not found is said.
import { assumptionText } from '@kleym/shared/core/analysis/index.ts'
import { unknownReasonLines, unknownReasonText } from '@kleym/shared/core/model/unknown-reason.ts'
import { searchIn } from '@kleym/shared/core/base/search.ts'
import type { OutputOptions } from '../flags/options.ts'
import { withoutColours } from '../io/palette.ts'
import type { InputProblem } from '../sources/problem.ts'
import { causeText, isUnfollowed, missingOf, type Cause } from './causes.ts'
import { unknownsOf, type AnswerResult } from './result.ts'

/** The causes that a printed answer does not say, in their order. */
export function unsaid(
  judged: AnswerResult,
  answer: string,
  format: OutputOptions['format'],
): readonly string[] {
  const all = unknownsOf(judged)
  if (all.length === 0) return all
  switch (format) {
    case 'text':
    case 'wide': {
      // The first lines hold every assumption, in a form of their own.
      const assumed = new Set(judged.assumptions.map(assumptionText))
      return notFound(
        all.filter((text) => !assumed.has(text)),
        answer,
      )
    }
    // Its length is bounded, so it may leave some out.
    case 'markdown':
      return notFound(all, answer)
    case 'json':
      return notReported(all, judged)
    case 'yaml':
      return judged.frame.documents === undefined ? notReported(all, judged) : all
    case 'name':
    case 'spire':
      return all
    case 'sarif':
    case 'junit':
    case 'github':
    case 'openreports':
    case 'mermaid':
    case 'dot':
    case 'html':
      return []
  }
}

/** So many lines are read before those that help are overlooked. */
const LINES_MAX = 20

/**
 * The causes that a printed answer does not say, a line each: what could not be read alike is one. A text for people is followed by some
 * of them, and a report by all.
 */
export function unsaidLines(
  judged: AnswerResult,
  answer: string,
  format: OutputOptions['format'],
): readonly string[] {
  const texts = unsaid(judged, answer, format)
  const told = new Set(texts)
  const unread = missingOf(judged.causes).filter((why) => told.has(unknownReasonText(why)))
  const alone = new Set(unread.map(unknownReasonText))
  const lines = [...unknownReasonLines(unread), ...texts.filter((text) => !alone.has(text))]
  const more = lines.length - LINES_MAX
  if (more <= 1 || !isForPeople(format)) return lines
  return [...lines.slice(0, LINES_MAX), `${more} more things; -o json tells each`]
}

/** Whether it begins with the lines of `viewDoubts`. */
export function isForPeople(format: OutputOptions['format']): boolean {
  return format === 'text' || format === 'wide' || format === 'markdown'
}

/** The problems that a printed answer does not say with what to do about them. */
export function unsaidProblems(
  { problems, isEmpty, frame }: Pick<AnswerResult, 'problems' | 'isEmpty' | 'frame'>,
  { format }: Pick<OutputOptions, 'format'>,
): readonly InputProblem[] {
  const isReport = format === 'json' || (format === 'yaml' && frame.documents === undefined)
  // The first line says that nothing was checked, with why and what to do; of other problems it says that there are some.
  return isEmpty && (isReport || format === 'text' || format === 'wide') ? [] : problems
}

function notFound(all: readonly string[], answer: string): readonly string[] {
  const said = lettersOf(answer)
  const isSaid = all.length < MANY ? (part: string): boolean => said.includes(part) : searchIn(said)
  // The first lines of `why` have the fix in a line of its own.
  return all.filter((text) => !text.split('; fix: ').every((part) => isSaid(lettersOf(part))))
}

/** Fewer causes are found sooner than an index is made of a large answer. */
const MANY = 100

/** Letters and digits: what wrapping, colours and the escapes of markdown leave as it is. */
function lettersOf(text: string): string {
  return withoutColours(text)
    .replaceAll(/&#?\w+;/g, '')
    .replaceAll(/[^\p{L}\p{N}]+/gu, '')
}

function notReported(all: readonly string[], { causes, findings }: AnswerResult): readonly string[] {
  const isReported = (cause: Cause): boolean =>
    cause.leaves === 'anything' ||
    cause.leaves === 'what depends on a setting' ||
    // Each of those registrations has a finding of its own, if it is shown.
    (cause.leaves === 'a registration' &&
      cause.of.length > 0 &&
      cause.of.length === findings.filter(isUnfollowed).length)
  const reported = new Set([
    ...causes.filter(isReported).map(causeText),
    ...findings.flatMap(({ dependsOn = [] }) => dependsOn),
  ])
  return all.filter((text) => !reported.has(text))
}
