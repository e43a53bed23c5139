// How many columns text takes on a terminal. Our own few lines, because the library for it builds its tables when it is
// loaded, which shows in the time of every start.
// Source of the ranges: Unicode 16, EastAsianWidth.txt, classes W and F.

const PLAIN = /^[\u0020-\u007e]*$/
const WIDE =
  /^(?:[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe10-\ufe19\ufe30-\ufe6b\uff01-\uff60\uffe0-\uffe6\u{16fe0}-\u{18aff}\u{1b000}-\u{1b2ff}\u{1f200}-\u{1f265}\u{20000}-\u{3fffd}]|\p{Emoji_Presentation})$/u
const COMBINING = /^[\p{Mn}\p{Me}]$/u
/** The lowest character that is wide or combines with another. */
const FIRST_SPECIAL = 0x300

/** The columns of escaped text: wide East Asian characters and emoji take two, combining ones none. */
export function displayWidth(text: string): number {
  if (PLAIN.test(text)) return text.length
  let width = 0
  for (const character of text) width += characterWidth(character)
  return width
}

function characterWidth(character: string): number {
  const point = character.codePointAt(0) ?? 0
  // Punctuation and arithmetic, our marks among them, is asked about most and is never wide.
  if (point < FIRST_SPECIAL || (point >= 0x2010 && point < 0x2300)) return 1
  if (COMBINING.test(character)) return 0
  return WIDE.test(character) ? 2 : 1
}
