// What the core works out in steps, worked out at once.
import { countingEntries } from '@kleym/shared/core/analysis/budgets/budgets.ts'
import { driveAtOnce, type Steps } from '@kleym/shared/core/base/steps.ts'
import { planning } from '@kleym/shared/core/decide/plan/plan.ts'
import { settling } from '@kleym/shared/core/decide/plan/settle.ts'
import { findingSteps } from '@kleym/shared/core/findings/rules/all.ts'
import { registrationEntrySteps } from '@kleym/shared/core/predict/spire/registration-entries.ts'
import { expecting } from '@kleym/shared/core/predict/verify/expected.ts'

function atOnce<A extends readonly unknown[], T>(steps: (...args: A) => Steps<T>): (...args: A) => T {
  return (...args) => driveAtOnce(steps(...args))
}

export const planOnce = atOnce(planning)
export const settle = atOnce(settling)
export const findingsOf = atOnce(findingSteps)
export const budgetsOf = atOnce(countingEntries)
export const registrationEntries = atOnce(registrationEntrySteps)
export const expectedEntries = atOnce(expecting)
