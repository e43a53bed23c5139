// Where the client of a container looks for the socket, against where its pod mounts it.
import { describe, expect, test } from 'vitest'
import type { JsonRecord } from '../../src/core/base/json.ts'
import { NO, YES } from '../../src/core/model/truth/truth.ts'
import { foreign } from '@kleym/testing/finding-cases.ts'
import type { Hop } from '../../src/core/answers/why/hop.ts'
import { hopOf } from './hops-of.ts'

const SOCKET = 'SPIFFE_ENDPOINT_SOCKET'
const CSI: JsonRecord = { csi: { driver: 'csi.spiffe.io', readOnly: true } }
const RIGHT: JsonRecord = { name: SOCKET, value: 'unix:///spiffe/agent.sock' }

function reachable(env: readonly JsonRecord[], volume = CSI, mount: JsonRecord = {}): Hop {
  return hopOf('reachable', {
    objects: [foreign('llama')],
    spec: {
      volumes: [{ name: 's', ...volume }],
      containers: [{ name: 'vllm', env, volumeMounts: [{ name: 's', mountPath: '/spiffe/', ...mount }] }],
    },
  })
}

const at = (value: string): JsonRecord => ({ name: SOCKET, value })

describe('the address that a client is given', () => {
  test.each<readonly [string, readonly JsonRecord[]]>([
    ['none', []],
    ['the socket in the folder', [RIGHT]],
    ['with dots', [at('unix:/x/..//spiffe/./agent.sock')]],
    ['the last of two is right', [at('unix:///nowhere/a.sock'), RIGHT]],
  ])('%s: good', (_name, env) => {
    expect(reachable(env).truth).toBe(YES)
  })

  test.each<readonly [string, readonly JsonRecord[], RegExp]>([
    ['the folder itself', [at('unix:///spiffe')], /is the folder in which the socket stands/],
    ['the folder with a slash', [at('unix:///spiffe/')], /is the folder in which the socket stands/],
    [
      'a folder below it',
      [at('unix:///spiffe/public/agent.sock')],
      /is the folder in which the socket stands/,
    ],
    ['a name that begins alike', [at('unix:///spiffe-2/agent.sock')], /is mounted at/],
    ['the last of two is wrong', [RIGHT, at('unix:///nowhere/a.sock')], /nowhere/],
  ])('%s: broken, with a way out that can be pasted', (_name, env, says) => {
    const hop = reachable(env)
    expect(hop).toMatchObject({ truth: NO, text: expect.stringMatching(says) })
    expect(hop.fix).toContain('set SPIFFE_ENDPOINT_SOCKET to unix:///spiffe/SOCKET')
  })

  test('a hostPath may be the socket itself, or hold its folder', () => {
    const host: JsonRecord = { hostPath: { path: '/run/spire' } }
    expect(reachable([at('unix:///spiffe')], host).truth).toBe(YES)
    expect(reachable([at('unix:///spiffe/sockets/agent.sock')], host).truth).toBe(YES)
  })
})

describe('a hostPath, where the agent of the node is known', () => {
  const parts: readonly JsonRecord[] = [
    {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'agent-1', namespace: 'spire' },
      spec: {
        nodeName: 'n1',
        hostPID: true,
        volumes: [
          { name: 'sockets', hostPath: { path: '/run/spire/agent-sockets' } },
          { name: 'config', configMap: { name: 'agent' } },
        ],
        containers: [
          {
            name: 'agent',
            image: 'ghcr.io/spiffe/spire-agent:1.15.3',
            volumeMounts: [{ name: 'sockets', mountPath: '/sockets/public' }],
          },
        ],
      },
    },
    {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'agent', namespace: 'spire' },
      data: {
        'agent.conf': JSON.stringify({
          agent: { socket_path: '/sockets/public/agent.sock' },
          plugins: { WorkloadAttestor: [] },
        }),
      },
    },
  ]
  const through = (path: string, more = parts): Hop =>
    hopOf('reachable', {
      objects: [foreign('llama')],
      parts: more,
      spec: {
        nodeName: 'n1',
        volumes: [{ name: 's', hostPath: { path } }],
        containers: [{ name: 'vllm', volumeMounts: [{ name: 's', mountPath: '/spiffe' }] }],
      },
    })

  test.each([
    '/run/spire/agent-sockets',
    '/run/spire/agent-sockets/agent.sock',
    '/run/spire',
    '/var/run/spire/agent-sockets/',
  ])('%s leads to its socket', (path) => {
    expect(through(path).truth).toBe(YES)
  })

  test.each(['/run/spire/server-sockets', '/run/spire/agent-sockets-2', '/opt/spire/conf'])(
    '%s is another folder: whether it leads there is not known',
    (path) => {
      const hop = through(path)
      expect(hop.truth.value).toBe('open')
      expect(hop.text).toContain(
        'the agent serves its socket at /run/spire/agent-sockets/agent.sock of the node',
      )
      expect(through(path, []).truth).toBe(YES)
    },
  )
})

function running(container: JsonRecord, more: readonly JsonRecord[] = []): Hop {
  return hopOf('reachable', {
    objects: [foreign('llama')],
    spec: { volumes: [], containers: [{ name: 'vllm', ...container }, ...more] },
  })
}

describe('an image of SPIRE itself', () => {
  const AGENT = 'ghcr.io/spiffe/spire-agent:1.15.3'

  test.each<readonly [string, JsonRecord]>([
    ['as it is', { image: AGENT }],
    ['with arguments', { image: AGENT, args: ['-config', '/run/agent.conf'] }],
    ['with its program named', { image: AGENT, command: ['/opt/spire/bin/spire-agent', 'run'] }],
  ])('%s needs no socket', (_name, container) => {
    expect(running(container).truth).toBe(YES)
  })

  test.each<readonly [string, JsonRecord, readonly JsonRecord[]]>([
    ['that runs its client', { image: AGENT, args: ['api', 'watch'] }, []],
    ['that runs a shell', { image: AGENT, command: ['sh', '-c', 'spire-agent api fetch x509'] }, []],
    ['that sleeps', { image: AGENT, command: ['sleep'], args: ['infinity'] }, []],
    ['in another container', { image: 'vllm' }, [{ name: 'agent', image: AGENT }]],
  ])('%s is no way to it', (_name, container, more) => {
    expect(running(container, more).truth).toBe(NO)
  })
})

describe('what is mounted', () => {
  test.each<readonly [string, JsonRecord]>([
    ['one that the container may write', { driver: 'csi.spiffe.io' }],
    ['one that says so', { driver: 'csi.spiffe.io', readOnly: false }],
    ['one with a file system', { driver: 'csi.spiffe.io', readOnly: true, fsType: 'ext4' }],
  ])("a volume that SPIFFE's driver refuses is no way: %s", (_name, csi) => {
    expect(reachable([RIGHT], { csi })).toMatchObject({
      truth: NO,
      text: expect.stringContaining(
        'volume s is of csi.spiffe.io, which refuses it: it needs readOnly: true',
      ),
      fix: expect.stringContaining('readOnly: true'),
    })
  })

  test('a part of a volume is no proof: it may be another than the socket', () => {
    expect(reachable([RIGHT], CSI, { subPath: 'public' }).truth.value).toBe('open')
    expect(reachable([RIGHT], CSI, { subPathExpr: '$(POD_NAME)' }).truth.value).toBe('open')
    expect(reachable([RIGHT], CSI, { subPath: '' }).truth).toBe(YES)
  })

  test('a folder of the node is one of SPIRE by a word of its path, not by letters within another', () => {
    for (const path of ['/run/spire/sockets', '/run/spire-agent', '/var/lib/SPIFFE', '/opt/my-spire'])
      expect(reachable([RIGHT], { hostPath: { path } }).truth).toBe(YES)
    expect(reachable([RIGHT], { hostPath: { path: '/models/inspire' } }).truth.value).toBe('open')
  })
})
