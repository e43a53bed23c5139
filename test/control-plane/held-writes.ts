// Writes of an operator that a proxy holds back, each found by what it writes, until a test lets go of them in the order that a
// seed decides: what a network does that is slow, or half-open, while another operator takes over.
import type { Dice } from '../../operator/test/simulation/dice.ts'
import { writePoint } from './convergence.ts'
import type { FaultProxy } from './fault-proxy.ts'
import type { Injection } from './fault-rules.ts'
import { until } from '@kleym/testing/wait.ts'

/** Which writes a test holds back. */
export interface WritesToHold {
  /** By `writePoint`: those that do not reach the API server until they are let go. */
  readonly unsent: readonly RegExp[]
  /** Those that are carried out at once, and whose answers wait. */
  readonly unanswered: readonly RegExp[]
}

/** Writes that are held back, the first of each pattern. */
export interface HeldWrites {
  /** Waits until the proxy holds one write for each pattern, those of `unanswered` carried out. */
  held(): Promise<void>
  /**
   * Lets go of them one after the other, in an order that the dice decide. Resolves with what the API server answered to those
   * that had not reached it, e.g. `409 DELETE ClusterSPIFFEID kleym-...`.
   */
  deliver(dice: Dice): Promise<readonly string[]>
}

/** Holds back the next write of each pattern. */
export function holdWrites(proxy: FaultProxy, { unsent, unanswered }: WritesToHold): HeldWrites {
  const hold = (point: RegExp, kind: 'hold' | 'hold answer'): Injection =>
    proxy.inject({ when: (request) => point.test(writePoint(request) ?? ''), fault: { kind } })
  const before = unsent.map((point) => ({ point, injection: hold(point, 'hold') }))
  const after = unanswered.map((point) => ({ point, injection: hold(point, 'hold answer') }))
  const all = [...before, ...after]
  return {
    held: async () => {
      for (const { point, injection } of all) {
        await until(() => injection.hits[0]?.outcome === 'held', `${String(point)} to be held`)
      }
    },
    deliver: async (dice) => {
      const answers: string[] = []
      for (const { point, injection } of dice.some(all, all.length)) {
        injection.release()
        const [request] = injection.hits
        const status = await until(() => request?.status, `${String(point)} to be answered`)
        if (request !== undefined && unsent.includes(point)) {
          answers.push(`${status} ${writePoint(request)}`)
        }
      }
      return answers
    },
  }
}
