// Random clusters for property tests: small alphabets, so that claims overlap often, and live outputs that earlier, other
// versions of the same bindings left behind.
import * as fc from 'fast-check'
import type { JsonRecord } from '@kleym/shared/core/base/json.ts'
import { DEFAULT_VARIANT_LABEL_KEY } from '@kleym/shared/core/model/names.ts'
import {
  CONFIG,
  K8S_GROUP,
  LLM_D,
  X_GROUP,
  binding,
  live,
  objective,
  pool,
  settledCluster,
} from './manifests.ts'

const NAMES = ['a', 'b', 'c', 'd'] as const
const LABELS: readonly Readonly<Record<string, string>>[] = [
  { app: 'x' },
  { app: 'x' },
  { app: 'x', tier: '1' },
  { app: 'x', zone: 'eu' },
  { app: 'x', tier: '1', zone: 'eu' },
  { app: 'y' },
  { tier: '1' },
  { app: 'x', tier: 'prefill' },
  { app: 'x', [DEFAULT_VARIANT_LABEL_KEY]: 'prefill' },
]
/** The label keys that the operator of the earlier bindings was set to: mostly today's. */
const EARLIER_KEYS = [DEFAULT_VARIANT_LABEL_KEY, DEFAULT_VARIANT_LABEL_KEY, 'llm-d.ai/role', 'tier'] as const

const POOLS = ['p', 'q', 'r']
const namespace = fc.constantFrom('team-a', 'team-a', 'team-a', 'team-a', 'team-b')

interface Draft {
  readonly name: string
  readonly namespace: string
  readonly uid: string
  readonly deletedAt?: string
  readonly spec: JsonRecord
}

/** Pool and objective mostly belong together: `p-1` and `p-2` lead to pool `p`. */
const spec = fc
  .record({
    poolName: fc.constantFrom(...POOLS),
    objectiveOf: fc.constantFrom(undefined, undefined, undefined, undefined, undefined, undefined, 'p'),
    number: fc.constantFrom('1', '2'),
    serviceAccountName: fc.constantFrom('runner', 'runner', 'runner', 'other'),
    mode: fc.constantFrom(
      ...Array<string>(9).fill('PerObjective'),
      ...Array<string>(6).fill('PerVariant'),
      'PoolOnly',
      'Neither',
    ),
    containerName: fc.constantFrom('vllm', 'vllm', 'lora', 'proxy'),
    variant: fc.constantFrom('prefill', 'prefill', 'decode'),
  })
  .map(({ poolName, objectiveOf, number, mode, serviceAccountName, containerName, variant }): JsonRecord => ({
    poolRef: { name: poolName },
    objectiveRef: { name: `${objectiveOf ?? poolName}-${number}` },
    serviceAccountName,
    mode,
    containerName: mode === 'PoolOnly' || mode === 'PerVariant' ? undefined : containerName,
    identityBoundary: mode === 'PerVariant' ? { variant } : undefined,
  }))

const draft = fc
  .record({
    name: fc.constantFrom(...NAMES),
    namespace,
    spec,
    gone: fc.integer({ min: 0, max: 9 }),
    uid: fc.constantFrom('1', '1', '1', '2'),
  })
  .map(({ gone, ...rest }): Draft => {
    return gone === 0 ? Object.assign(rest, { deletedAt: '2026-01-01T00:00:00Z' }) : rest
  })

const byKey = ({ name, namespace: ns }: { name: string; namespace: string }): string => `${ns}/${name}`
const drafts = fc.uniqueArray(draft, { selector: byKey, maxLength: 7 })

/** Three pools in each namespace, with random labels, and two objectives for each. */
const surroundings = fc
  .array(fc.constantFrom(...LABELS), { minLength: 6, maxLength: 6 })
  .map((labels): readonly JsonRecord[] =>
    ['team-a', 'team-b'].flatMap((ns, at) =>
      POOLS.flatMap((name, nth) => [
        pool({
          name,
          namespace: ns,
          labels: labels[at * POOLS.length + nth] ?? {},
          group: nth === 1 ? X_GROUP : K8S_GROUP,
        }),
        objective({ name: `${name}-1`, namespace: ns, group: LLM_D, poolRef: { name } }),
        objective({ name: `${name}-2`, namespace: ns, group: X_GROUP, poolRef: { name } }),
      ]),
    ),
  )

const edits = fc.constantFrom<JsonRecord>(
  {},
  {},
  { admin: true },
  { podSelector: { matchLabels: { app: 'x' } } },
  { spiffeIDTemplate: 'spiffe://example.org/ns/team-a/objective/edited' },
  { spiffeIDTemplate: 'spiffe://example.org/ns/team-a/pool/p/variant/prefill' },
)

/** The objects of a cluster. */
export interface RandomCluster {
  /** Bindings, pools and objectives. */
  readonly inputs: readonly JsonRecord[]
  /** The ClusterSPIFFEIDs that are there. */
  readonly outputs: readonly JsonRecord[]
}

/** Up to seven bindings, with the outputs that up to seven earlier bindings left behind, some of them edited by a user. */
export const randomCluster: fc.Arbitrary<RandomCluster> = fc
  .record({
    surroundings,
    now: drafts,
    before: drafts,
    earlierKey: fc.constantFrom(...EARLIER_KEYS),
    edits: fc.array(fc.record({ spec: edits, terminating: fc.integer({ min: 0, max: 5 }) }), {
      maxLength: 7,
    }),
  })
  .map(({ surroundings: around, now, before, earlierKey, edits: changes }) => ({
    inputs: [...around, ...now.map((one) => manifest(one))],
    outputs: leftoversOf({ around, before, earlierKey, changes }),
  }))

interface Earlier {
  readonly around: readonly JsonRecord[]
  readonly before: readonly Draft[]
  readonly earlierKey: string
  readonly changes: readonly { readonly spec: JsonRecord; readonly terminating: number }[]
}

function leftoversOf({ around, before, earlierKey, changes }: Earlier): readonly JsonRecord[] {
  const config = { ...CONFIG, variantLabelKey: earlierKey }
  // Each earlier binding alone, so that even outputs that collide are left behind.
  return before.flatMap((one, at) => {
    const { deletedAt: _, ...alive } = one
    const [compiled] = settledCluster([...around, manifest(alive)], { config }).compiled
    if (compiled?.result.kind !== 'resolved') return []
    const change = changes[at]
    const deletedAt = change?.terminating === 0 ? { deletedAt: '2026-01-01T00:00:00Z' } : {}
    return [live(compiled.result.output, { spec: change?.spec ?? {}, ...deletedAt })]
  })
}

function manifest(one: Draft): JsonRecord {
  return binding({ ...one, uid: `${one.namespace}-${one.name}-${one.uid}` })
}
