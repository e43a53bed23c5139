// That the operator is down: every answer that has the finding says it in its first line, in the same words.
import type { Answer, MarkedAnswer } from '../text/answer.ts'
import type { Outcome } from './outcome.ts'
import type { Finding } from '@kleym/shared/core/findings/index.ts'

/** Whether the operator is down, as a finding says. */
export function isOperatorDown({ code }: Finding): boolean {
  return code === 'KLM543'
}

/** The first lines of an answer: that the operator is down comes before all else, since nothing changes until it runs. */
export function firstAnswer(
  { text, ...answer }: Answer,
  findings: readonly Finding[],
  { markOver }: Pick<Outcome, 'markOver'>,
): MarkedAnswer {
  const down = findings.find(isOperatorDown)
  const beginning = down === undefined ? [] : [`the operator is down: ${down.summary}; `]
  return { ...answer, mark: markOver(answer.mark), text: [...beginning, ...text] }
}
