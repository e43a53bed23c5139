// The watch as machines read it: one WatchEvent for each change of a binding, and for each change of what is known.
import { unknownReasonJson } from '@kleym/shared/core/model/unknown-reason.ts'
import { report } from '../../../output/json.ts'
import type { Knowledge } from './knowledge.ts'
import type { Row, RowChange } from './rows.ts'

const EVENT_TYPES: Readonly<Record<RowChange['kind'], string>> = {
  added: 'ADDED',
  changed: 'MODIFIED',
  removed: 'DELETED',
}

const READY: Readonly<Record<Row['state'], 'True' | 'False' | 'Unknown' | null>> = {
  ready: 'True',
  refused: 'False',
  undetermined: 'Unknown',
  waiting: 'Unknown',
  deleting: null,
}

/** A change of one binding as machines read it. */
export function bindingEvent({ kind, row }: RowChange): Readonly<Record<string, unknown>> {
  return report('WatchEvent', {
    type: EVENT_TYPES[kind],
    binding: row.key,
    ready: READY[row.state],
    reason: row.reason,
    message: row.message,
    spiffeID: row.spiffeId ?? null,
    due: row.pending,
    podsSelected: row.pods ?? null,
  })
}

/** What is known from here on as machines read it; no times, as everywhere in reports. */
export function knowledgeEvent({
  lostSince,
  missing,
  bindingsKnown,
  operatorDown,
  disagreements,
  problems,
}: Knowledge): Readonly<Record<string, unknown>> {
  return report('WatchEvent', {
    type: 'KNOWLEDGE',
    connected: lostSince === undefined,
    bindingsKnown,
    operatorDown: operatorDown ?? null,
    disagreements,
    problems,
    missing: missing.map(({ why, since }) => ({
      ...unknownReasonJson(why),
      old: since !== undefined,
    })),
  })
}
