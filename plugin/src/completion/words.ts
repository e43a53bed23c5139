// A command line that is being typed: what is given already, and what the last word is going to be. It reads flags as
// oclif's parser does (@oclif/core 5.1.9, lib/parser/parse.js), and forgives what that would refuse.
import type { Command } from '@oclif/core/command'

/** The flags of a command by their long names, as its class defines them. */
export type FlagDefinitions = Command.Class['flags']
/** One flag, as oclif knows it. */
export type FlagDefinition = FlagDefinitions[string]

/** The word at the cursor: the start of a flag, of a flag's value, or of an argument. */
export type Cursor =
  | { readonly kind: 'flag'; readonly typed: string }
  | {
      readonly kind: 'value'
      readonly flag: string
      readonly typed: string
      /** What stands in the same word before the value, and must stay: `-n` of `-nteam`. */
      readonly head: string
    }
  | { readonly kind: 'argument'; readonly typed: string }

/** A command line up to the cursor. */
export interface CommandLine {
  /** The values of each flag given before the cursor; an empty text for a boolean. */
  readonly given: ReadonlyMap<string, readonly string[]>
  /** The arguments before the cursor. */
  readonly args: readonly string[]
  readonly cursor: Cursor
}

/** Reads the words after the command; the last one is the one at the cursor, empty where it is yet to be typed. */
export function readWords(words: readonly string[], flags: FlagDefinitions): CommandLine {
  const given = new Map<string, string[]>()
  const args: string[] = []
  const before = words.slice(0, -1)
  const typed = words.at(-1) ?? ''
  let awaiting: string | undefined
  let onlyArgs = false
  for (const word of before) {
    if (awaiting !== undefined) {
      note(given, awaiting, word)
      awaiting = undefined
    } else if (onlyArgs || word === '-' || !word.startsWith('-')) args.push(word)
    else if (word === '--') onlyArgs = true
    else awaiting = noteFlags(word, flags, given)
  }
  return { given, args, cursor: cursorAt({ typed, awaiting, onlyArgs, flags }) }
}

function note(given: Map<string, string[]>, flag: string, value: string): void {
  given.set(flag, [...(given.get(flag) ?? []), value])
}

/** Notes what a word of flags gives; returns the flag whose value is the next word, if there is one. */
function noteFlags(word: string, flags: FlagDefinitions, given: Map<string, string[]>): string | undefined {
  const parts = splitFlags(word, flags)
  for (const { flag, value } of parts) if (value !== undefined) note(given, flag, value)
  return parts.find(({ value }) => value === undefined)?.flag
}

interface FlagPart {
  readonly flag: string
  /** Undefined for an option whose value is not in the word. */
  readonly value: string | undefined
  /** What stands in the word before the value. */
  readonly head: string
}

/** `--name`, `--name=value`, `-n`, `-nvalue`, `-n=value`, `-Rf`; what is no flag of the command is left out. */
function splitFlags(word: string, flags: FlagDefinitions): readonly FlagPart[] {
  if (word.startsWith('--')) {
    const equals = word.indexOf('=')
    const name = word.slice(2, equals === -1 ? undefined : equals)
    const flag = Object.hasOwn(flags, name) ? flags[name] : undefined
    if (flag === undefined) return []
    if (equals !== -1) return [{ flag: name, value: word.slice(equals + 1), head: '' }]
    return [{ flag: name, value: flag.type === 'boolean' ? '' : undefined, head: '' }]
  }
  const parts: FlagPart[] = []
  for (let at = 1; at < word.length; at++) {
    const name = Object.keys(flags).find((one) => flags[one]?.char === word.charAt(at))
    if (name === undefined) return parts
    if (flags[name]?.type === 'boolean') {
      parts.push({ flag: name, value: '', head: '' })
      continue
    }
    const rest = word.slice(at + 1)
    const attached = rest.startsWith('=') ? rest.slice(1) : rest
    const head = rest.startsWith('=') ? '' : word.slice(0, at + 1)
    return [...parts, { flag: name, value: rest === '' ? undefined : attached, head }]
  }
  return parts
}

interface Typing {
  readonly typed: string
  readonly awaiting: string | undefined
  readonly onlyArgs: boolean
  readonly flags: FlagDefinitions
}

function cursorAt({ typed, awaiting, onlyArgs, flags }: Typing): Cursor {
  if (awaiting !== undefined) return { kind: 'value', flag: awaiting, typed, head: '' }
  if (onlyArgs || !typed.startsWith('-')) return { kind: 'argument', typed }
  const last = splitFlags(typed, flags).at(-1)
  if (last?.value !== undefined && flags[last.flag]?.type === 'option')
    return { kind: 'value', flag: last.flag, typed: last.value, head: last.head }
  return { kind: 'flag', typed }
}
