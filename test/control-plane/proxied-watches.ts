// The watches that are open through a proxy, and what can be done to them.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { until } from '@kleym/testing/wait.ts'

/** What an operator watches: bindings, outputs, two kinds of pools, two of objectives, and CRDs. */
const OPERATOR_WATCHES = 7

/** What can be done to the watches that are open now. */
export interface OpenWatches {
  readonly count: number
  /** Ends them as a server does whose timeout has come. */
  end(): void
  /** Breaks their connections. */
  drop(): void
  /** Passes nothing more of them, with the connections open; later watches are not touched. */
  stall(): void
  /** Goes on with what is stalled, bytes held back included. */
  resume(): void
}

/** One watch whose answer has begun. */
export interface OpenWatch {
  readonly path: string
  readonly answer: IncomingMessage
  readonly response: ServerResponse
}

/** What can be done to all of these watches at once. */
export function openWatches(watches: readonly OpenWatch[]): OpenWatches {
  const each = (act: (watch: OpenWatch) => void) => (): void => watches.forEach(act)
  return {
    count: watches.length,
    end: each(({ answer: from, response }) => {
      from.unpipe(response)
      response.end()
    }),
    drop: each(({ response }) => response.destroy()),
    stall: each(({ answer: from, response }) => {
      from.unpipe(response)
      from.pause()
    }),
    resume: each(({ answer: from, response }) => from.pipe(response)),
  }
}

/**
 * Waits until an operator watches all of its kinds at the same moment, and returns these watches. Each ends every half minute or
 * so and begins anew: at a moment of one's own choice any of them may be missing.
 */
export function allWatches(proxy: { watches(): OpenWatches }): Promise<OpenWatches> {
  return until(() => {
    const open = proxy.watches()
    if (open.count < OPERATOR_WATCHES) throw new Error(`${open.count} of ${OPERATOR_WATCHES} are open`)
    return open
  }, 'all kinds to be watched')
}
