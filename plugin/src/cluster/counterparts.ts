// The live counterparts of what files hold, of kinds that no list of an answer brings: each is got by its name, where a comparison asks
// for it, and none is got twice.
import { namespacedName } from '@kleym/shared/core/model/namespaced-name.ts'
import { keyOfNames } from '@kleym/shared/core/model/objects/object-key.ts'
import { readMeta } from '@kleym/shared/core/model/objects/meta.ts'
import type { RawObject } from '@kleym/shared/core/model/objects/raw.ts'
import type { ObjectAsked, UnreadParts } from '@kleym/shared/core/model/objects/spire-makeup.ts'
import type { UnknownReason } from '@kleym/shared/core/model/unknown-reason.ts'
import type { Resource } from '@kleym/shared/kube/api.ts'
import { RESOURCES, resourceName } from '@kleym/shared/kube/resources.ts'
import type { ClusterReader, Reading } from './reader.ts'
import { keepingApplied, withoutManagedFields } from './trim.ts'

/** What a cluster has of what was asked for. */
export interface Counterparts {
  readonly objects: readonly RawObject[]
  /** What could not be read, by kind and name. */
  readonly unread: UnreadParts
}

/** More objects of one kind than these are read by a list: of their namespaces, or of the cluster. */
const BY_NAME_MAX = 16
/** More namespaces than these are read as all. */
const NAMESPACES_MAX = 4

/** The record of applies says what an apply keeps of each. */
const TRIM = keepingApplied(withoutManagedFields({ status: false }), () => true)

const BY_KIND: ReadonlyMap<string, Resource> = new Map(RESOURCES.map((one) => [resourceName(one), one]))

/** Reads objects by what they are called, each at most once. */
export class CounterpartReader {
  readonly #reader: ClusterReader
  readonly #known = new Map<string, Promise<Reading>>()

  constructor(reader: ClusterReader) {
    this.#reader = reader
  }

  /** Reads these objects. One that is not there is in neither part of the answer. */
  async read(asked: readonly ObjectAsked[]): Promise<Counterparts> {
    for (const [kind, ones] of Map.groupBy(asked, (one) => one.kind)) this.#begin(kind, ones)
    const readings = await Promise.all(
      asked.map(async (one) => [one, await this.#known.get(keyOf(one))] as const),
    )
    const objects = readings.flatMap(([one, reading]) =>
      reading?.state === 'read' ? reading.objects.filter(({ value }) => isCalled(value, one)) : [],
    )
    const unread = new Map<string, UnknownReason>()
    for (const [one, reading] of readings)
      if (reading?.state === 'unknown') unread.set(nameOf(one), reading.why)
    return { objects, unread }
  }

  /** Reads all objects of some kinds; in some namespaces, or in all. */
  async readAll(kinds: readonly string[], namespaces?: readonly string[]): Promise<Counterparts> {
    const readings = await Promise.all(
      kinds.map(async (kind) => [kind, await this.#list(kind, namespaces)] as const),
    )
    return {
      objects: readings.flatMap(([, reading]) => (reading.state === 'read' ? reading.objects : [])),
      unread: new Map(
        readings.flatMap(([kind, reading]) =>
          reading.state === 'unknown' ? [[`each ${kind}`, reading.why] as const] : [],
        ),
      ),
    }
  }

  #begin(kind: string, asked: readonly ObjectAsked[]): void {
    const due = asked.filter((one) => !this.#known.has(keyOf(one)))
    if (due.length <= BY_NAME_MAX) {
      for (const one of due) this.#known.set(keyOf(one), this.#get(one))
      return
    }
    const namespaces = [...new Set(due.map(({ namespace }) => namespace))]
    const isOfFew = !namespaces.includes('') && namespaces.length <= NAMESPACES_MAX
    const all = this.#list(kind, isOfFew ? namespaces : undefined)
    for (const one of due) this.#known.set(keyOf(one), all)
  }

  async #get({ kind, namespace, name }: ObjectAsked): Promise<Reading> {
    const resource = this.#resourceOf(kind)
    if (resource === undefined) return notReadable(kind)
    const reading = await this.#reader.get(resource, name, namespace === '' ? undefined : namespace)
    if (reading.state === 'absent') return reading
    const { group, version, kind: type } = resource
    const apiVersion = group === '' ? version : `${group}/${version}`
    const objects = reading.objects.map(({ value }) => ({
      value: TRIM({ ...value, apiVersion, kind: type }),
    }))
    return { ...reading, objects }
  }

  async #list(kind: string, namespaces: readonly string[] | undefined): Promise<Reading> {
    const resource = this.#resourceOf(kind)
    return resource === undefined
      ? notReadable(kind)
      : this.#reader.read({ resource, namespaces, trim: TRIM })
  }

  #resourceOf(kind: string): Resource | undefined {
    const resource = BY_KIND.get(kind)
    return resource === undefined ? undefined : this.#reader.servedAs(resource)
  }
}

/** That there is no way to read a kind, which is no absence. */
function notReadable(what: string): Reading {
  return { state: 'unknown', objects: [], why: { verb: 'get', what, cause: 'refused' } }
}

function keyOf({ kind, namespace, name }: ObjectAsked): string {
  return keyOfNames(kind, namespace, name)
}

function isCalled(value: unknown, { namespace, name }: ObjectAsked): boolean {
  const meta = readMeta(value)
  return meta.name === name && meta.namespace === namespace
}

/** How a reason names an object: `Service spire/server`. */
export function nameOf({ kind, namespace, name }: ObjectAsked): string {
  return `${kind} ${namespace === '' ? name : namespacedName(namespace, name)}`
}
