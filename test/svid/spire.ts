// A real spire-server and a real SPIRE Controller Manager beside a control plane: no agent, no webhooks, an SQLite file.
// They are the oracle of these suites. Source: facts of SCM v0.7.0 and SPIRE v1.15.3 on running them outside a cluster.
import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { dig, isRecord, listAt, stringAt, type JsonRecord } from '../../shared/src/core/base/json.ts'
import type { ControlPlane } from '../control-plane/control-plane.ts'
import { freePorts } from '../control-plane/ports.ts'
import type { Program } from '../control-plane/processes.ts'
import { ensureSpire } from '../control-plane/spire-binaries.ts'
import type { SpireProgram } from '../control-plane/tools.ts'
import { CannotHold, until } from '@kleym/testing/wait.ts'

export const TRUST_DOMAIN = 'example.org'
export const CLASS = 'kleym-test'
export const CLUSTER_SPIFFE_ID = { apiVersion: 'spire.spiffe.io/v1alpha1', kind: 'ClusterSPIFFEID' } as const

/** Half a second: SCM passes at least so often, also for what raises no event there. */
const PASS_MS = 500
/** What stays as it is for so long, at least, has seen more than one whole pass. */
const STILL_MS = 2 * PASS_MS
const SETTLE_MS = 60_000
/** SCM itself makes and deletes such an entry now and then, to ask the server what it can do. */
const PROBE_PATH = '/spire-controller-manager/unsupported-fields-test'

/** An entry as the server holds it: lists sorted (bytes), IDs as `spiffe://` texts, TTLs in seconds. */
export interface HeldEntry extends EntryFields {
  /** Its own ID on the server, e.g. `prod.0b6f`: it begins with the prefix of the SCM that has made it, where that has one. */
  readonly entryId: string
}

/** What SCM decides of an entry. */
export interface EntryFields {
  readonly spiffeId: string
  readonly parentId: string
  /** `type:value`. */
  readonly selectors: readonly string[]
  readonly dnsNames: readonly string[]
  readonly federatesWith: readonly string[]
  readonly hint: string
  readonly x509SvidTtl: number
  readonly jwtSvidTtl: number
  readonly admin: boolean
  readonly downstream: boolean
  readonly storeSvid: boolean
}

/** What SCM is configured with, beyond what these suites always need. */
export type ScmConfig = Readonly<Record<string, unknown>>

export interface Spire {
  /** The whole configuration that SCM runs with now. */
  readonly config: () => ScmConfig
  /** All entries that the server holds now. */
  entries(): Promise<readonly HeldEntry[]>
  /** What `spire-server` prints for a command, e.g. `entry show -output json`, asked of the server that runs. */
  ask(...args: readonly string[]): Promise<string>
  /**
   * The entries once SCM has made whole passes over what was written before the call, and once entries and the status
   * of every ClusterSPIFFEID have then stayed the same for more than a pass. Where SCM is `blocked` and creates nothing,
   * its passes cannot be seen, and only time counts.
   */
  settled(blocked?: boolean): Promise<readonly HeldEntry[]>
  /** Ends SCM and starts it again with other settings, or as another release. */
  restart(config?: ScmConfig, program?: ScmProgram): Promise<void>
  /** The port on which agents find the server. */
  readonly port: number
  /** The log file of the server. */
  readonly log: string
  /** The SCM that runs now. */
  scm(): Program
  /**
   * Starts one more SCM on the same server. Each of them needs an `entryIDPrefix` of its own: without one an SCM takes all
   * entries for its own, and deletes those of the others.
   */
  another(name: string, config: ScmConfig): Promise<Program>
}

export type ScmProgram = Exclude<SpireProgram, 'spire-server'>

/** How the server and the first SCM are set up. */
export interface SpireOptions {
  /** Which SCM; that of the pinned release when absent. */
  readonly program?: ScmProgram
  /** `cache_reload_interval` of the server: agents see a new entry after so long. A second when absent. */
  readonly reload?: string
  /** The cluster whose agents may join with tokens of their service account, `NAMESPACE/NAME`. */
  readonly psat?: { readonly cluster: string; readonly serviceAccount: string }
}

/** Starts both and waits for the server; they end with the control plane. */
export async function startSpire(
  cp: ControlPlane,
  config: ScmConfig = {},
  { program = 'spire-controller-manager', ...options }: SpireOptions = {},
): Promise<Spire> {
  const binaries = await ensureSpire()
  if (!binaries.available) throw new Error(`there is no SPIRE on this machine: ${binaries.why}`)
  const { programs } = binaries
  const socket = join(cp.folder, 'spire.sock')
  const { port, server } = await startServer(cp, programs['spire-server'], socket, options)
  const entries = (): Promise<readonly HeldEntry[]> => readEntries(programs['spire-server'], socket)
  await until(async () => {
    const how = server.ended()
    if (how !== undefined) throw new CannotHold(`it has ended: ${how}\n${server.lastWords()}`)
    return (await entries()).length === 0
  }, 'the answer of spire-server')
  const kubeconfig = cp.kubeconfig()
  const startScm = (name: string, wanted: ScmConfig, which: ScmProgram): Promise<Program> => {
    const file = join(cp.folder, `${name}.json`)
    // JSON is YAML.
    writeFileSync(file, JSON.stringify(wanted))
    return cp.start({
      name,
      command: programs[which],
      args: ['-config', file],
      env: { KUBECONFIG: kubeconfig, ENABLE_WEBHOOKS: 'false' },
    })
  }
  let running: ScmConfig
  let scm: Program | undefined
  const restart = async (
    wanted: ScmConfig = {},
    which: ScmProgram = 'spire-controller-manager',
  ): Promise<void> => {
    await scm?.signal('SIGKILL')
    await scm?.end()
    running = { ...defaults(socket), ...wanted }
    scm = await startScm('scm', running, which)
  }
  await restart(config, program)
  const current = (): Program => {
    if (scm === undefined) throw new Error('SCM was not started')
    return scm
  }
  return {
    config: () => running,
    port,
    log: server.log,
    entries,
    ask: (...args) => askServer(programs['spire-server'], socket, args),
    settled: async (blocked = false) => {
      const from = performance.now()
      if (!blocked) await seePasses(cp, entries, String(running['className']))
      return settle(cp, entries, current, performance.now() - from)
    },
    restart,
    scm: current,
    another: (name, wanted) => startScm(name, { ...defaults(socket), ...wanted }, 'spire-controller-manager'),
  }
}

function defaults(socket: string): ScmConfig {
  return {
    apiVersion: 'spire.spiffe.io/v1alpha1',
    kind: 'ControllerManagerConfig',
    metrics: { bindAddress: '0' },
    leaderElection: { leaderElect: false },
    // An integer of nanoseconds.
    gcInterval: PASS_MS * 1_000_000,
    clusterName: 'prod',
    trustDomain: TRUST_DOMAIN,
    clusterDomain: 'cluster.local',
    className: CLASS,
    watchClassless: false,
    ignoreNamespaces: ['kube-system', 'kube-public', 'local-path-storage', 'openshift-.*', 'ibm-.*'],
    spireServerSocketPath: socket,
    reconcile: { clusterSPIFFEIDs: true, clusterStaticEntries: true },
  }
}

async function startServer(
  cp: ControlPlane,
  command: string,
  socket: string,
  { psat, reload = '1s' }: SpireOptions,
): Promise<{ readonly port: number; readonly server: Program }> {
  const [port = 0] = await freePorts(1)
  const file = join(cp.folder, 'spire-server.json')
  const settings = {
    bind_address: '127.0.0.1',
    bind_port: String(port),
    socket_path: socket,
    trust_domain: TRUST_DOMAIN,
    data_dir: join(cp.folder, 'spire'),
    log_level: 'WARN',
    experimental: { cache_reload_interval: reload },
  }
  const dataStore = { database_type: 'sqlite3', connection_string: join(cp.folder, 'spire.sqlite') }
  const plugins = {
    DataStore: [{ sql: { plugin_data: dataStore } }],
    KeyManager: [{ memory: { plugin_data: {} } }],
    // For the suite with an agent; without one, no token is ever made.
    NodeAttestor: [
      { join_token: { plugin_data: {} } },
      ...(psat === undefined ? [] : [{ k8s_psat: { plugin_data: psatData(psat, cp) } }]),
    ],
  }
  writeFileSync(file, JSON.stringify({ server: settings, plugins }))
  const server = await cp.start({ name: 'spire-server', command, args: ['run', '-config', file] })
  return { port, server }
}

function psatData({ cluster, serviceAccount }: NonNullable<SpireOptions['psat']>, cp: ControlPlane): object {
  return {
    clusters: {
      [cluster]: {
        service_account_allow_list: [serviceAccount.replace('/', ':')],
        // It asks the API server whether a token is good, and on which node its pod is.
        kube_config_file: cp.kubeconfig(),
      },
    },
  }
}

/**
 * A static entry comes and goes again. SCM works in one thread, so between the two it ends a pass that it began after it
 * had seen the static entry, however slow the machine is.
 */
async function seePasses(
  cp: ControlPlane,
  entries: () => Promise<readonly HeldEntry[]>,
  className: string,
): Promise<void> {
  const name = `settling-${crypto.randomUUID()}`
  const spiffeID = `spiffe://${TRUST_DOMAIN}/${name}`
  const isThere = async (): Promise<boolean> =>
    (await entries()).some(({ spiffeId }) => spiffeId === spiffeID)
  const id = { apiVersion: CLUSTER_SPIFFE_ID.apiVersion, kind: 'ClusterStaticEntry', name }
  await cp.admin.apply({
    apiVersion: id.apiVersion,
    kind: id.kind,
    metadata: { name },
    spec: { spiffeID, parentID: `spiffe://${TRUST_DOMAIN}/settling`, selectors: ['x:y'], className },
  })
  await until(isThere, 'SCM to see a new static entry', SETTLE_MS)
  await cp.admin.delete(id)
  await until(async () => !(await isThere()), 'SCM to see that the static entry is gone', SETTLE_MS)
}

/**
 * `tookMs` is how long SCM took to see one kind of object come and go. It watches each kind by itself, so on a busy machine it may see
 * another kind that much later.
 */
async function settle(
  cp: ControlPlane,
  entries: () => Promise<readonly HeldEntry[]>,
  scm: () => Program,
  tookMs: number,
): Promise<readonly HeldEntry[]> {
  const stillMs = Math.max(STILL_MS, tookMs)
  let before = ''
  let since = performance.now()
  return until(
    async () => {
      const how = scm().ended()
      if (how !== undefined) throw new Error(`SCM has ended: ${how}\n${scm().lastWords()}`)
      const held = await entries()
      const now = JSON.stringify([held.map(entryText).toSorted(), await statuses(cp)])
      if (now !== before) {
        before = now
        since = performance.now()
      }
      return performance.now() - since > stillMs && held
    },
    'the entries to stay as they are',
    SETTLE_MS,
  )
}

async function statuses(cp: ControlPlane): Promise<readonly string[]> {
  const objects = await cp.admin.list(CLUSTER_SPIFFE_ID)
  return objects
    .map((object) => `${stringAt(object, 'metadata', 'name')} ${JSON.stringify(dig(object, 'status'))}`)
    .toSorted()
}

/** All fields of an entry in one line; equal for equal entries. */
export function entryText(entry: EntryFields): string {
  return JSON.stringify([
    entry.spiffeId,
    entry.parentId,
    entry.selectors,
    entry.dnsNames,
    entry.federatesWith,
    entry.hint,
    entry.x509SvidTtl,
    entry.jwtSvidTtl,
    entry.admin,
    entry.downstream,
    entry.storeSvid,
  ])
}

/** The words of the command come first, then the flags of which the socket is one. */
async function askServer(command: string, socket: string, args: readonly string[]): Promise<string> {
  const at = args.findIndex((one) => one.startsWith('-'))
  const words = at < 0 ? args : args.slice(0, at)
  const { stdout } = await promisify(execFile)(
    command,
    [...words, '-socketPath', socket, ...args.slice(words.length)],
    { maxBuffer: 256 * 1024 * 1024 },
  )
  return stdout
}

async function readEntries(command: string, socket: string): Promise<readonly HeldEntry[]> {
  const answer: unknown = JSON.parse(await askServer(command, socket, ['entry', 'show', '-output', 'json']))
  return listAt(answer, 'entries')
    .filter(isRecord)
    .filter((entry) => stringAt(entry, 'spiffe_id', 'path') !== PROBE_PATH)
    .map(heldEntry)
}

function heldEntry(entry: JsonRecord): HeldEntry {
  return {
    entryId: stringAt(entry, 'id') ?? '',
    spiffeId: idText(entry['spiffe_id']),
    parentId: idText(entry['parent_id']),
    selectors: listAt(entry, 'selectors')
      .map((one) => `${stringAt(one, 'type')}:${stringAt(one, 'value')}`)
      .toSorted(),
    dnsNames: textsAt(entry, 'dns_names'),
    federatesWith: textsAt(entry, 'federates_with'),
    hint: stringAt(entry, 'hint') ?? '',
    x509SvidTtl: Number(entry['x509_svid_ttl'] ?? 0),
    jwtSvidTtl: Number(entry['jwt_svid_ttl'] ?? 0),
    admin: entry['admin'] === true,
    downstream: entry['downstream'] === true,
    storeSvid: entry['store_svid'] === true,
  }
}

function idText(id: unknown): string {
  return `spiffe://${stringAt(id, 'trust_domain') ?? ''}${stringAt(id, 'path') ?? ''}`
}

function textsAt(entry: JsonRecord, field: string): readonly string[] {
  return listAt(entry, field).map(String).toSorted()
}
