// `diff` as machines read it: the changes of objects, and what they do to containers, bindings and policies.
import type { Effect } from '@kleym/shared/core/explain/effect.ts'
import type { AffectedPolicy } from '@kleym/shared/core/explain/affected-policies.ts'
import type { AnswerInput } from '../../gather/gather.ts'
import type { Frame } from '../../frame/frame.ts'
import { findingReport, settingsReport } from '../../frame/json.ts'
import { affectedReport } from '../policies/json.ts'
import type { ObjectChange } from './changes.ts'
import type { StayingKind } from './sides-view.ts'
import type { DiffTests } from './tests.ts'

/** What a DiffReport tells. */
export interface DiffFacts {
  readonly changes: readonly ObjectChange[]
  /** The names of outputs that were matched by name and annotation alone. */
  readonly ownershipUnknown: readonly string[]
  readonly effect: Effect
  /** The rules of access policies that the change affects; undefined where there are no policies to speak of. */
  readonly affected: readonly AffectedPolicy[] | undefined
  /** The side of `--base`. */
  readonly base: AnswerInput | undefined
  /** The objects of `--live` that no file holds. */
  readonly takenToStay: readonly StayingKind[]
  /** With `--tests`. */
  readonly tests: DiffTests | undefined
}

/** The fields of a DiffReport. */
export function diffFields({
  changes,
  ownershipUnknown,
  effect,
  affected,
  base,
  takenToStay,
  tests,
}: DiffFacts): ReturnType<Frame['fields']> {
  return {
    baseSettings: base === undefined ? null : settingsReport(base),
    takenToStay,
    changes,
    ownershipUnknown,
    effect: {
      ...effectReport(effect),
      ...(affected === undefined ? {} : { policiesAffected: affected.map(affectedReport) }),
    },
    ...(tests === undefined ? {} : { tests: tests.fields() }),
  }
}

function effectReport(effect: Effect): Readonly<Record<string, unknown>> {
  return {
    ...holdersReport(effect),
    verdicts: effect.verdicts.map(({ binding, before, after }) => ({
      binding,
      before: before ?? null,
      after: after ?? null,
    })),
    newFindings: effect.findings.added.map(findingReport),
    fixedFindings: effect.findings.fixed.map(findingReport),
    noLongerApplyingFindings: effect.findings.noLongerApply.map(findingReport),
    perhapsGoneFindings: effect.findings.perhapsGone.map(findingReport),
    unchangedFindings: effect.findings.unchanged.length,
  }
}

/** What a change does to containers. */
export function holdersReport({
  gained,
  lost,
  stranded,
  uncertain,
}: Pick<Effect, 'gained' | 'lost' | 'stranded' | 'uncertain'>): Readonly<Record<string, unknown>> {
  return { gained: idsReport(gained), lost: idsReport(lost), stranded, uncertain }
}

function idsReport(changes: Effect['gained']): unknown {
  return changes.map(({ spiffeId, containers }) => ({ spiffeID: spiffeId, containers }))
}
