// One rename of each kind, in a namespace of its own, with policies of Istio that name the old ID in each way. The test against istiod's
// answers, and the suite with a real SPIRE and its agent, go through the same ones.
import { DEFAULT_VARIANT_LABEL_KEY } from '../../src/core/model/names.ts'
import type { JsonRecord } from '../../src/core/base/json.ts'
import type { RenameQuestion } from '../../src/core/snapshot/renamed.ts'

/** A rename, and what is there before it. */
export interface RenameCase {
  readonly question: RenameQuestion
  readonly oldId: string
  readonly newId: string
  /** Namespace, pool, objective and binding, but for the pods. */
  readonly objects: readonly JsonRecord[]
  /** AuthorizationPolicies, which let the old ID in. */
  readonly consumers: readonly JsonRecord[]
  readonly labels: Readonly<Record<string, string>>
}

/** The containers that hold an ID of each pod. */
export const HOLDING = 'vllm'

const LABELS = { app: 'llama' }

function pool(namespace: string): JsonRecord {
  return {
    apiVersion: 'inference.networking.k8s.io/v1',
    kind: 'InferencePool',
    metadata: { name: 'llama', namespace },
    spec: {
      selector: { matchLabels: LABELS },
      targetPorts: [{ number: 8000 }],
      endpointPickerRef: { name: 'epp', port: { number: 9002 } },
    },
  }
}

function objective(namespace: string): JsonRecord {
  return {
    apiVersion: 'inference.networking.x-k8s.io/v1alpha2',
    kind: 'InferenceObjective',
    metadata: { name: 'chat', namespace },
    spec: { priority: 1, poolRef: { name: 'llama', group: 'inference.networking.k8s.io' } },
  }
}

function binding(namespace: string, name: string, spec: JsonRecord): JsonRecord {
  return {
    apiVersion: 'kleym.sonda.red/v1alpha1',
    kind: 'InferenceIdentityBinding',
    metadata: { name, namespace },
    spec: { poolRef: { name: 'llama' }, serviceAccountName: 'runner', ...spec },
  }
}

const PER_OBJECTIVE = { mode: 'PerObjective', objectiveRef: { name: 'chat' }, containerName: HOLDING }

function consumersOf(namespace: string, path: string): readonly JsonRecord[] {
  const id = `example.org${path}`
  const rules: readonly (readonly [action: string, rule: JsonRecord])[] = [
    ['ALLOW', { from: [{ source: { principals: [id] } }] }],
    [
      'ALLOW',
      {
        from: [{ source: { principals: ['example.org/nobody'] } }, { source: { principals: [`*${path}`] } }],
      },
    ],
    ['DENY', { from: [{ source: { notPrincipals: [id] } }] }],
    [
      'ALLOW',
      {
        from: [{ source: { namespaces: [namespace] } }],
        when: [{ key: 'source.principal', values: [id] }],
      },
    ],
  ]
  return rules.map(([action, rule], at) => ({
    apiVersion: 'security.istio.io/v1',
    kind: 'AuthorizationPolicy',
    metadata: { name: `${namespace}-${at}`, namespace: 'web' },
    spec: { action, rules: [rule] },
  }))
}

function caseOf(
  asked: RenameQuestion,
  [before, after]: readonly [before: string, after: string],
  bound: JsonRecord,
  labels: Readonly<Record<string, string>> = LABELS,
): RenameCase {
  const { namespace } = asked
  const path = (end: string): string => `/ns/${namespace}/${end}`
  return {
    question: asked,
    oldId: `spiffe://example.org${path(before)}`,
    newId: `spiffe://example.org${path(after)}`,
    objects: [
      { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } },
      pool(namespace),
      objective(namespace),
      bound,
    ],
    consumers: consumersOf(namespace, path(before)),
    labels,
  }
}

/** All of them: with a second binding, with a bridge for another ID, and with one that keeps the ID. */
export const RENAME_CASES: readonly RenameCase[] = [
  caseOf(
    { kind: 'pool', namespace: 'pool-only', from: 'llama', to: 'llama-70b' },
    ['pool/llama', 'pool/llama-70b'],
    binding('pool-only', 'llama', { mode: 'PoolOnly' }),
  ),
  caseOf(
    { kind: 'pool', namespace: 'per-variant', from: 'llama', to: 'llama-70b' },
    ['pool/llama/variant/decode', 'pool/llama-70b/variant/decode'],
    binding('per-variant', 'decode', { mode: 'PerVariant', identityBoundary: { variant: 'decode' } }),
    { ...LABELS, [DEFAULT_VARIANT_LABEL_KEY]: 'decode' },
  ),
  caseOf(
    { kind: 'objective', namespace: 'per-objective', from: 'chat', to: 'assistant' },
    ['objective/chat', 'objective/assistant'],
    binding('per-objective', 'chat', PER_OBJECTIVE),
  ),
  caseOf(
    { kind: 'pool', namespace: 'same-id', from: 'llama', to: 'llama-70b' },
    ['objective/chat', 'objective/chat'],
    binding('same-id', 'chat', PER_OBJECTIVE),
  ),
  caseOf(
    { kind: 'binding', namespace: 'binding', from: 'chat', to: 'talk' },
    ['objective/chat', 'objective/chat'],
    binding('binding', 'chat', PER_OBJECTIVE),
  ),
]
