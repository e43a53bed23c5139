// One context of a kubeconfig as a Cluster. KubeConfig of @kubernetes/client-node reads certificates and runs exec, OIDC
// and cloud plugins; this file gives it the one cluster and user concerned, and puts right what it leaves out.
import type { RequestOptions } from 'node:https'
import { KubeConfig } from '@kubernetes/client-node'
import { isRecord, listAt, own, stringAt, type JsonRecord } from '../core/base/json.ts'
import { ClusterConfigError, type Cluster, type Credentials } from './cluster.ts'
import type { Clock } from './clock.ts'
import { cachedFor } from './cached-for.ts'
import { headerValue, isHeaderValue } from './headers.ts'
import { findProgram } from './program-path.ts'
import type { Entry, Kubeconfig } from './kubeconfig-files.ts'
import { isKnownProxy, proxyFromEnv } from './proxy.ts'
import { readToken } from './token-file.ts'

/** How long certificates and tokens are used before their files and plugins are asked again. */
const CREDENTIALS_MS = 10_000
/** A plugin may open a browser; it may not hang for ever. */
const PLUGIN_MS = 120_000
/** How much of what a plugin printed is shown. */
const WHY_LENGTH = 300

export interface ContextChoice {
  readonly kubeconfig: Kubeconfig
  /** The current context when absent. */
  readonly context: string | undefined
  readonly env: Readonly<Record<string, string | undefined>>
  readonly clock: Clock
}

interface Chosen {
  readonly contextName: string
  readonly namespace: string
  readonly server: URL
  readonly cluster: Entry
  readonly user: Entry
}

/** Throws a ClusterConfigError for a context that is not there or not whole; reads no credentials yet. */
export function contextCluster(choice: ContextChoice): Cluster {
  const chosen = choose(choice)
  requireOneUser(chosen)
  const proxyUrl = stringAt(chosen.cluster.body, 'proxy-url') ?? ''
  const proxy = proxyUrl === '' ? proxyFromEnv(chosen.server, choice.env) : proxyAt(proxyUrl, chosen.cluster)
  return {
    server: chosen.server,
    contextName: chosen.contextName,
    namespace: chosen.namespace,
    ...(proxy !== undefined && { proxy }),
    ...(chosen.server.protocol === 'http:' ? withoutTls(chosen) : withTls(choice, chosen)),
  }
}

/** Says who we are to be, and proves nothing: what proves it is for the server alone. No file is read and no plugin run. */
function withoutTls({ user }: Chosen): Pick<Cluster, 'credentials' | 'withheld'> {
  const as = stringAt(user.body, 'as') ?? ''
  const headers = sendable(
    { ...(as !== '' && { 'impersonate-user': as }), ...impersonation(user.body) },
    user,
  )
  const withheld = PROOFS.filter(({ fields }) => fields.some((field) => isGiven(user.body[field])))
  return {
    credentials: async () => ({ rejectUnauthorized: true, headers }),
    ...(withheld.length > 0 && { withheld: withheld.map(({ name }) => name).join(', ') }),
  }
}

/**
 * Refuses what clientcmd (`validateAuthInfo`) and its transport refuse: two ways to say who the user is, and half of an
 * impersonation.
 */
function requireOneUser({ server, user: { body, file } }: Chosen): void {
  const refuse = (what: string, why: string, fix: string): ClusterConfigError =>
    new ClusterConfigError({ what, where: file, why, fix })
  const isBasic = isGiven(body['username']) || isGiven(body['password'])
  // The file is read for a TLS connection alone, and only a name makes the other proof complete.
  const isRead = server.protocol === 'https:' && isGiven(body['tokenFile']) && isGiven(body['username'])
  if ((isBasic && isGiven(body['token'])) || isRead)
    throw refuse(
      'the user proves who they are in two ways',
      'it has a token, and a name or a password, and only one of the two can be sent',
      'leave one of them out',
    )
  const extra = own(body, 'as-user-extra')
  const isHalf =
    stringsOf(own(body, 'as-groups')).length > 0 ||
    isGiven(body['as-uid']) ||
    (isRecord(extra) && Object.keys(extra).length > 0)
  if (isHalf && !isGiven(body['as']))
    throw refuse(
      'cannot tell whom to impersonate',
      'it has as-groups, as-uid or as-user-extra, which belong to a user, and no `as`',
      'add `as`, or --as USER',
    )
}

/** As client-go: it has no other auth provider since it removed gcp and azure, which ran a command of the kubeconfig. */
function requireKnownProvider({ body, file }: Entry): void {
  const provider = own(body, 'auth-provider')
  const name = stringAt(provider, 'name') ?? ''
  if (!isGiven(provider) || name === 'oidc') return
  throw new ClusterConfigError({
    what: `there is no auth provider ${JSON.stringify(name)}`,
    where: file,
    why: 'kubectl has oidc alone since 1.26, which removed gcp and azure',
    fix: 'use an exec plugin: gke-gcloud-auth-plugin for GKE, kubelogin for AKS',
  })
}

/** What proves who a user is, as clientcmd knows it. */
const PROOFS = [
  { name: 'a bearer token', fields: ['token', 'tokenFile'] },
  { name: 'a client certificate', fields: ['client-certificate', 'client-certificate-data'] },
  { name: 'a name with a password', fields: ['username', 'password'] },
  { name: 'what an exec plugin gives', fields: ['exec'] },
  { name: 'what an auth provider gives', fields: ['auth-provider'] },
]

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null && value !== ''
}

function withTls(choice: ContextChoice, chosen: Chosen): Pick<Cluster, 'credentials'> {
  requireKnownProvider(chosen.user)
  let config: KubeConfig | undefined
  return {
    credentials: cachedFor(choice.clock, CREDENTIALS_MS, (refresh) =>
      within(choice.clock, chosen.user.file, async () => {
        // A new one has forgotten what its plugins said.
        if (refresh || config === undefined) config = kubeConfigOf(chosen, choice.env)
        return credentialsOf(config, chosen)
      }),
    ),
  }
}

function choose({ kubeconfig, context }: ContextChoice): Chosen {
  const contextName = context ?? kubeconfig.currentContext
  const where = kubeconfig.files.join(', ')
  const found = kubeconfig.contexts.get(contextName)
  if (found === undefined)
    throw new ClusterConfigError({
      what:
        contextName === '' ? 'no context is chosen' : `there is no context ${JSON.stringify(contextName)}`,
      where,
      why: `the kubeconfig has ${namesOf(kubeconfig.contexts)}`,
      fix: 'choose one with --context, or with `kubectl config use-context`',
    })
  const cluster = demand(kubeconfig.clusters, 'cluster', found)
  const user = stringAt(found.body, 'user') ?? ''
  return {
    contextName,
    namespace: stringAt(found.body, 'namespace') || 'default',
    server: serverOf(cluster),
    cluster,
    user:
      user === ''
        ? (kubeconfig.users.get('') ?? { file: found.file, body: {} })
        : demand(kubeconfig.users, 'user', found),
  }
}

function demand(entries: ReadonlyMap<string, Entry>, field: 'cluster' | 'user', context: Entry): Entry {
  const name = stringAt(context.body, field) ?? ''
  const entry = entries.get(name)
  if (entry !== undefined) return entry
  throw new ClusterConfigError({
    what: `the context names a ${field} that is not there`,
    where: context.file,
    why: `${JSON.stringify(name)} is not among its ${field}s: it has ${namesOf(entries)}`,
    fix: `add the ${field}, or choose another context with --context`,
  })
}

function namesOf(entries: ReadonlyMap<string, Entry>): string {
  return entries.size === 0 ? 'none' : [...entries.keys()].map((name) => JSON.stringify(name)).join(', ')
}

function serverOf({ body, file }: Entry): URL {
  const text = stringAt(body, 'server') ?? ''
  const server = URL.parse(text.includes('://') ? text : `http://${text}`)
  if (text !== '' && server !== null && ['http:', 'https:'].includes(server.protocol)) return server
  throw new ClusterConfigError({
    what: "the cluster's server is no address",
    where: file,
    why: `${JSON.stringify(text)} is no http or https URL`,
    fix: 'set clusters[].cluster.server to a URL such as https://10.0.0.1:6443',
  })
}

/** The proxy of a cluster, whatever NO_PROXY says, as clientcmd has it. */
function proxyAt(text: string, { file }: Entry): URL {
  const url = URL.parse(text)
  if (url !== null && isKnownProxy(url)) return url
  throw new ClusterConfigError({
    what: 'cannot use the proxy of the cluster',
    where: file,
    why: 'its proxy-url is no http, https or socks5 URL',
    fix: 'set clusters[].cluster.proxy-url to a URL such as http://proxy.example:3128 or socks5://localhost:1080',
  })
}

/** The library with this one context; a file of several would fail for entries that do not matter. */
function kubeConfigOf({ cluster, user }: Chosen, env: ContextChoice['env']): KubeConfig {
  const config = new KubeConfig()
  const { 'proxy-url': _, ...body } = cluster.body
  const named = {
    clusters: [{ name: 'cluster', cluster: body }],
    users: [{ name: 'user', user: withExecInfo(user, cluster, env) }],
    contexts: [{ name: 'context', context: { cluster: 'cluster', user: 'user' } }],
    'current-context': 'context',
  }
  config.loadFromString(JSON.stringify(named))
  return config
}

/** Tells an exec plugin what kubectl tells it: https://kubernetes.io/docs/reference/access-authn-authz/authentication/#input-and-output-formats */
function withExecInfo({ body, file }: Entry, cluster: Entry, env: ContextChoice['env']): JsonRecord {
  const exec = own(body, 'exec')
  if (!isRecord(exec)) return body
  if (exec['interactiveMode'] === 'Always')
    throw new ClusterConfigError({
      what: 'cannot run the exec plugin of the user',
      where: file,
      why: 'it wants a terminal (interactiveMode: Always)',
      fix: 'log in with kubectl first, or set interactiveMode: IfAvailable',
    })
  const command = stringAt(exec, 'command') ?? ''
  const path = command === '' ? '' : findProgram(command, env)
  if (path === undefined)
    throw new ClusterConfigError({
      what: 'cannot run the exec plugin of the user',
      where: file,
      why: `${JSON.stringify(command)} is not on the PATH`,
      fix: 'install it, or give its path in users[].user.exec.command',
    })
  const told = {
    apiVersion: exec['apiVersion'],
    kind: 'ExecCredential',
    spec: {
      interactive: false,
      ...(exec['provideClusterInfo'] === true && { cluster: clusterInfo(cluster.body) }),
    },
  }
  const info = { name: 'KUBERNETES_EXEC_INFO', value: JSON.stringify(told) }
  return { ...body, exec: { ...exec, command: path, env: [...listAt(exec, 'env'), info] } }
}

function clusterInfo(body: JsonRecord): JsonRecord {
  return Object.fromEntries(
    ['server', 'tls-server-name', 'insecure-skip-tls-verify', 'certificate-authority-data', 'proxy-url']
      .filter((field) => body[field] !== undefined)
      .map((field) => [field, body[field]]),
  )
}

async function credentialsOf(config: KubeConfig, chosen: Chosen): Promise<Credentials> {
  const options: RequestOptions = {}
  await config.applyToHTTPSOptions(options)
  const { ca, cert, key, servername } = options
  return {
    ...pem('ca', ca),
    ...pem('cert', cert),
    ...pem('key', key),
    ...(servername !== undefined && { servername }),
    // Left undefined, NODE_TLS_REJECT_UNAUTHORIZED=0 would switch verification off.
    rejectUnauthorized: options.rejectUnauthorized !== false,
    headers: sendable(await headersOf(options, chosen.user.body), chosen.user),
  }
}

function pem<K extends string>(name: K, value: unknown): { readonly [P in K]?: string | Buffer } {
  const part: { [P in K]?: string | Buffer } = {}
  if (typeof value === 'string' || Buffer.isBuffer(value)) part[name] = value
  return part
}

async function headersOf(options: RequestOptions, user: JsonRecord): Promise<Credentials['headers']> {
  const headers: Record<string, string | string[]> = {}
  for (const [name, value] of Object.entries(options.headers ?? {}))
    if (typeof value === 'string') headers[name.toLowerCase()] = value
  // The library sends `undefined` for a password that is not there, and knows no tokenFile.
  const username = stringAt(user, 'username') ?? ''
  const basic = `${username}:${stringAt(user, 'password') ?? ''}`
  if (username !== '') headers['authorization'] = `Basic ${Buffer.from(basic).toString('base64')}`
  const tokenFile = stringAt(user, 'tokenFile') ?? ''
  if (tokenFile !== '') headers['authorization'] = `Bearer ${await readToken(tokenFile)}`
  return { ...headers, ...impersonation(user) }
}

/** The headers as they go out. Throws a ClusterConfigError for one that no request can carry. */
function sendable(headers: Credentials['headers'], { file }: Entry): Credentials['headers'] {
  const send = (value: string): string => {
    if (isHeaderValue(value)) return headerValue(value)
    throw new ClusterConfigError({
      what: 'cannot say who the user is',
      where: file,
      why: 'its token, its name, or one of the groups that it impersonates, holds a control character such as a line break',
      fix: 'write it without; for a token in a file use tokenFile, which leaves out the line break at its end',
    })
  }
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      typeof value === 'string' ? send(value) : value.map(send),
    ]),
  )
}

/** Beside `as`, which the library sends: without these the request would be made as another user than was asked for. */
function impersonation(user: JsonRecord): Credentials['headers'] {
  const headers: Record<string, string | string[]> = {}
  const groups = stringsOf(own(user, 'as-groups'))
  if (groups.length > 0) headers['impersonate-group'] = groups
  const uid = stringAt(user, 'as-uid')
  if (uid !== undefined) headers['impersonate-uid'] = uid
  const extra = own(user, 'as-user-extra')
  for (const [key, values] of isRecord(extra) ? Object.entries(extra) : [])
    if (stringsOf(values).length > 0)
      headers[`impersonate-extra-${encodeURIComponent(key).toLowerCase()}`] = stringsOf(values)
  return headers
}

function stringsOf(list: unknown): string[] {
  return Array.isArray(list) ? list.filter((item) => typeof item === 'string') : []
}

/** Runs the library, which reads files and runs plugins; what it throws becomes a ClusterConfigError. */
async function within<T>(clock: Clock, file: string, run: () => Promise<T>): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>()
  const cancel = clock.after(PLUGIN_MS, () => reject(new Error(`no answer within ${PLUGIN_MS / 1000} s`)))
  try {
    return await Promise.race([run(), promise])
  } catch (error) {
    if (error instanceof ClusterConfigError) throw error
    const why = error instanceof Error ? error.message.trim() : ''
    throw new ClusterConfigError(
      {
        what: 'cannot get the credentials of the user',
        where: file,
        why: why.slice(0, WHY_LENGTH) || 'its certificate files or its plugin failed',
        fix: 'check that `kubectl version` works with the same context',
      },
      { cause: error },
    )
  } finally {
    cancel()
  }
}
