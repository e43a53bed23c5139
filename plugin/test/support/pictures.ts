// Pictures and rows for tests of what is shown, by what a test says about them.
import type { DetailView } from '../../src/answers/watch/live/detail.ts'
import type { Knowledge } from '../../src/answers/watch/live/knowledge.ts'
import type { Picture } from '../../src/answers/watch/live/live-state.ts'
import type { Row } from '../../src/answers/watch/live/rows.ts'

/** A ready row whose output is in force, unless `parts` say otherwise. */
export function row(key: string, parts: Partial<Row> = {}): Row {
  const [namespace = '', name = ''] = key.split('/')
  return {
    key,
    namespace,
    name,
    state: 'ready',
    reason: 'Reconciled',
    message: '',
    spiffeId: `spiffe://example.org/ns/${namespace}/objective/${name}`,
    pending: 'none',
    inForce: 'in force',
    pods: undefined,
    since: undefined,
    ...parts,
  }
}

/** A refused row. */
export function refused(key: string, reason = 'UnsafeSelector', message = 'it is not safe'): Row {
  return row(key, { state: 'refused', reason, message, spiffeId: undefined })
}

/** Everything is known. */
export const KNOWN: Knowledge = {
  lostSince: undefined,
  missing: [],
  bindingsKnown: true,
  operator: undefined,
  operatorDown: undefined,
  disagreements: [],
  problems: [],
  settled: true,
}

/** A picture of these rows. */
export function picture(
  rows: readonly Row[],
  knowledge: Partial<Knowledge> = {},
  detail: DetailView = { state: 'closed' },
): Picture {
  return { rows, knowledge: { ...KNOWN, ...knowledge }, detail }
}
