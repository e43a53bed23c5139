// What SPIRE's own parts, and kleym's operator, are made of: how they are started, what they mount, by which Services they are reached, and
// what they may do. Whether one works does not show; that a change makes it of something else does. Nothing here is a list of what matters:
// whatever differs counts, but for what no program is started by.
import {
  canonicalText,
  isRecord,
  own,
  recordsAt,
  stringAt,
  textsAt,
  type JsonRecord,
} from '../../base/json.ts'
import { INSTALL_KINDS, kindKey, kindOf, qualifiedKind } from '../kinds.ts'
import { SCM_CONFIG_KIND } from '../subject-groups.ts'
import { CLASS_NAME_FLAG } from '../names.ts'
import { namespacedName } from '../namespaced-name.ts'
import { unknownReasonText, type UnknownReason } from '../unknown-reason.ts'
import { lostRight, RIGHTS_KINDS, rightsAmong, type Rights } from './account-rights.ts'
import { isOfAgent } from './agent-config.ts'
import { isDropped, isFilledIn } from './filled-in.ts'
import { readMeta } from './meta.ts'
import { objectKey } from './object-key.ts'
import type { RawObject } from './raw.ts'
import {
  configTextsOf,
  isOfServer,
  isPartOfSpire,
  podSpecOf,
  runsSpire,
  settingsOfText,
} from './spire-setup.ts'
import { imageName, SPIFFE_CSI_DRIVER } from './workload-api.ts'

const SERVICE = 'Service'
const CSI_DRIVER = 'CSIDriver.storage.k8s.io'
const NETWORK_POLICY = 'NetworkPolicy.networking.k8s.io'
const VALIDATING_WEBHOOK = 'ValidatingWebhookConfiguration.admissionregistration.k8s.io'

const CONFIG_MAP = 'ConfigMap'

/** `INSTALL_KINDS`, qualified, and whether they have a namespace. */
export const PART_KINDS: ReadonlyMap<string, boolean> = new Map(
  INSTALL_KINDS.map((kind) => [qualifiedKind(kind), kind.namespaced]),
)

/** An object, by what it is made of. */
interface Part {
  /** Nothing that an API server fills in is in it. */
  readonly isManifest: boolean
  /** Whether it takes something away from others by being there. */
  readonly restricts: boolean
  /** Whether it runs a program of SPIRE. */
  readonly runsSpire: boolean
  readonly isOperator: boolean
  /** A value by its path. */
  readonly facts: ReadonlyMap<string, string>
}

/** SPIRE's parts and kleym's operator. */
export interface SpireMakeup {
  /** By kind, namespace and name. */
  readonly parts: ReadonlyMap<string, Part>
  /** By namespace and name of the account. */
  readonly rights: ReadonlyMap<string, Rights>
  /** What a comparison asks for and could not be read, each with the reason; by kind and name. */
  readonly unread: UnreadParts
}

/** Objects that could not be read, each with the reason; by kind and name. */
export type UnreadParts = ReadonlyMap<string, UnknownReason>

/** Nothing is known of them. */
export const NO_PARTS: SpireMakeup = { parts: new Map(), rights: new Map(), unread: new Map() }

/** The workload of a part. */
interface Runner {
  readonly object: RawObject
  readonly namespace: string
  readonly spec: unknown
  readonly labels: ReadonlyMap<string, string>
}

/** Whether a part is among the objects: without one, those of `PART_KINDS` are about nothing. */
export function hasParts(objects: readonly RawObject[]): boolean {
  return runnersAmong(objects).length > 0
}

function runnersAmong(objects: readonly RawObject[]): readonly Runner[] {
  return objects.flatMap((object): readonly Runner[] => {
    if (stringAt(object.value, 'kind') === 'Pod') return []
    const spec = podSpecOf(object.value)
    if (spec === undefined || !(runsSpire(spec) || runsOperator(spec))) return []
    const { labels } = readMeta(own(own(object.value, 'spec'), 'template'))
    return [{ object, namespace: readMeta(object.value).namespace, spec, labels }]
  })
}

/** Where a comparison asks for an object. */
export interface ObjectAsked {
  /** Qualified. */
  readonly kind: string
  /** Empty: it has none. */
  readonly namespace: string
  readonly name: string
}

/** What is compared with what is live. */
export interface InstallEdit {
  /** What was read of the cluster. */
  readonly live: readonly RawObject[]
  /** Whether that is of all namespaces, so that every part is among it. */
  readonly isAll: boolean
  readonly files: readonly RawObject[]
  /** Those of the files of `PART_KINDS`. */
  readonly beside: readonly RawObject[]
}

/**
 * What a comparison asks the cluster for because of the files: each object of them that may say how a part runs, before or after, and the
 * ConfigMaps that either version of an edited workload names. What is certainly about something else is left out, and nothing but that.
 */
export function objectsAsked({ live, isAll, files, beside }: InstallEdit): readonly ObjectAsked[] {
  const runners = runnersAmong([...live, ...files])
  const namespaces = new Set(runners.map(({ namespace }) => namespace))
  const edited = new Set(files.map(({ value }) => objectKey(value)))
  const isAboutNoPart = (value: JsonRecord): boolean => {
    if (isAll && runners.length === 0) return true
    const { namespace, name } = readMeta(value)
    const kind = kindKey(value)
    if (kind === CSI_DRIVER) return name !== SPIFFE_CSI_DRIVER
    return [SERVICE, NETWORK_POLICY, CONFIG_MAP].includes(kind) && !namespaces.has(namespace)
  }
  const given = [...beside, ...files.filter(({ value }) => kindKey(value) === CONFIG_MAP)].filter(
    ({ value }) => configTextsOf(value).some(isConfiguration) || !isAboutNoPart(value),
  )
  const named = runners.flatMap(({ object, namespace, spec }): readonly ObjectAsked[] => {
    if (!edited.has(objectKey(object.value))) return []
    const names = new Set<string>()
    const configMapNamed = (name: string): undefined => void names.add(name)
    leavesOf(spec, '', { configMapNamed })
    return [...names].map((name) => ({ kind: CONFIG_MAP, namespace, name }))
  })
  const asked = [
    ...given.map(({ value }) => {
      const { namespace, name } = readMeta(value)
      return { kind: kindKey(value), namespace, name }
    }),
    ...named,
  ]
  return [...new Map(asked.map((one) => [JSON.stringify(one), one])).values()].filter(
    ({ name }) => name !== '',
  )
}

/** Reads the parts among the objects; `beside` are those of `PART_KINDS`. */
export function spireMakeup(
  objects: readonly RawObject[],
  beside: readonly RawObject[],
  unread: UnreadParts = NO_PARTS.unread,
): SpireMakeup {
  const runners = runnersAmong(objects)
  if (runners.length === 0) return unread.size === 0 ? NO_PARTS : { ...NO_PARTS, unread }
  const ofSpire = runners.filter(({ spec }) => runsSpire(spec))
  const configMaps = new Map(
    objects.flatMap(({ value }) => (kindKey(value) === CONFIG_MAP ? [[nameOf(value), value] as const] : [])),
  )
  const namespaces = new Set(ofSpire.map(({ namespace }) => namespace))
  const around = beside.filter(({ value }) => isAround(value, ofSpire, namespaces))
  const ofNamespaces = objects.filter(
    ({ value }) => kindKey(value) === 'Namespace' && namespaces.has(readMeta(value).name),
  )
  const rightsOf = rightsAmong(beside.filter(({ value }) => RIGHTS_KINDS.includes(kindKey(value))))
  return {
    parts: new Map([
      ...runners.map((one) => partOf(one.object, factsOfPods(one, configMaps))),
      ...around.map((one) => partOf(one, factsAround(one.value))),
      ...ofNamespaces.map((one) => partOf(one, admissionOf(one.value))),
    ]),
    rights: new Map(
      runners.map(({ namespace, spec }) => {
        const account = stringAt(spec, 'serviceAccountName') ?? stringAt(spec, 'serviceAccount') ?? 'default'
        return [namespacedName(namespace, account), rightsOf(namespace, account)]
      }),
    ),
    unread,
  }
}

/** In what the parts of one side are made otherwise than those of the other, as a sentence; undefined: in nothing that both show. */
export function partsDifference(before: SpireMakeup, after: SpireMakeup): string | undefined {
  const [unread] = before.unread
  if (unread !== undefined)
    return `whether ${unread[0]} is the same on both sides is not known: ${unknownReasonText(unread[1])}`
  for (const [name, from] of before.parts) {
    const to = after.parts.get(name)
    // That no operator is left is a finding of its own, and another one may stand in its place.
    if (to === undefined && from.isOperator) continue
    if (to === undefined) return `${name} is there on one side, and not on the other`
    const differing = differingFact(from, to)
    if (differing !== undefined) return `${name} has another ${differing} on the other side`
  }
  const hadSpire = [...before.parts.values()].some((one) => one.runsSpire)
  for (const [name, { restricts }] of hadSpire ? after.parts : [])
    if (restricts && !before.parts.has(name)) return `${name} is there on one side, and not on the other`
  for (const [account, had] of before.rights) {
    const lost = lostRight(had, after.rights.get(account) ?? [])
    if (lost !== undefined) return `ServiceAccount ${account} ${lost} on one side, and not on the other`
  }
  return undefined
}

/** The parts as one text. */
export function partsText({ parts, rights, unread }: SpireMakeup): string {
  return canonicalText([
    [...parts].map(([name, { facts }]) => [name, [...facts]]),
    [...rights],
    [...unread.keys()],
  ])
}

function differingFact(from: Part, to: Part): string | undefined {
  const paths = new Set([...from.facts.keys(), ...to.facts.keys()])
  return [...paths].find((path) => {
    const [left, right] = [from.facts.get(path), to.facts.get(path)]
    if (left === undefined) return right !== undefined && isOnlyIn(to, from, path)
    if (right === undefined) return isOnlyIn(from, to, path)
    // What a manifest leaves empty, a program fills in.
    const isFilled = (from.isManifest && left === EMPTY) || (to.isManifest && right === EMPTY)
    return left !== right && !(from.isManifest !== to.isManifest && isFilled)
  })
}

/** Whether what one side alone says is a difference: beside a live object a manifest lacks what the API server fills in. */
function isOnlyIn(one: Part, other: Part, path: string): boolean {
  if (one.isManifest === other.isManifest) return true
  return one.isManifest ? !isDropped(path, one.facts) : !isFilledIn(path, one.facts, other.facts)
}

/** The content of a ConfigMap that holds nothing. */
const EMPTY = ''

function partOf(
  { value, isManifest }: RawObject,
  facts: ReadonlyMap<string, string> | readonly (readonly [string, string])[],
): readonly [string, Part] {
  const spec = podSpecOf(value)
  const part = {
    isManifest: isManifest === true,
    restricts: kindKey(value) === NETWORK_POLICY,
    runsSpire: runsSpire(spec),
    isOperator: runsOperator(spec) && !runsSpire(spec),
  }
  return [`${kindOf(value).kind} ${nameOf(value)}`, { ...part, facts: new Map(facts) }]
}

function nameOf(value: unknown): string {
  const { namespace, name } = readMeta(value)
  return namespace === '' ? name : namespacedName(namespace, name)
}

function runsOperator(spec: unknown): boolean {
  return recordsAt(spec, 'containers').some(isOperator)
}

/** Its settings are read elsewhere: what is asked here is as whom it runs, and whether it starts. */
function isOperator(container: unknown): boolean {
  return (
    /^kleym(?:-operator)?$/.test(imageName(stringAt(container, 'image'))) ||
    textsAt(container, 'args').some((one) => one.startsWith(CLASS_NAME_FLAG))
  )
}

/** Whether an object is about the pods of a part, or about their Services. */
function isAround(value: JsonRecord, runners: readonly Runner[], namespaces: ReadonlySet<string>): boolean {
  const { namespace, name } = readMeta(value)
  const spec = own(value, 'spec')
  const selects = (selector: unknown, isAll: boolean): boolean =>
    runners.some((one) => one.namespace === namespace && isOn(one.labels, selector, isAll))
  switch (kindKey(value)) {
    case SERVICE:
      return selects(own(spec, 'selector'), false)
    case NETWORK_POLICY:
      return selects(own(own(spec, 'podSelector'), 'matchLabels'), true)
    case CSI_DRIVER:
      return name === SPIFFE_CSI_DRIVER
    case VALIDATING_WEBHOOK:
      return recordsAt(value, 'webhooks').some((one) =>
        namespaces.has(stringAt(own(own(one, 'clientConfig'), 'service'), 'namespace') ?? ''),
      )
    default:
      return false
  }
}

/** Whether labels have all that is asked; where nothing is, `isAll` says whether that means all of them. */
function isOn(labels: ReadonlyMap<string, string>, selector: unknown, isAll: boolean): boolean {
  const asked = isRecord(selector) ? Object.entries(selector) : []
  return asked.length === 0 ? isAll : asked.every(([key, value]) => labels.get(key) === value)
}

/** What is empty in a policy of the network stands for all. */
function factsAround(value: JsonRecord): Leaves {
  const isAnything = kindKey(value) === NETWORK_POLICY
  return leavesOf(withoutBundles(value), '', { empty: isAnything ? ANYTHING : undefined })
}

/** SCM fills it in when it runs. */
function withoutBundles(value: JsonRecord): JsonRecord {
  const { apiVersion: _, kind: __, metadata: ___, status: ____, ...fields } = value
  const webhooks = recordsAt(value, 'webhooks').map(({ clientConfig, ...one }) => {
    const { caBundle: _bundle, ...config } = isRecord(clientConfig) ? clientConfig : {}
    return { ...one, clientConfig: config }
  })
  return webhooks.length === 0 ? fields : { ...fields, webhooks }
}

/** Which pods the API server takes in a namespace: https://kubernetes.io/docs/concepts/security/pod-security-admission/ */
function admissionOf(value: JsonRecord): readonly (readonly [string, string])[] {
  const asked = [...readMeta(value).labels].filter(([key]) =>
    key.startsWith('pod-security.kubernetes.io/enforce'),
  )
  return [['pod security', canonicalText(Object.fromEntries(asked))]]
}

/** Fields of a pod and of a container by which no program is started, and none is given anything. */
const WITHOUT_EFFECT: ReadonlySet<string> = new Set([
  'resources',
  'livenessProbe',
  'readinessProbe',
  'startupProbe',
  'imagePullPolicy',
  'terminationGracePeriodSeconds',
  'terminationMessagePath',
  'terminationMessagePolicy',
  'topologySpreadConstraints',
])
const CONTAINERS = ['initContainers', 'containers'] as const

function factsOfPods(
  { object, namespace, spec }: Runner,
  configMaps: ReadonlyMap<string, JsonRecord>,
): ReadonlyMap<string, string> {
  // What runs beside a program of SPIRE does not keep it from running; what runs before it does.
  const containers = CONTAINERS.map((list) => [
    list,
    recordsAt(spec, list)
      .filter((one) => list === 'initContainers' || isPartOfSpire(one) || isOperator(one))
      .map((one) => ({
        ...withEffect(one, isOperator(one) ? SETTINGS : undefined),
        image: imageName(stringAt(one, 'image')),
      })),
  ])
  const pod = isRecord(spec) ? { ...withEffect(spec), ...Object.fromEntries(containers) } : {}
  const configMapNamed = (name: string): JsonRecord | undefined =>
    configMaps.get(namespacedName(namespace, name))
  const leaves = leavesOf(pod, 'pod', { configMapNamed })
  // That the operator is stopped is a finding of its own.
  const isStopped = runsSpire(spec) && own(own(object.value, 'spec'), 'replicas') === 0
  return new Map([...leaves, ...(isStopped ? [['number of replicas', 'none'] as const] : [])])
}

/** Of the operator: what is read as its settings. */
const SETTINGS: ReadonlySet<string> = new Set(['args', 'env', 'envFrom', 'ports'])

function withEffect(fields: JsonRecord, settings?: ReadonlySet<string>): JsonRecord {
  return Object.fromEntries(
    Object.entries(fields).filter(([key]) => !WITHOUT_EFFECT.has(key) && settings?.has(key) !== true),
  )
}

type Leaves = readonly (readonly [path: string, value: string])[]

/** How the values of an object are told. */
interface Telling {
  readonly configMapNamed?: (name: string) => JsonRecord | undefined
  /** What stands for a record without fields; undefined: it says nothing. */
  readonly empty?: string | undefined
}

/** The value of an empty record that says something. */
const ANYTHING = '{}'

/**
 * The values of an object by their paths. In the place of a ConfigMap that is named stands what it holds: its name may be generated.
 */
function leavesOf(value: unknown, path: string, telling: Telling): Leaves {
  const { configMapNamed, empty } = telling
  const below = (one: unknown, at: string): Leaves => leavesOf(one, at, telling)
  if (Array.isArray(value)) {
    const items: readonly unknown[] = value
    if (items.length > 0 && !items.every(isRecord)) return [[path, canonicalText(value)]]
    const names = items.map((one) => stringAt(one, 'name'))
    const areNamed = !names.includes(undefined) && new Set(names).size === names.length
    return items.flatMap((one, at) => below(one, `${path}[${areNamed ? names[at] : at}]`))
  }
  if (!isRecord(value)) return [[path, canonicalText(value)]]
  const fields = Object.entries(value)
  if (fields.length === 0 && empty !== undefined) return [[path, empty]]
  return fields.flatMap(([key, one]): Leaves => {
    const at = path === '' ? key : `${path}.${key}`
    const found = key.startsWith('configMap') ? configMapNamed?.(stringAt(one, 'name') ?? '') : undefined
    if (found === undefined || !isRecord(one)) return below(one, at)
    const { name: _, ...rest } = one
    return [[`content of ${at}`, contentOf(found)], ...below(rest, at)]
  })
}

/** What a ConfigMap holds: of a server's configuration and of that of agents their settings, and not that of SCM, which is compared elsewhere. */
function contentOf(configMap: JsonRecord): string {
  const data = own(configMap, 'data')
  const rest = Object.entries(isRecord(data) ? data : {}).map(([key, text]) => [
    key,
    typeof text === 'string' && isConfiguration(text) ? settingsOf(text) : text,
  ])
  const { binaryData } = configMap
  return rest.length === 0 && binaryData === undefined
    ? EMPTY
    : canonicalText([Object.fromEntries(rest), binaryData ?? null])
}

function isConfiguration(text: string): boolean {
  return isOfServer(text) || isOfAgent(text) || text.includes(SCM_CONFIG_KIND)
}

/** Two servers may swap what they are set to: of all parts together the settings are then the same. */
function settingsOf(text: string): unknown {
  return text.includes(SCM_CONFIG_KIND) ? '' : (settingsOfText(text) ?? text)
}
