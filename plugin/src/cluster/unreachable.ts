// Failures after which there is no answer to give: no cluster there, or none that knows us.
import { ClusterConfigError } from '@kleym/shared/kube/cluster.ts'
import { ApiError, ConnectionError } from '@kleym/shared/kube/errors.ts'
import { KleymError } from '../io/errors.ts'
import { configError } from './connect.ts'

/** The error for a first request that failed; undefined where others may succeed all the same. */
export function unreachable(error: unknown, name: string): KleymError | undefined {
  if (error instanceof ApiError) return error.status === 401 ? withoutCredentials(error, name) : undefined
  if (!(error instanceof ConnectionError)) throw error
  if (error.cause instanceof ClusterConfigError) return configError(error.cause)
  const parts = {
    what: 'cannot reach the cluster',
    where: name,
    why: error.message,
    fix: 'check that `kubectl version` works with the same flags, or answer from files with --offline',
  }
  return error.failure === 'timed out'
    ? new KleymError('timed-out', {
        ...parts,
        fix: 'try again, or give it longer with --request-timeout',
        cause: error,
      })
    : new KleymError('unreachable', { ...parts, cause: error })
}

function withoutCredentials(error: ApiError, name: string): KleymError {
  return new KleymError('unreachable', {
    what: 'the cluster does not know who we are',
    where: name,
    why: `the API server says: ${error.message}`,
    fix: 'log in again, or name another user with --user or another context with --context',
    cause: error,
  })
}
