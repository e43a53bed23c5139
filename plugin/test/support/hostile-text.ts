// Texts that a terminal, a CI system or a parser would act on.
import * as fc from 'fast-check'

/** What nothing that kleym prints may hold, a line break aside. */
export const DANGEROUS_CHARACTERS =
  /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]|[\u{e0000}-\u{e007f}]|\p{Surrogate}/u

const HOSTILE = [
  '\u001b[31mred\u001b[0m',
  '\u001b]8;;http://evil\u0007link\u001b]8;;\u0007',
  '\u009b2J',
  'a\nb\r\nc',
  '::error::x',
  'x\n::add-mask::y',
  '##[error]x',
  '##vso[task.complete]x',
  'abc\u202edef\u2066ghi',
  'zero\u200bwidth\u200d\ufeff',
  '\ud800 lone',
  '\u{e0041}\u{e0042}',
  '\u2028\u2029',
  '<a href="x">&\'</a>',
  '`graph` -->|x| ["y"]',
  'yes',
  '<<',
  '0x1f',
  '- a: b',
  '\u0000',
]
/** Any text, those of the list most often. */
export const hostileText = fc.oneof(
  fc.constantFrom(...HOSTILE),
  fc.string({ unit: 'binary' }),
  fc.string({ unit: 'grapheme' }),
)
