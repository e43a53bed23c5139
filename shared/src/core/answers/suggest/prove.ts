// Proves bindings before they exist: each plan is added to the snapshot, and the core that the operator runs decides it among
// everything else. A plan is proven if all of its bindings are Ready, none of them brings an error, and this is true of all
// plans together.
import type { Analysis } from '../../analysis/index.ts'
import { effectOf, type Effect } from '../explain/effect.ts'
import { subjectText, type Subject } from '../../model/objects/subject.ts'
import { type Finding, findingEntry } from '../../findings/index.ts'
import { getOrCreate } from '../../base/get-or-create.ts'
import { BINDING_KIND, CLUSTER_SPIFFE_ID_KIND } from '../../model/names.ts'
import type { Judgement, RefusalReason } from '../../decide/index.ts'
import type { Snapshot } from '../../snapshot/index.ts'
import type { Drive, Steps } from '../../base/steps.ts'
import { unknownReasonText, type UnknownReason } from '../../model/unknown-reason.ts'
import { BindingNames, CompanionNames } from './binding-names.ts'
import {
  boundaryText,
  candidateKey,
  withCandidates,
  type Candidate,
  type UnnamedCandidate,
} from './candidate.ts'
import type { NotSuggested } from './not-suggested.ts'
import type { Need, Plan } from './plans.ts'

/** A plan that did not stand, and why: the message of the operator's condition, or what a finding says. `open`: not beside others. */
export interface FailedPlan extends NotSuggested {
  /** What would settle it, where something could not be read. */
  readonly missing: UnknownReason | undefined
  /** What it collides with among all that was tried with it. */
  readonly against?: readonly Rival[]
}

/** A binding that another collides with, and that was tried together with it. */
interface Rival {
  readonly candidate: Candidate
  /** Whether it is of the same plan. */
  readonly isOwn: boolean
}

/** What became of a need. */
export interface ProvenNeed {
  readonly need: Need
  /** Empty where no plan stood. */
  readonly bindings: readonly Candidate[]
  /** The plan of `bindings`. */
  readonly plan: Plan | undefined
  /** Those that were tried before, in their order. */
  readonly failed: readonly FailedPlan[]
}

/** All needs, and the world in which all bindings of them exist. */
export interface Proof {
  readonly needs: readonly ProvenNeed[]
  /** The same snapshot with the proven bindings; the one that was given where there are none. */
  readonly world: Analysis
  /** What applying them does, from what is there once kleym has done what is due to what is there after them. */
  readonly effect: Effect
}

/** How a proof works things out. */
export interface ProofTools {
  /** Works out another snapshot under the same settings. */
  readonly analyse: (snapshot: Snapshot) => Steps<Analysis>
  readonly drive: Drive
}

interface Trial {
  readonly need: Need
  /** The plan that is tried; behind the last one where none is left. */
  at: number
  readonly failed: FailedPlan[]
}

/**
 * Proves as many needs as can be. Each round takes the next plan of every need whose plan failed, so it comes to an end. Two plans
 * that stand in each other's way both fail: once the others have settled, those that were left with nothing try again.
 */
export function* proving(needs: readonly Need[], analysis: Analysis, tools: ProofTools): Steps<Proof> {
  const trials = needs.map((need): Trial => ({ need, at: 0, failed: [] }))
  let active: ReadonlySet<Trial> = new Set(trials)
  for (;;) {
    const { named, world, effect } = yield* settlingTrials(trials, active, { analysis, tools })
    const gained = [...active].some((trial) => (named.get(trial) ?? []).length > 0)
    const again = trials.filter(wasInTheWay)
    if (!gained || again.length === 0) return { needs: provenNeeds(trials, named), world, effect }
    for (const trial of again) {
      trial.at = 0
      trial.failed.length = 0
    }
    active = new Set(again)
  }
}

/** Takes plans of the active trials away until what is left stands. */
function* settlingTrials(
  trials: readonly Trial[],
  active: ReadonlySet<Trial>,
  { analysis, tools }: { readonly analysis: Analysis; readonly tools: ProofTools },
): Steps<Pick<Proof, 'world' | 'effect'> & { readonly named: NamedTrials }> {
  for (;;) {
    const named = nameAll(trials, analysis.snapshot)
    const all = [...named.values()].flat()
    const world = all.length === 0 ? analysis : yield* tools.analyse(withCandidates(analysis.snapshot, all))
    const refused = failuresOf(named, (bindings) => refusalOf(bindings, world, all))
    if (refused.size > 0) fail(refused, active)
    else {
      const effect = effectOf(analysis.settled, world.settled, { drive: tools.drive })
      const harmed = harms(named, [...effect.findings.added, ...stillLost(named, effect.findings.unchanged)])
      if (harmed.size === 0) return { named, world, effect }
      fail(harmed, active)
    }
  }
}

/** Whether a need is left with nothing because of bindings that may be gone by now. */
function wasInTheWay({ need, at, failed }: Trial): boolean {
  return (
    at >= need.plans.length &&
    failed.some(({ reason }) => reason === COLLISION) &&
    failed.every(({ state }) => state === 'impossible')
  )
}

const COLLISION: RefusalReason = 'IdentityCollision'

type NamedTrials = ReadonlyMap<Trial, readonly Candidate[]>

/** The bindings of all plans that are tried now. Plans that are not tried take no name. */
function nameAll(trials: readonly Trial[], { bindings, clusterSpiffeIds }: Snapshot): NamedTrials {
  const names = new BindingNames(bindings.read.map(({ key }) => key))
  const registrations = new CompanionNames(clusterSpiffeIds.read)
  const named = ({ nameParts, companions, ...one }: UnnamedCandidate): Candidate => {
    const name = typeof nameParts === 'string' ? nameParts : names.nameOf(one.namespace, nameParts)
    if (companions === undefined) return { ...one, name }
    return {
      ...one,
      name,
      companions: companions.map((each) => ({ ...each, name: registrations.nameOf(each) })),
    }
  }
  return new Map(trials.map((trial) => [trial, (trial.need.plans[trial.at]?.candidates ?? []).map(named)]))
}

function provenNeeds(trials: readonly Trial[], named: NamedTrials): readonly ProvenNeed[] {
  const standing = new Set([...named.values()].flat().map(keyAndBoundary))
  return trials.map((trial) => ({
    need: trial.need,
    bindings: named.get(trial) ?? [],
    plan: trial.need.plans[trial.at],
    failed: trial.failed.map((one) => amongStanding(one, trial.need, standing)),
  }))
}

function keyAndBoundary(one: Candidate): string {
  return `${candidateKey(one)} ${boundaryText(one.boundary)}`
}

/** A plan that collided with others which do not stand either is a choice, and names nothing that is not there. */
function amongStanding(one: FailedPlan, { pool }: Need, standing: ReadonlySet<string>): FailedPlan {
  const { against = [], why } = one
  const gone = against.filter(({ candidate }) => !standing.has(keyAndBoundary(candidate)))
  if (gone.length === 0) return one
  const rule = why.slice(why.indexOf(': ') + 2)
  const others = gone.filter(({ isOwn }) => !isOwn).map(({ candidate }) => candidate)
  if (others.length === 0) return { ...one, why: `at most one of them can be Ready: ${rule}` }
  const texts = others.map(
    ({ boundary, namespace, pool: name }) =>
      `${boundaryText(boundary)} of InferencePool ${namespace}/${name}`,
  )
  return {
    ...one,
    state: 'open',
    why: `not both this and ${texts.join(', ')}: ${rule}`,
    fix: `ask for one pool alone: kubectl kleym suggest pool/${pool.namespace}/${pool.name}`,
  }
}

type Failures = ReadonlyMap<Trial, FailedPlan>

function failuresOf(
  named: NamedTrials,
  judge: (bindings: readonly Candidate[]) => FailedPlan | undefined,
): Failures {
  return new Map(
    [...named].flatMap(([trial, bindings]) => {
      const failure = bindings.length === 0 ? undefined : judge(bindings)
      return failure === undefined ? [] : [[trial, failure] as const]
    }),
  )
}

/**
 * Moves on to the next plan. There is none if it is not known whether the better plan would be proven. Only active trials give
 * way; if none of them is at fault by itself, all give way.
 */
function fail(failures: Failures, active: ReadonlySet<Trial>): void {
  const own = [...failures].filter(([trial]) => active.has(trial))
  const [any] = failures.values()
  const given =
    own.length > 0 || any === undefined
      ? own
      : [...active].filter(({ need, at }) => at < need.plans.length).map((trial) => [trial, any] as const)
  for (const [trial, failure] of given.length > 0 ? given : failures) {
    trial.failed.push(failure)
    trial.at = failure.state === 'unproven' ? trial.need.plans.length : trial.at + 1
  }
}

/** Why the operator would not say Ready of all bindings of a plan; undefined where it would. */
function refusalOf(
  bindings: readonly Candidate[],
  world: Analysis,
  tried: readonly Candidate[],
): FailedPlan | undefined {
  for (const one of bindings) {
    const judgement = world.settled.judgements.get(candidateKey(one))
    const failure = failureOf(judgement)
    if (failure === undefined) continue
    const peers = judgement?.state === 'refused' ? (judgement.collision?.named ?? []) : []
    const owners = new Set<string>(peers.map(({ claim }) => claim.owner))
    const against = tried
      .filter((each) => owners.has(candidateKey(each)))
      .map((candidate) => ({ candidate, isOwn: bindings.includes(candidate) }))
    return { ...triedPlan(bindings), ...failure, fix: undefined, against }
  }
  return undefined
}

function triedPlan(tried: readonly Candidate[]): Pick<FailedPlan, 'tried' | 'mode' | 'what'> {
  const what = tried.map(({ boundary }) => boundaryText(boundary)).join(', ')
  return { tried, mode: tried[0]?.boundary.mode, what }
}

function failureOf(
  judgement: Judgement | undefined,
): Pick<FailedPlan, 'state' | 'reason' | 'why' | 'missing'> | undefined {
  switch (judgement?.state) {
    case 'ready':
      return undefined
    case 'refused': {
      const { reason, message: why } = judgement
      return { state: 'impossible', reason, why, missing: undefined }
    }
    case 'undetermined': {
      const { why } = judgement
      return { state: 'unproven', reason: 'Undetermined', why: unknownReasonText(why), missing: why }
    }
    case 'waiting':
      return {
        state: 'unproven',
        reason: 'WaitingForPeer',
        why: `the operator would wait: ${judgement.waitsFor.join('; ')}`,
        missing: undefined,
      }
    case 'deleting':
    case undefined:
      return { state: 'unproven', reason: undefined, why: 'the core did not decide it', missing: undefined }
  }
}

/** The findings that companions of bindings that are there were to mend. */
function stillLost(named: NamedTrials, unchanged: readonly Finding[]): readonly Finding[] {
  const kept = new Set(
    [...named.values()].flatMap((bindings) =>
      bindings.flatMap((one) => (one.isThere === true ? bindingText(one) : [])),
    ),
  )
  return unchanged.filter(
    ({ code, subject, related }) =>
      findingEntry(code).ofProxies === 'takes what they need' &&
      [subject, ...related].some((one) => kept.has(objectText(one))),
  )
}

/** The object of a subject, whichever of its containers is meant. */
function objectText({ kind, namespace, name }: Subject): string {
  return subjectText({ kind, namespace, name })
}

/** The plans that bring an error, certain or not. One that no binding is part of counts against all of its namespace, else against all. */
function harms(named: NamedTrials, added: readonly Finding[]): Failures {
  const owners = new Map<string, Trial>()
  const byNamespace = new Map<string, Trial[]>()
  for (const [trial, bindings] of named) {
    for (const one of bindings) {
      owners.set(bindingText(one), trial)
      for (const { name } of one.companions ?? [])
        owners.set(objectText({ kind: CLUSTER_SPIFFE_ID_KIND, namespace: '', name }), trial)
      getOrCreate(byNamespace, one.namespace, () => []).push(trial)
    }
  }
  const failures = new Map<Trial, FailedPlan>()
  for (const one of added) {
    if (findingEntry(one.code).severity !== 'error') continue
    for (const trial of blamed(one, owners, byNamespace)) {
      if (trial.need.plans[trial.at] === undefined || failures.has(trial)) continue
      failures.set(trial, { ...triedPlan(named.get(trial) ?? []), ...harmOf(one) })
    }
  }
  return failures
}

function blamed(
  { subject, related, namespaces }: Finding,
  owners: ReadonlyMap<string, Trial>,
  byNamespace: ReadonlyMap<string, readonly Trial[]>,
): readonly Trial[] {
  const subjects = [subject, ...related]
  const named = subjects.flatMap((one) => owners.get(objectText(one)) ?? [])
  if (named.length > 0) return named
  const places = new Set([...subjects.map(({ namespace }) => namespace), ...(namespaces ?? [])])
  const near = [...places].flatMap((namespace) => byNamespace.get(namespace) ?? [])
  return near.length > 0 ? near : [...byNamespace.values()].flat()
}

function bindingText({ namespace, name }: Candidate): string {
  return objectText({ kind: BINDING_KIND, namespace, name })
}

function harmOf(one: Finding): Pick<FailedPlan, 'state' | 'reason' | 'why' | 'fix' | 'missing'> {
  const { code, fix, dependsOn } = one
  return {
    state: dependsOn === undefined ? 'impossible' : 'unproven',
    reason: code,
    why: `${findingEntry(code).title}: ${resultText(one)}`,
    fix,
    missing: undefined,
  }
}

/** What a finding says, with what it depends on: a plain sentence fragment. */
export function resultText({ summary, dependsOn }: Finding): string {
  return dependsOn === undefined ? summary : `${summary}, which depends on ${dependsOn.join(', ')}`
}
