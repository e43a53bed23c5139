// Texts of strangers as messages repeat them.

const QUOTED_MAX = 63

/** A text in quotes, shortened. */
export function quoted(text: string): string {
  return JSON.stringify(text.length <= QUOTED_MAX ? text : `${text.slice(0, QUOTED_MAX)}…`)
}
