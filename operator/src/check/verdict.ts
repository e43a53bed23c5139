// What a check came to, and how it is said.

/** `note`: nothing is wrong, and yet somebody should know. */
export type Verdict =
  | { readonly state: 'ok' | 'note'; readonly about: string; readonly says: string }
  | { readonly state: 'failed'; readonly about: string; readonly says: string; readonly fix: string }

const WORDS = { ok: 'ok', note: 'note', failed: 'FAILED' } as const
const WORD_WIDTH = 8
const ABOUT_WIDTH = 8

/** One line, and a second one with the fix, each ended. */
export function verdictText(verdict: Verdict): string {
  const { state, about, says } = verdict
  const line = `${WORDS[state].padEnd(WORD_WIDTH)}${about.padEnd(ABOUT_WIDTH)}${says}\n`
  return verdict.state === 'failed'
    ? `${line}${' '.repeat(WORD_WIDTH + ABOUT_WIDTH)}fix: ${verdict.fix}\n`
    : line
}
