// The Api over HTTP(S): what each verb sends, and what its answer means.
// https://kubernetes.io/docs/reference/using-api/api-concepts/
import { withArticle } from '../core/base/text/counted.ts'
import { stringAt, type JsonRecord } from '../core/base/json.ts'
import type {
  Api,
  CallOptions,
  ListOptions,
  PatchKind,
  Resource,
  WatchEvent,
  WatchCallOptions,
  WriteOptions,
} from './api.ts'
import type { Cluster } from './cluster.ts'
import { deleteOptionsOf, deletionIn } from './deletion.ts'
import {
  createExchange,
  type ClientOptions,
  type Exchange,
  type HttpCall,
  type HttpMethod,
} from './exchange.ts'
import { connectionError } from './failures.ts'
import { allPages, PAGE_SIZE, pagesOf, type PageLimits, type ReadPage } from './paging.ts'
import { resourceName, resourcePath, type PathParts } from './resources.ts'
import { chunksOf } from './transport.ts'
import { eventIn, LINE_BYTES, linesOf } from './watch-stream.ts'

const PATCH_TYPES: Readonly<Record<PatchKind, string>> = {
  json: 'application/json-patch+json',
  merge: 'application/merge-patch+json',
}

export interface RawOptions extends CallOptions {
  /** The media types that the answer may have; `application/json` when absent. */
  readonly accept?: string
}

/** An Api, and what is not about one resource: discovery, the server's version, reviews. */
export interface Client extends Api {
  /** JSON to and from a path, which begins with `/` and may hold a query. */
  raw(method: HttpMethod, path: string, body?: JsonRecord, options?: RawOptions): Promise<JsonRecord>
  /** Ends every connection; calls and watches under way, and all later ones, reject as aborted. */
  close(): void
}

/** Talks to `cluster`; connects when the first call is made. */
export function createApi(cluster: Cluster, clientOptions: ClientOptions): Client {
  const exchange = createExchange(cluster, clientOptions)
  const { object } = exchange
  const typed = async (call: HttpCall): Promise<JsonRecord> => withKind(await object(call), call)
  return {
    raw: async (method, path, body, { signal, accept } = {}) =>
      object({ method, path, body, signal, accept }),
    get: async (resource, ref, { signal } = {}) =>
      typed({ method: 'GET', path: pathOf(resource, ref), signal }),
    // A generator, so that a path that is refused throws where the first page is asked for.
    pages: async function* (resource, options = {}) {
      yield* pagesOf(pageReader(object, resource, options), listName(resource), pageLimits(options))
    },
    list: async (resource, options = {}) =>
      allPages(pageReader(object, resource, options), listName(resource), pageLimits(options)),
    create: async (resource, body, write = {}) =>
      typed({
        method: 'POST',
        path: withQuery(pathOf(resource, { namespace: namespaceOf(body) }), writeQuery(write)),
        body,
        signal: write.signal,
      }),
    update: async (resource, body, write = {}) =>
      typed({
        method: 'PUT',
        path: withQuery(
          pathOf(resource, {
            namespace: namespaceOf(body),
            name: stringAt(body, 'metadata', 'name') ?? '',
            subresource: write.subresource,
          }),
          writeQuery(write),
        ),
        body,
        signal: write.signal,
      }),
    patch: async (resource, ref, body, write) =>
      typed({
        method: 'PATCH',
        path: withQuery(pathOf(resource, { ...ref, subresource: write.subresource }), writeQuery(write)),
        contentType: PATCH_TYPES[write.kind],
        body,
        signal: write.signal,
      }),
    delete: async (resource, ref, write = {}) =>
      deletionIn(
        await typed({
          method: 'DELETE',
          path: pathOf(resource, ref),
          body: deleteOptionsOf(write),
          signal: write.signal,
        }),
      ),
    watch: (resource, watchOptions) => watch(exchange, resource, watchOptions),
    close: () => exchange.close(),
  }
}

/**
 * An object as an API server answers with it, which always has its kind. A proxy may answer with a mapping of its own, and that
 * says nothing of what was asked for.
 */
function withKind(answer: JsonRecord, { method, path }: HttpCall): JsonRecord {
  const isObject = (stringAt(answer, 'kind') ?? '') !== ''
  if (isObject && (answer['kind'] !== 'Status' || answer['status'] === 'Success')) return answer
  const detail = 'its body is no object of an API server'
  throw connectionError('malformed', `${method} ${path}`, { neverSent: false, detail })
}

function listName(resource: Resource): string {
  return `list ${resourceName(resource)}`
}

function pageLimits({ limit = PAGE_SIZE, pageBytes, oneAfterTimeout = false }: ListOptions): PageLimits {
  return { limit, pageBytes, oneAfterTimeout }
}

function pageReader(
  object: Exchange['object'],
  resource: Resource,
  {
    namespace,
    labelSelector,
    fieldSelector,
    metadataOnly,
    fromWatchCache = false,
    signal,
    parse,
  }: ListOptions,
): ReadPage {
  const path = resourcePath(resource, { namespace })
  return ({ limit, continueToken, bodyBytes }) =>
    object({
      method: 'GET',
      path: withQuery(path, {
        labelSelector,
        fieldSelector,
        resourceVersion: fromWatchCache ? '0' : undefined,
        limit: limit === 0 ? undefined : String(limit),
        continue: continueToken,
      }),
      accept: acceptOf('PartialObjectMetadataList', metadataOnly),
      signal,
      bodyBytes,
      parse,
    })
}

async function* watch(
  exchange: Exchange,
  resource: Resource,
  { namespace, resourceVersion, timeoutSeconds, metadataOnly, onOpen, signal }: WatchCallOptions,
): AsyncGenerator<WatchEvent> {
  const path = withQuery(resourcePath(resource, { namespace }), {
    watch: 'true',
    allowWatchBookmarks: 'true',
    resourceVersion,
    timeoutSeconds: String(timeoutSeconds),
  })
  const accept = acceptOf('PartialObjectMetadata', metadataOnly)
  const { incoming, what } = await exchange.stream({ method: 'GET', path, accept, signal })
  const breach = (detail: string): Error => connectionError('malformed', what, { neverSent: false, detail })
  try {
    onOpen?.()
    for await (const line of linesOf(chunksOf(incoming), LINE_BYTES, breach)) {
      // What came before the end and was not read yet is not wanted any more.
      if (incoming.isEnded()) throw incoming.failure(undefined)
      yield eventIn(line, what)
    }
  } finally {
    incoming.done()
  }
}

/** https://kubernetes.io/docs/reference/using-api/api-concepts/#metadata-only-fetches */
function acceptOf(kind: string, metadataOnly = false): string | undefined {
  return metadataOnly ? `application/json;as=${kind};g=meta.k8s.io;v=v1` : undefined
}

function pathOf(resource: Resource, parts: PathParts): string {
  const path = resourcePath(resource, parts)
  if (resource.namespaced && parts.namespace === undefined)
    throw connectionError('malformed', path, {
      neverSent: true,
      detail: `${withArticle(resource.kind)} needs a namespace`,
    })
  return path
}

function namespaceOf(object: JsonRecord): string | undefined {
  return stringAt(object, 'metadata', 'namespace')
}

function writeQuery({ fieldManager, dryRun }: WriteOptions): Query {
  return { fieldManager, dryRun: dryRun === true ? 'All' : undefined }
}

type Query = Readonly<Record<string, string | undefined>>

function withQuery(path: string, query: Query): string {
  const search = new URLSearchParams()
  for (const [key, value] of Object.entries(query)) if (value !== undefined) search.append(key, value)
  return search.size === 0 ? path : `${path}?${search.toString()}`
}
