// An API server that holds one Lease, behind a network of which tests decide how it fails each request.
import { isRecord, stringAt, type JsonRecord } from '@kleym/shared/core/base/json.ts'
import type { CallOptions } from '@kleym/shared/kube/api.ts'
import { ApiError, ConnectionError } from '@kleym/shared/kube/errors.ts'
import type { LeaseApi } from '../../src/election/lease.ts'
import type { ProcessClock, FakeTime } from '../build/fake-time.ts'

/** What happens to one request; times in true milliseconds. */
export interface LeaseCallFate {
  /** On its way there, and back. */
  readonly thereMs: number
  readonly backMs: number
  /** The server never sees it, or answers with an error, or carries it out and the answer is lost. */
  readonly fails?: 'lost' | 'refused' | 'answer lost' | undefined
}

export const PROMPT: LeaseCallFate = { thereMs: 1, backMs: 1 }

export class LeaseServer {
  lease: JsonRecord | undefined
  /** The holders of all versions of the Lease. */
  readonly holders: string[] = []
  readonly requests: string[] = []
  readonly #own: ProcessClock
  #version = 0

  constructor(time: FakeTime) {
    this.#own = time.clock()
  }

  /** The way of one process to this server. Answers reach it by its own clock: not while it is stopped. */
  api(clock: ProcessClock, fateOf: () => LeaseCallFate = () => PROMPT): LeaseApi {
    const send = <T>(serve: () => T, { signal }: CallOptions = {}): Promise<T> =>
      new Promise((resolve, reject) => {
        const fate = fateOf()
        const answer = (): void => {
          if (fate.fails === 'lost') return
          let deliver: () => void
          try {
            if (fate.fails === 'refused')
              throw new ApiError({ status: 500, reason: 'InternalError', message: 'out of order' })
            const result = serve()
            deliver = () => resolve(structuredClone(result))
          } catch (error) {
            deliver = () => reject(error)
          }
          if (fate.fails !== 'answer lost') clock.deliver(fate.backMs, deliver)
        }
        this.#own.deliver(fate.thereMs, answer)
        signal?.addEventListener('abort', () =>
          reject(new ConnectionError('aborted', 'given up', { cause: undefined, neverSent: false })),
        )
      })
    return {
      get: (_, __, options) => send(() => this.#get(), options),
      create: (_, object, options) => send(() => this.#create(object), options),
      update: (_, object, options) => send(() => this.#update(object), options),
    }
  }

  /** Writes the Lease as a hand would, with no precondition. */
  edit(spec: JsonRecord | undefined, labels: JsonRecord = {}): void {
    this.lease = spec === undefined ? undefined : this.#stamp({ metadata: { labels }, spec })
  }

  #get(): JsonRecord {
    this.requests.push('get')
    if (this.lease === undefined) throw noLease()
    return this.lease
  }

  #create(object: JsonRecord): JsonRecord {
    this.requests.push('create')
    if (this.lease !== undefined)
      throw new ApiError({ status: 409, reason: 'AlreadyExists', message: 'there is one' })
    return this.#put(object)
  }

  #update(object: JsonRecord): JsonRecord {
    this.requests.push('update')
    if (this.lease === undefined) throw noLease()
    const version = stringAt(object, 'metadata', 'resourceVersion')
    if (version !== stringAt(this.lease, 'metadata', 'resourceVersion'))
      throw new ApiError({ status: 409, reason: 'Conflict', message: 'somebody else wrote' })
    return this.#put(object)
  }

  #put(object: JsonRecord): JsonRecord {
    this.lease = this.#stamp(structuredClone(object))
    this.holders.push(stringAt(this.lease, 'spec', 'holderIdentity') ?? '')
    return this.lease
  }

  #stamp(object: JsonRecord): JsonRecord {
    const { metadata } = object
    this.#version += 1
    return {
      ...object,
      metadata: { ...(isRecord(metadata) ? metadata : {}), resourceVersion: String(this.#version) },
    }
  }
}

function noLease(): ApiError {
  const details = { name: 'kleym-operator', kind: 'leases' }
  return new ApiError({ status: 404, reason: 'NotFound', message: 'no Lease', details })
}
