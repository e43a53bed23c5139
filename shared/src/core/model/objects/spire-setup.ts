// How SPIRE is set up, as its own parts among the files show it: what decides whether any entry comes to a container, whatever the entry says.
import { canonicalText, isRecord, listAt, own, stringAt, type JsonRecord } from '../../base/json.ts'
import { isOfAgent, TELLS_NAMESPACES } from './agent-config.ts'
import { readMeta } from './meta.ts'
import type { RawObject } from './raw.ts'
import { DEFAULT_PARENT_ID_TEMPLATE, type ScmSettings } from './scm-settings.ts'
import {
  blocksAt,
  namesAt,
  readSpireConfig,
  settingsIn,
  textsAt,
  textsBelow,
  type SpireBlock,
} from './spire-config.ts'
import { imageName, wordsOf } from './workload-api.ts'

/** What is set up, each with its values: `["trust_domain of the SPIRE server", ["is \"example.org\""]]`. What no object shows is not among them. */
export type SpireSetup = ReadonlyMap<string, readonly string[]>

/** A program of SPIRE, by the name of its image. */
export type SpireProgram = (typeof PROGRAMS)[number]

/** The last one mounts the socket of the agents in pods. */
const PROGRAMS = ['spire-agent', 'spire-server', 'spire-controller-manager', 'spiffe-csi-driver'] as const
const RUNS = 'runs'
const STOPPED = 'has no replicas'

/** What configures it can be read. */
const READ = 'can be read'

/**
 * Settings of the configurations that change nothing about who holds what: what is logged and measured, and how long it lasts.
 */
const WITHOUT_EFFECT =
  /^(?:log_\w+|telemetry|health_checks|profiling_\w+|ca_ttl|ca_subject|agent_ttl|default_\w+_ttl|jwt_issuer)$/

/**
 * The fields of the configurations by which the parts fit each other: which agents a server takes, and which server an agent asks, as whom.
 * https://github.com/spiffe/spire/blob/v1.15.3/doc/spire_server.md, doc/spire_agent.md, doc/plugin_server_nodeattestor_k8s_psat.md
 */
const OF_SERVER = ['trust_domain']
const OF_AGENT = ['trust_domain', 'server_address', 'cluster', 'socket_path']

/** Reads the set-up from the parts among these objects. */
export function spireSetup(objects: readonly RawObject[]): SpireSetup {
  const found = new Map<string, Set<string>>()
  for (const { value } of objects) {
    for (const [what, shown] of [...programsIn(value), ...configuredIn(value)])
      found.set(what, new Set([...(found.get(what) ?? []), shown]))
  }
  return new Map([...found].map(([what, shown]) => [what, [...shown].toSorted()]))
}

/**
 * In what one side is set up otherwise than the other, as a sentence; undefined: in nothing that both show. A program that ran before and that
 * no object runs any more is a difference, too.
 */
export function setupDifference(before: SpireSetup, after: SpireSetup): string | undefined {
  for (const [what, from] of before) {
    const to = after.get(what) ?? (from.some((one) => one === RUNS || one === READ) ? ['is not there'] : from)
    const [left, right] = [from.filter((one) => !to.includes(one)), to.filter((one) => !from.includes(one))]
    if (left.length + right.length > 0)
      return `${what} ${shortened(left)} on one side, ${shortened(right)} on the other`
  }
  return undefined
}

/** What a file gives may be of any length. */
const SHOWN_MAX = 120

function shortened(values: readonly string[]): string {
  const text = values.length === 0 ? 'says nothing of it' : values.join(', ')
  return text.length > SHOWN_MAX ? `${text.slice(0, SHOWN_MAX)}...` : text
}

/** Why what SCM asks for may come to no container. */
export interface Unserved {
  readonly why: string
  /** The server holds the entries all the same: no agent hands them out. */
  readonly isOnServer: boolean
}

/**
 * Why what SCM asks for may come to no container, as SPIRE's own parts show it: one of them does not run, or does not fit to SCM's settings.
 * Undefined: nothing shows it.
 */
export function whyUnserved(settings: ScmSettings, setup: SpireSetup): Unserved | undefined {
  const stopped = PROGRAMS.find((one) => setup.get(one)?.every((how) => how === STOPPED))
  if (stopped !== undefined) return { why: `${stopped} ${STOPPED}`, isOnServer: BEHIND_SERVER.has(stopped) }
  const refused = misfit(setup, [asksForDomain(settings, 'trust_domain of the SPIRE server')])
  if (refused !== undefined) return { why: refused, isOnServer: false }
  const why = whyNoAgent(settings, setup)
  return why === undefined ? undefined : { why, isOnServer: true }
}

/** What gets entries from the server. */
const BEHIND_SERVER: ReadonlySet<SpireProgram> = new Set(['spire-agent', 'spiffe-csi-driver'])

/** What SCM's settings ask of the parts of SPIRE: which value fits, and a sentence about the setting; without a value, nothing is asked. */
type Asked = readonly [what: string, fits: string | undefined, asked: string]

/** What is shown and does not fit, as a sentence. */
function misfit(setup: SpireSetup, asks: readonly Asked[]): string | undefined {
  for (const [what, fits, asked] of asks) {
    const shown = setup.get(what) ?? []
    // A variable is filled in when the program starts.
    const mayFit = shown.length === 0 || shown.some((one) => one === fits || /[{$]/.test(one))
    if (fits !== undefined && !mayFit) return `${what} ${shortened(shown)}, and ${asked}`
  }
  return undefined
}

function asksForDomain({ trustDomain }: ScmSettings, what: string): Asked {
  return [what, isValue(trustDomain), `SCM's trustDomain is ${trustDomain}`]
}

/** Why no agent may hand out what the server holds. */
function whyNoAgent(settings: ScmSettings, setup: SpireSetup): string | undefined {
  const { parentIDTemplate = DEFAULT_PARENT_ID_TEMPLATE } = settings
  if (isParentOfNoAgent(parentIDTemplate))
    return `SCM's parentIDTemplate does not end in the UID of the node, and the IDs of agents that attest themselves by ${PSAT} do`
  return misfit(setup, askedOfAgents(settings)) ?? whyNoAgentTaken(setup)
}

function askedOfAgents(settings: ScmSettings): readonly Asked[] {
  const { clusterName, parentIDTemplate = DEFAULT_PARENT_ID_TEMPLATE } = settings
  // The parent is the agent's ID, which begins with its way of attestation: `/spire/agent/k8s_psat/`.
  const [, attestor] = /\/spire\/agent\/([\w-]+)\//.exec(parentIDTemplate) ?? []
  const [, written] = PSAT_PARENT.exec(parentIDTemplate) ?? []
  const cluster = parentIDTemplate.includes('ClusterName') ? clusterName : written
  const ofPods = attestor === PSAT ? cluster : undefined
  const byNode = parentIDTemplate.includes('NodeMeta.UID') ? ofPods : undefined
  const name = `SCM's ${written === undefined ? 'clusterName is' : 'parentIDTemplate asks for'} ${cluster}`
  return [
    asksForDomain(settings, 'trust_domain of the SPIRE agents'),
    ['NodeAttestor of the SPIRE agents', isValue(attestor), `SCM's parentIDTemplate asks for ${attestor}`],
    ['NodeAttestor of the SPIRE server', isValue(attestor), `SCM's parentIDTemplate asks for ${attestor}`],
    ['cluster of the SPIRE agents', isValue(cluster), name],
    ['clusters of the SPIRE server', isValue(ofPods), name],
    [idsOfAgents(byNode ?? ''), byNode && OF_NODE, "SCM's parentIDTemplate asks for that of their node"],
    ['WorkloadAttestor of the SPIRE agents', isValue('k8s'), 'the entries of SCM have selectors of k8s'],
    ['hostPID of the SPIRE agents', isValue('true'), 'an agent must see the processes of its node'],
  ]
}

/** The agents of pods, with their cluster where it is written out. https://github.com/spiffe/spire/blob/v1.15.3/pkg/common/plugin/k8s/utils.go#L94 */
const PSAT_PARENT = /\/spire\/agent\/k8s_psat\/(?:([^/{}]+)\/)?/

/** Whether what stands in the place of the node's UID is another fact. No alias can have such an ID: the server keeps `/spire` for itself. */
function isParentOfNoAgent(template: string): boolean {
  const end = template.slice(template.lastIndexOf('/') + 1)
  return PSAT_PARENT.test(template) && end.includes('{{') && !/\bUID\b/.test(template)
}

function isValue(value: string | undefined): string | undefined {
  return value === undefined ? undefined : `is "${value}"`
}

/** The way in which agents of pods attest themselves. */
const PSAT = 'k8s_psat'
const OF_NODE = 'ends in the UID of their node'
const OF_POD = 'ends in the UID of their pod (use_pod_uid_for_agent_id)'

function idsOfAgents(cluster: string): string {
  return `the SPIFFE ID of the SPIRE agents of cluster "${cluster}"`
}

/** Why the server may take none of the agents, as both show it. */
function whyNoAgentTaken(setup: SpireSetup): string | undefined {
  const accounts = setup.get(ACCOUNT_OF_AGENTS) ?? []
  const taken = setup.get(ACCOUNTS_TAKEN) ?? []
  const isTaken =
    accounts.length === 0 ||
    taken.length === 0 ||
    taken.some((one) => /[{$]/.test(one) || accounts.includes(one.replaceAll('"', '').replace(':', '/')))
  return isTaken
    ? undefined
    : `${ACCOUNT_OF_AGENTS} ${shortened(accounts)}, and ${ACCOUNTS_TAKEN} ${shortened(taken)}`
}

const ACCOUNT_OF_AGENTS = 'the service account of the SPIRE agents'
const ACCOUNTS_TAKEN = 'service_account_allow_list of the SPIRE server'

function programsIn(value: JsonRecord): readonly (readonly [what: string, shown: string])[] {
  // Every object is asked, and a workload makes the pods.
  const spec = stringAt(value, 'kind') === 'Pod' ? undefined : podSpecOf(value)
  if (spec === undefined) return []
  const shown = own(own(value, 'spec'), 'replicas') === 0 ? STOPPED : RUNS
  const programs = PROGRAMS.filter((one) => runs(spec, one)).map((one) => [one, shown] as const)
  return runs(spec, 'spire-agent') ? [...programs, ...agentsOf(value, spec)] : programs
}

/** As whom agents ask the server, and on which nodes they run: a process on another one has none to ask. */
function agentsOf(value: JsonRecord, spec: unknown): readonly (readonly [what: string, shown: string])[] {
  const { namespace } = readMeta(value)
  const account = stringAt(spec, 'serviceAccountName') ?? stringAt(spec, 'serviceAccount') ?? 'default'
  const nodes = AGENT_NODES.flatMap((field) => {
    const asked = own(spec, field)
    return Object.keys(asked ?? {}).length === 0 ? [] : [`${field} ${canonicalText(asked)}`]
  })
  // An agent beside one program serves that alone, and shares its processes.
  const isOfNodes = stringAt(value, 'kind') === 'DaemonSet'
  const seesProcesses = ['hostPID of the SPIRE agents', `is "${own(spec, 'hostPID') === true}"`] as const
  return [
    ...(isOfNodes ? [seesProcesses] : []),
    [ACCOUNT_OF_AGENTS, `is ${namespace}/${account}`],
    ['the choice of nodes of the SPIRE agents', nodes.length === 0 ? 'has no conditions' : nodes.join(', ')],
  ]
}

/** Fields of a pod's spec by which nodes are chosen, and taints borne. */
const AGENT_NODES = ['nodeSelector', 'affinity', 'tolerations']

function configuredIn(value: JsonRecord): readonly (readonly [what: string, shown: string])[] {
  if (stringAt(value, 'kind') !== 'ConfigMap') return []
  return configTextsOf(value).flatMap((given) => {
    const isAgent = !isOfServer(given)
    if (isAgent && !isOfAgent(given)) return []
    const [fields, whose] = isAgent ? [OF_AGENT, 'the SPIRE agents'] : [OF_SERVER, 'the SPIRE server']
    const config = readSpireConfig(given)
    const all = `the configuration of ${whose}`
    if (config === undefined) return [[all, `cannot be read: ${given}`] as const]
    const shown = fields.flatMap((field) =>
      textsBelow(config, field).map((found) => [`${field} of ${whose}`, `is "${found}"`] as const),
    )
    const said = [[all, READ] as const, ...shown]
    const rest = settingsIn(config, WITHOUT_EFFECT).map(
      (one) => [`a setting of ${whose}`, `is ${one}`] as const,
    )
    if (!isAgent) return [...said, ...ofServer(config), ...rest]
    const isOn = textsBelow(config, TELLS_NAMESPACES).includes('true')
    return [...said, [`${TELLS_NAMESPACES} of the SPIRE agents`, `is ${isOn}`], ...ofAgent(config), ...rest]
  })
}

/** What a configuration of a server or of agents sets, but for what changes nothing; undefined: it cannot be read. */
export function settingsOfText(text: string): readonly string[] | undefined {
  const config = readSpireConfig(text)
  return config && settingsIn(config, WITHOUT_EFFECT)
}

/** How agents attest themselves, and processes. */
function ofAgent(config: SpireBlock): readonly (readonly [what: string, shown: string])[] {
  return (['NodeAttestor', 'WorkloadAttestor'] as const).flatMap((kind) =>
    namesAt(config, 'plugins', kind).map((name) => [`${kind} of the SPIRE agents`, `is "${name}"`] as const),
  )
}

/** Which agents the server takes, and which IDs it gives them. */
function ofServer(config: SpireBlock): readonly (readonly [what: string, shown: string])[] {
  const clusters = blocksAt(config, 'plugins', 'NodeAttestor', PSAT, 'plugin_data', 'clusters')
  const attestors = namesAt(config, 'plugins', 'NodeAttestor').map(
    (name) => ['NodeAttestor of the SPIRE server', `is "${name}"`] as const,
  )
  const ofClusters = [...new Set(clusters.flatMap((one) => one.map(([name]) => name)))].flatMap((name) => {
    const given = clusters.flatMap((one) => blocksAt(one, name))
    const isOfPod = given.some((one) => textsAt(one, 'use_pod_uid_for_agent_id').includes('true'))
    return [
      ['clusters of the SPIRE server', `is "${name}"`] as const,
      [idsOfAgents(name), isOfPod ? OF_POD : OF_NODE] as const,
      ...given
        .flatMap((one) => textsAt(one, 'service_account_allow_list'))
        .map((account) => [ACCOUNTS_TAKEN, `is "${account}"`] as const),
    ]
  })
  return [...attestors, ...ofClusters]
}

/** The texts of a ConfigMap. */
export function configTextsOf(value: JsonRecord): readonly string[] {
  const data = own(value, 'data')
  return isRecord(data) ? Object.values(data).filter((one) => typeof one === 'string') : []
}

/** Whether a text is the configuration of a server, which alone has one: https://github.com/spiffe/spire/blob/v1.15.3/doc/spire_server.md */
export function isOfServer(text: string): boolean {
  return /\bDataStore\b/.test(text)
}

/** The spec of a pod, or of the template of a workload. */
export function podSpecOf(value: JsonRecord): unknown {
  return stringAt(value, 'kind') === 'Pod'
    ? own(value, 'spec')
    : own(own(own(value, 'spec'), 'template'), 'spec')
}

/** The containers that run a program of SPIRE. */
export function containersOf(spec: unknown, program: SpireProgram): readonly unknown[] {
  return listAt(spec, 'containers').filter((one) => isOf(one, program))
}

/** The agent's image also holds its client (`spire-agent api`). */
function isOf(container: unknown, program: SpireProgram): boolean {
  return imageName(stringAt(container, 'image')) === program && !wordsOf(container).includes('api')
}

/** Whether a container runs any program of SPIRE. */
export function isPartOfSpire(container: unknown): boolean {
  return PROGRAMS.some((one) => isOf(container, one))
}

/** Whether a pod runs any program of SPIRE. */
export function runsSpire(spec: unknown): boolean {
  return listAt(spec, 'containers').some(isPartOfSpire)
}

/** Whether a pod runs a program of SPIRE. */
export function runs(spec: unknown, program: SpireProgram): boolean {
  return containersOf(spec, program).length > 0
}

/** A set-up as one text. */
export function setupText(setup: SpireSetup): string {
  return canonicalText([...setup])
}
