// Compaction through etcd's JSON gateway: https://etcd.io/docs/v3.6/dev-guide/api_grpc_gateway/ (64-bit numbers are text).
import { listAt, stringAt } from '../../shared/src/core/base/json.ts'

const ANSWER_MS = 30_000

/** A key and its value, each in base64. */
export interface Pair {
  readonly key: string
  readonly value: string
}

/** Compacts etcd at its newest revision and returns that revision. */
export async function compact(port: number): Promise<string> {
  const range = await callEtcd(port, 'kv/range', { key: base64('\0') })
  const revision = stringAt(range, 'header', 'revision')
  if (revision === undefined) throw new Error(`etcd answered without a revision: ${JSON.stringify(range)}`)
  await callEtcd(port, 'kv/compaction', { revision, physical: true })
  return revision
}

/** Makes room in an etcd that has reached its quota, and lets it write again. */
export async function free(port: number): Promise<void> {
  await compact(port)
  await callEtcd(port, 'maintenance/defragment', {})
  const answer = await callEtcd(port, 'maintenance/alarm', { action: 'GET' })
  for (const alarm of listAt(answer, 'alarms')) {
    const { memberID } = Object(alarm)
    await callEtcd(port, 'maintenance/alarm', { action: 'DEACTIVATE', memberID, alarm: 'NOSPACE' })
  }
}

/** One call of the gateway, e.g. `kv/range`. Rejects with etcd's answer where that is a failure, and without one in time. */
export async function callEtcd(port: number, path: string, body: unknown): Promise<unknown> {
  const response = await fetch(`http://127.0.0.1:${port}/v3/${path}`, {
    method: 'POST',
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(ANSWER_MS),
  })
  const answer: unknown = await response.json()
  if (!response.ok) throw new Error(`etcd ${path}: ${response.status} ${JSON.stringify(answer)}`)
  return answer
}

/** The value of a key as it is stored. Throws where there is none. */
export async function storedAt(port: number, key: string): Promise<string> {
  const answer = await callEtcd(port, 'kv/range', { key: base64(key) })
  const value = stringAt(listAt(answer, 'kvs')[0], 'value')
  if (value === undefined) throw new Error(`etcd holds nothing at ${key}`)
  return Buffer.from(value, 'base64').toString('utf8')
}

/** Stores a value, past the API server, which learns of it by its own watch. */
export async function store(port: number, key: string, value: string): Promise<void> {
  await callEtcd(port, 'kv/put', { key: base64(key), value: base64(value) })
}

function base64(text: string): string {
  return Buffer.from(text, 'utf8').toString('base64')
}
