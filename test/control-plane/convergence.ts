// A scenario with every sort of write that the operator makes, there and back again in one namespace, and what is there
// afterwards as a value: suites that kill, fail and starve the operator in the middle of it compare with an undisturbed run.
import { IN_FORCE_CONDITION } from '../../shared/src/core/model/names.ts'
import { dig, isRecord, listAt, stringAt, type JsonRecord } from '../../shared/src/core/base/json.ts'
import { compareBytes } from '../../shared/src/core/base/text/bytes.ts'
import type { ControlPlane } from './control-plane.ts'
import { isWrite, type ObservedRequest } from './observed-request.ts'
import { nameOf, orphan } from './in-force.ts'
import {
  binding,
  bindingId,
  conditionOf,
  namespace,
  objective,
  outputs,
  ownerOf,
  ownerUidOf,
  perVariant,
  pool,
  poolOnly,
  untilReason,
} from './objects.ts'
import { until } from '@kleym/testing/wait.ts'

/** `before` and `after` a set of edits; going back is a convergence of its own, with other writes. */
export type ConvergenceSide = 'before' | 'after'

/**
 * Makes all edits that lead to one side. To `after`: a pool's labels change (update), a binding gets another objective
 * (rename), one another variant (rename), one loses its pool (withdrawal), two collide, two swap their containers, one is deleted, and an orphan turns
 * up. To `before`: all of that undone, but for the orphan, which has nothing to come back to.
 */
export async function goTo(cp: ControlPlane, space: string, side: ConvergenceSide): Promise<void> {
  if (side === 'after') {
    await cp.admin.delete(bindingId(space, 'deleted'))
    await cp.admin.create(orphan(space, 'gemma'))
  }
  await cp.apply(objectsOf(space, side))
}

/** What both sides share. To be applied once, before the first `goTo`. */
export async function prepare(cp: ControlPlane, space: string): Promise<void> {
  const names = ['first', 'second', 'left', 'right', 'old', 'new', 'withdrawn']
  await cp.apply([
    namespace(space),
    pool(space, 'gemma', { app: 'gemma' }),
    objective(space, 'edited', 'llama'),
    ...names.map((name) => objective(space, name, 'gemma')),
    binding(space, 'edited'),
    ofGemma(space, 'left', { containerName: 'left' }),
  ])
}

function objectsOf(space: string, side: ConvergenceSide): readonly JsonRecord[] {
  const isAfter = side === 'after'
  const [one, two] = isAfter ? ['two', 'one'] : ['one', 'two']
  const objectiveRef = { name: isAfter ? 'new' : 'old' }
  const poolRef = { name: isAfter ? 'nowhere' : 'gemma' }
  return [
    pool(space, 'llama', isAfter ? { app: 'llama', tier: 'gold' } : { app: 'llama' }),
    ofGemma(space, 'renamed', { objectiveRef, containerName: 'renamed' }),
    perVariant(space, 'role', isAfter ? 'decode' : 'prefill', { poolRef: { name: 'gemma' } }),
    ofGemma(space, 'withdrawn', { containerName: 'withdrawn', poolRef }),
    ofGemma(space, 'right', { containerName: isAfter ? 'left' : 'right' }),
    ofGemma(space, 'first', { containerName: one }),
    ofGemma(space, 'second', { containerName: two }),
    ...(isAfter ? [] : [poolOnly(space, 'deleted', { poolRef: { name: 'gemma' } })]),
  ]
}

function ofGemma(space: string, name: string, spec: JsonRecord): JsonRecord {
  return binding(space, name, { poolRef: { name: 'gemma' }, ...spec })
}

const READY = ['edited', 'renamed', 'role', 'first', 'second']
const ALL_READY = [...READY, 'withdrawn', 'left', 'right', 'deleted'].map(
  (name) => [name, 'Reconciled'] as const,
)
/** The bindings of each side, and the reason of `Ready` that each comes to. */
const REASONS: Readonly<Record<ConvergenceSide, readonly (readonly [string, string])[]>> = {
  before: ALL_READY,
  after: [
    ...READY.map((name) => [name, 'Reconciled'] as const),
    ['withdrawn', 'TargetPoolNotFound'],
    ['left', 'IdentityCollision'],
    ['right', 'IdentityCollision'],
  ],
}

/** Waits until a side is reached, by the contract alone: there is no other run to compare with. */
export async function settled(cp: ControlPlane, space: string, side: ConvergenceSide): Promise<void> {
  for (const [name, reason] of REASONS[side]) await untilReason(cp, space, name, reason)
  const ready = REASONS[side]
    .filter(([, reason]) => reason === 'Reconciled')
    .map(([name]) => `${space}/${name}`)
  await until(
    async () => {
      const owned = (await outputs(cp)).filter((output) => ownerOf(output).startsWith(`${space}/`))
      const edited = owned.find((output) => ownerOf(output) === `${space}/edited`)
      const isEdited = stringAt(edited, 'spec', 'podSelector', 'matchLabels', 'tier') === 'gold'
      // Its generation stays, so its reason says nothing: the status is written after the output.
      const { status } = (await cp.admin.get(bindingId(space, 'edited'))) ?? {}
      const isTold = JSON.stringify(status).includes('k8s:pod-label:tier:gold') === isEdited
      const isMatched =
        owned.map(ownerOf).toSorted(compareBytes).join() === ready.toSorted(compareBytes).join()
      const deleted = await cp.admin.get(bindingId(space, 'deleted'))
      return (
        isMatched &&
        isTold &&
        isEdited === (side === 'after') &&
        (deleted !== undefined) === (side === 'before')
      )
    },
    `the outputs of namespace ${space} to be those of ${ready.join(', ')}`,
  )
}

/**
 * Bindings and outputs of one namespace, each as a line of JSON, sorted; without what differs from run to run: times,
 * UIDs, versions, and the namespace itself.
 */
export type State = readonly string[]

export async function stateOf(cp: ControlPlane, space: string): Promise<State> {
  const [bindings, all] = await Promise.all([
    cp.admin.list({ ...bindingId(space, ''), namespace: space }),
    outputs(cp),
  ])
  const owned = all.filter((output) => ownerOf(output).startsWith(`${space}/`))
  const uids = new Map(
    bindings.map((each) => [`${space}/${nameOf(each)}`, stringAt(each, 'metadata', 'uid')]),
  )
  const live = new Map(owned.map((each) => [nameOf(each), stringAt(each, 'metadata', 'uid')]))
  return [
    ...bindings.map((each) => bindingState(each, live)),
    ...owned.map((each) => outputState(each, uids)),
  ]
    .map((each) =>
      JSON.stringify(each)
        .replaceAll(space, 'SPACE')
        .replaceAll(/-[0-9a-f]{20}\b/g, '-HASH'),
    )
    .toSorted(compareBytes)
}

/** Waits until a namespace has this state. */
export async function untilState(cp: ControlPlane, space: string, wanted: State): Promise<void> {
  await until(async () => {
    const differences = difference(await stateOf(cp, space), wanted)
    if (differences.length > 0) throw new Error(differences.slice(0, 4).join('\n'))
    return true
  }, `namespace ${space} to come to its final state`)
}

/** What is in one of two states only, a sentence for each object. */
function difference(found: State, wanted: State): readonly string[] {
  return [
    ...found.filter((line) => !wanted.includes(line)).map((line) => `there is ${line}`),
    ...wanted.filter((line) => !found.includes(line)).map((line) => `there should be ${line}`),
    ...(found.length === wanted.length ? [] : [`there are ${found.length} objects, not ${wanted.length}`]),
  ]
}

function bindingState(object: JsonRecord, live: ReadonlyMap<string, string | undefined>): JsonRecord {
  const generation = dig(object, 'metadata', 'generation')
  const status = dig(object, 'status')
  const inForce = stringAt(status, 'clusterSPIFFEID', 'name')
  return {
    name: nameOf(object),
    isDeleting: dig(object, 'metadata', 'deletionTimestamp') !== undefined,
    finalizers: listAt(object, 'metadata', 'finalizers'),
    spec: object['spec'],
    status: {
      ...(isRecord(status) ? status : {}),
      observedGeneration: dig(status, 'observedGeneration') === generation ? 'current' : 'old',
      conditions: listAt(status, 'conditions').map((condition) => ({
        ...wordsOf(condition),
        observedGeneration: dig(condition, 'observedGeneration') === generation ? 'current' : 'old',
      })),
      ...(inForce === undefined
        ? {}
        : {
            clusterSPIFFEID: {
              name: inForce,
              isLive: live.get(inForce) === stringAt(status, 'clusterSPIFFEID', 'uid'),
            },
          }),
    },
  }
}

/** What a condition says. No SCM runs beside these suites, and how long that has been so is no difference. */
function wordsOf(condition: unknown): JsonRecord {
  const type = stringAt(condition, 'type')
  const reason = stringAt(condition, 'reason')
  if (type === IN_FORCE_CONDITION && (reason === 'Pending' || reason === 'NotHandled')) {
    return { type, reason: 'no SCM has looked' }
  }
  return { type, reason, status: stringAt(condition, 'status'), message: stringAt(condition, 'message') }
}

function outputState(object: JsonRecord, uids: ReadonlyMap<string, string | undefined>): JsonRecord {
  const owner = ownerOf(object)
  return {
    name: nameOf(object),
    isDeleting: dig(object, 'metadata', 'deletionTimestamp') !== undefined,
    labels: dig(object, 'metadata', 'labels'),
    owner,
    isOfLiveBinding: uids.get(owner) === ownerUidOf(object),
    spec: object['spec'],
  }
}

/**
 * What a request would write, by a name that is the same in every run: `POST ClusterSPIFFEID kleym-...`, `PUT status
 * Reconciled of edited`, `POST event Reconciled about left`. Undefined for what is no write, and for the Lease.
 */
export function writePoint(request: ObservedRequest): string | undefined {
  if (!isWrite(request)) return undefined
  const { method, body } = request
  const [path = ''] = request.path.split('?')
  const [last = '', parent = ''] = path.split('/').toReversed()
  if (path.includes('/leases')) return undefined
  if (last === 'events') {
    return `POST event ${stringAt(body, 'reason') ?? ''} about ${stringAt(body, 'regarding', 'name') ?? ''}`
  }
  if (last === 'status') {
    return `PUT status ${stringAt(conditionOf(body, 'Ready'), 'reason') ?? ''} of ${parent}`
  }
  if (path.includes('/inferenceidentitybindings/')) {
    const isAdded = Array.isArray(body) && body.some((step: unknown) => stringAt(step, 'op') === 'add')
    return `PATCH finalizer ${isAdded ? 'onto' : 'off'} ${last}`
  }
  return `${method} ClusterSPIFFEID ${last === 'clusterspiffeids' ? nameOf(body) : last}`
}
