// The process that `lists.ts` measures: all caches of an operator, filled twice from the server at a port, as by a start and by a
// take-over. It prints the most memory that it had, in MiB.
import process from 'node:process'
import { createApi } from '@kleym/shared/kube/client.ts'
import { systemClock } from '@kleym/shared/kube/clock.ts'
import { createCaches } from '../../operator/src/caches/caches.ts'

const server = new URL(`http://127.0.0.1:${process.argv[2] ?? ''}`)
const credentials = async () => ({ rejectUnauthorized: true, headers: {} })
const api = createApi(
  { server, contextName: 'bench', namespace: 'default', credentials },
  { userAgent: 'bench', clock: systemClock },
)
const caches = createCaches({
  onError: (error) => {
    throw error
  },
})
const kinds = [caches.bindings, caches.outputs, ...caches.pools.values(), ...caches.objectives.values()]
for (let times = 0; times < 2; times++) await Promise.all(kinds.map((kind) => kind.catchUp(api)))
process.stdout.write(String(process.resourceUsage().maxRSS / 1024))
api.close()
