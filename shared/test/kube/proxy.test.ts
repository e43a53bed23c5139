// Which proxy leads to a server, held against Go's own answers (test/go-oracle/formats).
import { expect, test } from 'vitest'
import { isRecord } from '../../src/core/base/json.ts'
import { ClusterConfigError } from '../../src/kube/cluster.ts'
import { proxyFromEnv, proxyPort } from '../../src/kube/proxy.ts'
import { disagreements, readVectors, textAt } from '../go/vectors.ts'

type Env = Readonly<Record<string, string>>

function envAt(row: readonly unknown[]): Env {
  const [env] = row
  if (!isRecord(env)) throw new Error(`no environment: ${JSON.stringify(row)}`)
  return Object.fromEntries(Object.entries(env).map(([name, value]) => [name, String(value)]))
}

/** In the words of the oracle. */
function proxyText(server: string, env: Env): string {
  try {
    const proxy = proxyFromEnv(new URL(server), env)
    if (proxy === undefined) return ''
    const { protocol, username, password, hostname } = proxy
    const user = username === '' ? '' : `${username}${password === '' ? '' : `:${password}`}@`
    return `${protocol}//${user}${hostname}:${proxyPort(proxy)}`
  } catch (error) {
    if (error instanceof ClusterConfigError) return 'refused'
    throw error
  }
}

test('proxies are chosen as Go chooses them', () => {
  expect(
    disagreements('proxies.jsonl', (row) => [row[0], row[1], proxyText(textAt(row, 1), envAt(row))]),
  ).toEqual([])
  const answers = readVectors('proxies.jsonl').map((row) => textAt(row, 2))
  expect(new Set(answers).size).toBeGreaterThan(15)
  expect(answers.filter((proxy) => proxy === '').length).toBeGreaterThan(300)
})
