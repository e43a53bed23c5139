// On which nodes SPIRE's agents run, as the DaemonSets and pods among the files show it. A process on another node has no agent to ask,
// whatever entries there are. A DaemonSet chooses nodes by labels and by taints:
// https://kubernetes.io/docs/concepts/workloads/controllers/daemonset/#taints-and-tolerations
import { isRecord, own, recordsAt, stringAt, type JsonRecord } from '../../base/json.ts'
import { compareBytes } from '../../base/text/bytes.ts'
import { readMeta } from './meta.ts'
import type { Node } from './pod.ts'
import type { RawObject } from './raw.ts'
import { podSpecOf, runs } from './spire-setup.ts'

/** Where agents run. */
export interface AgentNodes {
  /** The DaemonSets that run agents, with their pods' specs; none: their parts are not among the files, and are taken to fit. */
  readonly sets: readonly { readonly name: string; readonly spec: unknown }[]
  /** The nodes on which a pod of an agent is seen. */
  readonly seenOn: ReadonlySet<string>
}

/** Reads where agents run from the objects. */
export function agentNodesIn(objects: readonly RawObject[]): AgentNodes {
  const sets = objects.flatMap(({ value }) => {
    const spec = agentSpecOf(value, 'DaemonSet')
    if (spec === undefined) return []
    const { namespace, name } = readMeta(value)
    return [{ name: `DaemonSet ${namespace}/${name}`, spec }]
  })
  // There may be a hundred thousand pods, and nothing to compare them with.
  if (sets.length === 0) return NO_AGENTS
  const nodes = objects.flatMap(({ value }) => stringAt(agentSpecOf(value, 'Pod'), 'nodeName') ?? [])
  return { sets: sets.toSorted((a, b) => compareBytes(a.name, b.name)), seenOn: new Set(nodes) }
}

/** Nothing shows where agents run. */
export const NO_AGENTS: AgentNodes = { sets: [], seenOn: new Set() }

/** The spec of the pods of an object of a kind that runs an agent; undefined: it is of another kind, or runs none. */
function agentSpecOf(value: JsonRecord, kind: 'DaemonSet' | 'Pod'): unknown {
  if (stringAt(value, 'kind') !== kind) return undefined
  const spec = podSpecOf(value)
  return runs(spec, 'spire-agent') ? spec : undefined
}

/** Why no agent may run on a node: no DaemonSet of agents chooses it, and no pod of one is seen there. Undefined: one may. */
export function whyNoAgentOn(
  { name, metadata, spec }: Node,
  { sets, seenOn }: AgentNodes,
): string | undefined {
  if (sets.length === 0 || seenOn.has(name)) return undefined
  const labels = own(metadata, 'labels')
  const taints = recordsAt(spec, 'taints')
  const whys = sets.map((set) => {
    const why = whyNotSelected(set.spec, labels) ?? whyNotTolerated(set.spec, taints)
    return why === undefined ? undefined : `no SPIRE agent was found on node ${name}: ${set.name} ${why}`
  })
  return whys.includes(undefined) ? undefined : whys[0]
}

/** A Node without labels is cut: each has some. */
function whyNotSelected(spec: unknown, labels: unknown): string | undefined {
  const asked = own(spec, 'nodeSelector')
  if (!isRecord(asked) || !isRecord(labels)) return undefined
  const missing = Object.entries(asked).find(([key, value]) => own(labels, key) !== value)
  return missing === undefined ? undefined : `asks for its label ${missing[0]}=${String(missing[1])}`
}

function whyNotTolerated(spec: unknown, taints: readonly JsonRecord[]): string | undefined {
  const tolerations = recordsAt(spec, 'tolerations')
  const repelled = taints.find(
    (taint) =>
      KEEPS_OUT.has(stringAt(taint, 'effect') ?? '') &&
      !isOfConditions(taint) &&
      !isTolerated(taint, tolerations),
  )
  if (repelled === undefined) return undefined
  const [key = '', value, effect] = ['key', 'value', 'effect'].map((field) => stringAt(repelled, field))
  return `does not tolerate its taint ${key}${value === undefined ? '' : `=${value}`}:${effect}`
}

const KEEPS_OUT: ReadonlySet<string> = new Set(['NoSchedule', 'NoExecute'])

/** The taints by which Kubernetes itself shows how a node is: pods of a DaemonSet tolerate them, or they pass. */
function isOfConditions(taint: JsonRecord): boolean {
  return stringAt(taint, 'key')?.startsWith('node.kubernetes.io/') === true
}

function isTolerated(taint: JsonRecord, tolerations: readonly JsonRecord[]): boolean {
  return tolerations.some((one) => {
    const { key, value, effect, operator = 'Equal' } = one
    const isOfEffect = (effect ?? '') === '' || effect === taint['effect']
    const isOfKey = (key ?? '') === '' || key === taint['key']
    // An operator that is newer than this may tolerate it.
    return isOfEffect && isOfKey && (operator !== 'Equal' || (value ?? '') === (taint['value'] ?? ''))
  })
}
