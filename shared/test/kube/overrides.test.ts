// What a command line changes about a kubeconfig: each flag, and what gives way to it.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { certificate, certificatePath } from '@kleym/testing/faults/certificates.ts'
import type { Cluster, Credentials } from '../../src/kube/cluster.ts'
import { loadCluster } from '../../src/kube/kubeconfig.ts'
import { isEmpty, type ClusterOverrides } from '../../src/kube/overrides.ts'
import { rejection } from '@kleym/testing/clusters.ts'

let folder = ''
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kleym-overrides-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

const base64 = (text: string): string => Buffer.from(text).toString('base64')
const SERVER = 'https://in-the-file:6443'

interface Given {
  readonly cluster?: object
  readonly user?: object
  readonly currentContext?: string
  readonly context?: string
}

/** Two clusters, two users and a context of the first of each. */
async function load(
  overrides: ClusterOverrides,
  { cluster = {}, user = {}, currentContext = 'x', context }: Given = {},
): Promise<Cluster> {
  const path = join(folder, 'config')
  const config = {
    clusters: [
      { name: 'c', cluster: { server: SERVER, ...cluster } },
      { name: 'other', cluster: { server: 'https://other:6443' } },
    ],
    users: [
      { name: 'u', user },
      { name: 'other', user: { token: 'of-other' } },
    ],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u', namespace: 'team-a' } }],
    'current-context': currentContext,
  }
  await writeFile(path, JSON.stringify(config))
  return loadCluster({
    kubeconfigPath: path,
    env: {},
    overrides,
    ...(context === undefined ? {} : { context }),
  })
}

async function credentialsOf(overrides: ClusterOverrides, given?: Given): Promise<Credentials> {
  return (await load(overrides, given)).credentials()
}

test('nothing said changes nothing', async () => {
  expect(isEmpty({})).toBe(true)
  expect(isEmpty({ token: undefined })).toBe(true)
  expect(isEmpty({ insecureSkipTlsVerify: false })).toBe(false)
  expect(await load({ cluster: undefined, token: undefined })).toMatchObject({
    contextName: 'x',
    namespace: 'team-a',
    server: new URL(SERVER),
  })
})

describe('which server', () => {
  test.each<[string, ClusterOverrides, string]>([
    ['--server', { server: 'https://flag:1' }, 'https://flag:1/'],
    ['--cluster', { cluster: 'other' }, 'https://other:6443/'],
    ['--server before --cluster', { server: 'https://flag:1', cluster: 'other' }, 'https://flag:1/'],
  ])('%s; the namespace stays that of the context', async (_flag, overrides, href) => {
    const cluster = await load(overrides)
    expect(cluster.server.href).toBe(href)
    expect(cluster.namespace).toBe('team-a')
  })

  test.each<[string, ClusterOverrides, string]>([
    ['a cluster', { cluster: 'nope' }, 'the context names a cluster that is not there'],
    [
      'a cluster, whatever its server',
      { cluster: 'nope', server: 'https://x' },
      'the context names a cluster',
    ],
    ['a user', { user: 'nope' }, 'the context names a user that is not there'],
    [
      'a user, whatever the token',
      { user: 'nope', token: 's3cret' },
      'the context names a user that is not there',
    ],
  ])('%s that is not in the kubeconfig stays an error', async (_says, overrides, what) => {
    const error = await rejection(load(overrides))
    expect(error).toMatchObject({ name: 'ClusterConfigError', what: expect.stringContaining(what) })
    expect(JSON.stringify(error) + String(error)).not.toContain('s3cret')
  })

  test('a context that is not there stays an error, whatever else is said', async () => {
    const error = await rejection(load({ server: 'https://x', token: 's3cret' }, { context: 'nope' }))
    expect(error).toMatchObject({ what: 'there is no context "nope"' })
    expect(JSON.stringify(error) + String(error)).not.toContain('s3cret')
  })

  test('a current context that is not there stays an error', async () => {
    expect(await rejection(load({ server: 'https://x' }, { currentContext: 'gone' }))).toMatchObject({
      what: 'there is no context "gone"',
    })
  })

  test('no context is no hindrance to a server, and the kubeconfig lends it no user', async () => {
    const cluster = await load({ server: 'https://flag:1', token: 't' }, { currentContext: '' })
    expect(cluster.server.href).toBe('https://flag:1/')
    expect(cluster.namespace).toBe('default')
    expect((await cluster.credentials()).headers).toEqual({ authorization: 'Bearer t' })
  })

  test('no context and no server is no cluster', async () => {
    expect(await rejection(load({ token: 's3cret' }, { currentContext: '' }))).toMatchObject({
      name: 'ClusterConfigError',
    })
  })

  test('a server needs no kubeconfig at all', async () => {
    const cluster = await loadCluster({ env: {}, overrides: { server: 'https://flag:1', token: 't' } })
    expect(cluster.server.href).toBe('https://flag:1/')
    expect((await cluster.credentials()).headers).toEqual({ authorization: 'Bearer t' })
  })

  test('a server whose address makes no sense is reported without the token', async () => {
    const error = await rejection(load({ server: 'ftp://x', token: 's3cret' }))
    expect(error).toMatchObject({ what: "the cluster's server is no address" })
    expect(JSON.stringify(error) + String(error)).not.toContain('s3cret')
  })
})

describe('a pod', () => {
  const env = { KUBERNETES_SERVICE_HOST: '10.0.0.1', KUBERNETES_SERVICE_PORT: '443', HOME: '/nonexistent' }

  test.each<ClusterOverrides>([
    { token: 's3cret' },
    { as: 'her' },
    { user: 'x' },
    { insecureSkipTlsVerify: true },
  ])('cannot be somebody else than its service account: %o', async (overrides) => {
    const error = await rejection(loadCluster({ env, overrides, serviceAccountFolder: folder }))
    expect(error).toMatchObject({ what: 'cannot change who we are to the cluster' })
    expect(JSON.stringify(error) + String(error)).not.toContain('s3cret')
  })
})

describe('who we are', () => {
  const client = {
    'client-certificate-data': base64(certificate('client.crt')),
    'client-key-data': base64(certificate('client.key')),
  }

  test.each<{ says: string; user: object; overrides: ClusterOverrides; headers: object }>([
    {
      says: '--token before a token',
      user: { token: 'old' },
      overrides: { token: 't' },
      headers: { authorization: 'Bearer t' },
    },
    {
      says: '--token before a plugin, which does not run',
      user: { exec: { apiVersion: 'client.authentication.k8s.io/v1', command: '/nonexistent/plugin' } },
      overrides: { token: 't' },
      headers: { authorization: 'Bearer t' },
    },
    {
      says: '--token before a provider',
      user: {
        'auth-provider': { name: 'gcp', config: { 'access-token': 'old', expiry: '2999-01-01T00:00:00Z' } },
      },
      overrides: { token: 't' },
      headers: { authorization: 'Bearer t' },
    },
    {
      says: '--user',
      user: { token: 'old' },
      overrides: { user: 'other' },
      headers: { authorization: 'Bearer of-other' },
    },
    {
      says: '--token before the token of --user',
      user: {},
      overrides: { user: 'other', token: 't' },
      headers: { authorization: 'Bearer t' },
    },
    {
      says: '--as beside the token',
      user: { token: 'old' },
      overrides: { as: 'her' },
      headers: { authorization: 'Bearer old', 'impersonate-user': 'her' },
    },
    {
      says: '--as with groups and a UID',
      user: {},
      overrides: { as: 'her', asGroups: ['a', 'b'], asUid: '7' },
      headers: { 'impersonate-user': 'her', 'impersonate-group': ['a', 'b'], 'impersonate-uid': '7' },
    },
    {
      says: '--as beside the groups, the UID and what else the kubeconfig has, as kubectl',
      user: { as: 'him', 'as-groups': ['admins'], 'as-uid': '1', 'as-user-extra': { scope: ['all'] } },
      overrides: { as: 'her' },
      headers: {
        'impersonate-user': 'her',
        'impersonate-group': ['admins'],
        'impersonate-uid': '1',
        'impersonate-extra-scope': ['all'],
      },
    },
    {
      says: 'the impersonation of the kubeconfig beside --token',
      user: { as: 'him', 'as-groups': ['g'] },
      overrides: { token: 't' },
      headers: { authorization: 'Bearer t', 'impersonate-user': 'him', 'impersonate-group': ['g'] },
    },
  ])('$says', async ({ user, overrides, headers }) => {
    expect((await credentialsOf(overrides, { user })).headers).toEqual(headers)
  })

  test('a certificate stays beside a token', async () => {
    const { cert, headers } = await credentialsOf({ token: 't' }, { user: client })
    expect(String(cert)).toBe(certificate('client.crt'))
    expect(headers).toEqual({ authorization: 'Bearer t' })
  })

  test('--client-certificate and --client-key before those of the kubeconfig, data included', async () => {
    const overrides = {
      clientCertificate: certificatePath('server.crt'),
      clientKey: certificatePath('server.key'),
    }
    const { cert, key } = await credentialsOf(overrides, { user: client })
    expect(String(cert)).toBe(certificate('server.crt'))
    expect(String(key)).toBe(certificate('server.key'))
  })
})

describe('whom we trust', () => {
  const CA = base64(certificate('ca.crt'))

  test.each<{ says: string; cluster: object; overrides: ClusterOverrides; trust: object }>([
    {
      says: '--certificate-authority before the CA of the kubeconfig, data included',
      cluster: { 'certificate-authority-data': CA },
      overrides: { certificateAuthority: certificatePath('other-ca.crt') },
      trust: { ca: certificate('other-ca.crt'), rejectUnauthorized: true },
    },
    {
      says: '--certificate-authority, and then the server is verified',
      cluster: { 'insecure-skip-tls-verify': true },
      overrides: { certificateAuthority: certificatePath('other-ca.crt') },
      trust: { ca: certificate('other-ca.crt'), rejectUnauthorized: true },
    },
    {
      says: '--insecure-skip-tls-verify before the CA of the kubeconfig',
      cluster: { 'certificate-authority-data': CA },
      overrides: { insecureSkipTlsVerify: true },
      trust: { ca: undefined, rejectUnauthorized: false },
    },
    {
      says: '--insecure-skip-tls-verify=false before the word of the kubeconfig',
      cluster: { 'insecure-skip-tls-verify': true },
      overrides: { insecureSkipTlsVerify: false },
      trust: { ca: undefined, rejectUnauthorized: true },
    },
    {
      says: '--server with the CA of the kubeconfig',
      cluster: { 'certificate-authority-data': CA },
      overrides: { server: 'https://flag:1' },
      trust: { ca: certificate('ca.crt'), rejectUnauthorized: true },
    },
    {
      says: '--tls-server-name with the CA of the kubeconfig',
      cluster: { 'certificate-authority': certificatePath('ca.crt') },
      overrides: { tlsServerName: 'kubernetes.test' },
      trust: { ca: certificate('ca.crt'), rejectUnauthorized: true, servername: 'kubernetes.test' },
    },
    {
      says: '--server without the server name of the kubeconfig, which is that of another server',
      cluster: { 'tls-server-name': 'kubernetes.test' },
      overrides: { server: 'https://flag:1' },
      trust: { ca: undefined, rejectUnauthorized: true },
    },
    {
      says: '--server with --tls-server-name',
      cluster: { 'tls-server-name': 'old.test' },
      overrides: { server: 'https://flag:1', tlsServerName: 'kubernetes.test' },
      trust: { ca: undefined, rejectUnauthorized: true, servername: 'kubernetes.test' },
    },
    {
      says: '--certificate-authority with the server name of the kubeconfig',
      cluster: { 'tls-server-name': 'kubernetes.test' },
      overrides: { certificateAuthority: certificatePath('ca.crt') },
      trust: { ca: certificate('ca.crt'), rejectUnauthorized: true, servername: 'kubernetes.test' },
    },
  ])('$says', async ({ cluster, overrides, trust }) => {
    const { ca, rejectUnauthorized, servername } = await credentialsOf(overrides, { cluster })
    expect({
      ca: ca === undefined ? undefined : String(ca),
      rejectUnauthorized,
      ...(servername !== undefined && { servername }),
    }).toEqual(trust)
  })

  test('the CA of a cluster that is not named any more is not trusted', async () => {
    const { ca } = await credentialsOf(
      { cluster: 'other' },
      { cluster: { 'certificate-authority-data': CA } },
    )
    expect(ca).toBeUndefined()
  })
})
