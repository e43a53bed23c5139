// Who we are to an API server, held against what kubectl sends: client-go's clientcmd and transports (test/go-oracle/kubeconfig).
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { isRecord, own, stringAt, type JsonRecord } from '../../src/core/base/json.ts'
import { ClusterConfigError } from '../../src/kube/cluster.ts'
import { loadCluster } from '../../src/kube/kubeconfig.ts'
import type { ClusterOverrides } from '../../src/kube/overrides.ts'
import { readVectors } from '../go/vectors.ts'

const ROWS = readVectors('kubeconfigs.jsonl')

let folder = ''
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kleym-headers-'))
  await writeFile(join(folder, 'token-file'), 'from-file\n')
})
afterAll(() => rm(folder, { recursive: true, force: true }))

test('there are questions of every kind', () => {
  expect(ROWS.length).toBeGreaterThan(500)
  const refused = ROWS.filter(([, answer]) => answer === 'refused').length
  expect(refused).toBeGreaterThan(100)
  expect(refused).toBeLessThan(ROWS.length - 100)
})

describe('the headers of a request are those of kubectl, or both refuse', () => {
  test('in every question', async () => {
    const differing: string[] = []
    for (const [question, expected] of ROWS) {
      // One file at a time: the next question writes it anew.
      const answer = await answerTo(question)
      if (canonical(answer) !== canonical(expected))
        differing.push(JSON.stringify([question, expected, answer]))
    }
    expect(differing).toEqual([])
  })
})

async function answerTo(question: unknown): Promise<unknown> {
  const path = join(folder, 'config')
  const config = {
    clusters: [{ name: 'c', cluster: { server: stringAt(question, 'server') } }],
    users: [{ name: 'u', user: own(question, 'user') }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
    'current-context': 'x',
  }
  await writeFile(path, JSON.stringify(config))
  try {
    const cluster = await loadCluster({
      kubeconfigPath: path,
      env: {},
      overrides: overridesOf(own(question, 'flags')),
    })
    const { headers } = await cluster.credentials()
    return Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name, [value].flat().map(asSent)]),
    )
  } catch (error) {
    if (error instanceof ClusterConfigError) return 'refused'
    throw error
  }
}

function overridesOf(flags: unknown): ClusterOverrides {
  const groups = own(flags, 'asGroups')
  return {
    token: stringAt(flags, 'token'),
    as: stringAt(flags, 'as'),
    asGroups: Array.isArray(groups) ? groups.map(String) : undefined,
    asUid: stringAt(flags, 'asUid'),
  }
}

/** Node sends each character of a header as one byte. */
function asSent(value: string): string {
  return Buffer.from(value, 'latin1').toString('utf8')
}

function canonical(value: unknown): string {
  if (!isRecord(value)) return JSON.stringify(value)
  const record: JsonRecord = value
  return JSON.stringify(Object.entries(record).toSorted(([a], [b]) => (a < b ? -1 : 1)))
}
