// What KServe's controller makes of an LLMInferenceService, before it exists: the pool, and the workloads of its pods.
// Source: https://github.com/kserve/kserve/tree/v0.20.0/pkg/controller/v1alpha2/llmisvc (config_merge.go, workload_*.go,
// scheduler.go) and config/llmisvcconfig. The configuration objects that KServe ships count as shipped, unless they are given.
import { dig, isRecord, listAt, own, stringAt, type JsonRecord } from '../../base/json.ts'
import { POOL_KIND, kindKey } from '../kinds.ts'
import { readMeta, readStringMap, type ObjectMeta } from './meta.ts'
import type { Made, MadeObject, RawObject } from './raw.ts'

/** The kind of the objects that services take their fields from. */
export const CONFIG_KIND = 'LLMInferenceServiceConfig.serving.kserve.io'

const SIDECAR = 'llm-d-routing-sidecar'
const TOKENIZER = 'tokenizer'
const FETCHER = 'storage-initializer'
/** Plugins of a scheduler that ask for more containers. */
const LATENCY = 'predicted-latency-producer'
const PRECISE = 'precise-prefix-cache-scorer'
const VERSION = 'app.kubernetes.io/version'
const MAIN = { containers: [{ name: 'main' }] }
const WITH_SIDECAR = { ...MAIN, initContainers: [{ name: SIDECAR, restartPolicy: 'Always' }] }
const PART_OF = 'llminferenceservice'

/** A label of a service whose model is kept on nodes; its webhook sets it, and one that begins with it. */
const LOCAL_MODEL = 'internal.serving.kserve.io/localmodel'
/** Labels of the service itself that its pods get begin so. */
const HANDED_ON = ['kueue.x-k8s.io', LOCAL_MODEL]

/** By what a pool selects the pods of a service of this name. */
function servedBy(name: string): Readonly<Record<string, string>> {
  return {
    'app.kubernetes.io/name': name,
    'app.kubernetes.io/part-of': PART_OF,
    'kserve.io/component': 'workload',
  }
}

/** What KServe's own configuration objects say of identities, by the ends of their names. Those of pipeline parallelism must be given. */
const SHIPPED: Readonly<Record<string, JsonRecord>> = {
  'config-llm-scheduler': {
    router: {
      scheduler: {
        annotations: { [VERSION]: '0.9.0' },
        pool: { spec: { selector: { matchLabels: servedBy('{{ .ObjectMeta.Name }}') } } },
        template: { containers: [...MAIN.containers, { name: TOKENIZER }] },
      },
    },
  },
  'config-llm-scheduler-latency-predictor': {
    router: {
      scheduler: { template: { containers: [{ name: 'training-server' }, { name: 'prediction-server' }] } },
    },
  },
  'config-llm-template': { template: MAIN },
  'config-llm-decode-template': { template: WITH_SIDECAR },
  'config-llm-prefill-template': { prefill: { template: MAIN } },
  'config-llm-worker-data-parallel': { template: MAIN, worker: MAIN },
  'config-llm-decode-worker-data-parallel': { template: WITH_SIDECAR, worker: MAIN },
  'config-llm-prefill-worker-data-parallel': { prefill: { template: MAIN, worker: MAIN } },
}

/** What is made of an LLMInferenceService; undefined: it takes something from an object that is not given. */
export function llmInferenceService(
  object: JsonRecord,
  meta: ObjectMeta,
  others: readonly RawObject[],
): readonly MadeObject[] | undefined {
  if (meta.annotations.get('serving.kserve.io/stop')?.toLowerCase() === 'true') return []
  const spec = mergedSpec(object, meta, others)
  const scheduler = dig(spec, 'router', 'scheduler')
  const storage = storageOf(spec, meta)
  if (spec === undefined || storage === undefined) return undefined
  const service: Service = { meta, spec, storage }
  const made = [
    ...workloads(service, spec, MAIN_NAMES, false),
    ...(isRecord(own(spec, 'prefill'))
      ? workloads(service, recordAt(spec, 'prefill'), PREFILL_NAMES, true)
      : []),
    // A pool that is named has its own.
    ...(isRecord(own(scheduler, 'template')) && dig(scheduler, 'pool', 'ref') === undefined
      ? [schedulerOf(service, scheduler), poolOf(service, scheduler)]
      : []),
  ]
  return made.every((one) => one !== undefined && isCertain(one))
    ? made.filter((one) => one !== undefined)
    : undefined
}

interface Service {
  readonly meta: ObjectMeta
  readonly spec: JsonRecord
  readonly storage: Storage
}

/** Longer names hold a hash. */
const LONGEST = 63

/** The ends of the names of a Deployment, and of a LeaderWorkerSet. */
interface Names {
  readonly single: string
  readonly group: string
}
const MAIN_NAMES: Names = { single: '-kserve', group: '-kserve-mn' }
const PREFILL_NAMES: Names = { single: '-kserve-prefill', group: '-kserve-mn-prefill' }

/** The fields of a service, merged with those of the configurations that it names; undefined if one of these is not given. */
function mergedSpec(
  object: JsonRecord,
  { namespace, name }: ObjectMeta,
  others: readonly RawObject[],
): JsonRecord | undefined {
  const spec = recordAt(object, 'spec')
  const configs = others.filter(({ value }) => kindKey(value) === CONFIG_KIND)
  const named = listAt(spec, 'baseRefs').map((ref) => {
    const wanted = stringAt(ref, 'name')
    return nearest(namespace, configs, (one) => one === wanted)
  })
  const asked = [spec, ...named].reduce<unknown>((under, one) => merged(under, one), {})
  const shipped = wellKnown(asked).map((end) => {
    const isMeant = (one: string): boolean => one.endsWith(end)
    const isGiven = configs.some(({ value }) => isMeant(readMeta(value).name))
    return isGiven ? nearest(namespace, configs, isMeant) : SHIPPED[end]
  })
  const all = [...shipped, ...named]
  if (!all.every((one) => one !== undefined)) return undefined
  const whole = [...all, spec].reduce<unknown>((under, one) => merged(under, one), {})
  const filled = rendered(whole, { namespace, name })
  return isRecord(filled) ? filled : undefined
}

/** The namespace of KServe itself, unless it was installed into another. */
const OF_KSERVE = 'kserve'

/** The spec of the one object of a name in the namespace of the service, else in that of KServe; undefined: it is not certain which. */
function nearest(
  namespace: string,
  configs: readonly RawObject[],
  isMeant: (name: string) => boolean,
): JsonRecord | undefined {
  const found = configs.map(({ value }) => value).filter((value) => isMeant(readMeta(value).name))
  const within = (space: string): readonly JsonRecord[] =>
    found.filter((value) => readMeta(value).namespace === space)
  const [one, another] = [namespace, OF_KSERVE].map(within).find((list) => list.length > 0) ?? []
  return one === undefined || another !== undefined ? undefined : recordAt(one, 'spec')
}

/** The ends of the names of KServe's own objects that a service takes from. */
function wellKnown(spec: unknown): readonly string[] {
  const scheduler = dig(spec, 'router', 'scheduler')
  const prefill = own(spec, 'prefill')
  const takesScheduler = isRecord(scheduler) && dig(scheduler, 'pool', 'ref') === undefined
  return [
    ...(takesScheduler ? ['config-llm-scheduler'] : []),
    ...(asksFor(scheduler, LATENCY) ? ['config-llm-scheduler-latency-predictor'] : []),
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

/** The fields that distinguish the items of a list. */
const KEYS = ['mountPath', 'name']

/** As a strategic merge patch, as far as it decides here: mappings by key, lists of like things by theirs, all else is replaced. */
function merged(under: unknown, over: unknown): unknown {
  if (isUnset(over)) return under
  if (isRecord(under) && isRecord(over)) {
    const keys = new Set([...Object.keys(under), ...Object.keys(over)])
    return Object.fromEntries([...keys].map((key) => [key, merged(own(under, key), own(over, key))]))
  }
  if (!Array.isArray(under) || !Array.isArray(over)) return over
  const both: readonly unknown[] = [...under, ...over]
  const key = KEYS.find((one) => both.every((item) => stringAt(item, one) !== undefined))
  if (key === undefined) return over
  const found = (list: readonly unknown[], value: string | undefined): unknown =>
    list.find((one) => stringAt(one, key) === value)
  const values = new Set(both.map((one) => stringAt(one, key)))
  return [...values].map((value) => merged(found(under, value), found(over, value)))
}

/** What Go writes of a field that is not set is no patch. */
function isUnset(value: unknown): boolean {
  return value === undefined || value === null || value === '' || (Array.isArray(value) && value.length === 0)
}

const NAME_OF = /\{\{-?\s*\.ObjectMeta\.(Name|Namespace)\s*-?\}\}/g
const CHILD_OF = /\{\{-?\s*ChildName\s+\.ObjectMeta\.Name\s+[`"]([a-z0-9-]+)[`"]\s*-?\}\}/g

/** Names that KServe fills in; other actions stay as they are. */
function rendered(value: unknown, { namespace, name }: { namespace: string; name: string }): unknown {
  if (typeof value === 'string')
    return value
      .replace(NAME_OF, (_, which: string) => (which === 'Name' ? name : namespace))
      .replace(CHILD_OF, (action, suffix: string) =>
        name.length + suffix.length > LONGEST ? action : `${name}${suffix}`,
      )
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
  /** Whether a container of the user that fetches stays as it is. */
  readonly isOff?: true
}

/** Undefined for an address that the controller does not take. */
function storageOf(spec: unknown, { labels }: ObjectMeta): Storage | undefined {
  const model = own(spec, 'model')
  const scheme = labels.has(LOCAL_MODEL) ? 'pvc' : schemeOf(model)
  const none = { containers: [], initContainers: [] }
  if (dig(spec, 'storageInitializer', 'enabled') === false) return { ...none, isOff: true }
  const fetches = [scheme, ...listAt(model, 'lora', 'adapters').map(schemeOf)].some((one) => FETCHED.has(one))
  const initContainers = fetches ? [{ name: FETCHER }] : []
  if (scheme === 'pvc' || FETCHED.has(scheme)) return { ...none, initContainers }
  return scheme === 'oci'
    ? {
        containers: [{ name: 'modelcar' }],
        initContainers: [{ name: 'modelcar-init' }, ...initContainers],
      }
    : undefined
}

/** Schemes of what a container fetches before the others start. */
const FETCHED: ReadonlySet<string> = new Set(['hf', 's3'])

function schemeOf(model: unknown): string {
  return /^([^:]*):\/\//.exec(stringAt(model, 'uri') ?? '')?.[1] ?? ''
}

/** A Deployment, or a LeaderWorkerSet where there are workers. */
function workloads(
  service: Service,
  workload: JsonRecord,
  names: Names,
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
  const users = { ...handedOn(meta), ...Object.fromEntries(readStringMap(own(workload, 'labels'))) }
  if (!isRecord(worker)) {
    if (!isRecord(template)) return []
    const named = stringAt(template, 'serviceAccountName') ?? ''
    const isOfController =
      !isPrefill && named === '' && listAt(template, 'initContainers').some((one) => isNamedAs(one, SIDECAR))
    const labels = { ...component(''), ...served }
    return [
      madeOf(
        meta,
        { apiVersion: 'apps/v1', kind: 'Deployment', suffix: names.single },
        {
          selector: { matchLabels: labels },
          template: podTemplate(
            service,
            template,
            { ...users, ...labels },
            isOfController ? `${meta.name}${names.single}` : named,
          ),
        },
        doubtful(users, labels),
      ),
    ]
  }
  const account =
    [template, worker].map((one) => stringAt(one, 'serviceAccountName') ?? '').find((one) => one !== '') ??
    `${meta.name}${names.group}`
  const ofWorkers = {
    ...component('-worker'),
    ...(isRecord(template) ? {} : { ...served, 'llm-d.ai/role': isPrefill ? 'prefill' : 'decode' }),
  }
  const ofLeader = { ...component('-leader'), ...served }
  return [
    madeOf(
      meta,
      { apiVersion: 'leaderworkerset.x-k8s.io/v1', kind: 'LeaderWorkerSet', suffix: names.group },
      {
        replicas: own(workload, 'replicas'),
        leaderWorkerTemplate: {
          size: sizeOf(workload),
          workerTemplate: podTemplate(service, worker, { ...users, ...ofWorkers }, account),
          ...(isRecord(template) && {
            leaderTemplate: podTemplate(service, template, { ...users, ...ofLeader }, account),
          }),
        },
      },
      doubtful(users, { ...ofWorkers, ...(isRecord(template) && ofLeader) }),
    ),
  ]
}

/** An object of a service, named after it. */
function madeOf(
  meta: ObjectMeta,
  {
    apiVersion,
    kind,
    suffix,
  }: { readonly apiVersion: string; readonly kind: string; readonly suffix: string },
  spec: JsonRecord,
  made?: Made,
): MadeObject {
  const name = `${meta.name}${suffix}`
  return {
    value: {
      apiVersion,
      kind,
      metadata: { name, namespace: meta.namespace, ownerReferences: [ownerOf(meta)] },
      spec,
    },
    ...(made !== undefined && { made }),
  }
}

/** Labels of users that the controller sets, too: which of the two wins differs by version. */
function doubtful(users: Readonly<Record<string, string>>, labels: Readonly<Record<string, string>>): Made {
  return {
    unknownLabels: Object.entries(labels).flatMap(([key, value]) =>
      (users[key] ?? value) === value ? [] : [key],
    ),
    possibleLabels: [LOCAL_MODEL, `${LOCAL_MODEL}-namespace`],
  }
}

function isNamedAs(container: unknown, name: string): boolean {
  return stringAt(container, 'name') === name
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
      containers: merged(listAt(spec, 'containers'), storage.containers),
      // What fetches the model is there or not, whatever is said of it.
      initContainers: merged(
        listAt(spec, 'initContainers').filter((one) => storage.isOff === true || !isNamedAs(one, FETCHER)),
        storage.initContainers,
      ),
    },
  }
}

/** Labels of the service itself that its pods get. */
function handedOn({ labels }: ObjectMeta): Record<string, string> {
  return Object.fromEntries([...labels].filter(([key]) => HANDED_ON.some((start) => key.startsWith(start))))
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

/** The pods of the scheduler; undefined: its containers depend on a text that is not read. */
function schedulerOf({ meta, spec }: Service, scheduler: unknown): MadeObject | undefined {
  const template = recordAt(scheduler, 'template')
  const labels = {
    'app.kubernetes.io/component': `${PART_OF}-router-scheduler`,
    'app.kubernetes.io/name': meta.name,
    'app.kubernetes.io/part-of': PART_OF,
  }
  const users = Object.fromEntries(readStringMap(own(scheduler, 'labels')))
  const named = stringAt(template, 'serviceAccountName') ?? ''
  const account = named === '' ? `${meta.name}-epp-sa` : named
  const containers = listAt(template, 'containers')
  const hasTokenizer = containers.some((one) => isNamedAs(one, TOKENIZER))
  const keeps = hasTokenizer ? keepsTokenizer(scheduler, containers) : true
  // The tokenizer has the model, but for its adapters; what fetches it stays when the tokenizer goes.
  const { uri } = recordAt(spec, 'model')
  const storage = hasTokenizer
    ? storageOf({ ...spec, model: { uri } }, meta)
    : { containers: [], initContainers: [], isOff: true as const }
  if (keeps === undefined || storage === undefined) return undefined
  const kept = { ...template, containers: containers.filter((one) => keeps || !isNamedAs(one, TOKENIZER)) }
  return madeOf(
    meta,
    { apiVersion: 'apps/v1', kind: 'Deployment', suffix: '-kserve-router-scheduler' },
    {
      selector: { matchLabels: labels },
      template: podTemplate({ meta, spec, storage }, kept, { ...users, ...labels }, account),
    },
    { unknownLabels: doubtful(users, labels).unknownLabels ?? [] },
  )
}

/** Schedulers from 0.9 on lose a tokenizer that no plugin asks for; undefined: which plugins there are is not known. */
function keepsTokenizer(scheduler: unknown, containers: readonly unknown[]): boolean | undefined {
  const [, major, minor] =
    /^(\d+)\.(\d+)\./.exec(stringAt(scheduler, 'annotations', VERSION) ?? '0.0.0') ?? []
  if (Number(major) === 0 && Number(minor) < 9) return true
  const config = own(scheduler, 'config')
  const isInArgs = containers.some((one) =>
    listAt(one, 'args').some((arg) => typeof arg === 'string' && arg.includes('config')),
  )
  if (own(config, 'ref') !== undefined || isInArgs) return undefined
  const inline = own(config, 'inline')
  if (inline === undefined) return false
  return !isRecord(inline) || !Array.isArray(inline['plugins']) || asksFor(scheduler, PRECISE)
}

function asksFor(scheduler: unknown, plugin: string): boolean {
  return listAt(scheduler, 'config', 'inline', 'plugins').some((one) => stringAt(one, 'type') === plugin)
}

function poolOf({ meta }: Service, scheduler: unknown): MadeObject {
  const spec = recordAt(own(scheduler, 'pool'), 'spec')
  const selected = readStringMap(dig(spec, 'selector', 'matchLabels'))
  const matchLabels = selected.size > 0 ? Object.fromEntries(selected) : servedBy(meta.name)
  return madeOf(
    meta,
    { apiVersion: 'inference.networking.k8s.io/v1', kind: POOL_KIND, suffix: '-inference-pool' },
    { ...spec, selector: { matchLabels } },
  )
}

function ownerOf({ name }: ObjectMeta): JsonRecord {
  return {
    apiVersion: 'serving.kserve.io/v1alpha2',
    kind: 'LLMInferenceService',
    name,
    controller: true,
  }
}

/** Whether no action of a template is left where it decides, and no name holds a hash. */
function isCertain({ value }: MadeObject): boolean {
  const group = dig(value, 'spec', 'leaderWorkerTemplate')
  const templates = [
    dig(value, 'spec', 'template'),
    own(group, 'leaderTemplate'),
    own(group, 'workerTemplate'),
  ]
  const texts = [
    ...readStringMap(dig(value, 'spec', 'selector', 'matchLabels')).values(),
    ...templates.flatMap((one) => [
      ...readStringMap(dig(one, 'metadata', 'labels')).values(),
      stringAt(one, 'spec', 'serviceAccountName') ?? '',
    ]),
  ]
  return readMeta(value).name.length <= LONGEST && !texts.some((text) => text.includes('{{'))
}

function recordAt(value: unknown, key: string): JsonRecord {
  const found = own(value, key)
  return isRecord(found) ? found : {}
}
