// `--check` as a process: its exit code, and a reader that leaves.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { expect, test } from 'vitest'
import { json, type Behaviour } from '@kleym/testing/faults/behaviour.ts'
import { faultServer, type Seen } from '@kleym/testing/faults/server.ts'

const MAIN = join(import.meta.dirname, '../../src/main.ts')

/** An API server that grants everything and serves nothing. */
function answer({ path, method }: Seen): Behaviour {
  if (path === '/version') return json({ gitVersion: 'v1.36.3' })
  if (method !== 'POST') return json({ groups: [], resources: [] })
  return json({ kind: 'SelfSubjectAccessReview', status: { allowed: true } })
}

interface Ended {
  readonly code: unknown
  readonly stdout: string
  readonly stderr: string
}

/** Checks that server; `leaves` stops reading with the first that comes. */
async function checked({ leaves }: { readonly leaves: boolean }): Promise<Ended> {
  await using server = await faultServer(answer)
  const folder = mkdtempSync(join(tmpdir(), 'kleym-check-'))
  const kubeconfig = join(folder, 'kubeconfig')
  const config = {
    'current-context': 'a',
    contexts: [{ name: 'a', context: { cluster: 'a', user: 'a' } }],
    clusters: [{ name: 'a', cluster: { server: server.url.origin } }],
    users: [{ name: 'a', user: {} }],
  }
  writeFileSync(kubeconfig, JSON.stringify(config))
  const flags = ['--trust-domain=example.org', '--leader-elect=false', `--kubeconfig=${kubeconfig}`]
  const child = spawn(process.execPath, [MAIN, ...flags, '--check'])
  let [stdout, stderr] = ['', '']
  child.stdout.setEncoding('utf8').on('data', (part: string) => {
    stdout += part
    if (leaves) child.stdout.destroy()
  })
  child.stderr.setEncoding('utf8').on('data', (part: string) => (stderr += part))
  const [code]: readonly unknown[] = await once(child, 'close')
  rmSync(folder, { recursive: true })
  return { code, stdout, stderr }
}

test('where kinds are missing it says so and how to have them, and ends with 1', async () => {
  const { code, stdout, stderr } = await checked({ leaves: false })
  expect({ code, stderr }).toEqual({ code: 1, stderr: '' })
  const words = stdout.split('\n').map((line) => line.split(' ')[0])
  const missing = ['FAILED', '']
  expect(words).toEqual(['ok', 'ok', ...missing, ...missing, ...missing, 'note', 'note', ''])
})

test('where its reader has gone it ends with 1, and no stack', async () => {
  expect(await checked({ leaves: true })).toMatchObject({ code: 1, stderr: '' })
})
