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
import { SCM_NAMESPACES } from '../../flags/flags.ts'
import type { CommonOptions, SettingsOptions } from '../../flags/options.ts'
import { connect, warn, type Connection } from '../../cluster/connect.ts'
import { unreachable } from '../../cluster/unreachable.ts'
import { withFallbacks } from '../../settings/in-force.ts'
import { gather } from '../../gather/gather.ts'
import { requireValidSettings } from '../../gather/settings.ts'
import { FileFollower } from '../../sources/follow-files.ts'
import type { FileArguments } from '../../sources/load.ts'
import { escapeTerminal, neutraliseCommands } from '../../io/escape.ts'
import type { ColourFlag } from '../../io/palette.ts'
import { PROBE_PATH } from './live/connection-monitor.ts'
import type { StreamFormat } from './live/formats.ts'
import { fileSource, type Files } from './files/file-state.ts'
import { PlainStream } from './live/plain.ts'
import { clusterSource, type Live, type OnBug, type SessionSource } from './live/session.ts'
import { learnSettings, type LearntSettings } from './live/settings.ts'
import type { ScreenOptions } from './screen/run-screen.ts'

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
  /** What is watched in place of a cluster; undefined: the cluster. */
  readonly files: FileArguments | undefined
  /** The flags that say so, as given: ` --offline -f pr`. */
  readonly echo: string
}

/** Watches until the person leaves, the reader goes away, or a signal comes. */
export async function run(options: WatchCommandOptions, context: CommandContext): Promise<CommandResult> {
  requireValidSettings(options.settings)
  const { files } = options
  if (files !== undefined)
    return { answer: '', notes: [], exitCode: await watchFiles(options, files, context) }
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

/** Answers from files, and again when one of them changes. */
async function watchFiles(
  options: WatchCommandOptions,
  args: FileArguments,
  context: CommandContext,
): Promise<ExitCode> {
  const common = fileQuestion(options, args)
  const { clock } = context
  const follower = new FileFollower(args, context)
  try {
    const files: Files = {
      clock,
      output: common.output,
      version: () => follower.version,
      onChange: (listener) => follower.onChange(listener),
      gather: () => gather(common, { allNamespaces: true, named: [undefined], policies: true }, context),
    }
    const { version } = follower
    const first = { input: await files.gather(), version }
    const { namespace } = common.sources
    return await show(
      {
        source: (onBug) => fileSource(files, first, onBug),
        namespace: options.allNamespaces ? undefined : namespace,
        cluster: `files${options.echo}`,
      },
      options,
      context,
    )
  } finally {
    follower.stop()
  }
}

function fileQuestion(
  { cluster, namespace, settings, colour, echo }: WatchCommandOptions,
  files: FileArguments,
): CommonOptions {
  return {
    allNamespaces: true,
    sources: {
      files,
      offline: true,
      live: undefined,
      without: [],
      namespace,
      cluster,
      scmNamespaces: SCM_NAMESPACES,
    },
    settings,
    output: { format: 'text', failOn: 'never', colour, suppress: [], allowEmpty: true, echo },
  }
}

async function watch(
  options: WatchCommandOptions,
  context: CommandContext,
  connection: Connection,
): Promise<ExitCode> {
  const { cluster, namespace, allNamespaces, settings: flags } = options
  const { client } = connection
  const { clock } = context
  const scope = allNamespaces ? undefined : (namespace ?? connection.namespace)
  const io = { client, clock, random: Math.random }
  const choice = { cluster, offline: false, connected: connection.contextName }
  const given = await withFallbacks(flags, choice, context)
  const learn = (of: string | undefined): Promise<LearntSettings> =>
    learnSettings({ client, name: connection.name, options: given, namespace: of, cwd: context.cwd })
  const settings = await learn(scope)
  const source = (onBug: OnBug): SessionSource => clusterSource(io, { settings, learn, onBug })
  return show({ source, namespace: scope, cluster: connection.name }, options, context)
}

/** Shows it on a screen if there is a terminal for one, else as lines. */
async function show(
  shown: Omit<ScreenOptions, 'palette'>,
  { plain, format, colour }: WatchCommandOptions,
  context: CommandContext,
): Promise<ExitCode> {
  const palette = paletteFor(colour, context)
  const screen = plain || format === 'json' ? undefined : screenOf(context)
  if (screen !== undefined) {
    // ink and React take longer to load than all the rest, so only the screen loads them.
    const { runScreen } = await import('./screen/run-screen.ts')
    return runScreen(screen, { ...shown, palette })
  }
  const stream = new PlainStream({
    format,
    allNamespaces: shown.namespace === undefined,
    palette,
    print: (text) => context.stdout.write(text),
    note: (text) => context.stderr.write(`${neutraliseCommands(escapeTerminal(text))}\n`),
  })
  return streamUntilLeft(shown, stream, context)
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
  { source, namespace }: Pick<ScreenOptions, 'source' | 'namespace'>,
  stream: PlainStream,
  { stdout }: CommandContext,
): Promise<ExitCode> {
  let live: Live | undefined
  try {
    await new Promise<void>((resolve, reject) => {
      stdout.onReaderLeft?.(resolve)
      live = source(reject).begin(namespace, (picture) => stream.show(picture))
      live.start()
    })
  } finally {
    live?.stop()
  }
  return EXIT.ok
}
