// What the API server and the machine take by themselves: an idle client makes the writes that a new binding takes, of ConfigMaps,
// and no operator has a part in it.
import { performance } from 'node:perf_hooks'
import { setTimeout as pause } from 'node:timers/promises'
import { stringAt } from '../../shared/src/core/base/json.ts'
import type { ControlPlane } from '../../test/control-plane/control-plane.ts'
import { namespace } from '../../test/control-plane/objects.ts'
import { watched } from '../../test/control-plane/watched.ts'

const PLAIN = 'plain'
const BETWEEN_MS = 100

const MAP = { apiVersion: 'v1', kind: 'ConfigMap' } as const

/** Writes until `end`, which resolves with how long each round took, in milliseconds. */
export async function plainWrites(cp: ControlPlane): Promise<{ end(): Promise<readonly number[]> }> {
  await cp.apply([namespace(PLAIN)])
  const maps = await watched(cp, `/api/v1/namespaces/${PLAIN}/configmaps`)
  const times: number[] = []
  const state = { isOver: false }
  /** As for a binding: it is made and seen, gets its finalizer and its output, and its status is written and seen. */
  const round = async (name: string): Promise<void> => {
    const from = performance.now()
    const isMade = maps.next((object) => stringAt(object, 'metadata', 'name') === name)
    await cp.admin.apply({ ...MAP, metadata: { name, namespace: PLAIN }, data: { step: 'made' } })
    await isMade
    const id = { ...MAP, name, namespace: PLAIN }
    await cp.admin.patch(id, { data: { step: 'taken up' } })
    await cp.admin.create({ ...MAP, metadata: { name: `${name}-output`, namespace: PLAIN } })
    const isReady = maps.next((object) => stringAt(object, 'data', 'step') === `${name} is ready`)
    await cp.admin.patch(id, { data: { step: `${name} is ready` } })
    await isReady
    times.push(performance.now() - from)
  }
  const rounds = (async () => {
    for (let made = 0; !state.isOver; made++) {
      await round(`plain-${made}`)
      await pause(BETWEEN_MS)
    }
  })()
  return {
    end: async () => {
      state.isOver = true
      await rounds
      maps.end()
      return times
    },
  }
}
