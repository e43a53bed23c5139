// What must hold at every moment (docs/contract.md §6 and §8): no two live outputs of kleym's making claim the same pods
// and container for two PerObjective bindings, nothing foreign is touched, and nothing is written but what may be.
import { namespaceWritten, parseNamespacedName } from '@kleym/shared/core/model/namespaced-name.ts'
import { getOrCreate } from '@kleym/shared/core/base/get-or-create.ts'
import { dig, listAt, stringAt, type JsonRecord, deepEqual } from '@kleym/shared/core/base/json.ts'
import { ANY, liveClaims, type Claim } from '@kleym/shared/core/decide/collide/claim.ts'
import { relationOf } from '@kleym/shared/core/decide/collide/claim-index.ts'
import {
  ANNOTATION_BINDING,
  ANNOTATION_BINDING_UID,
  BINDING_KIND,
  FINALIZER,
} from '@kleym/shared/core/model/names.ts'
import { readClusterSpiffeId } from '@kleym/shared/core/model/objects/clusterspiffeid.ts'
import { isNewer } from '@kleym/shared/kube/resource-version.ts'
import { BINDINGS, CLUSTER_SPIFFE_IDS, LEASES } from '@kleym/shared/kube/resources.ts'
import { judgedVersion, patchesFinalizerAlone } from '@kleym/testing/finalizer-patch-rule.ts'
import { hasOurs } from '../../src/caches/kept-finalizers.ts'
import { bodyOf, WRITES, type CallFate, type SimulatedCall } from './calls.ts'
import type { Life } from './life.ts'
import { metadataOf, type Backup, type ServerChange, type SimulatedCluster } from './cluster.ts'
import { isRightful, ownershipOf, stateOf, type ClusterState } from './oracle.ts'

/** An output that an operator has made, as it is now. */
interface Made {
  readonly uid: string
  readonly name: string
  /** The UID of the binding that it was made for. */
  readonly bindingUid: string
  readonly claims: readonly Claim[]
  readonly version: string
  /** Its spec or annotations are by a hand. */
  readonly isEdited: boolean
  /** What was stored is not what the operator sent: nobody knows before the answer. */
  readonly isAltered: boolean
  /** Its operator was not answered. */
  readonly isUnanswered: boolean
  /** Who wrote it last, and at which step the request was sent. */
  readonly life: number
  readonly sentAt: number
  /**
   * Who could not have known of it when it was carried out: others, where its operator had died or led no more; nobody, where
   * a webhook has altered it, its operator had given it up, or time had gone back.
   */
  readonly unforeseen: 'no' | 'by others' | 'by all'
  /** At which step the operator that leads has seen it, where that matters. */
  seenAt: number | undefined
}

export class Watchdog {
  readonly violations: string[] = []
  /** How many writes were carried out that changed something. */
  writes = 0
  /** How many were sent, but for those of the Lease. */
  sentWrites = 0
  readonly #server: SimulatedCluster
  readonly #lives: readonly Life[]
  readonly #step: () => number
  readonly #made = new Map<string, Made>()
  /** All outputs that operators have made in all versions, by UID and version, those that are gone too. */
  readonly #everMade = new Map<string, Map<string, Made>>()
  /** All states of the datastore since time went back. */
  #states: Backup[] = []
  /** Up to which version all that the sender of a DELETE read was current at least. */
  readonly #floors = new Map<SimulatedCall, number>()
  /** When time went back, and up to when what is sent may rest on what was before. */
  #restoredAt: number | undefined
  #isBlindUntil = Number.NEGATIVE_INFINITY
  /** What live reads of a life have not found, and whatever they have looked for. */
  readonly #missed = new Set<string>()
  readonly #lookedFor = new Set<string>()
  /** By life, when its last list of outputs began that was answered. */
  readonly #listedAt = new Map<number, number>()
  /** By life and UID of a binding, when its last DELETE of an output of it was sent. */
  readonly #deletedAt = new Map<string, number>()
  #current: SimulatedCall | undefined
  #fate: CallFate = 'carried out'

  constructor(server: SimulatedCluster, lives: readonly Life[], step: () => number) {
    this.#server = server
    this.#lives = lives
    this.#step = step
    server.onChange((change) => this.#changed(change))
    server.onKind(() => this.#states.push(server.backup()))
  }

  /** Time has gone back: what is there now is what was there once, and no operator knows. */
  restored(): void {
    this.#restoredAt = this.#step()
    this.#isBlindUntil = Number.POSITIVE_INFINITY
    this.#states = [this.#server.backup()]
    this.#made.clear()
    for (const object of this.#server.all(CLUSTER_SPIFFE_IDS)) {
      const { uid, resourceVersion } = metadataOf(object)
      const made = this.#everMade.get(String(uid))?.get(String(resourceVersion))
      if (made === undefined) continue
      this.#made.set(made.uid, { ...made, unforeseen: 'by all', seenAt: undefined, isUnanswered: true })
    }
  }

  /** Runs what the server does for a call that comes to this. */
  during(call: SimulatedCall, fate: CallFate, run: () => void): void {
    this.#current = call
    this.#fate = fate
    run()
    this.#current = undefined
    if (call.verb === 'list' && call.resource === CLUSTER_SPIFFE_IDS && fate === 'carried out')
      this.#listedAt.set(call.life, Math.max(this.#listedAt.get(call.life) ?? -1, call.sentAt))
    if (call.verb !== 'get') return
    const text = missText(call.life, call.resource.kind, call.ref.namespace, call.name)
    if (fate === 'carried out') this.#lookedFor.add(text)
    if (this.#server.find(call.resource, call.ref) === undefined) this.#missed.add(text)
  }

  /** A call is sent: may it be? */
  sent(call: SimulatedCall): void {
    if (!WRITES.includes(call.verb)) return
    this.sentWrites += 1
    const { resource, verb } = call
    const leader = this.#lives.at(-1)
    if (call.life !== leader?.id) this.#complain(`#${call.life} sends ${verb}, and does not lead`)
    else if (leader.isLater && leader.bornAt > (this.#restoredAt ?? 0) && this.#server.listsOldHistory)
      this.#complain(`#${call.life} sends ${verb}, and can only know the history before the restore`)
    if (verb !== 'create' && !hasPreconditions(call) && !this.#deletesWhatItMade(call))
      this.#complain(`${verb} ${call.name} goes for any version`)
    if (resource === BINDINGS && verb === 'update status') this.#checkAbsence(call)
    if (resource === CLUSTER_SPIFFE_IDS && ['create', 'update', 'delete'].includes(verb)) {
      if (verb === 'create') {
        this.#checkFinalizer(call)
        this.#checkRoom(call)
      }
      if (verb === 'delete') {
        this.#floors.set(call, this.#floorOf(call.life))
        this.#checkOrphan(call)
        const uid = this.#made.get(stringAt(call.body, 'uid') ?? '')?.bindingUid ?? ''
        this.#deletedAt.set(`${call.life} ${uid}`, this.#step())
      }
      return
    }
    if (resource === BINDINGS && verb === 'update status') return
    if (resource === BINDINGS && verb === 'patch' && patchesFinalizerAlone(call.body)) {
      this.#checkRelease(call)
      return
    }
    this.#complain(`an operator may not send ${verb} ${resource.kind} ${JSON.stringify(call.body)}`)
  }

  /** The version of the datastore up to which all caches of a life have seen everything; 0 where one of them is not filled. */
  #floorOf(life: number): number {
    const found = this.#lives.find(({ id }) => id === life)
    if (found === undefined) return 0
    const { bindings, outputs, pools, objectives } = found.caches
    const caches = [bindings, outputs, ...pools.values(), ...objectives.values()]
    return Math.min(
      ...caches.flatMap(({ syncState, store: { seen }, resource }) => {
        if (syncState.kind === 'synced') return [Number(seen ?? 0)]
        return syncState.kind === 'absent' && !this.#server.serves(resource) ? [] : [0]
      }),
    )
  }

  /** After each step: notes which late outputs the living operator knows of. */
  look(): void {
    const living = this.#lives.at(-1)
    if (living?.isAlive !== true || !this.isInformed(living)) return
    if (this.#isBlindUntil === Number.POSITIVE_INFINITY) this.#isBlindUntil = this.#step()
    for (const made of this.#made.values()) {
      if (made.unforeseen === 'no' || made.seenAt !== undefined) continue
      const held = living.caches.outputs.store.get(made.name)?.meta
      if (held?.uid === made.uid && !isNewer(made.version, held.resourceVersion)) made.seenAt = this.#step()
    }
  }

  /** Whether an operator knows that time went back, and what there is since. */
  isInformed(living: Life): boolean {
    if (this.#restoredAt === undefined) return true
    return living.knowsOf(this.#restoredAt) && !this.#server.isToBeRestarted
  }

  #changed(change: ServerChange): void {
    if (change.resource === LEASES) return
    if (change.by !== 'user') this.#checkWithdrawal(change)
    this.#states.push(this.#server.backup())
    if (change.by !== 'user') this.#writtenByOperator(change)
    if (change.resource !== CLUSTER_SPIFFE_IDS) return
    const uid = String(metadataOf(change.object)['uid'])
    if (change.type === 'DELETED') {
      this.#made.delete(uid)
      return
    }
    const made = this.#madeOf(change, uid)
    if (made === undefined) return
    this.#made.set(uid, made)
    getOrCreate(this.#everMade, uid, () => new Map<string, Made>()).set(made.version, made)
    for (const other of this.#made.values()) this.#checkPair(made, other)
  }

  #madeOf({ object, before, by }: ServerChange, uid: string): Made | undefined {
    const known = this.#made.get(uid)
    const isWritten = by !== 'user' && this.#current?.verb !== 'delete'
    if (!isWritten && known === undefined) return undefined
    const output = readClusterSpiffeId({ value: object }, 'live')
    const facts = {
      uid,
      name: output.meta.name,
      bindingUid: (isWritten ? this.#bindingWritten() : known?.bindingUid) ?? '',
      claims: liveClaims(
        output,
        parseNamespacedName(output.meta.annotations.get(ANNOTATION_BINDING) ?? '') ?? '',
      ),
      version: output.meta.resourceVersion ?? '',
    }
    if (!isWritten && known !== undefined) {
      return { ...known, ...facts, isEdited: known.isEdited || saysOther(before, object) }
    }
    const isAltered = this.#current !== undefined && saysOther(bodyOf(this.#current), object)
    // The answer of another history counts for none.
    const { sentAt = 0, isGivenUp = false } = this.#current ?? {}
    const isUnanswered = this.#fate !== 'carried out' || isGivenUp || sentAt <= this.#isBlindUntil
    return { ...facts, ...this.#author(by, isAltered), isAltered, isUnanswered }
  }

  /** The UID of the binding for which the operator has sent what is carried out now: a webhook may have removed it. */
  #bindingWritten(): string | undefined {
    return stringAt(this.#current?.body, 'metadata', 'annotations', ANNOTATION_BINDING_UID)
  }

  #author(
    by: ServerChange['by'],
    isAltered: boolean,
  ): Pick<Made, 'life' | 'sentAt' | 'unforeseen' | 'seenAt' | 'isEdited'> {
    const life = typeof by === 'number' ? by : -1
    const { sentAt = 0, isGivenUp = false } = this.#current ?? {}
    const byAll = isAltered || isGivenUp || sentAt <= this.#isBlindUntil
    return {
      life,
      sentAt,
      unforeseen: byAll ? 'by all' : this.#leads(life) ? 'no' : 'by others',
      seenAt: undefined,
      isEdited: false,
    }
  }

  #checkPair(one: Made, other: Made): void {
    if (one.bindingUid === other.bindingUid || one.isEdited || other.isEdited) return
    if (isExcused(one, other) || isExcused(other, one)) return
    const meet = one.claims.some((claim) => other.claims.some((peer) => sharePods(claim, peer)))
    if (meet) this.#complain(`never two: ${describe(one)} and ${describe(other)} claim the same container`)
  }

  #writtenByOperator({ resource, type, object, before, by }: ServerChange): void {
    this.writes += 1
    if (resource === CLUSTER_SPIFFE_IDS && before !== undefined) {
      const made = this.#made.get(String(metadataOf(before)['uid']))
      const isBlind = (this.#current?.sentAt ?? 0) <= this.#isBlindUntil
      const isOurs =
        isBlind ||
        (made !== undefined && !made.isEdited) ||
        (this.#current !== undefined && this.#deletesWhatItMade(this.#current))
      const isForeignNow = !isOurs && ownershipOf(this.#server, before) === 'foreign'
      // Whose it is may change while a request is on its way.
      if (isForeignNow && this.#statesKnownTo().every((state) => ownershipOf(state, before) === 'foreign')) {
        this.#complain(`foreign: ${type} of ${JSON.stringify(before)}`)
      }
    }
    if (resource === BINDINGS && by === this.#lives.at(-1)?.id) this.#checkVerdict(object)
    const isInformed = (this.#current?.sentAt ?? 0) > this.#isBlindUntil
    if (resource === BINDINGS && isInformed && !deepEqual(othersFinalizers(object), othersFinalizers(before)))
      this.#complain(`finalizers of others are changed on ${String(metadataOf(object)['name'])}`)
  }

  /** What a binding is to have is not withdrawn: at some moment that its operator may still have seen, something else was wanted. */
  #checkWithdrawal({ resource, object, before }: ServerChange): void {
    const call = this.#current
    if (resource !== CLUSTER_SPIFFE_IDS || call?.verb !== 'delete' || before === undefined) return
    const made = this.#made.get(String(metadataOf(object)['uid']))
    if (made === undefined || call.sentAt <= this.#isBlindUntil || this.#deletesWhatItMade(call)) return
    const states = this.#statesKnownTo()
    // By the settings of its sender, which may be dead by now, and another one may lead with others (seed 8531).
    const config = this.#lives.find(({ id }) => id === call.life)?.config
    if (states.every((state) => isRightful(state, made.name, config)))
      this.#complain(`rightful: ${describe(made)} is withdrawn`)
  }

  /** The states of the datastore that the sender of what is carried out now may have seen last, the latest first. */
  #statesKnownTo(): readonly ClusterState[] {
    const floor = (this.#current && this.#floors.get(this.#current)) ?? 0
    const first = this.#states.findLastIndex(({ version }) => version <= floor)
    return this.#states.slice(Math.max(first, 0)).toReversed().map(stateOf)
  }

  /** A refusal is reported only once nothing of ours is left. */
  #checkVerdict(binding: JsonRecord): void {
    const ready = readyOf(binding)
    const reason = reasonOf(binding)
    if (this.#current?.verb !== 'update status' || stringAt(ready, 'status') !== 'False') return
    // A kind that comes back right after it went is not heard of at once.
    if (reason === 'ClusterSPIFFEIDCRDMissing') return
    const { sentAt } = this.#current
    const uid = metadataOf(binding)['uid']
    for (const made of this.#made.values()) {
      if (made.bindingUid !== uid || made.isEdited) continue
      if (made.unforeseen !== 'no' && (made.seenAt === undefined || sentAt <= made.seenAt)) continue
      if (made.isAltered && this.#isNobodys(made)) continue
      this.#complain(`${reason} is reported while ${describe(made)} is there`)
    }
  }

  /** What a write without an answer has left with other annotations than ours: an orphan, or what people delete. */
  #isNobodys({ name, life, isUnanswered }: Made): boolean {
    const object = this.#server.find(CLUSTER_SPIFFE_IDS, { name })
    const isAnswered = !isUnanswered && life === this.#lives.at(-1)?.id
    return !isAnswered && object !== undefined && ownershipOf(this.#server, object) !== 'ours'
  }

  /** Missing is reported only after a live read, or where the status says so already. */
  #checkAbsence({ life, body }: SimulatedCall): void {
    const kind = MISSING[reasonOf(body)]
    if (kind === undefined) return
    const namespace = stringAt(body, 'metadata', 'namespace') ?? ''
    const name = stringAt(body, 'metadata', 'name') ?? ''
    const store = this.#lives.find(({ id }) => id === life)?.caches.bindings.store
    const binding = store?.get(`${namespace}/${name}`)
    const wanted = kind === 'InferencePool' ? binding?.poolRef : binding?.objectiveRef
    const missing = wanted?.ok === true ? (wanted.value?.name ?? '') : ''
    const told = binding?.readStatus()?.conditions?.find(({ type }) => type === 'Ready')
    if (told?.reason === reasonOf(body) && told.observedGeneration === binding?.meta.generation) return
    if (this.#missed.has(missText(life, kind, namespace, missing))) return
    this.#complain(`${reasonOf(body)} is told of ${name}, but nobody has looked for ${missing}`)
  }

  /** An orphan is deleted only after a live read of its binding. */
  #checkOrphan(call: SimulatedCall): void {
    const { life, name } = call
    if (this.#deletesWhatItMade(call)) return
    const caches = this.#lives.find(({ id }) => id === life)?.caches
    const output = caches?.outputs.store.get(name)
    const annotations = output?.isWhole === true ? output.read().meta.annotations : undefined
    const key = annotations?.get(ANNOTATION_BINDING)
    const uid = annotations?.get(ANNOTATION_BINDING_UID)
    if (key === undefined || caches?.bindings.store.get(key)?.meta.uid === uid) return
    const [namespace = '', binding = ''] = key.split('/')
    if (this.#lookedFor.has(missText(life, BINDING_KIND, namespace, binding))) return
    this.#complain(`${name} is deleted, but nobody has looked for ${key}`)
  }

  /** The finalizer is there, as far as the operator knows, before an output is written. */
  #checkFinalizer(call: SimulatedCall): void {
    const key = stringAt(bodyOf(call), 'metadata', 'annotations', ANNOTATION_BINDING) ?? ''
    const binding = this.#lives.find(({ id }) => id === call.life)?.caches.bindings.store.get(key)
    if (binding === undefined || !hasOurs(binding.finalizers)) {
      this.#complain(`an output of ${key} is written before its finalizer`)
    }
  }

  /** As far as its operator knows, no output is one more than a namespace may have. */
  #checkRoom(call: SimulatedCall): void {
    const life = this.#lives.find(({ id }) => id === call.life)
    const key = stringAt(bodyOf(call), 'metadata', 'annotations', ANNOTATION_BINDING) ?? ''
    if (life?.bindingsPerNamespace === undefined || life.caches.bindings.store.get(key)?.namesOutput === true)
      return
    const keys = [...life.caches.outputs.store.values()].map(({ bindingKey }) => bindingKey)
    if (keys.includes(key)) return
    const others = keys.filter((one) => one !== undefined && namespaceWritten(one) === namespaceWritten(key))
    if (new Set(others).size >= life.bindingsPerNamespace)
      this.#complain(`${call.name} is one more than its namespace may have`)
  }

  /** Our finalizer is dropped only after a live list of outputs that began after the last DELETE, where they are served. */
  #checkRelease({ life, body, name }: SimulatedCall): void {
    const isRelease = Array.isArray(body) && body.some((step) => stringAt(step, 'op') === 'remove')
    if (!isRelease) return
    const caches = this.#lives.find(({ id }) => id === life)?.caches
    if (caches?.outputs.syncState.kind === 'absent') return
    const deletedAt = this.#deletedAt.get(`${life} ${judgedVersion(body).uid}`) ?? -1
    if ((this.#listedAt.get(life) ?? -1) >= deletedAt && this.#listedAt.has(life)) return
    this.#complain(`the finalizer of ${name} is dropped without a list of what is left`)
  }

  /** An output that came back altered goes in whatever version it is, by its UID (docs/contract.md §8). */
  #deletesWhatItMade({ resource, verb, body }: SimulatedCall): boolean {
    const isByUid = verb === 'delete' && stringAt(body, 'resourceVersion') === undefined
    return resource === CLUSTER_SPIFFE_IDS && isByUid && this.#everMade.has(stringAt(body, 'uid') ?? '')
  }

  #leads(life: number): boolean {
    const leader = this.#lives.at(-1)
    return leader?.id === life && leader.isAlive
  }

  #complain(text: string): void {
    this.violations.push(`at step ${this.#step()}: ${text}`)
  }
}

const MISSING: Readonly<Record<string, string>> = {
  TargetPoolNotFound: 'InferencePool',
  TargetObjectiveNotFound: 'InferenceObjective',
}

function missText(life: number, kind: string, namespace: string | undefined, name: string): string {
  return `#${life} ${kind} ${namespace ?? ''}/${name}`
}

function othersFinalizers(binding: unknown): readonly unknown[] {
  return listAt(binding, 'metadata', 'finalizers').filter((finalizer) => finalizer !== FINALIZER)
}

function readyOf(binding: unknown): unknown {
  return listAt(binding, 'status', 'conditions').find((condition) => stringAt(condition, 'type') === 'Ready')
}

function reasonOf(binding: unknown): string {
  return stringAt(readyOf(binding), 'reason') ?? ''
}

/** A write says which object it means, and in which version. */
function hasPreconditions({ body }: SimulatedCall): boolean {
  const { uid, resourceVersion } = judgedVersion(body)
  return uid !== '' && resourceVersion !== ''
}

/** What nobody could foresee was not known when the other was decided. */
function isExcused({ unforeseen, life, seenAt }: Made, other: Made): boolean {
  if (unforeseen === 'no' || (unforeseen === 'by others' && life === other.life)) return false
  return seenAt === undefined || other.sentAt <= seenAt
}

function sharePods(claim: Claim, peer: Claim): boolean {
  return (
    meets(claim.namespace, peer.namespace) &&
    meets(claim.serviceAccountName, peer.serviceAccountName) &&
    meets(claim.containerName, peer.containerName) &&
    relationOf(claim.labels, peer.labels) !== undefined
  )
}

/** The container of a variant's claim is undefined, and equals no other. */
function meets(one: string | undefined, other: string | undefined): boolean {
  if (one === undefined || other === undefined) return one === other
  return one === other || one === ANY || other === ANY
}

function saysOther(before: JsonRecord | undefined, after: JsonRecord): boolean {
  return (
    !deepEqual(before?.['spec'], after['spec']) ||
    !deepEqual(dig(before, 'metadata', 'annotations'), dig(after, 'metadata', 'annotations'))
  )
}

function describe({ name, life, unforeseen, claims }: Made): string {
  const containers = claims.map(({ containerName }) => containerName).join(', ')
  return `${name} (${containers}, by #${life}, unforeseen: ${unforeseen})`
}
