// The table of marks and exit codes (docs/reference/output.md), as what may stand in a first line.
import { FAIL_ON } from '../../src/flags/flags.ts'
import { OUTCOMES } from '../../src/frame/outcome.ts'
import { MARKS } from '../../src/text/line.ts'

/** Each mark, threshold and exit code that may go together: a row of the table may have decided. */
export function outcomePairs(): ReadonlySet<string> {
  const all = ['✓', '·', '!', '✗']
  const found = OUTCOMES.flatMap(({ mark, codes }) => {
    const least = mark === undefined ? 0 : all.indexOf(MARKS[mark].text)
    return FAIL_ON.flatMap((failOn) => all.slice(least).map((one) => `${one} ${failOn} ${codes[failOn]}`))
  })
  const nothing = FAIL_ON.flatMap((failOn) => ['✓', '·', '!'].map((one) => `${one} ${failOn} 0`))
  return new Set([...found, ...nothing])
}
