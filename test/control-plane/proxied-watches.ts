// The watches that are open through a proxy, and what can be done to them.
import type { IncomingMessage, ServerResponse } from 'node:http'

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
