// Small access policies, and the cluster around them: team-a's binding `llama`, whose pod holds its identity.
import { analyse, type Analysis } from '@kleym/shared/core/analysis/states/analysis.ts'
import type { Config } from '@kleym/shared/core/decide/settings/config.ts'
import type { JsonRecord } from '@kleym/shared/core/base/json.ts'
import type { UnknownReason } from '@kleym/shared/core/model/unknown-reason.ts'
import { ACCESS_POLICY_KIND, apiVersionOf, qualifiedKind } from '@kleym/shared/core/model/kinds.ts'
import { readScmSettings } from '@kleym/shared/core/model/objects/scm-config.ts'
import type {
  Resolution,
  ResolvedPolicy,
  ResolvedRule,
} from '@kleym/shared/core/analysis/policies/resolution.ts'
import { readSnapshot } from '@kleym/shared/core/snapshot/snapshot.ts'
import { binding, estate, got, TRUST_DOMAIN } from './manifests.ts'

/** Kind and group, as gaps name them. */
export const POLICY_KIND = qualifiedKind(ACCESS_POLICY_KIND)
/** The identity of `binding()`. */
export const CHAT_ID = `spiffe://${TRUST_DOMAIN}/ns/team-a/objective/chat`

/** What of a policy differs from the good one. */
export interface AccessPolicyParts {
  readonly name?: string
  readonly namespace?: string
  readonly apiVersion?: string
  readonly kind?: string
  /** Set for an object that an API server holds. */
  readonly createdAt?: string
  readonly generation?: number
  readonly status?: unknown
  /** Laid over a good spec; `undefined` removes a field. */
  readonly spec?: JsonRecord
}

/** A good policy `agents/tools` on the Gateway `tools`, with one rule `callers` that names `CHAT`. */
export function policy(parts: AccessPolicyParts = {}): JsonRecord {
  const { name = 'tools', namespace = 'agents', createdAt, generation = 1, status } = parts
  const spec: JsonRecord = {
    targetRefs: [{ group: 'gateway.networking.k8s.io', kind: 'Gateway', name: 'tools' }],
    action: 'Allow',
    rules: [rule(spiffe(CHAT_ID))],
    ...parts.spec,
  }
  return {
    apiVersion: parts.apiVersion ?? apiVersionOf(ACCESS_POLICY_KIND),
    kind: parts.kind ?? ACCESS_POLICY_KIND.kind,
    metadata: {
      name,
      namespace,
      ...(createdAt === undefined
        ? {}
        : { uid: `uid-of-${namespace}-${name}`, creationTimestamp: createdAt, generation }),
    },
    spec: Object.fromEntries(Object.entries(spec).filter(([, value]) => value !== undefined)),
    ...(status === undefined ? {} : { status }),
  }
}

/** A rule; `source` undefined leaves the field out. */
export function rule(source: unknown, more: JsonRecord = {}): JsonRecord {
  return { name: 'callers', ...(source === undefined ? {} : { source }), ...more }
}

/** A source that names one SPIFFE ID. */
export function spiffe(spiffeId: unknown): JsonRecord {
  return { type: 'SPIFFE', spiffe: spiffeId }
}

/** A source that names a service account. */
export function account(name: string, namespace?: string): JsonRecord {
  return {
    type: 'ServiceAccount',
    serviceAccount: { name, ...(namespace === undefined ? {} : { namespace }) },
  }
}

/** A policy of one rule whose source is this one. */
export function policyOf(source: unknown, parts: AccessPolicyParts = {}): JsonRecord {
  return policy({ ...parts, spec: { rules: [rule(source)], ...parts.spec } })
}

/** What of a pod differs from the usual one. */
export interface PodParts {
  readonly name?: string
  readonly namespace?: string
  readonly labels?: JsonRecord
  readonly spec?: JsonRecord
}

/** A running pod `team-a/llama-0` of the pool, with the containers `vllm` and `proxy`. */
export function pod({
  name = 'llama-0',
  namespace = 'team-a',
  labels = { app: 'llama' },
  spec = {},
}: PodParts = {}): JsonRecord {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace, uid: `uid-of-${namespace}-${name}`, labels },
    spec: {
      nodeName: 'n1',
      serviceAccountName: 'runner',
      containers: [{ name: 'vllm' }, { name: 'proxy' }],
      ...spec,
    },
  }
}

/** A ClusterSPIFFEID that is not kleym's; it selects every pod unless `spec` says otherwise. */
export function foreign(name: string, spec: JsonRecord): JsonRecord {
  return {
    apiVersion: 'spire.spiffe.io/v1alpha1',
    kind: 'ClusterSPIFFEID',
    metadata: { name, uid: `uid-of-${name}`, creationTimestamp: '2026-01-01T00:00:00Z' },
    spec,
  }
}

/** The default ClusterSPIFFEID of the SPIRE charts. */
export const DEFAULT_ID = foreign('default', {
  spiffeIDTemplate:
    'spiffe://{{ .TrustDomain }}/ns/{{ .PodMeta.Namespace }}/sa/{{ .PodSpec.ServiceAccountName }}',
  fallback: true,
})

/** A ClusterStaticEntry for the node of the pods. */
export function staticEntry(name: string, spec: JsonRecord): JsonRecord {
  return {
    apiVersion: 'spire.spiffe.io/v1alpha1',
    kind: 'ClusterStaticEntry',
    metadata: { name, uid: `uid-of-${name}`, creationTimestamp: '2026-01-01T00:00:00Z' },
    spec: {
      parentID: `spiffe://${TRUST_DOMAIN}/spire/agent/k8s_psat/prod/uid-of-n1`,
      selectors: ['k8s:ns:agents', 'k8s:sa:planner'],
      ...spec,
    },
  }
}

/** The node of the pods. */
export const NODE: JsonRecord = {
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name: 'n1', uid: 'uid-of-n1' },
}

/** The binding, its pool and objective, and its pod. */
export const TEAM_A: readonly JsonRecord[] = estate(NODE, binding(), pod())

/** What was read, and with which settings; everything, with those of `CONFIG`, by default. */
export interface AnalysisSetting {
  readonly gaps?: Readonly<Record<string, UnknownReason>>
  readonly absentKinds?: readonly string[]
  readonly listedKinds?: readonly string[]
  readonly namespacesRead?: readonly string[]
  readonly trustDomain?: string | undefined
  /** SCM's, where it is another one than kleym's. */
  readonly scmTrustDomain?: string
}

/** What the whole core makes of these objects. */
export function analysisOf(objects: readonly JsonRecord[], setting: AnalysisSetting = {}): Analysis {
  const trustDomain = 'trustDomain' in setting ? setting.trustDomain : TRUST_DOMAIN
  const { scmTrustDomain = trustDomain } = setting
  const snapshot = readSnapshot({
    objects: objects.map((value) => ({ value })),
    gaps: new Map(Object.entries(setting.gaps ?? {})),
    absentKinds: new Set(setting.absentKinds),
    ...(setting.listedKinds === undefined ? {} : { listedKinds: new Set(setting.listedKinds) }),
    ...(setting.namespacesRead === undefined ? {} : { namespacesRead: new Set(setting.namespacesRead) }),
  })
  const { settings } = readScmSettings(
    {
      ...(scmTrustDomain === undefined ? {} : { trustDomain: scmTrustDomain }),
      clusterName: 'prod',
      watchClassless: true,
      ignoreNamespaces: ['kube-system'],
    },
    'a test',
    { trustDomain: scmTrustDomain, className: '', clusterSpiffeIdClasses: [] },
  )
  const config: Config = {
    trustDomain: trustDomain === undefined ? { kind: 'not known' } : { kind: 'set', value: trustDomain },
    className: '',
  }
  return analyse(snapshot, config, settings)
}

/** The policy of that key, `agents/tools` by default. */
export function resolvedPolicy(analysis: Analysis, key = 'agents/tools'): ResolvedPolicy {
  return got(
    analysis.settled.policies().list.find((one) => one.key === key),
    key,
  )
}

/** The first rule of a policy. */
export function firstRule(analysis: Analysis, key = 'agents/tools'): ResolvedRule {
  return got(resolvedPolicy(analysis, key).rules[0], `a rule of ${key}`)
}

/** What the first source of the first rule comes to. */
export function resolution(analysis: Analysis, key = 'agents/tools'): Resolution {
  return got(firstRule(analysis, key).sources[0], `a source of ${key}`).resolution
}
