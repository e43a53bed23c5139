// The rows of the watch, from an analysis: what is said of each binding, and which rows are shown in which order. Pure.
import { byNamespaceAndName } from '@kleym/shared/core/model/namespaced-name.ts'
import { inForceOf, type Binding } from '@kleym/shared/core/model/objects/binding.ts'
import { inForceText, type InForceText, type Analysis } from '@kleym/shared/core/analysis/index.ts'
import { judgementWord, type Action, type Judgement, verdictOf } from '@kleym/shared/core/decide/index.ts'
import { compareBytes } from '@kleym/shared/core/base/text/bytes.ts'
import { markRank, type Mark } from '../../../text/line.ts'

/** What kleym has still to write for a binding. */
export type PendingWrite = 'none' | 'create' | 'update' | 'withdraw'

/** One binding, as the table shows it. */
export interface Row {
  /** `namespace/name`. */
  readonly key: string
  readonly namespace: string
  readonly name: string
  readonly state: Judgement['state']
  /** The condition reason; `Deleting` for a binding that is being deleted. */
  readonly reason: string
  /** The sentence that goes with the reason; empty where there is none. */
  readonly message: string
  /** Undefined where none is rendered. */
  readonly spiffeId: string | undefined
  readonly pending: PendingWrite
  /** What its status says of the output. */
  readonly inForce: InForceText
  /** How many pods SCM says that it selects; undefined where SCM has written no count. */
  readonly pods: number | undefined
  /** Since when it stands as it does: a change that the watch saw, else what its Ready condition says; undefined: neither is there. */
  readonly since: Date | undefined
}

/** What rows need beside the analysis: how many pods SCM selects for the ClusterSPIFFEID of that name. */
export type PodsOf = (output: string) => number | undefined

/** The rows of all bindings of an analysis, in its order. Of files it is not asked what an operator must still write. */
export function rowsOf(analysis: Analysis, podsOf: PodsOf, isOffline = false): readonly Row[] {
  const actions = Map.groupBy(isOffline ? [] : analysis.now.actions, ({ binding }) => binding)
  return analysis.snapshot.bindings.read.flatMap((binding) => {
    const { key } = binding
    const judgement = analysis.now.judgements.get(key)
    return judgement === undefined
      ? []
      : {
          ...rowOf(judgement, inForceText(inForceOf(binding)), actions.get(key) ?? [], podsOf),
          since: readySince(binding),
        }
  })
}

function rowOf(
  judgement: Judgement,
  inForce: InForceText,
  actions: readonly Action[],
  podsOf: PodsOf,
): Omit<Row, 'since'> {
  const { binding } = judgement.compiled
  const verdict = verdictOf(judgement)
  const resolved =
    judgement.state === 'ready' || judgement.state === 'waiting' ? judgement.resolved : undefined
  const output = judgement.state === 'ready' ? judgement.resolved.output.metadata.name : undefined
  const pending = pendingWriteOf(judgement, actions)
  return {
    key: binding.key,
    namespace: binding.meta.namespace,
    name: binding.meta.name,
    state: judgement.state,
    reason: verdict.reason,
    // The message of a ready binding says that its output is in force: true only where kleym has nothing left to write.
    message: judgement.state === 'ready' && pending !== 'none' ? '' : verdict.message,
    spiffeId: resolved?.identity.spiffeId,
    pending,
    inForce,
    pods: output === undefined ? undefined : podsOf(output),
  }
}

function readySince({ status }: Binding): Date | undefined {
  const since = status?.conditions?.find(({ type }) => type === 'Ready')?.lastTransitionTime
  return since === undefined ? undefined : new Date(since)
}

function pendingWriteOf({ state }: Judgement, actions: readonly Action[]): PendingWrite {
  if (state === 'deleting') return 'none'
  const kinds = new Set(actions.map(({ kind }) => kind))
  if (kinds.has('create')) return 'create'
  if (kinds.has('update')) return 'update'
  return kinds.has('delete') ? 'withdraw' : 'none'
}

const PENDING_TEXT: Readonly<Record<PendingWrite, string>> = {
  none: '',
  create: 'to be created',
  update: 'to be updated',
  withdraw: 'to be withdrawn',
}

/** `ready`, `UnsafeSelector`, `ready, to be created`: a word or two that say how a binding stands. While the operator is down: what is true of its output. */
export function verdictText({ state, reason, pending, inForce }: Row, isOperatorDown = false): string {
  if (isOperatorDown && state === 'ready') return pending === 'none' ? inForce : 'valid, not applied yet'
  const word = state === 'ready' ? 'ready' : state === 'deleting' ? 'being deleted' : reason
  return pending === 'none' ? word : `${word}, ${PENDING_TEXT[pending]}`
}

/** The mark of a row. `ok` only where kleym has nothing left to write and, while the operator is down, the status says that the output is in force. */
export function markOf({ state, pending, inForce }: Row, isOperatorDown = false): Mark {
  switch (state) {
    case 'ready':
      return pending === 'none' && (!isOperatorDown || inForce === 'in force') ? 'ok' : 'warn'
    case 'refused':
      return 'bad'
    case 'undetermined':
    case 'waiting':
      return 'warn'
    case 'deleting':
      return 'note'
  }
}

/** The last column: the identity, or else why there is none. */
export function outcomeText({ state, spiffeId, message }: Row): string {
  return state === 'ready' ? (spiffeId ?? '') : message
}

/** What rows are sorted by: what needs a person, and the columns of the table; the last changed comes first. */
export const ORDERS = ['trouble', 'name', 'verdict', 'identity', 'change'] as const
export type Order = (typeof ORDERS)[number]

const COMPARE: Readonly<Record<Order, (left: Row, right: Row) => number>> = {
  trouble: (left, right) => markRank(markOf(left)) - markRank(markOf(right)),
  name: () => 0,
  verdict: (left, right) => compareBytes(verdictText(left), verdictText(right)),
  // Those without one last.
  identity: (left, right) => compareBytes(left.spiffeId ?? '\u{10ffff}', right.spiffeId ?? '\u{10ffff}'),
  change: (left, right) => (right.since?.getTime() ?? 0) - (left.since?.getTime() ?? 0),
}

/** A total order of rows: rows that are equal by it go by namespace and name. */
export function compareRows(order: Order): (left: Row, right: Row) => number {
  return (left, right) => COMPARE[order](left, right) || byNamespaceAndName(left, right)
}

/** The rows that hold every word of a filter in namespace, name, verdict, reason or SPIFFE ID; case does not matter. */
export function filterRows(rows: readonly Row[], filter: string): readonly Row[] {
  const words = filter
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '')
  if (words.length === 0) return rows
  return rows.filter((row) => {
    const text =
      `${row.key}\n${verdictText(row)}\n${row.state}\n${row.reason}\n${row.spiffeId ?? ''}`.toLowerCase()
    return words.every((word) => text.includes(word))
  })
}

/** `3 refused, 1 waiting, 12 ready`; states that nothing has are left out. */
export function countsText(rows: readonly Row[]): string {
  const counts = Map.groupBy(rows, ({ state }) => state)
  return STATES.flatMap((state) => {
    const count = counts.get(state)?.length ?? 0
    return count === 0 ? [] : [`${count} ${judgementWord(state)}`]
  }).join(', ')
}

const STATES: readonly Row['state'][] = ['refused', 'undetermined', 'waiting', 'deleting', 'ready']

/** What happened to one row. */
export type RowChange =
  | { readonly kind: 'added' | 'changed'; readonly row: Row }
  | { readonly kind: 'removed'; readonly row: Row }

/** What became of rows, trouble first. */
export function changesBetween(before: readonly Row[], after: readonly Row[]): readonly RowChange[] {
  const had = new Map(before.map((row) => [row.key, row]))
  const has = new Set(after.map(({ key }) => key))
  const changes: RowChange[] = after.flatMap((row): RowChange[] => {
    const old = had.get(row.key)
    if (old === undefined) return [{ kind: 'added', row }]
    return isSameRow(old, row) ? [] : [{ kind: 'changed', row }]
  })
  const removed = before
    .filter(({ key }) => !has.has(key))
    .map((row): RowChange => ({ kind: 'removed', row }))
  const order = compareRows('trouble')
  return [...changes, ...removed].toSorted((left, right) => order(left.row, right.row))
}

/** Remembers when the rows of a watch changed. */
export class RowTimes {
  /** When this watch saw a row change. */
  readonly #seen = new Map<string, Date>()
  #rows: readonly Row[] | undefined

  /** The next rows, where those that have changed since the first ones say since when they are as they are. */
  next(rows: readonly Row[], now: Date): readonly Row[] {
    for (const { kind, row } of this.#rows === undefined ? [] : changesBetween(this.#rows, rows))
      if (kind === 'removed') this.#seen.delete(row.key)
      else this.#seen.set(row.key, now)
    this.#rows = rows
    if (this.#seen.size === 0) return rows
    return rows.map((row) => {
      const since = this.#seen.get(row.key)
      return since === undefined ? row : { ...row, since }
    })
  }
}

function isSameRow(left: Row, right: Row): boolean {
  return (
    left === right ||
    (left.state === right.state &&
      left.reason === right.reason &&
      left.message === right.message &&
      left.spiffeId === right.spiffeId &&
      left.pending === right.pending &&
      left.pods === right.pods)
  )
}
