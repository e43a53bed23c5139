// What the text of a document proves about its values, so that an object is searched only for what it may hold. If a word is
// not in the text, it is in no value: apart from escapes, a value is verbatim in the text, and an anchor (`&`) can only repeat
// it.
import { ENCODED_MIN } from './held-text.ts'

/** What may write any character. */
const ESCAPE = String.raw`\\`
/** How each placeholder of `placeholders.ts` begins. */
const PLACEHOLDER = new RegExp(String.raw`\{[{%]|\$[{(]|<[A-Za-z]|ENC\[|${ESCAPE}`)
/** The programs of `commands.ts` and `changing-commands.ts`, and a variable that may stand for a part of their names. */
const COMMAND = new RegExp(String.raw`kubectl|helm|spire-server|\boc\b|\$|${ESCAPE}`)
/** The field that every object has, for the second time; or as much as `held-text.ts` takes for something encoded. */
const OBJECT = new RegExp(
  String.raw`apiVersion[^]*apiVersion|(?:^|[^A-Za-z0-9+/\s])\s*(?:[A-Za-z0-9+/]\s*){${ENCODED_MIN}}|&|${ESCAPE}`,
)

/** Tells what the values of one document may hold. Each question is looked at once, and if it is asked. */
export class TextFacts {
  readonly #text: string
  #placeholders: boolean | undefined
  #commands: boolean | undefined
  #objects: boolean | undefined

  constructor(text: string) {
    this.#text = text
  }

  get mayHavePlaceholders(): boolean {
    return (this.#placeholders ??= PLACEHOLDER.test(this.#text))
  }

  get mayHaveCommands(): boolean {
    return (this.#commands ??= COMMAND.test(this.#text))
  }

  /** Whether an object with an apiVersion and a kind of its own may hold others. */
  get mayHoldObjects(): boolean {
    return (this.#objects ??= OBJECT.test(this.#text))
  }
}
