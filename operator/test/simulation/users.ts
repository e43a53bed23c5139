// Everybody else in the cluster: people who make, edit and delete bindings, pools and objectives, hands that meddle with
// outputs, and other controllers. Each act happens on the server at once, as one request of theirs would.
import type { Config } from '@kleym/shared/core/decide/settings/config.ts'
import { dig, isRecord, listAt, stringAt, type JsonRecord } from '@kleym/shared/core/base/json.ts'
import {
  ANNOTATION_BINDING,
  ANNOTATION_BINDING_UID,
  DEFAULT_VARIANT_LABEL_KEY,
  FINALIZER,
} from '@kleym/shared/core/model/names.ts'
import type { ResourceRef, Resource } from '@kleym/shared/kube/api.ts'
import { ApiError } from '@kleym/shared/kube/errors.ts'
import { BINDINGS, CLUSTER_SPIFFE_IDS, OBJECTIVES, POOLS } from '@kleym/shared/kube/resources.ts'
import { binding, K8S_GROUP, LLM_D, objective, pool } from '@kleym/testing/manifests.ts'
import type { Dice } from './dice.ts'
import { isDeleting, metadataOf, refOf, type SimulatedCluster } from './cluster.ts'
import { inTheWay, worldOf } from './oracle.ts'
import { FOREIGN_FINALIZER, installWebhook, removeWebhook } from './webhook.ts'

const NAMESPACES = ['team-a', 'team-a', 'team-a', 'team-b'] as const
const BINDING_NAMES = ['b1', 'b2', 'b3', 'b4', 'b5'] as const
const CONTAINERS = ['vllm', 'vllm', 'proxy', 'proxy', 'tuner'] as const
const VARIANTS = ['prefill', 'prefill', 'decode'] as const
const ACCOUNTS = ['runner', 'runner', 'runner', 'runner', 'batch'] as const
/** Two that contain one another, and one apart, which selects the pod label of variants itself. */
const POOL_LABELS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  wide: { app: 'llama' },
  narrow: { app: 'llama', tier: 'gold' },
  apart: { app: 'qwen', [DEFAULT_VARIANT_LABEL_KEY]: 'prefill' },
}
/** The wide one is chosen most: collisions are what this is about. */
const POOL_NAMES = ['wide', 'wide', 'narrow', 'apart'] as const

/** How many of something a hostile object has. */
const MANY = 200

/** What to pick a user's next act by: its weight among the others. */
export const ACT_WEIGHTS = [
  ['create', 8],
  ['edit', 8],
  ['swap', 8],
  ['rotate', 5],
  ['delete', 4],
  ['recreate', 3],
  ['abandon', 2],
  ['strip finalizer', 2],
  ['hold binding', 1],
  ['pool', 3],
  ['objective', 2],
  ['edit output', 3],
  ['delete output', 2],
  ['hold output', 2],
  ['release output', 2],
  ['touch output', 2],
  ['look-alike', 2],
  ['copy', 1],
  ['restored orphan', 1],
  ['kind goes', 1],
  ['kind comes', 2],
  ['webhook comes', 1],
  ['webhook goes', 2],
  ['hostile pool', 0.5],
  ['hostile binding', 0.5],
] as const
export type Act = (typeof ACT_WEIGHTS)[number][0]

/** What users do who have nothing in mind but who gets which container. */
export const COLLIDING_WEIGHTS: readonly (readonly [Act, number])[] = [
  ['create', 5],
  ['edit', 4],
  ['swap', 8],
  ['rotate', 5],
  ['delete', 2],
  ['recreate', 2],
  ['touch output', 1],
  ['webhook comes', 0.7],
  ['webhook goes', 2],
] as const

/** What users do to a cluster in which nothing else happens. */
export const CALM_WEIGHTS: readonly (readonly [Act, number])[] = [
  ['create', 4],
  ['edit', 4],
  ['swap', 3],
  ['delete', 2],
  ['pool', 1],
  ['objective', 1],
]

/** Kinds that may go: kleym goes on without them, one way or another. */
const MORTAL: readonly Resource[] = [CLUSTER_SPIFFE_IDS, ...POOLS.slice(0, 1), ...OBJECTIVES.slice(0, 2)]

export class Users {
  readonly #server: SimulatedCluster
  readonly #dice: Dice
  /** Whether all bindings are of one pool, so that they collide by their containers and variants alone. */
  readonly #collide: boolean
  /** Whether they write kleym's finalizer into what they make. */
  readonly #forge: boolean

  constructor(server: SimulatedCluster, dice: Dice, { collide = false, forge = false } = {}) {
    this.#server = server
    this.#dice = dice
    this.#collide = collide
    this.#forge = forge
  }

  /** The pools and objectives that there are at first. */
  settle(): void {
    for (const namespace of new Set(NAMESPACES)) {
      for (const name of new Set(POOL_NAMES)) {
        this.#create(POOLS, pool({ namespace, name, labels: POOL_LABELS[name] ?? {} }))
        for (const purpose of ['chat', 'batch']) {
          this.#create(OBJECTIVES, objective({ namespace, name: `${purpose}-${name}`, poolRef: { name } }))
        }
      }
    }
  }

  /** A few bindings to begin with. */
  arrive(): void {
    for (const name of this.#dice.some(BINDING_NAMES, this.#dice.below(5)))
      this.#createBinding('team-a', name)
  }

  /** Does something; says what. An act that the server refuses was in vain. */
  act(act: Act): string {
    try {
      return `${act} ${this.#act(act)}`
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      return `${act} in vain: ${error.message}`
    }
  }

  /** Gives back what a cluster needs to come to rest: lets go of what is held, and of kinds that kleym cannot do without. */
  relent(): void {
    for (const resource of MORTAL) if (!this.#server.serves(resource)) this.#comes(resource)
    removeWebhook(this.#server)
    this.release()
  }

  /** SCM registers what it has not seen. Returns how many there were. */
  register(): number {
    const unseen = this.#server.all(CLUSTER_SPIFFE_IDS).filter(({ status }) => status === undefined)
    for (const object of unseen) {
      const status = { stats: { podsSelected: 2, entriesToSet: 2 } }
      this.#server.update(CLUSTER_SPIFFE_IDS, { ...object, status }, 'user', { subresource: 'status' })
    }
    return unseen.length
  }

  /** Lets go of everything that is held. */
  release(): void {
    for (const resource of [BINDINGS, CLUSTER_SPIFFE_IDS]) {
      for (const object of this.#server.all(resource)) this.#release(resource, object)
    }
  }

  /** Does what a waiting binding asks for: deletes what is not kleym's and stands in its way. Returns how many there were. */
  clearTheWay(config: Config): number {
    const names = inTheWay(this.#server, config)
    for (const name of names) this.#server.delete(CLUSTER_SPIFFE_IDS, { name }, {}, 'user')
    return names.length
  }

  #act(act: Act): string {
    switch (act) {
      case 'create':
        return this.#createBinding(
          this.#collide ? 'team-a' : (this.#dice.pick(NAMESPACES) ?? ''),
          this.#dice.pick(BINDING_NAMES) ?? '',
        )
      case 'edit':
        return this.#onBinding((object) => this.#editSpec(object, this.#randomEdit(object)))
      case 'swap':
        return this.#rotate(2)
      case 'rotate':
        return this.#rotate(3)
      case 'delete':
        return this.#onBinding((object) => this.#delete(BINDINGS, object))
      case 'recreate':
        return this.#recreate()
      case 'abandon':
        return this.#onBinding((object) => {
          this.#delete(BINDINGS, object)
          this.#setFinalizers(BINDINGS, object, [])
        })
      case 'strip finalizer':
        return this.#onBinding((object) =>
          this.#setFinalizers(
            BINDINGS,
            object,
            finalizersOf(object).filter((one) => one !== FINALIZER),
          ),
        )
      case 'hold binding':
        return this.#onBinding((object) => this.#hold(BINDINGS, object))
      case 'pool':
        return this.#meddleWithPool()
      case 'objective':
        return this.#meddleWithObjective()
      case 'edit output':
        return this.#onOutput((object) => this.#editOutput(object))
      case 'delete output':
        return this.#onOutput((object) => this.#delete(CLUSTER_SPIFFE_IDS, object))
      case 'hold output':
        return this.#onOutput((object) => this.#hold(CLUSTER_SPIFFE_IDS, object))
      case 'release output':
        return this.#onOutput((object) => this.#release(CLUSTER_SPIFFE_IDS, object))
      case 'touch output':
        return this.#onOutput((object) => {
          const status = { stats: { entriesToSet: this.#dice.below(1000) } }
          this.#server.update(CLUSTER_SPIFFE_IDS, { ...object, status }, 'user', { subresource: 'status' })
        })
      case 'look-alike':
        return this.#lookAlike()
      case 'copy':
        return this.#onOutput((object) => {
          const { uid: _, resourceVersion: __, ...metadata } = metadataOf(object)
          const name = `${refOf(object).name.slice(0, 40)}-copy`
          this.#create([CLUSTER_SPIFFE_IDS], { ...object, metadata: { ...metadata, name } })
        })
      case 'restored orphan':
        return this.#onOutput((object) => this.#restore(object))
      case 'kind goes':
        return this.#kindGoes()
      case 'kind comes':
        return this.#kindComes()
      case 'hostile pool':
        return this.#hostilePool()
      case 'hostile binding':
        return this.#onBinding((object) => {
          const held = Array.from({ length: MANY }, (_, at) => `${FOREIGN_FINALIZER}-${at}`)
          if (!isDeleting(object)) this.#setFinalizers(BINDINGS, object, [...finalizersOf(object), ...held])
        })
      case 'webhook comes':
        return installWebhook(this.#server, this.#dice)
      case 'webhook goes':
        removeWebhook(this.#server)
        return ''
    }
  }

  // Bindings

  #createBinding(namespace: string, name: string): string {
    const poolName = this.#dice.pick(POOL_NAMES) ?? ''
    const { uid: _, generation: __, ...metadata } = metadataOf(binding({ namespace, name }))
    const spec = this.#specFor(poolName)
    const forged = this.#forge ? { finalizers: [FINALIZER] } : {}
    this.#create([BINDINGS], { ...binding({ namespace, name, spec }), metadata: { ...metadata, ...forged } })
    return `${namespace}/${name} ${JSON.stringify(spec)}`
  }

  #specFor(poolName: string): JsonRecord {
    if (this.#dice.chance(0.3)) {
      return {
        poolRef: { name: this.#collide ? 'wide' : poolName },
        serviceAccountName: this.#collide ? 'runner' : this.#dice.pick(ACCOUNTS),
        mode: 'PerVariant',
        objectiveRef: undefined,
        containerName: undefined,
        identityBoundary: { variant: this.#dice.pick(VARIANTS) },
      }
    }
    if (this.#collide) {
      return {
        poolRef: { name: 'wide' },
        serviceAccountName: 'runner',
        mode: 'PerObjective',
        identityBoundary: undefined,
        objectiveRef: { name: this.#dice.chance(0.5) ? 'chat-wide' : 'batch-wide' },
        containerName: this.#dice.pick(CONTAINERS),
      }
    }
    const isPoolOnly = this.#dice.chance(0.15)
    const purpose = this.#dice.chance(0.5) ? 'chat' : 'batch'
    // Now and then an objective that leads elsewhere, or nowhere.
    const target = this.#dice.chance(0.95) ? poolName : (this.#dice.pick([...POOL_NAMES, 'nowhere']) ?? '')
    return {
      poolRef: { name: this.#dice.chance(0.97) ? poolName : 'nowhere' },
      serviceAccountName: this.#dice.pick(ACCOUNTS),
      mode: isPoolOnly ? 'PoolOnly' : 'PerObjective',
      identityBoundary: undefined,
      objectiveRef: isPoolOnly ? undefined : { name: `${purpose}-${target}` },
      containerName: isPoolOnly ? undefined : this.#dice.pick(CONTAINERS),
    }
  }

  #randomEdit(object: JsonRecord): JsonRecord {
    if (this.#dice.chance(0.5)) {
      // A variant with another mode, or without, is refused: now and then.
      const isVariant = (dig(object, 'spec', 'mode') === 'PerVariant') !== this.#dice.chance(0.05)
      return isVariant
        ? { identityBoundary: { variant: this.#dice.pick(VARIANTS) } }
        : { containerName: this.#dice.pick(CONTAINERS) }
    }
    const poolName = stringAt(object, 'spec', 'poolRef', 'name') ?? ''
    return this.#specFor(this.#dice.chance(0.5) ? poolName : (this.#dice.pick(POOL_NAMES) ?? ''))
  }

  #editSpec(object: JsonRecord, edit: JsonRecord): void {
    const laid = { ...(isRecord(object['spec']) ? object['spec'] : {}), ...edit }
    const spec = Object.fromEntries(Object.entries(laid).filter(([, value]) => value !== undefined))
    this.#server.update(BINDINGS, { ...object, spec }, 'user')
  }

  /** Each takes the container, or the variant, of the next: one apply of several manifests. */
  #rotate(count: number): string {
    const mode = this.#dice.chance(0.3) ? 'PerVariant' : 'PerObjective'
    const field = mode === 'PerVariant' ? 'identityBoundary' : 'containerName'
    const all = this.#server
      .all(BINDINGS)
      .filter((object) => dig(object, 'spec', 'mode') === mode && !isDeleting(object))
    const chosen = this.#dice.some(all, count)
    const values = chosen.map((object) => dig(object, 'spec', field))
    for (const [at, object] of chosen.entries()) {
      this.#editSpec(object, { [field]: values[(at + 1) % values.length] })
    }
    return chosen.map((object) => refOf(object).name).join(' ')
  }

  #recreate(): string {
    return this.#onBinding((object) => {
      const { namespace = '', name } = refOf(object)
      this.#delete(BINDINGS, object)
      this.#setFinalizers(BINDINGS, object, [])
      if (this.#dice.chance(0.5)) {
        this.#createBinding(namespace, name)
        return
      }
      const metadata = { namespace, name }
      this.#create([BINDINGS], { ...object, metadata })
    })
  }

  // Pools and objectives

  #meddleWithPool(): string {
    const namespace = this.#dice.pick(NAMESPACES) ?? ''
    const name = this.#dice.pick(POOL_NAMES) ?? ''
    const [resource] = POOLS
    if (resource === undefined) return ''
    const found = this.#server.find(resource, { namespace, name })
    const chosen = POOL_LABELS[this.#dice.chance(0.6) ? name : (this.#dice.pick(POOL_NAMES) ?? '')] ?? {}
    const wanted = pool({ namespace, name, labels: this.#dice.chance(0.1) ? {} : chosen })
    if (found === undefined) this.#create([resource], wanted)
    else if (this.#dice.chance(0.4)) this.#delete(resource, found)
    else this.#server.update(resource, { ...found, spec: wanted['spec'] }, 'user')
    return `${namespace}/${name} ${JSON.stringify(chosen)}`
  }

  #meddleWithObjective(): string {
    const namespace = this.#dice.pick(NAMESPACES) ?? ''
    const target = this.#dice.pick(POOL_NAMES) ?? ''
    const name = `${this.#dice.chance(0.5) ? 'chat' : 'batch'}-${target}`
    const [resource] = OBJECTIVES
    if (resource === undefined) return ''
    const found = this.#server.find(resource, { namespace, name })
    const poolRef = { name: this.#dice.chance(0.7) ? target : (this.#dice.pick(POOL_NAMES) ?? '') }
    if (found === undefined) this.#create([resource], objective({ namespace, name, group: LLM_D, poolRef }))
    else if (this.#dice.chance(0.4)) this.#delete(resource, found)
    else this.#server.update(resource, { ...found, spec: { poolRef } }, 'user')
    return `${namespace}/${name} to ${poolRef.name}`
  }

  /** A selector of any size and shape that the API server takes. */
  #hostilePool(): string {
    const [resource] = POOLS
    const found = this.#dice.pick(resource === undefined ? [] : this.#server.all(resource))
    if (resource === undefined || found === undefined) return 'of nothing'
    const selectors: readonly unknown[] = [
      { matchLabels: manyLabels(MANY, 20) },
      { matchLabels: manyLabels(64, 2_000) },
      { matchLabels: manyLabels(64, 30) },
      { matchLabels: { app: 7, ['__proto__']: 'x' } },
      { matchExpressions: Array.from({ length: MANY }, () => ({ key: 'app', operator: 'Exists' })) },
      'x'.repeat(10_000),
      null,
    ]
    this.#server.update(resource, { ...found, spec: { selector: this.#dice.pick(selectors) } }, 'user')
    return refOf(found).name
  }

  // Outputs

  #editOutput(object: JsonRecord): void {
    const metadata = metadataOf(object)
    const spec = isRecord(object['spec']) ? object['spec'] : {}
    const selectors = listAt(object, 'spec', 'workloadSelectorTemplates').filter(
      (selector) => typeof selector === 'string' && !selector.startsWith('k8s:container-name:'),
    )
    const container = `k8s:container-name:${this.#dice.pick(CONTAINERS) ?? ''}`
    const edits: readonly JsonRecord[] = [
      { spec: { ...spec, admin: true } },
      { spec: { ...spec, federatesWith: ['other.example'] } },
      { spec: { ...spec, workloadSelectorTemplates: [...selectors, container] } },
      { spec: { ...spec, workloadSelectorTemplates: selectors } },
      { metadata: { ...metadata, labels: {} } },
      { metadata: { ...metadata, labels: { 'kleym.sonda.red/managed-by': 'someone' } } },
      { metadata: { ...metadata, annotations: {} } },
    ]
    this.#server.update(CLUSTER_SPIFFE_IDS, { ...object, ...this.#dice.pick(edits) }, 'user')
  }

  /** Something of another tool, or made by a hand, under a name that a binding will want. */
  #lookAlike(): string {
    const names = worldOf(this.#server).compiled.flatMap(({ result, binding: { key } }) =>
      result.kind === 'resolved' ? [{ key, output: result.output }] : [],
    )
    const chosen = this.#dice.pick(names)
    if (chosen === undefined) return ''
    const { name, annotations } = chosen.output.metadata
    const some: readonly JsonRecord[] = [{}, { [ANNOTATION_BINDING]: chosen.key }]
    const metadata = { name, annotations: this.#dice.pick(some) ?? annotations }
    const found = this.#server.find(CLUSTER_SPIFFE_IDS, { name })
    if (found !== undefined) return 'of what is there'
    this.#create([CLUSTER_SPIFFE_IDS], { ...chosen.output, metadata })
    return name
  }

  /** A backup is restored: the same object, of a binding whose UID is history. */
  #restore(object: JsonRecord): void {
    this.#delete(CLUSTER_SPIFFE_IDS, object)
    const { annotations, labels, name } = metadataOf(object)
    const old = { ...(isRecord(annotations) ? annotations : {}), [ANNOTATION_BINDING_UID]: 'uid-of-old' }
    this.#create([CLUSTER_SPIFFE_IDS], { ...object, metadata: { name, labels, annotations: old } })
  }

  // Kinds

  #kindGoes(): string {
    const served = MORTAL.filter((resource) => this.#server.serves(resource))
    const resource = this.#dice.pick(served)
    if (resource === undefined) return ''
    this.#server.removeKind(resource)
    return `${resource.kind}.${resource.group}`
  }

  #kindComes(): string {
    const resource = this.#dice.pick(MORTAL.filter((one) => !this.#server.serves(one)))
    if (resource === undefined) return ''
    this.#comes(resource)
    return `${resource.kind}.${resource.group}`
  }

  #comes(resource: Resource): void {
    this.#server.restoreKind(resource)
    if (resource.group === K8S_GROUP || resource.group === LLM_D) this.settle()
  }

  // Whatever kind

  #onBinding(edit: (object: JsonRecord) => void): string {
    return this.#onOne(BINDINGS, edit)
  }

  #onOutput(edit: (object: JsonRecord) => void): string {
    return this.#onOne(CLUSTER_SPIFFE_IDS, edit)
  }

  #onOne(resource: Resource, edit: (object: JsonRecord) => void): string {
    const object = this.#dice.pick(this.#server.all(resource))
    if (object === undefined) return 'of nothing'
    edit(object)
    const { namespace = '', name } = refOf(object)
    return `${namespace}/${name}`
  }

  /** POSTs an object of the first kind; one that is there already stays. */
  #create([resource]: readonly Resource[], object: JsonRecord): void {
    if (resource === undefined || !this.#server.serves(resource)) return
    if (this.#server.find(resource, refOf(object)) === undefined)
      this.#server.create(resource, object, 'user')
  }

  #delete(resource: Resource, object: JsonRecord): void {
    this.#server.delete(resource, refOf(object), {}, 'user')
  }

  #hold(resource: Resource, object: JsonRecord): void {
    if (isDeleting(object)) return
    const others = finalizersOf(object).filter((one) => one !== FOREIGN_FINALIZER)
    this.#setFinalizers(resource, object, [...others, FOREIGN_FINALIZER])
  }

  #release(resource: Resource, object: JsonRecord): void {
    const left = finalizersOf(object).filter((one) => !String(one).startsWith(FOREIGN_FINALIZER))
    this.#setFinalizers(resource, object, left)
  }

  #setFinalizers(resource: Resource, object: JsonRecord, finalizers: readonly unknown[]): void {
    const ref: ResourceRef = refOf(object)
    if (this.#server.find(resource, ref) === undefined) return
    this.#server.patch(resource, ref, { metadata: { finalizers } }, 'user')
  }
}

function finalizersOf(object: JsonRecord): readonly unknown[] {
  return listAt(object, 'metadata', 'finalizers')
}

/** So many labels, with keys and values of this size. */
function manyLabels(count: number, size: number): JsonRecord {
  return Object.fromEntries(
    Array.from({ length: count }, (_, at) => [`${'k'.repeat(size)}${at}`, 'v'.repeat(size)]),
  )
}
