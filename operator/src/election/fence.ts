// The fence around every write of the controller: a process that does not lead any more sends nothing (docs/operator.md).
import type { Api } from '@kleym/shared/kube/api.ts'
import { ConnectionError } from '@kleym/shared/kube/errors.ts'
import type { Leadership } from './election.ts'

/** The same calls. While this process does not lead, writes are refused and never sent. */
export function fenced(api: Api, { isLeader }: Leadership): Api {
  const asLeader = async <T>(write: () => Promise<T>): Promise<T> => {
    if (isLeader()) return write()
    throw new ConnectionError('aborted', 'this process does not lead, and writes nothing', {
      neverSent: true,
    })
  }
  return {
    get: (...call) => api.get(...call),
    pages: (...call) => api.pages(...call),
    list: (...call) => api.list(...call),
    watch: (...call) => api.watch(...call),
    create: (...call) => asLeader(() => api.create(...call)),
    update: (...call) => asLeader(() => api.update(...call)),
    patch: (...call) => asLeader(() => api.patch(...call)),
    delete: (...call) => asLeader(() => api.delete(...call)),
  }
}
