// The last section of a text view: what was suppressed, by whom and why, and what is wrong with suppressions.
import { subjectText } from '@kleym/shared/core/model/objects/subject.ts'
import { type Finding, type SuppressedFinding, findingEntry } from '@kleym/shared/core/findings/index.ts'
import { counted } from '@kleym/shared/core/base/text/counted.ts'
import type { Layout } from './layout.ts'
import { BLANK, line, MARKS, span, type Block } from './line.ts'
import { wrap } from './wrap.ts'

/** The section, with a blank line before it; empty where no finding is suppressed. */
export function viewSuppressions(
  suppressed: readonly SuppressedFinding[],
  problems: readonly Finding[],
  layout: Layout,
): Block {
  return [
    ...(suppressed.length === 0
      ? []
      : [
          BLANK,
          line(span(`${counted(suppressed.length, 'finding')} suppressed`, 'bold')),
          ...suppressed.flatMap((one) => viewSuppressed(one, layout)),
        ]),
    ...problems.flatMap((one) => [BLANK, ...viewSuppressionFinding(one, layout)]),
  ]
}

function viewSuppressed({ finding, suppression }: SuppressedFinding, { width }: Layout): Block {
  const by =
    suppression.by === 'flag' ? `--suppress ${suppression.text}` : `annotation: ${suppression.reason ?? ''}`
  return [
    ...wrap(
      line(
        '  ',
        MARKS.note,
        ` ${finding.severity} ${subjectText(finding.subject)}: ${finding.summary}   `,
        span(finding.code, 'dim'),
      ),
      width,
      4,
    ),
    ...wrap(line(span(`    ${by}`, 'dim')), width, 6),
  ]
}

function viewSuppressionFinding(
  { subject, code, summary, evidence, fix }: Finding,
  { width }: Layout,
): Block {
  const who = subject.kind === 'Flag' ? subject.name : subjectText(subject)
  return [
    ...wrap(
      line(MARKS.warn, ' ', span(who, 'bold'), `: ${findingEntry(code).title}   `, span(code, 'dim')),
      width,
      2,
    ),
    ...[summary, ...evidence].flatMap((text) => wrap(line(`  ${text}`), width, 4)),
    ...wrap(line(`  fix: ${fix}`), width, 7),
  ]
}
