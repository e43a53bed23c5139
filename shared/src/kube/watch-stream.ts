// The body of a watch: one JSON event per line, for as long as the watch lasts.
// https://kubernetes.io/docs/reference/using-api/api-concepts/#efficient-detection-of-changes
import { isRecord, own } from '../core/base/json.ts'
import { parseJson, statusError } from './answer.ts'
import type { WatchEvent } from './api.ts'
import { connectionError } from './failures.ts'

/** Far more than etcd's largest object (1.5 MiB) becomes as an event. */
export const LINE_BYTES = 16 * 1024 * 1024

const NEWLINE = 0x0a
const TYPES: ReadonlySet<string> = new Set(['ADDED', 'MODIFIED', 'DELETED', 'BOOKMARK'])

/**
 * The lines of a byte stream, without their ends, as UTF-8 text. A line is decoded when it is whole, so a character
 * that is split between chunks stays whole too. `breach` makes the error for a line beyond `limit` bytes, or cut off.
 */
export async function* linesOf(
  chunks: AsyncIterable<Buffer>,
  limit: number,
  breach: (detail: string) => Error,
): AsyncGenerator<string> {
  let parts: Buffer[] = []
  let length = 0
  for await (const chunk of chunks) {
    let from = 0
    for (let to = chunk.indexOf(NEWLINE); to >= 0; to = chunk.indexOf(NEWLINE, from)) {
      parts.push(chunk.subarray(from, to))
      if (length + to - from > limit) throw breach(`a line is longer than ${limit} bytes`)
      yield Buffer.concat(parts).toString('utf8')
      parts = []
      length = 0
      from = to + 1
    }
    if (from === chunk.length) continue
    parts.push(chunk.subarray(from))
    length += chunk.length - from
    if (length > limit) throw breach(`a line is longer than ${limit} bytes`)
  }
  if (length > 0) throw breach('it ends within a line')
}

/** A line as an event. Throws the ApiError that an ERROR event holds, or a ConnectionError (malformed). */
export function eventIn(line: string, what: string): WatchEvent {
  const event = parseJson(line)
  const type = own(event, 'type')
  const object = own(event, 'object')
  if (isRecord(object)) {
    // An ERROR holds a Status; without a code it counts as a failure of the server.
    if (type === 'ERROR') throw statusError(object, 500)
    if (isEventType(type)) return { type, object }
  }
  throw connectionError('malformed', what, { neverSent: false, detail: 'a line is no watch event' })
}

function isEventType(type: unknown): type is WatchEvent['type'] {
  return typeof type === 'string' && TYPES.has(type)
}
