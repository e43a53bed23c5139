// What `status` tells of an installation, as data.
import {
  countConditions,
  countInForce,
  inForceText,
  oldestStuck,
  type ConditionCount,
  type InForceCount,
  type InForceText,
  type Stuck,
  readOperatorDeployment,
  type OperatorDeployment,
  type ScmContainer,
  acts,
  outputHandling,
  type ScmInstance,
  overLimits,
  scmPass,
  type OverLimit,
  type ScmPass,
} from '@kleym/shared/core/analysis/index.ts'
import { CLUSTER_SPIFFE_ID, qualifiedKind, kindKey } from '@kleym/shared/core/model/kinds.ts'
import { readOutputStats, sumOfStats, type StatsSum } from '@kleym/shared/core/model/objects/output-stats.ts'
import { inForceOf, readyOf } from '@kleym/shared/core/model/objects/binding.ts'
import { IN_FORCE_CONDITION } from '@kleym/shared/core/model/names.ts'
import { showsScm } from '@kleym/shared/core/decide/index.ts'
import type { ObjectHandling } from '@kleym/shared/core/predict/index.ts'
import type { Hop } from '@kleym/shared/core/answers/index.ts'
import { unknownReasonText, type UnknownReason } from '@kleym/shared/core/model/unknown-reason.ts'
import { leaderUnknown, type Installation, type KindFact, type Leader } from '../../cluster/installation.ts'
import type { Timers } from './spire.ts'
import type { BudgetReport } from '../parts/budgets.ts'
import type { AnswerInput } from '../../gather/gather.ts'
import type { InstalledInput, InstalledScm } from '../../gather/installed.ts'

/** What the view and the JSON show of an installation. */
export interface StatusAnswer {
  readonly kinds: readonly KindFact[]
  /** Undefined: could not be looked for. */
  readonly operators: readonly OperatorDeployment[] | undefined
  /** Undefined: none is elected, or the Lease could not be read. */
  readonly leader: (Leader & { readonly isCurrent: boolean }) | undefined
  /** Why the Lease could not be read. */
  readonly leaderUnknown: UnknownReason | undefined
  /** Whether SCM handles kleym's class. */
  readonly scm: ObjectHandling
  /**
   * Every SCM whose configuration was found, the one that the answer is about first. What one does is unknown where only
   * its looks say that it is an SCM.
   */
  readonly scms: readonly ScmInstance[]
  /** The containers that run SCM; undefined: it is not known which do. */
  readonly scmContainers: readonly ScmContainer[] | undefined
  /** Undefined: bindings could not be listed. */
  readonly conditions: readonly ConditionCount[] | undefined
  readonly stuck: Stuck | undefined
  /** What statuses say of `InForce`; empty where none says anything. */
  readonly inForce: readonly InForceCount[]
  /** What the statuses of the ready bindings say of their outputs, one for each. */
  readonly outputs: readonly InForceText[]
  /** The hops of SPIRE as a whole. */
  readonly hops: readonly Hop[]
  /** What SCM's counters say of all ClusterSPIFFEIDs. */
  readonly counters: ScmCounters
  /** The entries that all pods ask for; undefined: pods were not read. */
  readonly budgets: BudgetReport | undefined
  readonly timers: Timers
}

/** What SCM's counters add up to. */
export interface ScmCounters extends StatsSum {
  /** Undefined: ClusterSPIFFEIDs could not be listed. */
  readonly pass: ScmPass | undefined
  /** What is above a limit. */
  readonly over: readonly OverLimit[]
}

/** Works out the answer; `now` tells whether a Lease still counts. */
export function statusAnswer(
  input: InstalledInput,
  { kinds, side, leader }: Installation,
  now: Date,
): Omit<StatusAnswer, 'hops' | 'budgets' | 'timers'> {
  const { after } = input
  const { read: bindings } = after.snapshot.bindings
  const inForce = countInForce(bindings)
  const scms = input.scm.instances.map((one) => proven(one, input.scm, inForce))
  const { containers } = input.scm
  const scmContainers = side.scmWorkloads === undefined && containers.length === 0 ? undefined : containers
  return {
    kinds,
    operators: side.operatorDeployments?.map(readOperatorDeployment),
    leader: leaderAt(leader, now),
    leaderUnknown: leaderUnknown(side),
    scm: scmHandling(input, scms),
    scms,
    scmContainers,
    conditions: after.snapshot.bindings.more() === undefined ? countConditions(bindings) : undefined,
    stuck: oldestStuck(bindings),
    inForce,
    counters: scmCounters(input, side),
    outputs: bindings
      .filter((binding) => readyOf(binding)?.status === 'True')
      .map((binding) => inForceText(inForceOf(binding))),
  }
}

/** Adds up what SCM's counters say. No pod is read for it. */
function scmCounters({ after }: InstalledInput, { objects }: Installation['side']): ScmCounters {
  const isKnown = after.snapshot.clusterSpiffeIds.more() === undefined
  const all = objects.filter(({ value }) => kindKey(value) === qualifiedKind(CLUSTER_SPIFFE_ID))
  const sum = sumOfStats(all.map(({ value }) => readOutputStats(value)))
  const pass = scmPass(sum.entries, after.settings)
  return {
    ...sum,
    pass: isKnown ? pass : undefined,
    over: overLimits({ byNode: new Map(), ofContainer: undefined, pods: 0 }, pass),
  }
}

/**
 * A user who may create a workload and a ConfigMap can make them look like an SCM of kleym's class, but not in SPIRE's own
 * namespace; and only an SCM can make the operator say what its counters say.
 */
function proven(one: ScmInstance, scm: InstalledScm, inForce: readonly InForceCount[]): ScmInstance {
  const namespace = one.at?.namespace ?? ''
  const isProven = scm.ownNamespaces.includes(namespace) || inForce.some(({ reason }) => showsScm(reason))
  if (isProven || !acts(one)) return one
  const why = `it claims so, as any workload can, and no binding's ${IN_FORCE_CONDITION} shows that it acts; if it is yours, pass --scm-namespace ${namespace}`
  return { ...one, handling: { state: 'unknown', why } }
}

/** Settings that are assumed take kleym's own class for SCM's: they must not pass for an answer, whatever was looked for. */
function scmHandling(input: InstalledInput, [first]: readonly ScmInstance[]): StatusAnswer['scm'] {
  const { config, settings } = input.after
  if (!isClassKnown(input)) return { state: 'unknown', why: "kleym's class is not known" }
  if (first !== undefined) return first.handling
  if (settings.assumed.includes('className')) return { state: 'unknown', why: "SCM's settings are not known" }
  return outputHandling(config, settings)
}

/** Whether something says which class kleym gives to its outputs. */
export function isClassKnown({ operator }: AnswerInput): boolean {
  return operator.classNameSource !== undefined
}

/** Why it is not known whether an operator acts whose replicas are available; undefined: one leads, or none is elected. */
export function whyNobodyLeads({
  operators = [],
  leader,
  leaderUnknown: why,
}: Pick<StatusAnswer, 'operators' | 'leader' | 'leaderUnknown'>): string | undefined {
  if (!operators.some(({ available }) => available > 0)) return undefined
  if (why !== undefined) return unknownReasonText(why)
  return leader === undefined || leader.isCurrent ? undefined : `no replica of it holds Lease ${leader.lease}`
}

function leaderAt(leader: Leader | undefined, now: Date): StatusAnswer['leader'] {
  if (leader === undefined) return undefined
  const until = Date.parse(leader.renewed) + leader.durationSeconds * 1000
  return { ...leader, isCurrent: leader.holder !== '' && now.getTime() < until }
}
