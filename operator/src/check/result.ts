// The result of a check, and its text.

/** `note`: nothing is wrong, but the reader should know. */
export type CheckResult =
  | { readonly state: 'ok' | 'note'; readonly about: string; readonly says: string }
  | { readonly state: 'failed'; readonly about: string; readonly says: string; readonly fix: string }

const WORDS = { ok: 'ok', note: 'note', failed: 'FAILED' } as const
const WORD_WIDTH = 8
const ABOUT_WIDTH = 8

/** One line, and a second one with the fix, each ended. */
export function resultText(result: CheckResult): string {
  const { state, about, says } = result
  const line = `${WORDS[state].padEnd(WORD_WIDTH)}${about.padEnd(ABOUT_WIDTH)}${says}\n`
  return result.state === 'failed'
    ? `${line}${' '.repeat(WORD_WIDTH + ABOUT_WIDTH)}fix: ${result.fix}\n`
    : line
}
