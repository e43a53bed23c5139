// The answer of `kubectl kleym watch`: a screen where there is a terminal for it, else a stream of lines.
import type { ClusterOptions } from '../../flags/cluster-flags.ts'
import {
  paletteFor,
  type CommandContext,
  type Interrupts,
  type CommandResult,
  type Terminal,
} from '../../io/context.ts'
import { EXIT, type ExitCode } from '../../io/errors.ts'
import type { SettingsOptions } from '../../flags/options.ts'
import { connect, warn, type Connection } from '../../cluster/connect.ts'
import { unreachable } from '../../cluster/unreachable.ts'
import { withFallbacks } from '../../settings/in-force.ts'
import { requireValidSettings } from '../../gather/settings.ts'
import { escapeTerminal, neutraliseCommands } from '../../io/escape.ts'
import type { ColourFlag } from '../../io/palette.ts'
import { PROBE_PATH } from './live/connection-monitor.ts'
import type { StreamFormat } from './live/formats.ts'
import { LiveState } from './live/live-state.ts'
import { PlainStream } from './live/plain.ts'
import { learnSettings, type LearntSettings } from './live/settings.ts'

/** What `watch` is asked. */
export interface WatchCommandOptions {
  readonly cluster: ClusterOptions
  /** Undefined: the context's. */
  readonly namespace: string | undefined
  readonly allNamespaces: boolean
  /** Lines, also on a terminal. */
  readonly plain: boolean
  readonly format: StreamFormat
  readonly settings: SettingsOptions
  readonly colour: ColourFlag
}

/** Watches until the person leaves, the reader goes away, or a signal comes. */
export async function run(options: WatchCommandOptions, context: CommandContext): Promise<CommandResult> {
  requireValidSettings(options.settings)
  const connection = await connect(options.cluster, context)
  warn(connection, context)
  try {
    await firstContact(connection)
    const exitCode = await watch(options, context, connection)
    return { answer: '', notes: [], exitCode }
  } finally {
    connection.close()
  }
}

/** A screen that could only say that it is not connected would hide why. */
async function firstContact({ client, name }: Connection): Promise<void> {
  try {
    await client.raw('GET', PROBE_PATH)
  } catch (error) {
    const reason = unreachable(error, name)
    if (reason !== undefined) throw reason
  }
}

async function watch(
  { cluster, namespace, allNamespaces, plain, format, settings: flags, colour }: WatchCommandOptions,
  context: CommandContext,
  connection: Connection,
): Promise<ExitCode> {
  const { client } = connection
  const { clock } = context
  const scope = allNamespaces ? undefined : (namespace ?? connection.namespace)
  const palette = paletteFor(colour, context)
  const io = { client, clock, random: Math.random }
  const choice = { cluster, offline: false, connected: connection.contextName }
  const given = await withFallbacks(flags, choice, context)
  const learn = (of: string | undefined): Promise<LearntSettings> =>
    learnSettings({ client, name: connection.name, options: given, namespace: of, cwd: context.cwd })
  const settings = await learn(scope)
  const screen = plain || format === 'json' ? undefined : screenOf(context)
  if (screen !== undefined) {
    // ink and React take longer to load than all the rest, so only the screen loads them.
    const { runScreen } = await import('./screen/run-screen.ts')
    return runScreen(
      { ...io, ...screen },
      { namespace: scope, settings, learn, palette, cluster: connection.name },
    )
  }
  const stream = new PlainStream({
    format,
    allNamespaces: scope === undefined,
    palette,
    print: (text) => context.stdout.write(text),
    note: (text) => context.stderr.write(`${neutraliseCommands(escapeTerminal(text))}\n`),
  })
  return streamUntilLeft(io, { namespace: scope, settings, learn: () => learn(scope), stream }, context)
}

/** A dumb terminal can show lines and nothing else. */
function screenOf({
  env,
  terminal,
  interrupts,
}: CommandContext): { readonly terminal: Terminal; readonly interrupts: Interrupts } | undefined {
  const there = env['TERM'] === 'dumb' || interrupts === undefined ? undefined : terminal?.()
  return there === undefined || interrupts === undefined ? undefined : { terminal: there, interrupts }
}

/** There is nothing to put right after a stream, so a signal just ends it. */
async function streamUntilLeft(
  io: ConstructorParameters<typeof LiveState>[0],
  {
    namespace,
    settings,
    learn,
    stream,
  }: {
    readonly namespace: string | undefined
    readonly settings: LearntSettings
    readonly learn: () => Promise<LearntSettings>
    readonly stream: PlainStream
  },
  { stdout }: CommandContext,
): Promise<ExitCode> {
  let live: LiveState | undefined
  try {
    await new Promise<void>((resolve, reject) => {
      stdout.onReaderLeft?.(resolve)
      live = new LiveState(io, {
        namespace,
        settings,
        learn,
        onPicture: (picture) => stream.show(picture),
        onBug: reject,
      })
      live.start()
    })
  } finally {
    live?.stop()
  }
  return EXIT.ok
}
