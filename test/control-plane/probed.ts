// An operator's own servers under a client that never says a word, while something else goes on: whether each probe is answered.
import { holdIdle } from '../../operator/test/build/idle-connections.ts'
import type { RunningOperator } from './operator.ts'
import { pauseFor } from '@kleym/testing/wait.ts'

/** More than a server of the operator holds at a time. */
const IDLE_CONNECTIONS = 280
const BETWEEN_PROBES_MS = 200

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
  const ask = async (what: string, call: () => Promise<boolean>): Promise<void> => {
    const isWell = await call().catch((error: unknown) => {
      failed.push(`${what}: ${String(error)}`)
      return true
    })
    if (!isWell) failed.push(`${what}: not as it should be`)
    state.answered++
  }
  const asking = (async () => {
    while (!state.isOver) {
      await ask('/healthz', async () => (await operator.probe('/healthz')).status === 200)
      await ask('/metrics', async () => (await operator.metrics()).includes('kleym_datastore_restores_total'))
      await pauseFor(BETWEEN_PROBES_MS)
    }
  })()
  return {
    end: async () => {
      state.isOver = true
      await asking
      for (const flood of floods) flood.end()
      return { answered: state.answered - failed.length, failed }
    },
  }
}
