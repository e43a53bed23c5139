// Log lines, whole: they are read by machines.
import { expect, test } from 'vitest'
import { ApiError, ConnectionError } from '@kleym/shared/kube/errors.ts'
import { errorClass, jsonLog, type Log, type LogLevel } from '../../src/telemetry/log.ts'
import { FakeTime } from '../build/fake-time.ts'

function lines(level: LogLevel, write: (log: Log) => void): string[] {
  const written: string[] = []
  write(jsonLog({ level, clock: new FakeTime().clock(), stream: { write: (line) => written.push(line) } }))
  return written
}

test('a line is one JSON object with level, time and message, then the keys that are defined', () => {
  const [line] = lines('info', (log) =>
    log.info('settled a binding', { binding: 'team-a/chat', reason: 'Reconciled', pool: undefined }),
  )
  expect(line).toBe(
    '{"level":"info","time":"2026-11-21T00:00:00.000Z","binding":"team-a/chat","reason":"Reconciled","message":"settled a binding"}\n',
  )
})

test.each([
  ['debug', 4],
  ['info', 3],
  ['warn', 2],
  ['error', 1],
] as const)('level %s lets %i of the four levels through', (level, count) => {
  const written = lines(level, (log) => {
    log.debug('a')
    log.info('b')
    log.warn('c')
    log.error('d')
  })
  expect(written).toHaveLength(count)
})

test('text from a cluster cannot begin a line of its own', () => {
  const written = lines('info', (log) => log.info('x', { binding: 'a\n{"level":"error"}' }))
  expect(written).toHaveLength(1)
  expect(written[0]?.trimEnd()).not.toContain('\n')
})

const conflict = new ApiError({ status: 409, reason: 'Conflict', message: 'somebody else wrote' })

const logError = (log: Log): void => log.error('x', { error: new Error('outer', { cause: conflict }) })

test('an error is its class and message; its stack shows only at level debug', () => {
  const [quiet] = lines('info', logError)
  expect(JSON.parse(quiet ?? '')).toMatchObject({ error: { class: 'Error', message: 'outer' } })
  expect(quiet).not.toContain('stack')
  const [loud] = lines('debug', logError)
  expect(JSON.parse(loud ?? '').error).toMatchObject({
    stack: expect.stringContaining('log.test.ts'),
    cause: { class: '409 Conflict', message: 'somebody else wrote' },
  })
})

test.each([
  [conflict, '409 Conflict'],
  [new ApiError({ status: 502, reason: '', message: '<html>' }), '502'],
  [new ConnectionError('timed out', 'x', { cause: undefined, neverSent: false }), 'timed out'],
  [new TypeError('x'), 'TypeError'],
  ['text', 'string'],
])('the class of %s', (error, expected) => {
  expect(errorClass(error)).toBe(expected)
})
