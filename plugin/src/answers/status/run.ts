// The answer of `kubectl kleym status`.
import type { CommandContext, CommandResult } from '../../io/context.ts'
import { openCluster } from '../../cluster/session.ts'
import { installedInput } from '../../gather/installed.ts'
import { requireValidSettings } from '../../gather/settings.ts'
import { withFallbacks } from '../../settings/in-force.ts'
import { finish } from '../../frame/finish.ts'
import { statusFrame } from './frame.ts'
import { spireAnswer, type StatusOptions } from './spire.ts'

/** Tells whether the installation is sound. */
export async function run(options: StatusOptions, context: CommandContext): Promise<CommandResult> {
  const { sources, settings: given, output, allNamespaces } = options
  requireValidSettings(given)
  const session = await openCluster(sources.cluster, context)
  try {
    const choice = { ...sources, connected: session.contextName }
    const settings = await withFallbacks(given, choice, context)
    const namespace = allNamespaces ? undefined : sources.namespace
    const installation = await session.readInstallation({
      namespaces: namespace === undefined ? undefined : [namespace],
      scmNamespaces: settings.scmConfig === undefined ? sources.scmNamespaces : [],
      isScmNamespaceGiven: sources.isScmNamespaceGiven,
    })
    const input = await installedInput(
      installation,
      { ...options, settings },
      { cwd: context.cwd, namespace },
    )
    const spire = await spireAnswer({ ...options, settings }, session, context)
    return await finish(statusFrame(input, installation, context.clock.now(), spire), input, output, context)
  } finally {
    session.close()
  }
}
