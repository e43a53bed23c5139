// The harness's own hands on the API server: small, complete and independent of `shared/src/kube`, which it helps to test.
import { Agent, request as httpsRequest } from 'node:https'
import type { IncomingMessage } from 'node:http'
import { isRecord, listAt, own, stringAt, type JsonRecord } from '../../shared/src/core/base/json.ts'
import { until } from '@kleym/testing/wait.ts'

/** Also how many objects are applied at a time. */
export const CONNECTIONS = 8
const ANSWER_MS = 30_000
/** After which an idle connection is closed: kube-apiserver closes it after 90 s, and a request that meets that end fails. */
export const IDLE_MS = 60_000
const FIELD_MANAGER = 'kleym-test'

export interface RestAnswer {
  readonly status: number
  /** The parsed body; text that is no JSON is a string. */
  readonly body: unknown
}

export interface RestRequest {
  readonly method: string
  /** From the root of the server, with its query. */
  readonly path: string
  readonly body?: unknown
  /** `application/json` when absent. */
  readonly contentType?: string
}

/** An object by kind and name; enough to find it. */
export interface ObjectId {
  readonly apiVersion: string
  readonly kind: string
  readonly name: string
  readonly namespace?: string
}

/** A part of an object that is patched by itself. */
export type Subresource = 'status' | 'scale' | 'ephemeralcontainers'

/** Calls as one user. All but `request` reject with a `RestError` where the server says no. */
export interface Rest {
  request(request: RestRequest): Promise<RestAnswer>
  /** Server-side apply, forced, under field manager `kleym-test`; waits for a kind that is not served yet. */
  apply(object: JsonRecord): Promise<JsonRecord>
  create(object: JsonRecord): Promise<JsonRecord>
  /** PUT. */
  replace(object: JsonRecord): Promise<JsonRecord>
  /** A merge patch; of a subresource when asked for. */
  patch(id: ObjectId, patch: JsonRecord, subresource?: Subresource): Promise<JsonRecord>
  /** undefined when there is no such object. */
  get(id: ObjectId): Promise<JsonRecord | undefined>
  list(kind: {
    readonly apiVersion: string
    readonly kind: string
    readonly namespace?: string
  }): Promise<readonly JsonRecord[]>
  /** Asks for deletion; an object that is not there is fine. It may live on until its finalizers are gone. */
  delete(id: ObjectId): Promise<void>
  /** Whether discovery lists a kind now. */
  serves(apiVersion: string, kind: string): Promise<boolean>
  /** Ends the connections; the next request makes new ones. */
  hangUp(): void
}

/** The server said no. */
export class RestError extends Error {
  override readonly name = 'RestError'
  readonly status: number
  /** The Status object, or whatever else came. */
  readonly body: unknown

  constructor(what: string, { status, body }: RestAnswer) {
    super(`${what}: ${status} ${stringAt(body, 'message') ?? JSON.stringify(body)}`)
    this.status = status
    this.body = body
  }
}

export interface RestTarget {
  readonly port: number
  /** PEM. */
  readonly ca: string
  readonly token: string
}

/** Talks to `https://127.0.0.1:<port>` and verifies it. */
export function rest(target: RestTarget): Rest {
  const agent = new Agent({ keepAlive: true, timeout: IDLE_MS, maxSockets: CONNECTIONS, ca: target.ca })
  const paths = new Map<string, string>()
  const send = (request: RestRequest): Promise<RestAnswer> => exchange(target, agent, request)
  const demand = async (request: RestRequest): Promise<JsonRecord> => {
    const answer = await send(request)
    if (answer.status >= 300 || !isRecord(answer.body))
      throw new RestError(`${request.method} ${request.path}`, answer)
    return answer.body
  }
  /** The collection of a kind in a namespace, from discovery; a kind that comes late is waited for. */
  const collection = async ({ apiVersion, kind, namespace }: Omit<ObjectId, 'name'>): Promise<string> => {
    const key = `${apiVersion} ${kind}`
    const template =
      paths.get(key) ?? (await until(() => discover(send, apiVersion, kind), `kind ${key}`, 20_000))
    paths.set(key, template)
    return template.replace('{namespace}', namespace === undefined ? '' : `namespaces/${namespace}/`)
  }
  const path = async (id: ObjectId): Promise<string> =>
    `${await collection(id)}/${encodeURIComponent(id.name)}`
  return {
    request: send,
    apply: async (object) => {
      const query = `?fieldManager=${FIELD_MANAGER}&force=true`
      const request = {
        method: 'PATCH',
        path: (await path(idOf(object))) + query,
        contentType: 'application/apply-patch+yaml',
        body: object,
      }
      // A new kind can be in discovery a moment before it is served.
      return until(
        async () => {
          const answer = await send(request)
          if (answer.status === 404 && stringAt(answer.body, 'details', 'name') === undefined)
            return undefined
          if (answer.status < 300 && isRecord(answer.body)) return { object: answer.body }
          return { refused: new RestError(`apply ${stringAt(object, 'kind')} ${idOf(object).name}`, answer) }
        },
        `${stringAt(object, 'kind')} to be served`,
      ).then((result) => {
        if (result.refused !== undefined) throw result.refused
        return result.object
      })
    },
    create: async (object) => demand({ method: 'POST', path: await collection(idOf(object)), body: object }),
    replace: async (object) => demand({ method: 'PUT', path: await path(idOf(object)), body: object }),
    patch: async (id, body, subresource) =>
      demand({
        method: 'PATCH',
        path: (await path(id)) + (subresource === undefined ? '' : `/${subresource}`),
        contentType: 'application/merge-patch+json',
        body,
      }),
    get: async (id) => {
      const answer = await send({ method: 'GET', path: await path(id) })
      if (answer.status === 404) return undefined
      if (answer.status >= 300 || !isRecord(answer.body))
        throw new RestError(`get ${id.kind} ${id.name}`, answer)
      return answer.body
    },
    list: async (kind) => {
      const answer = await demand({ method: 'GET', path: await collection(kind) })
      return listAt(answer, 'items').filter(isRecord)
    },
    delete: async (id) => {
      const answer = await send({ method: 'DELETE', path: await path(id) })
      if (answer.status >= 300 && answer.status !== 404)
        throw new RestError(`delete ${id.kind} ${id.name}`, answer)
    },
    serves: async (apiVersion, kind) => (await discover(send, apiVersion, kind)) !== undefined,
    hangUp: () => agent.destroy(),
  }
}

/**
 * Applies objects, several at a time, but never beside what they need: namespaces first, then service accounts (a pod
 * whose own is not there yet is refused), then all else but bindings, then those (an operator that sees a binding before
 * its pool is written says so in an event, and rightly). Rejects with the first refusal after all were tried.
 */
export async function applyAll(admin: Rest, objects: readonly JsonRecord[]): Promise<void> {
  const failures: unknown[] = []
  for (const turn of inTurns(objects)) {
    const queue = turn.values()
    const work = async (): Promise<void> => {
      for (const object of queue) await admin.apply(object).catch((error: unknown) => failures.push(error))
    }
    await Promise.all(Array.from({ length: CONNECTIONS }, work))
  }
  if (failures.length > 0) throw failures[0]
}

/** Kinds that are applied before all others, and after them. */
const BEFORE_OTHERS = ['Namespace', 'ServiceAccount']
const AFTER_OTHERS = ['InferenceIdentityBinding']

/** Objects by turn; the order within a turn is that of the list. */
function inTurns(objects: readonly JsonRecord[]): readonly (readonly JsonRecord[])[] {
  const apart = new Set([...BEFORE_OTHERS, ...AFTER_OTHERS])
  const of = (kind: string): readonly JsonRecord[] => objects.filter((object) => object['kind'] === kind)
  const others = objects.filter(({ kind }) => typeof kind !== 'string' || !apart.has(kind))
  return [...BEFORE_OTHERS.map(of), others, ...AFTER_OTHERS.map(of)]
}

/** A token of a service account, through TokenRequest; it lasts a day. */
export async function requestToken(admin: Rest, namespace: string, name: string): Promise<string> {
  const path = `/api/v1/namespaces/${namespace}/serviceaccounts/${name}/token`
  const body = {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenRequest',
    spec: { expirationSeconds: 86_400 },
  }
  const answer = await admin.request({ method: 'POST', path, body })
  const token = stringAt(answer.body, 'status', 'token')
  if (token === undefined) throw new RestError(`a token for service account ${namespace}/${name}`, answer)
  return token
}

/** How an object is found. Throws when it has no kind or name. */
export function idOf(object: JsonRecord): ObjectId {
  const [apiVersion, kind] = [stringAt(object, 'apiVersion'), stringAt(object, 'kind')]
  const name = stringAt(object, 'metadata', 'name')
  if (apiVersion === undefined || kind === undefined || name === undefined)
    throw new TypeError(`no apiVersion, kind and metadata.name in ${JSON.stringify(object).slice(0, 200)}`)
  const namespace = stringAt(object, 'metadata', 'namespace')
  return { apiVersion, kind, name, ...(namespace === undefined ? {} : { namespace }) }
}

async function discover(
  send: (request: RestRequest) => Promise<RestAnswer>,
  apiVersion: string,
  kind: string,
): Promise<string | undefined> {
  const root = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`
  const { body } = await send({ method: 'GET', path: root })
  for (const resource of listAt(body, 'resources')) {
    const plural = stringAt(resource, 'name')
    if (stringAt(resource, 'kind') !== kind || plural === undefined || plural.includes('/')) continue
    return own(resource, 'namespaced') === true ? `${root}/{namespace}${plural}` : `${root}/${plural}`
  }
  return undefined
}

function exchange(
  { port, token }: RestTarget,
  agent: Agent,
  { method, path, body, contentType = 'application/json' }: RestRequest,
): Promise<RestAnswer> {
  const payload = body === undefined ? undefined : Buffer.from(JSON.stringify(body))
  return new Promise((resolve, reject) => {
    const request = httpsRequest(
      {
        agent,
        host: '127.0.0.1',
        port,
        method,
        path,
        timeout: ANSWER_MS,
        headers: {
          authorization: `Bearer ${token}`,
          accept: 'application/json',
          'user-agent': 'kleym-test-harness',
          ...(payload === undefined ? {} : { 'content-type': contentType, 'content-length': payload.length }),
        },
      },
      (response) => {
        textOf(response).then(
          (text) => resolve({ status: response.statusCode ?? 0, body: parsed(text) }),
          reject,
        )
      },
    )
    request.once('timeout', () =>
      request.destroy(new Error(`${method} ${path}: no answer within ${ANSWER_MS} ms`)),
    )
    request.once('error', reject)
    request.end(payload)
  })
}

async function textOf(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of response) if (Buffer.isBuffer(chunk)) chunks.push(chunk)
  return Buffer.concat(chunks).toString('utf8')
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
