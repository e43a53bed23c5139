// Finding codes that the rules of an analysis do not find: what a live cluster shows, and what a command finds in its files. The
// pages of the codes show both sides whole, without what stands beside them.
import type { JsonRecord } from '@kleym/shared/core/base/json.ts'
import { LABEL_MANAGED_BY, MANAGED_BY } from '@kleym/shared/core/model/names.ts'
import type { FindingCode } from '@kleym/shared/core/findings/registry/findings.ts'
import { foreign, pod } from './finding-cases.ts'
import { binding, estate, live, outputOf, pool, poolOnly } from './manifests.ts'

/** One code, with objects that show it and objects that do not. */
export interface FoundCase {
  readonly code: FindingCode
  /** What finds it: `cluster` what `status` and live answers look at, else a command that reads files. */
  readonly by: 'cluster' | readonly ['explain', '-A'] | readonly ['test', 'tests.yaml']
  readonly bad: readonly JsonRecord[]
  readonly good: readonly JsonRecord[]
  /** What both sides have beside it. */
  readonly beside: readonly JsonRecord[]
}

const OUTPUT = outputOf([poolOnly(), pool()])
const NODE: JsonRecord = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1', uid: 'uid-of-n1' } }
const NAMESPACE: JsonRecord = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'team-a', uid: 'n' } }

/** A condition as the operator writes it. */
function condition(type: string, status: string, reason: string, message: string): JsonRecord {
  const lastTransitionTime = '2026-01-01T00:00:00Z'
  return { type, status, reason, message, observedGeneration: 1, lastTransitionTime }
}

const READY = condition(
  'Ready',
  'True',
  'Reconciled',
  `compiled into ClusterSPIFFEID ${OUTPUT.metadata.name}`,
)
const RECORDED = { name: OUTPUT.metadata.name, uid: `uid-of-${OUTPUT.metadata.name}` }

/** The binding of `OUTPUT` as the operator has left it; `generation` is that of its spec. */
function left(status: JsonRecord, generation = 1): JsonRecord {
  const one = poolOnly({ status: { observedGeneration: 1, clusterSPIFFEID: RECORDED, ...status } })
  const metadata = { name: 'llama', namespace: 'team-a', uid: 'uid-of-team-a-llama', generation }
  return { ...one, metadata }
}

/** A Deployment of the operator with two replicas. */
function operator(availableReplicas: number, name = 'kleym'): JsonRecord {
  const args = ['--trust-domain=example.org']
  const containers = [{ name: 'operator', image: 'kleym:0.1.0', args }]
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, namespace: 'kleym-system' },
    spec: { replicas: 2, template: { spec: { containers } } },
    status: { availableReplicas },
  }
}

const lookAlike = (labels: JsonRecord): JsonRecord => ({
  ...foreign('mesh'),
  metadata: { name: 'mesh', uid: 'uid-of-mesh', labels },
})

/** The binding of files, with an annotation that suppresses. */
function annotated(text: string | undefined): JsonRecord {
  const annotations = text === undefined ? {} : { annotations: { 'kleym.sonda.red/suppress': text } }
  return { ...binding({ uid: '' }), metadata: { name: 'llama', namespace: 'team-a', ...annotations } }
}

const CHAT = 'spiffe://example.org/ns/team-a/objective/chat'
function identityTest(container: string): JsonRecord {
  const subject = { namespace: 'team-a', pod: 'llama-0', container }
  return {
    apiVersion: 'test.kleym.sonda.red/v1alpha1',
    kind: 'IdentityTest',
    metadata: { name: 'tenancy', annotations: { 'config.kubernetes.io/local-config': 'true' } },
    spec: { containers: [{ subject, holds: { exactly: [CHAT] } }] },
  }
}

const SCM_IMAGE = 'ghcr.io/spiffe/spire-controller-manager:0.7.0'

/** A SPIRE server with an SCM for each of these classes beside it. */
function serverWith(...classes: readonly string[]): JsonRecord {
  const containers = classes.map((name) => ({
    name: `spire-controller-manager-${name}`,
    image: SCM_IMAGE,
    args: [`--config=/${name}.yaml`],
    volumeMounts: [{ name: 'scm', mountPath: `/${name}.yaml`, subPath: `${name}.yaml` }],
  }))
  const spec = { containers, volumes: [{ name: 'scm', configMap: { name: 'scm' } }] }
  const labels = { app: 'spire-server' }
  const metadata = { name: 'spire-server', namespace: 'spire-server' }
  return {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata,
    spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec } },
  }
}

/** The configurations of these classes, each with the prefix of its entries. */
function scmConfigs(prefixes: Readonly<Record<string, string>>): JsonRecord {
  const texts = Object.entries(prefixes).map(([className, entryIDPrefix]) => [
    `${className}.yaml`,
    JSON.stringify({
      apiVersion: 'spire.spiffe.io/v1alpha1',
      kind: 'ControllerManagerConfig',
      clusterName: 'prod',
      trustDomain: 'example.org',
      className,
      entryIDPrefix,
    }),
  ])
  const metadata = { name: 'scm', namespace: 'spire-server' }
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: Object.fromEntries(texts) }
}

/** All of them, by their code. */
export const FOUND_CASES: readonly FoundCase[] = [
  {
    code: 'KLM419',
    by: ['explain', '-A'],
    bad: [scmConfigs({ inference: '', mesh: '' })],
    good: [scmConfigs({ inference: 'inference', mesh: 'mesh' })],
    beside: [serverWith('inference', 'mesh'), ...estate(NODE, NAMESPACE, pod(), binding({ uid: '' }))],
  },
  {
    code: 'KLM520',
    by: 'cluster',
    bad: [operator(2), left({ trustDomain: 'example.com', conditions: [READY] })],
    good: [operator(2), left({ trustDomain: 'example.org', conditions: [READY] })],
    beside: [pool(), live(OUTPUT)],
  },
  {
    code: 'KLM522',
    by: 'cluster',
    bad: [lookAlike({ [LABEL_MANAGED_BY]: MANAGED_BY })],
    good: [lookAlike({ [LABEL_MANAGED_BY]: 'helm' })],
    beside: [],
  },
  {
    code: 'KLM530',
    by: ['explain', '-A'],
    bad: [annotated('KLM404: the workload comes next week')],
    good: [annotated(undefined)],
    beside: estate(NODE, NAMESPACE, pod()),
  },
  {
    code: 'KLM531',
    by: ['explain', '-A'],
    bad: [annotated('KLM412')],
    good: [annotated('KLM412: the workload comes next week')],
    beside: estate(NODE, NAMESPACE),
  },
  {
    code: 'KLM540',
    by: 'cluster',
    bad: [left({ conditions: [READY] }, 2)],
    good: [left({ conditions: [READY] })],
    beside: [operator(2), pool(), live(OUTPUT)],
  },
  {
    code: 'KLM541',
    by: 'cluster',
    bad: [
      left({
        conditions: [condition('Ready', 'False', 'TargetPoolNotFound', 'no InferencePool llama in team-a')],
      }),
    ],
    good: [left({ conditions: [READY] })],
    beside: [operator(2), pool(), live(OUTPUT)],
  },
  {
    code: 'KLM542',
    by: 'cluster',
    bad: [live(OUTPUT, { spec: { podSelector: undefined } })],
    good: [live(OUTPUT)],
    beside: [operator(2), pool(), left({ conditions: [READY] })],
  },
  {
    code: 'KLM543',
    by: 'cluster',
    bad: [operator(0)],
    good: [operator(2)],
    beside: [pool(), poolOnly()],
  },
  {
    code: 'KLM545',
    by: 'cluster',
    bad: [operator(2), operator(2, 'kleym-old')],
    good: [operator(2)],
    beside: [],
  },
  {
    code: 'KLM546',
    by: 'cluster',
    bad: [
      left({ conditions: [READY, condition('InForce', 'False', 'NoPods', 'no pod is selected')] }),
      pod(),
    ],
    good: [left({ conditions: [READY, condition('InForce', 'True', 'Registered', '1 pod')] }), pod()],
    beside: [operator(2), NODE, pool(), live(OUTPUT)],
  },
  {
    code: 'KLM551',
    by: ['explain', '-A'],
    bad: [{ ...annotated(undefined), apiVersion: 'kleym.sonda.red/v1' }],
    good: [annotated(undefined)],
    beside: estate(NODE, NAMESPACE, pod()),
  },
  {
    code: 'KLM701',
    by: ['test', 'tests.yaml'],
    bad: [identityTest('proxy')],
    good: [identityTest('vllm')],
    beside: estate(NODE, NAMESPACE, pod(), binding({ uid: '' })),
  },
]
