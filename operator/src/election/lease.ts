// What this process knows of the Lease, and the two ways in which it writes it. Every write carries the resource version
// that was read, or creates: of several processes that try at once the API server lets one through.
import { isRecord, own, stringAt, type JsonRecord } from '@kleym/shared/core/base/json.ts'
import type { Api } from '@kleym/shared/kube/api.ts'
import type { Clock } from '@kleym/shared/kube/clock.ts'
import { isNotFound } from '@kleym/shared/kube/failures.ts'
import { LEASES } from '@kleym/shared/kube/resources.ts'
import { microTime } from '@kleym/shared/kube/micro-time.ts'

export interface LeaseName {
  readonly namespace: string
  readonly name: string
}

/** Who wants the Lease. */
export interface LeaseCandidate {
  readonly identity: string
  readonly durationMs: number
}

/** The last change of the Lease that was seen. */
interface SeenLease {
  readonly holder: string
  /** The specification as text: a label that a person sets on the Lease is no sign of life of its holder. */
  readonly text: string
  readonly durationMs: number
  /** When it was seen first, in monotonic milliseconds. */
  readonly atMs: number
}

/** The calls that an election needs. */
export type LeaseApi = Pick<Api, 'get' | 'create' | 'update'>

/** All calls reject as those of `Api` do. */
export class LeaseRecord {
  readonly #api: LeaseApi
  readonly #clock: Clock
  readonly #name: LeaseName
  readonly #candidate: LeaseCandidate
  /** Undefined: not read yet, or not there. */
  #lease: JsonRecord | undefined
  /** Outlives the Lease: one that is deleted by hand is still its holder's for as long as the holder counts on it. */
  #seen: SeenLease | undefined

  constructor(api: LeaseApi, clock: Clock, name: LeaseName, candidate: LeaseCandidate) {
    this.#api = api
    this.#clock = clock
    this.#name = name
    this.#candidate = candidate
  }

  async read(signal: AbortSignal): Promise<void> {
    try {
      this.#see(await this.#api.get(LEASES, this.#name, { signal }))
    } catch (error) {
      if (!isNotFound(error, LEASES, this.#name.name)) throw error
      this.#lease = undefined
    }
  }

  /** Writes this process as the holder, from now on. */
  async take(signal: AbortSignal): Promise<void> {
    const spec = own(this.#lease, 'spec')
    const now = microTime(this.#clock.now())
    const kept = this.isOurs() ? own(spec, 'acquireTime') : undefined
    const transitions = Number(own(spec, 'leaseTransitions') ?? 0)
    await this.#write(signal, {
      holderIdentity: this.#candidate.identity,
      leaseDurationSeconds: Math.ceil(this.#candidate.durationMs / 1000),
      acquireTime: kept ?? now,
      renewTime: now,
      leaseTransitions: this.#lease === undefined || this.isOurs() ? transitions : transitions + 1,
    })
  }

  /** Writes that the Lease has no holder. client-go shortens the duration too, for readers that look at nothing else. */
  async release(signal: AbortSignal): Promise<void> {
    const now = microTime(this.#clock.now())
    await this.#write(signal, {
      holderIdentity: '',
      leaseDurationSeconds: 1,
      acquireTime: now,
      renewTime: now,
    })
  }

  isOurs(): boolean {
    return this.#lease !== undefined && this.#seen?.holder === this.#candidate.identity
  }

  isAnothers(): boolean {
    return this.#lease !== undefined && this.#seen !== undefined && !this.isOurs() && this.#seen.holder !== ''
  }

  /** Whether this process may take the Lease. */
  isFree(): boolean {
    return this.heldForMs() === undefined
  }

  /** For how much longer another process may count on the Lease, in milliseconds; undefined when none may. */
  heldForMs(): number | undefined {
    const holder = this.#seen?.holder ?? ''
    if (this.#seen === undefined || holder === '' || holder === this.#candidate.identity) return undefined
    const leftMs = this.#seen.atMs + this.#seen.durationMs - this.#clock.monotonicMs()
    return leftMs > 0 ? leftMs : undefined
  }

  async #write(signal: AbortSignal, changes: JsonRecord): Promise<void> {
    const before = this.#lease
    const spec = own(before, 'spec')
    const metadata = own(before, 'metadata')
    const lease = {
      apiVersion: `${LEASES.group}/${LEASES.version}`,
      kind: LEASES.kind,
      metadata: { ...(isRecord(metadata) ? metadata : {}), ...this.#name },
      spec: { ...(isRecord(spec) ? spec : {}), ...changes },
    }
    this.#see(
      before === undefined
        ? await this.#api.create(LEASES, lease, { signal })
        : await this.#api.update(LEASES, lease, { signal }),
    )
  }

  #see(lease: JsonRecord): void {
    this.#lease = lease
    const spec = own(lease, 'spec')
    const text = JSON.stringify(spec) ?? ''
    if (text === this.#seen?.text) return
    const seconds = Number(own(spec, 'leaseDurationSeconds') ?? 0)
    this.#seen = {
      holder: stringAt(spec, 'holderIdentity') ?? '',
      text,
      // A holder that wrote a shorter time than ours may still count on ours.
      durationMs: Math.max(this.#candidate.durationMs, seconds * 1000),
      atMs: this.#clock.monotonicMs(),
    }
  }
}
