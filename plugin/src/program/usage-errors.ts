// Wrong command lines, in kleym's words: oclif's errors become usage errors with what, why, fix and a did-you-mean.
import type { Command } from '@oclif/core/command'
import * as Errors from '@oclif/core/errors'
import { own } from '@kleym/shared/core/base/json.ts'
import { formatsOf } from '../flags/options.ts'
import { KleymError } from '../io/errors.ts'
import { BIN } from './bin.ts'
import { didYouMean } from '@kleym/shared/core/base/text/suggest.ts'

/** Whether oclif's parser has thrown this; anything else is a KleymError or a bug. */
export function isUsageError(thrown: unknown): thrown is Errors.CLIError {
  return thrown instanceof Errors.CLIError
}

/** An error of oclif's parser as a usage error. */
export function usageError(thrown: Errors.CLIError, command: Command.Loadable | undefined): KleymError {
  const id = command?.id ?? ''
  const docs = `${BIN} ${id === '' ? '' : `${id} `}--help`
  const refuse = (what: string, why: string, fix: string): KleymError =>
    new KleymError('usage', { what, why, fix, docs, cause: thrown })
  const unknown = listOf(thrown, 'flags')
  if (unknown !== undefined) return unknownFlags(unknown, command, refuse)
  const extra = listOf(thrown, 'args')
  if (extra !== undefined && thrown.message.startsWith('Unexpected argument')) {
    const [first = ''] = extra
    return refuse(
      `unexpected argument ${first}`,
      command !== undefined && Object.keys(command.args).length > 0
        ? `${id} takes one argument at most`
        : `${id} takes no arguments, only flags`,
      extra.some((word) => /\.(?:ya?ml|json)$/.test(word))
        ? `give each file its own -f: ${BIN} ${id} --offline ${extra.map((word) => `-f ${word}`).join(' ')}`
        : 'remove it, or put it in quotes with the value to which it belongs',
    )
  }
  return otherError(thrown.message, command, refuse)
}

/** What other programs write a completion script for. */
const SHELLS: ReadonlySet<string> = new Set(['bash', 'zsh', 'fish', 'powershell'])

type Refuse = (what: string, why: string, fix: string) => KleymError

function unknownFlags(
  flags: readonly string[],
  command: Command.Loadable | undefined,
  refuse: Refuse,
): KleymError {
  const written = (flags[0] ?? '').split('=', 1)[0] ?? ''
  const known = Object.keys(command?.flags ?? {}).filter((name) => name.length > 1)
  // `-offline` is a slip for `--offline`, and `-of` could be anything.
  const hint = written.length > 2 ? didYouMean(written.replace(/^-+/, ''), known) : undefined
  return refuse(
    `unknown flag ${written}`,
    `${command?.id ?? 'kleym'} has no such flag`,
    hint?.replaceAll(/(?<= )(?=[\w-]+(?:,|\?| or ))(?!or )/g, '--').replace(/(?<=^did you mean )-*/, '--') ??
      'see the flags in the help',
  )
}

/** The values that a flag of a command takes, of those that oclif names: no command has every format. */
function valuesOf(flag: string, options: string, command: Command.Loadable | undefined): readonly string[] {
  return flag === 'output' && command !== undefined ? formatsOf(command.id) : options.split(', ')
}

/** oclif's other messages, told apart by their texts. */
function otherError(message: string, command: Command.Loadable | undefined, refuse: Refuse): KleymError {
  const text = message.replace(/\nSee more help with --help/g, '').trim()
  const option = /^Expected --([\w-]+)=([^]*) to be one of: (.*)$/.exec(text)
  if (option !== null) {
    const [, flag = '', value = '', options = ''] = option
    const taken = valuesOf(flag, options, command)
    const hint = oneDash(flag, value, command) ?? didYouMean(value, taken) ?? queryHint(flag, value)
    return refuse(
      `--${flag} does not take ${value}`,
      `it takes one of ${taken.join(', ')}`,
      hint ?? 'use one of them',
    )
  }
  const argument = /^Expected ([^]*) to be one of: (.*)$/.exec(text)
  if (argument !== null) {
    const [, value = '', options = ''] = argument
    const isShell = command?.id === 'completion' && SHELLS.has(value)
    return refuse(
      `${command?.id ?? ''} does not take ${value}`,
      isShell
        ? 'kubectl completes the words of a plugin itself, in every shell'
        : `it takes one of ${options}`,
      isShell
        ? `run: ${BIN} completion install`
        : (didYouMean(value, options.split(', ')) ?? 'use one of them'),
    )
  }
  const missing = /^Flag --([\w-]+) expects (?:a value|one of these values: (.*))$/.exec(text)
  if (missing !== null) {
    const [, flag = '', options] = missing
    const why =
      options === undefined
        ? 'the command line ends, or another flag follows'
        : `it takes one of ${valuesOf(flag, options, command).join(', ')}`
    return refuse(`--${flag} needs a value`, why, `write --${flag}=VALUE`)
  }
  const twice = /^Flag --([\w-]+) can only be specified once$/.exec(text)
  if (twice !== null)
    return refuse(`--${twice[1] ?? ''} is given twice`, 'only one value can be meant', 'give it once')
  const unparsed = /^Parsing --([\w-]+)\s+([^]*)$/.exec(text)
  if (unparsed !== null)
    return refuse(`--${unparsed[1] ?? ''} has a wrong value`, unparsed[2] ?? '', 'correct the value')
  return refuse('the command line is wrong', text, 'see the help')
}

/** The formats of kubectl that query an object. */
function queryHint(flag: string, value: string): string | undefined {
  const isQuery = flag === 'output' && /^(?:jsonpath|custom-columns|go-template)/.test(value)
  return isQuery ? 'use -o json, and take the fields that you need with jq' : undefined
}

/** `-offline` parses as `-o ffline`. */
function oneDash(flag: string, value: string, command: Command.Loadable | undefined): string | undefined {
  const name = `${command?.flags[flag]?.char ?? ''}${value}`
  return Object.hasOwn(command?.flags ?? {}, name) ? `did you mean --${name}?` : undefined
}

function listOf(error: object, property: string): readonly string[] | undefined {
  const value = own(error, property)
  return Array.isArray(value) ? value.map(String) : undefined
}
