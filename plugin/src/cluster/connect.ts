// The way to a cluster: the kubeconfig as kubectl would read it, and a client for it. Nothing is sent yet.
import { createApi, type Client } from '@kleym/shared/kube/client.ts'
import { ClusterConfigError, type Cluster } from '@kleym/shared/kube/cluster.ts'
import { loadCluster } from '@kleym/shared/kube/kubeconfig.ts'
import type { ClusterOptions } from '../flags/cluster-flags.ts'
import type { CommandContext } from '../io/context.ts'
import { KleymError } from '../io/errors.ts'
import { escapeTerminal, neutraliseCommands } from '../io/escape.ts'

/** How many requests are under way at a time: enough to hide the way there and back, few enough for a small server. */
const REQUESTS_AT_ONCE = 8

/**
 * What one answer may hold. A page of 500 pods has some 5 MiB and 150,000 values; eight of the largest are read side by side
 * without a gigabyte in use.
 */
const ANSWERS = { bytes: 32 * 1024 * 1024, values: 2_000_000 }

/** What connecting needs of the process. */
export type ConnectIo = Pick<CommandContext, 'env' | 'clock' | 'version' | 'collectGarbage'>

/** A client, and what its kubeconfig says. */
export interface Connection {
  readonly client: Client
  /** The context's namespace, else `default`. */
  readonly namespace: string
  /** `kind-dev (https://127.0.0.1:6443)`: for errors. */
  readonly name: string
  /** The kube context. */
  readonly contextName: string
  /** What the person is to hear before the answer, a line each. */
  readonly warnings: readonly string[]
  /** Ends all connections; a process that is done would wait for them else. */
  close(): void
}

/** Throws a KleymError (unreachable) for a kubeconfig that cannot be used. */
export async function connect(
  options: ClusterOptions,
  { env, clock, version, collectGarbage }: ConnectIo,
): Promise<Connection> {
  const { kubeconfigPath, context, overrides, timeoutMs } = options
  try {
    const cluster = await loadCluster({
      env,
      clock,
      overrides,
      ...(kubeconfigPath === undefined ? {} : { kubeconfigPath }),
      ...(context === undefined ? {} : { context }),
    })
    const client = createApi(cluster, {
      userAgent: `kubectl-kleym/${version}`,
      clock,
      maxSockets: REQUESTS_AT_ONCE,
      answers: ANSWERS,
      gzip: true,
      // Several of them come side by side, and again with fewer items: together they would be most of the memory.
      onTooLarge: () => collectGarbage?.('all'),
      ...(timeoutMs === undefined ? {} : { timeoutMs }),
    })
    return {
      client,
      namespace: cluster.namespace,
      name: nameOf(cluster),
      contextName: cluster.contextName,
      warnings: warningsOf(cluster),
      close: () => client.close(),
    }
  } catch (error) {
    if (error instanceof ClusterConfigError) throw configError(error)
    throw error
  }
}

/** An error of the kubeconfig or of its plugins in kleym's words. */
export function configError(error: ClusterConfigError): KleymError {
  const { what, where, why, fix } = error
  return new KleymError('unreachable', {
    what,
    where,
    why,
    fix: `${fix}; or answer from files with --offline`,
    cause: error,
  })
}

/** Without it, a 401 or 403 of a server that would take the token would be a riddle. */
function warningsOf({ server, withheld }: Cluster): readonly string[] {
  if (withheld === undefined) return []
  return [
    `${server.origin} is no TLS connection, so ${withheld} of the user is not sent; give an https:// address`,
  ]
}

/** Tells the warnings of a connection on stderr. */
export function warn({ warnings }: Connection, { stderr }: Pick<CommandContext, 'stderr'>): void {
  for (const text of warnings) stderr.write(`warning: ${neutraliseCommands(escapeTerminal(text))}\n`)
}

function nameOf({ contextName, server }: Cluster): string {
  return `${contextName} (${server.origin})`
}
