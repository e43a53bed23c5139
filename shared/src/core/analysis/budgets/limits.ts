// The limits that users of SPIRE have met, each with its source, and what of a state is above one.
import { AGENT_DEFAULTS } from '../../model/objects/agent-config.ts'
import { fullestOf, type Budgets } from './budgets.ts'
import type { ScmPass } from './scm-pass.ts'

/** A number that something should stay below, and who says so. */
export interface Limit {
  readonly value: number
  /** A page of the upstream project. */
  readonly source: string
}

/** The limits (docs/scale.md). */
export const LIMITS = {
  /** Entries of one agent: it keeps the SVIDs of so many, if it is not told otherwise. */
  ofAgent: {
    value: AGENT_DEFAULTS.svidsKept,
    source: 'https://github.com/spiffe/spire/issues/7175',
  },
  /** Entries that one process matches: with 8,000 its fetch fails with DeadlineExceeded or ResourceExhausted. */
  ofProcess: { value: 8_000, source: 'https://github.com/spiffe/spire/pull/3181' },
  /** Pods for which SCM has needed 512 MiB. */
  podsOfHalfGiB: { value: 4_000, source: 'https://github.com/spiffe/helm-charts-hardened/issues/851' },
  /** Of a pass, in parts of `gcInterval`: an idle SCM then does nothing but list. */
  passOfInterval: { value: 1, source: 'https://github.com/spiffe/spire-controller-manager/issues/663' },
} as const satisfies Readonly<Record<string, Limit>>

/** Something above a limit: a clause without a full stop, and the source of the limit. */
export interface OverLimit {
  readonly limit: keyof typeof LIMITS
  readonly text: string
  readonly source: string
}

/** What is above a limit for certain, in the order of `LIMITS`. `svidsKept` is what agents are set to. */
export function overLimits(
  budgets: Pick<Budgets, 'byNode' | 'ofContainer' | 'pods'>,
  pass: ScmPass,
  svidsKept: number = LIMITS.ofAgent.value,
): readonly OverLimit[] {
  const over = (limit: keyof typeof LIMITS, text: string): OverLimit => ({
    limit,
    text,
    source: LIMITS[limit].source,
  })
  const found: OverLimit[] = []
  const node = fullestOf(budgets.byNode)
  if (node !== undefined && node.entries > svidsKept) {
    const others = [...budgets.byNode.values()].filter((entries) => entries > svidsKept).length - 1
    const more =
      others === 0 ? '' : `, and ${others} more ${others === 1 ? 'node has' : 'nodes have'} too many`
    found.push(
      over(
        'ofAgent',
        `node ${node.name} has ${node.entries} entries, and its agent keeps the SVIDs of ${svidsKept} (x509_svid_cache_max_size): a process that asks for another waits for its signature${more}`,
      ),
    )
  }
  const { ofContainer, pods } = budgets
  if (ofContainer !== undefined && ofContainer.entries >= LIMITS.ofProcess.value)
    found.push(
      over(
        'ofProcess',
        `${ofContainer.name} matches ${ofContainer.entries} entries: with ${LIMITS.ofProcess.value} its fetch fails (DeadlineExceeded, ResourceExhausted)`,
      ),
    )
  if (pods > LIMITS.podsOfHalfGiB.value) {
    const mib = Math.ceil((pods / LIMITS.podsOfHalfGiB.value) * 512)
    found.push(
      over(
        'podsOfHalfGiB',
        `SCM needed 512 MiB for ${LIMITS.podsOfHalfGiB.value} pods: for ${pods} give it about ${mib} MiB`,
      ),
    )
  }
  if (pass.seconds > pass.gcSeconds * LIMITS.passOfInterval.value)
    found.push(
      over(
        'passOfInterval',
        `a pass of SCM takes about ${secondsText(pass.seconds)}, longer than its gcInterval of ${secondsText(pass.gcSeconds)}: a change may wait for two passes`,
      ),
    )
  return found
}

/** `less than 0.1 s`, `0.4 s`, `12 s`. */
export function secondsText(seconds: number): string {
  if (seconds < 0.1) return 'less than 0.1 s'
  return `${seconds < 10 ? Math.round(seconds * 10) / 10 : Math.round(seconds)} s`
}
