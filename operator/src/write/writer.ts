// Every write of the operator, one by one, and what its answer means. An answer to our own write is taken into the cache
// at once: it counts as a live read (docs/contract.md §6). Nothing here decides; nothing here retries.
import { apiVersionOf, BINDING } from '@kleym/shared/core/model/kinds.ts'
import type { JsonRecord } from '@kleym/shared/core/base/json.ts'
import type { ObjectVersion } from '@kleym/shared/core/model/objects/meta.ts'
import type { UnknownReason } from '@kleym/shared/core/model/unknown-reason.ts'
import { BINDING_KIND, CLUSTER_SPIFFE_ID_KIND, FIELD_MANAGER } from '@kleym/shared/core/model/names.ts'
import {
  type Output,
  alteredFields,
  type AlteredField,
  type LiveOutput,
  metadataAfterWrite,
} from '@kleym/shared/core/decide/index.ts'
import type { BindingStatus } from '@kleym/shared/core/model/objects/binding-status.ts'
import {
  readClusterSpiffeId,
  type ClusterSpiffeId,
} from '@kleym/shared/core/model/objects/clusterspiffeid.ts'
import { readyOf } from '@kleym/shared/core/model/objects/binding.ts'
import type { NamespacedName } from '@kleym/shared/core/model/namespaced-name.ts'
import type { Api, WriteOptions } from '@kleym/shared/kube/api.ts'
import { ignoranceOf, isNotFound, mayBeKindAbsent } from '@kleym/shared/kube/failures.ts'
import { ApiError, ConnectionError } from '@kleym/shared/kube/errors.ts'
import { resourceName } from '@kleym/shared/kube/resources.ts'
import type { Cached } from '@kleym/shared/kube/store.ts'
import type { Ledger, Reservation } from '../claims/ledger.ts'
import { answeredBinding, type CachedBinding } from '../caches/cached-binding.ts'
import { cachedOutput } from '../caches/cached-output.ts'
import type { MissingRef } from '../claims/missing-refs.ts'
import { hasOurs } from '../caches/kept-finalizers.ts'
import type { Caches } from '../caches/caches.ts'
import type { KeptMeta } from '../caches/kept-meta.ts'
import { finalizerPatch } from './finalizer-patch.ts'
import type { AnyFollowedKind, FollowedKind } from '@kleym/shared/kube/followed-kind.ts'

/** The outcome of a write. */
export type WriteResult =
  /** Carried out, and the cache has it, or something newer; `answer` is the output as a POST or PUT has left it. */
  | { readonly kind: 'done'; readonly answer?: ClusterSpiffeId }
  /** Another's write came first. The cache has what is there now: decide again. */
  | { readonly kind: 'overtaken' }
  /** The API server will not have this object, now or later. */
  | { readonly kind: 'refused'; readonly message: string }
  /** The API server does not serve the kind: discovery says so, and so does the cache. */
  | { readonly kind: 'kind absent' }
  /** Not carried out, or it is not known; such a write keeps its reservation until a live read. */
  | { readonly kind: 'unknown'; readonly why: UnknownReason; readonly retryAfterMs: number | undefined }

/** The outcome of a write of an output. */
export type OutputWriteResult =
  | WriteResult
  /**
   * The answer is not what was proven (docs/contract.md §8). Unless it answers a dry run, the object is there and claims,
   * and `settle` removes it.
   */
  | { readonly kind: 'altered'; readonly fields: readonly AlteredField[] }

type OutputVerb = 'create' | 'update'

/** How an output is written. */
export interface OutputWriteOptions {
  /** Nothing is stored and nothing reserved: the answer alone counts, and to write is decided anew after it. */
  readonly dryRun: boolean
}

/** The outcome of a live read of one name. */
export type ReadResult =
  | { readonly kind: 'read'; readonly found: boolean }
  | Extract<WriteResult, { kind: 'kind absent' | 'unknown' }>

export interface WriterOptions {
  readonly api: Api
  readonly caches: Caches
  readonly ledger: Ledger
  /** Asks the API server again whether it serves a kind; resolves when the cache's state says so. */
  readonly recheck: (cache: AnyFollowedKind) => Promise<void>
}

export class Writer {
  readonly #options: WriterOptions
  /** Reservations of writes that may or may not have been carried out, by the binding that they are for. */
  readonly #unsettled = new Map<string, Reservation>()
  /** Objects that a write has left behind and that are not what was proven, by the binding that they are for. */
  readonly #altered = new Map<string, AlteredOutput>()
  /** Bindings that may have been written to without the cache's showing it yet. */
  readonly #unread = new Set<string>()

  constructor(options: WriterOptions) {
    this.#options = options
  }

  /** POST. The claim is reserved before anything is awaited. */
  create(key: NamespacedName, output: Output, options: OutputWriteOptions): Promise<OutputWriteResult> {
    return this.#written(key, { verb: 'create', output, ...options }, (how) =>
      this.#options.api.create(this.#options.caches.outputs.resource, { ...output }, how),
    )
  }

  /** PUT of the whole object, with the UID and version that were judged; other people's labels and annotations stay. */
  update(
    key: NamespacedName,
    live: LiveOutput,
    output: Output,
    options: OutputWriteOptions,
  ): Promise<OutputWriteResult> {
    const { meta } = live.object
    const { labels, annotations } = metadataAfterWrite(meta, output)
    const object = {
      ...output,
      metadata: {
        name: meta.name,
        uid: meta.uid,
        resourceVersion: meta.resourceVersion,
        labels: Object.fromEntries(labels),
        annotations: Object.fromEntries(annotations),
        ...(meta.finalizers.length === 0 ? {} : { finalizers: meta.finalizers }),
        ...(meta.ownerReferences.length === 0 ? {} : { ownerReferences: meta.ownerReferences }),
      },
    }
    return this.#written(key, { verb: 'update', output, ...options }, (how) =>
      this.#options.api.update(this.#options.caches.outputs.resource, object, how),
    )
  }

  /** DELETE, with the UID and version that were judged. `done` also when finalizers keep it: the cache then says so. */
  async remove({ meta }: { readonly meta: ObjectVersion }): Promise<WriteResult> {
    const { name, uid = '', resourceVersion = '' } = meta
    const { resource, store } = this.#options.caches.outputs
    try {
      const deletion = await this.#options.api.delete(resource, { name }, { uid, resourceVersion })
      if (deletion.state === 'gone') store.confirmGone(meta)
      else store.observe(cachedOutput(deletion.object))
      return { kind: 'done' }
    } catch (error) {
      return this.#failed(error, 'delete', `${CLUSTER_SPIFFE_ID_KIND} ${name}`, () => this.#readOutput(name))
    }
  }

  /** Adds or drops the finalizer of kleym, and changes nothing else. Not done where a mutating webhook undoes it in the same write. */
  async setFinalizer(binding: CachedBinding, wanted: boolean): Promise<WriteResult> {
    return this.#onBinding(
      binding,
      'patch',
      () =>
        this.#options.api.patch(
          this.#options.caches.bindings.resource,
          refOf(binding.meta),
          finalizerPatch(binding, wanted),
          { kind: 'json', fieldManager: FIELD_MANAGER },
        ),
      ({ finalizers }) => hasOurs(finalizers) === wanted,
    )
  }

  /** PUT of the status, with UID and version: never onto a re-created namesake. Not done where the answer says another `Ready`. */
  async setStatus(binding: CachedBinding, status: BindingStatus): Promise<WriteResult> {
    const { uid, resourceVersion } = binding.meta
    const object = {
      apiVersion: apiVersionOf(BINDING),
      kind: BINDING_KIND,
      metadata: { ...refOf(binding.meta), uid, resourceVersion },
      status,
    }
    return this.#onBinding(
      binding,
      'update',
      () =>
        this.#options.api.update(this.#options.caches.bindings.resource, object, {
          subresource: 'status',
          fieldManager: FIELD_MANAGER,
        }),
      (answer) => readyText(answer.readStatus()) === readyText(status),
    )
  }

  /** Whether a write of a binding has left behind something other than was proven, which is still to be removed. */
  hasAltered(key: string): boolean {
    return this.#altered.has(key)
  }

  /** Whether it is not known what became of a write of a binding's output. */
  isUnsettled(key: string): boolean {
    return this.#unsettled.has(key)
  }

  /**
   * Reads what became of a binding's writes whose outcome is not known, and removes what a webhook has made of one; `done`
   * at once where there are none.
   */
  async resolveUnknownWrites(key: string): Promise<WriteResult> {
    if (this.#unread.has(key)) {
      const [namespace = '', name = ''] = key.split('/')
      const read = await this.read(this.#options.caches.bindings, { namespace, name })
      if (read.kind === 'unknown') return read
      this.#unread.delete(key)
    }
    const removal = await this.#removeAltered(key)
    if (removal.kind === 'unknown') return removal
    const reservation = this.#unsettled.get(key)
    if (reservation === undefined) return { kind: 'done' }
    const result = await this.#readOutput(reservation.output)
    if (result.kind === 'unknown') return result
    this.#unsettled.delete(key)
    reservation.release()
    return { kind: 'done' }
  }

  /** A live read of a name that a cache does not hold. */
  readMissing(ref: MissingRef): Promise<ReadResult> {
    const { pools, objectives } = this.#options.caches
    return ref.kind === 'pool'
      ? this.read(pools.get(ref.group), ref)
      : this.read(objectives.get(ref.group), ref)
  }

  /** A live read of one object, into its cache. */
  async read<T extends Cached>(
    cache: FollowedKind<T> | undefined,
    { namespace, name }: { readonly namespace: string; readonly name: string },
  ): Promise<ReadResult> {
    if (cache === undefined) return { kind: 'kind absent' }
    try {
      const ref = namespace === '' ? { name } : { namespace, name }
      const began = cache.store.listBegins()
      const object = cache.read(await this.#options.api.get(cache.resource, ref))
      cache.store.observe(object, began)
      return { kind: 'read', found: true }
    } catch (error) {
      if (isNotFound(error, cache.resource, name)) return { kind: 'read', found: false }
      return this.#unlessAbsent(error, cache, unknown(error, 'get', resourceName(cache.resource)))
    }
  }

  #written(
    key: NamespacedName,
    { verb, output, dryRun }: OutputWriteOptions & { readonly verb: OutputVerb; readonly output: Output },
    send: (how: WriteOptions) => Promise<JsonRecord>,
  ): Promise<OutputWriteResult> {
    return dryRun
      ? this.#rehearsed(verb, output, () => send({ fieldManager: FIELD_MANAGER, dryRun }))
      : this.#reserved(key, { verb, output }, () => send({ fieldManager: FIELD_MANAGER }))
  }

  async #rehearsed(
    verb: OutputVerb,
    output: Output,
    send: () => Promise<JsonRecord>,
  ): Promise<OutputWriteResult> {
    try {
      const answer = answerIn(await send())
      const fields = alteredFields(answer, output)
      return fields.length === 0 ? { kind: 'done', answer } : { kind: 'altered', fields }
    } catch (error) {
      return this.#outputFailed(error, verb, output)
    }
  }

  async #reserved(
    key: NamespacedName,
    { verb, output }: { readonly verb: OutputVerb; readonly output: Output },
    send: () => Promise<JsonRecord>,
  ): Promise<OutputWriteResult> {
    const { name } = output.metadata
    const reservation = this.#options.ledger.reserve(key, name)
    try {
      const value = await send()
      this.#options.caches.outputs.store.observe(cachedOutput(value))
      const answer = answerIn(value)
      const fields = alteredFields(answer, output)
      if (fields.length === 0) {
        reservation.release()
        return { kind: 'done', answer }
      }
      const reservations = [reservation, this.#options.ledger.reserveAnswer(key, answer)]
      this.#altered.set(key, { meta: answer.meta, isTerminating: false, reservations })
      return { kind: 'altered', fields }
    } catch (error) {
      if (isOutcomeUnknown(error)) this.#unsettled.set(key, reservation)
      else reservation.release()
      return this.#outputFailed(error, verb, output)
    }
  }

  async #outputFailed(error: unknown, verb: OutputVerb, { metadata }: Output): Promise<WriteResult> {
    if (isRefusal(error)) return { kind: 'refused', message: error.message }
    return this.#failed(error, verb, CLUSTER_SPIFFE_ID_KIND, () => this.#readOutput(metadata.name))
  }

  /**
   * Deletes what is not what was proven, by its UID alone: whatever else has changed it meanwhile (SCM writes its status),
   * it has to go. It claims until a live answer says that it is gone.
   */
  async #removeAltered(key: string): Promise<WriteResult> {
    const altered = this.#altered.get(key)
    if (altered === undefined) return { kind: 'done' }
    const { name, uid = '' } = altered.meta
    const { outputs } = this.#options.caches
    const what = `${CLUSTER_SPIFFE_ID_KIND} ${name}`
    let isGone = false
    if (!altered.isTerminating) {
      try {
        const deletion = await this.#options.api.delete(outputs.resource, { name }, { uid })
        isGone = deletion.state === 'gone'
        altered.isTerminating = !isGone
        if (deletion.state === 'terminating') outputs.store.observe(cachedOutput(deletion.object))
      } catch (error) {
        const mayBeGone = error instanceof ApiError && (error.status === 404 || error.status === 409)
        if (!mayBeGone) return unknown(error, 'delete', what)
      }
    }
    if (!isGone) {
      const read = await this.read(outputs, { namespace: '', name })
      if (read.kind === 'unknown') return read
      const isThere = read.kind === 'read' && read.found && outputs.store.get(name)?.meta.uid === uid
      const cause = altered.isTerminating ? 'held by finalizers' : 'conflicting writes'
      if (isThere) return { kind: 'unknown', why: { verb: 'delete', what, cause }, retryAfterMs: undefined }
    }
    outputs.store.confirmGone(altered.meta)
    this.#altered.delete(key)
    for (const reservation of altered.reservations) reservation.release()
    return { kind: 'done' }
  }

  async #onBinding(
    binding: CachedBinding,
    verb: 'patch' | 'update',
    send: () => Promise<JsonRecord>,
    isCarriedOut: (answer: CachedBinding) => boolean,
  ): Promise<WriteResult> {
    const { bindings } = this.#options.caches
    try {
      const answer = answeredBinding(await send(), binding)
      bindings.store.observe(answer)
      if (isCarriedOut(answer)) return { kind: 'done' }
      const why = { verb, what: BINDING_KIND, cause: 'undone at admission' } as const
      return { kind: 'unknown', why, retryAfterMs: undefined }
    } catch (error) {
      // The CRD of an older version refuses a status: the caller may have another one.
      if (verb === 'update' && isRefusal(error)) return { kind: 'refused', message: error.message }
      if (isOutcomeUnknown(error)) this.#unread.add(binding.key)
      const readAgain = (): Promise<WriteResult> => this.#readBinding(binding)
      if (verb === 'update' || !isUnprocessable(error))
        return this.#failed(error, verb, BINDING_KIND, readAgain)
      // A test of the patch has failed, unless the binding is still as it was: then the patch itself is refused.
      const result = await readAgain()
      const isSame = bindings.store.get(binding.key)?.meta.resourceVersion === binding.meta.resourceVersion
      return result.kind === 'overtaken' && isSame ? unknown(error, verb, BINDING_KIND) : result
    }
  }

  /** A live read of a binding into the cache. */
  async #readBinding({ meta }: CachedBinding): Promise<WriteResult> {
    const { bindings } = this.#options.caches
    const { namespace, name } = meta
    const result = await this.read(bindings, { namespace, name })
    if (result.kind !== 'read') return result
    if (!result.found) bindings.store.confirmGone(meta)
    return { kind: 'overtaken' }
  }

  /** What a failure means. Where another client's write came first, what is there now is read before the answer. */
  async #failed(
    error: unknown,
    verb: UnknownReason['verb'],
    what: string,
    readAgain: () => Promise<WriteResult>,
  ): Promise<WriteResult> {
    const overtaken = error instanceof ApiError && (error.status === 404 || error.status === 409)
    if (overtaken && error.isStatus) return readAgain()
    const cache = what === BINDING_KIND ? this.#options.caches.bindings : this.#options.caches.outputs
    return this.#unlessAbsent(error, cache, unknown(error, verb, what))
  }

  /** A failure is what it is, unless discovery says that the API server does not serve the kind. */
  async #unlessAbsent<T>(
    error: unknown,
    cache: AnyFollowedKind,
    failed: T,
  ): Promise<T | Extract<WriteResult, { kind: 'kind absent' }>> {
    if (!mayBeKindAbsent(error)) return failed
    await this.#options.recheck(cache)
    return cache.syncState.kind === 'absent' ? { kind: 'kind absent' } : failed
  }

  /** A live read of one output into the cache. */
  async #readOutput(name: string): Promise<WriteResult> {
    const { outputs } = this.#options.caches
    const held = outputs.store.get(name)
    const result = await this.read(outputs, { namespace: '', name })
    if (result.kind !== 'read') return result
    if (!result.found && held !== undefined) outputs.store.confirmGone(held.meta)
    return { kind: 'overtaken' }
  }
}

/** What a write has left behind that is not what was proven. */
interface AlteredOutput {
  readonly meta: ObjectVersion
  /** Whether its deletion has begun, so that only its finalizers keep it. */
  isTerminating: boolean
  /** Of what was to be written, and of what was written instead. */
  readonly reservations: readonly Reservation[]
}

function answerIn(value: JsonRecord): ClusterSpiffeId {
  return readClusterSpiffeId({ value }, 'live')
}

/** The answer to a JSON Patch whose test fails, or which the object's validation refuses. */
function isUnprocessable(error: unknown): boolean {
  return error instanceof ApiError && error.status === 422
}

/** An answer that leaves open whether the write was carried out: none came, the server broke, or something else answered. */
function isOutcomeUnknown(error: unknown): boolean {
  if (error instanceof ConnectionError) return !error.neverSent
  // kube-apiserver's 429 is a text, and always of a request that it did not take.
  return !(error instanceof ApiError) || error.status >= 500 || (!error.isStatus && error.status !== 429)
}

/**
 * A permanent refusal of the object (docs/contract.md §8). A 403 is one only where admission said no, which its message
 * alone tells: apiserver's `webhook/errors/statuserror.go` and `plugin/policy/validating` word it so.
 */
function isRefusal(error: unknown): error is ApiError {
  if (!(error instanceof ApiError) || !error.isStatus) return false
  if (error.status === 400 || error.status === 422) return true
  return (
    error.status === 403 && /admission webhook|ValidatingAdmissionPolicy|exceeded quota/.test(error.message)
  )
}

function unknown(
  error: unknown,
  verb: UnknownReason['verb'],
  what: string,
): WriteResult & { kind: 'unknown' } {
  // Anything but an answer or a failed connection is a bug, and must not pass for a failure to retry.
  if (!(error instanceof ApiError) && !(error instanceof ConnectionError)) throw error
  const retryAfterMs = error instanceof ApiError ? error.retryAfterMs : undefined
  return { kind: 'unknown', why: ignoranceOf(error, verb, what), retryAfterMs }
}

/** What a status says of `Ready`; messages aside, which a policy may shorten. */
function readyText(status: BindingStatus | undefined): string {
  const ready = readyOf({ status })
  return JSON.stringify([ready?.status, ready?.reason, ready?.observedGeneration])
}

function refOf(meta: KeptMeta): { readonly namespace: string; readonly name: string } {
  return { namespace: meta.namespace, name: meta.name }
}
