// Logs: one JSON object per line, a constant message and keys, so that machines can count and people can grep. An error is
// logged as its class, what the API server said, and its message; the stack only at level `debug`.
import { pino } from 'pino'
import type { Clock } from '@kleym/shared/kube/clock.ts'
import { ApiError, ConnectionError } from '@kleym/shared/kube/errors.ts'

/** From the most to the least talkative. */
export const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const
export type LogLevel = (typeof LOG_LEVELS)[number]

/** What a line says beside its message; keys that are undefined are left out. */
export interface LogKeys {
  /** `<namespace>/<name>`. */
  readonly binding?: string | undefined
  readonly pool?: string | undefined
  readonly objective?: string | undefined
  readonly mode?: string | undefined
  readonly spiffeID?: string | undefined
  readonly clusterSPIFFEID?: string | undefined
  readonly condition?: string | undefined
  readonly reason?: string | undefined
  readonly error?: unknown
  readonly [more: string]: unknown
}

/** The operator's log. `message` is constant: what differs goes into the keys. */
export interface Log {
  debug(message: string, keys?: LogKeys): void
  info(message: string, keys?: LogKeys): void
  warn(message: string, keys?: LogKeys): void
  error(message: string, keys?: LogKeys): void
}

export interface LogOptions {
  readonly level: LogLevel
  readonly clock: Clock
  /** Takes one line with its line feed; written at once, so that the last line before an exit is there. */
  readonly stream: { write(line: string): unknown }
}

/** A log of JSON lines: `level`, `time` (RFC 3339, UTC), `message`, then the keys. */
export function jsonLog({ level, clock, stream }: LogOptions): Log {
  const logger = pino(
    {
      level,
      base: null,
      messageKey: 'message',
      timestamp: () => `,"time":"${clock.now().toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
    },
    { write: (line: string) => void stream.write(line) },
  )
  const stacks = level === 'debug'
  const line =
    (at: LogLevel) =>
    (message: string, keys: LogKeys = {}): void =>
      logger[at](keys.error === undefined ? keys : { ...keys, error: describe(keys.error, stacks) }, message)
  return { debug: line('debug'), info: line('info'), warn: line('warn'), error: line('error') }
}

/**
 * The class of an error, in words from a closed set: `409 Conflict`, `timed out`, `TypeError`. For what is logged once per
 * class, and for metrics.
 */
export function errorClass(error: unknown): string {
  if (error instanceof ApiError) return `${error.status} ${error.reason}`.trimEnd()
  if (error instanceof ConnectionError) return error.failure
  return error instanceof Error ? error.name : typeof error
}

function describe(error: unknown, stacks: boolean): unknown {
  const facts = { class: errorClass(error), message: error instanceof Error ? error.message : String(error) }
  if (!stacks || !(error instanceof Error)) return facts
  const cause = error.cause === undefined ? {} : { cause: describe(error.cause, stacks) }
  return { ...facts, stack: error.stack, ...cause }
}
