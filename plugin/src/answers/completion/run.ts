// The answer of `kubectl kleym completion`: what is there, and what to do.
import { resolve } from 'node:path'
import type { CommandContext, CommandResult } from '../../io/context.ts'
import { EXIT, wrongUsage } from '../../io/errors.ts'
import { escapeTerminal } from '../../io/escape.ts'
import type { CompletionAction } from './actions.ts'
import { installScript } from './install.ts'
import { findExecutable, foldersOfPath } from './executables.ts'
import { completionScript } from './script.ts'

/** What `completion` is asked; without an action it explains. */
export interface CompletionArguments {
  readonly action?: CompletionAction | undefined
  readonly folder?: string | undefined
}

/** Explains, installs or prints. */
export async function run(
  { action, folder }: CompletionArguments,
  context: CommandContext,
): Promise<CommandResult> {
  if (action === 'script') return answer(completionScript(context.env).text)
  return action === 'install' ? install(folder, context) : explain(context)
}

function answer(text: string, notes: readonly string[] = []): CommandResult {
  return { answer: text, notes, exitCode: EXIT.ok }
}

async function install(given: string | undefined, { env, cwd }: CommandContext): Promise<CommandResult> {
  const folders = foldersOfPath(env, cwd)
  const folder = given === undefined ? pluginIn(folders)?.folder : resolve(cwd, given)
  if (folder === undefined)
    throw wrongUsage('completion', {
      what: 'cannot tell where to install',
      why: 'no folder of PATH holds kubectl-kleym',
      fix: 'put kubectl-kleym on PATH, or name a folder that is: kubectl kleym completion install DIR',
    })
  const path = await installScript(completionScript(env), folder)
  const unseen = folders.includes(folder) ? [] : [`${folder} is not on PATH: kubectl will not find it there`]
  return answer(`wrote ${escapeTerminal(path)}\n`, unseen)
}

function pluginIn(folders: readonly string[]): ReturnType<typeof findExecutable> {
  return findExecutable(['kubectl-kleym', 'kubectl-kleym.exe'], folders)
}

function explain({ env, cwd }: CommandContext): CommandResult {
  const folders = foldersOfPath(env, cwd)
  const { name } = completionScript(env)
  const there = findExecutable([name, 'kubectl_complete-kleym', 'kubectl_complete-kleym.exe'], folders)
  const plugin = pluginIn(folders)
  const status =
    there === undefined ? `✗ ${name} is not on PATH` : `✓ ${escapeTerminal(there.path)} is on PATH`
  const pluginStatus =
    plugin === undefined
      ? '✗ kubectl-kleym is not on PATH: kubectl cannot find the plugin'
      : `✓ ${escapeTerminal(plugin.path)} is on PATH`
  return answer(`kubectl completes the words after "kubectl kleym" by running an executable
called ${name}. krew does not install it: it makes one
link per plugin.

  ${pluginStatus}
  ${status}

install it beside kubectl-kleym:  kubectl kleym completion install
in another folder of PATH:        kubectl kleym completion install DIR
or print it, to put it by hand:   kubectl kleym completion script

kubectl 1.26 or later must complete in your shell already, for example by
source <(kubectl completion bash). More: docs/completion.md
`)
}
