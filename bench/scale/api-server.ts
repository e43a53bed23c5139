// The API server's side for an operator that is larger than this machine can hold a real one for: objects in memory, with versions,
// conflicts, pages, watches and JSON Patch, over HTTP with whole bodies. It has no schema, no admission and no rights.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { buffer } from 'node:stream/consumers'
import {
  deepEqual,
  isRecord,
  listAt,
  own,
  stringAt,
  type JsonRecord,
} from '../../shared/src/core/base/json.ts'
import { RESOURCES } from '../../shared/src/kube/resources.ts'

/** What the operator has asked for so far. */
export interface Asked {
  readonly writes: number
  readonly leaseWrites: number
  readonly refused: number
  readonly pages: number
  readonly gets: number
  readonly watches: number
  /** Bytes of bodies in both directions. */
  readonly bytes: number
}

/** How a request ends: a status and a body. */
interface Answer {
  readonly status: number
  readonly body: string
}

const PATH =
  /^\/apis?(?:\/(?<group>[^/]*\.[^/]*|apps|batch))?\/(?<version>v\d\w*)(?:\/namespaces\/(?<namespace>[^/]+))?\/(?<plural>[a-z]+)(?:\/(?<name>[^/]+))?(?:\/(?<sub>status))?$/

/** One kind: its objects as text by `namespace/name`, and who watches it. */
class Kind {
  readonly plural: string
  readonly objects = new Map<string, { readonly text: string; readonly version: number }>()
  readonly watchers = new Set<ServerResponse>()

  constructor(plural: string) {
    this.plural = plural
  }

  tell(type: string, text: string): void {
    for (const watcher of this.watchers) watcher.write(`{"type":"${type}","object":${text}}\n`)
  }
}

/** Objects that an operator works on over HTTP. */
export class PlayedApiServer {
  readonly #kinds = new Map<string, Kind>()
  readonly #server: Server
  #version = 1
  #asked = { writes: 0, leaseWrites: 0, refused: 0, pages: 0, gets: 0, watches: 0, bytes: 0 }

  constructor() {
    this.#server = createServer((request, response) => void this.#serve(request, response))
  }

  /** Listens on a free port, and resolves to it. */
  async listen(): Promise<number> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve))
    const address = this.#server.address()
    if (address === null || typeof address === 'string') throw new Error('the server has no port')
    return address.port
  }

  /** Ends all connections. */
  close(): void {
    this.#server.closeAllConnections()
    this.#server.close()
  }

  /** What was asked since the last call. */
  asked(): Asked {
    const asked = this.#asked
    this.#asked = { writes: 0, leaseWrites: 0, refused: 0, pages: 0, gets: 0, watches: 0, bytes: 0 }
    return asked
  }

  /** Stores a new object, as an administrator creates it. */
  put(object: JsonRecord): void {
    const [group, version] = splitApiVersion(String(object['apiVersion']))
    const resource = RESOURCES.find(
      (one) => one.kind === object['kind'] && one.group === group && one.version === version,
    )
    if (resource === undefined) throw new TypeError(`${String(object['kind'])} is of no known kind`)
    this.#store(this.#kind(`${group}/${resource.plural}`), withUid(object), 'ADDED')
  }

  /** The names of all objects of a kind (`group/plural`). */
  keys(kind: string): readonly string[] {
    return [...this.#kind(kind).objects.keys()]
  }

  /** Changes the status of an object, as another controller does. */
  setStatus(kind: string, key: string, status: JsonRecord): void {
    const of = this.#kind(kind)
    const held = of.objects.get(key)
    if (held === undefined) return
    this.#store(of, { ...parsed(held.text), status }, 'MODIFIED')
  }

  #kind(name: string): Kind {
    const known = this.#kinds.get(name)
    if (known !== undefined) return known
    const kind = new Kind(name.slice(name.indexOf('/') + 1))
    this.#kinds.set(name, kind)
    return kind
  }

  #store(kind: Kind, object: JsonRecord, type: string): string {
    const version = ++this.#version
    const metadata = { ...recordOf(object['metadata']), resourceVersion: String(version) }
    const text = JSON.stringify({ ...object, metadata })
    kind.objects.set(keyOf(object), { text, version })
    kind.tell(type, text)
    return text
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', 'http://played')
    const body = await buffer(request)
    this.#asked.bytes += body.length
    response.setHeader('content-type', 'application/json')
    if (url.pathname === '/apis') return this.#end(response, { status: 200, body: GROUPS })
    const served = resourcesOf(url.pathname)
    if (served !== undefined) return this.#end(response, { status: 200, body: served })
    const parts = PATH.exec(url.pathname)?.groups
    if (parts === undefined) return this.#end(response, failure(404, `no path ${url.pathname}`))
    const { group = '', plural = '', namespace, name, sub } = parts
    const kind = this.#kind(`${group}/${plural}`)
    const key = name === undefined ? undefined : namespace === undefined ? name : `${namespace}/${name}`
    if (request.method === 'GET' && url.searchParams.get('watch') === 'true')
      return this.#watch(kind, url, response)
    if (request.method === 'GET' && key === undefined) return this.#end(response, this.#list(kind, url))
    if (request.method === 'GET') return this.#end(response, this.#get(kind, key ?? ''))
    const answer = this.#write(kind, { method: request.method ?? '', key, sub, body: body.toString('utf8') })
    if (plural === 'leases') this.#asked.leaseWrites += 1
    else this.#asked.writes += 1
    if (answer.status >= 400) this.#asked.refused += 1
    return this.#end(response, answer)
  }

  #end(response: ServerResponse, { status, body }: Answer): void {
    this.#asked.bytes += body.length
    response.statusCode = status
    response.end(body)
  }

  #get(kind: Kind, key: string): Answer {
    this.#asked.gets += 1
    const held = kind.objects.get(key)
    return held === undefined ? missing(kind, key) : { status: 200, body: held.text }
  }

  #list(kind: Kind, url: URL): Answer {
    this.#asked.pages += 1
    const wanted = /^metadata\.name=(.*)$/.exec(url.searchParams.get('fieldSelector') ?? '')?.[1]
    const keys =
      wanted === undefined ? [...kind.objects.keys()] : [wanted].filter((one) => kind.objects.has(one))
    const from = Number(url.searchParams.get('continue') ?? 0)
    const limit = Number(url.searchParams.get('limit') ?? 0) || keys.length
    const items = keys.slice(from, from + limit).map((key) => kind.objects.get(key)?.text ?? '{}')
    const next = from + limit < keys.length ? String(from + limit) : ''
    return {
      status: 200,
      body: `{"metadata":{"resourceVersion":"${this.#version}","continue":"${next}"},"items":[${items.join(',')}]}`,
    }
  }

  #watch(kind: Kind, url: URL, response: ServerResponse): void {
    this.#asked.watches += 1
    const since = Number(url.searchParams.get('resourceVersion') ?? 0)
    const wanted = /^metadata\.name=(.*)$/.exec(url.searchParams.get('fieldSelector') ?? '')?.[1]
    response.writeHead(200)
    response.flushHeaders()
    for (const [key, { text, version }] of kind.objects)
      if (version > since && (wanted === undefined || wanted === key))
        response.write(`{"type":"MODIFIED","object":${text}}\n`)
    kind.watchers.add(response)
    response.on('close', () => kind.watchers.delete(response))
  }

  #write(
    kind: Kind,
    request: {
      readonly method: string
      readonly key: string | undefined
      readonly sub: string | undefined
      readonly body: string
    },
  ): Answer {
    const { method, key, sub, body } = request
    if (method === 'POST') {
      const object = withUid(recordOf(JSON.parse(body)))
      if (kind.objects.has(keyOf(object)))
        return failure(409, `${keyOf(object)} already exists`, 'AlreadyExists')
      return { status: 201, body: this.#store(kind, object, 'ADDED') }
    }
    const held = kind.objects.get(key ?? '')
    if (held === undefined) return missing(kind, key ?? '')
    const before = parsed(held.text)
    if (method === 'PUT') {
      const object = recordOf(JSON.parse(body))
      const version = stringAt(object, 'metadata', 'resourceVersion')
      if (version !== undefined && version !== String(held.version))
        return failure(409, `${key ?? ''} has changed`, 'Conflict')
      const after =
        sub === 'status'
          ? { ...before, status: object['status'] }
          : { ...object, metadata: { ...recordOf(before['metadata']), ...recordOf(object['metadata']) } }
      return { status: 200, body: this.#store(kind, after, 'MODIFIED') }
    }
    if (method === 'PATCH') {
      const after = patchedBy(before, JSON.parse(body))
      return after === undefined
        ? failure(422, 'a test of the patch has failed', 'Invalid')
        : { status: 200, body: this.#store(kind, after, 'MODIFIED') }
    }
    kind.objects.delete(key ?? '')
    kind.tell('DELETED', held.text)
    return { status: 200, body: held.text }
  }
}

const GROUPS = JSON.stringify({
  kind: 'APIGroupList',
  groups: [
    ...Map.groupBy(
      RESOURCES.filter(({ group }) => group !== ''),
      ({ group }) => group,
    ),
  ].map(([name, of]) => ({
    name,
    versions: [...new Set(of.map(({ version }) => version))].map((version) => ({ version })),
  })),
})

/** What `/apis/GROUP/VERSION` answers; undefined for any other path. */
function resourcesOf(path: string): string | undefined {
  const [, group, version] = /^\/apis\/([^/]+)\/([^/]+)$/.exec(path) ?? []
  if (group === undefined) return undefined
  const rows = RESOURCES.filter((one) => one.group === group && one.version === version).map(
    ({ plural, kind, namespaced }) => ({ name: plural, kind, namespaced, verbs: ['get', 'list', 'watch'] }),
  )
  return JSON.stringify({ kind: 'APIResourceList', groupVersion: `${group}/${version}`, resources: rows })
}

/** A JSON Patch on an object, as far as the operator sends it; undefined: a test fails. */
function patchedBy(object: JsonRecord, patch: unknown): JsonRecord | undefined {
  const metadata: Record<string, unknown> = { ...recordOf(object['metadata']) }
  for (const operation of Array.isArray(patch) ? patch : []) {
    const [path, op, value] = [
      stringAt(operation, 'path') ?? '',
      own(operation, 'op'),
      own(operation, 'value'),
    ]
    const [, field = '', at] = /^\/metadata\/([^/]+)(?:\/([^/]+))?$/.exec(path) ?? []
    const list = listAt(metadata, field)
    if (op === 'test' && !deepEqual(at === undefined ? metadata[field] : list[Number(at)], value))
      return undefined
    if (op === 'add') metadata[field] = at === undefined ? value : [...list, value]
    if (op === 'remove') metadata[field] = list.filter((_, index) => index !== Number(at))
  }
  return { ...object, metadata }
}

function missing({ plural }: Kind, key: string): Answer {
  const name = key.slice(key.indexOf('/') + 1)
  return failure(404, `${plural} "${name}" not found`, 'NotFound', { name, kind: plural })
}

function failure(code: number, message: string, reason = 'NotFound', details: JsonRecord = {}): Answer {
  return {
    status: code,
    body: JSON.stringify({
      kind: 'Status',
      apiVersion: 'v1',
      status: 'Failure',
      code,
      reason,
      message,
      details,
    }),
  }
}

function withUid(object: JsonRecord): JsonRecord {
  const metadata = recordOf(object['metadata'])
  const stamps = {
    uid: crypto.randomUUID(),
    generation: 1,
    creationTimestamp: new Date().toISOString().replace(/\.\d+Z$/, 'Z'),
  }
  return { ...object, metadata: { ...stamps, ...metadata } }
}

function keyOf(object: JsonRecord): string {
  const [namespace, name] = [
    stringAt(object, 'metadata', 'namespace'),
    stringAt(object, 'metadata', 'name') ?? crypto.randomUUID(),
  ]
  return namespace === undefined ? name : `${namespace}/${name}`
}

function parsed(text: string): JsonRecord {
  return recordOf(JSON.parse(text))
}

function recordOf(value: unknown): JsonRecord {
  return isRecord(value) ? value : {}
}

function splitApiVersion(apiVersion: string): readonly [group: string, version: string] {
  const slash = apiVersion.indexOf('/')
  return slash < 0 ? ['', apiVersion] : [apiVersion.slice(0, slash), apiVersion.slice(slash + 1)]
}
