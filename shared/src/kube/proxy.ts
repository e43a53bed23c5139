// Which proxy leads to an API server: the environment's as Go's http.ProxyFromEnvironment reads it for kubectl, or the
// `proxy-url` of a kubeconfig. The rules are those of golang.org/x/net/http/httpproxy, whose answers to some two thousand
// questions are in shared/test/go/vectors/proxies.jsonl. https://pkg.go.dev/golang.org/x/net/http/httpproxy#Config
import { BlockList, isIPv4, isIPv6 } from 'node:net'
import { domainToASCII } from 'node:url'
import { ClusterConfigError } from './cluster.ts'

type Env = Readonly<Record<string, string | undefined>>

/** What kleym can go through, and the port where the URL names none. */
const DEFAULT_PORTS: ReadonlyMap<string, string> = new Map([
  ['http:', '80'],
  ['https:', '443'],
  ['socks5:', '1080'],
  ['socks5h:', '1080'],
])

/** Whether kleym can go through a proxy at this URL. */
export function isKnownProxy({ protocol, host }: URL): boolean {
  return DEFAULT_PORTS.has(protocol) && host !== ''
}

/** The host of a URL, an IPv6 address as it is. */
export function withoutBrackets(hostname: string): string {
  return hostname.replace(/^\[(.*)\]$/, '$1')
}

/** The port of a proxy's URL. */
export function proxyPort({ port, protocol }: URL): number {
  return Number(port === '' ? DEFAULT_PORTS.get(protocol) : port)
}

/**
 * The proxy that the environment names for a server; undefined where it is reached directly. Throws a ClusterConfigError
 * where the environment names one that cannot be used.
 */
export function proxyFromEnv(server: URL, env: Env): URL | undefined {
  const names = server.protocol === 'http:' ? HTTP : HTTPS
  const name = names.find((one) => (env[one] ?? '') !== '')
  const proxy = name === undefined ? undefined : parseProxy(env[name] ?? '')
  if (name === undefined || proxy === undefined) return undefined
  // A web server hands a request's `Proxy` header to a program as HTTP_PROXY: https://go.dev/s/cgihttpproxy
  if (names === HTTP && (env['REQUEST_METHOD'] ?? '') !== '')
    throw unusable(name, 'REQUEST_METHOD is set: a client of a web server may have chosen it', 'unset either')
  const except = firstOf(env, ['NO_PROXY', 'no_proxy'])
  if (isExempt(server, except)) return undefined
  if (isKnownProxy(proxy)) return proxy
  throw unusable(name, `kleym knows no ${proxy.protocol}// proxies`, `set ${name} to ${KNOWN}`)
}

const HTTP = ['HTTP_PROXY', 'http_proxy']
const HTTPS = ['HTTPS_PROXY', 'https_proxy']
const KNOWN = 'an http, https or socks5 URL, or list the API server in NO_PROXY'

function firstOf(env: Env, names: readonly string[]): string {
  return names.map((name) => env[name] ?? '').find((value) => value !== '') ?? ''
}

function unusable(where: string, why: string, fix: string): ClusterConfigError {
  return new ClusterConfigError({ what: 'cannot use the proxy of the environment', where, why, fix })
}

/** A URL, or `host[:port]` of an HTTP proxy; undefined for neither, which Go takes for no proxy. */
function parseProxy(text: string): URL | undefined {
  const url = URL.parse(text)
  return url === null || url.host === '' ? (URL.parse(`http://${text}`) ?? undefined) : url
}

/** Whether NO_PROXY, or that it is this machine, keeps a server from being asked through a proxy. */
function isExempt(server: URL, list: string): boolean {
  const host = withoutBrackets(server.hostname)
  const port = server.port === '' ? (server.protocol === 'http:' ? '80' : '443') : server.port
  const address = addressOf(host)
  if (host === 'localhost' || (address !== undefined && isLoopback(address))) return true
  const entries = list.split(',').map((entry) => entry.trim().toLowerCase())
  return entries.some((entry) =>
    address === undefined ? coversName(entry, host, port) : coversAddress(entry, address, port),
  )
}

/** An IP address, an address with a port, or a range (CIDR). */
function coversAddress(entry: string, address: Address, port: string): boolean {
  if (entry === '*') return true
  const range = rangeOf(entry)
  if (range !== undefined) return contains(range, address)
  const { host, port: only } = splitPort(entry)
  const excepted = addressOf(host)
  return excepted?.text === address.text && (only === '' || only === port)
}

/** A domain is itself and what is below it; with a dot or `*.` before it, only what is below it. */
function coversName(entry: string, host: string, port: string): boolean {
  if (entry === '*') return true
  if (rangeOf(entry) !== undefined) return false
  const { host: excepted, port: only } = splitPort(entry)
  if (excepted === '' || addressOf(excepted) !== undefined) return false
  const name = excepted.replace(/^\*\./, '.')
  const domain = inAscii(name.startsWith('.') ? name.slice(1) : name)
  const isNamed = host === domain && !name.startsWith('.')
  return (isNamed || host.endsWith(`.${domain}`)) && (only === '' || only === port)
}

/** `domainToASCII` is empty for a text that is no domain; such a text is compared unchanged. */
function inAscii(name: string): string {
  return /^[\u0000-\u007f]*$/.test(name) ? name : domainToASCII(name) || name
}

/** `host:port` and `[address]:port`; an entry that has no port, or several colons, is all host. */
function splitPort(entry: string): { readonly host: string; readonly port: string } {
  const [, bracketed, plain, port = ''] = /^(?:\[([^[\]]*)\]|([^:[\]]*)):([^:[\]]*)$/.exec(entry) ?? []
  const host = bracketed ?? plain
  return host === undefined ? { host: entry, port: '' } : { host, port }
}

/** An IP address; one that is mapped (::ffff:0:0/96) is the IPv4 address. */
interface Address {
  /** In the one way that the parser of URLs writes it. */
  readonly text: string
  readonly family: 'ipv4' | 'ipv6'
}

interface Range extends Address {
  /** How many of the bits count. */
  readonly length: number
}

function addressOf(text: string): Address | undefined {
  if (isIPv4(text)) return { text, family: 'ipv4' }
  // With a zone it is none, as in Go's net.ParseIP.
  if (!isIPv6(text) || text.includes('%')) return undefined
  const written = withoutBrackets(new URL(`http://[${text}]`).hostname)
  const [, high, low] = /^::ffff:([\da-f]+):([\da-f]+)$/.exec(written) ?? []
  if (high === undefined || low === undefined) return { text: written, family: 'ipv6' }
  const bytes = [high, low].flatMap((group) => {
    const number = Number.parseInt(group, 16)
    return [number >>> 8, number & 0xff]
  })
  return { text: bytes.join('.'), family: 'ipv4' }
}

function rangeOf(entry: string): Range | undefined {
  const [, text = '', digits = ''] = /^([^/]*)\/(\d+)$/.exec(entry) ?? []
  const address = addressOf(text)
  const length = Number(digits)
  if (address === undefined || length > (isIPv4(text) ? 32 : 128)) return undefined
  if (isIPv4(text) || address.family === 'ipv6') return { ...address, length }
  // A range that begins before the mapped addresses is one of IPv6 addresses.
  return length < MAPPED_BITS
    ? { text, family: 'ipv6', length }
    : { ...address, length: length - MAPPED_BITS }
}

/** How many bits all mapped addresses begin with. */
const MAPPED_BITS = 96

/** An IPv4 address is in no range of IPv6 addresses, `::/0` included. */
function contains({ text, family, length }: Range, address: Address): boolean {
  if (family !== address.family) return false
  const range = new BlockList()
  range.addSubnet(text, length, family)
  return range.check(address.text, family)
}

function isLoopback(address: Address): boolean {
  return address.text === '::1' || contains({ text: '127.0.0.0', family: 'ipv4', length: 8 }, address)
}
