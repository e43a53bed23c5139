// A cluster in memory, for the watch: its objects can be changed, kinds can be forbidden or not there, and the whole of it
// can fall silent. Answers come at once; what is due is let out by awaiting `settle`.
import { stringAt, type JsonRecord } from '@kleym/shared/core/base/json.ts'
import { recordAt } from '@kleym/shared/core/model/objects/pod.ts'
import { readMeta } from '@kleym/shared/core/model/objects/meta.ts'
import type { Api, ListOptions, Resource, WatchEvent } from '@kleym/shared/kube/api.ts'
import type { Client } from '@kleym/shared/kube/client.ts'
import { ApiError, ConnectionError } from '@kleym/shared/kube/errors.ts'
import { groupVersionPath } from '@kleym/shared/kube/resources.ts'

type Served = 'served' | 'forbidden' | 'absent'

interface Watcher {
  readonly resource: Resource
  readonly namespace: string | undefined
  readonly send: (event: WatchEvent) => void
  readonly end: (error: unknown) => void
}

export class FakeCluster implements Pick<Client, 'raw' | 'get' | 'list' | 'pages' | 'watch'> {
  /** Every call, as `list inferencepools.inference.networking.k8s.io`, in order. */
  readonly calls: string[] = []
  readonly #objects = new Map<string, JsonRecord>()
  readonly #kinds = new Map<string, Served>()
  readonly #watchers = new Set<Watcher>()
  #version = 1
  #isSilent = false

  constructor(objects: readonly JsonRecord[] = []) {
    for (const object of objects) this.put(object)
  }

  /** Creates or replaces an object; gives it a UID and a new version. */
  put(object: JsonRecord): void {
    const key = keyOf(object)
    const before = this.#objects.get(key)
    const meta = readMeta(object)
    const metadata = {
      ...recordAt(object, 'metadata'),
      uid: meta.uid ?? readMeta(before).uid ?? `uid-${key}`,
      resourceVersion: String(++this.#version),
    }
    const stored = { ...object, metadata }
    this.#objects.set(key, stored)
    this.#tell(before === undefined ? 'ADDED' : 'MODIFIED', stored)
  }

  /** Deletes an object. */
  remove(object: JsonRecord): void {
    const before = this.#objects.get(keyOf(object))
    this.#objects.delete(keyOf(object))
    if (before === undefined) return
    const metadata = { ...recordAt(before, 'metadata'), resourceVersion: String(++this.#version) }
    this.#tell('DELETED', { ...before, metadata })
  }

  /** From now on, a kind is served, forbidden or not there; its watches end. */
  serve({ plural, group }: Resource, how: Served): void {
    this.#kinds.set(`${plural}.${group}`, how)
    for (const watcher of this.#watchers)
      if (watcher.resource.plural === plural && watcher.resource.group === group)
        watcher.end(new ConnectionError('reset', 'the watch was cut', { neverSent: false }))
  }

  /** Nothing answers; watches stay open and say nothing, as when a network goes. */
  fallSilent(): void {
    this.#isSilent = true
  }

  /** It answers again; what was said in between is lost to the watches that were open. */
  speak(): void {
    this.#isSilent = false
    this.#watchers.clear()
  }

  async raw(
    method: string,
    path: string,
    _body?: JsonRecord,
    options: { signal?: AbortSignal } = {},
  ): Promise<JsonRecord> {
    this.calls.push(`${method} ${path}`)
    await this.#answers(options.signal)
    if (path === '/apis') return { groups: [] }
    const served = [...this.#kinds].filter(([, how]) => how === 'absent').map(([kind]) => kind)
    if (
      served.some(
        (kind) =>
          path ===
          groupVersionPath({
            group: kind.slice(kind.indexOf('.') + 1),
            version: path.split('/').at(-1) ?? '',
          }),
      )
    )
      throw new ApiError({ status: 404, reason: '', message: '404 page not found' })
    return path === '/version' ? { gitVersion: 'v1.36.3' } : { resources: [] }
  }

  get: Api['get'] = async (resource, { namespace, name }) => {
    await this.#allows('get', resource)
    const found = this.#of(resource, namespace).find((object) => readMeta(object).name === name)
    if (found === undefined)
      throw new ApiError({ status: 404, reason: 'NotFound', message: 'not found', details: { name } })
    return found
  }

  list: Api['list'] = async (resource, options = {}) => {
    await this.#allows('list', resource, options.signal)
    return { items: this.#of(resource, options.namespace), resourceVersion: String(this.#version) }
  }

  pages: Api['pages'] = (resource: Resource, options: ListOptions = {}) => {
    const list = this.list
    return (async function* () {
      yield await list(resource, options)
    })()
  }

  watch: Api['watch'] = (resource, { namespace, signal, onOpen }) => {
    const allowed = this.#allows('watch', resource, signal)
    const due: WatchEvent[] = []
    let failure: { readonly error: unknown } | undefined
    let wake: (() => void) | undefined
    const watcher: Watcher = {
      resource,
      namespace,
      send: (event) => {
        due.push(event)
        wake?.()
      },
      end: (error) => {
        failure = { error }
        wake?.()
      },
    }
    const watchers = this.#watchers
    signal?.addEventListener('abort', () => watcher.end(aborted()))
    return (async function* () {
      await allowed
      watchers.add(watcher)
      onOpen?.()
      try {
        for (;;) {
          for (const event of due.splice(0)) yield event
          if (failure !== undefined) throw failure.error
          await new Promise<void>((resolve) => {
            wake = resolve
            if (due.length > 0 || failure !== undefined) resolve()
          })
        }
      } finally {
        watchers.delete(watcher)
      }
    })()
  }

  async #allows(verb: string, resource: Resource, signal?: AbortSignal): Promise<void> {
    this.calls.push(`${verb} ${resource.plural}.${resource.group}`)
    await this.#answers(signal)
    const how = this.#kinds.get(`${resource.plural}.${resource.group}`) ?? 'served'
    if (how === 'forbidden') throw new ApiError({ status: 403, reason: 'Forbidden', message: 'forbidden' })
    if (how === 'absent') throw new ApiError({ status: 404, reason: '', message: '404 page not found' })
  }

  async #answers(signal?: AbortSignal): Promise<void> {
    if (!this.#isSilent) return
    await new Promise<never>((_, reject) => signal?.addEventListener('abort', () => reject(aborted())))
  }

  #of({ group, version, kind }: Resource, namespace: string | undefined): readonly JsonRecord[] {
    const apiVersion = group === '' ? version : `${group}/${version}`
    return [...this.#objects.values()].filter(
      (object) =>
        object['apiVersion'] === apiVersion &&
        object['kind'] === kind &&
        (namespace === undefined || readMeta(object).namespace === namespace),
    )
  }

  #tell(type: WatchEvent['type'], object: JsonRecord): void {
    if (this.#isSilent) return
    for (const { resource, namespace, send } of this.#watchers) {
      const isOfKind =
        object['kind'] === resource.kind && (stringAt(object, 'apiVersion') ?? '').startsWith(resource.group)
      if (isOfKind && (namespace === undefined || readMeta(object).namespace === namespace))
        send({ type, object })
    }
  }
}

/** Lets everything that is due happen: answers, events, and what follows from them. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 40; turn++) await new Promise<void>((resolve) => void setImmediate(resolve))
}

function keyOf(object: JsonRecord): string {
  const { namespace, name } = readMeta(object)
  return `${stringAt(object, 'apiVersion')} ${stringAt(object, 'kind')} ${namespace}/${name}`
}

function aborted(): ConnectionError {
  return new ConnectionError('aborted', 'the call was ended', { neverSent: false })
}
