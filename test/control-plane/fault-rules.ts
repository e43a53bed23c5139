// What a proxy is to do to which requests, and what waits until a test lets go of it.
import { until } from '@kleym/testing/wait.ts'
import type { ObservedRequest } from './observed-request.ts'

/** What happens to a request. */
export type Fault =
  /** Answered by the proxy; the server never sees the request. */
  | {
      readonly kind: 'answer'
      readonly status: number
      readonly reason?: string
      readonly retryAfterSeconds?: number
      /** A page of text in place of a Status. */
      readonly page?: string
    }
  /** The connection breaks and the server never sees the request. */
  | { readonly kind: 'drop' }
  /** The server carries the request out; the connection breaks before its answer passes. */
  | { readonly kind: 'drop answer' }
  /** The request waits in the proxy; `release` forwards it, even when its client is gone, or drops it. */
  | { readonly kind: 'hold' }
  /** The server carries the request out; `release` passes its answer or drops it. Of a watch, it holds every byte. */
  | { readonly kind: 'hold answer' }

/** Which requests a fault hits; everything given must hold. */
export interface FaultRule {
  readonly method?: string
  /** Tried on the path with its query. */
  readonly path?: RegExp
  /** Anything else, e.g. the user agent or the body. */
  readonly when?: (request: ObservedRequest) => boolean
  /** The first matching request that is hit, counted from 1; 1 when absent. */
  readonly nth?: number
  /** How many are hit from there; 1 when absent, `Infinity` for all. */
  readonly count?: number
  readonly fault: Fault
}

/** A rule in force. */
export interface Injection {
  /** The requests that it has hit, oldest first. */
  readonly hits: readonly ObservedRequest[]
  /** Waits until it has done its fault to `count` requests: an answer that is to be held is there. */
  hit(count?: number): Promise<void>
  /** Lets go of everything that is held now and in future: `forward` (or pass the answer) when absent, or `drop`. */
  release(how?: 'forward' | 'drop'): void
  /** No further request is hit. What is held stays held until `release`. */
  remove(): void
}

/** What becomes of a held request or answer. */
export type HeldRelease = 'forward' | 'drop'

/** A rule that was injected, and what it has done so far. */
export interface ActiveRule {
  readonly rule: FaultRule
  readonly hits: ObservedRequest[]
  seen: number
  release?: HeldRelease
  readonly held: Set<(release: HeldRelease) => void>
}

/** Adds a rule to those of a proxy. */
export function inject(rules: ActiveRule[], rule: FaultRule): Injection {
  const active: ActiveRule = { rule, hits: [], seen: 0, held: new Set() }
  rules.push(active)
  return {
    hits: active.hits,
    hit: async (count = 1) => {
      await until(
        () => active.hits.filter(({ outcome }) => outcome !== 'pending').length >= count,
        `${count} request(s) to be hit by '${rule.fault.kind}' on ${rule.method ?? 'any method'} ${String(rule.path ?? '')}`,
      )
    },
    release: (how = 'forward') => {
      active.release = how
      for (const go of active.held) go(how)
      active.held.clear()
    },
    remove: () => {
      const at = rules.indexOf(active)
      if (at >= 0) rules.splice(at, 1)
    },
  }
}

/** The oldest rule that is due for a request; every rule that matches counts it. */
export function dueRule(rules: readonly ActiveRule[], request: ObservedRequest): ActiveRule | undefined {
  let due: ActiveRule | undefined = undefined
  for (const active of rules) {
    const { method, path, when, nth = 1, count = 1 } = active.rule
    if (method !== undefined && method !== request.method) continue
    if (path !== undefined && !path.test(request.path)) continue
    if (when !== undefined && !when(request)) continue
    active.seen++
    if (due === undefined && active.seen >= nth && active.seen < nth + count) due = active
  }
  due?.hits.push(request)
  return due
}

/** Holds a request until its rule is released; at once where that has happened. */
export function released(active: ActiveRule, observed: ObservedRequest): Promise<HeldRelease> {
  if (active.release !== undefined) return Promise.resolve(active.release)
  observed.outcome = 'held'
  return new Promise((resolve) => {
    active.held.add(resolve)
  })
}
