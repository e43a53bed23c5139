// Reads that are asked for as gzip: a server may compress them or not, and what comes out is bounded as if it had come so.
import type { ServerResponse } from 'node:http'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { clientAt, rejection } from '@kleym/testing/clusters.ts'
import type { ClientOptions } from '../../src/kube/exchange.ts'
import { PODS } from '../../src/kube/resources.ts'
import { serving } from './serving.ts'

const POD = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'one', namespace: 'team-a' } }
const WHICH = { namespace: 'team-a', name: 'one' }

/** A client of a server that answers every request so, and what the server was asked for. */
async function clientOf(answer: (response: ServerResponse) => void, options: Partial<ClientOptions> = {}) {
  const asked: string[] = []
  const server = await serving((response, { method, headers }) => {
    asked.push(`${method} ${headers['accept-encoding'] ?? 'as it is'}`)
    answer(response)
  })
  const client = clientAt(server.url, { gzip: true, ...options })
  return {
    client,
    asked,
    [Symbol.dispose]: () => {
      client.close()
      server[Symbol.dispose]()
    },
  }
}

function sendZipped(response: ServerResponse, bytes: Uint8Array): void {
  response.writeHead(200, { 'content-encoding': 'gzip' }).end(bytes)
}

const POD_ZIPPED = gzipSync(JSON.stringify(POD))

test('an answer is the same, compressed or not', async () => {
  using zipped = await clientOf((response) => sendZipped(response, POD_ZIPPED))
  using plain = await clientOf((response) => response.end(JSON.stringify(POD)))
  expect(await zipped.client.get(PODS, WHICH)).toEqual(POD)
  expect(await plain.client.get(PODS, WHICH)).toEqual(POD)
  expect([...zipped.asked, ...plain.asked]).toEqual(['GET gzip', 'GET gzip'])
})

test('an answer in several parts is whole, though its end tells of the last part alone', async () => {
  const text = JSON.stringify({ ...POD, spec: { nodeName: 'n'.repeat(10_000) } })
  const parts = [gzipSync(text.slice(0, 9000)), gzipSync(text.slice(9000))]
  using server = await clientOf((response) => sendZipped(response, Buffer.concat(parts)))
  expect(JSON.stringify(await server.client.get(PODS, WHICH))).toBe(text)
})

test('a refusal that comes compressed says what the server says', async () => {
  const status = { kind: 'Status', code: 403, reason: 'Forbidden', message: 'not you' }
  using server = await clientOf((response) =>
    response.writeHead(403, { 'content-encoding': 'gzip' }).end(gzipSync(JSON.stringify(status))),
  )
  expect(await rejection(server.client.get(PODS, WHICH))).toMatchObject({ status: 403, message: 'not you' })
})

test('a client that does not ask for it, a write and a watch ask for the answer as it is', async () => {
  using operator = await clientOf((response) => response.end(JSON.stringify(POD)), { gzip: false })
  await operator.client.get(PODS, WHICH)
  using plugin = await clientOf((response) =>
    response.end(`${JSON.stringify({ kind: 'Pod', type: 'ADDED', object: POD })}\n`),
  )
  await plugin.client.create(PODS, POD)
  for await (const _ of plugin.client.watch(PODS, { resourceVersion: '1', timeoutSeconds: 60 })) break
  expect([...operator.asked, ...plugin.asked]).toEqual(['GET as it is', 'POST as it is', 'GET as it is'])
})

test('what comes out of an answer is bounded as if it had come so', async () => {
  let dropped = 0
  using server = await clientOf((response) => sendZipped(response, gzipSync('x'.repeat(1_000_000))), {
    answers: { bytes: 10_000, values: 100 },
    onTooLarge: () => (dropped += 1),
  })
  expect(await rejection(server.client.get(PODS, WHICH))).toMatchObject({
    message: expect.stringContaining('its body is longer than 10000 bytes'),
  })
  expect(dropped).toBe(1)
})

test.each([
  ['is none', Buffer.from(JSON.stringify(POD))],
  ['is cut', POD_ZIPPED.subarray(0, POD_ZIPPED.length - 12)],
])('an answer that says gzip and %s cannot be read', async (_, bytes) => {
  using server = await clientOf((response) => sendZipped(response, bytes))
  expect(await rejection(server.client.get(PODS, WHICH))).toMatchObject({
    failure: 'malformed',
    message: expect.stringContaining('the answer cannot be read'),
  })
})
