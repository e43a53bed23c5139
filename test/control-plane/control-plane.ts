// A real control plane for one test file: etcd, kube-apiserver and the controllers that matter here, on loopback ports
// and in a folder of their own, gone when the process that started them is. Up in a few seconds; files can run side by side.
import { cpSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { JsonRecord } from '../../shared/src/core/base/json.ts'
import { matches, readAudit, type AuditEvent, type AuditFilter, type AuditMark } from './audit.ts'
import { ensureBinaries, type Binaries } from './binaries.ts'
import { CRD_NAMES, installAndWait, readCrd, removeAndWait, servedByNow, type CrdName } from './crds.ts'
import {
  ADMIN,
  CONTROLLER_MANAGER,
  writeKubeconfig,
  writeTokens,
  type Tokens,
  type User,
} from './credentials.ts'
import { callEtcd, compact, free, type Pair } from './etcd.ts'
import { firstStateFile, keepFirstState, readFirstState } from './first-state.ts'
import { runKubectl, type KubectlOptions, type KubectlResult } from './kubectl.ts'
import { startProcesses, type Program, type ProgramStart } from './processes.ts'
import { applyAll, requestToken, rest, type Rest } from './rest.ts'
import { givesRights, rightsInForce } from './rights-in-force.ts'
import {
  apiServerReady,
  filesIn,
  startApiServer,
  startControllers,
  startServers,
  type ServerOptions,
  type Servers,
} from './servers.ts'
import { until } from '@kleym/testing/wait.ts'

export interface ControlPlaneOptions {
  /** Users beside `admin`; RBAC allows them nothing until a test binds roles to them. */
  readonly users?: readonly User[]
  /** CRDs to leave out; all of `CRD_NAMES` are there otherwise. `installCrd` brings one later. */
  readonly without?: readonly CrdName[]
  /**
   * What the controller manager runs: by default what lets namespaces finish deleting, gives each a service account
   * `default` and fills the cluster roles `view`, `edit` and `admin`. With an empty list there is no controller
   * manager, and pods need no service account.
   */
  readonly controllers?: readonly string[]
  /** The most bytes that etcd stores (`--quota-backend-bytes`); its default of 2 GiB when absent. */
  readonly etcdQuota?: number
  /** Whether `kubectl exec` and `kubectl logs` reach what listens on the kubelet's port of a Node object. */
  readonly kubelets?: boolean
  /** Whether the audit log holds the bodies of writes, as it does when absent: of objects of megabytes it gets gigabytes. */
  readonly auditBodies?: boolean
  /** What the API server's garbage collector is to stay below, e.g. `4GiB`; no limit when absent. */
  readonly apiServerMemory?: string
}

export const DEFAULT_CONTROLLERS = [
  'namespace-controller',
  'serviceaccount-controller',
  'clusterrole-aggregation-controller',
] as const

export interface ControlPlane {
  /** `https://127.0.0.1:<port>`: the same for its whole life. */
  readonly server: string
  readonly port: number
  /** Where etcd speaks, on the loopback address and without TLS: for what must see every state. */
  readonly etcdPort: number
  /** PEM. */
  readonly ca: string
  /** Removed when the control plane stops; tests may put files there. */
  readonly folder: string
  /** The serving certificate and key, for proxies in front of the API server. */
  readonly serving: { readonly certificate: string; readonly key: string }
  /** Starts another program that ends with this control plane, an operator for example. */
  start(program: ProgramStart): Promise<Program>
  /** What is running now, by process id. */
  readonly pids: () => readonly number[]
  /** The harness's client as `admin`. */
  readonly admin: Rest
  /** A client as another user of `options.users`, on its own connections. */
  as(user: string): Rest
  tokenOf(user: string): string
  /** The path of a kubeconfig file for a user; `server` in place of the API server's own address, for a proxy. */
  kubeconfig(user?: string, server?: string): string
  /** The same for a service account that exists, through TokenRequest. The token lasts a day. */
  kubeconfigForServiceAccount(namespace: string, name: string, server?: string): Promise<string>
  /** The real kubectl. */
  kubectl(args: readonly string[], options?: KubectlOptions): Promise<KubectlResult>
  /**
   * Applies objects as admin: namespaces first, then service accounts, bindings last, eight at a time. Rights among them
   * are in force when it resolves. Rejects with the first refusal after all were tried.
   */
  apply(objects: readonly JsonRecord[]): Promise<void>
  /** Installs a CRD, or a changed one, and waits until its kind is served. */
  installCrd(crd: CrdName | JsonRecord): Promise<void>
  /** Removes a CRD with all its objects, and waits until its kind is not served any more. Finalizers can hold it up. */
  removeCrd(name: CrdName): Promise<void>
  /** A CRD as an object, to be changed and installed. */
  crd(name: CrdName): JsonRecord
  /** What was answered so far, oldest first; it waits for the log to catch up with the calls before it. */
  audit(filter?: AuditFilter): Promise<readonly AuditEvent[]>
  /** Now, for `AuditFilter.since`. */
  auditMark(): Promise<AuditMark>
  /** SIGKILL. */
  killApiServer(): Promise<void>
  /** Starts it again where it was, with the same port, certificate and data, and waits until it is ready. */
  restartApiServer(): Promise<void>
  /** SIGSTOP: connections stay open, nothing answers. */
  pauseApiServer(): Promise<void>
  resumeApiServer(): Promise<void>
  /**
   * Compacts etcd at its newest revision. That alone ends no watch: the API server serves watches, and from 1.34 on the
   * pages of lists, from its own cache of recent states. See `expireVersions`.
   */
  compactEtcd(): Promise<void>
  /**
   * Makes every resource version and page token handed out so far expire (410, `Expired`): the API server is killed,
   * etcd moves on and is compacted, and the API server comes back with an empty cache. Watches break first.
   */
  expireVersions(): Promise<void>
  /** SIGKILL of etcd, and its start with all that it held; resolves when it answers. The API server is left as it is. */
  restartEtcd(): Promise<void>
  /** Gives etcd its space back after it was full: compacts, defragments and takes the alarm away. */
  freeEtcd(): Promise<void>
  /** Copies what etcd holds now, for `restoreEtcd`. */
  backUpEtcd(): Promise<void>
  /**
   * Time goes back: etcd is killed, starts again with the copy that `backUpEtcd` has made last, and is waited for. The API
   * server is left as it is.
   */
  restoreEtcd(): Promise<void>
  /** Kills everything and removes the folder. */
  stop(): Promise<void>
}

/** Starts a control plane and waits until all its kinds are served. Rejects with what went wrong, leaving nothing behind. */
export async function startControlPlane(options: ControlPlaneOptions = {}): Promise<ControlPlane> {
  const binaries = await ensureBinaries()
  if (!binaries.available)
    throw new Error(`there is no control plane on this machine: ${binaries.why}\n  fix:  ${binaries.fix}`)
  // Without some of the CRDs, the API server is to have no trace of them.
  const firstState = options.without === undefined ? await firstStateOf(binaries) : undefined
  const processes = await startProcesses()
  try {
    const { etcdQuota, kubelets, auditBodies, apiServerMemory } = options
    return await assemble(
      {
        processes,
        binaries,
        admissionOff: admissionOff(options),
        etcdQuota,
        kubelets,
        auditBodies,
        apiServerMemory,
        firstState,
      },
      options,
    )
  } catch (error) {
    await processes.stop()
    throw error
  }
}

/** What etcd holds after a start with all CRDs; made here if it was not kept yet. */
async function firstStateOf(binaries: Binaries): Promise<readonly Pair[]> {
  const file = firstStateFile(binaries)
  const kept = readFirstState(file)
  if (kept !== undefined) return kept
  const processes = await startProcesses()
  try {
    const options = { controllers: [] }
    const cp = await assemble({ processes, binaries, admissionOff: admissionOff(options) }, options)
    return await keepFirstState(cp.etcdPort, file)
  } finally {
    await processes.stop()
  }
}

function controllersOf({ controllers = DEFAULT_CONTROLLERS }: ControlPlaneOptions): readonly string[] {
  return controllers
}

/** Without the controller that makes the service account `default`, every pod would be refused. */
function admissionOff(options: ControlPlaneOptions): readonly string[] {
  return controllersOf(options).includes('serviceaccount-controller') ? [] : ['ServiceAccount']
}

async function assemble(parts: ServerOptions, options: ControlPlaneOptions): Promise<ControlPlane> {
  const { folder, supervisorPid } = parts.processes
  const files = filesIn(folder)
  const tokens = writeTokens(files.tokens, options.users ?? [])
  const servers = await startServers(parts)
  const { port } = servers
  const etcd = etcdOf(servers)
  const access = accessTo(port, readFileSync(files.certificate, 'utf8'), folder, tokens)
  const { admin } = access
  const controllers = await controllersFor(parts, options, access)
  const apiServer = apiServerOf(parts, { ...servers, etcd: () => etcd.program() }, () => access.hangUp())
  const kinds = kindsOn(admin, parts)
  const names = CRD_NAMES.filter((name) => options.without?.includes(name) !== true)
  await Promise.all(
    names.map((name) =>
      parts.firstState === undefined ? kinds.installCrd(name) : servedByNow(admin, kinds.crd(name)),
    ),
  )
  return {
    port,
    etcdPort: servers.etcdPort,
    folder,
    serving: { certificate: files.certificate, key: files.key },
    start: (program) => parts.processes.start(program),
    pids: () => [supervisorPid, ...runningPids([etcd.program(), ...controllers, apiServer.program()])],
    ...access,
    ...kinds,
    kubectl: kubectlWith(parts, access),
    apply: async (objects) => {
      await applyAll(admin, objects)
      if (objects.some(givesRights)) await rightsInForce(admin)
    },
    ...auditOf(files.audit, admin),
    killApiServer: () => apiServer.kill(),
    restartApiServer: () => apiServer.restart(),
    pauseApiServer: () => apiServer.program().signal('SIGSTOP'),
    resumeApiServer: () => apiServer.program().signal('SIGCONT'),
    compactEtcd: async () => void (await compact(servers.etcdPort)),
    expireVersions: async () => {
      // A write after the versions that clients hold: the new watch cache starts behind them.
      await admin.apply(marker())
      await apiServer.kill()
      await compact(servers.etcdPort)
      await apiServer.restart()
    },
    freeEtcd: () => free(servers.etcdPort),
    restartEtcd: () => etcd.restart(),
    backUpEtcd: () => etcd.backUp(),
    restoreEtcd: () => etcd.restore(),
    stop: async () => {
      access.hangUp()
      await parts.processes.stop()
    },
  }
}

function runningPids(programs: readonly Program[]): readonly number[] {
  return programs.filter((program) => program.ended() === undefined).map(({ pid }) => pid)
}

type Access = Pick<
  ControlPlane,
  'server' | 'ca' | 'admin' | 'as' | 'tokenOf' | 'kubeconfig' | 'kubeconfigForServiceAccount'
> & { hangUp(): void }

function accessTo(port: number, ca: string, folder: string, tokens: Tokens): Access {
  const server = `https://127.0.0.1:${port}`
  const clients: Rest[] = []
  let written = 0
  const tokenOf = (user: string): string => {
    const token = tokens.get(user)
    if (token === undefined) throw new Error(`user ${user} is not among the users of this control plane`)
    return token
  }
  const as = (user: string): Rest => {
    const client = rest({ port, ca, token: tokenOf(user) })
    clients.push(client)
    return client
  }
  const admin = as(ADMIN)
  const write = (user: string, token: string, at: string): string => {
    const file = join(folder, `kubeconfig-${++written}`)
    writeKubeconfig(file, { server: at, ca, user, token })
    return file
  }
  return {
    server,
    ca,
    admin,
    as,
    tokenOf,
    kubeconfig: (user = ADMIN, at = server) => write(user, tokenOf(user), at),
    kubeconfigForServiceAccount: async (namespace, name, at = server) =>
      write(`system:serviceaccount:${namespace}:${name}`, await requestToken(admin, namespace, name), at),
    hangUp: () => {
      for (const client of clients) client.hangUp()
    },
  }
}

async function controllersFor(
  parts: ServerOptions,
  options: ControlPlaneOptions,
  access: Access,
): Promise<readonly Program[]> {
  const controllers = controllersOf(options)
  if (controllers.length === 0) return []
  return [await startControllers(parts, access.kubeconfig(CONTROLLER_MANAGER), controllers)]
}

/** The etcd that is running now, and a copy of what it held once. */
function etcdOf({ etcd, etcdFolder, etcdPort, startEtcdAgain }: Servers): {
  program(): Program
  restart(): Promise<void>
  backUp(): Promise<void>
  restore(): Promise<void>
} {
  let program = etcd
  const copy = `${etcdFolder}-copy`
  const restart = async (whileDown: () => void = () => {}): Promise<void> => {
    await program.signal('SIGKILL')
    await program.end()
    whileDown()
    program = await startEtcdAgain()
    await until(() => callEtcd(etcdPort, 'kv/range', { key: 'AA==' }), 'etcd to answer again')
  }
  return {
    program: () => program,
    backUp: async () => {
      // Stopped, its files are those of a crash at one moment.
      await program.signal('SIGSTOP')
      rmSync(copy, { recursive: true, force: true })
      cpSync(etcdFolder, copy, { recursive: true })
      await program.signal('SIGCONT')
    },
    restart: () => restart(),
    restore: () =>
      restart(() => {
        rmSync(etcdFolder, { recursive: true })
        cpSync(copy, etcdFolder, { recursive: true })
      }),
  }
}

/** The API server that is running now, whichever of its runs that is. */
function apiServerOf(
  parts: ServerOptions,
  { apiServer, port, etcdPort, etcd }: Omit<Servers, 'etcd'> & { readonly etcd: () => Program },
  hangUp: () => void,
): { program(): Program; kill(): Promise<void>; restart(): Promise<void> } {
  let program = apiServer
  const kill = async (): Promise<void> => {
    await program.signal('SIGKILL')
    await program.end()
    // A connection whose end has not been heard of yet would be used again, and break.
    hangUp()
  }
  return {
    program: () => program,
    kill,
    restart: async () => {
      await kill()
      program = await startApiServer(parts, port, etcdPort)
      await apiServerReady(program, port, filesIn(parts.processes.folder), etcd())
    },
  }
}

function kubectlCache({ processes }: ServerOptions): string {
  return join(processes.folder, 'kubectl-cache')
}

function kindsOn(admin: Rest, parts: ServerOptions): Pick<ControlPlane, 'crd' | 'installCrd' | 'removeCrd'> {
  const crd = (name: CrdName): JsonRecord => readCrd(name, parts.binaries.crds)
  // kubectl would believe what it has seen for ten minutes.
  const forget = (): void => rmSync(kubectlCache(parts), { recursive: true, force: true })
  return {
    crd,
    installCrd: async (wanted) => {
      await installAndWait(admin, typeof wanted === 'string' ? crd(wanted) : wanted)
      forget()
    },
    removeCrd: async (name) => {
      await removeAndWait(admin, crd(name))
      forget()
    },
  }
}

function kubectlWith(parts: ServerOptions, access: Access): ControlPlane['kubectl'] {
  const kubeconfigs = new Map<string, string>()
  return (args, { input, user = ADMIN } = {}) => {
    const file = kubeconfigs.get(user) ?? access.kubeconfig(user)
    kubeconfigs.set(user, file)
    const all = ['--kubeconfig', file, '--cache-dir', kubectlCache(parts), ...args]
    return runKubectl(parts.binaries.programs.kubectl, all, input, parts.processes.folder)
  }
}

const FENCE = '/version?fence='

function auditOf(file: string, admin: Rest): Pick<ControlPlane, 'audit' | 'auditMark'> {
  // The end of what was looked through for a fence: a long log is read once.
  let known: AuditMark = { offset: 0 }
  /** Where the log ends once everything that was answered before the call stands in it. */
  const caughtUp = async (): Promise<AuditMark> => {
    const fence = FENCE + crypto.randomUUID()
    await admin.request({ method: 'GET', path: fence })
    return until(async () => {
      const { events, end } = await readAudit(file, known)
      known = end
      return events.some(({ uri }) => uri === fence) && end
    }, 'the audit log to catch up')
  }
  return {
    audit: async (filter = {}) => {
      const { atLeast = 0 } = filter
      const found = async (): Promise<readonly AuditEvent[]> => {
        await caughtUp()
        const { events } = await readAudit(file, filter.since)
        return events.filter((event) => !event.uri.startsWith(FENCE) && matches(event, filter))
      }
      if (atLeast === 0) return found()
      return until(async () => {
        const events = await found()
        if (events.length < atLeast) throw new Error(`there are ${events.length}`)
        return events
      }, `${atLeast} entries of the audit log`)
    },
    auditMark: caughtUp,
  }
}

function marker(): JsonRecord {
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'kleym-test-marker', namespace: 'default' },
    data: { at: crypto.randomUUID() },
  }
}
