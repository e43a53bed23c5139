// What the person at the screen has chosen, and what each key makes of it. Pure: no terminal, no cluster.
import { compareRows, filterRows, ORDERS, type Order, type Row } from '../live/rows.ts'

/** What a key means, apart from how terminals send it. */
export type ScreenAction =
  | { readonly kind: 'move'; readonly by: number }
  | { readonly kind: 'page'; readonly by: 1 | -1 }
  | { readonly kind: 'first' }
  | { readonly kind: 'last' }
  | { readonly kind: 'accept' }
  | { readonly kind: 'cancel' }
  | { readonly kind: 'filter' }
  | { readonly kind: 'namespace' }
  | { readonly kind: 'order'; readonly by: 1 | -1 }
  | { readonly kind: 'copy' }
  | { readonly kind: 'help' }
  | { readonly kind: 'type'; readonly text: string }
  | { readonly kind: 'erase' }
  | { readonly kind: 'erase all' }
  | { readonly kind: 'quit' }
  | { readonly kind: 'interrupt' }

/** What has the keyboard. */
export type ScreenMode = 'table' | 'filter' | 'namespace' | 'help'

/** What the person has chosen so far. */
export interface ScreenState {
  readonly mode: ScreenMode
  /** The chosen binding; undefined only where there is none. */
  readonly selected: string | undefined
  /** Its place among the shown rows when it was last seen: where to go on when it has gone. */
  readonly place: number
  /** The first row in the window. */
  readonly top: number
  readonly filter: string
  readonly order: Order
  readonly isOpen: boolean
  /** The first line of the derivation in its pane. */
  readonly detailTop: number
  /** What has been typed in place of a namespace's name, and the line that is chosen. */
  readonly typed: string
  readonly choice: number
  /** Undefined: all namespaces. */
  readonly namespace: string | undefined
  /** What the last key asked for, until the next one: to copy the identity of the chosen binding; null if it has none. */
  readonly copied: string | null | undefined
  /** How the person leaves. */
  readonly leaving: 'quit' | 'interrupt' | undefined
}

/** What is on the screen beside the choices. */
export interface ScreenFacts {
  /** All rows, by name: the state decides which are shown, since keys may come faster than frames. */
  readonly rows: readonly Row[]
  /** Rows that fit. */
  readonly rowsFit: number
  /** Lines of the derivation that fit, and that there are. */
  readonly detailFits: number
  readonly detailLines: number
  /** The namespaces that are known. */
  readonly namespaces: readonly string[]
}

/** The state at the start. */
export function startState(namespace: string | undefined): ScreenState {
  return {
    mode: 'table',
    selected: undefined,
    place: 0,
    top: 0,
    filter: '',
    order: 'trouble',
    isOpen: false,
    detailTop: 0,
    typed: '',
    choice: 0,
    namespace,
    copied: undefined,
    leaving: undefined,
  }
}

/** The rows that a state shows, in its order. */
export function shownRows(
  rows: readonly Row[],
  { filter, order }: Pick<ScreenState, 'filter' | 'order'>,
): readonly Row[] {
  const kept = filterRows(rows, filter)
  // They come in the order of names.
  return order === 'name' ? kept : kept.toSorted(compareRows(order))
}

/**
 * The namespaces that the chooser lists: all of them (undefined), those that hold what is typed, and what is typed
 * itself, since some users may not list namespaces.
 */
export function namespaceChoices(known: readonly string[], typed: string): readonly (string | undefined)[] {
  const fitting = known.filter((name) => name.includes(typed))
  if (typed === '') return [undefined, ...fitting]
  return known.includes(typed) ? [typed, ...fitting.filter((name) => name !== typed)] : [...fitting, typed]
}

/** The state with a selection that exists and a window that shows it; called whenever rows or sizes change. */
export function withValidSelection(
  state: ScreenState,
  { rows: all, rowsFit, detailFits, detailLines }: ScreenFacts,
): ScreenState {
  const rows = shownRows(all, state)
  const found = rows.findIndex(({ key }) => key === state.selected)
  const place = found >= 0 ? found : clamp(state.place, 0, rows.length - 1)
  const selected = rows[place]?.key
  const top = clamp(
    clamp(state.top, place - rowsFit + 1, place),
    0,
    Math.max(0, rows.length - Math.max(1, rowsFit)),
  )
  const detailTop =
    selected === state.selected ? clamp(state.detailTop, 0, Math.max(0, detailLines - detailFits)) : 0
  if (
    place === state.place &&
    selected === state.selected &&
    top === state.top &&
    detailTop === state.detailTop
  )
    return state
  return { ...state, place, selected, top, detailTop }
}

/** What a key makes of a state. */
export function reduce(state: ScreenState, action: ScreenAction, facts: ScreenFacts): ScreenState {
  if (action.kind === 'interrupt') return { ...state, leaving: 'interrupt' }
  const asked = state.copied === undefined ? state : { ...state, copied: undefined }
  return withValidSelection(BY_MODE[state.mode](asked, action, facts), facts)
}

type Reducer = (state: ScreenState, action: ScreenAction, facts: ScreenFacts) => ScreenState

const BY_MODE: Readonly<Record<ScreenMode, Reducer>> = {
  table: reduceTable,
  filter: reduceFilter,
  namespace: reduceNamespace,
  help: (state, { kind }) => (kind === 'quit' ? { ...state, leaving: 'quit' } : { ...state, mode: 'table' }),
}

function reduceTable(state: ScreenState, action: ScreenAction, facts: ScreenFacts): ScreenState {
  switch (action.kind) {
    case 'quit':
      return { ...state, leaving: 'quit' }
    case 'help':
      return { ...state, mode: 'help' }
    case 'filter':
      return { ...state, mode: 'filter' }
    case 'namespace':
      return { ...state, mode: 'namespace', typed: '', choice: 0 }
    case 'order':
      return { ...state, order: orderAfter(state.order, action.by) }
    case 'copy':
      return { ...state, copied: facts.rows.find(({ key }) => key === state.selected)?.spiffeId ?? null }
    case 'accept':
      return { ...state, isOpen: !state.isOpen && state.selected !== undefined, detailTop: 0 }
    case 'cancel':
      return state.isOpen ? { ...state, isOpen: false, detailTop: 0 } : { ...state, filter: '' }
    case 'move':
      return select(state, state.place + action.by, facts)
    case 'page':
    case 'first':
    case 'last':
      return state.isOpen ? scrolled(state, action, facts) : jumped(state, action, facts)
    case 'type':
    case 'erase':
    case 'erase all':
    case 'interrupt':
      return state
  }
}

function orderAfter(order: Order, by: 1 | -1): Order {
  return ORDERS[(ORDERS.indexOf(order) + by + ORDERS.length) % ORDERS.length] ?? order
}

type Jump = Extract<ScreenAction, { kind: 'page' | 'first' | 'last' }>

function jumped(state: ScreenState, action: Jump, facts: ScreenFacts): ScreenState {
  if (action.kind === 'first') return select(state, 0, facts)
  if (action.kind === 'last') return select(state, Infinity, facts)
  return select(state, state.place + action.by * Math.max(1, facts.rowsFit - 1), facts)
}

function scrolled(state: ScreenState, action: Jump, { detailFits, detailLines }: ScreenFacts): ScreenState {
  if (action.kind === 'first') return { ...state, detailTop: 0 }
  const last = Math.max(0, detailLines - detailFits)
  if (action.kind === 'last') return { ...state, detailTop: last }
  const detailTop = clamp(state.detailTop + action.by * Math.max(1, detailFits - 1), 0, last)
  return { ...state, detailTop }
}

function select(state: ScreenState, place: number, { rows: all }: ScreenFacts): ScreenState {
  const rows = shownRows(all, state)
  const at = clamp(place, 0, rows.length - 1)
  return { ...state, place: at, selected: rows[at]?.key, detailTop: at === state.place ? state.detailTop : 0 }
}

function reduceFilter(state: ScreenState, action: ScreenAction, facts: ScreenFacts): ScreenState {
  const filter = edited(state.filter, action)
  if (filter !== undefined) return { ...state, filter }
  if (action.kind === 'accept') return { ...state, mode: 'table' }
  if (action.kind === 'cancel') return { ...state, mode: 'table', filter: '' }
  return action.kind === 'move' ? select(state, state.place + action.by, facts) : state
}

function reduceNamespace(state: ScreenState, action: ScreenAction, { namespaces }: ScreenFacts): ScreenState {
  const typed = edited(state.typed, action)
  if (typed !== undefined) return { ...state, typed, choice: 0 }
  if (action.kind === 'cancel') return { ...state, mode: 'table' }
  const choices = namespaceChoices(namespaces, state.typed)
  if (action.kind === 'accept')
    return { ...state, mode: 'table', namespace: choices[state.choice], isOpen: false }
  return action.kind === 'move'
    ? { ...state, choice: clamp(state.choice + action.by, 0, choices.length - 1) }
    : state
}

/** What a key makes of a text that is being typed; undefined: it is not for the text. */
function edited(text: string, action: ScreenAction): string | undefined {
  if (action.kind === 'type') return text + action.text
  if (action.kind === 'erase') return Array.from(text).slice(0, -1).join('')
  return action.kind === 'erase all' ? '' : undefined
}

/** The nearest number that is not below `low` and, where there is one, not above `high`. */
function clamp(value: number, low: number, high: number): number {
  return Math.max(low, Math.min(value, high))
}
