// The first lines of a text answer: what is the case, then why, then the fix. The first line never says more than the
// answer knows: what could not be read or was not given stands in it. Its mark is decided in one place for all
// (frame/outcome.ts).
import type { Layout } from './layout.ts'
import { line, MARKS, span, type Block, type Mark, type Piece } from './line.ts'
import { wrap } from './wrap.ts'

/** What an answer comes to. */
export interface Answer {
  /** What it is as far as no finding and no doubt says otherwise: they alone make it bad. */
  readonly mark: Exclude<Mark, 'bad'>
  /** One sentence without a full stop. */
  readonly text: readonly Piece[]
  /** Why, what to do, and what else must be known first: a line each. */
  readonly reasons?: readonly (readonly Piece[])[]
}

/** The first of some facts in the first line, the others together below it; what follows are more lines. */
export function leadingWith(
  [lead = '', ...others]: readonly string[],
  ...more: readonly (readonly Piece[])[]
): Pick<Answer, 'text' | 'reasons'> {
  const short = others.filter((text) => text.length < LONG)
  const rest = [
    ...(short.length === 0 ? [] : [short.join('; ')]),
    ...others.filter((text) => text.length >= LONG),
  ]
  return { text: [span(lead, 'bold')], reasons: [...rest.map((text) => [text]), ...more] }
}

/** Facts of so many characters stand on lines of their own. */
const LONG = 48

/** What makes an answer less sure than it sounds. */
export interface AnswerDoubts {
  /** Something that could not be read may change it. */
  readonly incomplete: boolean
  /** It depends on settings that were not given. */
  readonly unsettled: boolean
  /** What it takes for granted. */
  readonly assuming?: string | undefined
  /** Findings that a flag keeps from being shown; they count for the exit code. */
  readonly notShown: number
}

/** An answer with the mark that it gets in the end. */
export type MarkedAnswer = Omit<Answer, 'mark'> & { readonly mark: Mark }

/** The answer as lines. */
export function viewAnswer(
  { mark, text, reasons = [] }: MarkedAnswer,
  doubts: AnswerDoubts,
  { width }: Layout,
): Block {
  const remarks = [
    ...(doubts.incomplete ? ['incomplete'] : []),
    ...(doubts.unsettled ? ['on assumed settings'] : []),
  ]
  const remark = remarks.length === 0 ? [] : [span(` (${remarks.join(', ')})`, 'warn')]
  const assuming = doubts.assuming === undefined ? [] : [span(`, ${doubts.assuming}`, 'dim')]
  const more = doubts.notShown === 0 ? [] : [span(`; ${notShownText(doubts.notShown)}`, 'warn')]
  return [
    ...wrap(line(MARKS[mark], ' ', ...text, ...remark, ...assuming, ...more), width, 2),
    ...reasons.flatMap((reason) => wrap(line('  ', ...reason), width, 4)),
  ]
}

function notShownText(count: number): string {
  return count === 1 ? '1 finding is not shown' : `${count} findings are not shown`
}
