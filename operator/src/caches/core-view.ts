// Cached objects as the core takes them. The core's types hold all metadata of an object; the caches keep a part of it. What
// a view does not have must not look as if the object had none: reading it throws, which is a bug of kleym.
import type { BindingStatus } from '@kleym/shared/core/objects/binding-status.ts'
import type { Binding } from '@kleym/shared/core/objects/binding.ts'
import { readClusterSpiffeId, type ClusterSpiffeId } from '@kleym/shared/core/objects/clusterspiffeid.ts'
import type { Objective, Pool } from '@kleym/shared/core/objects/inference.ts'
import type { ObjectMeta } from '@kleym/shared/core/objects/meta.ts'
import type { CachedBinding } from './cached-binding.ts'
import type { CachedOutput } from './cached-output.ts'
import type { CachedObjective, CachedPool } from './cached-reference.ts'
import type { KeptMeta } from './kept-meta.ts'

/** A binding for the core's checks and judgements, which read its status rarely: it is parsed at that moment. */
export function bindingView(cached: CachedBinding): Binding {
  return new BindingView(cached)
}

/** A pool for the core's references. */
export function poolView({ group, meta, selector }: CachedPool): Pool {
  return { group, meta: new MetaView(meta), selector, origin: undefined }
}

/** An objective for the core's references. */
export function objectiveView({ group, meta, poolRef }: CachedObjective): Objective {
  return { group, meta: new MetaView(meta), poolRef, origin: undefined }
}

/**
 * An output for the core's judgements; parses it. One that names no binding is shown without annotations and spec: the core
 * asks it for that one annotation, learns that it is foreign, and reads no more of it.
 */
export function outputView(cached: CachedOutput): ClusterSpiffeId {
  if (cached.bindingKey !== undefined) return cached.read()
  const { name, uid, resourceVersion, deletedAt } = cached.meta
  const metadata = { name, uid, resourceVersion, deletionTimestamp: deletedAt }
  return readClusterSpiffeId({ value: { metadata } }, 'live')
}

class MetaView implements ObjectMeta {
  readonly name: string
  readonly namespace: string
  readonly uid: string | undefined
  readonly resourceVersion: string | undefined
  readonly generation: number | undefined
  readonly deletedAt: string | undefined
  readonly finalizers: readonly string[]

  constructor(meta: KeptMeta) {
    this.name = meta.name
    this.namespace = meta.namespace
    this.uid = meta.uid
    this.resourceVersion = meta.resourceVersion
    this.generation = meta.generation
    this.deletedAt = meta.deletedAt
    this.finalizers = meta.finalizers
  }

  get createdAt(): string | undefined {
    throw notKept('creationTimestamp')
  }

  get labels(): ReadonlyMap<string, string> {
    throw notKept('labels')
  }

  get annotations(): ReadonlyMap<string, string> {
    throw notKept('annotations')
  }

  get ownerReferences(): readonly unknown[] {
    throw notKept('ownerReferences')
  }
}

class BindingView implements Binding {
  readonly meta: ObjectMeta
  readonly key: Binding['key']
  readonly poolRef: Binding['poolRef']
  readonly objectiveRef: Binding['objectiveRef']
  readonly mode: Binding['mode']
  readonly serviceAccountName: Binding['serviceAccountName']
  readonly containerName: Binding['containerName']
  readonly identityBoundary: Binding['identityBoundary']
  readonly lifecycle = 'live'
  readonly origin = undefined
  readonly #cached: CachedBinding

  constructor(cached: CachedBinding) {
    this.meta = new MetaView(cached.meta)
    this.key = cached.key
    this.poolRef = cached.poolRef
    this.objectiveRef = cached.objectiveRef
    this.mode = cached.mode
    this.serviceAccountName = cached.serviceAccountName
    this.containerName = cached.containerName
    this.identityBoundary = cached.identityBoundary
    this.#cached = cached
  }

  get status(): BindingStatus | undefined {
    return this.#cached.readStatus()
  }
}

function notKept(what: string): TypeError {
  return new TypeError(`the operator's caches do not keep metadata.${what} of this object`)
}
