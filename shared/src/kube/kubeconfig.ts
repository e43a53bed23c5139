// Which cluster, and who we are to it: from a kubeconfig as kubectl reads it, or from the service account of a pod.
// @kubernetes/client-node understands the entries and runs the plugins; what it gets wrong is done here (seen with 2.0.1:
// tokenFile is ignored, the first file of KUBECONFIG does not win, exec plugins are told nothing, verification can be
// switched off by the environment).
// https://kubernetes.io/docs/concepts/configuration/organize-cluster-access-kubeconfig/
import { delimiter, join } from 'node:path'
import { ClusterConfigError, type Cluster } from './cluster.ts'
import { systemClock, type Clock } from './clock.ts'
import { inCluster, isInCluster, SERVICE_ACCOUNT_FOLDER } from './in-cluster.ts'
import { contextCluster } from './context-cluster.ts'
import { readKubeconfigs, type Kubeconfig, type KubeconfigFiles } from './kubeconfig-files.ts'
import { isEmpty, overrideKubeconfig, type ClusterOverrides } from './overrides.ts'

export interface ClusterSource {
  /** `--kubeconfig`: this file and no other. */
  readonly kubeconfigPath?: string
  /** `--context`; the kubeconfig's current-context when absent. */
  readonly context?: string
  /** What the command line says in place of the kubeconfig. */
  readonly overrides?: ClusterOverrides
  readonly env: Readonly<Record<string, string | undefined>>
  /** For when credentials are due; the system's when absent. */
  readonly clock?: Clock
  /** Where a pod's service account is mounted; SERVICE_ACCOUNT_FOLDER when absent. */
  readonly serviceAccountFolder?: string
}

/**
 * The cluster that kubectl would talk to: the explicit path, KUBECONFIG, ~/.kube/config, then the pod's own. Rejects
 * with a ClusterConfigError. Nothing is sent yet.
 */
export async function loadCluster(source: ClusterSource): Promise<Cluster> {
  const {
    env,
    clock = systemClock,
    serviceAccountFolder = SERVICE_ACCOUNT_FOLDER,
    overrides = {},
    context,
  } = source
  const files = filesOf(source)
  const found = await readKubeconfigs(files)
  const kubeconfig = found ?? (overrides.server === undefined ? undefined : NO_KUBECONFIG)
  if (kubeconfig !== undefined) {
    const overridden = overrideKubeconfig(kubeconfig, context, overrides)
    return contextCluster({ kubeconfig: overridden, context, env, clock })
  }
  if (context === undefined && isInCluster(env)) {
    // A call that is made as another user than was asked for gives an answer to another question.
    if (!isEmpty(overrides)) throw withoutKubeconfig(files)
    return inCluster({ env, clock, folder: serviceAccountFolder })
  }
  throw new ClusterConfigError({
    what: 'no cluster to talk to',
    where: files.paths.join(delimiter) || 'KUBECONFIG',
    why: 'there is no kubeconfig there, and this is no pod with a service account',
    fix: 'name a kubeconfig with --kubeconfig or KUBECONFIG',
  })
}

function withoutKubeconfig({ paths }: KubeconfigFiles): ClusterConfigError {
  return new ClusterConfigError({
    what: 'cannot change who we are to the cluster',
    where: paths.join(delimiter) || 'KUBECONFIG',
    why: "there is no kubeconfig, and a pod's service account is what it is",
    fix: 'leave the flags out that name a user or a cluster, or name a kubeconfig with --kubeconfig',
  })
}

/** What `--server` alone stands on. */
const NO_KUBECONFIG: Kubeconfig = {
  clusters: new Map(),
  users: new Map(),
  contexts: new Map(),
  currentContext: '',
  files: [],
}

/** The kubeconfig files that kubectl would read: the explicit path, those of KUBECONFIG, else ~/.kube/config. */
export function filesOf({ kubeconfigPath, env }: ClusterSource): KubeconfigFiles {
  if (kubeconfigPath !== undefined && kubeconfigPath !== '')
    return { paths: [kubeconfigPath], demanded: true }
  const listed = (env['KUBECONFIG'] ?? '').split(delimiter).filter((path) => path !== '')
  if (listed.length > 0) return { paths: listed, demanded: false }
  const home = env['HOME'] ?? env['USERPROFILE']
  return { paths: home === undefined || home === '' ? [] : [join(home, '.kube', 'config')], demanded: false }
}
