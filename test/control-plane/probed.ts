// An operator's own servers under a client that never says a word, while something else goes on: whether each probe is answered.
import { holdIdle } from '../../operator/test/build/idle-connections.ts'
import type { RunningOperator } from './operator.ts'
import { pauseFor } from '@kleym/testing/wait.ts'

/** More than a server of the operator holds at a time. */
const IDLE_CONNECTIONS = 280
const BETWEEN_PROBES_MS = 200
const REQUEST_TIMEOUT = '408'

export interface Probed {
  /** Ends it all. Resolves with how many probes and scrapes were answered, and with a sentence for each that was not. */
  end(): Promise<{ readonly answered: number; readonly failed: readonly string[] }>
}

/** Holds idle connections to both servers of an operator, and asks each of them again and again. */
export async function probeUnderFlood(operator: RunningOperator): Promise<Probed> {
  const floods = await Promise.all(
    [operator.probePort, operator.metricsPort].map((port) => holdIdle(port, IDLE_CONNECTIONS)),
  )
  const failed: string[] = []
  const state = { isOver: false, answered: 0 }
  /** `call` resolves with what is wrong, or with an empty text. */
  const ask = async (what: string, call: () => Promise<string>): Promise<void> => {
    const wrong = await call().catch(String)
    // A server waits a second for a request. This machine was too busy to send it, which says nothing of the operator.
    if (wrong === REQUEST_TIMEOUT) return
    if (wrong === '') state.answered++
    else failed.push(`${what}: ${wrong}`)
  }
  const asking = (async () => {
    while (!state.isOver) {
      await ask('/healthz', async () => {
        const { status } = await operator.probe('/healthz')
        return status === 200 ? '' : String(status)
      })
      await ask('/metrics', async () =>
        (await operator.metrics()).includes('kleym_datastore_restores_total') ? '' : 'not all of them',
      )
      await pauseFor(BETWEEN_PROBES_MS)
    }
  })()
  return {
    end: async () => {
      state.isOver = true
      await asking
      for (const flood of floods) flood.end()
      return { answered: state.answered, failed }
    },
  }
}
