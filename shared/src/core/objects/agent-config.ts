// What the configurations of SPIRE agents among the files say about attestation: an agent with `disable_container_selectors` never
// finds a `k8s:container-...` selector (docs/spire-facts.md §6). Found are agent.conf in a ConfigMap, as SPIRE's charts install it,
// and OpenShift's SpireAgent, whose operator writes it.
import { isRecord, own, stringAt } from '../json.ts'
import { groupOfApiVersion } from '../kinds.ts'
import { readMeta } from './meta.ts'
import type { RawObject } from './raw.ts'
import type { LacksContainerSelectors, Pod } from './pod.ts'

/** https://github.com/openshift/zero-trust-workload-identity-manager, api/v1alpha1 */
export const OPENSHIFT_AGENT = { group: 'operator.openshift.io', kind: 'SpireAgent' } as const

/** What an agent is configured with, as far as an answer asks. */
export interface AgentConfig {
  /** `ConfigMap spire-agent, spire.yaml:12`. */
  readonly source: string
  readonly namespace: string
  readonly name: string
  /** Whether it finds no selectors of containers. */
  readonly lacks: boolean
  /** The cluster as which it attests (`k8s_psat`, `k8s_sat`); undefined: it does not say. */
  readonly cluster: string | undefined
  /** Where it serves the Workload API; undefined: it does not say. */
  readonly socketPath: string | undefined
}

/** Undefined where no agent among these objects is told to find none. */
export function containerSelectorsLacked(objects: readonly RawObject[]): LacksContainerSelectors | undefined {
  return lackedBy(objects.flatMap((object) => agentConfigIn(object) ?? []))
}

/** The same of configurations that were read. */
export function lackedBy(agents: readonly AgentConfig[]): LacksContainerSelectors | undefined {
  const lacking = agents.find(({ lacks }) => lacks)
  if (lacking === undefined) return undefined
  return {
    why: `the agent has disable_container_selectors (${lacking.source})`,
    isEverywhere: agents.every(({ lacks }) => lacks),
  }
}

/** The configuration of an agent that an object holds; undefined: none. */
export function agentConfigIn({ value, origin }: RawObject): AgentConfig | undefined {
  const kind = stringAt(value, 'kind') ?? ''
  const group = groupOfApiVersion(stringAt(value, 'apiVersion') ?? '')
  const { namespace, name } = readMeta(value)
  const place = origin === undefined ? '' : `, ${origin.file}:${origin.line}`
  const base = { source: `${kind} ${name}${place}`, namespace, name }
  if (group === OPENSHIFT_AGENT.group && kind === OPENSHIFT_AGENT.kind) {
    const given = own(own(own(value, 'spec'), 'workloadAttestors'), 'disableContainerSelectors')
    return { ...base, lacks: String(given) === 'true', cluster: undefined, socketPath: undefined }
  }
  if (kind !== 'ConfigMap' || group !== '') return undefined
  const data = own(value, 'data')
  const texts = isRecord(data) ? Object.values(data).filter((one) => typeof one === 'string') : []
  const config = texts.find((text) => OF_AGENT.test(text))
  if (config === undefined) return undefined
  const text = withoutComments(config)
  return {
    ...base,
    lacks: LACKS.test(text),
    cluster: CLUSTER.exec(text)?.[1],
    socketPath: SOCKET.exec(text)?.[1],
  }
}

/** Every agent has a workload attestor, and nothing else of SPIRE has one: https://github.com/spiffe/spire/blob/v1.15.3/doc/spire_agent.md */
const OF_AGENT = /\bWorkloadAttestor\b/
/** In HCL, or in JSON. */
const LACKS = /\bdisable_container_selectors"?\s*[=:]\s*"?true\b/

/** Of the node attestor: nothing else of an agent has a cluster. */
const CLUSTER = /\bcluster"?\s*[=:]\s*"([^"]+)"/
const SOCKET = /\bsocket_path"?\s*[=:]\s*"([^"]+)"/

function withoutComments(text: string): string {
  return text.replaceAll(/^\s*(?:#|\/\/).*$/gm, '')
}

/** A pod, with what its node's agent does not find. */
export function withAgent(pod: Pod, lacked: LacksContainerSelectors | undefined): Pod {
  return lacked === undefined ? pod : { ...pod, lacksContainerSelectors: lacked }
}
