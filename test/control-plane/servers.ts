// etcd, kube-apiserver and kube-controller-manager with the flags of a small real cluster: RBAC, TLS that is verified,
// service-account tokens, an audit log.
import { generateKeyPairSync } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { get as httpsGet } from 'node:https'
import { join } from 'node:path'
import type { Binaries } from './binaries.ts'
import { auditPolicy } from './audit.ts'
import { callEtcd, type Pair } from './etcd.ts'
import { storeFirstState } from './first-state.ts'
import { freePorts } from './ports.ts'
import type { Processes, Program } from './processes.ts'
import { until } from '@kleym/testing/wait.ts'

const READY_MS = 90_000
const TRIES = 3

/** The files of one control plane, in the folder of its supervisor. */
export interface Files {
  readonly tokens: string
  readonly audit: string
  /** The serving certificate followed by its CA, made by the API server itself, and the key. */
  readonly certificate: string
  readonly key: string
}

/** The backing servers, up and ready. */
export interface Servers {
  readonly etcdPort: number
  /** Where etcd keeps its data. */
  readonly etcdFolder: string
  readonly port: number
  readonly etcd: Program
  /** Starts etcd again after its end, with what its folder holds; it is not waited for. */
  readonly startEtcdAgain: () => Promise<Program>
  readonly apiServer: Program
}

export function filesIn(folder: string): Files {
  return {
    tokens: join(folder, 'tokens.csv'),
    audit: join(folder, 'audit.jsonl'),
    certificate: join(folder, 'certificates', 'apiserver.crt'),
    key: join(folder, 'certificates', 'apiserver.key'),
  }
}

export interface ServerOptions {
  readonly processes: Processes
  readonly binaries: Binaries
  readonly admissionOff: readonly string[]
  /** The most bytes that etcd stores; its default when undefined. */
  readonly etcdQuota?: number | undefined
  /** Whether the API server passes `kubectl exec` and `kubectl logs` on to kubelets. */
  readonly kubelets?: boolean | undefined
  /** Whether the audit log holds the bodies of writes; it does when undefined. */
  readonly auditBodies?: boolean | undefined
  /** What the API server's garbage collector is to stay below (GOMEMLIMIT); no limit when undefined. */
  readonly apiServerMemory?: string | undefined
  /** What etcd holds from the start; nothing when undefined. */
  readonly firstState?: readonly Pair[] | undefined
}

/** Starts etcd and the API server and waits until both are ready. Rejects with their last words when they are not. */
export async function startServers(options: ServerOptions): Promise<Servers> {
  const { folder } = options.processes
  // As PEM of PKCS#1, which every version of the API server reads.
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  writeFileSync(join(folder, 'sa.key'), privateKey.export({ type: 'pkcs1', format: 'pem' }), { mode: 0o600 })
  writeFileSync(join(folder, 'audit-policy.json'), auditPolicy(options.auditBodies ?? true))
  for (let tries = 1; ; tries++) {
    const [port = 0, etcdPort = 0, peerPort = 0] = await freePorts(3)
    const etcdFolder = join(folder, `etcd-${tries}`)
    const startEtcdAgain = (): Promise<Program> => startEtcd(options, etcdFolder, etcdPort, peerPort)
    const etcd = await startEtcdAgain()
    if (options.firstState !== undefined) await fill(etcd, etcdPort, options.firstState)
    const apiServer = await startApiServer(options, port, etcdPort)
    try {
      await apiServerReady(apiServer, port, filesIn(folder), etcd)
      return { port, etcdPort, etcdFolder, etcd, startEtcdAgain, apiServer }
    } catch (error) {
      // Another process may have taken a port between our look and the server's.
      const taken = `${etcd.lastWords()}${apiServer.lastWords()}`.includes('address already in use')
      if (!taken || tries >= TRIES) throw error
      await Promise.all([etcd, apiServer].map((program) => program.signal('SIGKILL')))
      await Promise.all([etcd.end(), apiServer.end()])
    }
  }
}

/** Of an etcd that has ended there is nothing to wait for: the API server's start says why. */
async function fill(etcd: Program, port: number, pairs: readonly Pair[]): Promise<void> {
  const answers = await until(
    async () =>
      etcd.ended() === undefined ? callEtcd(port, 'kv/range', { key: 'AA==' }).then(() => 'yes') : 'no',
    'etcd to answer',
  )
  if (answers === 'yes') await storeFirstState(port, pairs)
}

function startEtcd(
  { processes, binaries, etcdQuota }: ServerOptions,
  folder: string,
  port: number,
  peerPort: number,
): Promise<Program> {
  const [client, peer] = [`http://127.0.0.1:${port}`, `http://127.0.0.1:${peerPort}`]
  return processes.start({
    name: 'etcd',
    command: binaries.programs.etcd,
    args: [
      ['--data-dir', folder],
      ['--listen-client-urls', client],
      ['--advertise-client-urls', client],
      ['--listen-peer-urls', peer],
      ['--initial-advertise-peer-urls', peer],
      ['--initial-cluster', `default=${peer}`],
      ['--log-level', 'warn'],
      // Nothing in there outlives the test, so nothing needs to reach the disk.
      ['--unsafe-no-fsync'],
      ...(etcdQuota === undefined ? [] : [['--quota-backend-bytes', String(etcdQuota)]]),
    ].flat(),
  })
}

/** Starts the API server; also again, on the same port, data and certificate. */
export function startApiServer(
  { processes, binaries, admissionOff, kubelets = false, apiServerMemory }: ServerOptions,
  port: number,
  etcdPort: number,
): Promise<Program> {
  const { folder } = processes
  const files = filesIn(folder)
  return processes.start({
    name: 'kube-apiserver',
    command: binaries.programs['kube-apiserver'],
    ...(apiServerMemory === undefined ? {} : { env: { GOMEMLIMIT: apiServerMemory } }),
    args: [
      ['--etcd-servers', `http://127.0.0.1:${etcdPort}`],
      ['--bind-address', '127.0.0.1'],
      ['--secure-port', String(port)],
      // A machine without a network has no other address; and then no Endpoints object may be written for it.
      ['--advertise-address', '127.0.0.1'],
      ['--endpoint-reconciler-type', 'none'],
      ['--cert-dir', join(folder, 'certificates')],
      ['--service-account-issuer', 'https://kubernetes.default.svc'],
      ['--service-account-signing-key-file', join(folder, 'sa.key')],
      ['--service-account-key-file', join(folder, 'sa.key')],
      ['--service-cluster-ip-range', '10.0.0.0/24'],
      ['--authorization-mode', 'RBAC'],
      ['--token-auth-file', files.tokens],
      ['--audit-policy-file', join(folder, 'audit-policy.json')],
      ['--audit-log-path', files.audit],
      // The log is read by offset: it must not be rotated away.
      ['--audit-log-maxsize', '100000'],
      ...(admissionOff.length === 0 ? [] : [['--disable-admission-plugins', admissionOff.join(',')]]),
      ...(kubelets ? toKubelets(files) : []),
    ].flat(),
  })
}

/**
 * To a kubelet the API server shows the one certificate that it has. It hands the WebSocket of `kubectl exec` through as it is,
 * rather than translated to SPDY, which only real kubelets speak.
 */
function toKubelets({ certificate, key }: Files): readonly (readonly string[])[] {
  return [
    ['--kubelet-client-certificate', certificate],
    ['--kubelet-client-key', key],
    ['--feature-gates', 'TranslateStreamCloseWebsocketRequests=false'],
  ]
}

/** Waits for `/readyz`, verifying the server. Rejects at once when one of the programs has ended. */
export async function apiServerReady(
  apiServer: Program,
  port: number,
  files: Files,
  etcd: Program,
): Promise<void> {
  const outcome = await until(
    async () => {
      const ended = [apiServer, etcd].find((program) => program.ended() !== undefined)
      if (ended !== undefined) return { ended }
      return (await isReady(port, files)) && { ended: undefined }
    },
    'the API server to be ready',
    READY_MS,
  ).catch((error: unknown) => {
    throw new Error(`the API server did not become ready:\n${apiServer.lastWords()}`, { cause: error })
  })
  const { ended } = outcome
  if (ended !== undefined)
    throw new Error(`${ended.name} ended with ${ended.ended() ?? ''}:\n${ended.lastWords()}`)
}

async function isReady(port: number, files: Files): Promise<boolean> {
  if (!existsSync(files.certificate)) return false
  const ca = readFileSync(files.certificate, 'utf8')
  const [row = ''] = readFileSync(files.tokens, 'utf8').split('\n')
  const [token = ''] = row.split(',')
  return new Promise((resolve, reject) => {
    const request = httpsGet(
      {
        host: '127.0.0.1',
        port,
        path: '/readyz',
        ca,
        timeout: 5000,
        headers: { authorization: `Bearer ${token}` },
      },
      (response) => {
        response.resume()
        response.once('end', () => resolve(response.statusCode === 200))
      },
    )
    request.once('timeout', () => request.destroy(new Error('no answer from /readyz')))
    request.once('error', reject)
  })
}

/** Starts some of the controllers that a cluster has; they are not waited for. */
export function startControllers(
  { processes, binaries }: ServerOptions,
  kubeconfig: string,
  controllers: readonly string[],
): Promise<Program> {
  return processes.start({
    name: 'kube-controller-manager',
    command: binaries.programs['kube-controller-manager'],
    args: [
      ['--kubeconfig', kubeconfig],
      ['--leader-elect=false'],
      ['--secure-port', '0'],
      ['--controllers', controllers.join(',')],
      // The default of 20 requests per second makes a namespace of a few hundred bindings take a minute to go.
      ['--kube-api-qps', '200'],
      ['--kube-api-burst', '400'],
    ].flat(),
  })
}
