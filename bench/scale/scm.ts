// SCM beside an operator on a played API server: passes over all outputs, and at the end of each the statuses, one after the other.
// What SCM asks the API server for is not played, since the operator sees none of it; nor is the length of a pass.
import { DEFAULT_GC_SECONDS } from '../../shared/src/core/analysis/budgets/scm-pass.ts'
import type { JsonRecord } from '../../shared/src/core/base/json.ts'
import type { PlayedApiServer } from './api-server.ts'

/** The kind of an output, as the played API server names it. */
const OUTPUTS = 'spire.spiffe.io/clusterspiffeids'
/** After how many statuses requests of the operator have their turn. */
const SLICE = 20

/** Writes the statuses of outputs. */
export class PlayedScm {
  readonly #server: PlayedApiServer
  /** How many pods each output reaches, as was last written. */
  readonly #pods = new Map<string, number>()
  #stop: () => void = () => {}

  constructor(server: PlayedApiServer) {
    this.#server = server
  }

  /** Makes passes from now on, in which each output reaches so many pods. */
  start(pods: number): void {
    const timer = setInterval(() => void this.pass(pods), DEFAULT_GC_SECONDS * 1000)
    this.#stop = () => clearInterval(timer)
  }

  stop(): void {
    this.#stop()
  }

  /** Writes the status of each output that reaches another number of pods by now. How many there were. */
  async pass(pods: number): Promise<number> {
    let written = 0
    for (const key of this.#server.keys(OUTPUTS)) {
      if (this.#pods.get(key) === pods) continue
      this.#pods.set(key, pods)
      this.#server.setStatus(OUTPUTS, key, statusOf(pods))
      written += 1
      if (written % SLICE === 0) await new Promise((resolve) => setImmediate(resolve))
    }
    return written
  }
}

/** The status of an output that reaches so many pods. */
export function statusOf(pods: number): JsonRecord {
  return {
    stats: {
      namespacesSelected: 1,
      namespacesIgnored: 0,
      podsSelected: pods,
      podEntryRenderFailures: 0,
      entriesMasked: 0,
      entriesToSet: pods,
      entryFailures: 0,
    },
  }
}
