// Small manifests for tests, and the way from a set of them to judgements: what `analysis.ts` does, without prediction.
import { ownershipFacts } from '@kleym/shared/core/analysis/states/analysis.ts'
import { settle } from '@kleym/testing/at-once.ts'
import { compile, type Compiled } from '@kleym/shared/core/decide/compile/compile.ts'
import type { Config } from '@kleym/shared/core/decide/settings/config.ts'
import { boundaryWord, parseIdentity } from '@kleym/shared/core/decide/compile/identity-path.ts'
import { outputName, type Output } from '@kleym/shared/core/decide/compile/output.ts'
import type { JsonRecord } from '@kleym/shared/core/base/json.ts'
import type { UnknownReason } from '@kleym/shared/core/model/unknown-reason.ts'
import {
  ANNOTATION_BINDING,
  ANNOTATION_BINDING_UID,
  DEFAULT_VARIANT_LABEL_KEY,
} from '@kleym/shared/core/model/names.ts'
import type { ClusterSpiffeId } from '@kleym/shared/core/model/objects/clusterspiffeid.ts'
import { judgeOwnership, type Ownership } from '@kleym/shared/core/decide/plan/ownership.ts'
import type { Judgement, LiveOutput } from '@kleym/shared/core/decide/plan/plan.ts'
import type { Settled } from '@kleym/shared/core/decide/plan/settle.ts'
import { verdictOf } from '@kleym/shared/core/decide/plan/status.ts'
import { readSnapshot, referencesIn, type Snapshot } from '@kleym/shared/core/snapshot/snapshot.ts'

/** The group of InferencePool v1. */
export const K8S_GROUP = 'inference.networking.k8s.io'
/** The older group, of pools and objectives. */
export const X_GROUP = 'inference.networking.x-k8s.io'
/** The group to which InferenceObjective moved. */
export const LLM_D = 'llm-d.ai'
/** The trust domain of `CONFIG`. */
export const TRUST_DOMAIN = 'example.org'
/** An install with a trust domain, no class, and the usual label key of variants. */
export const CONFIG: Config = {
  trustDomain: { kind: 'set', value: TRUST_DOMAIN },
  className: '',
  variantLabelKey: DEFAULT_VARIANT_LABEL_KEY,
}
/** Why a kind could not be read. */
export const FORBIDDEN: UnknownReason = { verb: 'list', what: 'something', cause: 'forbidden' }

/** What of a binding differs from the good one. */
export interface BindingParts {
  readonly name?: string
  readonly namespace?: string
  /** `''` makes a manifest that no API server has stored. */
  readonly uid?: string
  readonly deletedAt?: string
  readonly status?: unknown
  /** Laid over a good spec; `undefined` removes a field. */
  readonly spec?: JsonRecord
}

/** A good PerObjective binding `team-a/llama` of pool `llama`, objective `chat`, container `vllm`. */
export function binding(parts: BindingParts = {}): JsonRecord {
  const { name = 'llama', namespace = 'team-a', deletedAt, status, spec = {} } = parts
  const uid = parts.uid ?? `uid-of-${namespace}-${name}`
  const base = {
    poolRef: { name: 'llama' },
    objectiveRef: { name: 'chat' },
    serviceAccountName: 'runner',
    mode: 'PerObjective',
    containerName: 'vllm',
  }
  return {
    apiVersion: 'kleym.sonda.red/v1alpha1',
    kind: 'InferenceIdentityBinding',
    metadata: {
      name,
      namespace,
      ...(uid === '' ? {} : { uid, generation: 1 }),
      ...(deletedAt === undefined ? {} : { deletionTimestamp: deletedAt }),
    },
    spec: present({ ...base, ...spec }),
    ...(status === undefined ? {} : { status }),
  }
}

/** A good PoolOnly binding. */
export function poolOnly(parts: BindingParts = {}): JsonRecord {
  const spec = { mode: 'PoolOnly', objectiveRef: undefined, containerName: undefined, ...parts.spec }
  return binding({ ...parts, spec })
}

/** A good PerVariant binding of the variant `prefill`. */
export function perVariant(parts: BindingParts = {}): JsonRecord {
  const identityBoundary = { variant: 'prefill' }
  return poolOnly({ ...parts, spec: { mode: 'PerVariant', identityBoundary, ...parts.spec } })
}

/** What of a pool differs from the good one. */
export interface PoolParts {
  readonly name?: string
  readonly namespace?: string
  readonly group?: string
  readonly labels?: Readonly<Record<string, string>>
  /** The whole of `.spec`, in place of a good one. */
  readonly spec?: unknown
}

/** A good pool `team-a/llama` that selects `app: llama`, in the shape of its group. */
export function pool(parts: PoolParts = {}): JsonRecord {
  const { name = 'llama', namespace = 'team-a', group = K8S_GROUP, labels = { app: 'llama' } } = parts
  const flat = group === X_GROUP
  const spec = 'spec' in parts ? parts.spec : { selector: flat ? labels : { matchLabels: labels } }
  return {
    apiVersion: `${group}/${flat ? 'v1alpha2' : 'v1'}`,
    kind: 'InferencePool',
    metadata: { name, namespace },
    ...(spec === undefined ? {} : { spec }),
  }
}

/** What of an objective differs from the good one. */
export interface ObjectiveParts {
  readonly name?: string
  readonly namespace?: string
  readonly group?: string
  readonly poolRef?: unknown
}

/** A good objective `team-a/chat` that leads to pool `llama`. */
export function objective(parts: ObjectiveParts = {}): JsonRecord {
  const { name = 'chat', namespace = 'team-a', group = LLM_D } = parts
  const poolRef = 'poolRef' in parts ? parts.poolRef : { name: 'llama' }
  return {
    apiVersion: `${group}/v1alpha2`,
    kind: 'InferenceObjective',
    metadata: { name, namespace },
    spec: poolRef === undefined ? {} : { poolRef },
  }
}

/** The least estate in which `binding()` is Ready, with more objects laid on top. */
export function estate(...more: readonly JsonRecord[]): readonly JsonRecord[] {
  return [pool(), objective(), ...more]
}

/** What of a stored output differs from the rendered one. */
export interface OutputParts {
  readonly uid?: string
  readonly name?: string
  readonly deletedAt?: string
  readonly annotations?: JsonRecord
  readonly labels?: JsonRecord
  readonly spec?: JsonRecord
}

/** A rendered output as the API server holds it, with changes laid over it; `undefined` removes a field. */
export function live(output: Output, parts: OutputParts = {}): JsonRecord {
  return {
    apiVersion: output.apiVersion,
    kind: output.kind,
    metadata: {
      name: parts.name ?? output.metadata.name,
      uid: parts.uid ?? `uid-of-${output.metadata.name}`,
      ...(parts.deletedAt === undefined ? {} : { deletionTimestamp: parts.deletedAt }),
      labels: present({ ...output.metadata.labels, ...parts.labels }),
      annotations: present({ ...output.metadata.annotations, ...parts.annotations }),
    },
    spec: present({ ...output.spec, ...parts.spec }),
  }
}

/** The install, and what could not be read. */
export interface SettledClusterOptions {
  readonly config?: Config
  readonly gaps?: Readonly<Record<string, UnknownReason>>
  readonly absentKinds?: readonly string[]
}

/** Objects, what each binding compiles to, and where the plan leads. */
export interface SettledCluster {
  readonly snapshot: Snapshot
  readonly compiled: readonly Compiled[]
  readonly live: readonly LiveOutput[]
  readonly settled: Settled
}

/** Compiles and settles everything. */
export function settledCluster(
  objects: readonly JsonRecord[],
  options: SettledClusterOptions = {},
): SettledCluster {
  const { config = CONFIG, gaps = {}, absentKinds = [] } = options
  const snapshot = readSnapshot({
    objects: objects.map((value) => ({ value })),
    gaps: new Map(Object.entries(gaps)),
    absentKinds: new Set(absentKinds),
  })
  const references = referencesIn(snapshot)
  const compiled = snapshot.bindings.read.map((one) => compile(one, references, config))
  const judge = ownershipIn(snapshot, compiled)
  const outputs = snapshot.clusterSpiffeIds.read.map((object) => ({ object, ownership: judge(object) }))
  return { snapshot, compiled, live: outputs, settled: settle(compiled, outputs, 'known') }
}

/** How ownership is judged in a snapshot. */
export function ownershipIn(
  snapshot: Snapshot,
  compiled: readonly Compiled[],
): (object: ClusterSpiffeId) => Ownership {
  const facts = ownershipFacts(snapshot, compiled)
  return (object) => judgeOwnership(object, facts)
}

/** What is judged of a binding in the first pass. */
export function judgementOf(one: SettledCluster, key = 'team-a/llama'): Judgement {
  return got(one.settled.first.judgements.get(key), `a judgement of ${key}`)
}

/** The `Ready` reason in the first pass. */
export function reasonOf(one: SettledCluster, key = 'team-a/llama'): string | undefined {
  return verdictOf(judgementOf(one, key))?.reason
}

/** The `Ready` reason of a binding, and what is said. */
export function verdictIn(
  one: SettledCluster,
  key = 'team-a/llama',
): { reason: string | undefined; text: string } {
  const verdict = verdictOf(judgementOf(one, key))
  return { reason: verdict?.reason, text: verdict?.message ?? '' }
}

/** The output that a binding would have if it were alone. */
export function outputOf(
  objects: readonly JsonRecord[],
  key = 'team-a/llama',
  options: SettledClusterOptions = {},
): Output {
  const compiled = got(
    settledCluster(objects, options).compiled.find((one) => one.binding.key === key),
    key,
  )
  if (compiled.result.kind !== 'resolved') throw new Error(`${key}: ${JSON.stringify(compiled.result)}`)
  return compiled.result.output
}

/** An orphan: what a binding that is no longer there would have left behind. */
export function orphanOf(output: Output, bindingKey: string, parts: OutputParts = {}): JsonRecord {
  const [namespace = '', name = ''] = bindingKey.split('/')
  const { spiffeIDTemplate } = output.spec
  const word = boundaryWord(parseIdentity(spiffeIDTemplate)?.mode ?? 'PerObjective')
  return live(output, {
    name: outputName(namespace, name, word, spiffeIDTemplate),
    annotations: { [ANNOTATION_BINDING]: bindingKey, [ANNOTATION_BINDING_UID]: 'uid-of-a-gone-binding' },
    ...parts,
  })
}

/** A ClusterSPIFFEID that was read, as a manifest again. */
export function manifestOf({ meta, rawSpec }: ClusterSpiffeId): JsonRecord {
  return {
    apiVersion: 'spire.spiffe.io/v1alpha1',
    kind: 'ClusterSPIFFEID',
    metadata: {
      name: meta.name,
      uid: meta.uid ?? `uid-of-${meta.name}`,
      ...(meta.deletedAt === undefined ? {} : { deletionTimestamp: meta.deletedAt }),
      labels: Object.fromEntries(meta.labels),
      annotations: Object.fromEntries(meta.annotations),
    },
    spec: rawSpec,
  }
}

/** The value, or an error that says what is missing. */
export function got<T>(value: T | undefined, what = 'a value'): T {
  if (value === undefined) throw new Error(`${what} is missing`)
  return value
}

/** Without the fields that are undefined. */
export function present(record: JsonRecord): JsonRecord {
  return Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined))
}
