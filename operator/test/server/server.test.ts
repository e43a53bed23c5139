// The probes and the metrics over real sockets, with clients that mean well and clients that do not.
import { readFile } from 'node:fs/promises'
import { get as httpGet, request as httpRequest, type IncomingMessage, type RequestOptions } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterEach, describe, expect, test } from 'vitest'
import { CERTIFICATE_LOOK_MS } from '../../src/server/certificate.ts'
import { DEFAULT_LIMITS, PROBE_LIMITS, type RunningServer } from '../../src/server/http.ts'
import { TooManyReviews, type Access } from '../../src/server/metrics-access.ts'
import { serveMetrics, serveProbes, type SecureOptions } from '../../src/server/server.ts'
import { FakeTime, settled } from '../build/fake-time.ts'
import { holdIdle } from '../build/idle-connections.ts'
import { keptLog } from '../build/log-lines.ts'
import { until } from '@kleym/testing/wait.ts'

const HERE = { host: '127.0.0.1', port: 0 }
const running: RunningServer[] = []

afterEach(async () => {
  await Promise.all(running.splice(0).map((server) => server.close()))
})

async function probes(
  notReady: () => string | undefined = () => undefined,
  limits = PROBE_LIMITS,
): Promise<RunningServer> {
  const server = await serveProbes({ address: HERE, notReady, log: keptLog().log, limits })
  running.push(server)
  return server
}

interface Answer {
  readonly status: number | undefined
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

function ask(port: number, path: string, options: RequestOptions & { body?: string } = {}): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const request = httpRequest({ host: '127.0.0.1', port, path, agent: false, ...options }, (response) => {
      void text(response).then((body) =>
        resolve({ status: response.statusCode, headers: response.headers, body }),
      )
    })
    request.on('error', reject)
    request.end(options.body)
  })
}

/** Writes raw bytes and resolves with all that comes back until the connection ends. */
function raw(port: number, bytes: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(bytes))
    let received = ''
    socket.on('data', (chunk) => {
      received += chunk.toString('latin1')
    })
    socket.on('close', () => resolve(received))
    socket.on('error', (error) => {
      if (!('code' in error) || error.code !== 'ECONNRESET') reject(error)
    })
  })
}

const OK = { status: 200, body: 'ok\n' }

function breaks(): never {
  throw new TypeError('a bug')
}

describe('the probes', () => {
  test('say that the process is alive, and whether it is ready or why not', async () => {
    let why: string | undefined = 'the first list of InferencePools is not there'
    const { port } = await probes(() => why)
    expect(await ask(port, '/healthz')).toMatchObject({ status: 200, body: 'ok\n' })
    expect(await ask(port, '/readyz')).toMatchObject({
      status: 503,
      body: 'not ready: the first list of InferencePools is not there\n',
    })
    why = undefined
    expect(await ask(port, '/readyz?verbose')).toMatchObject({ status: 200, body: 'ok\n' })
  })

  test.each(['/', '/metrics', '/healthz/', '/__proto__', '//healthz', '/%68ealthz', '/healthz%00'])(
    'know no path %s',
    async (path) => {
      const { port } = await probes()
      expect((await ask(port, path)).status).toBe(404)
    },
  )

  test.each(['POST', 'PUT', 'DELETE', 'OPTIONS', 'PROPFIND'])('take no %s', async (method) => {
    const { port } = await probes()
    const answer = await ask(port, '/healthz', { method })
    expect(answer).toMatchObject({ status: 405, headers: { allow: 'GET, HEAD' } })
  })

  test('end their connections: the next probe comes on another', async () => {
    const { port } = await probes()
    for (const path of ['/healthz', '/readyz', '/nothing'])
      expect((await ask(port, path, { headers: { connection: 'keep-alive' } })).headers).toMatchObject({
        connection: 'close',
      })
  })

  test('answer HEAD without a body', async () => {
    const { port } = await probes()
    expect(await ask(port, '/healthz', { method: 'HEAD' })).toMatchObject({ status: 200, body: '' })
  })

  test('end the connection of whoever sends a body', async () => {
    const { port } = await probes()
    const answer = await ask(port, '/healthz', {
      method: 'GET',
      headers: { 'Content-Length': 5 },
      body: 'hello',
    })
    expect(answer).toMatchObject({ status: 200, headers: { connection: 'close' } })
  })

  test('go on after a bug in the answer, which is a 500 and a line in the log', async () => {
    const { log, lines } = keptLog()
    const server = await serveProbes({ address: HERE, notReady: breaks, log })
    running.push(server)
    expect(await ask(server.port, '/readyz')).toMatchObject({ status: 500, body: 'internal error\n' })
    expect(lines).toMatchObject([{ level: 'error', message: 'could not answer a request' }])
    expect((await ask(server.port, '/healthz')).status).toBe(200)
  })
})

describe('a hostile client', () => {
  test.each([
    [
      'huge headers',
      `GET /healthz HTTP/1.1\r\nHost: x\r\nX: ${'a'.repeat(100_000)}\r\n\r\n`,
      /^HTTP\/1\.1 431 /,
    ],
    ['no HTTP', 'hello\r\n\r\n', /^HTTP\/1\.1 400 /],
    ['a method that does not exist', 'FROB /healthz HTTP/1.1\r\nHost: x\r\n\r\n', /^HTTP\/1\.1 400 /],
    ['no host', 'GET /healthz HTTP/1.1\r\n\r\n', /^HTTP\/1\.1 400 /],
    [
      'a length and chunks',
      'POST /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n',
      /^HTTP\/1\.1 400 /,
    ],
    ['a tunnel', 'CONNECT /healthz HTTP/1.1\r\nHost: x\r\n\r\n', /^(HTTP\/1\.1 4\d\d |$)/],
  ])('that sends %s is turned away, and others are served', async (_, bytes, expected) => {
    const { port } = await probes()
    expect(await raw(port, bytes)).toMatch(expected)
    expect((await ask(port, '/healthz')).status).toBe(200)
  })

  test.each([
    ['headers', 'GET /healthz HTTP/1.1\r\nHost: x\r\n'],
    ['a body', 'POST /nothing HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nhal'],
  ])('that never ends its %s is cut off', async (_, bytes) => {
    const { port } = await probes(undefined, { ...DEFAULT_LIMITS, headersMs: 30, requestMs: 60, checkMs: 10 })
    expect(await raw(port, bytes)).toMatch(/^HTTP\/1\.1 4\d\d /)
  })

  test('that holds 280 idle connections, and opens each again that it loses, fails no probe', async () => {
    const { port } = await probes()
    const flood = await holdIdle(port, 280)
    try {
      for (let probe = 0; probe < 60; probe++) expect(await ask(port, '/healthz')).toMatchObject(OK)
      expect(flood.lost).toBeGreaterThanOrEqual(60)
    } finally {
      flood.end()
    }
  })

  test('gets no more connections than there are: the one goes that has been idle longest', async () => {
    const { port } = await probes(undefined, { ...DEFAULT_LIMITS, connections: 2 })
    const ended: string[] = []
    const idle = async (name: string): Promise<Socket> => {
      const socket = connect(port, '127.0.0.1').on('close', () => ended.push(name))
      const answered = new Promise((resolve) => socket.once('data', resolve))
      // The server has taken a connection when it answers on it.
      socket.write('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n')
      await answered
      return socket
    }
    const first = await idle('first')
    await idle('second')
    const again = new Promise((resolve) => first.once('data', resolve))
    first.write('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n')
    await again
    await idle('third')
    await until(() => ended.length > 0, 'a connection to end')
    expect(ended).toEqual(['second'])
  })

  test('gets none while all are being answered', async () => {
    const asked = Promise.withResolvers<void>()
    const release = Promise.withResolvers<void>()
    const render = async (): Promise<{ contentType: string; body: string }> => {
      asked.resolve()
      await release.promise
      return { contentType: 'text/plain', body: 'late' }
    }
    const limits = { ...DEFAULT_LIMITS, connections: 1 }
    const server = await serveMetrics({ address: HERE, render, log: keptLog().log, limits })
    running.push(server)
    const answered = ask(server.port, '/metrics')
    await asked.promise
    expect(await raw(server.port, 'GET / HTTP/1.1\r\nHost: x\r\n\r\n')).toBe('')
    release.resolve()
    expect(await answered).toMatchObject({ status: 200, body: 'late' })
  })

  test('loses a connection on which nothing comes within a second or so', async () => {
    const { port } = await probes()
    const from = performance.now()
    expect(await raw(port, '')).toMatch(/^(?:HTTP\/1\.1 408 |$)/)
    expect(performance.now() - from).toBeLessThan(3_000)
  })

  test('does not keep the server from closing', async () => {
    const server = await probes()
    const { port } = server
    const ended = raw(port, 'GET /healthz HTTP/1.1\r\nHost: x\r\n')
    await ask(port, '/healthz')
    await server.close()
    await ended
    await expect(ask(port, '/healthz')).rejects.toMatchObject({ code: 'ECONNREFUSED' })
  })
})

describe('an address', () => {
  test('that is taken is one line that says where, why and what to do', async () => {
    const { port } = await probes()
    const taken = { host: '127.0.0.1', port }
    await expect(
      serveProbes({ address: taken, notReady: () => undefined, log: keptLog().log }),
    ).rejects.toThrow(
      `--health-probe-bind-address=127.0.0.1:${port}: cannot listen: something else listens there; free the port, or give another`,
    )
    const metrics = serveMetrics({ address: taken, render, log: keptLog().log })
    await expect(metrics).rejects.toThrow(`--metrics-bind-address=127.0.0.1:${port}: cannot listen`)
  })

  test('that this machine does not have is told apart', async () => {
    const address = { host: '192.0.2.1', port: 0 }
    await expect(serveProbes({ address, notReady: () => undefined, log: keptLog().log })).rejects.toThrow(
      '--health-probe-bind-address=192.0.2.1:0: cannot listen: this machine has no such address',
    )
  })
})

const render = async (): Promise<{ contentType: string; body: string }> => ({
  contentType: 'text/plain; version=0.0.4',
  body: 'kleym_up 1\n',
})

const tls = (name: string): string => join(import.meta.dirname, 'tls', name)

test('metrics are plain HTTP where nothing else is asked for', async () => {
  const server = await serveMetrics({ address: HERE, render, log: keptLog().log })
  running.push(server)
  expect(await ask(server.port, '/metrics')).toMatchObject({
    status: 200,
    body: 'kleym_up 1\n',
    headers: { 'content-type': 'text/plain; version=0.0.4' },
  })
})

test('metrics of scrapes that come together are rendered once', async () => {
  let renders = 0
  const counted = async (): ReturnType<typeof render> => {
    renders += 1
    return render()
  }
  const server = await serveMetrics({ address: HERE, render: counted, log: keptLog().log })
  running.push(server)
  // Of one connection, in one piece.
  const requests = 'GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(20)
  const answers = await raw(server.port, `${requests}GET /metrics HTTP/1.0\r\n\r\n`)
  expect(answers.match(/kleym_up 1/g)).toHaveLength(21)
  expect(renders).toBeLessThan(5)
  const before = renders
  await ask(server.port, '/metrics')
  expect(renders, 'a later one is rendered anew').toBe(before + 1)
})

async function secured(review: (token: string) => Promise<Access>, over: Partial<SecureOptions> = {}) {
  const { log, lines } = keptLog()
  const time = new FakeTime()
  const server = await serveMetrics({
    address: HERE,
    render,
    log,
    secure: {
      files: { certFile: tls('first.crt'), keyFile: tls('first.key') },
      readFile: (path) => readFile(path, 'utf8'),
      reviewer: { review },
      clock: time.clock(),
      ...over,
    },
  })
  running.push(server)
  return { port: server.port, lines, time }
}

async function askSecurely(port: number, authorization?: string, certificate = 'first.crt'): Promise<Answer> {
  const ca = await readFile(tls(certificate), 'utf8')
  return new Promise((resolve, reject) => {
    const headers = authorization === undefined ? {} : { authorization }
    const options = { host: '127.0.0.1', port, path: '/metrics', agent: false, ca, headers } as const
    const request = httpsRequest(options, (response) => {
      void text(response).then((body) =>
        resolve({ status: response.statusCode, headers: response.headers, body }),
      )
    })
    request.on('error', reject)
    request.end()
  })
}

describe('secure metrics', () => {
  test.each([
    ['allowed', 200, 'kleym_up 1\n'],
    ['unknown token', 401, 'unauthorized: send a bearer token\n'],
    ['forbidden', 403, 'forbidden: needs get of /metrics\n'],
  ] as const)('answer a token that is %s with %i', async (access, status, body) => {
    const seen: string[] = []
    const { port } = await secured(async (token) => {
      seen.push(token)
      return access
    })
    expect(await askSecurely(port, 'Bearer abc.DEF-1_2~3+/==')).toMatchObject({ status, body })
    expect(seen).toEqual(['abc.DEF-1_2~3+/=='])
  })

  test.each([
    undefined,
    '',
    'Bearer',
    'Bearer ',
    'Basic abc',
    'Bearer a b',
    'Bearer a"b',
    'Bearer =a',
    'BearerX abc',
  ])('ask nobody about the header %j', async (authorization) => {
    const { port } = await secured(() => Promise.reject(new Error('asked')))
    expect(await askSecurely(port, authorization)).toMatchObject({
      status: 401,
      headers: { 'www-authenticate': 'Bearer' },
    })
  })

  test('give nothing away when nobody can be asked, and say so once', async () => {
    const { port, lines } = await secured(() => Promise.reject(new Error('no API server')))
    expect(await askSecurely(port, 'Bearer a')).toMatchObject({
      status: 503,
      headers: { 'retry-after': '5' },
    })
    expect(await askSecurely(port, 'Bearer b')).toMatchObject({ status: 503 })
    expect(lines.map(({ message }) => message)).toEqual(['could not review a token for the metrics'])
  })

  test('turn away politely when too many tokens are under review', async () => {
    const { port, lines } = await secured(() => Promise.reject(new TooManyReviews('too many')))
    expect(await askSecurely(port, 'Bearer a')).toMatchObject({
      status: 503,
      headers: { 'retry-after': '1' },
    })
    expect(lines).toEqual([])
  })

  test('are not served over plain HTTP', async () => {
    const { port } = await secured(async () => 'allowed')
    const plain = new Promise((resolve, reject) => {
      httpGet({ host: '127.0.0.1', port, path: '/metrics', agent: false }, resolve).on('error', reject)
    })
    await expect(plain).rejects.toMatchObject({ code: 'ECONNRESET' })
  })

  test('need files that hold a certificate with its key', async () => {
    const files = { certFile: tls('first.crt'), keyFile: tls('second.key') }
    await expect(secured(async () => 'allowed', { files })).rejects.toThrow(
      /^--metrics-tls-cert-file=.*, --metrics-tls-key-file=.*: cannot be used: .*; give a PEM certificate/,
    )
    const gone = { certFile: tls('none.crt'), keyFile: tls('none.key') }
    await expect(secured(async () => 'allowed', { files: gone })).rejects.toThrow(/cannot be used: ENOENT/)
  })

  test('come with a new certificate once both files are replaced, and with the old one until then', async () => {
    const current = { cert: 'first', key: 'first' }
    let reads = 0
    const { port, lines, time } = await secured(async () => 'allowed', {
      files: { certFile: 'cert', keyFile: 'key' },
      readFile: async (path) => {
        reads += 1
        const read = await readFile(
          tls(path === 'cert' ? `${current.cert}.crt` : `${current.key}.key`),
          'utf8',
        )
        return read
      },
    })
    const look = async (): Promise<void> => {
      const wanted = reads + 2
      await time.advance(CERTIFICATE_LOOK_MS)
      const isDone = (): boolean => reads >= wanted && time.pending > 0
      for (let turns = 0; !isDone() && turns < 10_000; turns++) await settled()
    }
    expect((await askSecurely(port, 'Bearer a', 'first.crt')).status).toBe(200)
    current.cert = 'second'
    await look()
    await look()
    expect((await askSecurely(port, 'Bearer a', 'first.crt')).status).toBe(200)
    current.key = 'second'
    await look()
    expect((await askSecurely(port, 'Bearer a', 'second.crt')).status).toBe(200)
    await expect(askSecurely(port, 'Bearer a', 'first.crt')).rejects.toMatchObject({
      code: 'DEPTH_ZERO_SELF_SIGNED_CERT',
    })
    expect(lines.map(({ level, message }) => `${level}: ${message}`)).toEqual([
      'warn: the certificate of the metrics cannot be used; the last one stays',
      'info: serving metrics with a new certificate',
    ])
  })
})
