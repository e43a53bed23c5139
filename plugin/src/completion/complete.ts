// `kubectl kleym __complete WORDS...`: what could stand in place of the last word. Commands and flags come from the
// command classes, which hold no code behind them: loading them costs no more than a table of their own would.
import { appendFileSync } from 'node:fs'
import { commandClass, isCommand, QUESTIONS } from '../answers/commands.ts'
import type { ClusterFlags } from '../flags/cluster-flags.ts'
import type { CommandContext } from '../io/context.ts'
import { completeArgument } from './arguments.ts'
import { createLookup, type CompletionLookup } from './lookup.ts'
import type { NameScope } from './names.ts'
import { NOTHING, offer, printCompletion, type CompletionCandidate, type Completion } from './protocol.ts'
import { completeValue } from './values.ts'
import { readWords, type CommandLine, type FlagDefinitions } from './words.ts'

/** The lines that kubectl reads for the words after `kubectl kleym`. Never rejects. */
export async function completionFor(words: readonly string[], context: CommandContext): Promise<string> {
  const debug = debugTo(context.env)
  debug(`words: ${JSON.stringify(words)}`)
  try {
    return printCompletion(await complete(words, (flags) => createLookup(flags, { ...context, debug })))
  } catch (error) {
    debug(`a bug in kleym: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`)
    return printCompletion(NOTHING)
  }
}

/** Makes the lookup for what a command line says of the cluster; it is closed once it has been used. */
export type LookupMaker = (flags: ClusterFlags) => CompletionLookup & { close(): void }

/** What could stand in place of the last word. */
export async function complete(words: readonly string[], lookupFor: LookupMaker): Promise<Completion> {
  const [command = '', ...rest] = words
  if (words.length < 2) return offer(commandWords(command))
  if (command === 'help')
    return rest.length === 1
      ? offer(commandWords(rest[0] ?? '').filter(({ text }) => isCommand(text)))
      : NOTHING
  if (!isCommand(command)) return NOTHING
  const { baseFlags, flags: ownFlags } = await commandClass(command)
  const flags: FlagDefinitions = { ...baseFlags, ...ownFlags }
  const line = readWords(rest, flags)
  const { cursor, given, args } = line
  if (cursor.kind === 'flag') return offer(flagWords(cursor.typed, flags, given))
  // Offline means that no cluster and no kubeconfig is touched, whatever it is for.
  const lookup = given.has('offline') ? undefined : lookupFor(clusterFlagsOf(line))
  const scope: NameScope = {
    namespace: lastOf(given, 'namespace'),
    allNamespaces: given.has('all-namespaces'),
  }
  try {
    if (cursor.kind === 'argument')
      return await completeArgument(command, { typed: cursor.typed, before: args, scope }, lookup)
    const { flag, typed, head } = cursor
    const found = await completeValue({ command, flag, definition: flags[flag], typed, scope }, lookup)
    return head === ''
      ? found
      : { ...found, candidates: found.candidates.map((one) => ({ ...one, text: head + one.text })) }
  } finally {
    lookup?.close()
  }
}

const HELP_ABOUT = 'Help of a command.'

function commandWords(typed: string): readonly CompletionCandidate[] {
  const words: readonly CompletionCandidate[] = [
    ...Object.entries(QUESTIONS).map(([text, about]) => ({ text, about })),
    { text: 'help', about: HELP_ABOUT },
    ...(typed.startsWith('-')
      ? [
          { text: '--help', about: HELP_ABOUT },
          { text: '--version', about: 'The version of kleym.' },
        ]
      : []),
  ]
  return words.filter(({ text }) => text.startsWith(typed))
}

/** Flags that can still be given: by their long names, and by their letters where one dash is typed. */
function flagWords(
  typed: string,
  flags: FlagDefinitions,
  given: CommandLine['given'],
): readonly CompletionCandidate[] {
  const open = Object.entries(flags).filter(
    ([name, flag]) =>
      flag.hidden !== true && (!given.has(name) || (flag.type === 'option' && flag.multiple === true)),
  )
  const words = open.flatMap(([name, { char, description }]) => {
    const about = description === undefined ? {} : { about: description }
    const letter = char === undefined ? [] : [{ text: `-${char}`, ...about }]
    return [...letter, ...(name.length > 1 ? [{ text: `--${name}`, ...about }] : [])]
  })
  return [...words, { text: '--help', about: HELP_ABOUT }].filter(({ text }) => text.startsWith(typed))
}

function lastOf(given: CommandLine['given'], flag: string): string | undefined {
  const value = given.get(flag)?.at(-1)
  return value === '' ? undefined : value
}

/**
 * kubectl's flags on the command line: a name is completed from the cluster, and as the user, that they say. All of them,
 * so that one that is added and forgotten here does not compile.
 */
function clusterFlagsOf({ given }: CommandLine): Required<ClusterFlags> {
  const text = (flag: string): string | undefined => lastOf(given, flag)
  return {
    kubeconfig: text('kubeconfig'),
    context: text('context'),
    cluster: text('cluster'),
    user: text('user'),
    server: text('server'),
    token: text('token'),
    as: text('as'),
    'as-group': [...(given.get('as-group') ?? [])],
    'as-uid': text('as-uid'),
    'certificate-authority': text('certificate-authority'),
    'client-certificate': text('client-certificate'),
    'client-key': text('client-key'),
    'insecure-skip-tls-verify': given.has('insecure-skip-tls-verify') ? true : undefined,
    'tls-server-name': text('tls-server-name'),
    // A completion has a time of its own.
    'request-timeout': undefined,
  }
}

/** Appends lines to the file that BASH_COMP_DEBUG_FILE names; does nothing without it, or where that cannot be. */
function debugTo(env: Readonly<Record<string, string | undefined>>): (line: string) => void {
  const file = env['BASH_COMP_DEBUG_FILE'] ?? ''
  if (file === '') return () => undefined
  return (line) => {
    try {
      appendFileSync(file, `kubectl-kleym: ${line}\n`)
    } catch {
      // A debug file that cannot be written is no reason to print into a person's command line.
    }
  }
}
