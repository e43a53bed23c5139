// `migrate` as machines read it.
import type { Migration } from '@kleym/shared/core/migrate/migrate.ts'
import { migrationSteps } from '@kleym/shared/core/migrate/order.ts'
import type { Frame } from '../../frame/frame.ts'
import { holdersReport } from '../diff/json.ts'
import { notReport, suggestedReport } from '../suggest/json.ts'
import type { NamedInTest } from './tests.ts'

/** The fields of a MigrateReport. */
export function migrateFields(
  migrations: readonly Migration[],
  tests: readonly (readonly NamedInTest[])[],
): ReturnType<Frame['fields']> {
  return { registrations: migrations.map((one, at) => migrationReport(one, tests[at] ?? [])) }
}

function migrationReport(migration: Migration, tests: readonly NamedInTest[]): unknown {
  const { object, oldIds, suggestions, moves, uncovered, remainder, namedBy, effects, open } = migration
  const { pools } = suggestions
  return {
    name: object.meta.name,
    fallback: object.spec.fallback,
    oldIDs: oldIds,
    bindings: pools.flatMap(({ suggested }) => suggested.map(suggestedReport)),
    existing: pools.flatMap(({ existing }) =>
      existing.map(({ key, verdict }) => ({ binding: key, verdict })),
    ),
    notSuggested: pools.flatMap(({ pool, not }) =>
      not.map((one) => ({ pool: `${pool.namespace}/${pool.name}`, suggestion: notReport(one) })),
    ),
    containers: moves.map(({ container, pods, before, during, after }) => ({
      container,
      pods: pods.text(),
      count: pods.count,
      before: before.ids,
      during: during.ids,
      after: after.ids,
      uncertain: [before, during, after].some(({ perhaps, isOther }) => perhaps.length > 0 || isOther),
    })),
    uncovered: uncovered.map(({ container, pods, why }) => ({
      container,
      pods: pods.text(),
      count: pods.count,
      why,
    })),
    remainder: remainder.map(({ what, old, next, consequence, mustStay }) => ({
      what,
      old,
      next: next ?? null,
      consequence,
      mustStay,
    })),
    policies: namedBy.namings.map(({ policy, rule, way }) => ({ policy: policy.key, rule: rule.name, way })),
    tests,
    applying: holdersReport(effects.apply),
    whole: holdersReport(effects.whole),
    steps: migrationSteps(migration),
    open,
  }
}
