// The clusters that the operator is measured on, as objects: namespaces of a hundred bindings that have nothing to do with
// each other, and one namespace in which all collide.
import { dig, stringAt, type JsonRecord } from '../../shared/src/core/base/json.ts'
import { binding, namespace, objective, pool } from '../../test/control-plane/objects.ts'

/** How many bindings a namespace has. */
const PER_NAMESPACE = 100

/** Objects by when they must be there: those before `bindings` first. */
export interface BenchEstate {
  readonly namespaces: readonly JsonRecord[]
  readonly references: readonly JsonRecord[]
  readonly bindings: readonly JsonRecord[]
}

export interface Shape {
  readonly name: string
  /** `count` bindings in namespaces whose names begin with `prefix`. */
  readonly estate: (count: number, prefix: string) => BenchEstate
}

export const POOL_PER_NAMESPACE: Shape = {
  name: 'a pool per namespace, a container name per binding',
  estate: (count, prefix) =>
    estateOf(count, prefix, (space, name) => ({
      references: [
        ...(name === nameAt(0) ? [pool(space, 'llama', { app: 'llama' })] : []),
        objective(space, name, 'llama'),
      ],
      binding: binding(space, name, { containerName: name }),
    })),
}

export const SHAPES: readonly Shape[] = [
  {
    name: 'a pool per binding, one container name',
    estate: (count, prefix) =>
      estateOf(count, prefix, (space, name) => ({
        references: [pool(space, name, { app: name }), objective(space, name, name)],
        binding: binding(space, name, { poolRef: { name } }),
      })),
  },
  POOL_PER_NAMESPACE,
]

/** The node of all pods. */
export const NODE: JsonRecord = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'gpu-1' } }

/** A pod for each pool, so that SCM has something to register. */
export function podsOf({ references }: BenchEstate): readonly JsonRecord[] {
  return references
    .filter(({ kind }) => kind === 'InferencePool')
    .map((one) => ({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        name: `${stringAt(one, 'metadata', 'name')}-0`,
        namespace: stringAt(one, 'metadata', 'namespace') ?? '',
        labels: dig(one, 'spec', 'selector', 'matchLabels'),
      },
      spec: {
        nodeName: 'gpu-1',
        serviceAccountName: 'llama',
        containers: [{ name: 'vllm', image: 'vllm:1' }],
      },
    }))
}

/** One namespace with one pool, whose bindings all want the same pods and container. */
export function collisionGroup(count: number, space: string): BenchEstate {
  const names = Array.from({ length: count }, (_, at) => nameAt(at))
  return {
    namespaces: [namespace(space)],
    references: [
      pool(space, 'llama', { app: 'llama' }),
      ...names.map((name) => objective(space, name, 'llama')),
    ],
    bindings: names.map((name) => binding(space, name)),
  }
}

/** The name of a binding, and of what is its own. */
export function nameAt(at: number): string {
  return `chat-${String(at).padStart(5, '0')}`
}

function estateOf(
  count: number,
  prefix: string,
  make: (
    space: string,
    name: string,
  ) => { readonly references: readonly JsonRecord[]; readonly binding: JsonRecord },
): BenchEstate {
  const spaces = Array.from(
    { length: Math.ceil(count / PER_NAMESPACE) },
    (_, at) => `${prefix}-${String(at).padStart(4, '0')}`,
  )
  const made = Array.from({ length: count }, (_, at) =>
    make(spaces[Math.floor(at / PER_NAMESPACE)] ?? prefix, nameAt(at % PER_NAMESPACE)),
  )
  return {
    namespaces: spaces.map(namespace),
    references: made.flatMap(({ references }) => references),
    bindings: made.map((one) => one.binding),
  }
}
