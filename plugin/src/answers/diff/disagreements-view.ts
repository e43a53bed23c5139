// The first lines of `diff` where what it was given is not what the objects say: the changes below lead from the one to the
// other.
import type { Finding } from '@kleym/shared/core/findings/index.ts'
import { counted } from '@kleym/shared/core/base/text/counted.ts'
import type { Layout } from '../../text/layout.ts'
import { shortSubject } from '../../text/findings.ts'
import { namesText } from '../../text/names.ts'
import { line, MARKS, type Block } from '../../text/line.ts'
import { wrap } from '../../text/wrap.ts'

/** More are counted: each status of a binding is a source of its own. */
const SHOWN_MAX = 3

/** What differs from the settings of an answer; undefined: nothing. */
export function whatDiffers(findings: readonly Finding[]): string | undefined {
  if (findings.length === 0) return undefined
  return findings.every(isOfFiles) ? 'the settings files' : 'the settings of the objects'
}

function isOfFiles({ subject }: Finding): boolean {
  return subject.kind === 'Settings'
}

/** The disagreements, a line each; nothing where there is none. */
export function viewDisagreements(findings: readonly Finding[], { width }: Layout): Block {
  const [first] = findings
  if (first === undefined) return []
  const head = findings.every(isOfFiles)
    ? first.summary
    : 'the settings of this answer differ from those of the objects'
  const said = findings.flatMap(({ subject, evidence }) =>
    evidence.map((text) => ({ who: shortSubject(subject), text })),
  )
  const lines = [...Map.groupBy(said, ({ text }) => text)].map(
    ([text, same]) => `${namesText(same.map(({ who }) => who))}: ${text}`,
  )
  const rest = lines.length - SHOWN_MAX
  const rows = [
    line(MARKS.warn, ` ${head}  KLM520`),
    ...lines.slice(0, SHOWN_MAX).map((text) => line(`  ${text}`)),
    ...(rest > 0 ? [line(`  and ${counted(rest, 'disagreement')} more`)] : []),
  ]
  return rows.flatMap((row) => wrap(row, width, 4))
}
