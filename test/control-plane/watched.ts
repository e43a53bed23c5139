// What a watch of one collection shows, as it arrives: for tests and benches that measure, which a poll's pauses would add to.
import { get as httpsGet } from 'node:https'
import { createInterface } from 'node:readline'
import { dig, type JsonRecord, isRecord } from '../../shared/src/core/base/json.ts'
import type { ControlPlane } from './control-plane.ts'

/** Whether an object is what somebody waits for. */
type Wanted = (object: JsonRecord) => boolean

export interface Watched {
  /** The next event, of those after this call, whose object is wanted. Rejects if the watch has ended. */
  next(isWanted: Wanted): Promise<void>
  end(): void
}

/** Watches a collection by its path, e.g. `/api/v1/namespaces/default/configmaps`, from now on. */
export async function watched(cp: ControlPlane, path: string): Promise<Watched> {
  const waiting = new Set<{ readonly isWanted: Wanted; readonly end: (error?: Error) => void }>()
  const headers = { authorization: `Bearer ${cp.tokenOf('admin')}` }
  const host = { host: '127.0.0.1', port: cp.port, ca: cp.ca, headers }
  const request = httpsGet({ ...host, path: `${path}?watch=true&timeoutSeconds=600` })
  const over = (): void => waiting.forEach(({ end }) => end(new Error(`the watch of ${path} has ended`)))
  await new Promise<void>((resolve, reject) => {
    request.once('error', reject)
    request.once('response', (response) => {
      resolve()
      request.on('error', over)
      createInterface({ input: response })
        .on('line', (line) => {
          const object = dig(JSON.parse(line), 'object')
          if (!isRecord(object)) return
          for (const one of waiting) if (one.isWanted(object)) one.end()
        })
        .on('error', over)
        .once('close', over)
    })
  })
  return {
    next: (isWanted) =>
      new Promise((resolve, reject) => {
        const one = {
          isWanted,
          end: (error?: Error): void => {
            waiting.delete(one)
            if (error === undefined) resolve()
            else reject(error)
          },
        }
        waiting.add(one)
      }),
    end: () => request.destroy(),
  }
}
