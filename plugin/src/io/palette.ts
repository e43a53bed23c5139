// Colours by role, and the characters that a terminal can show. Meaning never rests on colours: the marks say it all
// (docs/reference/output.md).
import { withLinks } from './docs-url.ts'

/** What a run of text is for. */
export const ROLES = ['ok', 'warn', 'bad', 'dim', 'bold', 'add', 'remove'] as const
/** One of them. */
export type Role = (typeof ROLES)[number]

/** Paints text that is already safe and laid out; what is read stays the same, and each character keeps its one column. */
export interface Palette {
  paint(role: Role | undefined, text: string): string
}

/** No colours: pipes, `NO_COLOR`, dumb terminals. */
export const PLAIN: Palette = { paint: (_, text) => text }

const SGR: Readonly<Record<Role, readonly [on: number, off: number]>> = {
  ok: [32, 39],
  warn: [33, 39],
  bad: [31, 39],
  dim: [2, 22],
  bold: [1, 22],
  add: [32, 39],
  remove: [31, 39],
}

/** The sixteen colours that every terminal has, in the person's own theme. */
export const COLOURED: Palette = {
  paint(role, text) {
    if (role === undefined || text === '') return text
    const [on, off] = SGR[role]
    return `\u001b[${on}m${text}\u001b[${off}m`
  },
}

function linking(palette: Palette): Palette {
  return { paint: (role, text) => palette.paint(role, withLinks(text)) }
}

/** Text without what COLOURED adds. `stripVTControlCharacters` of Node would load all of its inspector. */
export function withoutColours(text: string): string {
  return text.replaceAll(SGR_SEQUENCE, '')
}

const SGR_SEQUENCE = new RegExp(String.raw`\u001b\[\d+m`, 'g')

/** What stands for the characters of kleym's own that a terminal without UTF-8 does not show. */
const IN_ASCII: Readonly<Record<string, string>> = { '✓': '+', '✗': 'x', '·': '-', '→': '>', '…': '~' }
const NOT_ASCII = new RegExp(`[${Object.keys(IN_ASCII).join('')}]`, 'g')

function inAscii(palette: Palette): Palette {
  return {
    paint: (role, text) =>
      palette.paint(
        role,
        text.replaceAll(NOT_ASCII, (one) => IN_ASCII[one] ?? one),
      ),
  }
}

/** The values of `--color`. */
export type ColourFlag = 'auto' | 'always' | 'never'
/** All of them, in the order in which help lists them. */
export const COLOUR_FLAGS: readonly ColourFlag[] = ['auto', 'always', 'never']

/** What decides about colours. */
export interface ColourFacts {
  readonly flag: ColourFlag
  readonly env: Readonly<Record<string, string | undefined>>
  readonly isTerminal: boolean
}

/**
 * The palette to use: the flag decides, then a non-empty `NO_COLOR` (no-color.org), then `FORCE_COLOR` (`0` and
 * `false` turn colour off), then `TERM=dumb`, then whether a terminal reads. A terminal with colours gets links too, and one
 * without UTF-8 gets ASCII.
 */
export function choosePalette({ flag, env, isTerminal }: ColourFacts): Palette {
  const colours = wantsColour(flag, env, isTerminal) ? COLOURED : PLAIN
  const palette =
    isTerminal && colours === COLOURED && withLinks('KLM101') !== 'KLM101' ? linking(colours) : colours
  return isTerminal && !showsUtf8(env) ? inAscii(palette) : palette
}

/** The Linux console has no such characters in its font. Without a locale most terminals of today are UTF-8 all the same. */
function showsUtf8(env: ColourFacts['env']): boolean {
  const locale = [env['LC_ALL'], env['LC_CTYPE'], env['LANG']].find((one) => (one ?? '') !== '')
  return env['TERM'] !== 'linux' && (locale === undefined || /utf-?8/i.test(locale))
}

function wantsColour(flag: ColourFlag, env: ColourFacts['env'], isTerminal: boolean): boolean {
  if (flag !== 'auto') return flag === 'always'
  if ((env['NO_COLOR'] ?? '') !== '') return false
  const forced = env['FORCE_COLOR'] ?? ''
  if (forced !== '') return forced !== '0' && forced !== 'false'
  return env['TERM'] !== 'dumb' && isTerminal
}
