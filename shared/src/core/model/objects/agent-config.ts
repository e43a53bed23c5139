// What the configurations of SPIRE agents among the files say about attestation: an agent with `disable_container_selectors` never
// finds a `k8s:container-...` selector (docs/spire-facts.md §6). Found are agent.conf in a ConfigMap, as SPIRE's charts install it,
// and OpenShift's SpireAgent, whose operator writes it.
import { isRecord, own, stringAt } from '../../base/json.ts'
import { groupOfApiVersion, OPENSHIFT_AGENT } from '../kinds.ts'
import { readMeta } from './meta.ts'
import type { RawObject } from './raw.ts'
import { getOrCreate } from '../../base/get-or-create.ts'
import type { LacksContainerSelectors, Namespace, NamespaceTold, Pod } from './pod.ts'
import { readSpireConfig, secondsBelow, textsBelow } from './spire-config.ts'

/** What an agent is configured with, as far as an answer asks. */
export interface AgentConfig {
  /** `ConfigMap spire-agent, spire.yaml:12`. */
  readonly source: string
  readonly namespace: string
  readonly name: string
  /** Whether it finds no selectors of containers; undefined: that is filled in when it starts. */
  readonly lacks: boolean | undefined
  /** Whether it tells the labels of namespaces; undefined: that is filled in when it starts, or not read. */
  readonly tellsNamespaces: boolean | undefined
  /** The cluster as which it attests (`k8s_psat`, `k8s_sat`); undefined: it does not say. */
  readonly cluster: string | undefined
  /** Where it serves the Workload API; undefined: it does not say. */
  readonly socketPath: string | undefined
  /** How often it asks its server, in seconds; undefined: it does not say. */
  readonly syncSeconds: number | undefined
  /** How many X.509-SVIDs it keeps before a process asks for one; undefined: it does not say. */
  readonly svidsKept: number | undefined
}

/** The defaults of an agent: https://github.com/spiffe/spire/blob/v1.15.3/doc/spire_agent.md */
export const AGENT_DEFAULTS = { syncSeconds: 5, svidsKept: 1000 } as const

/** The configurations of agents among objects. */
export function agentConfigsIn(objects: readonly RawObject[]): readonly AgentConfig[] {
  return objects.flatMap((object) => agentConfigIn(object) ?? [])
}

/** Undefined where no agent is told to find none. */
export function lackedBy(agents: readonly AgentConfig[]): LacksContainerSelectors | undefined {
  const lacking = agents.find(({ lacks }) => lacks === true) ?? agents.find(({ lacks }) => lacks !== false)
  if (lacking === undefined) return undefined
  const isEverywhere = agents.every(({ lacks }) => lacks === true)
  const others = isEverywhere || lacking.lacks !== true ? '' : ', and others have not'
  return {
    why: `the agent ${lacking.lacks === true ? 'has' : 'may have'} disable_container_selectors (${lacking.source})${others}`,
    isEverywhere,
  }
}

/** The configuration of an agent that an object holds; undefined: none. */
export function agentConfigIn({ value, origin }: RawObject): AgentConfig | undefined {
  const kind = stringAt(value, 'kind') ?? ''
  // Every object is asked.
  if (kind !== 'ConfigMap' && kind !== OPENSHIFT_AGENT.kind) return undefined
  const group = groupOfApiVersion(stringAt(value, 'apiVersion') ?? '')
  const { namespace, name } = readMeta(value)
  const place = origin === undefined ? '' : `, ${origin.file}:${origin.line}`
  const base = { source: `${kind} ${name}${place}`, namespace, name }
  if (group === OPENSHIFT_AGENT.group && kind === OPENSHIFT_AGENT.kind) {
    const given = own(own(own(value, 'spec'), 'workloadAttestors'), 'disableContainerSelectors')
    return { ...base, lacks: saidOf(String(given)), ...UNSAID }
  }
  if (kind !== 'ConfigMap' || group !== '') return undefined
  const data = own(value, 'data')
  const texts = isRecord(data) ? Object.values(data).filter((one) => typeof one === 'string') : []
  const text = texts.find(isOfAgent)
  if (text === undefined) return undefined
  const config = readSpireConfig(text)
  if (config === undefined) return { ...base, lacks: mayBeOn(text, LACKS) ? undefined : false, ...UNSAID }
  return {
    ...base,
    lacks: saidOf(textsBelow(config, 'disable_container_selectors')[0] ?? 'false'),
    tellsNamespaces: saidOf(textsBelow(config, TELLS_NAMESPACES)[0] ?? 'false'),
    // Of the node attestor: nothing else of an agent has a cluster.
    cluster: textsBelow(config, 'cluster')[0],
    socketPath: textsBelow(config, 'socket_path')[0],
    syncSeconds: secondsBelow(config, 'sync_interval'),
    svidsKept: limitAs(textsBelow(config, 'x509_svid_cache_max_size')[0]),
  }
}

/** Since SPIRE 1.15.3, and off unless it is there. */
export const TELLS_NAMESPACES = 'enable_namespace_labels'

/** What agents tell of the labels of namespaces; undefined: there is none, or it is not the same of each. */
function toldNamespaces(agents: readonly AgentConfig[]): Omit<NamespaceTold, 'namespace'> | undefined {
  const [first] = agents
  const isTold = first?.tellsNamespaces
  if (first === undefined || isTold === undefined) return undefined
  return agents.every(({ tellsNamespaces }) => tellsNamespaces === isTold)
    ? { isTold, source: first.source }
    : undefined
}

const UNSAID = {
  tellsNamespaces: undefined,
  cluster: undefined,
  socketPath: undefined,
  syncSeconds: undefined,
  svidsKept: undefined,
}

/** A limit of zero or less is the default: pkg/agent/manager/cache/lru_cache.go of SPIRE v1.15.3. */
function limitAs(given = ''): number | undefined {
  return /^\d{1,9}$/.test(given) && Number(given) > 0 ? Number(given) : undefined
}

/** Every agent has a workload attestor, and nothing else of SPIRE has one: https://github.com/spiffe/spire/blob/v1.15.3/doc/spire_agent.md */
const OF_AGENT = /\bWorkloadAttestor\b/

/** Whether a text is the configuration of an agent. */
export function isOfAgent(text: string): boolean {
  return OF_AGENT.test(text)
}

/** In HCL, or in JSON: each is off unless it is there. An agent that is started with `-expandEnv` fills variables in. */
function settingOf(name: string): RegExp {
  return new RegExp(String.raw`\b${name}"?\s*[=:]\s*"?([^\s",}]+)`)
}

const LACKS = settingOf('disable_container_selectors')
const TELLS = settingOf(TELLS_NAMESPACES)

/** What a text says; undefined: a variable. */
function saidOf(given: string): boolean | undefined {
  return given === 'true' ? true : /[{$]/.test(given) ? undefined : false
}

function mayBeOn(text: string, setting: RegExp): boolean {
  return saidOf(setting.exec(text)?.[1] ?? 'false') !== false
}

/** Whether a text may be the configuration of an agent that finds no containers, or tells the labels of namespaces. */
export function mayHoldAgentConfig(text: string): boolean {
  return isOfAgent(text) && [LACKS, TELLS].some((setting) => mayBeOn(text, setting))
}

/** Makes a function that gives a pod with what agents of these configurations find of it, and what they do not; there may be further ones. */
export function attestedBy(
  agents: readonly AgentConfig[],
  mayBeMore: boolean,
): (pod: Pod, namespace: Namespace | undefined) => Pod {
  const lacked = lackedBy(agents)
  const told = mayBeMore ? undefined : toldNamespaces(agents)
  const byNamespace = new Map<string, NamespaceTold>()
  return (pod, namespace) => {
    if (lacked === undefined && told === undefined) return pod
    const one = told && getOrCreate(byNamespace, pod.namespace, () => ({ ...told, namespace }))
    return {
      ...pod,
      ...(lacked !== undefined && { lacksContainerSelectors: lacked }),
      ...(one !== undefined && { namespaceTold: one }),
    }
  }
}
