// The `Api` that an operator of the simulation talks to: every call waits until the scheduler has the server carry it out,
// and its answer until the scheduler lets it arrive. On the way both can be lost.
import { isRecord, stringAt, type JsonRecord } from '@kleym/shared/core/base/json.ts'
import type { Api, Listing, ResourceRef, Resource } from '@kleym/shared/kube/api.ts'
import { ApiError, ConnectionError } from '@kleym/shared/kube/errors.ts'
import { pageNotFound, refOf, type SimulatedCluster } from './cluster.ts'

export type Verb = 'get' | 'list' | 'create' | 'update' | 'update status' | 'patch' | 'delete' | 'discover'

/** What becomes of a request. */
export type CallFate =
  | 'carried out'
  /** Carried out, and then the connection broke. */
  | 'answer lost'
  /** Carried out, and then the server failed. */
  | 'failed after'
  /** The connection broke before the server read it, which the client cannot know. */
  | 'request lost'
  /** The connection broke, but the request is on its way still: it may be carried out at any time, or never. */
  | 'given up'
  | 'never sent'
  | 'conflict'
  | 'throttled'
  /** 503, with a Retry-After of an hour. */
  | 'put off'
  | 'failed'
  | 'forbidden'
  /** A proxy says 404, in a text of its own, before the server read the request, or after. */
  | 'page'
  | 'page after'

/** One request on its way. */
export interface SimulatedCall {
  readonly verb: Verb
  readonly resource: Resource
  readonly name: string
  readonly ref: ResourceRef
  /** What a write carries. */
  readonly body: unknown
  /** Whether the server only answers as if it had carried it out. */
  readonly dryRun: boolean
  /** The life of the operator that sent it. */
  readonly life: number
  /** The step at which it was sent. */
  readonly sentAt: number
  /** Whether its sender has given it up: nobody waits for the answer. */
  readonly isGivenUp: boolean
  /** Has the server carry it out; the result lets the answer arrive. May throw what the server says. */
  readonly run: () => () => void
  readonly reject: (error: Error) => void
  /** Set when the server is done with it: lets the answer arrive. */
  answer: (() => void) | undefined
}

export const WRITES: readonly Verb[] = ['create', 'update', 'update status', 'patch', 'delete']

export interface CallsOptions {
  readonly server: SimulatedCluster
  /** The step that the simulation is at. */
  readonly step: () => number
  /** Sees each call when it is sent. */
  readonly sent: (call: SimulatedCall) => void
}

/** All calls of all operators that are under way. */
export class Calls {
  readonly #options: CallsOptions
  readonly #open: SimulatedCall[] = []

  constructor(options: CallsOptions) {
    this.#options = options
  }

  /** Requests that the server has not seen. */
  get requests(): readonly SimulatedCall[] {
    return this.#open.filter(({ answer }) => answer === undefined)
  }

  /** Answers that have not arrived. */
  get answers(): readonly SimulatedCall[] {
    return this.#open.filter(({ answer }) => answer !== undefined)
  }

  /** An operator's way to the server. */
  apiOf(life: number): Api {
    const send = <T>(
      verb: Verb,
      resource: Resource,
      {
        ref,
        body,
        dryRun = false,
        run,
      }: {
        readonly ref: ResourceRef
        readonly body?: unknown
        readonly dryRun?: boolean | undefined
        readonly run: () => T
      },
    ): Promise<T> => this.#send(life, { verb, resource, name: ref.name, ref, body, dryRun, run })
    const { server } = this.#options
    const list = (resource: Resource): Promise<Listing> =>
      send('list', resource, { ref: { name: '' }, run: () => server.list(resource) })
    return {
      get: (resource, ref) => send('get', resource, { ref, run: () => server.get(resource, ref) }),
      list,
      pages: (resource) => pagesOf(() => list(resource)),
      create: (resource, object, options = {}) =>
        send('create', resource, {
          ref: refOf(object),
          body: object,
          dryRun: options.dryRun,
          run: () => server.create(resource, object, life, options),
        }),
      update: (resource, object, options = {}) =>
        send(options.subresource === undefined ? 'update' : 'update status', resource, {
          ref: refOf(object),
          body: object,
          dryRun: options.dryRun,
          run: () => server.update(resource, object, life, options),
        }),
      patch: (resource, ref, body) =>
        send('patch', resource, { ref, body, run: () => server.patch(resource, ref, body, life) }),
      delete: (resource, ref, options = {}) =>
        send('delete', resource, {
          ref,
          body: options,
          run: () => server.delete(resource, ref, options, life),
        }),
      watch: () => {
        throw new TypeError('the caches of the simulation are fed by hand')
      },
    }
  }

  /** Asks whether the server serves a kind. */
  discover(life: number, resource: Resource): Promise<boolean> {
    const run = (): boolean => this.#options.server.serves(resource)
    const asked = { resource, name: '', ref: { name: '' }, body: undefined, dryRun: false }
    return this.#send(life, { verb: 'discover', ...asked, run })
  }

  /** The server gets the request, or what becomes of it on the way. */
  carryOut(call: SimulatedCall, fate: CallFate): void {
    call.answer = outcomeOf(call, fate)
    if (fate === 'given up')
      this.#open.push({ ...call, isGivenUp: true, answer: undefined, reject: () => {} })
  }

  /** The answer arrives. */
  deliver(call: SimulatedCall): void {
    this.drop(call)
    call.answer?.()
  }

  /** Nobody hears of the call again. */
  drop(call: SimulatedCall): void {
    const at = this.#open.indexOf(call)
    if (at >= 0) this.#open.splice(at, 1)
  }

  #send<T>(
    life: number,
    {
      run,
      ...asked
    }: Pick<SimulatedCall, 'verb' | 'resource' | 'name' | 'ref' | 'body' | 'dryRun'> & {
      readonly run: () => T
    },
  ): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>()
    const call: SimulatedCall = {
      ...asked,
      life,
      isGivenUp: false,
      sentAt: this.#options.step(),
      run: () => {
        const value = run()
        return () => resolve(value)
      },
      reject,
      answer: undefined,
    }
    this.#open.push(call)
    this.#options.sent(call)
    return promise
  }
}

/** Two pages of one state of the cluster. */
async function* pagesOf(list: () => Promise<Listing>): AsyncGenerator<Listing> {
  const { items, resourceVersion } = await list()
  const half = Math.ceil(items.length / 2)
  yield { items: items.slice(0, half), resourceVersion }
  yield { items: items.slice(half), resourceVersion }
}

/** Carries a call out as its fate says; what it returns lets the answer arrive. */
function outcomeOf(call: SimulatedCall, fate: CallFate): () => void {
  const refuse = (error: Error) => () => call.reject(error)
  switch (fate) {
    case 'conflict':
      return refuse(status(call, 409, 'Conflict'))
    case 'throttled':
      return refuse(status(call, 429, 'TooManyRequests', 1_000))
    case 'put off':
      return refuse(status(call, 503, 'ServiceUnavailable', 3_600_000))
    case 'failed':
      return refuse(status(call, 500, 'InternalError'))
    case 'forbidden':
      return refuse(status(call, 403, 'Forbidden'))
    case 'page':
      return refuse(pageNotFound())
    case 'never sent':
      return refuse(new ConnectionError('refused', `${call.verb}: nothing answers`, { neverSent: true }))
    case 'request lost':
    case 'given up':
      return refuse(broken(call))
    case 'carried out':
    case 'answer lost':
    case 'failed after':
    case 'page after': {
      const answer = runOf(call)
      if (fate === 'answer lost') return refuse(broken(call))
      if (fate === 'page after') return refuse(pageNotFound())
      return fate === 'failed after' ? refuse(status(call, 500, 'InternalError')) : answer
    }
  }
}

function runOf(call: SimulatedCall): () => void {
  try {
    return call.run()
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    return () => call.reject(error)
  }
}

function broken({ verb }: SimulatedCall): ConnectionError {
  return new ConnectionError('reset', `${verb}: the connection broke`, { neverSent: false })
}

function status(call: SimulatedCall, code: number, reason: string, retryAfterMs?: number): ApiError {
  return new ApiError({
    status: code,
    reason,
    message: `${call.verb}: ${reason}`,
    details: { name: call.name },
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  })
}

/** The JSON object that a write carries. */
export function bodyOf({ body }: SimulatedCall): JsonRecord {
  return isRecord(body) ? body : {}
}

/** `create ClusterSPIFFEID kleym-...`, for traces. */
export function callText({ verb, resource, name, life, body, dryRun }: SimulatedCall): string {
  const ready = verb === 'update status' ? ` ${readyOf(body)}` : ''
  return `#${life} ${verb}${dryRun ? ' (dry run)' : ''} ${resource.kind} ${name}${ready}`
}

function readyOf(body: unknown): string {
  const conditions = isRecord(body) && isRecord(body['status']) ? body['status']['conditions'] : undefined
  if (!Array.isArray(conditions)) return ''
  const ready: unknown = conditions.find((condition) => stringAt(condition, 'type') === 'Ready')
  return stringAt(ready, 'reason') ?? ''
}
