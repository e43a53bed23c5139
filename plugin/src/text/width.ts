// How many columns text takes on a terminal: string-width says it. ASCII and our own marks, which are nearly all that an
// answer holds, are counted without it: it builds its tables when it is loaded, which would show in the time of every start.
import stringWidth from 'string-width'

/** Anything but characters that take one column whatever stands beside them, as a test holds against string-width. */
const BEYOND_OUR_MARKS = /[^ -~·✗→✓…]/

/** The columns of escaped text: wide East Asian characters and emoji take two, combining ones none. */
export function displayWidth(text: string): number {
  return BEYOND_OUR_MARKS.test(text) ? stringWidth(text) : text.length
}
