// Random objects of serving stacks, the same for the same seed. What their controllers write themselves comes up in their templates, too.
import * as fc from 'fast-check'
import { runs } from '@kleym/testing/runs.ts'
import type { JsonRecord } from '../../../shared/src/core/base/json.ts'
import { ACCOUNTS, NAMESPACE } from './maker-plane.ts'

const OBJECTS = 50
const LWS = 'leaderworkerset.sigs.k8s.io'

/** So many objects, named after their kind. */
export function objectsOf(
  { apiVersion, kind }: { readonly apiVersion: string; readonly kind: string },
  spec: fc.Arbitrary<JsonRecord>,
  seed: number,
): readonly JsonRecord[] {
  return fc.sample(spec, { seed, numRuns: runs(OBJECTS) }).map((one, at) => ({
    apiVersion,
    kind,
    metadata: { namespace: NAMESPACE, name: `${kind.toLowerCase().slice(0, 3)}-${at}` },
    spec: one,
  }))
}

/** Labels, each of them there or not. */
export function someOf(labels: Readonly<Record<string, readonly string[]>>): fc.Arbitrary<JsonRecord> {
  return fc.record(
    Object.fromEntries(Object.entries(labels).map(([key, values]) => [key, fc.constantFrom(...values)])),
    { requiredKeys: [] },
  )
}

/** A pod template with some of these labels. */
export function templateWith(labels: Readonly<Record<string, readonly string[]>>): fc.Arbitrary<JsonRecord> {
  return fc
    .record({
      labels: fc.option(someOf({ app: ['llama', 'phi'], team: ['a'], ...labels }), { nil: undefined }),
      account: fc.constantFrom(
        {},
        ...ACCOUNTS.map((name) => ({ serviceAccountName: name })),
        ...ACCOUNTS.map((name) => ({ serviceAccount: name })),
      ),
      containers: fc.subarray(['vllm', 'lora', 'proxy'], { minLength: 1 }),
      init: fc.constantFrom<JsonRecord>(
        {},
        { initContainers: [{ name: 'fetch', image: 'registry.example/fetch' }] },
        { initContainers: [{ name: 'route', image: 'registry.example/route', restartPolicy: 'Always' }] },
      ),
    })
    .map(({ labels: given, account, containers, init }) => ({
      ...(given !== undefined && { metadata: { labels: given } }),
      spec: {
        ...account,
        ...init,
        containers: containers.map((name) => ({ name, image: `registry.example/${name}` })),
      },
    }))
}

/** The spec of a LeaderWorkerSet whose templates carry some of these labels. */
export function leaderWorkerSpec(
  labels: Readonly<Record<string, readonly string[]>>,
  replicas: readonly (number | undefined)[],
): fc.Arbitrary<JsonRecord> {
  const template = templateWith({
    [`${LWS}/name`]: ['other'],
    [`${LWS}/worker-index`]: ['7'],
    [`${LWS}/group-index`]: ['5'],
    [`${LWS}/subgroup-index`]: ['9'],
    ...labels,
  })
  return fc
    .record({
      replicas: fc.constantFrom(...replicas),
      size: fc.constantFrom(undefined, 1, 2, 3, 4),
      leaderTemplate: fc.option(template, { nil: undefined }),
      workerTemplate: template,
      subGroups: fc.constantFrom(undefined, undefined, 'LeaderWorker', 'LeaderExcluded', ''),
      subdomainPolicy: fc.constantFrom(undefined, 'Shared', 'UniquePerReplica'),
      restartPolicy: fc.constantFrom(undefined, 'None', 'RecreateGroupOnPodRestart'),
    })
    .map(
      ({
        replicas: count,
        size,
        leaderTemplate,
        workerTemplate,
        subGroups,
        subdomainPolicy,
        restartPolicy,
      }) => ({
        ...(count !== undefined && { replicas: count }),
        ...(subdomainPolicy !== undefined && { networkConfig: { subdomainPolicy } }),
        leaderWorkerTemplate: {
          ...(size !== undefined && { size }),
          ...(leaderTemplate !== undefined && { leaderTemplate }),
          ...(restartPolicy !== undefined && { restartPolicy }),
          // Workers alone, or leader and workers, must make whole subgroups.
          ...(subGroups !== undefined &&
            (size ?? 1) > 1 && {
              subGroupPolicy: {
                subGroupSize: (size ?? 1) - 1,
                ...(subGroups !== '' && { subGroupPolicyType: subGroups }),
              },
            }),
          workerTemplate,
        },
      }),
    )
}
