// The API server as a pod sees it, and the pod's own service account.
// https://kubernetes.io/docs/tasks/run-application/access-api-from-pod/#directly-accessing-the-rest-api
import { readFile } from 'node:fs/promises'
import { isIPv6 } from 'node:net'
import { join } from 'node:path'
import { ClusterConfigError, type Cluster } from './cluster.ts'
import type { Clock } from './clock.ts'
import { cachedFor } from './cached-for.ts'
import { proxyFromEnv } from './proxy.ts'
import { readToken } from './token-file.ts'

/** Where the kubelet mounts a pod's token, CA and namespace. */
export const SERVICE_ACCOUNT_FOLDER = '/var/run/secrets/kubernetes.io/serviceaccount'

/** Like client-go: a rotated token (and CA) is taken up within this time. */
const FILES_MS = 60_000

type Env = Readonly<Record<string, string | undefined>>

/** True where the environment is a pod's. */
export function isInCluster(env: Env): boolean {
  return (env['KUBERNETES_SERVICE_HOST'] ?? '') !== '' && (env['KUBERNETES_SERVICE_PORT'] ?? '') !== ''
}

/** Rejects with a ClusterConfigError where a file is missing. */
export async function inCluster(pod: {
  readonly env: Env
  readonly clock: Clock
  readonly folder: string
}): Promise<Cluster> {
  const { env, clock, folder } = pod
  const host = env['KUBERNETES_SERVICE_HOST'] ?? ''
  const server = new URL(`https://${isIPv6(host) ? `[${host}]` : host}:${env['KUBERNETES_SERVICE_PORT']}`)
  const proxy = proxyFromEnv(server, env)
  const credentials = cachedFor(clock, FILES_MS, async () => ({
    ca: await read(join(folder, 'ca.crt')),
    rejectUnauthorized: true,
    headers: { authorization: `Bearer ${await readToken(join(folder, 'token'))}` },
  }))
  await credentials()
  return {
    server,
    contextName: 'in-cluster',
    namespace: (await read(join(folder, 'namespace'))).trim() || 'default',
    ...(proxy !== undefined && { proxy }),
    credentials,
  }
}

async function read(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    throw new ClusterConfigError(
      {
        what: "cannot read the pod's service account",
        where: path,
        why: error instanceof Error ? error.message : 'it cannot be read',
        fix: 'mount a service account (automountServiceAccountToken: true), or give a kubeconfig',
      },
      { cause: error },
    )
  }
}
