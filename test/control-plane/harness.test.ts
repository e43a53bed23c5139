// The harness itself: that what the suites beside this one rely on is so.
import { get as httpsGet } from 'node:https'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { dig, stringAt, type JsonRecord } from '../../shared/src/core/base/json.ts'
import { WRITE_VERBS } from './audit.ts'
import { startControlPlane, type ControlPlane } from './control-plane.ts'
import { CONNECTIONS, RestError, type RestAnswer } from './rest.ts'
import { serverMinor } from './server-minor.ts'
import { until, within } from '@kleym/testing/wait.ts'

const ALICE = 'alice'

let cp: ControlPlane
beforeAll(async () => {
  cp = await startControlPlane({ users: [{ name: ALICE, groups: ['tenants'] }] })
})
afterAll(() => cp?.stop())

function configMap(name: string, value: string, space = 'default'): JsonRecord {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: space }, data: { value } }
}

function namespace(name: string): JsonRecord {
  return { apiVersion: 'v1', kind: 'Namespace', metadata: { name } }
}

const mapId = (name: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', name, namespace: 'default' })

async function errorOf(promise: Promise<unknown>): Promise<RestError> {
  const error: unknown = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  if (error instanceof RestError) return error
  throw new Error('the server did not refuse', { cause: error })
}

/** The first event of a watch, or the failure that it was answered with. */
function firstOfWatch(resourceVersion: string): Promise<{ status: number; event: unknown }> {
  const path = `/api/v1/namespaces/default/configmaps?watch=true&timeoutSeconds=30&resourceVersion=${resourceVersion}`
  const first = new Promise<{ status: number; event: unknown }>((resolve, reject) => {
    const headers = { authorization: `Bearer ${cp.tokenOf('admin')}` }
    const request = httpsGet({ host: '127.0.0.1', port: cp.port, ca: cp.ca, path, headers }, (response) => {
      response.once('data', (chunk: Buffer) => {
        const [line = ''] = chunk.toString('utf8').split('\n')
        resolve({ status: response.statusCode ?? 0, event: JSON.parse(line) })
        request.destroy()
      })
    })
    request.once('error', reject)
  })
  return within(first, 'the first event of a watch')
}

async function versionOf(name: string): Promise<string> {
  return stringAt(await cp.admin.get(mapId(name)), 'metadata', 'resourceVersion') ?? ''
}

/** The token of the second page of a list in pages of one. */
async function firstPage(): Promise<string> {
  const page = await cp.admin.request({ method: 'GET', path: '/api/v1/configmaps?limit=1' })
  return stringAt(page.body, 'metadata', 'continue') ?? ''
}

function nextPage(token: string): Promise<RestAnswer> {
  const path = `/api/v1/configmaps?limit=1&continue=${encodeURIComponent(token)}`
  return cp.admin.request({ method: 'GET', path })
}

describe('who may do what', () => {
  test('its certificate is verified against the CA of the kubeconfig, and by no other', async () => {
    const get = (ca: string | undefined): Promise<number> =>
      new Promise((resolve, reject) => {
        httpsGet(
          { host: '127.0.0.1', port: cp.port, path: '/version', ...(ca === undefined ? {} : { ca }) },
          (answer) => {
            answer.resume()
            resolve(answer.statusCode ?? 0)
          },
        ).once('error', reject)
      })
    await expect(get(cp.ca)).resolves.toBe(200)
    await expect(get(undefined)).rejects.toMatchObject({ code: 'SELF_SIGNED_CERT_IN_CHAIN' })
  })

  test('a user without a role is refused by RBAC, and one with a role is not', async () => {
    await cp.apply([namespace('rbac'), configMap('open', '1', 'rbac')])
    const alice = cp.as(ALICE)
    const kind = { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'rbac' }
    const refusal = await errorOf(alice.list(kind))
    expect(refusal).toMatchObject({ status: 403, body: { reason: 'Forbidden' } })
    expect(refusal.message).toContain('User "alice" cannot list resource "configmaps"')
    await cp.apply([
      {
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'RoleBinding',
        metadata: { name: 'tenants-view', namespace: 'rbac' },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view' },
        subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: 'tenants' }],
      },
    ])
    const maps = await alice.list(kind)
    expect(maps.map((map) => stringAt(map, 'metadata', 'name'))).toContain('open')
  })

  test('a user that was not asked for at the start is an error that says so', () => {
    expect(() => cp.kubeconfig('mallory')).toThrow(
      'user mallory is not among the users of this control plane',
    )
  })

  test('a service account has a kubeconfig of its own', async () => {
    await cp.apply([
      namespace('robots'),
      { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'robot', namespace: 'robots' } },
    ])
    const file = await cp.kubeconfigForServiceAccount('robots', 'robot')
    const who = await cp.kubectl(['auth', 'whoami', '-o', 'json', '--kubeconfig', file])
    expect(who.stderr).toBe('')
    expect(dig(JSON.parse(who.stdout), 'status', 'userInfo', 'username')).toBe(
      'system:serviceaccount:robots:robot',
    )
  })
})

test('objects are applied after what they need, in whatever order they come', async () => {
  // As many as are applied at a time: what comes behind them waits for one of them.
  const pods = Array.from({ length: CONNECTIONS }, (_, at) => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: `llama-${at}`, namespace: 'orderly' },
    spec: { serviceAccountName: 'runner', containers: [{ name: 'vllm', image: 'vllm' }] },
  }))
  const wanted = {
    apiVersion: 'kleym.sonda.red/v1alpha1',
    kind: 'InferenceIdentityBinding',
    metadata: { name: 'chat', namespace: 'orderly' },
    spec: { mode: 'PoolOnly', poolRef: { name: 'llama' }, serviceAccountName: 'runner' },
  }
  const account = {
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: { name: 'runner', namespace: 'orderly' },
  }
  await cp.apply([wanted, ...pods, account, namespace('orderly')])
  const order = (await cp.audit({ user: 'admin', namespace: 'orderly' })).map(
    ({ resource, status }) => `${status} ${resource}`,
  )
  expect(order).toEqual([
    '201 namespaces',
    '201 serviceaccounts',
    ...pods.map(() => '201 pods'),
    '201 inferenceidentitybindings',
  ])
})

describe('what was done', () => {
  test('the audit log says who did what, in order, and nothing of what came before the mark', async () => {
    await cp.apply([configMap('before', '1')])
    const since = await cp.auditMark()
    await cp.apply([configMap('noted', '1')])
    await cp.admin.patch(mapId('noted'), { data: { value: '2' } })
    await errorOf(cp.as(ALICE).create(configMap('denied', '1')))
    await cp.admin.delete(mapId('noted'))
    const writes = await cp.audit({ since, verbs: WRITE_VERBS, resource: 'configmaps' })
    expect(writes.map(({ user, verb, name, status }) => [user, verb, name, status])).toEqual([
      ['admin', 'patch', 'noted', 201],
      ['admin', 'patch', 'noted', 200],
      ['alice', 'create', '', 403],
      ['admin', 'delete', 'noted', 200],
    ])
  })

  test('of a write to a kind of kleym it holds what was sent and what came back', async () => {
    const since = await cp.auditMark()
    const binding = {
      apiVersion: 'kleym.sonda.red/v1alpha1',
      kind: 'InferenceIdentityBinding',
      metadata: { name: 'noted', namespace: 'default' },
      spec: { mode: 'PoolOnly', poolRef: { name: 'llama' }, serviceAccountName: 'runner' },
    }
    await cp.apply([binding])
    await cp.admin.patch(
      { apiVersion: binding.apiVersion, kind: binding.kind, name: 'noted', namespace: 'default' },
      { metadata: { finalizers: ['kleym.sonda.red/test'] } },
    )
    const [, patch] = await cp.audit({ since, resource: 'inferenceidentitybindings', verbs: ['patch'] })
    expect(patch?.requestObject).toEqual({ metadata: { finalizers: ['kleym.sonda.red/test'] } })
    expect(dig(patch?.responseObject, 'spec')).toEqual(binding.spec)
    await cp.admin.patch(
      { apiVersion: binding.apiVersion, kind: binding.kind, name: 'noted', namespace: 'default' },
      { metadata: { finalizers: null } },
    )
  })

  test('a watch is seen as soon as it is open', async () => {
    const since = await cp.auditMark()
    await cp.apply([configMap('watched', '1')])
    await firstOfWatch('0')
    const [watch] = await cp.audit({ since, verbs: ['watch'], user: 'admin', stage: 'ResponseStarted' })
    expect(watch).toMatchObject({ resource: 'configmaps', status: 200 })
  })
})

describe('kinds', () => {
  test('a CRD can be removed, and comes back', async () => {
    const pools = 'inferencepools.inference.networking.x-k8s.io'
    await cp.removeCrd(pools)
    expect((await cp.kubectl(['get', pools])).stderr).toContain("the server doesn't have a resource type")
    await cp.installCrd(pools)
    expect(await cp.kubectl(['get', pools, '-A'])).toMatchObject({ status: 0 })
  })

  test('a namespace finishes deleting, and a new one gets its default service account', async () => {
    await cp.apply([namespace('short-lived'), configMap('inside', '1', 'short-lived')])
    const account = { apiVersion: 'v1', kind: 'ServiceAccount', name: 'default', namespace: 'short-lived' }
    const made = await until(() => cp.admin.get(account), 'the service account default')
    expect(made).toMatchObject({ metadata: { namespace: 'short-lived' } })
    const id = { apiVersion: 'v1', kind: 'Namespace', name: 'short-lived' }
    await cp.admin.delete(id)
    await until(async () => (await cp.admin.get(id)) === undefined, 'the namespace to be gone')
  })
})

describe('accidents', () => {
  test('a killed API server comes back with the same address, certificate and data', async () => {
    await cp.apply([configMap('kept', '1')])
    await cp.killApiServer()
    await expect(cp.admin.get(mapId('kept'))).rejects.toMatchObject({ code: 'ECONNREFUSED' })
    await cp.restartApiServer()
    expect(dig(await cp.admin.get(mapId('kept')), 'data')).toEqual({ value: '1' })
  })

  test('a paused API server answers no request until it is resumed', async () => {
    await cp.pauseApiServer()
    let answered = false
    const answer = cp
      .as('admin')
      .get(mapId('kept'))
      .then((map) => {
        answered = true
        return map
      })
    try {
      const hung = await cp.kubectl(['get', 'ns', '--request-timeout', '1s'])
      expect(hung.status).not.toBe(0)
      expect(answered).toBe(false)
    } finally {
      await cp.resumeApiServer()
    }
    expect(dig(await answer, 'data')).toEqual({ value: '1' })
  })

  test('compaction alone ends no watch, which comes from the cache of the API server; pages do so from 1.34 on', async () => {
    await cp.apply([configMap('page-1', '1'), configMap('page-2', '1')])
    const [version, page] = [await versionOf('page-1'), await firstPage()]
    await cp.apply([configMap('page-1', '2')])
    await cp.compactEtcd()
    expect((await firstOfWatch(version)).event).toMatchObject({ object: { kind: 'ConfigMap' } })
    expect(await nextPage(page)).toMatchObject({ status: (await serverMinor(cp)) >= 34 ? 200 : 410 })
  })

  test('expireVersions makes every version too old to watch from, and every page token too old', async () => {
    const [version, page] = [await versionOf('kept'), await firstPage()]
    await cp.expireVersions()
    const { event } = await firstOfWatch(version)
    expect(event).toMatchObject({ type: 'ERROR', object: { code: 410, reason: 'Expired' } })
    expect(await nextPage(page)).toMatchObject({ status: 410, body: { reason: 'Expired' } })
  })
})
