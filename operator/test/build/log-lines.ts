// A log that keeps its lines.
import type { Log, LogKeys } from '../../src/telemetry/log.ts'

export interface LogLine {
  readonly level: keyof Log
  readonly message: string
  readonly keys: LogKeys
}

export function keptLog(): { readonly log: Log; readonly lines: LogLine[] } {
  const lines: LogLine[] = []
  const at =
    (level: keyof Log) =>
    (message: string, keys: LogKeys = {}): void =>
      void lines.push({ level, message, keys })
  return { lines, log: { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') } }
}
