// The largest objects that a tenant can make the API server take, by what fills them: 1.5 MB is the limit of etcd for one request,
// managed fields included.
import type { JsonRecord } from '../../shared/src/core/base/json.ts'
import { binding, olderPool, pool } from '../../test/control-plane/objects.ts'

/** One kind of large objects. */
export interface Content {
  readonly name: string
  /** The large object of a number, in a namespace that has a pool `llama`. */
  readonly large: (space: string, at: number) => JsonRecord
  /** What each large object has beside it. */
  readonly beside?: (space: string, at: number) => readonly JsonRecord[]
}

/** Small enough that kleym's own finalizer and status still fit. */
const BYTES = 1_350_000

/** As many texts as fill an object, where each takes `around` bytes more than itself. */
function filling(around: number, text: (at: number) => string, bytes = BYTES): readonly string[] {
  return Array.from({ length: Math.floor(bytes / (text(100_000).length + around)) }, (_, at) => text(at))
}

function hostBinding(space: string, at: number, metadata: JsonRecord): JsonRecord {
  const name = nameOf(at)
  const { metadata: own, ...rest } = binding(space, name, {
    mode: 'PoolOnly',
    objectiveRef: undefined,
    containerName: undefined,
  })
  // An empty entry makes the API server forget the managed fields, whose bytes count as well.
  return { ...rest, metadata: { ...Object(own), managedFields: [{}], ...metadata } }
}

function nameOf(at: number): string {
  return `large-${String(at).padStart(4, '0')}`
}

function labelsOf(texts: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(texts.map((text) => [text, '']))
}

// Shorter ones take the API server half a minute for each object.
const SHORT_FINALIZERS = filling(3, (at) => `example.com/hold-${at.toString(36).padStart(13, '0')}`)
const LONG_FINALIZERS = filling(3, (at) => `${'example.'.repeat(28)}com/${'h'.repeat(50)}${at}`)
// As with finalizers: shorter ones take the API server too long.
const SHORT_LABELS = labelsOf(filling(6, (at) => `label-${at.toString(36).padStart(24, '0')}`))
const MANAGED_LABELS = labelsOf(filling(50, (at) => `label-${at.toString(36).padStart(24, '0')}`))
const SHORT_SELECTOR = Object.fromEntries(
  filling(50, (at) => `label-${at.toString(36).padStart(12, '0')}`).map((key) => [key, 'x']),
)
const LONG_SELECTOR = Object.fromEntries(
  Array.from({ length: 64 }, (_, at) => [`${'k'.repeat(10_000)}${at}`, 'x']),
)
const OWNERS = filling(50, (at) => at.toString(36)).map((uid) => ({
  apiVersion: 'v1',
  kind: 'a',
  name: 'a',
  uid,
}))
const MANAGED = [
  {
    manager: 'a',
    operation: 'Update',
    apiVersion: 'kleym.sonda.red/v1alpha1',
    time: '2026-01-01T00:00:00Z',
    fieldsType: 'FieldsV1',
    fieldsV1: {
      'f:metadata': {
        'f:labels': Object.fromEntries(filling(8, (at) => at.toString(36)).map((key) => [`f:${key}`, {}])),
      },
    },
  },
]

function poolOfItsOwn(space: string, at: number): readonly JsonRecord[] {
  return [hostBinding(space, at, {})].map((one) => ({
    ...one,
    spec: { ...Object(one['spec']), poolRef: { name: nameOf(at) } },
  }))
}

export const CONTENTS: readonly Content[] = [
  {
    name: 'bindings of short finalizers',
    large: (space, at) => hostBinding(space, at, { finalizers: SHORT_FINALIZERS }),
  },
  {
    name: 'bindings of long finalizers',
    large: (space, at) => hostBinding(space, at, { finalizers: LONG_FINALIZERS }),
  },
  {
    name: 'bindings of short labels',
    large: (space, at) => hostBinding(space, at, { labels: SHORT_LABELS }),
  },
  {
    name: 'bindings of labels and managed fields',
    large: (space, at) => hostBinding(space, at, { labels: MANAGED_LABELS, managedFields: undefined }),
  },
  {
    name: 'bindings of made-up managed fields',
    large: (space, at) => hostBinding(space, at, { managedFields: MANAGED }),
  },
  {
    name: 'bindings of owners',
    large: (space, at) => hostBinding(space, at, { ownerReferences: OWNERS }),
  },
  {
    name: 'pools of short labels in the selector',
    large: (space, at) => olderPool(space, nameOf(at), SHORT_SELECTOR),
    beside: poolOfItsOwn,
  },
  {
    name: 'pools of 64 long keys in the selector',
    large: (space, at) => olderPool(space, nameOf(at), LONG_SELECTOR),
    beside: poolOfItsOwn,
  },
  {
    name: 'pools of labels and managed fields',
    large: (space, at) => {
      const one = pool(space, nameOf(at), { app: 'llama' })
      return { ...one, metadata: { ...Object(one['metadata']), labels: MANAGED_LABELS } }
    },
    beside: poolOfItsOwn,
  },
]
