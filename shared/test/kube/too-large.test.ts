// An answer that is larger than its reader takes: what had come of it is dropped at once, and nothing of one that says how long it is.
import type { ServerResponse } from 'node:http'
import { expect, test } from 'vitest'
import { clientAt, rejection } from '@kleym/testing/clusters.ts'
import { PODS } from '../../src/kube/resources.ts'
import { serving } from './serving.ts'

const LIMIT = 1000

test.each<[string, (response: ServerResponse) => void]>([
  // Nothing of it ever comes: only its head says how long it is.
  [
    'says so in its head',
    (response) => response.writeHead(200, { 'content-length': String(LIMIT + 1) }).flushHeaders(),
  ],
  ['is so when it has come', (response) => response.writeHead(200).write('x'.repeat(LIMIT + 1))],
])('an answer that is too large, and that %s', async (_, answer) => {
  using server = await serving(answer)
  let dropped = 0
  const client = clientAt(server.url, {
    timeoutMs: 5000,
    answers: { bytes: LIMIT, values: 100 },
    onTooLarge: () => (dropped += 1),
  })
  expect(await rejection(client.get(PODS, { namespace: 'team-a', name: 'one' }))).toMatchObject({
    message: expect.stringContaining(`its body is longer than ${LIMIT} bytes`),
  })
  expect(dropped).toBe(1)
  client.close()
})
