// A small estate with access policies: one binding that is ready, two pods that hold its identity, and policies that each
// name an identity.
import { listAt, stringAt } from '@kleym/shared/core/base/json.ts'
import { stringify } from 'yaml'
import { inProcess, type Ran } from './in-process.ts'
import { SCM_CONFIG, SETTINGS } from '../../../test/e2e/workspace.ts'
import { workspace } from './workspace.ts'

/** The ID of binding team-a/chat, which `vllm` of two pods holds. */
export const CHAT = 'spiffe://example.org/ns/team-a/objective/chat'

/** A rule with this source. */
export interface Rule {
  readonly name: string
  readonly source?: unknown
  readonly authorization?: unknown
}

/** Names one SPIFFE ID. */
export function spiffeRule(name: string, spiffe: string): Rule {
  return { name, source: { type: 'SPIFFE', spiffe } }
}

export interface PolicyParts {
  readonly namespace?: string
  readonly apiVersion?: string
  readonly action?: string
  readonly gateway?: string
  /** Whether a controller says that it is accepted; undefined for one without a status. */
  readonly accepted?: boolean
  readonly annotations?: Readonly<Record<string, string>>
}

/** A live policy on a gateway. */
export function policy(name: string, rules: readonly Rule[], parts: PolicyParts = {}): string {
  const { namespace = 'agents', action = 'Allow', gateway = name, accepted = true, annotations } = parts
  const target = { group: 'gateway.networking.k8s.io', kind: 'Gateway', name: gateway }
  const condition = { type: 'Accepted', status: accepted ? 'True' : 'False', reason: 'Accepted' }
  return stringify({
    apiVersion: parts.apiVersion ?? 'agentic.networking.x-k8s.io/v1alpha1',
    kind: 'XAccessPolicy',
    metadata: {
      name,
      namespace,
      uid: `uid-of-${name}`,
      creationTimestamp: '2026-10-01T00:00:00Z',
      generation: 1,
      ...(annotations === undefined ? {} : { annotations }),
    },
    spec: { targetRefs: [target], action, rules },
    status: {
      ancestors: [
        {
          ancestorRef: { ...target, namespace },
          controllerName: 'sigs.k8s.io/kube-agentic-networking-controller',
          conditions: [{ ...condition, observedGeneration: 1 }],
        },
      ],
    },
  })
}

const POOL = `apiVersion: inference.networking.k8s.io/v1
kind: InferencePool
metadata: {name: llama, namespace: team-a}
spec: {selector: {matchLabels: {app: llama}}}
`

function objective(name: string): string {
  return `apiVersion: llm-d.ai/v1alpha2
kind: InferenceObjective
metadata: {name: ${name}, namespace: team-a}
spec: {poolRef: {name: llama}}
`
}

/** Binding team-a/chat to an objective. */
export function binding(objectiveName: string): string {
  return `apiVersion: kleym.sonda.red/v1alpha1
kind: InferenceIdentityBinding
metadata: {name: chat, namespace: team-a}
spec:
  poolRef: {name: llama, group: inference.networking.k8s.io}
  objectiveRef: {name: ${objectiveName}}
  serviceAccountName: runner
  containerName: vllm
`
}

function pod(name: string): string {
  return `apiVersion: v1
kind: Pod
metadata:
  name: ${name}
  namespace: team-a
  uid: uid-of-${name}
  creationTimestamp: "2026-01-01T00:00:00Z"
  labels: {app: llama}
spec:
  nodeName: gpu-1
  serviceAccountName: runner
  containers: [{name: vllm}]
`
}

const NODE = `apiVersion: v1
kind: Node
metadata: {name: gpu-1, uid: uid-of-gpu-1, creationTimestamp: "2026-01-01T00:00:00Z"}
`

/** Everything but policies. */
export const POLICY_ESTATE = [
  POOL,
  objective('chat'),
  objective('spare'),
  binding('chat'),
  pod('llama-0'),
  pod('llama-1'),
  NODE,
].join('---\n')

const NAMERS: readonly (readonly [string, readonly Rule[], PolicyParts?])[] = [
  ['exact', [spiffeRule('chat', CHAT), spiffeRule('other', 'spiffe://example.org/other')]],
  ['open', [{ name: 'all' }]],
  [
    'by-account',
    [{ name: 'runner', source: { type: 'ServiceAccount', serviceAccount: { name: 'runner' } } }],
    { namespace: 'team-a' },
  ],
  ['waiting', [spiffeRule('chat', CHAT)], { accepted: false }],
]
/** Policies that name the identity of `team-a/chat`: by its ID, by its service account, and as any principal. */
export const NAMING_POLICIES = NAMERS.map(([name, rules, parts]) => policy(name, rules, parts))

/** Asks about the estate with these policies in it. */
export async function ask(args: readonly string[], ...policies: readonly string[]): Promise<Ran> {
  const cwd = await workspace({
    'all.yaml': [POLICY_ESTATE, ...policies].join('---\n'),
    'scm.yaml': SCM_CONFIG,
  })
  return inProcess([...args, '--offline', '-f', 'all.yaml', ...SETTINGS], cwd)
}

/** The same as JSON. */
export async function askJson(args: readonly string[], ...policies: readonly string[]): Promise<unknown> {
  return JSON.parse((await ask([...args, '-o', 'json'], ...policies)).stdout)
}

/** The codes of the findings of a report, each once. */
export function codesOf(report: unknown): readonly string[] {
  return [...new Set(listAt(report, 'findings').map((one) => stringAt(one, 'code') ?? ''))]
}
