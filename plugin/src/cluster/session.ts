// What one command uses of a cluster: the connection, its lists, and a line of progress while they take long.
import type { ClusterOptions } from '../flags/cluster-flags.ts'
import type { CommandContext } from '../io/context.ts'
import { connect, warn } from './connect.ts'
import { CounterpartReader } from './counterparts.ts'
import { readInstallation, type Installation, type InstallationQuestion } from './installation.ts'
import { readLiveSide, type LiveQuestion, type LiveSide } from './live-side.ts'
import { showProgress } from './progress.ts'
import { ClusterReader } from './reader.ts'
import {
  readSpireInstall,
  readSpireSide,
  type SpireInstallReading,
  type SpireQuestion,
} from './spire-side.ts'
import type { SpireParts } from '@kleym/shared/core/answers/index.ts'

/** A connection, as answers use it. */
export interface ClusterSession {
  /** The context's namespace, else `default`. */
  readonly namespace: string
  /** The kube context. */
  readonly contextName: string
  /** What `status` needs. Throws like `read`. */
  readonly readInstallation: (question: InstallationQuestion) => Promise<Installation>
  /** Throws a KleymError where the cluster cannot be reached. */
  readonly read: (question: LiveQuestion) => Promise<LiveSide>
  /** Reads what files change and no list brings. */
  readonly counterparts: Pick<CounterpartReader, 'read' | 'readAll'>
  /** SPIRE's own parts. Throws like `read`. */
  readonly readSpire: (question: SpireQuestion) => Promise<SpireParts>
  /** The same of the whole cluster. Throws like `read`. */
  readonly readSpireInstall: () => Promise<SpireInstallReading>
  readonly close: () => void
}

/** Throws a KleymError for a kubeconfig that cannot be used; nothing is sent yet. */
export async function openCluster(options: ClusterOptions, context: CommandContext): Promise<ClusterSession> {
  const connection = await connect(options, context)
  warn(connection, context)
  const { client, namespace, name, contextName } = connection
  const progress = showProgress(context)
  const reader = new ClusterReader(client, name, progress.onPage)
  return {
    namespace,
    contextName,
    read: (question) => readLiveSide(reader, question),
    counterparts: new CounterpartReader(reader),
    readSpire: (question) => readSpireSide(reader, question),
    readSpireInstall: () => readSpireInstall(reader),
    readInstallation: (question) => readInstallation(client, reader, question),
    close: () => {
      // A question may take several readings.
      progress.end()
      connection.close()
    },
  }
}
