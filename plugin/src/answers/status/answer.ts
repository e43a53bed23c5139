// The first lines of `status`: whether the installation is sound, why not, and how its bindings stand.
import type { InForceText } from '@kleym/shared/core/analysis/index.ts'
import type { Finding } from '@kleym/shared/core/findings/index.ts'
import { counted } from '@kleym/shared/core/base/text/counted.ts'
import type { AnswerInput } from '../../gather/gather.ts'
import { isOperatorDown } from '../../frame/operator-down.ts'
import { leadingWith, type Answer } from '../../text/answer.ts'
import { kindsText } from '../../text/findings.ts'
import type { StatusAnswer } from './model.ts'
import { installationRows } from './view.ts'

/** The answer. It is `sound` only where every line about the installation is, and no finding says otherwise. */
export function statusSummary(
  answer: StatusAnswer,
  input: AnswerInput,
  findings: readonly Finding[],
): Answer {
  const rows = installationRows(answer, input)
  const [error, ...errors] = findings.filter(({ severity }) => severity === 'error')
  const warnings = findings.filter(({ severity }) => severity === 'warning')
  const bad = rows.filter(([mark]) => mark === 'bad')
  const open = rows.filter(([mark]) => mark === 'warn')
  const bindings = bindingsText(answer, findings.some(isOperatorDown))
  if (error !== undefined) {
    const more = errors.length === 0 ? '' : `; ${counted(errors.length, 'more error')}`
    const what = isOperatorDown(error) ? 'not sound' : `not sound: ${error.summary}`
    return {
      mark: 'warn',
      text: [`${what}${more}`],
      reasons: [[`fix: ${error.fix} (${error.code})`], [bindings]],
    }
  }
  if (bad.length > 0) return { mark: 'warn', ...leadingWith([`not sound: ${rowsText(bad)}`, bindings]) }
  if (open.length > 0)
    return { mark: 'warn', ...leadingWith([`undetermined whether it is sound: ${rowsText(open)}`, bindings]) }
  return warnings.length === 0
    ? { mark: 'ok', text: [`sound: ${bindings}`] }
    : {
        mark: 'warn',
        ...leadingWith(
          [`no error, but ${counted(warnings.length, 'warning')}`],
          [kindsText(warnings)],
          [bindings],
        ),
      }
}

type Rows = ReturnType<typeof installationRows>

function rowsText(rows: Rows): string {
  const [first] = rows
  if (first === undefined) return ''
  const more = rows.length === 1 ? '' : `; and ${counted(rows.length - 1, 'more line')}`
  return `${first[1]}: ${first[2]}${more}`
}

function bindingsText({ conditions, outputs }: StatusAnswer, isDown: boolean): string {
  if (conditions === undefined) return 'bindings unknown'
  const count = (wanted: (ready: string) => boolean): number =>
    conditions.filter(({ ready }) => wanted(ready)).reduce((sum, one) => sum + one.count, 0)
  const total = count(() => true)
  if (total === 0) return 'no bindings'
  const refused = count((ready) => ready === 'False')
  const waiting = count((ready) => ready === 'Unknown' || ready === 'none')
  const held = (text: InForceText): number => outputs.filter((one) => one === text).length
  const notSure = (['perhaps in force', 'not in force'] as const).filter((text) => isDown && held(text) > 0)
  return [
    isDown
      ? `${held('in force')} of ${counted(total, 'binding')} in force; changes will not be applied`
      : `${outputs.length} of ${counted(total, 'binding')} ready`,
    ...notSure.map((text) => `${held(text)} ${text}`),
    ...(refused === 0 ? [] : [`${refused} refused`]),
    ...(waiting === 0 ? [] : [`${waiting} ${isDown ? 'not applied yet' : 'waiting'}`]),
  ].join(', ')
}
