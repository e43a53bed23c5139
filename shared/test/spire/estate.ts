// A small estate to predict: objects written as in manifests, with the defaults that a test does not care about.
import { readClusterSpiffeId } from '../../src/core/model/objects/clusterspiffeid.ts'
import {
  readEndpoints,
  readNamespace,
  readNode,
  readPod,
  type Pod,
} from '../../src/core/model/objects/pod.ts'
import { readScmSettings } from '../../src/core/model/objects/scm-config.ts'
import type { ScmSettings } from '../../src/core/model/objects/scm-settings.ts'
import { readClusterStaticEntry } from '../../src/core/model/objects/static-entry.ts'
import { readWorkloadPods } from '../../src/core/model/objects/workload.ts'
import { containerVerdicts } from '../../src/core/predict/spire/registration.ts'
import { predict } from '../../src/core/predict/spire/predict.ts'
import type { Prediction, PredictionInput } from '../../src/core/predict/spire/prediction.ts'

/** A mapping of a manifest. */
export type Fields = Record<string, unknown>

/** The template of the SPIRE charts. */
export const ID = 'spiffe://td/ns/{{ .PodMeta.Namespace }}/sa/{{ .PodSpec.ServiceAccountName }}'
/** Nothing that tells SCM’s settings. */
export const NO_EVIDENCE = { trustDomain: undefined, className: undefined, clusterSpiffeIdClasses: [] }

/** A ClusterSPIFFEID; objects are as old as their names say: `a` is older than `b`. */
export function csid(name: string, spec: Fields = {}, meta: Fields = {}): Fields {
  return {
    metadata: {
      name,
      uid: `uid-${name}`,
      creationTimestamp: `2026-01-01T00:00:${String(name.charCodeAt(0) % 60).padStart(2, '0')}Z`,
      ...meta,
    },
    spec: { spiffeIDTemplate: ID, ...spec },
  }
}

/** A ClusterStaticEntry under the agent of node `n1`. */
export function staticEntry(name: string, spec: Fields = {}, meta: Fields = {}): Fields {
  return {
    metadata: { name, uid: `uid-${name}`, creationTimestamp: '2026-02-01T00:00:00Z', ...meta },
    spec: {
      spiffeID: 'spiffe://td/static',
      parentID: 'spiffe://td/spire/agent/k8s_psat/c1/node-uid-1',
      selectors: ['k8s:ns:team-a'],
      ...spec,
    },
  }
}

/** A running pod `team-a/p` on node `n1`, unless the fields say otherwise. */
export function pod(name: string, parts: { meta?: Fields; spec?: Fields; status?: Fields } = {}): Fields {
  return {
    kind: 'Pod',
    metadata: { name, namespace: 'team-a', uid: `pod-uid-${name}`, labels: { app: 'llama' }, ...parts.meta },
    spec: {
      nodeName: 'n1',
      serviceAccountName: 'runner',
      containers: [{ name: 'vllm', image: 'vllm:1' }],
      ...parts.spec,
    },
    status: parts.status ?? {},
  }
}

/** The objects to predict for; usual namespaces, nodes and settings by default. */
export interface PredictedEstate {
  ids?: readonly Fields[]
  statics?: readonly Fields[]
  pods?: readonly Fields[]
  workloads?: readonly Fields[]
  namespaces?: readonly Fields[]
  /** Null: nodes are not known. */
  nodes?: readonly Fields[] | null
  endpoints?: readonly Fields[]
  config?: Fields
  settings?: ScmSettings
}

/** `team-a` and `team-b`. */
export const NAMESPACES: readonly Fields[] = ['team-a', 'team-b'].map((name) => ({
  metadata: { name, labels: {} },
}))
/** `n1` and `n2`. */
export const NODES: readonly Fields[] = [1, 2].map((at) => ({
  metadata: { name: `n${at}`, uid: `node-uid-${at}`, labels: { zone: `z${at}` } },
  spec: {},
}))

function raw(list: readonly Fields[] = []): { value: Fields }[] {
  return list.map((value) => ({ value }))
}

/** What the prediction is made from. */
export function inputOf(estate: PredictedEstate): PredictionInput {
  const config = { trustDomain: 'td', clusterName: 'c1', clusterDomain: 'cluster.local', ...estate.config }
  return {
    clusterSpiffeIds: raw(estate.ids).map((object) => readClusterSpiffeId(object, 'live')),
    staticEntries: raw(estate.statics).map(readClusterStaticEntry),
    namespaces: raw(estate.namespaces ?? NAMESPACES).map(readNamespace),
    nodes: estate.nodes === null ? undefined : raw(estate.nodes ?? NODES).map(readNode),
    pods: [
      ...raw(estate.pods ?? [pod('p')]).map(readPod),
      ...raw(estate.workloads).flatMap((object) => readWorkloadPods(object)),
    ],
    endpoints: estate.endpoints === undefined ? undefined : raw(estate.endpoints).map(readEndpoints),
    settings: estate.settings ?? readScmSettings(config, 'a test', NO_EVIDENCE).settings,
  }
}

/** An estate and its prediction. */
export interface Case {
  readonly prediction: Prediction
  readonly pods: readonly Pod[]
}

/** Predicts for an estate. */
export function predicted(estate: PredictedEstate): Case {
  const input = inputOf(estate)
  return { prediction: predict(input), pods: input.pods }
}

/** `name: verdict` for each registration of a pod; `why` follows after a dash where it is asked for. */
export function verdictsOf({ prediction, pods }: Case, at = 0): readonly string[] {
  const subject = pods[at]
  if (subject === undefined) throw new Error(`the estate has no pod ${at}`)
  return prediction.entriesOf(subject).map(({ source, verdict }) => `${source.name}: ${verdict.state}`)
}

/** The reason that the registration of a source has on a pod. */
export function whyOf({ prediction, pods }: Case, name: string, at = 0): string {
  const subject = pods[at]
  if (subject === undefined) throw new Error(`the estate has no pod ${at}`)
  const found = prediction.entriesOf(subject).find(({ source }) => source.name === name)
  if (found === undefined) throw new Error(`${name} does not select the pod`)
  return found.verdict.state === 'declared' ? '' : found.verdict.why
}

/** `container source: verdict` for each container of a pod. */
export function containersOf({ prediction, pods }: Case, at = 0): readonly string[] {
  const subject = pods[at]
  if (subject === undefined) throw new Error(`the estate has no pod ${at}`)
  return subject.containers.flatMap((container) =>
    containerVerdicts(prediction, subject, container).map(
      ({ source, verdict }) => `${container.name} ${source.name}: ${verdict}`,
    ),
  )
}
