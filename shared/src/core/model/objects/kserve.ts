// What KServe's controller makes of an LLMInferenceService, before it exists: the pool, and the workloads of its pods.
// Source: https://github.com/kserve/kserve/tree/v0.20.0/pkg/controller/v1alpha2/llmisvc (config_merge.go, workload_*.go,
// scheduler.go) and config/llmisvcconfig. The configuration objects that KServe ships count as shipped, unless they are given.
import { dig, isRecord, listAt, own, stringAt, type JsonRecord } from '../../base/json.ts'
import { kindOf, POOL_KIND, POOL_KINDS, qualifiedKind } from '../kinds.ts'
import { readPool } from './inference.ts'
import { readMeta, readStringMap, type ObjectMeta } from './meta.ts'
import type { MadeObject, RawObject } from './raw.ts'

/** The kind of the objects that services take their fields from. */
export const CONFIG_KIND = 'LLMInferenceServiceConfig.serving.kserve.io'

const SIDECAR = 'llm-d-routing-sidecar'
const MAIN = { containers: [{ name: 'main' }] }
const PART_OF = 'llminferenceservice'

/**
 * What KServe's own configuration objects say of identities, by the ends of their names; the others (several nodes with prefill and decode,
 * pipeline parallelism) must be given.
 */
const SHIPPED: Readonly<Record<string, JsonRecord>> = {
  'config-llm-scheduler': { router: { scheduler: { pool: { spec: {} }, template: MAIN } } },
  'config-llm-template': { template: MAIN },
  'config-llm-decode-template': {
    template: { ...MAIN, initContainers: [{ name: SIDECAR, restartPolicy: 'Always' }] },
  },
  'config-llm-prefill-template': { prefill: { template: MAIN } },
  'config-llm-worker-data-parallel': { template: MAIN, worker: MAIN },
}

/** What is made of an LLMInferenceService; undefined: it takes something from an object that is not given. */
export function llmInferenceService(
  object: JsonRecord,
  meta: ObjectMeta,
  others: readonly RawObject[],
): readonly MadeObject[] | undefined {
  if (meta.annotations.get('serving.kserve.io/stop') === 'true') return []
  const spec = mergedSpec(object, meta, others)
  const names = childNames(meta.name)
  const scheduler = dig(spec, 'router', 'scheduler')
  const poolRef = stringAt(scheduler, 'pool', 'ref', 'name')
  const ofPool = poolRef === undefined ? NO_LABELS : poolLabels(meta.namespace, poolRef, others)
  const storage = storageOf(spec)
  if (spec === undefined || names === undefined || ofPool === undefined || storage === undefined)
    return undefined
  const service: Service = { meta, spec, ofPool, storage }
  const made = [
    ...workloads(service, spec, names.main, false),
    ...(isRecord(own(spec, 'prefill'))
      ? workloads(service, recordAt(spec, 'prefill'), names.prefill, true)
      : []),
    ...(isRecord(scheduler) ? schedulerOf(service, scheduler, names) : []),
    ...(isRecord(scheduler) && poolRef === undefined ? poolOf(service, scheduler, names.pool) : []),
  ]
  return made.every(isFilledIn) ? made : undefined
}

interface Service {
  readonly meta: ObjectMeta
  readonly spec: JsonRecord
  /** The labels of a pool that is named, which its pods get. */
  readonly ofPool: ReadonlyMap<string, string>
  readonly storage: Storage
}

const NO_LABELS: ReadonlyMap<string, string> = new Map()

/** Longer names hold a hash. */
const LONGEST = 63

/** The names of what is made; undefined where one would hold a hash. */
function childNames(name: string) {
  const child = (suffix: string): string => `${name}${suffix}`
  const names = {
    pool: child('-inference-pool'),
    scheduler: child('-epp-sa'),
    main: { single: child('-kserve'), group: child('-kserve-mn') },
    prefill: { single: child('-kserve-prefill'), group: child('-kserve-mn-prefill') },
  }
  return names.prefill.group.length > LONGEST ? undefined : names
}

/** The fields of a service with those of the objects that it takes from; undefined where one of them is not given. */
function mergedSpec(
  object: JsonRecord,
  { namespace, name }: ObjectMeta,
  others: readonly RawObject[],
): JsonRecord | undefined {
  const spec = recordAt(object, 'spec')
  const configs = others.filter(({ value }) => qualifiedKind(kindOf(value)) === CONFIG_KIND)
  const named = listAt(spec, 'baseRefs').map((ref) => {
    const wanted = stringAt(ref, 'name')
    return nearest(namespace, configs, (one) => one === wanted)
  })
  const asked = [spec, ...named].reduce<unknown>((under, one) => merged(under, one), {})
  const shipped = wellKnown(asked).map(
    (end) => nearest(namespace, configs, (one) => one.endsWith(end)) ?? SHIPPED[end],
  )
  const all = [...shipped, ...named]
  if (!all.every((one) => one !== undefined)) return undefined
  const whole = [...all, spec].reduce<unknown>((under, one) => merged(under, one), {})
  const filled = rendered(whole, { namespace, name })
  return isRecord(filled) ? filled : undefined
}

/** The spec of the one object of a name, in the namespace of the service or in that of KServe. */
function nearest(
  namespace: string,
  configs: readonly RawObject[],
  isMeant: (name: string) => boolean,
): JsonRecord | undefined {
  const found = configs.filter(({ value }) => isMeant(readMeta(value).name))
  const near = found.filter(({ value }) => readMeta(value).namespace === namespace)
  const [one, another] = near.length > 0 ? near : found
  return one === undefined || another !== undefined ? undefined : recordAt(one.value, 'spec')
}

/** The ends of the names of KServe's own objects that a service takes from. */
function wellKnown(spec: unknown): readonly string[] {
  const scheduler = dig(spec, 'router', 'scheduler')
  const prefill = own(spec, 'prefill')
  const takesScheduler = isRecord(scheduler) && dig(scheduler, 'pool', 'ref') === undefined
  return [
    ...(takesScheduler ? ['config-llm-scheduler'] : []),
    ...(isRecord(prefill)
      ? [`config-llm-prefill-${shapeOf(prefill)}`, `config-llm-decode-${shapeOf(spec)}`]
      : [`config-llm-${shapeOf(spec)}`]),
  ]
}

function shapeOf(workload: unknown): string {
  if (!isRecord(own(workload, 'worker'))) return 'template'
  return isDataParallel(workload) ? 'worker-data-parallel' : 'worker-pipeline-parallel'
}

function isDataParallel(workload: unknown): boolean {
  const parallelism = own(workload, 'parallelism')
  return own(parallelism, 'data') !== undefined || own(parallelism, 'dataLocal') !== undefined
}

/** As a strategic merge patch, as far as it decides here: mappings by key, lists of named things by name, all else is replaced. */
function merged(under: unknown, over: unknown): unknown {
  if (over === undefined) return under
  if (isRecord(under) && isRecord(over)) {
    const keys = new Set([...Object.keys(under), ...Object.keys(over)])
    return Object.fromEntries([...keys].map((key) => [key, merged(own(under, key), own(over, key))]))
  }
  if (!Array.isArray(under) || !Array.isArray(over) || ![...under, ...over].every(isNamed)) return over
  const names = new Set([...under, ...over].map((one) => stringAt(one, 'name')))
  return [...names].map((name) => merged(itemOf(under, name), itemOf(over, name)))
}

function itemOf(list: readonly unknown[], name: string | undefined): unknown {
  return list.find((one) => stringAt(one, 'name') === name)
}

function isNamed(value: unknown): boolean {
  return stringAt(value, 'name') !== undefined
}

const NAME_OF = /\{\{-?\s*\.ObjectMeta\.(Name|Namespace)\s*-?\}\}/g
const CHILD_OF = /\{\{-?\s*ChildName\s+\.ObjectMeta\.Name\s+[`"]([a-z0-9-]+)[`"]\s*-?\}\}/g

/** Names that KServe fills in; other actions stay as they are. */
function rendered(value: unknown, { namespace, name }: { namespace: string; name: string }): unknown {
  if (typeof value === 'string')
    return value
      .replace(NAME_OF, (_, which: string) => (which === 'Name' ? name : namespace))
      .replace(CHILD_OF, (_, suffix: string) => `${name}${suffix}`)
  if (Array.isArray(value)) return value.map((one) => rendered(one, { namespace, name }))
  if (!isRecord(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => [key, rendered(one, { namespace, name })]),
  )
}

/** Containers that fetch the model. */
interface Storage {
  readonly containers: readonly JsonRecord[]
  readonly initContainers: readonly JsonRecord[]
}

/** Undefined for an address that the controller does not take. */
function storageOf(spec: unknown): Storage | undefined {
  const [scheme] = (stringAt(spec, 'model', 'uri') ?? '').split('://')
  const none = { containers: [], initContainers: [] }
  if (dig(spec, 'storageInitializer', 'enabled') === false || scheme === 'pvc') return none
  if (scheme === 'hf' || scheme === 's3')
    return { ...none, initContainers: [{ name: 'storage-initializer' }] }
  return scheme === 'oci'
    ? { containers: [{ name: 'modelcar' }], initContainers: [{ name: 'modelcar-init' }] }
    : undefined
}

/** The labels by which a pool that is named selects pods; undefined where it is not given. */
function poolLabels(
  namespace: string,
  name: string,
  others: readonly RawObject[],
): ReadonlyMap<string, string> | undefined {
  for (const { group } of POOL_KINDS)
    for (const raw of others) {
      const { kind, group: of } = kindOf(raw.value)
      const meta = readMeta(raw.value)
      if (kind === POOL_KIND && of === group && meta.namespace === namespace && meta.name === name) {
        const { selector } = readPool(raw, group)
        return selector.ok ? selector.labels : undefined
      }
    }
  return undefined
}

/** A Deployment, or a LeaderWorkerSet where there are workers. */
function workloads(
  service: Service,
  workload: JsonRecord,
  names: { readonly single: string; readonly group: string },
  isPrefill: boolean,
): readonly MadeObject[] {
  const { meta, spec } = service
  const template = own(workload, 'template')
  const worker = own(workload, 'worker')
  const suffix = isPrefill ? '-prefill' : ''
  const role = isPrefill ? 'prefill' : isRecord(own(spec, 'prefill')) ? 'decode' : 'both'
  const component = (which: string): Record<string, string> => ({
    'app.kubernetes.io/component': `${PART_OF}-workload${which}${suffix}`,
    'app.kubernetes.io/name': meta.name,
    'app.kubernetes.io/part-of': PART_OF,
  })
  const served = { 'kserve.io/component': 'workload', 'llm-d.ai/role': role }
  const metadata = { name: names.single, namespace: meta.namespace, ownerReferences: [ownerOf(meta)] }
  if (!isRecord(worker)) {
    if (!isRecord(template)) return []
    const named = stringAt(template, 'serviceAccountName') ?? ''
    const isOfController = !isPrefill && named === '' && listAt(template, 'initContainers').some(isSidecar)
    const labels = { ...component(''), ...served, ...Object.fromEntries(service.ofPool) }
    const users = { ...kueueLabels(meta), ...Object.fromEntries(readStringMap(own(workload, 'labels'))) }
    const made = podTemplate(
      service,
      template,
      { ...users, ...labels },
      isOfController ? names.single : named,
    )
    return [
      {
        value: {
          apiVersion: 'apps/v1',
          kind: 'Deployment',
          metadata,
          spec: { selector: { matchLabels: labels }, template: made },
        },
        // Which of the two wins differs by version.
        made: {
          unknownLabels: Object.entries(labels).flatMap(([key, value]) =>
            (users[key] ?? value) === value ? [] : [key],
          ),
        },
      },
    ]
  }
  const account =
    [template, worker].map((one) => stringAt(one, 'serviceAccountName') ?? '').find((one) => one !== '') ??
    names.group
  const ofWorkers = {
    ...component('-worker'),
    ...(isRecord(template) ? {} : { ...served, 'llm-d.ai/role': isPrefill ? 'prefill' : 'decode' }),
  }
  const leader = isRecord(template) && {
    leaderTemplate: podTemplate(
      service,
      template,
      { ...kueueLabels(meta), ...component('-leader'), ...served },
      account,
    ),
  }
  return [
    {
      value: {
        apiVersion: 'leaderworkerset.x-k8s.io/v1',
        kind: 'LeaderWorkerSet',
        metadata: { ...metadata, name: names.group },
        spec: {
          replicas: own(workload, 'replicas'),
          leaderWorkerTemplate: {
            size: sizeOf(workload),
            workerTemplate: podTemplate(service, worker, { ...kueueLabels(meta), ...ofWorkers }, account),
            ...leader,
          },
        },
      },
    },
  ]
}

function isSidecar(container: unknown): boolean {
  return stringAt(container, 'name') === SIDECAR
}

function podTemplate(
  { storage }: Service,
  spec: JsonRecord,
  labels: Readonly<Record<string, string>>,
  account: string,
): JsonRecord {
  return {
    metadata: { labels },
    spec: {
      ...spec,
      ...(account !== '' && { serviceAccountName: account }),
      containers: [...listAt(spec, 'containers'), ...storage.containers],
      initContainers: [...listAt(spec, 'initContainers'), ...storage.initContainers],
    },
  }
}

/** Labels of the service itself that its pods get. */
function kueueLabels({ labels }: ObjectMeta): Record<string, string> {
  return Object.fromEntries([...labels].filter(([key]) => key.startsWith('kueue.x-k8s.io')))
}

/** Pods of a group; what is no number is not known. */
function sizeOf(workload: JsonRecord): unknown {
  const parallelism = own(workload, 'parallelism')
  if (!isDataParallel(workload)) return own(parallelism, 'pipeline')
  const [all, local] = [own(parallelism, 'data') ?? 1, own(parallelism, 'dataLocal') ?? 1]
  return typeof all === 'number' && typeof local === 'number' && local >= 1
    ? Math.max(Math.floor(all / local), 1)
    : undefined
}

function schedulerOf(
  { meta }: Service,
  scheduler: JsonRecord,
  { scheduler: account }: { readonly scheduler: string },
): readonly MadeObject[] {
  const template = own(scheduler, 'template')
  if (!isRecord(template)) return []
  const labels = {
    'app.kubernetes.io/component': `${PART_OF}-router-scheduler`,
    'app.kubernetes.io/name': meta.name,
    'app.kubernetes.io/part-of': PART_OF,
  }
  const named = stringAt(template, 'serviceAccountName') ?? ''
  return [
    {
      value: {
        apiVersion: 'apps/v1',
        kind: 'Deployment',
        metadata: {
          name: `${meta.name}-kserve-router-scheduler`,
          namespace: meta.namespace,
          ownerReferences: [ownerOf(meta)],
        },
        spec: {
          selector: { matchLabels: labels },
          template: {
            metadata: {
              labels: { ...Object.fromEntries(readStringMap(own(scheduler, 'labels'))), ...labels },
            },
            spec: { ...template, serviceAccountName: named === '' ? account : named },
          },
        },
      },
    },
  ]
}

function poolOf({ meta }: Service, scheduler: JsonRecord, name: string): readonly MadeObject[] {
  const spec = recordAt(scheduler['pool'], 'spec')
  const selected = readStringMap(dig(spec, 'selector', 'matchLabels'))
  const matchLabels =
    selected.size > 0
      ? Object.fromEntries(selected)
      : {
          'app.kubernetes.io/name': meta.name,
          'app.kubernetes.io/part-of': PART_OF,
          'kserve.io/component': 'workload',
        }
  return [
    {
      value: {
        apiVersion: 'inference.networking.k8s.io/v1',
        kind: POOL_KIND,
        metadata: { name, namespace: meta.namespace, ownerReferences: [ownerOf(meta)] },
        spec: { ...spec, selector: { matchLabels } },
      },
    },
  ]
}

function ownerOf({ name }: ObjectMeta): JsonRecord {
  return {
    apiVersion: 'serving.kserve.io/v1alpha2',
    kind: 'LLMInferenceService',
    name,
    controller: true,
  }
}

/** Whether no action of a template is left where it decides. */
function isFilledIn({ value }: MadeObject): boolean {
  const labels = [
    dig(value, 'spec', 'selector', 'matchLabels'),
    dig(value, 'spec', 'template', 'metadata', 'labels'),
  ].flatMap((one) => [...readStringMap(one).values()])
  const account = stringAt(value, 'spec', 'template', 'spec', 'serviceAccountName') ?? ''
  return ![...labels, account].some((text) => text.includes('{{'))
}

function recordAt(value: unknown, key: string): JsonRecord {
  const found = own(value, key)
  return isRecord(found) ? found : {}
}
