// What a command line changes about a kubeconfig's context, with the meaning that kubectl's flags of these names have.
// https://kubernetes.io/docs/reference/kubectl/generated/kubectl_options/ ; precedence as in client-go's clientcmd.
import { stringAt, type JsonRecord } from '../core/base/json.ts'
import type { Entry, Kubeconfig } from './kubeconfig-files.ts'

/** Each value replaces that of the kubeconfig; undefined leaves it unchanged. Paths are absolute. */
export interface ClusterOverrides {
  /** The name of a cluster, and of a user, of the kubeconfig. */
  readonly cluster?: string | undefined
  readonly user?: string | undefined
  /** The URL of the API server. */
  readonly server?: string | undefined
  readonly tlsServerName?: string | undefined
  readonly certificateAuthority?: string | undefined
  readonly insecureSkipTlsVerify?: boolean | undefined
  readonly clientCertificate?: string | undefined
  readonly clientKey?: string | undefined
  /** A bearer token. It takes the place of the kubeconfig's token and plugin; a `tokenFile` counts before it, as for kubectl. */
  readonly token?: string | undefined
  /** Impersonation: a user, and groups and a UID beside it. */
  readonly as?: string | undefined
  readonly asGroups?: readonly string[] | undefined
  readonly asUid?: string | undefined
}

/** Whether the command line says nothing. */
export function isEmpty(overrides: ClusterOverrides): boolean {
  return Object.values(overrides).every((value) => value === undefined)
}

/** The name of the one context that is left, and of its cluster and user. */
const OVERRIDDEN = 'overridden'

/** The kubeconfig in which the chosen context says what the command line says; the same one where it says nothing. */
export function overrideKubeconfig(
  kubeconfig: Kubeconfig,
  contextName: string | undefined,
  overrides: ClusterOverrides,
): Kubeconfig {
  if (isEmpty(overrides)) return kubeconfig
  const name = contextName ?? kubeconfig.currentContext
  const chosen = kubeconfig.contexts.get(name)
  // A context that was asked for and is not there stays an error; none at all is no hindrance to a server by flag.
  if (chosen === undefined && name !== '') return kubeconfig
  const context = chosen ?? { file: FLAGS, body: {} }
  const cluster = named(kubeconfig.clusters, 'cluster', context, overrides.cluster)
  const user = named(kubeconfig.users, 'user', context, overrides.user)
  const key = name === '' ? OVERRIDDEN : name
  return {
    ...kubeconfig,
    currentContext: kubeconfig.currentContext === '' ? key : kubeconfig.currentContext,
    contexts: new Map([
      ...kubeconfig.contexts,
      [key, { ...context, body: { ...context.body, cluster: cluster.name, user: user.name } }],
    ]),
    clusters: withEntry(kubeconfig.clusters, cluster, clusterBody(overrides)),
    users: withEntry(kubeconfig.users, user, userBody(overrides)),
  }
}

/** How messages call the command line, where they would name a file. */
const FLAGS = 'the command line'

interface Named {
  readonly name: string
  /** Undefined: the kubeconfig has no entry of that name. */
  readonly entry: Entry | undefined
}

function named(
  entries: ReadonlyMap<string, Entry>,
  field: 'cluster' | 'user',
  context: Entry,
  override: string | undefined,
): Named {
  const name = override ?? stringAt(context.body, field) ?? ''
  return { name, entry: entries.get(name) }
}

function withEntry(
  entries: ReadonlyMap<string, Entry>,
  { name, entry }: Named,
  change: ((body: JsonRecord) => JsonRecord) | undefined,
): ReadonlyMap<string, Entry> {
  // A name that the kubeconfig does not have is an error of its own, unless the flags say everything.
  if (change === undefined || (entry === undefined && name !== '')) return entries
  const { file, body } = entry ?? { file: FLAGS, body: {} }
  return new Map([...entries, [name, { file, body: change(body) }]])
}

function clusterBody(overrides: ClusterOverrides): ((body: JsonRecord) => JsonRecord) | undefined {
  const { server, tlsServerName, certificateAuthority, insecureSkipTlsVerify } = overrides
  if ([server, tlsServerName, certificateAuthority, insecureSkipTlsVerify].every((one) => one === undefined))
    return undefined
  return (body) => {
    const {
      'certificate-authority': file,
      'certificate-authority-data': data,
      'tls-server-name': name,
      ...rest
    } = body
    // As clientcmd: the name of the kubeconfig is that of the server of the kubeconfig.
    const serverName = tlsServerName ?? (server === undefined ? name : undefined)
    const trust =
      certificateAuthority === undefined
        ? insecureSkipTlsVerify === true
          ? {}
          : {
              ...(file !== undefined && { 'certificate-authority': file }),
              ...(data !== undefined && { 'certificate-authority-data': data }),
            }
        : { 'certificate-authority': certificateAuthority }
    return {
      ...rest,
      ...trust,
      ...(server !== undefined && { server }),
      ...(serverName !== undefined && { 'tls-server-name': serverName }),
      ...(insecureSkipTlsVerify !== undefined && { 'insecure-skip-tls-verify': insecureSkipTlsVerify }),
      ...(certificateAuthority !== undefined &&
        insecureSkipTlsVerify === undefined && { 'insecure-skip-tls-verify': false }),
    }
  }
}

/** What gives way to a token of the command line. A name with a password does not: clientcmd refuses the two together. */
const OTHER_PROOFS = ['token', 'exec', 'auth-provider']

function userBody(overrides: ClusterOverrides): ((body: JsonRecord) => JsonRecord) | undefined {
  const { clientCertificate, clientKey, token, as, asGroups, asUid } = overrides
  if ([clientCertificate, clientKey, token, as].every((one) => one === undefined)) return undefined
  return (body) => {
    const gone = new Set([
      ...(token === undefined ? [] : OTHER_PROOFS),
      ...(clientCertificate === undefined ? [] : ['client-certificate-data']),
      ...(clientKey === undefined ? [] : ['client-key-data']),
    ])
    return {
      ...Object.fromEntries(Object.entries(body).filter(([field]) => !gone.has(field))),
      ...(token !== undefined && { token }),
      ...(clientCertificate !== undefined && { 'client-certificate': clientCertificate }),
      ...(clientKey !== undefined && { 'client-key': clientKey }),
      ...(as !== undefined && { as }),
      ...(asGroups !== undefined && { 'as-groups': asGroups }),
      ...(asUid !== undefined && { 'as-uid': asUid }),
    }
  }
}
