// The way to a cluster: which one, how it is called, and a kubeconfig that cannot be used.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { FakeClock } from '@kleym/testing/fake-clock.ts'
import { json } from '@kleym/testing/faults/behaviour.ts'
import { certificatePath } from '@kleym/testing/faults/certificates.ts'
import { faultServer } from '@kleym/testing/faults/server.ts'
import { clusterOptions, type ClusterFlags } from '../../src/flags/cluster-flags.ts'
import { connect, warn, type Connection } from '../../src/cluster/connect.ts'

let folder = ''
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kleym-connect-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

async function connected(flags: ClusterFlags, env: Record<string, string> = {}): Promise<Connection> {
  return connect(clusterOptions(flags, folder), { env, clock: new FakeClock(), version: '1.2.3' })
}

async function write(server: string): Promise<void> {
  const config = {
    clusters: [{ name: 'c', cluster: { server } }],
    users: [{ name: 'u', user: { token: 't' } }],
    contexts: [
      { name: 'one', context: { cluster: 'c', user: 'u', namespace: 'team-a' } },
      { name: 'two', context: { cluster: 'c', user: 'u' } },
    ],
    'current-context': 'one',
  }
  await writeFile(join(folder, 'config'), JSON.stringify(config))
}

test('a relative --kubeconfig is of the working directory, and its path is not part of the name', async () => {
  await write('https://10.0.0.1:6443/path?token=x')
  expect(await connected({ kubeconfig: 'config' })).toMatchObject({
    namespace: 'team-a',
    name: 'one (https://10.0.0.1:6443)',
  })
})

test('--context, and the namespace that it has not', async () => {
  await write('https://10.0.0.1:6443')
  expect(await connected({ kubeconfig: 'config', context: 'two' })).toMatchObject({
    namespace: 'default',
    name: 'two (https://10.0.0.1:6443)',
  })
})

test('requests say who asks, with the credentials of the command line', async () => {
  await using server = await faultServer(() => json({ gitVersion: 'v1' }), { certificate: 'server' })
  await write('https://nowhere.invalid')
  const connection = await connected({
    kubeconfig: 'config',
    server: server.url.href,
    'certificate-authority': certificatePath('ca.crt'),
    token: 'flag',
  })
  await connection.client.raw('GET', '/version')
  connection.close()
  expect(connection.warnings).toEqual([])
  expect(server.seen.map(({ headers }) => headers)).toMatchObject([
    { 'user-agent': 'kubectl-kleym/1.2.3', authorization: 'Bearer flag' },
  ])
})

test('a connection without TLS says what is not sent over it', async () => {
  await using server = await faultServer(() => json({ gitVersion: 'v1' }))
  await write('https://nowhere.invalid')
  const connection = await connected({ kubeconfig: 'config', server: server.url.host, token: 'flag' })
  await connection.client.raw('GET', '/version')
  connection.close()
  expect(server.seen[0]?.headers).not.toHaveProperty('authorization')
  const told: string[] = []
  warn(connection, { stderr: { write: (text) => told.push(text), isTerminal: false, columns: undefined } })
  expect(told).toEqual([
    `warning: http://${server.url.host} is no TLS connection, so a bearer token of the user is not sent; give an https:// address\n`,
  ])
})

test.each<[string, ClusterFlags, RegExp]>([
  ['that is not there', { kubeconfig: 'nope' }, /cannot read the kubeconfig/],
  ['without the context', { kubeconfig: 'config', context: 'nope' }, /there is no context "nope"/],
  [
    'without the user',
    { kubeconfig: 'config', user: 'nope', token: 's3cret' },
    /names a user that is not there/,
  ],
  ['that is not named', {}, /no cluster to talk to/],
])('a kubeconfig %s is an error of four parts', async (_says, flags, what) => {
  await write('https://10.0.0.1:6443')
  const error: unknown = await connected(flags).catch((thrown: unknown) => thrown)
  expect(error).toMatchObject({
    name: 'KleymError',
    exitCode: 4,
    what: expect.stringMatching(what),
    where: expect.stringMatching(/./),
    why: expect.stringMatching(/./),
    fix: expect.stringMatching(/./),
  })
  expect(JSON.stringify(error)).not.toContain('s3cret')
})
