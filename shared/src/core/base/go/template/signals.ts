// How parsing and executing stop early. These never leave this folder: `parseTemplate` and `render` turn each into a
// result. Also the bounds that keep a hostile template from costing more than it should.

/** What is thrown to stop. It is no Error, because its stack is never read, and capturing one costs more than a render. */
class Signal {
  readonly message: string

  constructor(message: string) {
    this.message = message
  }
}

/** Go's parser refuses the text. */
export class SyntaxFault extends Signal {}

/** Go may accept the text, but we do not model a construct in it. */
export class Unsupported extends Signal {}

/** Go's Execute returns an error. */
export class TemplateFailure extends Signal {}

/** kleym cannot tell what Go would do. */
export class Unknowable extends Signal {}

/** Longest template in UTF-16 units; a Kubernetes object cannot hold more. */
export const MAX_SOURCE = 2 * 1024 * 1024

/** Deepest nesting of parentheses and of control actions in one template. Go allows 10,000 parentheses. */
export const MAX_NESTING = 150

/** Deepest nesting while executing: blocks, parentheses and `{{template}}` calls. Go allows 100,000 calls. */
export const MAX_DEPTH = 500

/** Actions, loop rounds, arguments and the like per execution; long texts count for more. */
export const MAX_STEPS = 300_000

/** Longest text, in bytes, that is produced, as a whole or as a value on the way. */
export const MAX_TEXT = 256 * 1024

/** Refuses a text beyond `MAX_TEXT`. */
export function checkLength(bytes: number): void {
  if (bytes > MAX_TEXT) throw new Unknowable(`a text longer than ${MAX_TEXT} bytes`)
}
