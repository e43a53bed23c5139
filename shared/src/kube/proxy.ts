// Which proxy leads to an API server: the environment's, as Go's http.ProxyFromEnvironment reads it for kubectl.
import { isIPv4 } from 'node:net'

type Env = Readonly<Record<string, string | undefined>>

const VARIABLES = ['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY', 'http_proxy', 'NO_PROXY', 'no_proxy'] as const

/** The environment's proxy variables; undefined where there are none, or the server is on this machine. */
export function proxyFromEnv(server: URL, env: Env): Env | undefined {
  if (isLoopback(server.hostname)) return undefined
  const found = VARIABLES.filter((name) => (env[name] ?? '') !== '').map((name) => [name, env[name]] as const)
  return found.length === 0 ? undefined : Object.fromEntries(found)
}

/** A kubeconfig's `proxy-url`, for every server. */
export function proxyFromUrl(url: string): Env {
  return { HTTPS_PROXY: url, HTTP_PROXY: url }
}

/** Go never uses a proxy of the environment for these. */
function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '[::1]' || (isIPv4(host) && host.startsWith('127.'))
}
