// What `who-selects` tells, as data: containers with every registration that would select them, and who names the
// identities.
import {
  Holdings,
  type ContainerHolding,
  isMeant,
  undecidedOn,
  type UndecidedBinding,
  type UndecidedBindings,
  type Analysis,
  hasPolicies,
  openVerdicts,
} from '@kleym/shared/core/analysis/index.ts'
import type { Judgement } from '@kleym/shared/core/decide/index.ts'
import type { Container, Pod } from '@kleym/shared/core/model/objects/pod.ts'
import type { Registration } from '@kleym/shared/core/predict/index.ts'
import { mayBecome, mayGive } from '@kleym/shared/core/base/go/template/mentions.ts'
import type { Steps } from '@kleym/shared/core/base/steps.ts'
import { distinct } from '@kleym/shared/core/base/text/bytes.ts'
import { counted } from '@kleym/shared/core/base/text/counted.ts'
import { GIVE_PODS_AS_THEY_RUN } from '@kleym/shared/core/model/truth/unknown.ts'
import { whyOpenText, YES, type Truth } from '@kleym/shared/core/model/truth/truth.ts'
import type { UnknownReason } from '@kleym/shared/core/model/unknown-reason.ts'
import { AnswerCount, SHOWN_REGISTRATIONS, type AnswerLimit } from '../../gather/answer-limits.ts'
import type { NamedIds } from './named-by.ts'

/** A registration as an answer shows it; `pending`: kleym must still write its ClusterSPIFFEID in the cluster. */
export interface ShownRegistration extends Omit<Registration, 'verdict'> {
  readonly verdict: Registration['verdict'] | 'pending'
}

/** One container of a pod that was asked about, and every registration that would select it. */
export interface ContainerAnswer {
  readonly container: Container
  /** Whether it is there at all. */
  readonly there: Truth
  readonly registrations: readonly ShownRegistration[]
  /** Why the container may get an identity from something that is not known; undefined: all of that is. */
  readonly notRead: string | undefined
  /** The bindings that may give it an identity, and could not be decided. */
  readonly undecided: readonly UndecidedBinding[]
}

/** So many refused bindings are named for a container: their number is a tenant's choice. */
const REFUSED_NAMED = 3

/** The refused bindings that are for a container, the first with their reasons: why it holds no identity of theirs. */
export function refusedFor(
  { judgements }: Pick<Analysis['settled'], 'judgements'>,
  pod: Pod,
  container: string,
): readonly string[] {
  const refused = [...judgements].flatMap(([key, one]) =>
    one.state === 'refused' && isMeant(one.compiled, pod, container)
      ? [`binding ${key} is for this container, and is refused (${one.reason}): ${one.message}`]
      : [],
  )
  const more = refused.length - REFUSED_NAMED
  return more > 0
    ? [...refused.slice(0, REFUSED_NAMED), `${counted(more, 'more refused binding')} for this container`]
    : refused
}

/** One pod, or the template of a workload, with the containers that were asked about. */
export interface PodAnswer {
  readonly pod: Pod
  readonly containers: readonly ContainerAnswer[]
}

/** How many existing pods carry the labels of a template: pods of its workload, or of a similar one. */
export function countRunning(analysis: Analysis, { exists, namespace, labels }: Pod): number {
  if (exists) return 0
  return analysis
    .pods()
    .withLabels(namespace, labels)
    .filter((pod) => pod.exists).length
}

/** Which containers of the chosen pods are asked about. */
export interface ContainerFilter {
  readonly container: string | undefined
  readonly spiffeId: string | undefined
  /** Whether the answer is about a cluster as it is: then what kleym must still write gives no identity. */
  readonly isLiveState?: boolean
  /** How many registrations may be shown; absent: as many as a report may hold. */
  readonly limit?: AnswerLimit
}

/** The answer for each pod that has a container to tell about, a step each. Throws a KleymError where it would be too large. */
export function* podAnswers(
  analysis: Analysis,
  pods: readonly Pod[],
  { container, spiffeId, isLiveState = false, limit = SHOWN_REGISTRATIONS }: ContainerFilter,
): Steps<readonly PodAnswer[]> {
  const shown = new AnswerCount(limit)
  const settling = openVerdicts(analysis)
  const settled = new Holdings(analysis.settled, settling)
  const isNow = isLiveState && (analysis.changes.all.length > 0 || analysis.settled.undecided.size > 0)
  const now = isNow ? new Holdings(analysis.now, settling) : settled
  const templates = templatesOf(analysis)
  const answers: PodAnswer[] = []
  for (const pod of pods) {
    yield
    const all = spiffeId === undefined ? pod.containers : now.containersOf(pod)
    const containers = all
      .filter(({ name }) => container === undefined || name === container)
      .map((one) => {
        const holding = now.ofContainer(pod, one)
        const registrations = [
          ...shownOf(holding),
          ...(isNow ? comingOf(holding, analysis, settled.ofContainer(pod, one)) : []),
          // Who holds an ID is asked to learn who may use it: a pod that waits for a node will hold it without being asked again.
          ...(spiffeId === undefined ? [] : settled.onceScheduled(pod, one)),
        ]
        return {
          container: one,
          there: holding.there,
          undecided: holding.undecided,
          notRead: whyOpenText(holding.unread),
          registrations:
            spiffeId === undefined
              ? registrations
              : registrations.flatMap((each) => asHolderOf(each, spiffeId, templates) ?? []),
        }
      })
      .filter(({ registrations }) => spiffeId === undefined || registrations.length > 0)
    for (const { registrations } of containers) shown.add(registrations.length)
    if (containers.length > 0) answers.push({ pod, containers })
  }
  return answers
}

/** Why it is not known which containers hold an ID: a webhook may add some, which hold what their pods are given as a whole. */
export function whyAdded(answers: readonly PodAnswer[]): readonly UnknownReason[] {
  return answers.flatMap(({ pod, containers }) =>
    containers
      .filter(({ container }) => container.injectedBy !== undefined)
      .flatMap(({ there }) => [...there.causes])
      .flatMap((cause): readonly UnknownReason[] => {
        if (cause.kind === 'unread') return [cause.why]
        if (cause.kind !== 'webhook') return []
        const what = `the containers that the webhook of ${cause.injector} adds to pods of ${pod.namespace}`
        return [{ verb: 'read', what, cause: 'not given', fix: GIVE_PODS_AS_THEY_RUN }]
      }),
  )
}

/** The judgements that leave open what these pods hold, be it that a fallback gives way. */
export function openJudgements(
  {
    judgements,
    undecided,
  }: { readonly undecided: UndecidedBindings } & Pick<Analysis['settled'], 'judgements'>,
  pods: Iterable<Pod>,
): readonly Judgement[] {
  if (undecided.size === 0) return []
  const bindings = new Set([...pods].flatMap((pod) => undecidedOn(undecided, pod).map((one) => one.binding)))
  return [...bindings].flatMap((binding) => judgements.get(binding) ?? [])
}

/** The registrations of a container. If it is not certain that the container is there, none is certainly issued. */
function shownOf({ pod, container, there, registrationsOf }: ContainerHolding): readonly Registration[] {
  const registrations = registrationsOf(pod, container)
  if (there === YES) return registrations
  const why = whyOpenText(there)
  return registrations.map((one) =>
    one.verdict === 'issued' ? { ...one, verdict: 'depends', why, sharesHint: false } : one,
  )
}

/** What those objects will make of a container that kleym must still create or update, where that is something else. */
function comingOf(
  now: ContainerHolding,
  { settled: { unwritten } }: Analysis,
  settled: ContainerHolding,
): readonly PendingRegistration[] {
  const there = shownOf(now)
  const isThere = ({ source, spiffeId, verdict }: Registration): boolean =>
    there.some(
      (one) => one.source.name === source.name && one.spiffeId === spiffeId && one.verdict === verdict,
    )
  return shownOf(settled)
    .filter(
      (one) =>
        one.source.kind === 'ClusterSPIFFEID' &&
        unwritten.has(one.source.name) &&
        one.verdict !== 'dead' &&
        !isThere(one),
    )
    .map(asPending)
}

type PendingRegistration = ShownRegistration & { readonly verdict: 'pending' }

function asPending(one: Registration): PendingRegistration {
  const then = one.verdict === 'issued' ? 'then it is issued' : `then: ${one.verdict}, ${one.why ?? ''}`
  return { ...one, verdict: 'pending', why: `kleym must still write its ClusterSPIFFEID; ${then}` }
}

/** The templates of ClusterSPIFFEIDs, by name: as they are, and once kleym has done all that is due. */
export function templatesOf({ now, settled }: Analysis): ReadonlyMap<string, string> {
  const outputs = [...now.outputs, ...settled.outputs]
  return new Map(outputs.map(({ object }) => [object.meta.name, object.spec.spiffeIDTemplate]))
}

/** What a registration gives: an ID, perhaps with placeholders, else what a template makes. Neither is known: it may give any. */
export interface GivenId {
  readonly id: string | undefined
  readonly template: string | undefined
}

/** What a registration gives a container, or may. */
export function givenBy(
  { verdict, spiffeId, source, outcome }: ShownRegistration,
  templates: ReadonlyMap<string, string>,
): GivenId {
  const id =
    verdict === 'unknown' && outcome.verdict.state === 'unknown' ? outcome.verdict.spiffeId : spiffeId
  const isMade = id === undefined && source.kind === 'ClusterSPIFFEID'
  return { id, template: isMade ? templates.get(source.name) : undefined }
}

/** Whether that may be this ID. */
export function mayBeGiven({ id, template }: GivenId, wanted: string): boolean {
  if (id !== undefined) return mayBecome(id, wanted)
  return template === undefined || mayGive(template, [wanted])
}

/**
 * A registration as far as it gives this ID, or may: what is not known must not be left out of an answer to "who would hold
 * this?", and what certainly gives another ID must not be in it.
 */
function asHolderOf(
  one: ShownRegistration,
  wanted: string,
  templates: ReadonlyMap<string, string>,
): ShownRegistration | undefined {
  if (isHeld(one) && one.spiffeId === wanted) return one
  if (!mayHold(one) || !mayBeGiven(givenBy(one, templates), wanted)) return undefined
  return one.verdict === 'unknown'
    ? one
    : { ...one, verdict: 'depends', why: `its SPIFFE ID is known except for the part in angle brackets` }
}

/** Who names the identities of an answer; undefined where there are no policies to speak of. */
export function namedIdsOf(
  analysis: Analysis,
  answers: readonly PodAnswer[],
  { spiffeId }: ContainerFilter,
): NamedIds | undefined {
  const policies = analysis.settled.policies()
  if (!hasPolicies(policies)) return undefined
  const templates = templatesOf(analysis)
  const held = answers.flatMap(({ containers }) =>
    containers.flatMap(({ registrations }) =>
      registrations.filter(mayHold).flatMap((one) => givenBy(one, templates).id ?? []),
    ),
  )
  const ids = distinct(spiffeId === undefined ? held : [spiffeId])
  const pods = answers.map(({ pod }) => pod)
  return { ids, by: policies.namedBy(ids, pods) }
}

function isHeld({ verdict }: Pick<ShownRegistration, 'verdict'>): boolean {
  return verdict === 'issued' || verdict === 'depends' || verdict === 'pending'
}

/** Whether a registration gives a container its identity, or may. */
export function mayHold(one: Pick<ShownRegistration, 'verdict'>): boolean {
  return isHeld(one) || one.verdict === 'unknown'
}

/** What kleym must still do about an output, by its name; outputs that are up to date have no entry. */
export function pendingByName({ changes }: Analysis): ReadonlyMap<string, string> {
  return new Map(
    changes.all.map((change): readonly [string, string] => {
      const name = change.kind === 'delete' ? change.live.object.meta.name : change.output.metadata.name
      return [name, `kleym must still ${change.kind} it`]
    }),
  )
}
