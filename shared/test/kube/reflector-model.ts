// A reflector, its store, and a writer beside it that observes and confirms, against a simulated API server; with what
// must be true of the cache at every step.
import type { JsonRecord } from '../../src/core/base/json.ts'
import { readMeta, type ObjectMeta } from '../../src/core/model/objects/meta.ts'
import { ApiError, ConnectionError } from '../../src/kube/errors.ts'
import { Reflector } from '../../src/kube/reflector.ts'
import { compareVersions, isNewer } from '../../src/kube/resource-version.ts'
import { objectKey, Store, type StoreChange } from '../../src/kube/store.ts'
import { FakeClock } from '@kleym/testing/fake-clock.ts'
import { SimulatedServer, type Choose, type RequestFate } from './simulated-server.ts'

interface Thing {
  readonly meta: ObjectMeta
}

const NAMES = ['a', 'b', 'c'] as const
const RESOURCE = { group: 'g', version: 'v1', plural: 'things', kind: 'Thing', namespaced: true }
const FAULTS: readonly RequestFate[] = ['reset', 'stalled', 'expired', 'throttled', 'failed', 'ended']

const FAULT = new Error('a fault of a listener')

/** A version that no run comes to. */
const LATER = '9'.repeat(30)

/** Steps that a settled server may need at most to be followed. */
const PATIENCE = 500

function read(raw: JsonRecord): Thing | undefined {
  return raw['broken'] === true ? undefined : { meta: readMeta(raw) }
}

export class ReflectorModel {
  readonly clock = new FakeClock()
  readonly store = new Store<Thing>({
    onError: (error) => this.claim(error === FAULT, `a listener threw ${String(error)}`),
  })
  readonly server: SimulatedServer
  readonly reflector: Reflector<Thing>
  /** What went against the rules. */
  readonly faults: string[] = []
  readonly choose: Choose
  readonly byUid = this.store.index(({ meta }) => [meta.uid ?? ''])
  /** What a listener knows who has heard every change. */
  readonly mirror = new Map<string, Thing>()
  readonly confirmedGone = new Set<string>()
  /** The objects that calls of our own have confirmed gone, as they were last seen, by UID. */
  readonly lastSeen = new Map<string, ObjectMeta>()
  /** UIDs that were once unreadable: the stream may take them out and in again. */
  readonly onceBroken = new Set<string>()
  /** The newest version that a call of our own has shown of each key. */
  readonly floors = new Map<string, string>()
  split = false

  constructor(choose: Choose) {
    this.choose = choose
    this.server = new SimulatedServer(choose)
    for (const name of NAMES) if (choose(2) === 0) this.server.write(name)
    this.store.subscribe((change) => this.hear(change))
    // A listener that throws now and then, before and after a good one.
    this.store.subscribe(() => {
      if (choose(5) === 0) throw FAULT
    })
    this.reflector = new Reflector({
      api: this.server,
      resource: RESOURCE,
      store: this.store,
      read,
      clock: this.clock,
      random: () => choose(100) / 100,
    })
  }

  hear(change: StoreChange<Thing>): void {
    const key = objectKey((change.kind === 'removed' ? change.before : change.now).meta)
    if (change.kind === 'added') this.claim(!this.mirror.has(key), `${key} was added twice`)
    else this.claim(this.mirror.get(key) === change.before, `${key} was ${change.kind} from what it was not`)
    if (change.kind === 'updated') {
      const { before, now } = change
      this.claim(now.meta.uid === before.meta.uid, `${tag(before)} was updated to ${tag(now)}`)
      this.claim(isNewer(now.meta.resourceVersion, before.meta.resourceVersion), `${tag(now)} is not newer`)
    }
    if (change.kind === 'removed') this.mirror.delete(key)
    else this.mirror.set(key, change.now)
  }

  /** One thing happens, by choice. */
  step(): void {
    const name = NAMES[this.choose(NAMES.length)] ?? 'a'
    switch (this.choose(10)) {
      case 0:
        this.server.write(name)
        break
      case 1:
        this.server.remove(name)
        break
      case 2:
        this.onceBroken.add(readMeta(this.server.write(name, true)).uid ?? '')
        break
      case 3:
        if (this.choose(4) === 0) this.server.compact()
        if (this.choose(6) === 0) this.split = !this.split
        break
      case 4:
        this.clock.advance([100, 1000, 30_000, 600_000][this.choose(4)] ?? 0)
        break
      case 5:
      case 6:
        void this.act(name)
        break
      default:
        this.server.release(this.split ? 'reset' : this.fate())
    }
  }

  fate(): RequestFate {
    return this.choose(4) === 0 ? (FAULTS[this.choose(FAULTS.length)] ?? 'reset') : 'answered'
  }

  /** A call of our own: the server acts at one turn, and its answer reaches us at another. */
  async act(name: string): Promise<void> {
    const seen = this.store.get(`ns/${name}`)?.meta
    const kind = this.choose(3)
    try {
      await this.server.turn()
      const live = this.server.objects.get(name)
      if (kind === 0) await this.answered(this.server.write(name))
      else if (kind === 1) await this.looked(seen, live)
      else if (seen !== undefined && readMeta(live).uid === seen.uid) {
        this.server.remove(name)
        await this.gone(seen)
      }
    } catch (error) {
      // The call failed; whatever it did, the stream will tell.
      this.claim(error instanceof ApiError || error instanceof ConnectionError, String(error))
    }
  }

  async looked(seen: ObjectMeta | undefined, live: JsonRecord | undefined): Promise<void> {
    if (live !== undefined) await this.answered(live)
    if (seen !== undefined && readMeta(live).uid !== seen.uid) await this.gone(seen)
  }

  async answered(raw: JsonRecord): Promise<void> {
    await this.server.turn()
    const object = read(raw)
    if (object === undefined) return
    this.store.observe(object)
    this.raiseFloor(object.meta)
    const { uid = '' } = object.meta
    const isHeld = this.store.get(objectKey(object.meta)) !== undefined
    // An answer may be dropped only when what it shows is history.
    if (!isHeld && !this.onceBroken.has(uid))
      this.claim(!this.server.isAlive(uid), `${tag(object)} was observed, lives and is not held`)
  }

  async gone(seen: ObjectMeta): Promise<void> {
    await this.server.turn()
    this.store.confirmGone(seen)
    this.lastSeen.set(seen.uid ?? '', seen)
    this.raiseFloor(seen)
    if (!this.onceBroken.has(seen.uid ?? '')) this.confirmedGone.add(seen.uid ?? '')
  }

  raiseFloor(meta: ObjectMeta): void {
    const key = objectKey(meta)
    const order = compareVersions(meta.resourceVersion, this.floors.get(key))
    if (order === undefined || order > 0) this.floors.set(key, meta.resourceVersion ?? '')
  }

  /** What holds at every moment. */
  check(): void {
    const told = [...this.mirror.values()].map(tag).toSorted().join()
    this.claim(told === this.held(), `listeners know ${told}, the store holds ${this.held()}`)
    for (const object of this.store.values()) {
      const { uid = '', resourceVersion } = object.meta
      const floor = this.floors.get(objectKey(object.meta))
      const indexed = this.byUid.get(uid)
      this.claim(indexed.size === 1 && indexed.has(object), `the index lost ${tag(object)}`)
      this.claim(!this.confirmedGone.has(uid), `${tag(object)} is a ghost`)
      this.claim(!isNewer(floor ?? '0', resourceVersion), `${tag(object)} is older than what was seen live`)
    }
  }

  claim(holds: boolean, otherwise: string): void {
    if (!holds) this.faults.push(otherwise)
  }

  held(): string {
    return [...this.store.values()].map(tag).toSorted().join()
  }

  /** What a perfect cache would hold. */
  truth(): string {
    return [...this.server.objects.values()]
      .flatMap((raw) => read(raw) ?? [])
      .map(tag)
      .toSorted()
      .join()
  }

  isSettled(): boolean {
    const hasSeenAll = this.store.seen === this.server.version
    return this.reflector.state.kind === 'synced' && this.truth() === this.held() && hasSeenAll
  }

  /** Lets the server and time go on without faults, until the store has caught up or the patience is over. */
  async settle(): Promise<void> {
    this.split = false
    this.server.isPrompt = true
    for (let step = 0; step < PATIENCE && !this.isSettled(); step++) {
      if (this.server.waiting > 0) this.server.release('answered')
      else this.clock.advance(this.clock.nextIn ?? 0)
      await flush()
      this.check()
    }
    const state = `${this.reflector.state.kind}, at ${this.store.seen} of ${this.server.version}`
    this.claim(this.isSettled(), `holds ${this.held()} rather than ${this.truth()} in the end (${state})`)
    this.checkTombstones()
  }

  /** Ends the run: no tombstone outlives what the stream can show, so the store takes what is gone for new objects. */
  checkTombstones(): void {
    for (const [at, meta] of [...this.lastSeen.values()].entries()) {
      // Each is later than the one before it: events come in the order of their versions.
      const again: Thing = { meta: { ...meta, resourceVersion: LATER + '0'.repeat(at) } }
      this.store.apply('ADDED', again)
      this.claim(this.store.get(objectKey(meta)) === again, `the tombstone of ${tag(again)} is still there`)
    }
  }
}

function tag({ meta }: Thing): string {
  return `${objectKey(meta)}/${meta.uid}@${meta.resourceVersion}`
}

/** Lets everything run that can go on without the test. */
export async function flush(): Promise<void> {
  await new Promise((resolve) => {
    setImmediate(resolve)
  })
}

/** Choices from a list that fast-check can shrink; zeros when it is used up. */
export function choices(tape: readonly number[]): Choose {
  let at = 0
  return (count) => (tape[at++ % tape.length] ?? 0) % Math.max(1, count)
}
