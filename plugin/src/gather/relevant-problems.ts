// Which of the things that could not be read may change an answer: one about a namespace does not depend on a pool of
// another one that is a template.
import { SCM_CONFIG_KIND } from '@kleym/shared/core/model/subject-groups.ts'
import { SPIRE_GROUP } from '@kleym/shared/core/model/names.ts'
import { NAMING_KIND_NAMES } from '@kleym/shared/core/model/naming/named-in.ts'
import { KINDS_WITH_PODS, WORKLOAD_KINDS } from '@kleym/shared/core/model/objects/workload.ts'
import {
  BINDING,
  POLICY_KINDS,
  POOL_KINDS,
  REGISTRATIONS,
  qualifiedKind,
  kindKey,
} from '@kleym/shared/core/model/kinds.ts'
import { PART_KINDS, hasParts } from '@kleym/shared/core/model/objects/spire-makeup.ts'
import { mayShare } from '@kleym/shared/core/findings/index.ts'
import { readPool, type Pool } from '@kleym/shared/core/model/objects/inference.ts'
import type { RawObject } from '@kleym/shared/core/model/objects/raw.ts'
import type { SettingsOptions } from '../flags/options.ts'
import type { InputProblem } from '../sources/problem.ts'
import type { Question } from './question.ts'

/** What an answer is about, as far as that limits what may change it. */
export interface AnswerScope {
  /** Undefined: any. */
  readonly namespaces: ReadonlySet<string> | undefined
  /** Whether whom objects of other programs name is the question. */
  readonly resolves: boolean
  /** Whether it tells which access policies name an identity: those of any namespace may. */
  readonly policies: boolean
  readonly settings: Pick<SettingsOptions, 'scmConfig' | 'trustDomain' | 'className'>
}

/** The scope of a question; `inForce` is undefined where no namespace limits the answer. */
export function scopeOfAnswer(
  question: Question | undefined,
  inForce: string | undefined,
  settings: AnswerScope['settings'],
): AnswerScope {
  const resolves = question?.resolves !== undefined
  const policies = question?.policies === true
  const isWide =
    question === undefined ||
    [question.allNamespaces, question.aboutFiles, question.readsAll, question.elsewhere].includes(true)
  const asked = { resolves, policies, settings }
  if (isWide || resolves || question.named.length === 0) return { ...asked, namespaces: undefined }
  const named = question.named.map((namespace) => namespace ?? inForce)
  const namespaces = named.flatMap((namespace) => namespace ?? [])
  return { ...asked, namespaces: namespaces.length < named.length ? undefined : new Set(namespaces) }
}

/** Whether what a problem hides may change the answer. */
export function mayChange(
  { reach }: InputProblem,
  { namespaces, resolves, policies, settings }: AnswerScope,
): boolean {
  if (reach === undefined || reach.length === 0) return true
  return reach.some(({ kind, namespace }) => {
    // SCM's configuration counts wherever it stands, and kleym's own where the operator runs.
    if (NAMING_KIND_NAMES.has(kind)) return resolves
    if (kind === 'ConfigMap' || kind === SCM_CONFIG) return settings.scmConfig === undefined
    const isSettled = settings.trustDomain !== undefined && settings.className !== undefined
    if (OPERATOR_KINDS.has(kind) && !isSettled) return true
    if (policies && POLICY_KINDS.includes(kind)) return true
    return namespace === undefined || namespaces?.has(namespace) !== false
  })
}

const SCM_CONFIG = qualifiedKind({ group: SPIRE_GROUP, kind: SCM_CONFIG_KIND })

/** What gives identities. */
const GIVING: ReadonlySet<string> = new Set([BINDING, ...REGISTRATIONS].map(qualifiedKind))

/**
 * What says how SPIRE runs, where nothing of SPIRE is among the objects. And workloads that were not read, or are defined twice, where
 * nothing gives an identity, nor may: whatever they are, their pods hold none. Two pools may share pods that were not read, and a question about workloads asks for more than what their pods hold. What is defined
 * twice is among the files, mostly as one of several ways to deploy something.
 */
export function idleSubjects(
  problems: readonly InputProblem[],
  objects: readonly RawObject[],
  question: Question | undefined,
): ReadonlySet<InputProblem> {
  if (question?.workloads === true || problems.length === 0) return new Set()
  const mayGive =
    objects.some(({ value }) => GIVING.has(kindKey(value))) ||
    problems.some(({ reach }) => reach === undefined || reach.some(({ kind }) => GIVING.has(kind)))
  const areShared = mayShare(poolsAmong(objects))
  // What makes pods that are not read makes no registrations either.
  const makers = new Set(objects.flatMap((one) => (one.isUnread === true ? [kindKey(one.value)] : [])))
  const isIdle = (one: InputProblem): boolean =>
    (one.kind === 'duplicate' || !areShared) &&
    isOf(one, (kind) => KINDS_WITH_PODS.has(kind) || makers.has(kind) || isPart(kind))
  const areOfParts = problems.filter((one) => isOf(one, isPart))
  return new Set([
    ...(mayGive ? [] : problems.filter(isIdle)),
    ...(areOfParts.length > 0 && hasParts(objects) ? [] : areOfParts),
  ])
}

function isOf({ kind, reach = [] }: InputProblem, isKind: (kind: string) => boolean): boolean {
  return OF_SUBJECTS.has(kind) && reach.length > 0 && reach.every((one) => isKind(one.kind))
}

function isPart(kind: string): boolean {
  return PART_KINDS.has(kind)
}

function poolsAmong(objects: readonly RawObject[]): readonly Pool[] {
  return POOL_KINDS.flatMap((kind) =>
    objects
      .filter(({ value }) => kindKey(value) === qualifiedKind(kind))
      .map((one) => readPool(one, kind.group)),
  )
}

const OF_SUBJECTS: ReadonlySet<InputProblem['kind']> = new Set<InputProblem['kind']>([
  'duplicate',
  'not rendered',
  'left out',
])

/** What the operator may run as. */
const OPERATOR_KINDS: ReadonlySet<string> = new Set(WORKLOAD_KINDS.map(qualifiedKind))

/** What to say of a problem that does not change the answer. */
export function irrelevantNote({ what, where }: InputProblem): string {
  return `${what} (${where}): this answer does not depend on it`
}
