// An API server and who we are to it, as values: what `kubeconfig.ts` makes and `client.ts` talks to.

/** What a TLS connection needs; for an http:// server only the headers and the proxy count. */
export interface Credentials {
  /** PEM of the CAs that the server's certificate must lead to; the system's own when absent. */
  readonly ca?: string | Buffer
  /** PEM of the client certificate, and of its key. */
  readonly cert?: string | Buffer
  readonly key?: string | Buffer
  /** The name that the certificate must be for, where it is not the server's host. */
  readonly servername?: string
  /** False only where the kubeconfig says insecure-skip-tls-verify; never left to NODE_TLS_REJECT_UNAUTHORIZED. */
  readonly rejectUnauthorized: boolean
  /** Sent with every request: Authorization, Impersonate-*; names are lower-case. */
  readonly headers: Readonly<Record<string, string | string[]>>
}

/** One API server, and the user that a kubeconfig context or a service account gives. */
export interface Cluster {
  readonly server: URL
  /** The kubeconfig's context; `in-cluster` for a service account. */
  readonly contextName: string
  /** The context's namespace, else `default`. */
  readonly namespace: string
  /**
   * What the user has to show and is not shown, since the connection is not TLS: `a bearer token`. No host on the way must
   * read it; kubectl sends none either. Undefined where nothing is withheld.
   */
  readonly withheld?: string
  /** An http, https or socks5 URL, through which the server is reached; directly when absent. */
  readonly proxy?: URL
  /**
   * The credentials of now: cheap to ask, files and plugins are read again when they are due. `refresh` throws away
   * what was kept, after a 401. Rejects with a `ClusterConfigError`.
   */
  credentials(refresh?: boolean): Promise<Credentials>
}

/** A kubeconfig or a service account that cannot be used, in the parts of every error of kleym. */
export class ClusterConfigError extends Error {
  override readonly name = 'ClusterConfigError'
  /** What went wrong: one sentence without a full stop. */
  readonly what: string
  /** The file, or the entry in it. */
  readonly where: string
  /** The reason. */
  readonly why: string
  /** What to do about it. */
  readonly fix: string

  constructor(
    parts: { readonly what: string; readonly where: string; readonly why: string; readonly fix: string },
    options?: ErrorOptions,
  ) {
    super(`${parts.what} (${parts.where}): ${parts.why}; ${parts.fix}`, options)
    this.what = parts.what
    this.where = parts.where
    this.why = parts.why
    this.fix = parts.fix
  }
}
