// Random estates of pools and pods, on which suggestions meet: label sets that hold one another, pods of two pools, several service
// accounts, roles, objectives, broken selectors, and bindings with outputs that earlier ones left behind.
import * as fc from 'fast-check'
import type { JsonRecord } from '../../src/core/base/json.ts'
import { DEFAULT_VARIANT_LABEL_KEY } from '../../src/core/model/names.ts'
import { readMeta } from '../../src/core/model/objects/meta.ts'
import { randomCluster } from '@kleym/testing/random-bindings.ts'
import { tenants } from '@kleym/testing/random-tenants.ts'

const NAMESPACES = ['team-a', 'team-b'] as const

const labels = fc
  .record({
    app: fc.constantFrom('x', 'x', 'x', 'y', undefined),
    tier: fc.constantFrom('1', 'prefill', undefined, undefined),
    zone: fc.constantFrom('eu', undefined),
    [DEFAULT_VARIANT_LABEL_KEY]: fc.constantFrom('prefill', 'decode', undefined),
  })
  .map((all): JsonRecord =>
    Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined)),
  )

const spec = fc.record({
  serviceAccountName: fc.constantFrom('runner', 'runner', 'runner', 'other'),
  containers: fc
    .constantFrom(['vllm'], ['vllm'], ['vllm'], ['vllm', 'proxy'], ['lora'])
    .map((names) => names.map((name) => ({ name }))),
})

const pods = fc.array(
  fc.record({ namespace: fc.constantFrom(...NAMESPACES), labels, spec, isTemplate: fc.boolean() }),
  { minLength: 1, maxLength: 7 },
)

function podManifest(
  {
    namespace,
    labels: own,
    spec: runs,
    isTemplate,
  }: { namespace: string; labels: JsonRecord; spec: JsonRecord; isTemplate: boolean },
  at: number,
): JsonRecord {
  if (isTemplate)
    return {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: `work-${at}`, namespace },
      spec: { template: { metadata: { labels: own }, spec: runs } },
    }
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: `pod-${at}`, namespace, uid: `uid-of-pod-${at}`, labels: own },
    spec: { ...runs, nodeName: 'n1' },
  }
}

const NODE: JsonRecord = {
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name: 'n1', uid: 'uid-of-n1' },
  spec: {},
}

/** Without most of the bindings: pools that have none are what suggestions are about. */
const thinned = fc
  .record({
    cluster: randomCluster,
    pods,
    keep: fc.constantFrom(0, 0, 1, 2),
    /** Which of the two objectives of each pool there are. */
    objectives: fc.constantFrom(['-1', '-2'], ['-1'], ['-1'], []),
    hasRoles: fc.boolean(),
  })
  .map(
    ({ cluster: { inputs, outputs }, pods: drafts, keep, objectives, hasRoles }): readonly JsonRecord[] => {
      const bindings = inputs.filter(({ kind }) => kind === 'InferenceIdentityBinding')
      const others = inputs.filter(
        (one) =>
          one['kind'] !== 'InferenceIdentityBinding' &&
          (one['kind'] !== 'InferenceObjective' ||
            objectives.some((end) => readMeta(one).name.endsWith(end))),
      )
      const roles = ['prefill', 'decode']
      return [
        NODE,
        ...others,
        ...bindings.slice(0, keep),
        ...(keep === 2 ? outputs : []),
        ...drafts.map((draft, at) =>
          podManifest(
            hasRoles
              ? { ...draft, labels: { ...draft.labels, [DEFAULT_VARIANT_LABEL_KEY]: roles[at % 2] } }
              : draft,
            at,
          ),
        ),
      ]
    },
  )

/** The manifests of one estate: pools with pods, or tenants with registrations of others and without their bindings. */
export const randomPools: fc.Arbitrary<readonly JsonRecord[]> = fc.oneof(
  { weight: 3, arbitrary: thinned },
  {
    weight: 1,
    arbitrary: tenants.map((objects) => objects.filter(({ kind }) => kind !== 'InferenceIdentityBinding')),
  },
)
