// The operator of this bench, as a kubelet would keep it: started again when it ends, and looked at all the time.
import type { ControlPlane } from '../../test/control-plane/control-plane.ts'
import { startOperator, type OperatorOptions } from '../../test/control-plane/operator.ts'
import { pauseFor, until } from '@kleym/testing/wait.ts'
import { usageOf } from '../operator/usage.ts'

/** One phase's operator, with what it has come to so far. */
export interface WatchedOperator {
  /** The most resident memory of any of its lives, in MiB. */
  readonly peak: () => number
  /** How each life has ended that the bench did not end. */
  readonly deaths: readonly string[]
  /** The bound of the histogram that no turn of the event loop was later than in this life, in seconds; `?` without metrics. */
  lag(): Promise<string>
  /** How many bindings it has come to an outcome for, and whether none waits. Rejects where it gives no metrics. */
  progress(): Promise<{ readonly decided: number; readonly idle: boolean }>
  leads(): Promise<void>
  stop(): Promise<void>
}

const LOOK_MS = 200

/** Starts it; it is not waited for. */
export async function watchOperator(
  cp: ControlPlane,
  start: Pick<OperatorOptions, 'command'>,
): Promise<WatchedOperator> {
  let operator = await startOperator(cp, start)
  let peak = 0
  const over = new AbortController()
  const deaths: string[] = []
  const looking = (async () => {
    while (!over.signal.aborted) {
      const how = operator.program.ended()
      if (how === undefined) peak = Math.max(peak, peakOf(operator.program.pid))
      else {
        deaths.push(`${how}: ${operator.program.lastWords().split('\n').at(-1) ?? ''}`)
        operator = await startOperator(cp, start)
      }
      await pauseFor(LOOK_MS)
    }
  })()
  return {
    peak: () => peak,
    deaths,
    lag: async () => latestTurn(await operator.metrics().catch(() => '')),
    progress: async () => {
      const metrics = await operator.metrics()
      const waiting = sumOf(metrics, 'workqueue_depth') + sumOf(metrics, 'workqueue_unfinished_work_seconds')
      return { decided: sumOf(metrics, 'kleym_identity_bindings'), idle: waiting === 0 }
    },
    leads: async () => {
      await until(
        () => operator.log().some(({ message }) => message === 'leading'),
        `the operator to lead; its ends so far: ${deaths.join('; ') || 'none'}`,
        LEADS_MS,
      )
    },
    stop: async () => {
      over.abort()
      await looking
      await operator.stop()
    },
  }
}

/** A start lists everything first, which may take the API server minutes. */
const LEADS_MS = 300_000

/** In MiB; 0 for a process that has ended since. */
function peakOf(pid: number): number {
  try {
    const { peak } = usageOf(pid)
    return Number.isNaN(peak) ? 0 : peak / 2 ** 20
  } catch {
    return 0
  }
}

/** The sum of all samples of a metric. */
function sumOf(metrics: string, name: string): number {
  return metrics
    .split('\n')
    .filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `))
    .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0)
}

/** The bucket of the histogram that holds the latest turn. */
function latestTurn(metrics: string): string {
  const counts = [...metrics.matchAll(/^kleym_event_loop_lag_seconds_bucket\{le="([^"]+)"\} (\d+)$/gm)].map(
    ([, bound = '', turns = '']) => ({ bound, turns: Number(turns) }),
  )
  const all = counts.at(-1)?.turns
  return counts.find(({ turns }) => turns === all)?.bound ?? '?'
}
