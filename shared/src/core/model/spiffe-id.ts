// SPIFFE IDs and trust domain names: what go-spiffe v2 accepts (`spiffeid/id.go`, `path.go`, `trustdomain.go`), by which
// SPIRE Controller Manager parses, and what spire-server refuses beyond that for an entry (`pkg/server/api/id.go`).
// go-spiffe limits no length; the SPIFFE standard and kleym's own settings do (`trustDomainProblem`).

const SCHEME = 'spiffe://'
/** The most characters of a trust domain name in the SPIFFE standard. */
export const TRUST_DOMAIN_MAX = 255

const DOMAIN_RULE = 'a trust domain holds a-z, 0-9, ".", "_" and "-"'
const PATH_RULE = 'a path holds letters, digits, ".", "_", "-" and "/"'

/** Why `text` is no trust domain name of the SPIFFE standard (`[a-z0-9._-]`, 1 to 255 characters); undefined where it is one. */
export function trustDomainProblem(text: string): string | undefined {
  if (text === '') return 'is empty'
  if (text.length > TRUST_DOMAIN_MAX) return `is over ${TRUST_DOMAIN_MAX} characters`
  return domainProblem(text, 0)
}

/** A SPIFFE ID in its two parts, or why go-spiffe refuses it. The path is empty or starts with a slash. */
export type ParsedSpiffeId =
  | { readonly ok: true; readonly trustDomain: string; readonly path: string }
  | { readonly ok: false; readonly message: string }

/** Reads a SPIFFE ID exactly as go-spiffe's `spiffeid.FromString` does. */
export function parseSpiffeId(text: string): ParsedSpiffeId {
  if (text === '') return refuse('is empty')
  if (!text.startsWith(SCHEME)) return refuse(`does not start with ${JSON.stringify(SCHEME)}`)
  const end = pathStart(text)
  const trustDomain = text.slice(SCHEME.length, end)
  if (trustDomain === '') return refuse('has no trust domain')
  const problem = domainProblem(trustDomain, SCHEME.length) ?? pathProblem(text, end)
  return problem === undefined ? { ok: true, trustDomain, path: text.slice(end) } : refuse(problem)
}

/** A SPIFFE ID as it is issued: scheme and trust domain in lower case. A reader of URIs may take other letters for the same. */
export function asIssued(text: string): string {
  const written = text.slice(0, pathStart(text))
  const issued = written.toLowerCase()
  return issued === written || !issued.startsWith(SCHEME) ? text : `${issued}${pathIn(text)}`
}

/** Where the path begins in a text that should be a SPIFFE ID: at the slash behind its trust domain, else at its end. */
export function pathStart(text: string): number {
  const slash = text.indexOf('/', SCHEME.length)
  return slash === -1 ? text.length : slash
}

/** The path of a text that should be a SPIFFE ID, valid or not: empty, or from its slash on. */
export function pathIn(text: string): string {
  return text.slice(pathStart(text))
}

/** The trust domain of a text that begins with `spiffe://`, valid or not. */
export function trustDomainIn(text: string): string {
  return text.slice(SCHEME.length, pathStart(text))
}

/** A trust domain name, or why go-spiffe refuses the text. */
export type ParsedTrustDomain =
  | { readonly ok: true; readonly trustDomain: string }
  | { readonly ok: false; readonly message: string }

/** Reads an item of `federatesWith` as `spiffeid.TrustDomainFromString` does: a name, or a SPIFFE ID, whose path is dropped. */
export function parseFederatedTrustDomain(text: string): ParsedTrustDomain {
  if (text === '') return refuse('is empty')
  if (text.includes(':/')) {
    const id = parseSpiffeId(text)
    return id.ok ? { ok: true, trustDomain: id.trustDomain } : id
  }
  const problem = domainProblem(text, 0)
  return problem === undefined ? { ok: true, trustDomain: text } : refuse(problem)
}

/** Why `text` cannot be the SPIFFE ID of an entry: it is invalid, has no path, or lies in SPIRE's own `/spire`; else undefined. */
export function entryIdProblem(text: string): string | undefined {
  return parsedIdProblem(parseSpiffeId(text))
}

/** `entryIdProblem` of an ID that is parsed already. */
export function parsedIdProblem(id: ParsedSpiffeId): string | undefined {
  if (!id.ok) return id.message
  if (id.path === '') return 'has no path, which an entry needs'
  if (id.path === '/spire' || id.path.startsWith('/spire/'))
    return 'lies in the path /spire, which SPIRE keeps for itself'
  return undefined
}

function domainProblem(name: string, before: number): string | undefined {
  const stray = /[^a-z0-9._-]/u.exec(name)
  return stray === null ? undefined : strayText(stray[0], before + stray.index, DOMAIN_RULE)
}

function pathProblem(text: string, start: number): string | undefined {
  const path = text.slice(start)
  if (path === '') return undefined
  const stray = /[^A-Za-z0-9._/-]/u.exec(path)
  if (stray !== null) return strayText(stray[0], start + stray.index, PATH_RULE)
  if (path.endsWith('/')) return 'ends with a slash'
  const empty = path.indexOf('//')
  if (empty !== -1) return `has an empty path segment at character ${start + empty + 2}`
  const dots = /\/\.{1,2}(?=\/|$)/.exec(path)
  return dots === null
    ? undefined
    : `has the path segment ${JSON.stringify(dots[0].slice(1))} at character ${start + dots.index + 2}`
}

function strayText(character: string, at: number, rule: string): string {
  return `has ${JSON.stringify(character)} at character ${at + 1}; ${rule}`
}

function refuse(message: string): { readonly ok: false; readonly message: string } {
  return { ok: false, message }
}
