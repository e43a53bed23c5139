// The settings of a command with what the environment and the settings file add. Reading a file takes modules that most runs do
// without, so they are loaded if there is one.
import type { SettingsOptions, SourceOptions } from '../flags/options.ts'
import type { SourceIo } from '../io/context.ts'
import { findSettingsFile } from './find.ts'

/** What decides which section of a settings file counts. */
export type SettingsContext = Pick<SourceOptions, 'offline' | 'cluster'> & {
  /** The kube context of the connection; undefined: there is none. */
  readonly connected: string | undefined
}

/** The options with their fallbacks; those that have them stay as they are. Throws a usage error for a wrong file or variable. */
export async function withFallbacks(
  options: SettingsOptions,
  choice: SettingsContext,
  io: Pick<SourceIo, 'cwd' | 'env'>,
  from = io.cwd,
): Promise<SettingsOptions> {
  if (options.fallbacks !== undefined) return options
  const isFile =
    options.file?.isNone !== true &&
    (options.file?.path !== undefined || findSettingsFile(from) !== undefined)
  const { context } = choice.cluster
  const isContextGiven = choice.offline && context !== undefined
  const remarks =
    isContextGiven && !isFile ? [`--context ${context} chooses nothing: no settings file is read`] : []
  if (!isFile && !hasVariables(io.env)) return { ...options, fallbacks: [], remarks }
  const { settingsFallbacks } = await import('./fallbacks.ts')
  const question = { options, context: choice.connected ?? context, isContextGiven, from }
  const read = await settingsFallbacks(question, io)
  return { ...options, fallbacks: read.fallbacks, remarks: [...remarks, ...read.remarks] }
}

/** More of these than settings may be set: then the rest of them is read for nothing. */
function hasVariables(env: SourceIo['env']): boolean {
  return Object.keys(env).some((name) => name.startsWith('KLEYM_'))
}
