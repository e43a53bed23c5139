// Plans for several registrations: their steps are taken in a row, so each plan begins where those before it end. Two registrations that
// are each to go because the other is there would both be lost otherwise, and two plans could apply different bindings of one name.
import type { Analysis } from '../../analysis/index.ts'
import type { MigrationInWorlds, PlansBefore } from './migrate.ts'
import { adviceOf, isApplied } from './order.ts'

/** Where the first plan begins. */
export function noPlansBefore(analysis: Analysis): PlansBefore {
  return { analysis, going: new Map(), applied: [] }
}

/** Where the plan after one begins. */
export function plansAfter({ going, applied }: PlansBefore, migration: MigrationInWorlds): PlansBefore {
  const { object, suggestions, after, staysFor } = migration
  const { name } = object.meta
  const advice = adviceOf(migration)
  const mayGo = advice !== 'keep' && advice !== 'delete'
  return {
    analysis: advice === 'delete' ? after : suggestions.world,
    going: mayGo ? new Map([...going, [name, staysFor]]) : going,
    applied: isApplied(migration) ? [...applied, name] : applied,
  }
}
