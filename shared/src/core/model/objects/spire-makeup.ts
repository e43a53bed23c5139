// What SPIRE's own parts, and kleym's operator, are made of: how they are started, what they mount, by which Services they are reached, and
// what they may do. Whether one works does not show; that a change makes it of something else does. Nothing here is a list of what matters:
// whatever differs counts, but for what no program is started by.
import { canonicalText, isRecord, own, recordsAt, stringAt, type JsonRecord } from '../../base/json.ts'
import { kindKey, kindOf } from '../kinds.ts'
import { SCM_CONFIG_KIND } from '../subject-groups.ts'
import { namespacedName } from '../namespaced-name.ts'
import { isOfNamespace, lostRight, RIGHTS_KINDS, rightsAmong, type Rights } from './account-rights.ts'
import { isOfAgent } from './agent-config.ts'
import { readMeta } from './meta.ts'
import type { RawObject } from './raw.ts'
import { configTextsOf, isOfServer, isPartOfSpire, podSpecOf, runsSpire } from './spire-setup.ts'
import { imageName, SPIFFE_CSI_DRIVER } from './workload-api.ts'

const SERVICE = 'Service'
const CSI_DRIVER = 'CSIDriver.storage.k8s.io'
const NETWORK_POLICY = 'NetworkPolicy.networking.k8s.io'
const VALIDATING_WEBHOOK = 'ValidatingWebhookConfiguration.admissionregistration.k8s.io'

/** The kinds that only say how SPIRE and kleym run, with their groups, and whether they have a namespace. No answer reads them otherwise. */
export const PART_KINDS: ReadonlyMap<string, boolean> = new Map([
  [SERVICE, true],
  [NETWORK_POLICY, true],
  [CSI_DRIVER, false],
  [VALIDATING_WEBHOOK, false],
  ...RIGHTS_KINDS.map((kind) => [kind, isOfNamespace(kind)] as const),
])

/** An object, by what it is made of. */
interface Part {
  /** Nothing that an API server fills in is in it. */
  readonly isManifest: boolean
  /** Whether it takes something away from others by being there. */
  readonly restricts: boolean
  /** A value by its path. */
  readonly facts: ReadonlyMap<string, string>
}

/** SPIRE's parts and kleym's operator. */
export interface SpireMakeup {
  /** By kind, namespace and name. */
  readonly parts: ReadonlyMap<string, Part>
  /** By namespace and name of the account. */
  readonly rights: ReadonlyMap<string, Rights>
}

/** Nothing is known of them. */
export const NO_PARTS: SpireMakeup = { parts: new Map(), rights: new Map() }

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

/** Reads the parts among the objects; `beside` are those of `PART_KINDS`. */
export function spireMakeup(objects: readonly RawObject[], beside: readonly RawObject[]): SpireMakeup {
  const runners = runnersAmong(objects)
  if (runners.length === 0) return NO_PARTS
  const ofSpire = runners.filter(({ spec }) => runsSpire(spec))
  const configMaps = new Map(
    objects.flatMap(({ value }) => (kindKey(value) === 'ConfigMap' ? [[nameOf(value), value] as const] : [])),
  )
  const namespaces = new Set(ofSpire.map(({ namespace }) => namespace))
  const around = beside.filter(({ value }) => isAround(value, ofSpire, namespaces))
  const ofNamespaces = objects.filter(
    ({ value }) => kindKey(value) === 'Namespace' && namespaces.has(readMeta(value).name),
  )
  const rightsOf = rightsAmong(beside.filter(({ value }) => RIGHTS_KINDS.includes(kindKey(value))))
  return {
    parts: new Map([
      ...ofSpire.map((one) => partOf(one.object, factsOfPods(one, configMaps))),
      ...around.map((one) => partOf(one, leavesOf(withoutBundles(one.value), ''))),
      ...ofNamespaces.map((one) => partOf(one, admissionOf(one.value))),
    ]),
    rights: new Map(
      runners.map(({ namespace, spec }) => {
        const account = stringAt(spec, 'serviceAccountName') ?? stringAt(spec, 'serviceAccount') ?? 'default'
        return [namespacedName(namespace, account), rightsOf(namespace, account)]
      }),
    ),
  }
}

/** In what the parts of one side are made otherwise than those of the other, as a sentence; undefined: in nothing that both show. */
export function partsDifference(before: SpireMakeup, after: SpireMakeup): string | undefined {
  for (const [name, from] of before.parts) {
    const to = after.parts.get(name)
    if (to === undefined) return `${name} is there on one side, and not on the other`
    const differing = differingFact(from, to)
    if (differing !== undefined) return `${name} has another ${differing} on the other side`
  }
  const areManifests = before.parts.size > 0 && [...before.parts.values()].every((one) => one.isManifest)
  const added = [...after.parts].find(
    ([name, { restricts }]) => areManifests && restricts && !before.parts.has(name),
  )
  if (added !== undefined) return `${added[0]} is there on one side, and not on the other`
  for (const [account, had] of before.rights) {
    const lost = lostRight(had, after.rights.get(account) ?? [])
    if (lost !== undefined) return `ServiceAccount ${account} ${lost} on one side, and not on the other`
  }
  return undefined
}

/** The parts as one text. */
export function partsText({ parts, rights }: SpireMakeup): string {
  return canonicalText([[...parts].map(([name, { facts }]) => [name, [...facts]]), [...rights]])
}

/** What one side alone says counts if nothing fills in what it leaves out. */
function differingFact(from: Part, to: Part): string | undefined {
  const areManifests = from.isManifest && to.isManifest
  const paths = new Set([...from.facts.keys(), ...to.facts.keys()])
  return [...paths].find((path) => {
    const [left, right] = [from.facts.get(path), to.facts.get(path)]
    return left === undefined || right === undefined ? areManifests : left !== right
  })
}

function partOf(
  { value, isManifest }: RawObject,
  facts: ReadonlyMap<string, string> | readonly (readonly [string, string])[],
): readonly [string, Part] {
  const part = { isManifest: isManifest === true, restricts: kindKey(value) === NETWORK_POLICY }
  return [`${kindOf(value).kind} ${nameOf(value)}`, { ...part, facts: new Map(facts) }]
}

function nameOf(value: unknown): string {
  const { namespace, name } = readMeta(value)
  return namespace === '' ? name : namespacedName(namespace, name)
}

/** By the image: its settings are read elsewhere, and what is asked here is as whom it runs. */
function runsOperator(spec: unknown): boolean {
  return recordsAt(spec, 'containers').some((one) =>
    /^kleym(?:-operator)?$/.test(imageName(stringAt(one, 'image'))),
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
  { namespace, spec }: Runner,
  configMaps: ReadonlyMap<string, JsonRecord>,
): ReadonlyMap<string, string> {
  // What runs beside a program of SPIRE does not keep it from running; what runs before it does.
  const containers = CONTAINERS.map((list) => [
    list,
    recordsAt(spec, list)
      .filter((one) => list === 'initContainers' || isPartOfSpire(one))
      .map((one) => ({ ...withEffect(one), image: imageName(stringAt(one, 'image')) })),
  ])
  const pod = isRecord(spec) ? { ...withEffect(spec), ...Object.fromEntries(containers) } : {}
  return new Map(leavesOf(pod, 'pod', (name) => configMaps.get(namespacedName(namespace, name))))
}

function withEffect(fields: JsonRecord): JsonRecord {
  return Object.fromEntries(Object.entries(fields).filter(([key]) => !WITHOUT_EFFECT.has(key)))
}

type Leaves = readonly (readonly [path: string, value: string])[]

/**
 * The values of an object by their paths, nothing for what is empty. In the place of a ConfigMap that is named stands what it holds: its name
 * may be generated.
 */
function leavesOf(
  value: unknown,
  path: string,
  configMapNamed: (name: string) => JsonRecord | undefined = () => undefined,
): Leaves {
  const below = (one: unknown, at: string): Leaves => leavesOf(one, at, configMapNamed)
  if (Array.isArray(value)) {
    const items: readonly unknown[] = value
    if (items.length > 0 && !items.every(isRecord)) return [[path, canonicalText(value)]]
    const names = items.map((one) => stringAt(one, 'name'))
    const areNamed = !names.includes(undefined) && new Set(names).size === names.length
    return items.flatMap((one, at) => below(one, `${path}[${areNamed ? names[at] : at}]`))
  }
  if (!isRecord(value)) return [[path, canonicalText(value)]]
  return Object.entries(value).flatMap(([key, one]): Leaves => {
    const at = path === '' ? key : `${path}.${key}`
    const found = key.startsWith('configMap') ? configMapNamed(stringAt(one, 'name') ?? '') : undefined
    if (found === undefined || !isRecord(one)) return below(one, at)
    const { name: _, ...rest } = one
    return [[`content of ${at}`, contentOf(found)], ...below(rest, at)]
  })
}

/** What a ConfigMap holds beside the configurations that are compared setting by setting. */
function contentOf(configMap: JsonRecord): string {
  const compared = new Set(configTextsOf(configMap).filter(isComparedElsewhere))
  const data = own(configMap, 'data')
  const rest = Object.entries(isRecord(data) ? data : {}).map(([key, text]) => [
    key,
    typeof text === 'string' && compared.has(text) ? '' : text,
  ])
  return canonicalText([Object.fromEntries(rest), own(configMap, 'binaryData') ?? null])
}

function isComparedElsewhere(text: string): boolean {
  return isOfServer(text) || isOfAgent(text) || text.includes(SCM_CONFIG_KIND)
}
