// How long it takes from `apply` of a binding to the SVID of a process: the operator, a pass of SCM, the cache of the server, the
// sync of the agent. Each waits for the one before, and most of it is waiting for a timer.
import { LOCAL_COSTS, scmPass, type ScmCosts } from './scm-pass.ts'
import { AGENT_DEFAULTS } from '../../model/objects/agent-config.ts'

/** One step of the way: what it takes on average, and at most. */
export interface DelayPart {
  readonly name: 'operator' | 'SCM' | 'server' | 'agent'
  readonly typicalSeconds: number
  readonly mostSeconds: number
}

/** The whole way. */
export interface Delay {
  readonly parts: readonly DelayPart[]
  readonly typicalSeconds: number
  readonly mostSeconds: number
}

/** The size of an estate and its settings. */
export interface DelayQuestion {
  /** All entries of the server. */
  readonly entries: number
  /** Those that the change makes. */
  readonly made: number
  readonly gcIntervalSeconds?: number | undefined
  /** `sync_interval` of the agent; its default if absent. */
  readonly syncSeconds?: number | undefined
  /** `cache_reload_interval` of the server; its default if absent. */
  readonly reloadSeconds?: number | undefined
  readonly costs?: DelayCosts
}

/** What each entry costs, and what no size changes, in seconds. */
export interface DelayCosts extends ScmCosts {
  /** To read it into the cache of the server, which reads all of them each time. */
  readonly reload: number
  /** From the event of a binding to its ClusterSPIFFEID, whatever the size. */
  readonly operator: number
  /** From the answer of the server to a signed SVID in the hand of the process, whatever the size. */
  readonly sign: number
}

/**
 * Estimates: the timers decide far more. The operator's part is that of docs/performance.md; an agent looks for SVIDs to sign every half
 * second (https://github.com/spiffe/spire/blob/v1.15.3/pkg/agent/manager/cache/lru_cache.go).
 */
export const LOCAL_DELAYS: DelayCosts = { ...LOCAL_COSTS, reload: 0.000_03, operator: 0.1, sign: 0.5 }

/** `cache_reload_interval`: https://github.com/spiffe/spire/blob/v1.15.3/doc/spire_server.md */
export const DEFAULT_RELOAD_SECONDS = 5
/** An agent varies its interval by a tenth: https://github.com/spiffe/spire/blob/v1.15.3/pkg/common/backoff/backoff.go */
const JITTER = 1.1

/** Works the delay out. */
export function delayOf({ costs = LOCAL_DELAYS, ...question }: DelayQuestion): Delay {
  const {
    entries,
    made,
    syncSeconds = AGENT_DEFAULTS.syncSeconds,
    reloadSeconds = DEFAULT_RELOAD_SECONDS,
  } = question
  const { operator, sign } = costs
  const reload = entries * costs.reload
  const parts: readonly DelayPart[] = [
    { name: 'operator', typicalSeconds: operator, mostSeconds: 2 * operator },
    scmPart(entries, made, question, costs),
    // It reads all entries, and then waits for the interval: an entry that comes while it reads is in the next cache.
    {
      name: 'server',
      typicalSeconds: (reloadSeconds + reload) / 2 + reload,
      mostSeconds: reloadSeconds + 2 * reload,
    },
    {
      name: 'agent',
      typicalSeconds: syncSeconds / 2 + sign,
      mostSeconds: syncSeconds * JITTER + 2 * sign,
    },
  ]
  return {
    parts,
    typicalSeconds: sum(parts.map(({ typicalSeconds }) => typicalSeconds)),
    mostSeconds: sum(parts.map(({ mostSeconds }) => mostSeconds)),
  }
}

/**
 * SCM lists the entries first and reads the registrations then. What comes while it lists is in this pass; what comes later is lost as an event,
 * and waits for `gcInterval` and for the next pass
 * (https://github.com/spiffe/spire-controller-manager/blob/v0.7.0/pkg/reconciler/reconciler.go).
 */
function scmPart(
  entries: number,
  made: number,
  { gcIntervalSeconds }: Pick<DelayQuestion, 'gcIntervalSeconds'>,
  costs: DelayCosts,
): DelayPart {
  const { listSeconds: list, seconds, gcSeconds } = scmPass(entries, { gcIntervalSeconds }, costs)
  const rest = seconds - list
  const making = made * costs.make
  const cycle = seconds + gcSeconds
  const idle = gcSeconds * (seconds + making)
  const listing = list * (list / 2 + rest + making)
  const late = rest * (rest / 2 + gcSeconds + seconds + making)
  return {
    name: 'SCM',
    typicalSeconds: cycle === 0 ? making : (idle + listing + late) / cycle,
    mostSeconds: rest + gcSeconds + seconds + making,
  }
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((all, one) => all + one, 0)
}
