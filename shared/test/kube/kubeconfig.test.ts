// Kubeconfigs and service accounts as files, used against a real TLS server.
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import process from 'node:process'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { failure, json } from '@kleym/testing/faults/behaviour.ts'
import { certificate, certificatePath } from '@kleym/testing/faults/certificates.ts'
import { httpProxy, socksProxy, type TestProxy } from '@kleym/testing/faults/proxies.ts'
import { faultServer, type FaultTls, type Seen } from '@kleym/testing/faults/server.ts'
import { ClusterConfigError } from '../../src/kube/cluster.ts'
import { loadCluster } from '../../src/kube/kubeconfig.ts'
import { clientOf, rejection } from '@kleym/testing/clusters.ts'
import { FakeClock } from '@kleym/testing/fake-clock.ts'

let folder = ''
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kleym-kubeconfig-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

interface Config {
  readonly cluster: object
  readonly user?: object
  readonly context?: object
}

/** Writes a kubeconfig; JSON is YAML. */
async function write(name: string, { cluster, user = {}, context = {} }: Config): Promise<string> {
  const path = join(folder, name)
  const config = {
    clusters: [{ name: 'c', cluster }],
    users: [{ name: 'u', user }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u', ...context } }],
    'current-context': 'x',
  }
  await writeFile(path, JSON.stringify(config))
  return path
}

const CA = { 'certificate-authority': certificatePath('ca.crt') }
const VERSION = { gitVersion: 'v1' }
const SERVER: FaultTls = { certificate: 'server' }

/** Loads a kubeconfig and asks the server for its version; what the server saw, or the error. */
async function ask(config: Omit<Config, 'cluster'> & { readonly cluster?: object }, tls?: FaultTls) {
  await using server = await faultServer(() => json({ gitVersion: 'v1' }), tls)
  const path = await write('config', { ...config, cluster: { server: server.url.href, ...config.cluster } })
  const cluster = await loadCluster({ kubeconfigPath: path, env: {} })
  const client = clientOf(cluster)
  const outcome: unknown = await client.raw('GET', '/version').catch((error: unknown) => error)
  client.close()
  const [seen] = server.seen
  return { outcome, seen }
}

const base64 = (text: string): string => Buffer.from(text).toString('base64')

describe('TLS', () => {
  const client = {
    'client-certificate': certificatePath('client.crt'),
    'client-key': certificatePath('client.key'),
  }
  const clientData = {
    'client-certificate-data': base64(certificate('client.crt')),
    'client-key-data': base64(certificate('client.key')),
  }
  interface Case {
    readonly says: string
    readonly cluster: object
    readonly user?: object
    readonly tls: FaultTls
    readonly outcome: object
  }
  const untrusted = { name: 'ConnectionError', failure: 'tls', neverSent: true }
  const cases: readonly Case[] = [
    { says: 'a CA of its own', cluster: CA, tls: SERVER, outcome: VERSION },
    {
      says: 'a CA as data',
      cluster: { 'certificate-authority-data': base64(certificate('ca.crt')) },
      tls: SERVER,
      outcome: VERSION,
    },
    { says: 'no CA', cluster: {}, tls: SERVER, outcome: untrusted },
    {
      says: 'another CA',
      cluster: { 'certificate-authority': certificatePath('other-ca.crt') },
      tls: SERVER,
      outcome: untrusted,
    },
    {
      says: 'insecure-skip-tls-verify',
      cluster: { 'insecure-skip-tls-verify': true },
      tls: SERVER,
      outcome: VERSION,
    },
    {
      says: 'a server of another name',
      cluster: CA,
      tls: { certificate: 'named-server' },
      outcome: untrusted,
    },
    {
      says: 'tls-server-name',
      cluster: { ...CA, 'tls-server-name': 'kubernetes.test' },
      tls: { certificate: 'named-server' },
      outcome: VERSION,
    },
    {
      says: 'a client certificate',
      cluster: CA,
      user: client,
      tls: { ...SERVER, demandClient: true },
      outcome: VERSION,
    },
    {
      says: 'a client certificate as data',
      cluster: CA,
      user: clientData,
      tls: { ...SERVER, demandClient: true },
      outcome: VERSION,
    },
    {
      says: 'no client certificate where one is demanded',
      cluster: CA,
      tls: { ...SERVER, demandClient: true },
      outcome: { name: 'ConnectionError' },
    },
  ]
  test.each(cases)('with $says', async ({ cluster, user = {}, tls, outcome }) => {
    expect((await ask({ cluster, user }, tls)).outcome).toMatchObject(outcome)
  })

  test('is verified even where the environment says otherwise', async () => {
    const before = process.env['NODE_TLS_REJECT_UNAUTHORIZED']
    process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0'
    try {
      expect((await ask({}, SERVER)).outcome).toMatchObject(untrusted)
    } finally {
      if (before === undefined) delete process.env['NODE_TLS_REJECT_UNAUTHORIZED']
      else process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = before
    }
  })
})

/** A plugin that answers with a token made of how often it ran and what it was told. */
async function plugin(): Promise<object> {
  const script = join(folder, 'plugin.mjs')
  const count = join(folder, 'runs')
  await writeFile(
    script,
    [
      "import { appendFileSync, readFileSync } from 'node:fs'",
      `appendFileSync(${JSON.stringify(count)}, 'x')`,
      'const { kind, spec } = JSON.parse(process.env.KUBERNETES_EXEC_INFO)',
      `const runs = readFileSync(${JSON.stringify(count)}).length`,
      "const token = [kind, spec.interactive, spec.cluster?.server === undefined, process.env.MORE, runs].join('_')",
      "console.log(JSON.stringify({ apiVersion: 'client.authentication.k8s.io/v1', kind, status: { token } }))",
    ].join('\n'),
  )
  return {
    apiVersion: 'client.authentication.k8s.io/v1',
    command: process.execPath,
    args: [script],
    env: [{ name: 'MORE', value: 'more' }],
    provideClusterInfo: true,
  }
}

describe('a user with', () => {
  interface Case {
    readonly says: string
    readonly user: object
    readonly headers: Readonly<Record<string, string>>
  }
  const cases: readonly Case[] = [
    { says: 'a token', user: { token: 't' }, headers: { authorization: 'Bearer t' } },
    {
      says: 'a password',
      user: { username: 'me', password: 'pw' },
      headers: { authorization: `Basic ${base64('me:pw')}` },
    },
    {
      says: 'a name to act as',
      user: {
        token: 't',
        as: 'her',
        'as-uid': '7',
        'as-groups': ['a', 'b'],
        'as-user-extra': { Scope: ['all'] },
      },
      headers: {
        authorization: 'Bearer t',
        'impersonate-user': 'her',
        'impersonate-uid': '7',
        'impersonate-group': 'a, b',
        'impersonate-extra-scope': 'all',
      },
    },
  ]
  test.each(cases)('$says', async ({ user, headers }) => {
    const { outcome, seen } = await ask({ user, cluster: CA }, SERVER)
    expect(outcome).toEqual(VERSION)
    expect(seen?.headers).toMatchObject(headers)
  })

  test('a token file beside the kubeconfig, which counts more than a token', async () => {
    await writeFile(join(folder, 'token'), 'from-file\n')
    const { seen } = await ask({ user: { token: 'stale', tokenFile: 'token' }, cluster: CA }, SERVER)
    expect(seen?.headers.authorization).toBe('Bearer from-file')
  })

  test('a token file that changes is read again after a 401', async () => {
    await writeFile(join(folder, 'token'), 'old')
    await using server = await faultServer(
      ({ headers }: Seen) =>
        headers.authorization === 'Bearer new' ? json(VERSION) : failure(401, 'Unauthorized'),
      SERVER,
    )
    const path = await write('config', {
      cluster: { ...CA, server: server.url.href },
      user: { tokenFile: 'token' },
    })
    const cluster = await loadCluster({ kubeconfigPath: path, env: {}, clock: new FakeClock() })
    await cluster.credentials()
    await writeFile(join(folder, 'token'), 'new')
    expect(await clientOf(cluster).raw('GET', '/version')).toEqual(VERSION)
    expect(server.seen.map(({ headers }) => headers.authorization)).toEqual(['Bearer old', 'Bearer new'])
  })

  test.each([
    ['is missing', undefined, 'ENOENT'],
    ['is empty', '\n', 'it is empty'],
    ['holds more than a token', 'secret one\nsecret two', 'something other than one token'],
  ])('a token file that %s', async (_, content, why) => {
    if (content !== undefined) await writeFile(join(folder, 'token'), content)
    const { outcome, seen } = await ask({ user: { tokenFile: 'token' }, cluster: CA }, SERVER)
    expect(outcome).toMatchObject({ failure: 'no credentials', neverSent: true })
    expect(String(outcome)).toContain(why)
    expect(String(outcome)).not.toContain('secret')
    expect(seen).toBeUndefined()
  })

  test('an exec plugin, which runs again after a 401 and not before', async () => {
    await using server = await faultServer(
      ({ headers }) =>
        headers.authorization?.endsWith('_2') === true ? json(VERSION) : failure(401, 'Unauthorized'),
      SERVER,
    )
    const path = await write('config', {
      cluster: { ...CA, server: server.url.href },
      user: { exec: await plugin() },
    })
    const client = clientOf(await loadCluster({ kubeconfigPath: path, env: {} }))
    await client.raw('GET', '/version')
    await client.raw('GET', '/version')
    expect(server.seen.map(({ headers }) => headers.authorization)).toEqual(
      [1, 2, 2].map((run) => `Bearer ExecCredential_false_false_more_${run}`),
    )
  })

  test.each([
    [
      'fails',
      { command: process.execPath, args: ['-e', 'console.error("log in first"); process.exit(1)'] },
      'log in first',
    ],
    ['is not there', { command: 'kleym-no-such-plugin' }, 'is not on the PATH'],
    [
      'answers nonsense',
      { command: process.execPath, args: ['-e', 'console.log("{}")'] },
      'cannot get the credentials',
    ],
    ['wants a terminal', { command: 'x', interactiveMode: 'Always' }, 'it wants a terminal'],
  ])('an exec plugin that %s', async (_, exec, why) => {
    const { outcome } = await ask({ user: { exec }, cluster: CA }, SERVER)
    expect(outcome).toMatchObject({ failure: 'no credentials', neverSent: true })
    expect(String(outcome)).toContain(why)
  })

  test.each<[string, object]>([
    ['a token', { token: 'secret\nInjected: yes' }],
    ['a name to act as', { as: 'her\r\nInjected: yes' }],
    ['a group to act as', { as: 'her', 'as-groups': ['a', 'b\u0000'] }],
  ])('%s that holds a line break or the like sends nothing, and is not shown', async (_, user) => {
    const { outcome, seen } = await ask({ user, cluster: CA }, SERVER)
    expect(String(outcome)).toContain('holds a control character')
    expect(String(outcome)).not.toContain('secret')
    expect(seen).toBeUndefined()
  })

  test('a name of any script acts as that name: its bytes are sent as they are', async () => {
    const { seen } = await ask({ user: { as: 'jörg-愛' } })
    expect(Buffer.from(String(seen?.headers['impersonate-user']), 'latin1').toString('utf8')).toBe('jörg-愛')
  })
})

test.each(['gcp', 'azure', 'other'])(
  'the auth provider %s is refused as kubectl does, and its command does not run',
  async (name) => {
    const config = { 'cmd-path': process.execPath, 'cmd-args': '-e 0', 'access-token': 't' }
    const asked = ask({ user: { 'auth-provider': { name, config } }, cluster: CA }, SERVER)
    await expect(asked).rejects.toThrow(`there is no auth provider "${name}"`)
  },
)

describe('without TLS', () => {
  test.each<[string, (address: string) => string]>([
    ['http://', (address) => `http://${address}`],
    ['no scheme', (address) => address],
  ])('(%s) nothing that proves who we are is sent, asked for or read', async (_, written) => {
    const ran = join(folder, 'ran')
    const exec = {
      apiVersion: 'client.authentication.k8s.io/v1',
      command: process.execPath,
      args: ['-e', `require('node:fs').writeFileSync(${JSON.stringify(ran)}, '')`],
    }
    const proofs: readonly (readonly [object, string])[] = [
      [{ token: 't' }, 'a bearer token'],
      [{ tokenFile: '/nonexistent' }, 'a bearer token'],
      [{ username: 'me', password: 'pw' }, 'a name with a password'],
      [{ exec }, 'what an exec plugin gives'],
      [
        { 'auth-provider': { name: 'gcp', config: { 'access-token': 't', expiry: '2999-01-01T00:00:00Z' } } },
        'what an auth provider gives',
      ],
      [{ 'client-certificate': '/nonexistent', 'client-key': '/nonexistent' }, 'a client certificate'],
      [
        { tokenFile: '/nonexistent', username: 'me', password: 'pw' },
        'a bearer token, a name with a password',
      ],
    ]
    await using server = await faultServer(() => json(VERSION))
    for (const [user, withheld] of proofs) {
      const path = await write('config', { cluster: { server: written(server.url.host) }, user })
      const cluster = await loadCluster({ kubeconfigPath: path, env: {} })
      expect(cluster.withheld).toBe(withheld)
      const client = clientOf(cluster)
      expect(await client.raw('GET', '/version')).toEqual(VERSION)
      client.close()
    }
    expect(server.seen).toHaveLength(proofs.length)
    for (const { headers } of server.seen) {
      expect(Object.keys(headers).toSorted()).toEqual(['accept', 'connection', 'host', 'user-agent'])
    }
    expect(existsSync(ran)).toBe(false)
  })

  test('an impersonation is sent, as kubectl does: it says who we want to be and proves nothing', async () => {
    const { seen } = await ask({ user: { token: 't', as: 'her', 'as-groups': ['a'] } })
    expect(seen?.headers).toMatchObject({ 'impersonate-user': 'her', 'impersonate-group': 'a' })
    expect(seen?.headers).not.toHaveProperty('authorization')
  })

  test('a 401 brings no credentials out either', async () => {
    await using server = await faultServer(() => failure(401, 'Unauthorized'))
    const path = await write('config', { cluster: { server: server.url.href }, user: { token: 't' } })
    const client = clientOf(await loadCluster({ kubeconfigPath: path, env: {} }))
    expect(await rejection(client.raw('GET', '/version'))).toMatchObject({ status: 401 })
    for (const { headers } of server.seen) expect(headers).not.toHaveProperty('authorization')
  })

  test('a user who has nothing to show is told nothing', async () => {
    const path = await write('config', { cluster: { server: 'http://a' } })
    expect(await loadCluster({ kubeconfigPath: path, env: {} })).not.toHaveProperty('withheld')
  })
})

function at(host: string): Config {
  return { cluster: { server: `https://${host}` } }
}

async function hostOf(kubeconfigPath: string | undefined, env: Record<string, string>): Promise<string> {
  const cluster = await loadCluster({ ...(kubeconfigPath !== undefined && { kubeconfigPath }), env })
  return cluster.server.hostname
}

describe('which cluster', () => {
  test('the named file, then KUBECONFIG, then the home folder', async () => {
    const named = await write('named', at('named'))
    const listed = await write('listed', at('listed'))
    await mkdir(join(folder, '.kube'))
    await write('.kube/config', at('home'))
    expect(await hostOf(named, { KUBECONFIG: listed, HOME: folder })).toBe('named')
    expect(await hostOf(undefined, { KUBECONFIG: listed, HOME: folder })).toBe('listed')
    expect(await hostOf(undefined, { HOME: folder })).toBe('home')
  })

  test('of several files the first that names a thing wins, and one that is missing does not matter', async () => {
    const first = await write('first', { ...at('first'), context: { namespace: 'ns' } })
    const second = await write('second', at('second'))
    const cluster = await loadCluster({
      env: { KUBECONFIG: [join(folder, 'none'), first, second].join(delimiter) },
    })
    expect([cluster.server.href, cluster.contextName, cluster.namespace]).toEqual([
      'https://first/',
      'x',
      'ns',
    ])
  })

  test.each<[string, (to: number) => Promise<TestProxy>]>([
    ['HTTP', httpProxy],
    ['SOCKS', socksProxy],
  ])('a proxy-url of an %s proxy leads there, over one tunnel for several calls', async (_, start) => {
    await using server = await faultServer(() => json(VERSION), { certificate: 'named-server' })
    await using proxy = await start(Number(server.url.port))
    // This machine does not know the name: the proxy has to.
    const there = 'kubernetes.test:6443'
    const path = await write('config', {
      cluster: { ...CA, server: `https://${there}`, 'proxy-url': proxy.url },
    })
    const client = clientOf(await loadCluster({ kubeconfigPath: path, env: {} }))
    expect(await client.raw('GET', '/version')).toEqual(VERSION)
    expect(await client.raw('GET', '/version')).toEqual(VERSION)
    client.close()
    expect(proxy.tunnels).toEqual([there])
  })

  test('a SOCKS proxy is given a name and a password, and leads to plain HTTP and IPv6 addresses too', async () => {
    await using server = await faultServer(() => json(VERSION))
    await using proxy = await socksProxy(Number(server.url.port), { asksForPassword: true })
    const url = proxy.url.replace('//', '//us%65r:p%40ss@')
    const askAt = async (to: string): Promise<unknown> => {
      const path = await write('config', { cluster: { server: to, 'proxy-url': url } })
      const client = clientOf(await loadCluster({ kubeconfigPath: path, env: {} }))
      const answer = await client.raw('GET', '/version')
      client.close()
      return answer
    }
    expect(await askAt('http://kubernetes.test:8080')).toEqual(VERSION)
    expect(await askAt('http://[fd00::1]:80')).toEqual(VERSION)
    expect(proxy.tunnels).toEqual([
      'user:p@ss@kubernetes.test:8080',
      'user:p@ss@[fd000000000000000000000000000001]:80',
    ])
  })

  test.each([
    ['does not lead there', { denies: true }, 'ERR_SOCKS_PROXY'],
    ['is not there', undefined, 'ECONNREFUSED'],
  ])('a SOCKS proxy that %s is an error that says so, and nothing was sent', async (_, options, code) => {
    const proxy = await socksProxy(1, options)
    if (options === undefined) await proxy[Symbol.asyncDispose]()
    const path = await write('config', { cluster: { server: 'https://a', 'proxy-url': proxy.url } })
    const client = clientOf(await loadCluster({ kubeconfigPath: path, env: {} }))
    const thrown = await rejection(client.raw('GET', '/version'))
    await proxy[Symbol.asyncDispose]()
    expect(thrown).toMatchObject({ name: 'ConnectionError', failure: 'refused', neverSent: true })
    expect(String(thrown)).toContain(code)
  })

  test('a proxy-url counts more than the environment, which does not count for this machine', async () => {
    const env = { HTTPS_PROXY: 'http://from-env' }
    const load = async (cluster: object) =>
      (await loadCluster({ kubeconfigPath: await write('config', { cluster }), env })).proxy?.href
    expect(await load({ server: 'https://a', 'proxy-url': 'http://from-config' })).toBe('http://from-config/')
    expect(await load({ server: 'https://a' })).toBe('http://from-env/')
    expect(await load({ server: 'https://127.0.0.1' })).toBeUndefined()
  })

  interface Bad {
    readonly says: string
    readonly text: string
    readonly error: string
  }
  const whole = '"contexts":[{"name":"x","context":{"cluster":"c","user":"u"}}],"current-context":"x"'
  const bad: readonly Bad[] = [
    { says: 'no YAML', text: 'token: "secret', error: 'it is no valid YAML' },
    { says: 'no mapping', text: '[]', error: 'it is no mapping' },
    { says: 'nothing', text: '', error: 'no context is chosen' },
    {
      says: 'another context',
      text: `{"contexts":[{"name":"y","context":{}}],"current-context":"x"}`,
      error: 'the kubeconfig has "y"',
    },
    { says: 'no cluster', text: `{${whole}}`, error: '"c" is not among its clusters: it has none' },
    {
      says: 'no server',
      text: `{"clusters":[{"name":"c","cluster":{}}],${whole}}`,
      error: 'is no http or https URL',
    },
    {
      says: 'a proxy of another kind',
      text: `{"clusters":[{"name":"c","cluster":{"server":"https://a","proxy-url":"socks4://b"}}],"users":[{"name":"u"}],${whole}}`,
      error: 'cannot use the proxy of the cluster',
    },
  ]
  test.each(bad)('a kubeconfig with $says is refused with its reason', async ({ text, error }) => {
    const path = join(folder, 'config')
    await writeFile(path, text)
    const thrown = await rejection(loadCluster({ kubeconfigPath: path, env: {} }))
    expect(thrown).toBeInstanceOf(ClusterConfigError)
    expect(String(thrown)).toContain(error)
    expect(String(thrown)).toContain(path)
    expect(String(thrown)).not.toContain('secret')
  })

  test('a named file that is missing is an error, and so is nothing at all', async () => {
    const missing = rejection(loadCluster({ kubeconfigPath: join(folder, 'none'), env: {} }))
    expect(String(await missing)).toContain('there is no such file')
    expect(String(await rejection(loadCluster({ env: {} })))).toContain('no cluster to talk to')
  })
})

/** What the kubelet mounts. */
async function mount(token: string): Promise<void> {
  await writeFile(join(folder, 'token'), token)
  await writeFile(join(folder, 'ca.crt'), certificate('ca.crt'))
  await writeFile(join(folder, 'namespace'), 'kleym-system')
}

describe('in a pod', () => {
  test('its token is used, and read again when a minute has passed', async () => {
    await mount('one')
    const clock = new FakeClock()
    await using server = await faultServer(() => json(VERSION), SERVER)
    const cluster = await loadCluster({
      env: { KUBERNETES_SERVICE_HOST: '127.0.0.1', KUBERNETES_SERVICE_PORT: server.url.port },
      clock,
      serviceAccountFolder: folder,
    })
    const client = clientOf(cluster)
    await client.raw('GET', '/version')
    await mount('two')
    await client.raw('GET', '/version')
    clock.advance(60_000)
    await client.raw('GET', '/version')
    client.close()
    expect(cluster).toMatchObject({ contextName: 'in-cluster', namespace: 'kleym-system' })
    expect(server.seen.map(({ headers }) => headers.authorization)).toEqual([
      'Bearer one',
      'Bearer one',
      'Bearer two',
    ])
  })

  test.each([
    ['a range of NO_PROXY holds it', '172.30.0.1', '.svc,10.128.0.0/14,172.30.0.0/16', undefined],
    ['no range holds it', '172.31.0.1', '.svc,10.128.0.0/14,172.30.0.0/16', 'http://proxy.example:3128/'],
    ['a domain of NO_PROXY holds it', 'kubernetes.default.svc', '.svc,10.128.0.0/14', undefined],
  ])('the API server is reached as the environment says: %s', async (_, host, except, proxy) => {
    await mount('one')
    const { proxy: found } = await loadCluster({
      env: {
        KUBERNETES_SERVICE_HOST: host,
        KUBERNETES_SERVICE_PORT: '443',
        HTTPS_PROXY: 'proxy.example:3128',
        NO_PROXY: except,
      },
      serviceAccountFolder: folder,
    })
    expect(found?.href).toBe(proxy)
  })

  test('without a mounted token it is an error that says so', async () => {
    const env = { KUBERNETES_SERVICE_HOST: 'fd00::1', KUBERNETES_SERVICE_PORT: '443' }
    const thrown = await rejection(loadCluster({ env, serviceAccountFolder: folder }))
    expect(String(thrown)).toContain('automountServiceAccountToken')
  })
})
