// How the shipped executable reaches an API server: through proxies and past them, and what it sends on a connection that
// everybody can read. Its runtime is not that of the tests of the parts.
import { spawn } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { failure } from '@kleym/testing/faults/behaviour.ts'
import { certificatePath } from '@kleym/testing/faults/certificates.ts'
import { httpProxy, socksProxy, type TestProxy } from '@kleym/testing/faults/proxies.ts'
import { faultServer, type FaultServer } from '@kleym/testing/faults/server.ts'
import { until } from '@kleym/testing/wait.ts'
import { built, kleym, ROOT } from './plugin.ts'

/** The name that the server's certificate is for; this machine does not know it, so a proxy has to. */
const HOST = 'kubernetes.test:6443'

let folder = ''
beforeAll(built)
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kleym-way-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

async function kubeconfig(cluster: object, user: object = { token: 't' }): Promise<string> {
  const path = join(folder, 'config')
  const config = {
    clusters: [{ name: 'c', cluster: { 'certificate-authority': certificatePath('ca.crt'), ...cluster } }],
    users: [{ name: 'u', user }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
    'current-context': 'x',
  }
  await writeFile(path, JSON.stringify(config))
  return path
}

/** A server that knows nobody: the first answer ends the command. */
function server(certificate?: 'named-server'): Promise<FaultServer> {
  return faultServer(
    () => failure(401, 'Unauthorized'),
    certificate === undefined ? undefined : { certificate },
  )
}

const ASK = ['explain', '-A', '--kubeconfig']

describe('a proxy', () => {
  test.each<[string, (to: number) => Promise<TestProxy>, 'environment' | 'kubeconfig']>([
    ['an HTTP proxy of the environment', httpProxy, 'environment'],
    ['an HTTP proxy of the kubeconfig', httpProxy, 'kubeconfig'],
    ['a SOCKS proxy of the environment', socksProxy, 'environment'],
    ['a SOCKS proxy of the kubeconfig', socksProxy, 'kubeconfig'],
  ])('%s leads to the server', async (_, start, place) => {
    await using behind = await server('named-server')
    await using proxy = await start(Number(behind.url.port))
    const cluster = { server: `https://${HOST}` }
    const path = await kubeconfig(place === 'kubeconfig' ? { ...cluster, 'proxy-url': proxy.url } : cluster)
    const env = place === 'environment' ? { HTTPS_PROXY: proxy.url } : { HTTPS_PROXY: 'http://127.0.0.1:1' }
    const { stderr, code } = await kleym([...ASK, path], { env })
    expect(stderr).toContain('the cluster does not know who we are')
    expect(code).toBe(4)
    expect(new Set(proxy.tunnels)).toEqual(new Set([HOST]))
    expect(behind.seen[0]?.headers.authorization).toBe('Bearer t')
  })

  test('without a scheme is an HTTP proxy', async () => {
    await using behind = await server('named-server')
    await using proxy = await httpProxy(Number(behind.url.port))
    const env = { https_proxy: proxy.url.replace('http://', '') }
    await kleym([...ASK, await kubeconfig({ server: `https://${HOST}` })], { env })
    expect(proxy.tunnels[0]).toBe(HOST)
  })

  test.each([
    ['a name', 'https://kubernetes.test:1', '.svc,kubernetes.test'],
    ['a range of addresses', 'https://192.0.2.255:1', '.svc,192.0.2.0/24'],
    ['this machine', 'https://localhost:1', ''],
  ])('that NO_PROXY excepts %s from is not asked', async (_, there, except) => {
    await using proxy = await httpProxy(1)
    const env = { HTTPS_PROXY: proxy.url, HTTP_PROXY: proxy.url, NO_PROXY: except }
    const args = [...ASK, await kubeconfig({ server: there }), '--request-timeout=2s']
    expect((await kleym(args, { env })).stdout).toBe('')
    expect(proxy.tunnels).toEqual([])
  })
})

test('a connection without TLS carries no token, and the person hears of it before the answer', async () => {
  await using plain = await server()
  const path = await kubeconfig({ server: plain.url.host }, { token: 't', as: 'jörg-愛' })
  const { stderr, code } = await kleym([...ASK, path])
  expect(stderr).toMatch(
    /^warning: http:\/\/127\.0\.0\.1:\d+ is no TLS connection, so a bearer token of the user is not sent; give an https:\/\/ address\n/,
  )
  expect(code).toBe(4)
  expect(plain.seen.length).toBeGreaterThan(0)
  for (const { headers } of plain.seen) {
    expect(headers).not.toHaveProperty('authorization')
    expect(Buffer.from(String(headers['impersonate-user']), 'latin1').toString('utf8')).toBe('jörg-愛')
  }
})

test('the operator sends no token without TLS either, and its log says so', async () => {
  await using plain = await server()
  const path = await kubeconfig({ server: plain.url.origin })
  const flags = [
    '--trust-domain=example.org',
    '--leader-elect=false',
    `--kubeconfig=${path}`,
    '--health-probe-bind-address=0',
    '--metrics-bind-address=0',
  ]
  const child = spawn(process.execPath, [join(ROOT, 'operator/src/main.ts'), ...flags], { env: {} })
  let said = ''
  child.stdout.setEncoding('utf8').on('data', (part: string) => (said += part))
  try {
    await until(() => plain.seen.length > 0 && said !== '', 'the operator to ask, and to say something')
  } finally {
    child.kill('SIGKILL')
  }
  expect(said).toContain('is not TLS, so credentials are not sent; give an https:// address')
  for (const { headers } of plain.seen) expect(headers).not.toHaveProperty('authorization')
})

test('--as with a line feed is wrong usage', async () => {
  const { stderr, code } = await kleym(['explain', '-A', '--as', 'her\nX-Injected: yes'])
  expect(stderr).toContain('error: the value of --as cannot be sent')
  expect(code).toBe(2)
})
